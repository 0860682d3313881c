//! Text from a session on its way to a terminal: what would act on the terminal, or turn the reading order round, is
//! shown instead of sent.

use std::borrow::Cow;
use std::fmt::Write;

use seslog::interop::is_dangerous;
pub(crate) use seslog::interop::{Layout, visible};

/// The first characters of a text in one line, with a mark where something follows.
pub(crate) fn excerpt(text: &str, chars_max: usize) -> String {
    let mut shown: String = text.chars().take(chars_max).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown, Layout::Line).into_owned()
}

/// JSON text in which no character is left that a terminal would act on. Such characters stand inside strings only,
/// and there an escape means the same.
pub(crate) fn terminal_safe_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_dangerous) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_dangerous(c) {
            _ = write!(safe, "\\u{:04x}", u32::from(c));
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_meaning_when_it_is_made_safe() {
        let text = "a\u{9b}b\u{202e}c\u{7f}\u{1b}\n";
        let json = serde_json::to_string(text).unwrap();
        let safe = terminal_safe_json(&json);
        assert!(!safe.chars().any(is_dangerous));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn an_excerpt_says_that_it_is_one() {
        assert_eq!(excerpt("abc", 3), "abc");
        assert_eq!(excerpt("abcd\u{7}", 3), "abc…");
    }
}
