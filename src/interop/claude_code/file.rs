//! A whole file in memory: its transcript records, each once, and everything else in file order.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use super::record::{ANSWER_OF, Record, Type};
use super::report::code;
use crate::event::Value;
use crate::interop::found::{FaultyLine, Warning};
use crate::interop::limits::ID_LEN_MAX;
use crate::interop::objects::{Line, Piece, Shape, read_lines};
use crate::interop::work::Work;

/// With so many records of one id before it, a record is no longer looked up among all of them.
const SAME_ID_COMPARED: usize = 8;

/// How the program's records look.
const SHAPE: Shape = Shape {
    first_fields: &[
        "parentUuid",
        "type",
        "uuid",
        "sessionId",
        "isSidechain",
        "logicalParentUuid",
        "leafUuid",
        "messageId",
        "summary",
        "timestamp",
    ],
    is_record: is_top_level,
};

/// Whether an object is a record of its own and not part of one. A copy of a sub-agent's record, which a progress
/// record holds, names no parent.
fn is_top_level(value: &Value) -> bool {
    let has = |name| value.get(name).is_some();
    let typed = value.get("type").and_then(Value::as_text).is_some();
    typed && ((has("uuid") && has("parentUuid")) || has("sessionId") || has("leafUuid") || has("snapshot"))
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) records: Vec<Record>,
    /// For each record, the one before it that has the same id and says something else.
    pub(super) same_id: Vec<Option<usize>>,
    /// The last record of each id: a name means this one.
    pub(super) by_id: HashMap<String, usize>,
    /// Everything in file order.
    pub(super) items: Vec<Item>,
    /// Objects read.
    pub(super) objects: usize,
    pub(super) bad: Vec<FaultyLine>,
    pub(super) salvaged: Vec<String>,
    pub(super) warnings: Vec<Warning>,
    /// Metadata records per type.
    pub(super) metadata: BTreeMap<String, usize>,
    /// The sessions that it names, in the order in which they appear.
    pub(super) sessions: Vec<String>,
    /// The session of the last record of the main line that names one.
    pub(super) session: Option<String>,
    /// A sub-agent's own file: no message of it is of a main line.
    pub(super) agents_own: bool,
}

/// One thing in the file.
#[derive(Debug)]
pub(super) enum Item {
    /// A transcript record, by its number.
    Record(usize),
    /// Anything else that is whole.
    Metadata {
        line: u64,
        /// `L` and the line, `.` and its number on a bad line.
        place: String,
        value: Value,
    },
    /// What could not be read.
    Unplaced { line: u64, place: String, value: Value },
}

impl File {
    /// The records so that the last of each answer stands behind its others: what was left of one came later than the rest of it,
    /// wherever that stands.
    pub(super) fn by_answer(&self) -> impl Iterator<Item = usize> {
        let is_left = |&index: &usize| self.records[index].get(ANSWER_OF).is_some();
        let (left, other): (Vec<usize>, Vec<usize>) = (0..self.records.len()).partition(is_left);
        other.into_iter().chain(left)
    }

    /// Whether the record's event takes part in the chain of parents.
    pub(super) fn takes_part(&self, index: usize) -> bool {
        let record = &self.records[index];
        let main = !record.sidechain || self.agents_own;
        main && matches!(record.kind, Type::User | Type::Assistant | Type::Attachment)
    }

    /// # Errors
    /// What the input says.
    pub(super) fn read(input: impl BufRead, salvage: bool, work: &mut Work) -> io::Result<Self> {
        let mut file = Self::default();
        read_lines(input, salvage.then_some(SHAPE), work, |line| file.add_line(line))?;
        let mut messages = file.records.iter().filter(|record| record.is_message()).peekable();
        file.agents_own = messages.peek().is_some() && messages.all(|record| record.sidechain);
        Ok(file)
    }

    fn add_line(&mut self, line: Line) {
        let Line { number, offset, len, objects, bad } = line;
        if let Some(bad) = bad {
            for (index, value) in bad.rest.into_iter().enumerate() {
                self.items.push(Item::Unplaced { line: number, place: format!("L{number}.raw{index}"), value });
            }
            self.bad.push(FaultyLine { line: number, offset, len, cause: bad.cause, salvaged: objects.len() });
        }
        for piece in objects {
            self.add_object(number, piece);
        }
    }

