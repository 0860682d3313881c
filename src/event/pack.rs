//! MessagePack bytes to a value, through a bounds-checked cursor.
//!
//! Writing goes through rmp-serde; reading is our own, since rmp-serde takes text that is no UTF-8 for bytes in
//! silence and ignores what follows the value. No claimed length is believed: each is checked against the bytes
//! that are left before anything is set aside for it.

use std::borrow::Cow;

use super::constants::DEPTH_MAX;
use super::error::EventError;
use super::raw::{Found, Raw, RawFields};
use super::value::settle;
use super::write::EXT_NUMBER;

/// Reads the one value that the bytes hold.
pub(crate) fn read(bytes: &[u8]) -> Result<Raw<'_>, EventError> {
    read_within(bytes, usize::MAX)
}

/// Reads the one value that the bytes hold, of at most so many values, fields' names not counted. All of it is checked.
pub(crate) fn read_within(bytes: &[u8], values: usize) -> Result<Raw<'_>, EventError> {
    let mut cursor = Cursor { bytes, at: 0, values };
    let value = cursor.value(0)?;
    match bytes.len() - cursor.at {
        0 => Ok(value),
        left => Err(EventError::Trailing { offset: cursor.at, left }),
    }
}

/// The fields of the object that the bytes hold, one by one.
pub(crate) struct Entries<'a> {
    cursor: Cursor<'a>,
    /// How many there still are.
    pub(crate) left: usize,
}

