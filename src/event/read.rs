//! Reading an object's fields out of a value tree: each is taken out of it once.

use std::borrow::Cow;
use std::collections::VecDeque;

use uuid::Uuid;

use super::error::EventError;
use super::id::parse_id;
use super::names::{GUARD, Style, unguard};
use super::raw::{Found, Raw, RawFields, raw};
use super::value::{Fields, Value};

/// An object that is being taken apart; what nobody asked for is its unknown rest.
pub(crate) struct Reader<'a> {
    /// Mostly taken from the front, since they are asked for in the order in which they are written.
    fields: VecDeque<(Cow<'a, str>, Raw<'a>)>,
    style: Style,
    /// The names that were asked for, if any name is guarded.
    asked: Option<Vec<&'static str>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(fields: Fields, style: Style) -> Self {
        Self::over(raw(fields), style)
    }

    fn over(fields: RawFields<'a>, style: Style) -> Self {
        let asked = fields.iter().any(|(name, _)| name.starts_with(GUARD)).then(Vec::new);
        Self { fields: fields.into(), style, asked }
    }

    /// The fields of a value that must be an object.
    pub(crate) fn of(value: impl Into<Raw<'a>>, style: Style) -> Result<Self, EventError> {
        match value.into() {
            Raw::Map(fields) => Ok(Self::over(fields, style)),
            other => Err(wrong("", "an object", &other)),
        }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// The field, left where it is, if it is text.
    pub(crate) fn peek_text(&self, name: &'static str) -> Option<&str> {
        match self.fields.iter().find(|(field, _)| self.style.is(name, field)) {
            Some((_, Raw::Text(text))) => Some(text),
            _ => None,
        }
    }

    /// The field, null too.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Value> {
        self.take_raw(name).map(Value::from)
    }

    /// The field, null too.
    pub(crate) fn take_raw(&mut self, name: &'static str) -> Option<Raw<'a>> {
        if let Some(asked) = &mut self.asked {
            asked.push(name);
        }
        let place = self.fields.iter().position(|(field, _)| self.style.is(name, field))?;
        self.fields.remove(place).map(|(_, value)| value)
    }

    /// The field; null counts as absent.
    pub(crate) fn some(&mut self, name: &'static str) -> Option<Raw<'a>> {
        self.take_raw(name).filter(|value| !value.is_null())
    }

    /// Any value. In JSON null counts as absent; the log keeps the two apart.
    pub(crate) fn any(&mut self, name: &'static str) -> Option<Value> {
        match self.style {
            Style::Log => self.take(name),
            Style::Json => self.some(name).map(Value::from),
        }
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, EventError> {
        Ok(self.word(name)?.map(Cow::into_owned))
    }

    /// A text that is only looked at.
    pub(crate) fn word(&mut self, name: &'static str) -> Result<Option<Cow<'a, str>>, EventError> {
        match self.some(name) {
            None => Ok(None),
            Some(Raw::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "text", &other)),
        }
    }

    pub(crate) fn need_text(&mut self, name: &'static str) -> Result<String, EventError> {
        self.need_word(name).map(Cow::into_owned)
    }

    pub(crate) fn need_word(&mut self, name: &'static str) -> Result<Cow<'a, str>, EventError> {
        self.word(name)?.ok_or_else(|| self.missing(name, "text"))
    }

    pub(crate) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, EventError> {
        match self.some(name) {
            None => Ok(default),
            Some(Raw::Bool(value)) => Ok(value),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    pub(crate) fn need_flag(&mut self, name: &'static str) -> Result<bool, EventError> {
        match self.some(name) {
            None => Err(self.missing(name, "true or false")),
            Some(Raw::Bool(value)) => Ok(value),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    pub(crate) fn int(&mut self, name: &'static str) -> Result<Option<i64>, EventError> {
        match self.some(name) {
            None => Ok(None),
            Some(value) => match value.as_i64() {
                Some(int) => Ok(Some(int)),
                None => Err(self.wrong(name, "an integer", &value)),
            },
        }
    }

    /// A whole number from 0 on.
    pub(crate) fn count(&mut self, name: &'static str) -> Result<Option<u64>, EventError> {
        match self.some(name) {
            None => Ok(None),
            Some(Raw::UInt(count)) => Ok(Some(count)),
            Some(value) => match value.as_i64().and_then(|int| u64::try_from(int).ok()) {
                Some(count) => Ok(Some(count)),
                None => Err(self.wrong(name, "an integer from 0 on", &value)),
            },
        }
    }

    pub(crate) fn list(&mut self, name: &'static str) -> Result<Option<Vec<Raw<'a>>>, EventError> {
        match self.some(name) {
            None => Ok(None),
            Some(Raw::List(items)) => Ok(Some(items)),
            Some(other) => Err(self.wrong(name, "a list", &other)),
        }
    }

    /// A list of texts; absent is empty.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, EventError> {
        let items = self.list(name)?.unwrap_or_default();
        let text = |(index, item)| match item {
            Raw::Text(text) => Ok(text.into_owned()),
            other => Err(wrong(&self.item(name, index), "text", &other)),
        };
        items.into_iter().enumerate().map(text).collect()
    }

    /// An id of ours.
    pub(crate) fn id(&mut self, name: &'static str) -> Result<Option<Uuid>, EventError> {
        match self.some(name) {
            None => Ok(None),
            Some(value) => read_id(&value).map(Some).map_err(|error| error.within(&self.style.name(name))),
        }
    }

    pub(crate) fn need_id(&mut self, name: &'static str) -> Result<Uuid, EventError> {
        self.id(name)?.ok_or_else(|| self.missing(name, ID))
    }

    /// A list of ids of ours; absent is empty.
    pub(crate) fn ids(&mut self, name: &'static str) -> Result<Vec<Uuid>, EventError> {
        let items = self.list(name)?.unwrap_or_default();
        let id = |(index, item)| read_id(&item).map_err(|error: EventError| error.within(&self.item(name, index)));
        items.into_iter().enumerate().map(id).collect()
    }

    /// A list of objects, each read by `read`; absent is empty.
    pub(crate) fn each<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(Raw<'a>, Style) -> Result<T, EventError>,
    ) -> Result<Vec<T>, EventError> {
        let items = self.list(name)?.unwrap_or_default();
        let one = |(index, item)| read(item, self.style).map_err(|error| error.within(&self.item(name, index)));
        items.into_iter().enumerate().map(one).collect()
    }

    /// Leaves a field to the unknown ones after all: it is there, but another one says the same.
    pub(crate) fn put_back(&mut self, name: &'static str, text: Option<String>) {
        if let Some(text) = text {
            self.fields.push_back((self.style.name(name), Raw::Text(Cow::Owned(text))));
        }
    }

    /// Takes a field's reading back, as if nobody had asked for it.
    pub(crate) fn give_back(&mut self, name: &'static str, value: Raw<'a>) {
        if let Some(asked) = &mut self.asked {
            asked.retain(|asked| *asked != name);
        }
        self.fields.push_front((self.style.name(name), value));
    }

    /// Names that are known here too, though nobody asks for them.
    pub(crate) fn also_known(&mut self, names: &[&'static str]) {
        if let Some(asked) = &mut self.asked {
            asked.extend(names);
        }
    }

    /// What nobody asked for, in order, under the names that it had before [`guard`](super::names::guard).
    pub(crate) fn rest(self) -> Fields {
        let Self { fields, style, asked } = self;
        match asked {
            None => fields.into_iter().map(|(name, value)| (name.into_owned(), value.into())).collect(),
            Some(asked) => fields
                .into_iter()
                .map(|(name, value)| (unguard(name.into_owned(), &asked, style), value.into()))
                .collect(),
        }
    }

    pub(crate) fn wrong(&self, name: &'static str, expected: &'static str, found: &impl Found) -> EventError {
        wrong(&self.style.name(name), expected, found)
    }

    pub(crate) fn missing(&self, name: &'static str, expected: &'static str) -> EventError {
        EventError::Field { field: self.style.name(name).into_owned(), expected, found: "nothing".to_owned() }
    }

    fn item(&self, name: &'static str, index: usize) -> String {
        format!("{}[{index}]", self.style.name(name))
    }
}

const ID: &str = "an id (16 bytes, or a UUID's text)";

/// A field that holds something else.
pub(crate) fn wrong(field: &str, expected: &'static str, found: &impl Found) -> EventError {
    EventError::Field { field: field.to_owned(), expected, found: found.found() }
}

/// An id of ours: 16 bytes in the log, text in JSON.
pub(crate) fn read_id(value: &Raw<'_>) -> Result<Uuid, EventError> {
    let id = match value {
        Raw::Bytes(bytes) => Uuid::from_slice(bytes).ok(),
        Raw::Text(text) => parse_id(text),
        _ => None,
    };
    id.ok_or_else(|| wrong("", ID, value))
}