    fn add_object(&mut self, line: u64, piece: Piece) {
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
        self.note_session(&piece.value);
        match Record::from_object(line, piece.value) {
            Ok(record) => self.add_record(record),
            Err(value) => self.add_metadata(line, place, value),
        }
    }

    fn note_session(&mut self, value: &Value) {
        let Some(session) = value.get("sessionId").and_then(Value::as_text) else { return };
        if !self.sessions.iter().any(|known| known == session) {
            self.sessions.push(session.to_owned());
        }
        if value.get("uuid").is_some() || self.session.is_none() {
            self.session = Some(session.to_owned());
        }
    }

    fn add_record(&mut self, record: Record) {
        if record.kind == Type::Other && !record.says_no_result() {
            let name = record.text("type").unwrap_or_default().to_owned();
            self.warn(
                code::UNKNOWN_TYPE,
                record.line,
                format!("record of unknown type `{name}` that others may hang on"),
            );
        }
        let last = self.by_id.get(&record.uuid).copied();
        let mut same = last;
        for _ in 0..SAME_ID_COMPARED {
            let Some(known) = same else { break };
            if self.records[known].says_the_same(&record) {
                return self.repeat(known, record);
            }
            same = self.same_id[known];
        }
        if last.is_some() {
            self.warn(code::DUPLICATE_ID, record.line, format!("id {} was used by other content before", record.uuid));
        }
        let index = self.records.len();
        self.by_id.insert(record.uuid.clone(), index);
        self.same_id.push(last);
        self.records.push(record);
        self.items.push(Item::Record(index));
    }

    /// A record that was there already; only what it hangs on may be new, and then the last word holds.
    fn repeat(&mut self, known: usize, record: Record) {
        let moved = self.records[known].parent != record.parent;
        let text = match moved {
            true => format!("record {} stands twice, the second time with another parent", record.uuid),
            false => format!("record {} stands twice", record.uuid),
        };
        self.warn(code::REPEATED_RECORD, record.line, text);
        if moved {
            self.records[known] = Record { line: self.records[known].line, ..record };
        }
    }

    fn add_metadata(&mut self, line: u64, place: String, value: Value) {
        let Some(name) = value.get("type").and_then(Value::as_text).map(str::to_owned) else {
            self.warn(code::NO_TYPE, line, "object without a type".to_owned());
            return self.items.push(Item::Metadata { line, place, value });
        };
        if value.get("uuid").and_then(Value::as_text).is_some_and(|uuid| uuid.len() > ID_LEN_MAX) {
            let text = format!("an id of more than {ID_LEN_MAX} bytes counts as none: nothing can hang on this record");
            self.warn(code::LONG_ID, line, text);
        } else if matches!(name.as_str(), "user" | "assistant" | "system" | "attachment" | "progress") {
            self.warn(code::NO_ID, line, format!("record of type `{name}` without an id: nothing can hang on it"));
        }
        if name.contains("collapse") {
            self.warn(code::CONTEXT_MAY_DIFFER, line, format!("`{name}` may change what the model saw"));
        }
        *self.metadata.entry(name).or_default() += 1;
        self.items.push(Item::Metadata { line, place, value });
    }

    pub(super) fn warn(&mut self, code: &'static str, line: u64, text: String) {
        self.warnings.push(Warning { code, line, text });
    }

    /// The record that stands before this one in the file, in the same main line or sub-agent's line.
    pub(super) fn previous_of_same_line(&self) -> Vec<Option<usize>> {
        let mut last: HashMap<Option<&str>, usize> = HashMap::new();
        let line = |record: &'_ Record| -> Option<String> {
            record.sidechain.then(|| record.agent.clone().unwrap_or_default())
        };
        let keys: Vec<Option<String>> = self.records.iter().map(line).collect();
        keys.iter().enumerate().map(|(index, key)| last.insert(key.as_deref(), index)).collect()
    }

    /// The record that a result names as the one that holds its call.
    pub(super) fn source_of(&self, index: usize) -> Option<usize> {
        let source = self.records[index].text("sourceToolAssistantUUID")?;
        self.by_id.get(source).copied()
    }
}
