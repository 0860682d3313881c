//! One record of a rollout: what it is, when it was written, and all of its fields.

use super::item::{Item, text};
use crate::event::{Fields, Value};
use crate::interop::time::micros;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    /// Whose session it is.
    Meta,
    /// The settings of a turn.
    Settings,
    /// An item of the model's conversation.
    Item(Item),
    /// Something that the program told its screen.
    Event,
    /// A compaction.
    Compacted,
    /// A message between agents, in the form of its own that some versions wrote.
    Communication,
    /// What never reaches the model.
    Beside,
    /// A type of later versions.
    Unknown,
}

/// Types of the envelope that are known and never reach the model.
const BESIDE: [&str; 7] = [
    "inter_agent_communication_metadata",
    "world_state",
    "token_usage_record",
    "retained_context",
    "security_risk_score",
    "realtime_item",
    "rollout_reference",
];

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) line: u64,
    /// Its id: `L` and the line, `.` and its number on a bad line, `#` and its index in a list.
    pub(super) place: String,
    pub(super) kind: Type,
    /// Its type, and behind a slash that of what it holds.
    pub(super) name: String,
    pub(super) at: Option<i64>,
    /// It stands without an envelope.
    is_bare: bool,
    value: Value,
}

impl Record {
    /// The record that this object is; else the object, and why it is none.
    pub(super) fn new(line: u64, place: String, value: Value) -> Result<Self, (Value, &'static str)> {
        let (kind, name, is_bare) = match classify(&value) {
            Ok(found) => found,
            Err(why) => return Err((value, why)),
        };
        let at = text(&value, "timestamp").and_then(micros);
        Ok(Self { line, place, kind, name, at, is_bare, value })
    }

    /// What it holds: the payload, or where there is no envelope, itself.
    pub(super) fn payload(&self) -> &Value {
        match self.is_bare {
            true => &self.value,
            false => self.value.get("payload").unwrap_or(&self.value),
        }
    }

    /// Its number, where the file numbers its records.
    pub(super) fn ordinal(&self) -> Option<u64> {
        u64::try_from(self.value.get("ordinal")?.as_i64()?).ok()
    }

    /// Whole, as it came.
    pub(super) fn into_value(self) -> Value {
        self.value
    }

    /// What it holds, and what its envelope says that an event of ours has no place for.
    pub(super) fn split(self) -> (Fields, Fields) {
        let Value::Map(mut fields) = self.value else { return (Fields::new(), Fields::new()) };
        if self.at.is_some() {
            take(&mut fields, "timestamp");
        }
        if self.is_bare {
            return (fields, Fields::new());
        }
        take(&mut fields, "type");
        match take(&mut fields, "payload") {
            Some(Value::Map(payload)) => (payload, fields),
            _ => (Fields::new(), fields),
        }
    }
}

fn classify(value: &Value) -> Result<(Type, String, bool), &'static str> {
    if let Some(name) = text(value, "record_type") {
        let kind = if name == "state" { Type::Beside } else { Type::Unknown };
        return Ok((kind, name.to_owned(), true));
    }
    let Some(name) = text(value, "type") else {
        let is_header = text(value, "id").is_some() && text(value, "timestamp").is_some();
        return match is_header {
            true => Ok((Type::Meta, "session_meta".to_owned(), true)),
            false => Err("an object without a type"),
        };
    };
    let Some(payload @ Value::Map(_)) = value.get("payload") else {
        return match Item::of(value) {
            Some(Item::Unknown) => Err("an object without a payload"),
            Some(item) => Ok((Type::Item(item), format!("response_item/{name}"), true)),
            None => Err("an item that lacks what its type must have"),
        };
    };
    let inner = text(payload, "type");
    let (kind, name) = match name {
        "session_meta" if text(payload, "id").is_none() => return Err("a session without an id"),
        "session_meta" => (Type::Meta, name.to_owned()),
        "turn_context" => (Type::Settings, name.to_owned()),
        "response_item" => {
            let item = Item::of(payload).ok_or("an item that lacks what its type must have")?;
            (Type::Item(item), format!("{name}/{}", inner.unwrap_or_default()))
        }
        "event_msg" => {
            let inner = inner.ok_or("an event without a type")?;
            let is_rollback = inner == "thread_rolled_back";
            if is_rollback && payload.get("num_turns").and_then(Value::as_i64).is_none_or(|count| count < 0) {
                return Err("a rollback without a count");
            }
            (Type::Event, format!("{name}/{inner}"))
        }
        "compacted" => {
            check_compaction(payload)?;
            (Type::Compacted, name.to_owned())
        }
        "inter_agent_communication" if text(payload, "content").is_some() => (Type::Communication, name.to_owned()),
        _ if BESIDE.contains(&name) => (Type::Beside, name.to_owned()),
        _ => (Type::Unknown, name.to_owned()),
    };
    Ok((kind, name, false))
}

fn check_compaction(payload: &Value) -> Result<(), &'static str> {
    let list = |name: &str| match payload.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::List(items)) => Ok(Some(items.as_slice())),
        Some(_) => Err("a compaction whose history is no list"),
    };
    let history = list("replacement_history")?;
    if history.is_none() && text(payload, "message").is_none() {
        return Err("a compaction that says nothing");
    }
    if history.unwrap_or_default().iter().any(|item| Item::of(item).is_none()) {
        return Err("a compaction with an item that lacks what its type must have");
    }
    match (history, list("replacement_history_metadata")?) {
        (Some(items), Some(of_each)) if items.len() != of_each.len() => {
            Err("a compaction with more or fewer metadata than items")
        }
        _ => Ok(()),
    }
}

/// Takes the field of this name out.
pub(super) fn take(fields: &mut Fields, name: &str) -> Option<Value> {
    let at = fields.iter().position(|(key, _)| key == name)?;
    Some(fields.remove(at).1)
}

/// Takes a text out; anything else stays, but null, which says nothing.
pub(super) fn take_text(fields: &mut Fields, name: &str) -> Option<String> {
    match take(fields, name)? {
        Value::Text(text) => Some(text),
        Value::Null => None,
        other => {
            fields.push((name.to_owned(), other));
            None
        }
    }
}
