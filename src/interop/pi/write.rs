//! A session as a session file of pi's, in its newest version: one tree of entries, the last of which is the leaf.

mod compaction;
mod written;

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::sync::Arc;

use super::write_foreign::{foreign_entries, is_written};
use super::write_own::{own_entry, put_text};
use super::{FORMAT, Options, read};
use crate::event::{
    Body, CompactBoundary, Event, Extension, Fields, Kind, Message, NO_CONTENT, Uuid, Value, apply_patch, foreign_id,
};
use crate::interop::fields::{field, put, put_new};
use crate::interop::leaving_line::{Keeping, Line};
use crate::interop::leaving_source::{Source, exported_id, safe_name};
use crate::interop::leaving_told::{Agent, Told, Written, lost};
use crate::interop::time::{iso_cut, iso_millis, micros};

/// The version of the format that is written.
const VERSION: i64 = 3;

/// Writes the session.
pub(in crate::interop) fn write(source: &Source<'_>, told: &mut Told) -> Written {
    let mut writer = Writer::new(source);
    writer.header(told);
    if source.origin == Some(Agent::Pi) {
        writer.own(told);
    } else {
        writer.foreign(told);
    }
    let header = writer.records.first();
    let text = |name: &str| header.and_then(|header| header.get(name)?.as_text()).unwrap_or_default().to_owned();
    let (session, cwd) = (text("id"), text("cwd"));
    let is_put_else = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
    let cwd = cwd.trim_start_matches('/').replace(is_put_else, "-");
    // A file may say anything for a time.
    let stamp = iso_cut(micros(&text("timestamp")).unwrap_or(source.begun_at())).replace([':', '.'], "-");
    let place = format!("sessions/--{cwd}--/{stamp}_{session}.jsonl");
    Written { records: writer.records, resume: Some(format!("pi --session {session}")), place, session }
}

struct Writer<'s, 'a> {
    source: &'s Source<'a>,
    /// The id of the last entry of each event.
    ids: Vec<Option<String>>,
    used: HashSet<String>,
    records: Vec<Value>,
    last: Option<String>,
    /// Boundaries behind which kept messages stand once more.
    with_copies: HashSet<usize>,
    /// Which messages of a session that came from a file of this format are entries of it again.
    written: Vec<bool>,
    /// Messages that are written without some of their results.
    cut: HashMap<usize, Arc<Event>>,
    /// Results that stand apart from their call, by the message of that; see `parted`.
    parted: HashMap<usize, Vec<usize>>,
    /// The last entry of those that stand behind their call again, by its message.
    behind: HashMap<usize, String>,
}

impl<'s, 'a> Writer<'s, 'a> {
    fn new(source: &'s Source<'a>) -> Self {
        // Ids of the file's own entries come before any that are made.
        let own = |index: usize| source.name(index).filter(|id| !is_place(id)).map(str::to_owned);
        let used = match source.origin {
            Some(Agent::Pi) => (0..source.len()).filter_map(own).collect(),
            _ => HashSet::new(),
        };
        Self {
            source,
            ids: vec![None; source.len()],
            used,
            records: Vec::new(),
            last: None,
            with_copies: HashSet::new(),
            written: Vec::new(),
            cut: HashMap::new(),
            parted: HashMap::new(),
            behind: HashMap::new(),
        }
    }

    fn header(&mut self, told: &mut Told) {
        let source = self.source;
        let is_known = source.origin == Some(Agent::Pi);
        let own = source.state.entries().iter().filter(|_| is_known).find_map(|entry| match &entry.event.body {
            Body::Extension(extension) if extension.name == "pi.session" => extension.payload.as_map(),
            _ => None,
        });
        let mut fields = match own {
            Some(own) => own.to_vec(),
            None => vec![("type".to_owned(), "session".into())],
        };
        put(&mut fields, "version", VERSION);
        let is_own = source.origin == Some(Agent::Pi);
        let id = if is_own { source.id() } else { exported_id(FORMAT, source.id()) };
        if own.is_none() || source.forked_from().is_some() {
            put(&mut fields, "id", id.to_string());
            put(&mut fields, "timestamp", iso_cut(source.begun_at()));
        }
        let named = field(&fields, "id").and_then(Value::as_text).map(|name| safe_name(FORMAT, name));
        put(&mut fields, "id", named.unwrap_or_else(|| id.to_string()));
        put_new(&mut fields, "timestamp", iso_cut(source.begun_at()));
        // The session may have moved since.
        if let Some(cwd) = &source.meta().cwd {
            put(&mut fields, "cwd", cwd.as_str());
        }
        if field(&fields, "cwd").is_none() {
            source.tell_of_no_folder(told);
        }
        put_new(&mut fields, "cwd", "");
        // The format names the parent by its path, which nobody knows here.
        if let (Some(_), Some(first)) = (source.forked_from(), source.state.entries().first()) {
            told.note(lost::PARENT, first.event.id);
        }
        self.records.push(Value::Map(fields));
    }

