//! Every text of a stored event, with its place: for who looks for something in it, and for who takes something out.
//!
//! The walk goes over the event as a value with the log's names, so that patches, cards and what this version does not know
//! are gone over like messages. It tells texts from what other things hang on: ids, kinds, the names of our own fields.

use std::collections::{HashMap, HashSet};

use super::body::Event;
use super::compress::plain;
use super::error::EventError;
use super::names::Style;
use super::pack;
use super::shape::{MESSAGE_FIELDS, read_event, to_value};
use super::value::{Fields, Value};

/// What looks at the texts of an event and may change them.
pub(crate) trait Visitor {
    /// A text that says something; true if it was changed. `at` is its place, such as `content[0].text`.
    fn text(&mut self, at: &str, text: &mut String) -> bool;
    /// An id, a kind, or another word that things hang on: it stays as it is.
    fn fixed(&mut self, at: &str, text: &str);
    /// The name of one of our own fields, or a word of ours: there is nothing in it to be found.
    fn name(&mut self, name: &str) {
        let _ = name;
    }
    /// Something was left out, since it does not fit what was changed.
    fn lost(&mut self, what: Lost) {
        let _ = what;
    }
    /// Something stays that is encrypted, or the bytes of a picture or file: nobody looks into it.
    fn sealed(&mut self) {}
}

/// What is left out where a text was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A provider's signature over it, or its encrypted form.
    Signature,
    /// The bytes of a picture or file.
    Media,
}

/// The stored bytes of an event as a value with the log's names.
pub(crate) fn decode_value(bytes: &[u8]) -> Result<Value, EventError> {
    let plain = plain(bytes)?;
    Ok(pack::read_within(&plain.bytes, plain.values)?.into())
}

/// The event that such a value holds.
pub(crate) fn event_of(value: Value) -> Result<Event, EventError> {
    read_event(value.into())
}

/// The value that holds this event.
pub(crate) fn value_of(event: &Event) -> Result<Value, EventError> {
    to_value(event, Style::Log)
}

/// One text of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextAt<'a> {
    /// Its place, by the log's names, such as `content[0].input.cmd`.
    pub at: &'a str,
    /// The text.
    pub text: &'a str,
    /// It is an id, a kind, or another word that things hang on, and nothing that somebody said.
    pub is_fixed: bool,
}

/// Shows every text of the event that these bytes of a log hold: what was said, JSON's texts and names of fields, ids.
///
/// # Errors
/// Those of [`decode`](super::decode), as far as they can be seen without reading the event's fields.
pub fn texts_of(payload: &[u8], show: impl FnMut(TextAt<'_>)) -> Result<(), EventError> {
    struct Show<F>(F);
    impl<F: FnMut(TextAt<'_>)> Visitor for Show<F> {
        fn text(&mut self, at: &str, text: &mut String) -> bool {
            (self.0)(TextAt { at, text, is_fixed: false });
            false
        }

        fn fixed(&mut self, at: &str, text: &str) {
            (self.0)(TextAt { at, text, is_fixed: true });
        }
    }
    walk_event(&mut decode_value(payload)?, &mut Show(show));
    Ok(())
}

/// Goes over an event; true if anything was changed.
pub(crate) fn walk_event(event: &mut Value, visitor: &mut impl Visitor) -> bool {
    let mut walk = Walk { visitor, at: String::new() };
    match event {
        Value::Map(fields) => walk.event(fields),
        other => walk.json(other),
    }
}

struct Walk<'v, V> {
    visitor: &'v mut V,
    at: String,
}

/// What becomes of a field.
enum Field {
    /// One of ours by which the log holds together: nothing in it is a text.
    Skip,
    /// A number, or yes or no, of ours. What is neither is nobody's.
    Scalar,
    /// An id.
    Fixed,
    /// A type, a role or a kind.
    Kind,
    /// A word of a closed list, or any other text.
    Word(&'static [&'static str]),
    /// Text, or texts, in a field whose type is known.
    Text,
    /// Any JSON in a field of ours.
    Json,
    Parts,
    Metadata,
    Usage,
    Cards,
    Patch,
    /// A signature, or an encrypted form, over the rest of the part.
    Signature,
    Sealed,
    /// The bytes of a picture or a file.
    Data,
    Url,
    /// Nobody's that we know: its name is a text too.
    Unknown,
}

