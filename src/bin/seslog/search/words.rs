//! What is searched: a message's words, and how a query asks for them.

use seslog::event::Message;
use seslog::interop::part_text;
use seslog::projection::said_in_fields;

use crate::exit::{Outcome, Told};
use crate::sanitize::excerpt;

/// All that a message says: part by part, and in the fields of its kind.
pub(super) fn text_of(message: &Message) -> String {
    let in_fields = said_in_fields(&message.kind, &message.content);
    message.content.iter().map(part_text).chain(in_fields).collect::<Vec<_>>().join("\n")
}

/// The text as it is indexed: where words stand without spaces between them, each character is a word.
pub(super) fn indexed(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        if is_written_without_spaces(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}

/// Han, kana, and the scripts of south-east Asia that part no words.
fn is_written_without_spaces(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The query for texts that have all of these, in any order. Each is a word or a few that stand in a row, the last of them
/// perhaps only begun.
///
/// # Errors
/// If one of them has nothing that could be found.
pub(super) fn query(words: &[String]) -> Outcome<String> {
    let mut phrases = Vec::with_capacity(words.len());
    for word in words {
        if !word.chars().any(char::is_alphanumeric) {
            let message = format!("`{word}` has no letter and no digit; only words can be searched for");
            return Err(Told::usage(message).into());
        }
        phrases.push(format!("\"{}\" *", indexed(word).replace(['"', '\0'], " ")));
    }
    Ok(phrases.join(" AND "))
}

/// A few words before the first of these words and some behind it, in one line.
pub(super) fn around(text: &str, words: &[String]) -> String {
    const BEFORE: usize = 40;
    const SHOWN: usize = 160;
    let lower = text.to_lowercase();
    let at = words.iter().find_map(|word| lower.find(&word.to_lowercase())).unwrap_or(0);
    let from = lower[..at].chars().count().saturating_sub(BEFORE);
    let shown: String = text.chars().skip(from).map(|c| if c == '\n' { ' ' } else { c }).take(SHOWN + 1).collect();
    let begin = if from > 0 { "…" } else { "" };
    format!("{begin}{}", excerpt(shown.trim_start(), SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_scripts_without_spaces_are_words_of_their_own() {
        assert_eq!(indexed("ab 灯台 c"), "ab  灯  台  c");
        assert_eq!(indexed("plain text"), "plain text");
    }

    #[test]
    fn a_query_quotes_whatever_it_is_given() {
        let query = |words: &[&str]| query(&words.iter().map(|word| String::from(*word)).collect::<Vec<_>>()).ok();
        assert_eq!(query(&["lamp", "no such"]).as_deref(), Some("\"lamp\" * AND \"no such\" *"));
        assert_eq!(query(&["a\" OR \"b"]).as_deref(), Some("\"a  OR  b\" *"));
        assert_eq!(query(&["lamp", "->"]), None);
    }

    #[test]
    fn an_excerpt_begins_a_little_before_the_word() {
        let text = format!("{}the LAMP\nturns", "x ".repeat(100));
        let shown = around(&text, &["nothing".into(), "lamp".into()]);
        assert!(shown.starts_with('…') && shown.contains("LAMP turns"), "{shown}");
        assert!(around("short", &["none".into()]).starts_with("short"));
    }
}
