//! Rules that take words out of an export.

use std::borrow::Cow;
use std::fmt;

use crate::session::Redaction;

pub use crate::event::REDACTED;

/// A rule that takes out of a text what is not to leave the house. It is asked about every text of every exported part:
/// what was said and thought, names and arguments of calls, results, names and links of files, each text inside JSON
/// (names of fields and numbers too), the fields of a message's kind, ids of calls, and text files that are inline.
///
/// Each text is judged by itself: what stands half in one part and half in the next is not seen.
pub trait Redact: fmt::Debug + Send + Sync {
    /// The text as it may be shown; borrowed where nothing has to change.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

/// Takes out fixed texts, letter by letter as they are given; also where one stands inside JSON text, with escapes.
/// [`REDACTED`] stands in the place of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literals {
    /// None is empty; a longer one comes before a shorter.
    texts: Vec<String>,
}

impl Literals {
    /// A rule that takes these texts out. An empty one takes out nothing.
    #[must_use]
    pub fn new(texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let given: Vec<String> = texts.into_iter().map(Into::into).filter(|text: &String| !text.is_empty()).collect();
        let escaped = given.iter().filter_map(|text| {
            let json = serde_json::to_string(text).ok()?;
            json.get(1..json.len() - 1).map(str::to_owned)
        });
        let mut texts: Vec<String> = escaped.chain(given.iter().cloned()).collect();
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        Self { texts }
    }
}

impl Redact for Literals {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let find = |literal: &String, from: usize| text[from..].find(literal.as_str()).map(|at| from + at);
        // Where each is found next, so that the text is gone over once for each.
        let mut next: Vec<Option<usize>> = self.texts.iter().map(|literal| find(literal, 0)).collect();
        let mut redacted = String::new();
        let mut done = 0;
        loop {
            // The earliest; of those that begin at one place the longest, which comes first.
            let found = next.iter().enumerate().filter_map(|(index, at)| Some((index, (*at)?)));
            let Some((index, at)) = found.min_by_key(|&(index, at)| (at, index)) else { break };
            redacted.push_str(&text[done..at]);
            redacted.push_str(REDACTED);
            done = at + self.texts[index].len();
            for (literal, next) in self.texts.iter().zip(&mut next) {
                if next.is_some_and(|at| at < done) {
                    *next = find(literal, done);
                }
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        redacted.push_str(&text[done..]);
        Cow::Owned(redacted)
    }
}

/// The texts and patterns of a redaction; what it says of events is nothing to a text.
impl Redact for Redaction {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redacted(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_taken_out_longest_first_and_never_out_of_what_was_put_in() {
        let rule = Literals::new(["key", "key-42", "red", ""]);
        assert_eq!(rule.redact("a key-42, a key"), "a [redacted], a [redacted]");
        assert_eq!(rule.redact("redkey"), "[redacted][redacted]");
        assert!(matches!(rule.redact("nothing"), Cow::Borrowed("nothing")));
    }

    #[test]
    fn a_literal_inside_json_text_is_taken_out_too() {
        let rule = Literals::new(["a\"b\n"]);
        assert_eq!(rule.redact(r#"{"x":"a\"b\n!"}"#), r#"{"x":"[redacted]!"}"#);
        assert_eq!(rule.redact("a\"b\n!"), "[redacted]!");
    }

    #[test]
    fn many_finds_beside_a_literal_that_is_not_there_take_one_pass() {
        let rule = Literals::new(["a", "not there"]);
        let text = "ab".repeat(200_000);
        assert_eq!(rule.redact(&text).len(), text.len() / 2 + 200_000 * REDACTED.len());
    }
}