    /// An id that no entry of the file has.
    fn new_id(&mut self, name: &str) -> String {
        let whole = foreign_id(FORMAT, &self.source.id().to_string(), name, 1).simple().to_string();
        let short = whole.chars().take(8).collect::<String>();
        let id = if self.used.contains(&short) { whole } else { short };
        self.used.insert(id.clone());
        id
    }

    /// An id for the entry that stands for an event. Of what was said here, in a file that goes back to where it came from, it is the
    /// event's own, by which an import knows it again; else one as short as the program's.
    fn id_for(&mut self, event: Uuid) -> String {
        let own = event.to_string();
        let is_from_here = self.source.origin == Some(Agent::Pi) && event.get_version_num() == 7;
        match is_from_here && self.used.insert(own.clone()) {
            true => own,
            // A kept message may stand there twice.
            false => self.new_id(&format!("{own}.{}", self.records.len())),
        }
    }

    fn push(&mut self, id: String, parent: Value, at: i64, said: Fields) {
        self.push_at(id, parent, at, iso_cut(at), said);
    }

    /// A record of the file's, at its time to the last digit.
    fn push_own(&mut self, id: String, parent: Value, at: i64, said: Fields) {
        self.push_at(id, parent, at, iso_millis(at), said);
    }

    fn push_at(&mut self, id: String, parent: Value, at: i64, timestamp: String, said: Fields) {
        let mut fields: Fields = Vec::with_capacity(said.len() + 3);
        put(&mut fields, "type", field(&said, "type").cloned().unwrap_or_default());
        put(&mut fields, "id", id.as_str());
        put(&mut fields, "parentId", parent);
        put(&mut fields, "timestamp", timestamp);
        for (name, value) in said {
            put(&mut fields, &name, value);
        }
        put(&mut fields, "id", id.as_str());
        if let Some((_, Value::Map(inner))) = fields.iter_mut().find(|(name, _)| name == "message") {
            put_new(inner, "timestamp", at.div_euclid(1000));
        }
        self.records.push(Value::Map(fields));
        self.last = Some(id);
    }

    fn id_of(&self, index: Option<usize>) -> Value {
        let id = index.and_then(|index| self.behind.get(&index).or(self.ids[index].as_ref()));
        id.map_or(Value::Null, |id| id.as_str().into())
    }

    fn own(&mut self, told: &mut Told) {
        let source = self.source;
        self.find_written(told);
        let above = source.above(&self.written);
        let parted = self.find_parted(&above);
        let is_line = self.is_line();
        let mut is_touched = source.forked_from().is_some();
        for (index, &above) in above.iter().enumerate() {
            let event = source.event(index);
            let name = source.name(index);
            match &event.body {
                Body::Message(_) if !self.written[index] => {
                    is_touched = true;
                    self.ids[index] = self.id_of(above).as_text().map(str::to_owned);
                }
                // It stands behind its call; what goes on from here goes on from what is above.
                Body::Message(_) if parted.contains(&index) => {
                    self.ids[index] = self.id_of(above).as_text().map(str::to_owned);
                }
                Body::Message(message) => {
                    let cut = self.cut.get(&index).cloned();
                    let message = cut.as_ref().and_then(|event| event.message()).unwrap_or(message);
                    is_touched |= name.is_none() && event.takes_part() && !self.used.contains(&event.id.to_string());
                    self.own_message(index, message, above, is_line, told);
                }
                Body::Extension(extension) => self.extension(index, extension, above, is_line, told),
                Body::Head(_) => is_touched |= name.is_none(),
                Body::Prune(_) => told.note(lost::PRUNES, event.id),
                Body::Amend(_) if name.is_none() => told.note(lost::AMENDS, event.id),
                Body::ToolStarted(_) => told.note(lost::STARTED, event.id),
                Body::Unknown(_) => told.note(lost::RECORDS, event.id),
                Body::SessionMeta(meta) if name.is_none() => {
                    source.tell_of_meta(meta, event.id, told);
                    self.name(meta.title.as_deref(), event);
                }
                _ => {}
            }
        }
        if is_touched {
            let leaf = self.leaf_with_results(told).and_then(|leaf| self.ids[leaf].clone());
            if self.found_leaf() != leaf {
                self.point_at(leaf);
            }
        }
    }

