//! A JSON-like value that keeps the order of its fields and the text of its numbers.

use std::ops::Deref;

use super::error::EventError;

/// The fields of an object, in the order in which they came.
pub type Fields = Vec<(String, Value)>;

/// Any value that an application or a provider may hand us.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number that fits 64 bits with sign.
    Int(i64),
    /// A whole number above `i64::MAX`.
    UInt(u64),
    /// A finite number with a fraction, whose shortest text is the text it had.
    Float(f64),
    /// A number whose text no 64-bit number gives back, such as `1.10` or one of thirty digits: its JSON text.
    Number(String),
    /// Text.
    Text(String),
    /// Bytes; in JSON they are written as base64 text.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// An object; a name given twice keeps the last value.
    Map(Fields),
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or(Self::UInt(value), Self::Int)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(items)
    }
}

/// An object; a name given twice keeps the last value.
impl From<Fields> for Value {
    fn from(mut fields: Fields) -> Self {
        settle(&mut fields);
        Self::Map(fields)
    }
}

/// An object; a name given twice keeps the last value.
///
/// ```
/// use seslog::event::Value;
///
/// let input = Value::from([("cmd", "wc -l notes.txt".into()), ("seconds", Value::Int(5))]);
/// assert_eq!(input.get("cmd"), Some(&"wc -l notes.txt".into()));
/// ```
impl<const N: usize> From<[(&str, Value); N]> for Value {
    fn from(fields: [(&str, Value); N]) -> Self {
        Self::from(Fields::from(fields.map(|(name, value)| (name.to_owned(), value))))
    }
}

impl Value {
    /// What this serializes to as JSON: a struct, a map, or a value of another crate's.
    ///
    /// # Errors
    /// [`EventError::NotStorable`] if it can't be serialized to JSON, and those of [`Value::parse_json`].
    pub fn from_serialize(thing: &impl serde::Serialize) -> Result<Self, EventError> {
        let json = serde_json::to_vec(thing).map_err(|error| EventError::NotStorable { why: error.to_string() })?;
        Ok(Self::parse_json(json)?.0)
    }

    /// The field of this name, if this is an object that has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Map(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The fields, if it is an object.
    #[must_use]
    pub fn as_map(&self) -> Option<&[(String, Value)]> {
        match self {
            Self::Map(fields) => Some(fields),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// What it is, in a few words, for an error's text.
    pub(crate) fn found(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::UInt(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Number(text) => text.chars().take(SHOWN).collect(),
            Self::Text(text) => found_text(text),
            Self::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "an object".to_owned(),
        }
    }

    /// The whole number, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::UInt(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }
}

/// How much of a text an error shows, in characters.
const SHOWN: usize = 40;

/// A text as an error shows it.
pub(super) fn found_text(text: &str) -> String {
    match text.chars().nth(SHOWN) {
        None => format!("{text:?}"),
        Some(_) => format!("{:?}...", text.chars().take(SHOWN).collect::<String>()),
    }
}

/// Leaves each name once: at the place where it came first, with the value that came last.
pub(super) fn settle<N: Deref<Target = str>, V>(fields: &mut Vec<(N, V)>) {
    // Small objects, nearly all there are, are compared pair by pair; large ones by sorting.
    const SMALL: usize = 16;
    let twice = if fields.len() <= SMALL {
        let mut seen = 0_u64;
        (0..fields.len()).any(|later| {
            let name = &*fields[later].0;
            // Names of other lengths or ends are others; only the rest is compared.
            let end = name.as_bytes().last().map_or(0, |byte| usize::from(*byte));
            let bit = 1 << ((name.len() * 7 + end) % 64);
            let known = seen & bit != 0;
            seen |= bit;
            known && fields[..later].iter().any(|(earlier, _)| **earlier == *name)
        })
    } else {
        let mut names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair[0] == pair[1])
    };
    if !twice {
        return;
    }
    let mut places = std::collections::HashMap::new();
    let mut settled: Vec<(N, V)> = Vec::with_capacity(fields.len());
    for (name, value) in fields.drain(..) {
        match places.get(&*name) {
            Some(&place) => {
                let (_, old) = &mut settled[place];
                *old = value;
            }
            None => {
                places.insert(name.to_owned(), settled.len());
                settled.push((name, value));
            }
        }
    }
    *fields = settled;
}
