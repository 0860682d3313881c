//! Text from a session on its way to a terminal: what would act on the terminal, or turn the reading order round, is
//! shown instead of sent.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a text stands in one line or may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One line: line breaks and tabs are shown as escapes.
    Line,
    /// A block: line breaks and tabs are kept.
    Block,
}

/// The text with each dangerous character as a visible escape.
pub(crate) fn visible(text: &str, layout: Layout) -> Cow<'_, str> {
    let is_kept = |c: char| match c {
        '\n' | '\t' => layout == Layout::Block,
        c => !is_dangerous(c),
    };
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_kept(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c => _ = write!(shown, "\\u{{{:x}}}", u32::from(c)),
        }
    }
    Cow::Owned(shown)
}

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

/// C0 and C1 controls, what changes the direction of text, and the line breaks of Unicode. All of them lie below
/// U+10000, so that one JSON escape says each.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_shown_and_not_sent() {
        let check = |text: &str, layout, expected: &str| assert_eq!(visible(text, layout), expected);
        check("plain é 漢 👩‍💻", Layout::Line, "plain é 漢 👩‍💻");
        check("\u{1b}[31mred", Layout::Block, "\\u{1b}[31mred");
        check("a\u{9b}b\u{7f}c\u{202e}d\u{2066}e", Layout::Block, "a\\u{9b}b\\u{7f}c\\u{202e}d\\u{2066}e");
        check("a\tb\nc\rd", Layout::Block, "a\tb\nc\\rd");
        check("a\tb\nc", Layout::Line, "a\\tb\\nc");
    }

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