    /// The oldest version has no ids: its order is the chain.
    fn is_line(&self) -> bool {
        let first = self.source.state.entries().iter().find_map(|entry| match &entry.event.body {
            Body::Extension(extension) if extension.name == "pi.session" => Some(&extension.payload),
            _ => None,
        });
        first.is_some_and(|header| header.get("version").and_then(Value::as_i64).unwrap_or(1) == 1)
    }

    fn own_message(&mut self, index: usize, message: &Message, above: Option<usize>, is_line: bool, told: &mut Told) {
        let source = self.source;
        let event = source.event(index);
        let name = source.name(index);
        // A twin stands for its entry, and what is part of a compaction for that.
        let of = name.and_then(|name| {
            let of = name.split_once('~').map(|(of, _)| of).or_else(|| name.strip_suffix(".system"))?;
            source.named(of)
        });
        let of = of.or_else(|| source.partner(index).filter(|_| matches!(message.kind, Kind::CompactSummary(_))));
        if let Some(of) = of {
            self.ids[index] = self.ids[of].clone();
            return;
        }
        let Some(name) = name else { return self.native(index, message, above, told) };
        let mut said = match &message.kind {
            Kind::CompactBoundary(boundary) => match self.own_compaction(index, message, boundary) {
                Some(said) => said,
                None => return told.note(lost::KINDS, event.id),
            },
            _ => {
                let before_edits = self.before_edits(index);
                own_entry(event.id, before_edits.as_ref().unwrap_or(message), told)
            }
        };
        let parent = match event.parent.and_then(|parent| source.place(parent)) {
            _ if is_line => self.last.as_deref().map_or(Value::Null, Value::from),
            Some(parent) if self.ids[parent].is_some() && !self.is_left_out(parent) => self.id_of(Some(parent)),
            Some(_) => self.id_of(above),
            None => event.original_parent.as_deref().map_or(Value::Null, Value::from),
        };
        let parent = self.named_parent(&said, event, parent, told);
        said.retain(|(name, _)| name != "parentId");
        let id = if is_place(name) { self.new_id(name) } else { name.to_owned() };
        self.ids[index] = Some(id.clone());
        self.push_own(id, parent, event.at, said);
    }

    /// A message with what was amended in it here, but before edits of the file's own: such an edit is an entry of its own.
    fn before_edits(&self, index: usize) -> Option<Message> {
        let changes = &self.source.entry(index).changes;
        let recorded = if changes.is_empty() { None } else { self.source.recorded(self.source.event(index).id) };
        let mut message = recorded?.message()?.clone();
        for change in changes.iter().filter_map(|change| self.source.place(change.id)) {
            if let (Body::Amend(amend), None) = (&self.source.event(change).body, self.source.name(change)) {
                message = apply_patch(&message, &amend.patch).unwrap_or(message);
            }
        }
        Some(message)
    }

    /// The parent that an entry names, if it does. Of two entries of one id the later one has another here.
    fn named_parent(&self, said: &[(String, Value)], event: &Event, parent: Value, told: &mut Told) -> Value {
        let Some(named) = field(said, "parentId") else { return parent };
        let entry = named.as_text().and_then(|named| self.source.of_file(named));
        // The program would take it for a root, and forget all that came before.
        if entry.is_none() && named.as_text().is_some() && parent.as_text().is_some() && parent != *named {
            told.note(lost::LOST_PARENTS, event.id);
            return parent;
        }
        if entry.is_some_and(|entry| self.is_left_out(entry)) {
            return parent;
        }
        let above = event.parent.and_then(|above| self.source.place(above));
        let name = above.and_then(|above| self.source.name(above));
        let is_meant = named
            .as_text()
            .zip(name)
            .is_some_and(|(named, name)| name.strip_prefix(named).is_some_and(|rest| rest.starts_with("@L")));
        if is_meant { self.id_of(above) } else { named.clone() }
    }

