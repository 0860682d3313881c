//! Neutral JSON Lines, the form in which sessions go in and out: one event a line, camelCase names.

use std::collections::VecDeque;
use std::io::BufRead;

use super::incoming::{Incoming, IncomingBody, IncomingParent, IncomingPlace};
use super::lines::{Line, Lines, whole_objects};
use crate::event::names::{Style, guard};
use crate::event::parse::parse_prefix;
use crate::event::read::{Reader, wrong};
use crate::event::shape::{
    MESSAGE_FIELDS, message_patch, read_extension, read_message, read_meta, read_tool_started, read_trigger, recase,
};
use crate::event::{CompactSummary, EventError, Fields, Kind, Lossy, Message, Part, Role, Unknown, Value, apply_patch};

/// The longest line that is read where the caller says nothing else, in bytes.
pub const LINE_LEN_MAX: usize = 256 * 1024 * 1024;

/// The first line of a file, if it names the session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionHead {
    /// The session's id; it names the session for an import.
    pub id: Option<String>,
    /// Each record says how a session has placed it, as an export does: nothing is placed anew.
    pub placed: bool,
    /// Its other fields.
    pub extra: Fields,
}

/// A line that could not be taken as it stands. The reader goes on behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, byte {offset}: {}expected {expected}, found {found}{}", in_field(.field), saved(.recovered))]
pub struct LineError {
    /// The line's number, from 1.
    pub line: usize,
    /// Where the trouble begins, in bytes from the start of the input.
    pub offset: u64,
    /// The field that is wrong, where the line is JSON.
    pub field: Option<String>,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// How many whole records of the line were read all the same; they come before this error.
    pub recovered: usize,
    /// The line; of one over the limit only its beginning.
    pub raw: Vec<u8>,
}

fn in_field(field: &Option<String>) -> String {
    field.as_ref().map_or_else(String::new, |field| format!("field `{field}`: "))
}

fn saved(recovered: &usize) -> String {
    match recovered {
        0 => String::new(),
        count => format!(" ({count} whole records on the line were read)"),
    }
}

/// The records of neutral JSON Lines.
///
/// A bad line is an error of its own, and the next call goes on behind it. Only an error of the input itself ends
/// the reading.
#[must_use]
pub fn read_events<R: BufRead>(input: R) -> NeutralReader<R> {
    NeutralReader {
        lines: Lines::new(input, LINE_LEN_MAX),
        ready: VecDeque::new(),
        boundary: None,
        head: None,
        begun: false,
        ended: false,
        lossy: Lossy::default(),
    }
}

/// Reads neutral JSON Lines; made by [`read_events`].
#[derive(Debug)]
pub struct NeutralReader<R> {
    lines: Lines<R>,
    ready: VecDeque<Result<(usize, Incoming), LineError>>,
    /// A boundary that waits for its summary, which follows it in every export.
    boundary: Option<Held>,
    head: Option<SessionHead>,
    begun: bool,
    ended: bool,
    lossy: Lossy,
}

#[derive(Debug)]
struct Held {
    line: Line,
    boundary: Boundary,
}

#[derive(Debug)]
struct Boundary {
    record: Incoming,
    keep: Vec<String>,
}

enum Parsed {
    Head(SessionHead),
    Record(Incoming),
    Boundary(Boundary),
}

impl<R: BufRead> NeutralReader<R> {
    /// Lines over this many bytes are errors; [`LINE_LEN_MAX`] where nothing is said.
    #[must_use]
    pub fn with_line_len_max(mut self, len_max: usize) -> Self {
        self.lines.set_len_max(len_max);
        self
    }

    /// What the first line says of the session, if it does. Reads up to the first record.
    pub fn head(&mut self) -> Option<&SessionHead> {
        while !self.begun && !self.ended {
            self.fill();
        }
        self.head.as_ref()
    }

    /// What had to be replaced in the texts so far.
    pub fn lossy(&self) -> Lossy {
        self.lossy
    }

