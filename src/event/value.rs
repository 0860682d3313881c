//! A JSON-like value that keeps the order of its fields and the text of its numbers.

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

impl Value {
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