    fn own_compaction(&self, index: usize, message: &Message, boundary: &CompactBoundary) -> Option<Fields> {
        let source = self.source;
        let summary = source.message(source.summary(index)?)?;
        let raw = field(&message.extra, "raw").and_then(Value::as_map).unwrap_or_default();
        let mut fields: Fields = vec![("type".to_owned(), "compaction".into())];
        put(&mut fields, "summary", summary.joined_text().as_str());
        if let Kind::CompactSummary(summary) = &summary.kind {
            fields.extend(summary.tokens_before.map(|tokens| ("tokensBefore".to_owned(), tokens.into())));
        }
        for (name, value) in raw {
            put(&mut fields, name, value.clone());
        }
        if field(&fields, "summary").and_then(Value::as_text) == Some(NO_CONTENT) {
            put(&mut fields, "summary", "");
        }
        let first = field(&fields, "firstKeptEntryId").and_then(Value::as_text).and_then(|id| source.of_file(id));
        if first.is_some_and(|first| self.is_left_out(first)) {
            let own = source.name(index).unwrap_or_default();
            let next = self.first_kept(boundary).unwrap_or_else(|| own.into());
            put(&mut fields, "firstKeptEntryId", next);
        }
        // The oldest version counts the records.
        if field(&fields, "firstKeptEntryIndex").is_some() {
            fields.retain(|(name, _)| name != "firstKeptEntryIndex");
            if let Some(first) = self.first_kept(boundary) {
                put(&mut fields, "firstKeptEntryId", first);
            }
        }
        Some(fields)
    }

    fn extension(&mut self, index: usize, extension: &Extension, above: Option<usize>, is_line: bool, told: &mut Told) {
        let event = self.source.event(index);
        let entry = extension.payload.as_map().zip(extension.name.strip_prefix("pi."));
        match entry {
            Some((_, "session")) if self.records.len() == 1 => {}
            Some((fields, kind)) if kind != "session" && kind != "unplaced" => {
                let name = self.source.name(index).map_or_else(|| event.id.to_string(), str::to_owned);
                let id = if is_place(&name) { self.new_id(&name) } else { name };
                let parent = match is_line {
                    true => self.last.as_deref().map_or(Value::Null, Value::from),
                    false => self.named_parent(fields, event, self.id_of(above), told),
                };
                self.ids[index] = Some(id.clone());
                let mut said = fields.to_vec();
                said.retain(|(name, _)| name != "parentId");
                self.push_own(id, parent, event.at, said);
            }
            Some((_, "unplaced")) => told.note(lost::UNPLACED, event.id),
            _ if extension.name == "pi.unplaced" => told.note(lost::UNPLACED, event.id),
            _ => told.note(lost::RECORDS, event.id),
        }
    }

    /// An event that did not come from the file.
    fn native(&mut self, index: usize, message: &Message, above: Option<usize>, told: &mut Told) {
        let source = self.source;
        // A full UUID may be the file's own id.
        let event = source.event(index);
        if !message.extra.is_empty() && event.original_id.is_none() {
            let said = match &message.kind {
                Kind::CompactBoundary(boundary) => self.own_compaction(index, message, boundary),
                _ => Some(own_entry(event.id, message, told)),
            };
            let Some(said) = said else { return told.note(lost::KINDS, event.id) };
            let parent = field(&said, "parentId").cloned().unwrap_or_else(|| self.id_of(above));
            let id = event.id.to_string();
            self.ids[index] = Some(id.clone());
            return self.push_own(id, parent, event.at, said);
        }
        if !is_written(event, message, told) {
            self.ids[index] = self.id_of(above).as_text().map(str::to_owned);
            for result in self.parted.remove(&index).unwrap_or_default() {
                told.note(lost::ORPHANS, source.event(result).id);
            }
            return;
        }
        if let Kind::CompactBoundary(boundary) = &message.kind {
            let keep: Vec<usize> = boundary.keep.iter().filter_map(|kept| source.place(kept.id)).collect();
            return self.compaction(index, &keep, above, None, told);
        }
        self.entries(index, &[index], self.id_of(above), told);
        for result in self.parted.remove(&index).unwrap_or_default() {
            self.entries(result, &[result], self.id_of(Some(index)), told);
            self.behind.extend(self.ids[result].clone().map(|id| (index, id)));
        }
    }