impl<V: Visitor> Walk<'_, V> {
    fn event(&mut self, fields: &mut Fields) -> bool {
        let event_type = text_in(fields, "type");
        let is_boundary = event_type == "message" && text_in(fields, "kind") == "compact_boundary";
        self.fields(fields, |name| match (event_type.as_str(), name) {
            (_, "id" | "parent" | "hung_on" | "at" | "off_chain") => Field::Skip,
            (_, "type") => Field::Kind,
            (_, "original_id" | "original_parent") => Field::Fixed,
            ("message", "keep" | "carried" | "meta_offset" | "last_id") if is_boundary => Field::Skip,
            ("message", "parent_id") => Field::Unknown,
            ("message", name) => message_field(name),
            ("tombstone" | "prune", "targets") | ("amend", "target") | ("head", "leaf") => Field::Skip,
            ("tombstone", "reason") => Field::Text,
            ("amend", "patch") => Field::Patch,
            ("tool_started", "call_id" | "idempotency_key") => Field::Fixed,
            ("meta", "title" | "tags" | "cwd" | "model" | "agent") | ("extension", "name") => Field::Text,
            ("extension", "payload") => Field::Json,
            _ => Field::Unknown,
        })
    }

    fn part(&mut self, fields: &mut Fields) -> bool {
        let part_type = text_in(fields, "type");
        self.fields(fields, |name| match (part_type.as_str(), name) {
            (_, "type") => Field::Kind,
            (_, "item_id" | "approval_id") | ("tool_call", "id") => Field::Fixed,
            ("tool_result" | "tool_approval_request" | "tool_approval_response", "call_id") => Field::Fixed,
            (_, "provider") | ("tool_call" | "tool_result", "name") | ("text" | "reasoning", "text") => Field::Text,
            ("reasoning", "signature") | ("tool_call", "thought_signature") => Field::Signature,
            ("reasoning", "redacted" | "encrypted") => Field::Sealed,
            ("tool_call", "input") | ("tool_result", "raw") | ("opaque" | "json", "value") => Field::Json,
            ("tool_call", "input_text") | ("tool_approval_response", "reason") => Field::Text,
            ("tool_call", "incomplete") | ("tool_result", "is_error") => Field::Scalar,
            ("tool_approval_response", "approved") | ("image" | "file", "width" | "height") => Field::Scalar,
            ("tool_result", "output") => Field::Parts,
            ("image" | "file", "media_type" | "path" | "name") => Field::Text,
            ("image" | "file", "data") => Field::Data,
            ("image" | "file", "url") => Field::Url,
            _ => Field::Unknown,
        })
    }

    /// Goes over the fields of an object of ours. What is signed or sealed comes last, since it hangs on the others.
    fn fields(&mut self, fields: &mut Fields, field: impl Fn(&str) -> Field) -> bool {
        let mut changed = false;
        let mut late = Vec::new();
        let mut names = Names::default();
        let mut index = 0;
        while index < fields.len() {
            let what = field(&fields[index].0);
            let begin = self.enter(&fields[index].0);
            match what {
                Field::Unknown => {}
                _ => self.visitor.name(&fields[index].0),
            }
            let mut gone = false;
            let value = &mut fields[index].1;
            changed |= match what {
                Field::Signature | Field::Sealed => {
                    late.push((fields[index].0.clone(), matches!(what, Field::Sealed)));
                    false
                }
                Field::Data => {
                    gone = self.data(value);
                    gone
                }
                Field::Url if matches!(value, Value::Text(url) if url.starts_with("data:")) => {
                    gone = self.data(value);
                    gone
                }
                Field::Unknown => {
                    let changed = self.json(value);
                    self.rename(fields, index, &mut names) | changed
                }
                what => self.value(what, value),
            };
            self.at.truncate(begin);
            match gone {
                true => drop(fields.remove(index)),
                false => index += 1,
            }
        }
        for (name, is_sealed) in late {
            let Some(place) = fields.iter().position(|(field, _)| *field == name) else { continue };
            let begin = self.enter(&name);
            let hit = match &mut fields[place].1 {
                Value::Text(text) => self.visitor.text(&self.at, text),
                _ => false,
            };
            let is_there = !matches!(fields[place].1, Value::Null);
            if (hit || changed) && is_there {
                fields.remove(place);
                self.visitor.lost(Lost::Signature);
                changed = true;
            } else if is_sealed && is_there {
                self.visitor.sealed();
            }
            self.at.truncate(begin);
        }
        changed
    }

    fn value(&mut self, what: Field, value: &mut Value) -> bool {
        match (what, value) {
            (Field::Skip, value) => {
                self.names(value);
                false
            }
            (Field::Kind, Value::Text(text)) if is_plain_word(text) => {
                self.visitor.name(text);
                false
            }
            (Field::Fixed | Field::Kind, value) => self.fixed(value),
            (Field::Word(known), Value::Text(text)) if known.contains(&text.as_str()) => {
                self.visitor.name(text);
                false
            }
            (Field::Parts, Value::List(items)) => self.each(items, |walk, item| match item {
                Value::Map(part) => walk.part(part),
                other => walk.json(other),
            }),
            (Field::Cards, Value::List(items)) => self.each(items, |walk, item| match item {
                Value::Map(card) => walk.fields(card, message_field),
                other => walk.json(other),
            }),
            (Field::Patch, Value::Map(patch)) => self.fields(patch, message_field),
            (Field::Metadata, Value::Map(metadata)) => self.fields(metadata, metadata_field),
            (Field::Usage, Value::Map(usage)) => self.fields(usage, usage_field),
            (Field::Text, Value::List(items)) => self.each(items, Self::plain),
            (Field::Text | Field::Url | Field::Word(_) | Field::Scalar, value) => self.plain(value),
            (_, value) => self.json(value),
        }
    }

    /// A field of which the type is known: a number in it stays one.
    fn plain(&mut self, value: &mut Value) -> bool {
        match value {
            Value::Text(text) => self.visitor.text(&self.at, text),
            Value::List(_) | Value::Map(_) | Value::Bytes(_) => self.json(value),
            _ => false,
        }
    }

    fn fixed(&mut self, value: &mut Value) -> bool {
        match value {
            Value::Text(text) => {
                self.visitor.fixed(&self.at, text);
                false
            }
            Value::List(items) => self.each(items, |walk, item| match item {
                Value::Text(_) => walk.fixed(item),
                other => walk.json(other),
            }),
            Value::Map(_) => self.json(value),
            _ => false,
        }
    }

    /// The names of our own fields in places of the log.
    fn names(&mut self, value: &Value) {
        match value {
            Value::List(items) => items.iter().for_each(|item| self.names(item)),
            Value::Map(fields) => fields.iter().for_each(|(name, value)| {
                self.visitor.name(name);
                self.names(value);
            }),
            _ => {}
        }
    }

    /// The bytes of a picture or a file, as text; true if they are to go.
    fn data(&mut self, value: &mut Value) -> bool {
        let hit = self.plain(value);
        match hit {
            true => self.visitor.lost(Lost::Media),
            false if !matches!(value, Value::Null) => self.visitor.sealed(),
            false => {}
        }
        hit
    }

    /// Any JSON: each text, each name, and numbers by their text.
    fn json(&mut self, value: &mut Value) -> bool {
        let mut number = match value {
            Value::Null | Value::Bool(_) => return false,
            Value::Text(text) => return self.visitor.text(&self.at, text),
            Value::List(items) => return self.each(items, Self::json),
            Value::Map(fields) => return self.object(fields),
            Value::Bytes(bytes) => {
                // Sixteen of them are an id in the log's encoding.
                let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.len() != 16) else { return false };
                let mut text = text.to_owned();
                let changed = self.visitor.text(&self.at, &mut text);
                if changed {
                    *bytes = text.into_bytes();
                }
                return changed;
            }
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Number(text) => text.clone(),
        };
        let changed = self.visitor.text(&self.at, &mut number);
        if changed {
            *value = Value::Text(number);
        }
        changed
    }

    fn object(&mut self, fields: &mut Fields) -> bool {
        let mut changed = false;
        let mut names = Names::default();
        for index in 0..fields.len() {
            let begin = self.enter(&fields[index].0);
            changed |= self.json(&mut fields[index].1);
            changed |= self.rename(fields, index, &mut names);
            self.at.truncate(begin);
        }
        if changed {
            let is_reasoning = ["thinking", "reasoning", "redacted_thinking"].contains(&&*text_in(fields, "type"));
            let before = fields.len();
            fields.retain(|(name, _)| match name.as_str() {
                "signature" => !is_reasoning,
                // Names that providers use, and nobody else.
                "thoughtSignature" | "thought_signature" | "encrypted_content" | "encryptedContent" => false,
                _ => true,
            });
            (fields.len()..before).for_each(|_| self.visitor.lost(Lost::Signature));
        }
        changed
    }

    fn each(&mut self, items: &mut [Value], mut look: impl FnMut(&mut Self, &mut Value) -> bool) -> bool {
        let mut changed = false;
        for (index, item) in items.iter_mut().enumerate() {
            let begin = self.at.len();
            self.at.push_str(&format!("[{index}]"));
            changed |= look(self, item);
            self.at.truncate(begin);
        }
        changed
    }

    /// A field's name is a text. Two names must not become one: only one of the values would be left.
    fn rename(&mut self, fields: &mut Fields, index: usize, names: &mut Names) -> bool {
        let mut name = fields[index].0.clone();
        if !self.visitor.text(&self.at, &mut name) {
            return false;
        }
        fields[index].0 = names.new_one(name, fields);
        true
    }

    /// Goes into a field; gives how long the place was before.
    fn enter(&mut self, name: &str) -> usize {
        let begin = self.at.len();
        if begin > 0 {
            self.at.push('.');
        }
        self.at.push_str(name);
        begin
    }
}

