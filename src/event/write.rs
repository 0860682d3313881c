//! Writing through serde: one walk over an object's fields serves both encodings, the count that MessagePack wants
//! before them, and the list of names that unknown fields must keep clear of.

use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::constants::DEPTH_MAX;
use super::names::{Style, guard};
use super::value::{Fields, Value};

/// Where something is being written: the encoding, and how many lists and objects are around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) style: Style,
    depth: usize,
}

impl Place {
    pub(crate) fn outermost(style: Style) -> Self {
        Self { style, depth: 0 }
    }

    /// Inside one more list or object. Only the log has a limit: what it holds, JSON can show.
    fn deeper<E: serde::ser::Error>(self) -> Result<Self, E> {
        match self.style {
            Style::Log if self.depth >= DEPTH_MAX => {
                Err(E::custom(format_args!("nested deeper than {DEPTH_MAX} levels")))
            }
            _ => Ok(Self { depth: self.depth + 1, ..self }),
        }
    }
}

/// What can be written in either encoding.
pub(crate) trait Emit {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error>;
}

/// An object of ours: its fields, in the order in which they are written.
pub(crate) trait Shape {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error>;
}

/// Takes an object's fields one by one.
pub(crate) trait Sink {
    type Error: serde::ser::Error;

    fn style(&self) -> Style;

    /// A field that is there.
    fn put<T: Emit + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Self::Error>;

    /// A field that this object has but that isn't there now.
    fn absent(&mut self, name: &'static str);

    /// Fields that this version does not know.
    fn extra(&mut self, fields: &[(String, Value)]) -> Result<(), Self::Error>;

    fn opt<T: Emit>(&mut self, name: &'static str, value: &Option<T>) -> Result<(), Self::Error> {
        match value {
            Some(value) => self.put(name, value),
            None => self.skip(name),
        }
    }

    /// A flag, written where it differs from `default`.
    fn flag(&mut self, name: &'static str, value: bool, default: bool) -> Result<(), Self::Error> {
        if value == default { self.skip(name) } else { self.put(name, &value) }
    }

    fn list<T: Emit>(&mut self, name: &'static str, items: &[T]) -> Result<(), Self::Error> {
        if items.is_empty() { self.skip(name) } else { self.put(name, items) }
    }

    fn skip(&mut self, name: &'static str) -> Result<(), Self::Error> {
        self.absent(name);
        Ok(())
    }
}

/// A value bound to its place, for serde.
pub(crate) struct At<'a, T: ?Sized>(pub(crate) &'a T, pub(crate) Place);

impl<T: Emit + ?Sized> Serialize for At<'_, T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.emit(out, self.1)
    }
}

/// Writes an object of ours.
pub(crate) fn emit_shape<T: Shape, S: Serializer>(shape: &T, out: S, place: Place) -> Result<S::Ok, S::Error> {
    let place = place.deeper()?;
    let mut count = Count { style: place.style, fields: 0, extra: false, error: std::marker::PhantomData::<S::Error> };
    shape.fields(&mut count)?;
    let mut names = Names { style: place.style, names: Vec::new(), error: std::marker::PhantomData::<S::Error> };
    if count.extra {
        shape.fields(&mut names)?;
    }
    let mut map = MapOut { map: out.serialize_map(Some(count.fields))?, place, known: names.names };
    shape.fields(&mut map)?;
    map.map.end()
}

struct Count<E> {
    style: Style,
    fields: usize,
    extra: bool,
    error: std::marker::PhantomData<E>,
}

impl<E: serde::ser::Error> Sink for Count<E> {
    type Error = E;

    fn style(&self) -> Style {
        self.style
    }

    fn put<T: Emit + ?Sized>(&mut self, _: &'static str, _: &T) -> Result<(), E> {
        self.fields += 1;
        Ok(())
    }

    fn absent(&mut self, _: &'static str) {}

    fn extra(&mut self, fields: &[(String, Value)]) -> Result<(), E> {
        self.fields += fields.len();
        self.extra |= !fields.is_empty();
        Ok(())
    }
}

struct Names<E> {
    style: Style,
    names: Vec<&'static str>,
    error: std::marker::PhantomData<E>,
}

impl<E: serde::ser::Error> Sink for Names<E> {
    type Error = E;

    fn style(&self) -> Style {
        self.style
    }

    fn put<T: Emit + ?Sized>(&mut self, name: &'static str, _: &T) -> Result<(), E> {
        self.names.push(name);
        Ok(())
    }

    fn absent(&mut self, name: &'static str) {
        self.names.push(name);
    }

    fn extra(&mut self, _: &[(String, Value)]) -> Result<(), E> {
        Ok(())
    }
}

struct MapOut<M> {
    map: M,
    place: Place,
    known: Vec<&'static str>,
}

impl<M: SerializeMap> Sink for MapOut<M> {
    type Error = M::Error;