    /// Reads one more line.
    fn fill(&mut self) {
        let line = match self.lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => {
                self.ended = true;
                return self.give_up_boundary();
            }
            Err(error) => {
                self.ended = true;
                self.give_up_boundary();
                return self.ready.push_back(Err(LineError {
                    line: self.lines.number() + 1,
                    offset: self.lines.offset(),
                    field: None,
                    expected: "more bytes".to_owned(),
                    found: error.to_string(),
                    recovered: 0,
                    raw: Vec::new(),
                }));
            }
        };
        if line.too_long {
            let found = format!("{} bytes", line.len);
            return self.bad(line, 0, None, "a shorter line".to_owned(), found, 0);
        }
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match parse_prefix(&line.bytes) {
            Ok((value, lossy, used)) if used == line.bytes.len() => {
                self.lossy += lossy;
                self.take(value, line);
            }
            Ok((_, _, used)) => {
                self.salvage(line, used, "the end of the line".to_owned(), "something behind the object".to_owned());
            }
            Err(EventError::Json { offset, expected, found }) => {
                self.salvage(line, offset, expected.to_owned(), found);
            }
            Err(error) => self.salvage(line, 0, "JSON".to_owned(), error.to_string()),
        }
    }

    fn place_in_file(&self) -> PlaceInFile {
        PlaceInFile { first: !self.begun, placed: self.head.as_ref().is_some_and(|head| head.placed) }
    }

    /// Takes what a line holds.
    fn take(&mut self, value: Value, line: Line) {
        match read_line(value, self.place_in_file()) {
            Ok(Parsed::Head(head)) => {
                self.begun = true;
                self.head = Some(head);
            }
            Ok(Parsed::Record(record)) => {
                self.begun = true;
                self.push(line.number, record);
            }
            Ok(Parsed::Boundary(boundary)) => {
                self.begun = true;
                self.give_up_boundary();
                self.boundary = Some(Held { line, boundary });
            }
            Err(error) => {
                let (field, expected, found) = match error {
                    EventError::Field { field, expected, found } => (Some(field), expected.to_owned(), found),
                    other => (None, "an event".to_owned(), other.to_string()),
                };
                self.bad(line, 0, field, expected, found, 0);
            }
        }
    }

    /// Hands a record on, together with the boundary that waited for it.
    fn push(&mut self, line: usize, record: Incoming) {
        match self.boundary.take() {
            Some(held) if is_summary_of(&record, &held.boundary) => {
                self.ready.push_back(Ok((held.line.number, compaction(held.boundary, record))));
            }
            Some(held) => {
                self.boundary = Some(held);
                self.give_up_boundary();
                self.ready.push_back(Ok((line, record)));
            }
            None => self.ready.push_back(Ok((line, record))),
        }
    }

    /// A boundary without its summary is half a compaction, and that counts as none.
    fn give_up_boundary(&mut self) {
        if let Some(Held { line, .. }) = self.boundary.take() {
            let expected = "the boundary's summary on the next line".to_owned();
            self.bad(line, 0, None, expected, "another event or the end".to_owned(), 0);
        }
    }

    /// Looks for whole records in a line that is no JSON, and reports the line.
    fn salvage(&mut self, line: Line, at: usize, expected: String, found: String) {
        let mut recovered = 0;
        for (value, lossy) in whole_objects(&line.bytes, is_record) {
            let Ok(parsed) = read_line(value, self.place_in_file()) else { continue };
            self.lossy += lossy;
            self.begun = true;
            match parsed {
                Parsed::Head(head) => self.head = Some(head),
                Parsed::Record(record) => self.push(line.number, record),
                Parsed::Boundary(boundary) => {
                    self.give_up_boundary();
                    let line = Line { bytes: line.bytes.clone(), ..line };
                    self.boundary = Some(Held { line, boundary });
                }
            }
            recovered += 1;
        }
        self.bad(line, at, None, expected, found, recovered);
    }

    fn bad(&mut self, line: Line, at: usize, field: Option<String>, expected: String, found: String, recovered: usize) {
        let offset = line.offset + at as u64;
        let error = LineError { line: line.number, offset, field, expected, found, recovered, raw: line.bytes };
        self.ready.push_back(Err(error));
    }
}

impl<R: BufRead> Iterator for NeutralReader<R> {
    type Item = Result<(usize, Incoming), LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.ready.pop_front() {
                Some(item) => return Some(item),
                None if self.ended => return None,
                None => self.fill(),
            }
        }
    }
}

/// Whether an object behind a torn beginning is a record: its type is one of an event's, not one of a part's.
fn is_record(value: &Value) -> bool {
    const TYPES: [&str; 9] =
        ["message", "compaction", "tombstone", "amend", "prune", "head", "tool_started", "meta", "extension"];
    value.get("type").and_then(Value::as_text).is_some_and(|name| TYPES.contains(&name))
}

fn is_summary_of(record: &Incoming, boundary: &Boundary) -> bool {
    let IncomingBody::Message(message) = &record.body else { return false };
    let below = match &record.parent {
        IncomingParent::Leaf => true,
        IncomingParent::Root => false,
        IncomingParent::Id(id) => boundary.record.id.as_ref() == Some(id),
    };
    matches!(message.kind, Kind::CompactSummary(_)) && below
}

