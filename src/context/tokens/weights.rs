//! What a piece of a text costs on the average, in hundredths of a token: lines fitted to what an exact counter said.

/// What stands before a word or a run of marks, in the same piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    Nothing,
    Space,
    Mark,
}

/// Letters other than those of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Accented,
    Cyrillic,
    Greek,
    Han,
    Hangul,
    Kana,
    Other,
}

impl Letters {
    /// A run of `count` of these.
    pub(super) fn weight(self, lead: Lead, count: u64) -> u64 {
        let led = |by_space: u64, by_mark: u64| match lead {
            Lead::Nothing => 0,
            Lead::Space => by_space,
            Lead::Mark => by_mark,
        };
        let behind = |free: u64| count.saturating_sub(free);
        match self {
            Self::Accented => 100 + 26 * behind(1) + if lead == Lead::Space { 0 } else { 60 },
            Self::Cyrillic => 100 + 22 * behind(3) + if lead == Lead::Space || count < 3 { 0 } else { 60 },
            Self::Greek => 100 + 45 * behind(3) + if lead == Lead::Space || count < 3 { 0 } else { 60 },
            Self::Han => 24 + 78 * count + led(50, 80),
            Self::Hangul => 50 + 54 * count + led(0, 60),
            Self::Kana => 35 + 61 * count + led(50, 90),
            Self::Other => 50 + 41 * count + led(0, 60),
        }
    }
}

/// A word of ASCII letters: `upper` capitals, then `lower` small ones.
pub(super) fn word_weight(lead: Lead, upper: u64, lower: u64) -> u64 {
    let len = upper + lower;
    let behind = |free: u64| len.saturating_sub(free);
    // No word of a language is as long; such a run of letters has no long pieces that a vocabulary knows.
    let beyond = 35 * behind(20);
    beyond
        + match (upper, lower, lead) {
            (0, _, Lead::Space) => 100 + 6 * behind(4),
            (0, _, Lead::Nothing) => 100 + 5 * behind(2),
            (0, _, Lead::Mark) => 103 + 4 * behind(1) + 30 * behind(8),
            (1, 0, Lead::Mark) => 115,
            (1, 0, _) => 100,
            (1, _, Lead::Space) => 100 + 5 * behind(3) + 8 * behind(8),
            (1, _, Lead::Nothing) => 115 + 5 * behind(9),
            (1, _, Lead::Mark) => 180 + 5 * behind(6),
            (_, 0, Lead::Space) => 100 + 23 * behind(2),
            (_, 0, Lead::Nothing) => 105 + 25 * behind(2),
            (_, 0, Lead::Mark) => 130 + 15 * behind(2),
            (_, _, Lead::Space) => 150 + 15 * behind(4),
            (_, _, Lead::Nothing) => 200 + 45 * behind(3).min(5),
            (_, _, Lead::Mark) => 260 + 35 * behind(3).min(4),
        }
}

/// What a word costs more in the middle of base64, where it is none: by its place among words and digits in a row.
pub(super) fn blob_weight(in_a_row: u64) -> u64 {
    if in_a_row > 6 { 38 } else { 0 }
}

/// A run of digits: three make one.
pub(super) fn digits_weight(count: u64) -> u64 {
    100 * count.div_ceil(3)
}

/// White space that goes with nothing behind it: one token, however long.
pub(super) fn spaces_weight(count: u64) -> u64 {
    100 * count.div_ceil(80)
}

/// A run of marks of ASCII, a space before it counted in.
pub(super) fn marks_weight(count: u64, same: bool) -> u64 {
    match same {
        true => 100 * count.div_ceil(16),
        false => 95 + 5 * count + 45 * count.saturating_sub(3),
    }
}

/// A mark or symbol that is not of ASCII; nothing for one that is.
pub(super) fn symbols_weight(c: char) -> u64 {
    match c {
        c if c.is_ascii() => 0,
        // Marks of CJK texts, of printed texts, dashes and quotes.
        '\u{3001}'..='\u{303f}' | '\u{ff01}'..='\u{ffef}' | '\u{2010}'..='\u{2027}' | '\u{b7}' => 90,
        // Emoji, and what joins and colours them.
        '\u{1f000}'..='\u{1faff}' => 200,
        '\u{200d}' | '\u{fe0f}' => 50,
        _ => 140,
    }
}