/// The names in an object, once one of them is to be changed.
#[derive(Default)]
struct Names {
    used: HashSet<String>,
    times: HashMap<String, usize>,
}

impl Names {
    fn new_one(&mut self, name: String, fields: &Fields) -> String {
        if self.used.is_empty() {
            self.used.extend(fields.iter().map(|(name, _)| name.clone()));
        }
        let times = self.times.entry(name.clone()).or_default();
        let mut own = name.clone();
        loop {
            *times += 1;
            if *times > 1 {
                // A number inside of what was put in is no text that could be found again.
                own = match name.rfind(']') {
                    Some(at) => format!("{}-{times}{}", &name[..at], &name[at..]),
                    None => format!("{name}-{times}"),
                };
            }
            if self.used.insert(own.clone()) {
                return own;
            }
        }
    }
}

/// Whether this may be the name of a type or a kind, of this version or a later one, and of nothing else.
fn is_plain_word(text: &str) -> bool {
    const LEN_MAX: usize = 32;
    text.len() <= LEN_MAX && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn text_in(fields: &Fields, name: &str) -> String {
    let text = fields.iter().find(|(field, _)| field == name).and_then(|(_, value)| value.as_text());
    text.unwrap_or_default().to_owned()
}

/// A field of a message: of one that is an event, of a patch for one, or of one inside a card.
fn message_field(name: &str) -> Field {
    match name {
        "type" | "role" | "kind" => Field::Kind,
        "id" | "parent" | "parent_id" | "request_id" | "message_id" => Field::Fixed,
        "from_id" | "tool_use_id" | "parent_tool_use_id" | "tool_use_ids" => Field::Fixed,
        "at" | "exit_code" | "cancelled" | "truncated" | "exclude_from_context" | "display" | "tokens_before" => {
            Field::Scalar
        }
        "content" => Field::Parts,
        "usage" => Field::Usage,
        "metadata" => Field::Metadata,
        "trigger" => Field::Word(&["auto", "manual"]),
        "hook_event" => Field::Word(&["pre", "post"]),
        "children" | "members" | "tasks" => Field::Cards,
        "details" | "data" | "attachment" | "keep" => Field::Json,
        name if MESSAGE_FIELDS.contains(&name) => Field::Text,
        _ => Field::Unknown,
    }
}

fn metadata_field(name: &str) -> Field {
    match name {
        "agent_name" | "effective_agent_name" | "permission_mode" | "tags" => Field::Text,
        "compact_boundary_id" | "summary_for_boundary_id" | "source_tool_assistant_id" | "run_id" => Field::Fixed,
        "source" => Field::Word(&["user", "runtime", "hook", "tool", "system"]),
        "origin" | "extra" => Field::Json,
        "synthetic"
        | "visible_in_transcript"
        | "eligible_for_model_context"
        | "meta"
        | "virtual"
        | "sidechain"
        | "compacted_at" => Field::Scalar,
        _ => Field::Unknown,
    }
}

fn usage_field(name: &str) -> Field {
    match name {
        "input" | "output" | "cache_read" | "cache_write" | "reasoning" | "total" => Field::Scalar,
        _ => Field::Unknown,
    }
}