fn compaction(boundary: Boundary, summary: Incoming) -> Incoming {
    let Boundary { record, keep } = boundary;
    let (IncomingBody::Message(message), IncomingBody::Message(summary_message)) = (record.body, summary.body) else {
        unreachable!("a boundary and its summary are messages")
    };
    let trigger = match &message.kind {
        Kind::CompactBoundary(boundary) => boundary.trigger.clone(),
        _ => None,
    };
    let body = IncomingBody::Compaction {
        summary_id: summary.id,
        summary_original_id: summary.original_id,
        summary_at: summary.at,
        summary_off_chain: summary.placed.is_some_and(|place| place.off_chain),
        summary: summary_message,
        keep,
        trigger,
        boundary_extra: message_patch(*message).unwrap_or_default(),
    };
    Incoming { body, ..record }
}

/// What an export tells of where a record hangs.
fn read_place(fields: &mut Reader<'_>) -> Result<Option<IncomingPlace>, EventError> {
    let hung_on = match fields.take("hung_on") {
        None => None,
        Some(Value::Null) => Some(IncomingParent::Root),
        Some(Value::Text(id)) => Some(IncomingParent::Id(id)),
        Some(other) => return Err(fields.wrong("hung_on", "text or null", &other)),
    };
    Ok(Some(IncomingPlace { hung_on, off_chain: fields.flag("off_chain", false)? }))
}

/// What has to be known of the lines before one.
#[derive(Debug, Clone, Copy)]
struct PlaceInFile {
    /// There is none.
    first: bool,
    /// The head says that each record is placed.
    placed: bool,
}

fn read_line(value: Value, place: PlaceInFile) -> Result<Parsed, EventError> {
    let Value::Map(fields) = value else { return Err(wrong("event", "an object", &value)) };
    let mut fields = Reader::new(fields, Style::Json);
    let event_type = fields.need_text("type")?;
    if event_type == "session" {
        if !place.first {
            let found = "a session line further down".to_owned();
            return Err(EventError::Field { field: "type".to_owned(), expected: "an event", found });
        }
        let id = fields.text("id")?.filter(|id| !id.is_empty());
        let placed = fields.flag("placed", false)?;
        return Ok(Parsed::Head(SessionHead { id, placed, extra: fields.rest() }));
    }
    let id = fields.text("id")?.filter(|id| !id.is_empty());
    let parent = match fields.take("parent_id") {
        None => IncomingParent::Leaf,
        Some(Value::Null) => IncomingParent::Root,
        Some(Value::Text(id)) if id.is_empty() => IncomingParent::Leaf,
        Some(Value::Text(id)) => IncomingParent::Id(id),
        Some(other) => return Err(fields.wrong("parent_id", "text or null", &other)),
    };
    let at = fields.int("at")?;
    let mut original_id = fields.text("original_id")?;
    let placed = read_place(&mut fields)?.filter(|_| place.placed);
    let mut record = |body, extra| Incoming {
        id: id.clone(),
        original_id: original_id.take(),
        parent: parent.clone(),
        placed: placed.clone(),
        at,
        body,
        extra,
    };
    let body = match event_type.as_str() {
        "message" => {
            // A boundary's kept messages may have any ids, so they are taken before the message is read.
            let is_boundary = fields.peek_text("kind") == Some("compact_boundary");
            let keep = if is_boundary { fields.texts("keep")? } else { Vec::new() };
            let Some(mut message) = read_message(&mut fields)? else {
                let kind = Some(fields.need_text("kind")?);
                let fields = recase(fields.rest(), Style::Json, Style::Log);
                return Ok(Parsed::Record(record(
                    IncomingBody::Unknown(Unknown { event_type, kind, fields }),
                    Fields::new(),
                )));
            };
            message.extra = fields.rest();
            let moved = take_original_id(&mut message);
            let mut record = record(IncomingBody::Message(Box::new(message)), Fields::new());
            record.original_id = record.original_id.or(moved);
            return Ok(match record.body {
                IncomingBody::Message(ref message) if matches!(message.kind, Kind::CompactBoundary(_)) => {
                    Parsed::Boundary(Boundary { record, keep })
                }
                _ => Parsed::Record(record),
            });
        }
        "compaction" => {
            let body = read_compaction(fields)?;
            return Ok(Parsed::Record(record(body, Fields::new())));
        }
        "meta" => {
            let tags = fields.some("tags").map(Value::from);
            let mut meta = read_meta(&mut fields)?;
            meta.tags = read_tags(tags)?;
            meta.extra = fields.rest();
            return Ok(Parsed::Record(record(IncomingBody::SessionMeta(meta), Fields::new())));
        }
        "tombstone" => {
            let targets = fields.texts("targets")?;
            if targets.is_empty() {
                return Err(fields.missing("targets", "one id at least"));
            }
            IncomingBody::Tombstone { targets, reason: fields.text("reason")? }
        }
        "amend" => {
            let target = fields.need_text("target")?;
            IncomingBody::Amend { target, patch: read_patch(&mut fields)? }
        }
        "prune" => IncomingBody::Prune { targets: fields.texts("targets")? },
        "head" => match fields.take("leaf") {
            None => return Err(fields.missing("leaf", "an id or null")),
            Some(Value::Null) => IncomingBody::Head { leaf: None },
            Some(Value::Text(leaf)) => IncomingBody::Head { leaf: Some(leaf) },
            Some(other) => return Err(fields.wrong("leaf", "an id or null", &other)),
        },
        "tool_started" => IncomingBody::ToolStarted(read_tool_started(&mut fields)?),
        "extension" => IncomingBody::Extension(read_extension(&mut fields)?),
        _ => {
            let body = IncomingBody::Unknown(Unknown { event_type, kind: None, fields: fields.rest() });
            return Ok(Parsed::Record(record(body, Fields::new())));
        }
    };
    Ok(Parsed::Record(record(body, fields.rest())))
}

