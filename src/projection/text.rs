//! Texts, counted in characters (Unicode scalar values).

/// How many characters a text has.
#[must_use]
pub fn char_count(text: &str) -> usize {
    text.chars().count()
}

/// The first `limit` characters of a text and how many are left behind, or none if the text is no longer than that.
/// Never cuts inside a character.
#[must_use]
pub fn soft_cut(text: &str, limit: usize) -> Option<(&str, usize)> {
    // A text has no more characters than bytes.
    if text.len() <= limit {
        return None;
    }
    let (at, _) = text.char_indices().nth(limit)?;
    let (head, rest) = text.split_at(at);
    Some((head, char_count(rest)))
}

/// Whether a text has nothing but white space, as providers see it.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_white_space)
}

/// Whether a character is white space, as providers see it.
pub(crate) fn is_white_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}
