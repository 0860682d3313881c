//! Texts as providers take them.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::event::Value;
pub(super) use crate::projection::{is_blank, is_white_space};

/// Stands for a control character.
const REPLACEMENT: char = '\u{fffd}';

/// The text with U+FFFD for each ASCII control character but tab, line feed and carriage return: some servers refuse
/// or cut a text at them. (Halves of surrogate pairs can't be in a text of ours; whoever reads them in replaces them.)
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if !has_controls(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_control(c) { REPLACEMENT } else { c }).collect())
}

/// Whether [`clean`] changes the text.
pub(super) fn has_controls(text: &str) -> bool {
    !all_bytes(text, |byte| ((byte >= b' ') & (byte != 0x7f)) | (byte.wrapping_sub(b'\t') < 2) | (byte == b'\r'))
}

/// Whether all bytes of a text are of a kind. A test without branches is made on many of them at once.
pub(super) fn all_bytes(text: &str, is_of_kind: impl Fn(u8) -> bool) -> bool {
    const AT_ONCE: usize = 64;
    text.as_bytes().chunks(AT_ONCE).all(|bytes| bytes.iter().fold(true, |all, &byte| all & is_of_kind(byte)))
}

/// Whether a text inside the value has a control character that is replaced.
pub(super) fn value_has_controls(value: &Value) -> bool {
    match value {
        Value::Text(text) => has_controls(text),
        Value::List(items) => items.iter().any(value_has_controls),
        Value::Map(fields) => fields.iter().any(|(_, value)| value_has_controls(value)),
        _ => false,
    }
}

fn is_control(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r')
}

/// A value as JSON with its texts [`clean`]ed. The names of fields stay as they are: two must not become one.
#[derive(Debug, Clone, Copy)]
pub(super) struct CleanJson<'a>(pub(super) &'a Value);

impl Serialize for CleanJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Text(text) => serializer.serialize_str(&clean(text)),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&CleanJson(item))?;
                }
                list.end()
            }
            Value::Map(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, &CleanJson(value))?;
                }
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}

/// Texts as one, joined only when they are written.
#[derive(Debug)]
pub(super) struct Joined<'a> {
    pub(super) texts: Vec<Cow<'a, str>>,
    pub(super) between: &'static str,
}

impl Display for Joined<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (index, text) in self.texts.iter().enumerate() {
            if index > 0 {
                out.write_str(self.between)?;
            }
            out.write_str(text)?;
        }
        Ok(())
    }
}

impl Serialize for Joined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Bytes inside an address.
#[derive(Debug)]
pub(super) struct DataUrl<'a> {
    pub(super) media_type: &'a str,
    /// Base64 text.
    pub(super) data: Cow<'a, str>,
}

impl Display for DataUrl<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "data:{};base64,{}", self.media_type, self.data)
    }
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A thing as a text that holds its JSON.
#[derive(Debug)]
pub(super) struct AsJsonText<T>(pub(super) T);

impl<T: Serialize> Serialize for AsJsonText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&json_text(&self.0))
    }
}

/// The JSON text of what serializes to one.
pub(super) fn json_text(thing: &impl Serialize) -> String {
    serde_json::to_string(thing).expect("a value has text for keys, so it has a JSON form")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_control_characters_are_replaced() {
        assert!(matches!(clean("tab\t line\r\n é 😀"), Cow::Borrowed(_)));
        assert_eq!(clean("a\0b\u{1b}[31mc\u{7f}"), "a\u{fffd}b\u{fffd}[31mc\u{fffd}");
    }

    #[test]
    fn texts_inside_a_value_are_cleaned_and_names_stay() {
        let value = Value::from([("a\u{1}", Value::List(vec!["x\u{2}".into(), Value::Int(1)]))]);
        assert!(value_has_controls(&value));
        assert_eq!(json_text(&CleanJson(&value)), "{\"a\\u0001\":[\"x\u{fffd}\",1]}");
    }
}
