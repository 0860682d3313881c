//! Text of a session on its way to a person: what would act on a terminal or a page, or turn the reading order round, is
//! shown instead of sent.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a text stands in one line or may have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One line: line breaks and tabs are shown as escapes.
    Line,
    /// A block: line breaks and tabs are kept.
    Block,
}

/// The text with each dangerous character as a visible escape.
#[must_use]
pub fn visible(text: &str, layout: Layout) -> Cow<'_, str> {
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

/// C0 and C1 controls, what changes the direction of text, and the line breaks of Unicode. All of them lie below
/// U+10000, so that one JSON escape says each.
#[must_use]
pub fn is_dangerous(c: char) -> bool {
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
}