impl<'a> Entries<'a> {
    /// None if no object begins there.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        // Only single values are read: none is made of more than it has bytes.
        let mut cursor = Cursor { bytes, at: 0, values: usize::MAX };
        let [marker] = cursor.array().ok()?;
        let left = match marker {
            0x80..=0x8F => usize::from(marker & 0x0F),
            0xDE | 0xDF => cursor.length(2 << (marker - 0xDE)).ok()?,
            _ => return None,
        };
        Some(Self { cursor, left })
    }

    /// The next field's name; its value comes next.
    pub(crate) fn name(&mut self) -> Option<&'a str> {
        self.left = self.left.checked_sub(1)?;
        self.cursor.name(1).ok()
    }

    /// The value behind a name, if it is one value. A list or an object is not read: it may hold as many as the bytes have room
    /// for, and of a compressed event these are many.
    pub(crate) fn value(&mut self) -> Option<Raw<'a>> {
        match self.rest().first()? {
            0x80..=0x9F | 0xDC..=0xDF => None,
            _ => self.cursor.value(1).ok(),
        }
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.cursor.bytes[self.cursor.at..]
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many more there may be.
    values: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize, expected: &'static str) -> Result<&'a [u8], EventError> {
        let left = self.bytes.len() - self.at;
        if len > left {
            let found = format!("{left} bytes where {len} are claimed");
            return Err(EventError::Bytes { offset: self.at, expected, found });
        }
        let taken = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], EventError> {
        let taken = self.take(N, "a value")?;
        Ok(taken.try_into().expect("as many bytes were taken as the array has"))
    }

    fn length(&mut self, width: usize) -> Result<usize, EventError> {
        let bytes = self.take(width, "a length")?;
        Ok(bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    fn value(&mut self, depth: usize) -> Result<Raw<'a>, EventError> {
        let start = self.at;
        self.values = self.values.checked_sub(1).ok_or(EventError::Bytes {
            offset: start,
            expected: "a compressed event of no more values than 4,096 and one for each of its bytes",
            found: "one more".to_owned(),
        })?;
        let [marker] = self.array()?;
        Ok(match marker {
            0x00..=0x7F => Raw::Int(i64::from(marker)),
            0x80..=0x8F => self.map(usize::from(marker & 0x0F), depth + 1)?,
            0x90..=0x9F => self.list(usize::from(marker & 0x0F), depth + 1)?,
            0xA0..=0xBF => Raw::Text(Cow::Borrowed(self.text(usize::from(marker & 0x1F))?)),
            0xC0 => Raw::Null,
            0xC2 => Raw::Bool(false),
            0xC3 => Raw::Bool(true),
            0xC4..=0xC6 => {
                let len = self.length(1 << (marker - 0xC4))?;
                Raw::Bytes(Cow::Borrowed(self.take(len, "bytes")?))
            }
            0xC7..=0xC9 => {
                let len = self.length(1 << (marker - 0xC7))?;
                self.ext(len, start)?
            }
            0xCA => finite(f64::from(f32::from_be_bytes(self.array()?)), start)?,
            0xCB => finite(f64::from_be_bytes(self.array()?), start)?,
            0xCC => Raw::Int(i64::from(u8::from_be_bytes(self.array()?))),
            0xCD => Raw::Int(i64::from(u16::from_be_bytes(self.array()?))),
            0xCE => Raw::Int(i64::from(u32::from_be_bytes(self.array()?))),
            0xCF => {
                let value = u64::from_be_bytes(self.array()?);
                i64::try_from(value).map_or(Raw::UInt(value), Raw::Int)
            }
            0xD0 => Raw::Int(i64::from(i8::from_be_bytes(self.array()?))),
            0xD1 => Raw::Int(i64::from(i16::from_be_bytes(self.array()?))),
            0xD2 => Raw::Int(i64::from(i32::from_be_bytes(self.array()?))),
            0xD3 => Raw::Int(i64::from_be_bytes(self.array()?)),
            0xD4..=0xD8 => self.ext(1 << (marker - 0xD4), start)?,
            0xD9..=0xDB => {
                let len = self.length(1 << (marker - 0xD9))?;
                Raw::Text(Cow::Borrowed(self.text(len)?))
            }
            0xDC | 0xDD => {
                let len = self.length(2 << (marker - 0xDC))?;
                self.list(len, depth + 1)?
            }
            0xDE | 0xDF => {
                let len = self.length(2 << (marker - 0xDE))?;
                self.map(len, depth + 1)?
            }
            0xE0..=0xFF => Raw::Int(i64::from(i8::from_be_bytes([marker]))),
            0xC1 => {
                return Err(EventError::Bytes {
                    offset: start,
                    expected: "a value",
                    found: "0xc1, which MessagePack never uses".to_owned(),
                });
            }
        })
    }

    fn text(&mut self, len: usize) -> Result<&'a str, EventError> {
        let offset = self.at;
        let bytes = self.take(len, "text")?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) => Err(EventError::Bytes {
                offset: offset + error.valid_up_to(),
                expected: "text in UTF-8",
                found: format!("byte {:#04x}", bytes[error.valid_up_to()]),
            }),
        }
    }

    fn ext(&mut self, len: usize, offset: usize) -> Result<Raw<'a>, EventError> {
        let kind = i8::from_be_bytes(self.array()?);
        let data = self.take(len, "ext data")?;
        match std::str::from_utf8(data) {
            Ok(text) if kind == EXT_NUMBER && super::parse::is_number(text) => Ok(Raw::Number(Cow::Borrowed(text))),
            _ if kind == EXT_NUMBER => Err(EventError::Bytes {
                offset,
                expected: "a number's text",
                found: String::from_utf8_lossy(data).chars().take(40).collect(),
            }),
            _ => Err(EventError::Bytes { offset, expected: "ext type 1", found: format!("ext type {kind}") }),
        }
    }

    /// Checks that a list or an object of `len` entries, each of `width` bytes at least, may begin here.
    fn enter(&self, len: usize, width: usize, depth: usize) -> Result<usize, EventError> {
        if depth > DEPTH_MAX {
            return Err(EventError::TooDeep { limit: DEPTH_MAX, offset: self.at });
        }
        let left = self.bytes.len() - self.at;
        if len > left / width {
            let found = format!("{left} bytes where {len} entries are claimed");
            return Err(EventError::Bytes { offset: self.at, expected: "entries", found });
        }
        // One byte of input may become a value of many, so room for a few only; the rest grows as it comes.
        Ok(len.min(32))
    }

    fn list(&mut self, len: usize, depth: usize) -> Result<Raw<'a>, EventError> {
        let mut items = Vec::with_capacity(self.enter(len, 1, depth)?);
        for _ in 0..len {
            items.push(self.value(depth)?);
        }
        Ok(Raw::List(items))
    }

    /// A field's name.
    fn name(&mut self, depth: usize) -> Result<&'a str, EventError> {
        let offset = self.at;
        if let Some(marker @ 0xA0..=0xBF) = self.bytes.get(offset) {
            // Nearly every one is as short as that.
            self.at += 1;
            return self.text(usize::from(marker & 0x1F));
        }
        self.values = self.values.saturating_add(1);
        match self.value(depth)? {
            Raw::Text(Cow::Borrowed(name)) => Ok(name),
            other => Err(EventError::Bytes { offset, expected: "a field's name", found: other.found() }),
        }
    }

    fn map(&mut self, len: usize, depth: usize) -> Result<Raw<'a>, EventError> {
        let mut fields = RawFields::with_capacity(self.enter(len, 2, depth)?);
        for _ in 0..len {
            let name = Cow::Borrowed(self.name(depth)?);
            fields.push((name, self.value(depth)?));
        }
        settle(&mut fields);
        Ok(Raw::Map(fields))
    }
}

fn finite<'a>(value: f64, offset: usize) -> Result<Raw<'a>, EventError> {
    match value.is_finite() {
        true => Ok(Raw::Float(value)),
        false => Err(EventError::Bytes { offset, expected: "a finite number", found: value.to_string() }),
    }
}
