//! A whole file in memory: its records and what could not be read, in file order.

use std::io::{self, BufRead, Read};

use super::item::text;
use super::record::{Record, take};
use super::report::code;
use crate::event::parse::parse_prefix;
use crate::event::{Lossy, Value};
use crate::interop::found::{FaultyLine, Warning};
use crate::interop::objects::{Line, Piece, Shape, read_lines};
use crate::interop::work::Work;

/// So much of a file says which form it has.
const HEAD_LEN: u64 = 64 * 1024;

/// How records in envelopes look. A torn record's payload is an object with a type as well, and is none.
const ENVELOPES: Shape = Shape {
    first_fields: &["timestamp", "type", "payload", "ordinal", "metadata"],
    is_record: |value| {
        text(value, "timestamp").is_some() && matches!(value.get("payload"), Some(Value::Map(_))) && is_usable(value)
    },
};

/// How records without envelopes look.
const BARE: Shape =
    Shape { first_fields: &["type", "id", "record_type", "timestamp", "role", "call_id"], is_record: is_usable };

fn is_usable(value: &Value) -> bool {
    Record::new(0, String::new(), value.clone()).is_ok()
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct File {
    /// Everything in file order.
    pub(super) entries: Vec<Entry>,
    /// Objects read.
    pub(super) objects: usize,
    pub(super) bad: Vec<FaultyLine>,
    pub(super) salvaged: Vec<String>,
    pub(super) warnings: Vec<Warning>,
}

/// One thing in the file.
#[derive(Debug)]
pub(super) enum Entry {
    Record(Record),
    /// What could not be read, or is of no use.
    Loose {
        line: u64,
        place: String,
        value: Value,
    },
}

impl File {
    /// # Errors
    /// What the input says.
    pub(super) fn read(mut input: impl BufRead, salvage: bool, work: &mut Work) -> io::Result<Self> {
        let mut file = Self::default();
        let mut head = Vec::new();
        input.by_ref().take(HEAD_LEN).read_to_end(&mut head)?;
        if opens_an_object(&head) {
            input.read_to_end(&mut head)?;
            work.bytes(head.len());
            if let Some((value, lossy)) = early(&head) {
                file.add_early(1, value, lossy);
                return Ok(file);
            }
        }
        let has_envelopes = head.windows(9).any(|bytes| bytes == b"\"payload\"");
        let shape = if has_envelopes { ENVELOPES } else { BARE };
        let whole = io::Cursor::new(head).chain(input);
        read_lines(whole, salvage.then_some(shape), work, |line| file.add_line(line))?;
        Ok(file)
    }

    fn add_line(&mut self, line: Line) {
        let Line { number, offset, len, objects, bad } = line;
        let is_bad = bad.is_some();
        let mut salvaged = 0;
        let mut cause = bad.as_ref().map(|bad| bad.cause.clone());
        for (index, value) in bad.into_iter().flat_map(|bad| bad.rest).enumerate() {
            self.entries.push(Entry::Loose { line: number, place: format!("L{number}.raw{index}"), value });
        }
        for piece in objects {
            match self.add_object(number, piece) {
                Ok(()) => salvaged += usize::from(is_bad),
                Err(why) => drop(cause.get_or_insert_with(|| why.to_owned())),
            }
        }
        if let Some(cause) = cause {
            self.bad.push(FaultyLine { line: number, offset, len, cause, salvaged });
        }
    }

    fn add_object(&mut self, line: u64, piece: Piece) -> Result<(), &'static str> {
        let place = match piece.sub {
            Some(sub) => format!("L{line}.{sub}"),
            None => format!("L{line}"),
        };
        if is_early(&piece.value) {
            self.add_early(line, piece.value, piece.lossy);
            return Ok(());
        }
        self.note_lossy(line, piece.lossy);
        self.objects += 1;
        match Record::new(line, place.clone(), piece.value) {
            Ok(record) => {
                if piece.sub.is_some() {
                    self.salvaged.push(place);
                }
                self.entries.push(Entry::Record(record));
                Ok(())
            }
            Err((value, why)) => {
                self.entries.push(Entry::Loose { line, place, value });
                Err(why)
            }
        }
    }

    /// The early form: one object with a header and a list of items.
    fn add_early(&mut self, line: u64, value: Value, lossy: Lossy) {
        self.note_lossy(line, lossy);
        let Value::Map(mut fields) = value else { return };
        let items = take(&mut fields, "items");
        let mut header = match take(&mut fields, "session") {
            Some(Value::Map(header)) => header,
            _ => Vec::new(),
        };
        header.append(&mut fields);
        self.add_part(line, format!("L{line}"), Value::from(header));
        let Some(Value::List(items)) = items else { return };
        for (index, item) in items.into_iter().enumerate() {
            self.add_part(line, format!("L{line}#{index}"), item);
        }
    }

    fn add_part(&mut self, line: u64, place: String, value: Value) {
        self.objects += 1;
        match Record::new(line, place.clone(), value) {
            Ok(record) => self.entries.push(Entry::Record(record)),
            Err((value, why)) => {
                self.warn(code::UNUSABLE_ITEM, line, format!("{place} is {why}"));
                self.entries.push(Entry::Loose { line, place, value });
            }
        }
    }

    fn note_lossy(&mut self, line: u64, lossy: Lossy) {
        if !lossy.is_none() {
            let text = format!(
                "{} half surrogates and {} runs of bytes that are no UTF-8 were replaced",
                lossy.surrogates, lossy.bad_utf8
            );
            self.warn(code::LOSSY_TEXT, line, text);
        }
    }

    pub(super) fn warn(&mut self, code: &'static str, line: u64, text: String) {
        self.warnings.push(Warning { code, line, text });
    }
}

/// Whether the first line opens an object and ends there, as no line of a file of lines does.
pub(super) fn opens_an_object(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
    head.split(|byte| *byte == b'\n').next().is_some_and(|line| line.trim_ascii() == b"{")
}

fn early(bytes: &[u8]) -> Option<(Value, Lossy)> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (value, lossy, used) = parse_prefix(bytes).ok()?;
    (used == bytes.len() && is_early(&value)).then_some((value, lossy))
}

fn is_early(value: &Value) -> bool {
    let has_session = matches!(value.get("session"), Some(Value::Map(_)));
    has_session && matches!(value.get("items"), Some(Value::List(_)))
}
