//! A whole file in memory: its header, its entries, each once, and what else stands in it, in file order.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use super::entry::{Entry, Named, Type};
use super::report::code;
use crate::event::{Fields, Value};
use crate::interop::fields::field;
use crate::interop::found::{FaultyLine, Warning};
use crate::interop::limits::ID_LEN_MAX;
use crate::interop::objects::{Line, Piece, Shape, read_lines};
use crate::interop::work::Work;

/// The newest version of the format that this reader knows.
const VERSION_MAX: i64 = 3;

/// With so many entries of one id before it, an entry is no longer compared with all of them.
const SAME_ID_COMPARED: usize = 8;

/// How the program's records look.
const SHAPE: Shape =
    Shape { first_fields: &["type", "id", "parentId", "timestamp", "version"], is_record: is_top_level };

/// Whether an object is a record of its own and not part of one: blocks have no time, and messages count theirs in
/// milliseconds.
fn is_top_level(value: &Value) -> bool {
    let is_text = |name| value.get(name).and_then(Value::as_text).is_some();
    let has = |name| value.get(name).is_some();
    let in_tree = is_text("id") && has("parentId");
    let is_old = ["message", "summary", "thinkingLevel", "modelId"].into_iter().any(has);
    is_text("type") && is_text("timestamp") && (in_tree || is_old || (has("cwd") && is_text("id")))
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct File {
    /// The header's line and fields.
    pub(super) header: Option<(u64, Fields)>,
    pub(super) entries: Vec<Entry>,
    /// For each entry the nearest one before it of the id that it names as its parent.
    pub(super) link: Vec<Option<usize>>,
    /// The last entry of each id.
    pub(super) by_id: HashMap<String, usize>,
    /// Everything in file order.
    pub(super) items: Vec<Item>,
    /// Objects read.
    pub(super) objects: usize,
    pub(super) bad: Vec<FaultyLine>,
    pub(super) salvaged: Vec<String>,
    pub(super) warnings: Vec<Warning>,
    /// Entries per type that this version does not know.
    pub(super) unknown: BTreeMap<String, usize>,
    /// For each entry, the one before it that has the same id and says something else.
    same_id: Vec<Option<usize>>,
    /// Whole lines so far, and of each its entry: how the oldest version counts.
    whole_lines: Vec<Option<usize>>,
}

/// One thing in the file.
#[derive(Debug)]
pub(super) enum Item {
    /// An entry, by its number.
    Entry(usize),
    /// An entry that was there already, on this line once more.
    Again(usize, u64),
    /// A whole object that is no entry, or what could not be read.
    Other { line: u64, place: String, name: &'static str, value: Value },
}

impl File {
    /// # Errors
    /// What the input says.
    pub(super) fn read(input: impl BufRead, salvage: bool, work: &mut Work) -> io::Result<Self> {
        let mut file = Self::default();
        read_lines(input, salvage.then_some(SHAPE), work, |line| file.add_line(line))?;
        if file.header.is_none() && file.objects > 0 {
            file.warn(code::NO_HEADER, 0, "no header: the program takes the file for empty".to_owned());
        }
        Ok(file)
    }

    /// The header's field of this name, if it is text.
    pub(super) fn header_text(&self, name: &str) -> Option<&str> {
        self.header.as_ref().and_then(|(_, fields)| field(fields, name)).and_then(Value::as_text)
    }

    /// What the header says; without one, the newest.
    pub(super) fn version(&self) -> i64 {
        match &self.header {
            Some((_, fields)) => field(fields, "version").and_then(Value::as_i64).unwrap_or(1),
            None => VERSION_MAX,
        }
    }

    /// The last entry in file order; one that stands twice counts again.
    pub(super) fn leaf(&self) -> Option<usize> {
        self.items.iter().rev().find_map(|item| match item {
            Item::Entry(index) | Item::Again(index, _) => Some(*index),
            Item::Other { .. } => None,
        })
    }

    /// The entry at this place of the oldest version's list, in which the header is the first.
    pub(super) fn at_place(&self, place: i64) -> Option<usize> {
        self.whole_lines.get(usize::try_from(place).ok()?).copied().flatten()
    }

    fn add_line(&mut self, line: Line) {
        let Line { number, offset, len, objects, bad } = line;
        if let Some(bad) = bad {
            for (index, value) in bad.rest.into_iter().enumerate() {
                let place = format!("L{number}.raw{index}");
                self.items.push(Item::Other { line: number, place, name: "unplaced", value });
            }
            self.bad.push(FaultyLine { line: number, offset, len, cause: bad.cause, salvaged: objects.len() });
        }
        for piece in objects {
            self.add_object(number, len, piece);
        }
    }

    fn add_object(&mut self, line: u64, len: u64, piece: Piece) {
        self.objects += 1;
        let place = match piece.sub {
            Some(sub) => format!("L{line}.{sub}"),
            None => format!("L{line}"),
        };
        if piece.sub.is_some() {
            self.salvaged.push(place.clone());
        }
        if !piece.lossy.is_none() {
            let text = format!(
                "{} half surrogates and {} runs of bytes that are no UTF-8 were replaced",
                piece.lossy.surrogates, piece.lossy.bad_utf8
            );
            self.warn(code::LOSSY_TEXT, line, text);
        }
        let Value::Map(fields) = piece.value else { return };
        let is_whole = piece.sub.is_none();
        let entry = self.add_fields(line, len, place, fields);
        if is_whole {
            self.whole_lines.push(entry);
        }
    }

    fn add_fields(&mut self, line: u64, len: u64, place: String, fields: Fields) -> Option<usize> {
        let text = |name| field(&fields, name).and_then(Value::as_text);
        let is_first = self.header.is_none() && self.entries.is_empty();
        if text("type") == Some("session") && (text("id").is_some() || is_first) {
            if self.header.is_none() {
                self.header = Some((line, fields));
                let version = self.version();
                if !(1..=VERSION_MAX).contains(&version) {
                    let text = format!("version {version} is not known; it is read as version {VERSION_MAX}");
                    self.warn(code::UNKNOWN_VERSION, line, text);
                }
            } else {
                self.warn(code::SECOND_HEADER, line, "another header; it is kept as it stands".to_owned());
                let value = Value::Map(fields);
                self.items.push(Item::Other { line, place, name: "session", value });
            }
            return None;
        }
        if text("type").is_none() && text("id").is_none() {
            self.warn(code::NO_TYPE, line, "object without a type".to_owned());
            self.items.push(Item::Other { line, place, name: "untyped", value: Value::Map(fields) });
            return None;
        }
        let is_line = self.version() == 1;
        let id = text("id").filter(|id| !is_line && !id.is_empty());
        let is_long = id.is_some_and(|id| id.len() > ID_LEN_MAX);
        let id = id.filter(|_| !is_long).map(str::to_owned);
        if is_long {
            let text = format!("an id of more than {ID_LEN_MAX} bytes counts as none; the entry is called {place}");
            self.warn(code::LONG_ID, line, text);
        }
        if id.is_none() && !is_line && !is_long && self.header.is_some() {
            self.warn(code::NO_ID, line, format!("entry without an id, called {place}"));
        }
        let mut entry = Entry::new(line, len, id.unwrap_or(place), fields);
        if is_line || (self.header.is_none() && entry.get("id").is_none() && entry.parent == Named::Nothing) {
            entry.parent = match self.entries.last() {
                Some(last) => Named::Id(last.id.clone()),
                None => Named::Root,
            };
        }
        Some(self.add_entry(entry))
    }

    fn add_entry(&mut self, mut entry: Entry) -> usize {
        let last = self.by_id.get(&entry.id).copied();
        let mut same = last;
        for _ in 0..SAME_ID_COMPARED {
            let Some(known) = same else { break };
            if self.entries[known].fields == entry.fields {
                self.warn(code::REPEATED_RECORD, entry.line, format!("entry {} stands twice", entry.id));
                self.items.push(Item::Again(known, entry.line));
                return known;
            }
            same = self.same_id[known];
        }
        // Entries behind it that name the id mean this one; its event has a name of its own, so that none means both.
        let id = entry.id.clone();
        if last.is_some() {
            entry.id = format!("{id}@L{}", entry.line);
            let text = format!("id {id} was used by other content before; this entry is called {}", entry.id);
            self.warn(code::DUPLICATE_ID, entry.line, text);
        }
        let names = entry.text("firstKeptEntryId").or_else(|| entry.text("targetId"));
        entry.names = names.and_then(|named| self.by_id.get(named).copied());
        if entry.kind == Type::Unknown {
            let name = entry.type_name();
            let count = self.unknown.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 {
                let text = format!("`{name}` is not known: kept as it stands, and nothing of it is in the context");
                self.warn(code::UNKNOWN_TYPE, entry.line, text);
            }
        }
        if entry.kind == Type::ContextEdit && entry.replacement().is_none() {
            let text =
                "an edit of the context without null, text or blocks in `replacement`: its target stays as it is";
            self.warn(code::CONTEXT_MAY_DIFFER, entry.line, text.to_owned());
        }
        let index = self.entries.len();
        let link = match &entry.parent {
            Named::Id(parent) => self.by_id.get(parent).copied(),
            Named::Root | Named::Nothing => None,
        };
        self.by_id.insert(id, index);
        self.same_id.push(last);
        self.link.push(link);
        self.entries.push(entry);
        self.items.push(Item::Entry(index));
        index
    }

    pub(super) fn warn(&mut self, code: &'static str, line: u64, text: String) {
        self.warnings.push(Warning { code, line, text });
    }
}