    /// Writes the entries of some events, which are one to the model.
    fn entries(&mut self, index: usize, events: &[usize], parent: Value, told: &mut Told) {
        let at = self.source.event(index).at;
        let mut parent = parent;
        for (number, said) in foreign_entries(self.source, events, &self.cut, told).into_iter().enumerate() {
            let event = self.source.event(index).id;
            let id = match number {
                0 => self.id_for(event),
                _ => self.new_id(&format!("{event}.{number}.{}", self.records.len())),
            };
            self.push(id.clone(), parent, at, said);
            parent = id.as_str().into();
        }
        let last = parent.as_text().map(str::to_owned);
        for &index in events {
            self.ids[index].clone_from(&last);
        }
    }

    fn foreign(&mut self, told: &mut Told) {
        let source = self.source;
        source.tell_of_records(told);
        source.tell_of_settings(told);
        source.tell_of_agent(told);
        let again = source.summaries_again();
        let mut written = vec![false; source.len()];
        for (index, written) in written.iter_mut().enumerate() {
            let Some(message) = source.message(index).filter(|_| !again.contains(&index)) else { continue };
            *written = match &message.kind {
                Kind::CompactBoundary(_) => source.summary(index).is_some(),
                Kind::CompactSummary(_) => {
                    source.partner(index).is_some_and(|of| source.summary(of).is_some())
                        && is_written(source.event(index), message, told)
                }
                _ => is_written(source.event(index), message, told),
            };
        }
        let mut line = Line::new(source, written, Keeping::Messages, told);
        self.cut = std::mem::take(&mut line.cut);
        for &index in &line.order {
            let Some(message) = source.message(index) else { continue };
            let parent = line.parent[index];
            match &message.kind {
                Kind::CompactSummary(_) => {}
                Kind::CompactBoundary(boundary) => {
                    let keep: Vec<usize> = boundary.keep.iter().filter_map(|kept| source.place(kept.id)).collect();
                    self.compaction(index, &keep, parent, Some(&line), told);
                }
                _ if !line.begins(index) => {}
                _ => {
                    let events = match line.answer(index).filter(|_| !line.is_result(index)) {
                        Some(answer) => answer.blocks.clone(),
                        None => vec![index],
                    };
                    self.entries(index, &events, self.id_of(parent), told);
                }
            }
        }
        let leaf = line.path.last().and_then(|&leaf| self.ids[leaf].clone());
        if let Some(title) = &source.meta().title {
            let id = self.new_id("session_info");
            let said = vec![("type".to_owned(), "session_info".into()), ("name".to_owned(), title.as_str().into())];
            let at = source.state.entries().last().map_or(source.created_at(), |entry| entry.event.at);
            self.push(id, leaf.map_or(Value::Null, Value::from), at, said);
        } else if self.last != leaf {
            self.point_at(leaf);
        }
    }

    fn name(&mut self, title: Option<&str>, event: &Event) {
        let Some(title) = title.filter(|title| !title.is_empty()) else { return };
        let id = self.new_id(&event.id.to_string());
        let mut said: Fields = vec![("type".to_owned(), "session_info".into())];
        put_text(&mut said, "name", Some(title));
        let parent = self.last.as_deref().map_or(Value::Null, Value::from);
        self.push(id, parent, event.at, said);
    }

    /// The last entry is the leaf: one that says nothing stands on it.
    fn point_at(&mut self, leaf: Option<String>) {
        let id = self.new_id("leaf");
        let said = vec![("type".to_owned(), "custom".into()), ("customType".to_owned(), "seslog.leaf".into())];
        let at = self.source.state.entries().last().map_or(self.source.created_at(), |entry| entry.event.at);
        self.push(id, leaf.map_or(Value::Null, Value::from), at, said);
    }

    /// The leaf that a reader of the file finds: the last message of its chain.
    fn found_leaf(&self) -> Option<String> {
        let mut lines = Vec::new();
        for record in &self.records {
            lines.extend(serde_json::to_vec(record).unwrap_or_default());
            lines.push(b'\n');
        }
        let found = read(Cursor::new(lines), &Options::default()).ok()?;
        let messages: HashSet<&str> = (0..self.source.len())
            .filter(|&index| self.source.entry(index).takes_part())
            .filter_map(|index| self.ids[index].as_deref())
            .collect();
        found.report.live_chain.iter().rev().map(|entry| &entry.id).find(|id| messages.contains(id.as_str())).cloned()
    }
}

/// Whether this names a place in a file and is no id of the program's: `L` and a line.
fn is_place(name: &str) -> bool {
    name.strip_prefix('L').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}
