//! Text so that a page shows it and means nothing else by it.

use crate::interop::visible::{Layout, visible};

/// The text so that it means itself, in an element as in an attribute.
pub(super) fn escaped(text: &str, layout: Layout) -> String {
    let text = visible(text, layout);
    let mut safe = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