/// An original id that stands in the metadata means the event's.
fn take_original_id(message: &mut Message) -> Option<String> {
    let unknown = &mut message.metadata.unknown;
    let place = unknown.iter().position(|(name, value)| name == "originalId" && value.as_text().is_some())?;
    match unknown.remove(place).1 {
        Value::Text(id) => Some(id),
        _ => None,
    }
}

/// A compaction's fields: the boundary's own ones, and the summary's in an object of their own.
fn read_compaction(mut fields: Reader<'_>) -> Result<IncomingBody, EventError> {
    let summary = fields.some("summary").ok_or_else(|| fields.missing("summary", "an object"))?;
    let mut summary = Reader::of(summary, Style::Json).map_err(|error| error.within("summary"))?;
    let summary_id = summary.text("id").map_err(|error| error.within("summary"))?.filter(|id| !id.is_empty());
    let text = summary.need_text("text").map_err(|error| error.within("summary"))?;
    if text.trim().is_empty() {
        let field = "summary.text".to_owned();
        return Err(EventError::Field { field, expected: "text that is not blank", found: format!("{text:?}") });
    }
    let keep = fields.texts("keep")?;
    let tokens_before = fields.count("tokens_before")?;
    let trigger = read_trigger(&mut fields)?;
    let kind = Kind::CompactSummary(CompactSummary { tokens_before });
    let mut message = Message::new(Role::User, kind, vec![Part::text(text)]);
    message.extra = summary.rest();
    let guarded = |(name, value): (String, Value)| (guard(&name, MESSAGE_FIELDS, Style::Log).into_owned(), value);
    let boundary_extra = fields.rest().into_iter().map(guarded).collect();
    Ok(IncomingBody::Compaction {
        summary_id,
        summary_original_id: None,
        summary_at: None,
        summary_off_chain: false,
        summary: Box::new(message),
        keep,
        trigger,
        boundary_extra,
    })
}

/// Labels; an empty text or list clears them, which stands as one empty label.
fn read_tags(value: Option<Value>) -> Result<Vec<String>, EventError> {
    let cleared = || vec![String::new()];
    match value {
        None => Ok(Vec::new()),
        Some(Value::Text(text)) if text.is_empty() => Ok(cleared()),
        Some(Value::List(items)) if items.is_empty() => Ok(cleared()),
        Some(value) => Reader::new(vec![("tags".to_owned(), value)], Style::Json).texts("tags"),
    }
}

fn read_patch(fields: &mut Reader<'_>) -> Result<Fields, EventError> {
    let patch = match fields.some("patch").map(Value::from) {
        None => return Err(fields.missing("patch", "an object")),
        Some(Value::Map(patch)) => recase(patch, Style::Json, Style::Log),
        Some(other) => return Err(fields.wrong("patch", "an object", &other)),
    };
    // Tried on any message, so that a wrong patch is found here and not when its target is shown.
    match apply_patch(&Message::user("any"), &patch) {
        Ok(_) => Ok(patch),
        Err(EventError::FixedField { field }) => Err(EventError::Field {
            field: format!("patch.{field}"),
            expected: "fields that may change",
            found: format!("{field:?}"),
        }),
        Err(error) => Err(error.within("patch")),
    }
}
