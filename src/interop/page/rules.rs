//! What is taken out of a page where it is shown.

use std::borrow::Cow;
use std::sync::Arc;

use crate::projection::{REDACTED, Redact};

/// The rules of a page, in the order in which they are applied.
#[derive(Debug, Default)]
pub(super) struct Rules(pub(super) Vec<Arc<dyn Redact>>);

impl Rules {
    /// The text without what the rules take out, also where characters stand in it that nobody sees.
    pub(super) fn applied<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(text);
        }
        if text.contains(is_unseen) {
            let seen: String = text.chars().filter(|c| !is_unseen(*c)).collect();
            let left = self.of_pieces(&seen);
            if left != seen {
                return Cow::Owned(left.into_owned());
            }
        }
        self.of_pieces(text)
    }

    /// What is left of a text that is shown, with the links in it, if something is to be taken out of them.
    #[cfg(feature = "markdown")]
    pub(super) fn taken_out(&self, shown: &str, links: &[String]) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let left = self.applied(shown);
        let links_left: Vec<Cow<'_, str>> = links.iter().map(|link| self.applied(link)).collect();
        if left == shown && links_left.iter().zip(links).all(|(left, link)| left == link) {
            return None;
        }
        // In plain words, the links below.
        let lines = [left.trim_end()].into_iter().chain(links_left.iter().map(|link| &**link));
        Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
    }

    /// What stands in the place of something is not looked at again.
    fn of_pieces<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(REDACTED) {
            return self.of_piece(text);
        }
        let pieces: Vec<Cow<'_, str>> = text.split(REDACTED).map(|piece| self.of_piece(piece)).collect();
        Cow::Owned(pieces.join(REDACTED))
    }

    fn of_piece<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, rule| match text {
            Cow::Borrowed(text) => rule.redact(text),
            Cow::Owned(text) => Cow::Owned(rule.redact(&text).into_owned()),
        })
    }
}

/// Characters that take no room.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}
