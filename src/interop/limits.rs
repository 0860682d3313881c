//! How long ids and words may be that are copied from one record into many events.

/// The longest id, in bytes. A longer one counts as none: others would name it again and again.
pub(super) const ID_LEN_MAX: usize = 256;

/// The longest word of a session's meta, and the longest name of a model or provider, in bytes: each event that tells
/// of it holds it whole.
pub(super) const WORD_LEN_MAX: usize = 1024;

/// The text, or as much of its beginning as is kept.
pub(super) fn word(text: &str) -> &str {
    if text.len() <= WORD_LEN_MAX {
        return text;
    }
    let end = (0..=WORD_LEN_MAX).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_is_cut_between_characters() {
        assert_eq!(word("short"), "short");
        let long = "é".repeat(WORD_LEN_MAX);
        assert!(word(&long).len() <= WORD_LEN_MAX && word(&long).ends_with('é'));
        let odd = format!("a{long}");
        assert_eq!(word(&odd).len(), WORD_LEN_MAX - 1);
    }
}