    fn style(&self) -> Style {
        self.place.style
    }

    fn put<T: Emit + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), M::Error> {
        self.map.serialize_entry(self.place.style.name(name).as_ref(), &At(value, self.place))
    }

    fn absent(&mut self, _: &'static str) {}

    fn extra(&mut self, fields: &[(String, Value)]) -> Result<(), M::Error> {
        for (name, value) in fields {
            self.map.serialize_entry(guard(name, &self.known, self.place.style).as_ref(), &At(value, self.place))?;
        }
        Ok(())
    }
}

impl Emit for str {
    fn emit<S: Serializer>(&self, out: S, _: Place) -> Result<S::Ok, S::Error> {
        out.serialize_str(self)
    }
}

impl Emit for String {
    fn emit<S: Serializer>(&self, out: S, _: Place) -> Result<S::Ok, S::Error> {
        out.serialize_str(self)
    }
}

impl Emit for bool {
    fn emit<S: Serializer>(&self, out: S, _: Place) -> Result<S::Ok, S::Error> {
        out.serialize_bool(*self)
    }
}

impl Emit for i64 {
    fn emit<S: Serializer>(&self, out: S, _: Place) -> Result<S::Ok, S::Error> {
        out.serialize_i64(*self)
    }
}

impl Emit for u64 {
    fn emit<S: Serializer>(&self, out: S, _: Place) -> Result<S::Ok, S::Error> {
        out.serialize_u64(*self)
    }
}

impl Emit for Uuid {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        match place.style {
            Style::Log => out.serialize_bytes(self.as_bytes()),
            Style::Json => out.serialize_str(self.hyphenated().encode_lower(&mut Uuid::encode_buffer())),
        }
    }
}

/// Nothing said on purpose, where absent says something else.
pub(crate) struct Nil;

impl Emit for Nil {
    fn emit<S: Serializer>(&self, out: S, _: Place) -> Result<S::Ok, S::Error> {
        out.serialize_unit()
    }
}

impl<T: Emit> Emit for [T] {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        let place = place.deeper()?;
        let mut list = out.serialize_seq(Some(self.len()))?;
        for item in self {
            list.serialize_element(&At(item, place))?;
        }
        list.end()
    }
}

impl<T: Emit> Emit for Vec<T> {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        self.as_slice().emit(out, place)
    }
}

/// An object whose names are nobody's but its maker's.
pub(crate) fn emit_fields<S: Serializer>(fields: &Fields, out: S, place: Place) -> Result<S::Ok, S::Error> {
    let place = place.deeper()?;
    let mut map = out.serialize_map(Some(fields.len()))?;
    for (name, value) in fields {
        map.serialize_entry(name, &At(value, place))?;
    }
    map.end()
}

/// The ext type of a number that no 64-bit number gives back; its data is the number's JSON text.
pub(crate) const EXT_NUMBER: i8 = 1;

impl Emit for Value {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => out.serialize_unit(),
            Self::Bool(value) => out.serialize_bool(*value),
            Self::Int(value) => out.serialize_i64(*value),
            Self::UInt(value) => out.serialize_u64(*value),
            Self::Float(value) if place.style == Style::Log && !value.is_finite() => {
                Err(S::Error::custom(format_args!("{value} is no finite number")))
            }
            Self::Float(value) => out.serialize_f64(*value),
            Self::Number(text) => emit_number(text, out, place.style),
            Self::Text(text) => out.serialize_str(text),
            Self::Bytes(bytes) if place.style == Style::Log => out.serialize_bytes(bytes),
            Self::Bytes(bytes) => out.serialize_str(&super::base64::encode(bytes)),
            Self::List(items) => items.as_slice().emit(out, place),
            Self::Map(fields) => emit_fields(fields, out, place),
        }
    }
}

fn emit_number<S: Serializer>(text: &str, out: S, style: Style) -> Result<S::Ok, S::Error> {
    let valid = super::parse::is_number(text);
    match style {
        Style::Log if valid => {
            out.serialize_newtype_struct(rmp_serde::MSGPACK_EXT_STRUCT_NAME, &(EXT_NUMBER, Raw(text.as_bytes())))
        }
        Style::Log => Err(S::Error::custom(format_args!("`{text}` is no number in JSON"))),
        Style::Json if valid => match serde_json::value::RawValue::from_string(text.to_owned()) {
            Ok(raw) => raw.serialize(out),
            Err(_) => out.serialize_str(text),
        },
        // Only a value made by hand can hold such a text, and the log refuses it.
        Style::Json => out.serialize_str(text),
    }
}

struct Raw<'a>(&'a [u8]);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_bytes(self.0)
    }
}

/// JSON: names as they are, bytes as base64 text, numbers with the text that they had.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.emit(out, Place::outermost(Style::Json))
    }
}
