//! How one field is named in the two encodings, and how an unknown field keeps out of a known one's way.

use std::borrow::Cow;

/// Which encoding a field is read from or written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// MessagePack: snake_case names, ids as bytes.
    Log,
    /// JSON: camelCase names, ids as text.
    Json,
}

impl Style {
    /// The name that a field of ours has in this encoding; `snake` is its name in Rust.
    pub(crate) fn name(self, snake: &'static str) -> Cow<'static, str> {
        match self {
            Self::Json if snake.contains('_') => Cow::Owned(camel(snake)),
            _ => Cow::Borrowed(snake),
        }
    }

    /// Whether `name` is what the field `snake` is called in this encoding.
    pub(crate) fn is(self, snake: &'static str, name: &str) -> bool {
        match self {
            Self::Json => is_camel(snake, name),
            Self::Log => snake == name,
        }
    }
}

fn camel(snake: &str) -> String {
    let mut name = String::with_capacity(snake.len());
    let mut raise = false;
    for letter in snake.chars() {
        match letter {
            '_' => raise = true,
            _ if raise => {
                name.push(letter.to_ascii_uppercase());
                raise = false;
            }
            _ => name.push(letter),
        }
    }
    name
}

/// Whether `name` is `camel(snake)`, without making that.
fn is_camel(snake: &str, name: &str) -> bool {
    let mut name = name.bytes();
    let mut raise = false;
    for letter in snake.bytes() {
        if letter == b'_' {
            raise = true;
            continue;
        }
        let letter = if raise { letter.to_ascii_uppercase() } else { letter };
        raise = false;
        if name.next() != Some(letter) {
            return false;
        }
    }
    name.next().is_none()
}

/// The mark before an unknown field whose name would otherwise be taken for a known one of the same object.
pub(crate) const GUARD: char = '~';

/// The name under which an unknown field is written into an object that has the fields `known`.
///
/// A JSON object may have a field `call_id` that we don't know beside our `callId`: in the log it is `~call_id`.
pub(crate) fn guard<'a>(name: &'a str, known: &[&'static str], style: Style) -> Cow<'a, str> {
    let bare = name.trim_start_matches(GUARD);
    match known.iter().any(|snake| style.is(snake, bare)) {
        true => Cow::Owned(format!("{GUARD}{name}")),
        false => Cow::Borrowed(name),
    }
}

/// The name that an unknown field had before [`guard`].
pub(crate) fn unguard(name: String, known: &[&'static str], style: Style) -> String {
    let bare = name.trim_start_matches(GUARD);
    match bare.len() < name.len() && known.iter().any(|snake| style.is(snake, bare)) {
        true => name[GUARD.len_utf8()..].to_owned(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarded_name_comes_back_and_other_names_stay() {
        let known = ["call_id", "name"];
        for style in [Style::Log, Style::Json] {
            for name in ["call_id", "callId", "~call_id", "~~callId", "other", "~other", "~", "", "name"] {
                let guarded = guard(name, &known, style);
                assert!(!known.iter().any(|snake| style.is(snake, &guarded)), "{guarded} would be taken for ours");
                assert_eq!(unguard(guarded.into_owned(), &known, style), name);
            }
        }
        assert_eq!(guard("other", &known, Style::Log), "other");
        assert_eq!(Style::Json.name("full_output_path"), "fullOutputPath");
        assert!(Style::Json.is("full_output_path", "fullOutputPath"));
        for other in ["full_output_path", "fullOutputPat", "fullOutputPaths", "fulloutputPath", ""] {
            assert!(!Style::Json.is("full_output_path", other), "{other}");
        }
    }
}
