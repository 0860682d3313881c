//! A session as a transcript of Claude Code's: a session that came from one gets its records back, of any other each
//! message becomes a record that hangs on the one before it.

mod bare;
mod behind;
mod compacted;
mod leaf;
mod written;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use behind::Behind;
use compacted::KEPT;

use super::FORMAT;
use super::convert::LOST_PARENT;
use super::write_foreign::{foreign_fields, is_written};
use super::write_own::{boundary_fields, own_fields, put_text};
use crate::event::{Body, Event, Fields, Kind, Message, Value};
use crate::interop::fields::{field, put, put_new};
use crate::interop::leaving_line::{Keeping, Line};
use crate::interop::leaving_source::{Source, exported_id, is_hidden, safe_name};
use crate::interop::leaving_told::{Agent, Told, Written, lost};
use crate::interop::time::{iso_cut, iso_millis};

/// The version of the program whose form the records have, where the session names none.
const VERSION: &str = "2.1.200";

/// The longest name of a project's directory that is its path and nothing else, in bytes.
const DIR_LEN_MAX: usize = 200;

/// Writes the session.
pub(in crate::interop) fn write(source: &Source<'_>, told: &mut Told) -> Written {
    let mut writer = Writer::new(source, source.origin == Some(Agent::ClaudeCode));
    if writer.is_own {
        let mut own = Told::default();
        let is_touched = writer.own(&mut own);
        if is_touched {
            writer.settle_compactions(&mut own);
            writer.tell_of_dropped(&mut own);
        }
        let mut found = writer.stand_at_the_leaf(is_touched);
        if writer.part_what_was_left(found.as_ref(), &mut own) {
            found = writer.read_back();
        }
        if let Some(leaf) = source.leaf().filter(|_| is_touched && writer.stands_between()) {
            own.note(lost::LEAF, source.event(leaf).id);
        }
        if !is_touched || writer.agent.is_some() || found.is_some_and(|found| writer.reads_as_it_stands(&found)) {
            told.add(own);
        } else {
            // Other lines, and so a session beside that of the file.
            writer = Writer::new(source, false);
        }
    }
    if !writer.is_own {
        writer.foreign(told);
    }
    writer.name_the_session();
    source.tell_of_no_folder(told);
    let session = writer.session.clone();
    let cwd: String = writer.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // A longer one ends with a hash of the program's own.
    let dir = if cwd.len() > DIR_LEN_MAX { "DIRECTORY-OF-THE-PROJECT" } else { &cwd };
    let (place, resume) = match &writer.agent {
        Some(agent) => (format!("projects/{dir}/{session}/subagents/agent-{}.jsonl", safe_name(FORMAT, agent)), None),
        None => (format!("projects/{dir}/{session}.jsonl"), Some(format!("claude --resume {session}"))),
    };
    Written { records: writer.records, resume, place, session }
}

struct Writer<'s, 'a> {
    source: &'s Source<'a>,
    session: String,
    /// Whether the records of the file that it came from are written once more.
    is_own: bool,
    /// The sub-agent whose own file this is.
    agent: Option<String>,
    cwd: String,
    version: String,
    names: Vec<String>,
    /// Which events are records of the file.
    written: Vec<bool>,
    /// Messages that are written without some of their results.
    cut: HashMap<usize, Arc<Event>>,
    /// What stands behind calls.
    behind: Behind,
    records: Vec<Value>,
    /// Where the program would have to find the conversation, if its own rule may not.
    leaf: Option<Option<String>>,
    /// The record behind that one which says that no result came.
    behind_leaf: Option<String>,
}

impl<'s, 'a> Writer<'s, 'a> {
    fn new(source: &'s Source<'a>, is_own: bool) -> Self {
        let noted = |name: &str| source.noted(name).filter(|_| is_own).map(str::to_owned);
        // A fork of a sub-agent's session is nobody's but its own.
        let is_agents = is_own && source.forked_from().is_none();
        let agent = noted("agentId").filter(|_| is_agents && source.noted("parentSession").is_some());
        let own_id = if is_own { source.id() } else { exported_id(FORMAT, source.id()) };
        let of_parent = noted("parentSession").filter(|_| agent.is_some());
        let session = of_parent.map_or_else(|| own_id.to_string(), |name| safe_name(FORMAT, &name));
        let mut used = HashSet::new();
        let mut names = Vec::with_capacity(source.len());
        for index in 0..source.len() {
            let event = source.event(index);
            let given = source.name(index).filter(|_| is_own && event.message().is_some());
            let name = given.filter(|name| used.insert((*name).to_owned()));
            names.push(name.map_or_else(|| event.id.to_string(), str::to_owned));
        }
        Self {
            source,
            session,
            is_own,
            agent,
            cwd: source.meta().cwd.clone().unwrap_or_else(|| "/".to_owned()),
            version: noted("version").unwrap_or_else(|| VERSION.to_owned()),
            names,
            written: vec![true; source.len()],
            cut: HashMap::new(),
            behind: Behind::default(),
            records: Vec::new(),
            leaf: None,
            behind_leaf: None,
        }
    }

    /// Writes what the records were; gives whether the session was gone on with since.
    fn own(&mut self, told: &mut Told) -> bool {
        let source = self.source;
        self.find_written(told);
        let mut above = source.above(&self.written);
        self.behind = Behind::of(self, &self.written, &self.cut, &above);
        if self.leave_out_answered() {
            above = source.above(&self.written);
        }
        let mut behind = std::mem::take(&mut self.behind);
        behind.find_parted(self, &mut above);
        self.behind = behind;
        let (mut is_touched, mut prunes) = (source.forked_from().is_some(), 0);
        for (index, &above) in above.iter().enumerate() {
            let (entry, event) = (source.entry(index), source.event(index));
            match &event.body {
                Body::Message(message) if entry.is_living() => {
                    let is_native = self.is_native(index, message);
                    is_touched |= (is_native && entry.takes_part()) || !self.written[index];
                    // It stands behind its call.
                    if self.behind.is_moved(index) {
                        continue;
                    }
                    let cut = self.cut.get(&index).cloned();
                    let event = cut.as_ref().unwrap_or(&entry.event);
                    self.own_message(index, event, event.message().unwrap_or(message), above, is_native, told);
                }
                Body::Message(_) => is_touched = true,
                Body::Extension(extension) => match extension.name.strip_prefix("claude_code.") {
                    Some("unplaced") => told.note(lost::UNPLACED, event.id),
                    Some(_) => self.metadata(extension.payload.clone()),
                    None => told.note(lost::RECORDS, event.id),
                },
                Body::Prune(prune) if source.name(index).is_none() => {
                    prunes += 1;
                    self.prune(event.id, event.at, &prune.targets, above, told, prunes);
                }
                Body::Head(_) => is_touched |= source.name(index).is_none(),
                Body::SessionMeta(meta) if source.name(index).is_none() => {
                    source.tell_of_meta(meta, event.id, told);
                    if let Some(title) = &meta.title {
                        self.title(title.clone());
                    }
                }
                Body::ToolStarted(_) => told.note(lost::STARTED, event.id),
                Body::Unknown(_) => told.note(lost::RECORDS, event.id),
                Body::Amend(_) => told.note(lost::AMENDS, event.id),
                _ => {}
            }
        }
        let leaf = source.leaf().and_then(|leaf| if self.written[leaf] { Some(leaf) } else { above[leaf] });
        self.stand_at(leaf);
        is_touched
    }

    /// Whether the event did not come from the file: nothing of a record's is with it, or it has an id that was given
    /// elsewhere, or is of a kind that no record is.
    fn is_native(&self, index: usize, message: &Message) -> bool {
        let is_of_no_record = matches!(message.kind, Kind::BashExecution(_) | Kind::Custom(_));
        let is_named = self.source.event(index).original_id.is_some();
        self.source.name(index).is_none() && (is_named || is_of_no_record || message.extra.is_empty())
    }

    fn own_message(
        &mut self,
        index: usize,
        event: &Arc<Event>,
        message: &Message,
        above: Option<usize>,
        is_native: bool,
        told: &mut Told,
    ) {
        let source = self.source;
        if matches!(message.kind, Kind::CompactBoundary(_)) {
            if source.summary(index).is_none() {
                return told.note(lost::KINDS, event.id);
            }
            // Old versions wrote the summary alone.
            if source.name(index).is_some_and(|name| name.ends_with(".boundary")) {
                return;
            }
            let mut fields = boundary_fields(message);
            put_new(&mut fields, "parentUuid", Value::Null);
            self.boundary(&mut fields, index, above, |kept| kept);
            return self.record(index, fields, Value::Null);
        }
        let is_summary = matches!(message.kind, Kind::CompactSummary(_));
        let mut fields = match is_native && !is_summary {
            true if !is_written(event, message, told) => return,
            _ if message.content.is_empty() && self.cut.contains_key(&index) => return,
            true => match foreign_fields(event, message, &source.tools, told) {
                Some(mut fields) => {
                    self.put_call(&mut fields, index, Some(message));
                    fields
                }
                None => return,
            },
            false => own_fields(event, message, &source.tools, told),
        };
        let boundary = source.partner(index).filter(|&boundary| is_summary && self.written[boundary]);
        if let Some(above) = above.filter(|_| is_native) {
            self.say_before(message, above, told);
        }
        let parent = match (boundary, event.parent.and_then(|parent| source.place(parent))) {
            (Some(boundary), _) => match source.name(boundary) {
                Some(name) if name.ends_with(".boundary") => Value::Null,
                _ => self.names[boundary].as_str().into(),
            },
            (None, Some(parent)) if self.written[parent] && !is_native => self.node(parent),
            (None, Some(_)) if is_native => above.map_or(Value::Null, |above| self.end(above)),
            (None, Some(_)) => above.map_or(Value::Null, |above| self.node(above)),
            (None, None) => event.original_parent.as_deref().map_or(Value::Null, Value::from),
        };
        // The program forgets what stands before a record whose parent is nowhere; here the session goes on from there.
        let named = field(&fields, "parentUuid").and_then(Value::as_text);
        let lost = named.filter(|named| parent != Value::Null && source.of_file(named).is_none()).map(str::to_owned);
        if let Some(lost) = lost {
            told.note(lost::HUNG, event.id);
            put(&mut fields, "parentUuid", parent.clone());
            put(&mut fields, LOST_PARENT, lost);
        }
        match is_native {
            true => self.answer(index, fields, parent, told),
            false => {
                self.record(index, fields, parent);
                self.put_results(index, told);
            }
        }
        self.follow(index, above);
    }

    /// A result names the record that holds its call.
    fn put_call(&self, fields: &mut Fields, index: usize, message: Option<&Message>) {
        let result = message.and_then(|message| message.results().next());
        let call = result.and_then(|result| self.source.holder(index, &result.call_id));
        if let Some(call) = call.filter(|&call| self.source.message(call).is_some()) {
            put(fields, "sourceToolAssistantUUID", self.names[call].as_str());
        }
    }

    /// The record on which a child of this event hangs: a boundary stands for its summary in the store, but a record
    /// that named the boundary itself still says so.
    fn node(&self, index: usize) -> Value {
        let stands = self.source.summary(index).unwrap_or(index);
        self.names[stands].as_str().into()
    }

    /// What a boundary's record must say; `units` gives all that is kept with some messages.
    fn boundary(
        &self,
        fields: &mut Fields,
        index: usize,
        above: Option<usize>,
        units: impl Fn(Vec<usize>) -> Vec<usize>,
    ) {
        let source = self.source;
        put(fields, "type", "system");
        put(fields, "subtype", "compact_boundary");
        put_new(fields, "content", "Conversation compacted");
        if let Some(above) = above.filter(|_| field(fields, "compactMetadata").is_none()) {
            put_new(fields, "logicalParentUuid", self.names[above].as_str());
        }
        let Some((boundary, summary)) = source.event(index).boundary().zip(source.summary(index)) else { return };
        let kept = units(boundary.keep.iter().filter_map(|kept| source.place(kept.id)).collect());
        let kept = self.kept(&self.names[summary], kept);
        if let Some((_, metadata)) = fields.iter_mut().find(|(name, _)| name == "compactMetadata") {
            // The program takes none of what is kept, if it does not find one of them.
            let mut named = boundary.keep.iter().filter_map(|kept| source.place(kept.id));
            if let (Value::Map(metadata), false) = (metadata, named.all(|kept| self.written[kept])) {
                metadata.retain(|(name, _)| !KEPT.contains(&name.as_str()));
                metadata.extend(kept);
            }
            return;
        }
        let tokens = source.message(summary).and_then(|message| match &message.kind {
            Kind::CompactSummary(summary) => summary.tokens_before,
            _ => None,
        });
        let trigger = boundary.trigger.as_ref().map_or("manual", |trigger| trigger.name());
        let mut metadata: Fields = vec![("trigger".to_owned(), trigger.into())];
        metadata.push(("preTokens".to_owned(), tokens.unwrap_or(0).into()));
        metadata.extend(kept);
        put(fields, "compactMetadata", Value::Map(metadata));
    }

    /// The field that names what is kept behind this summary; none: nothing is.
    fn kept(&self, summary: &str, kept: Vec<usize>) -> Option<(String, Value)> {
        let mut seen = HashSet::new();
        let kept = kept.into_iter().filter(|&kept| self.written[kept] && seen.insert(kept));
        let kept: Vec<Value> = kept
            .flat_map(|kept| [Some(&self.names[kept]), self.behind.said(kept)])
            .flatten()
            .map(|name| name.as_str().into())
            .collect();
        let named = || Value::from([("anchorUuid", summary.into()), ("uuids", kept.clone().into())]);
        (!kept.is_empty()).then(|| (KEPT[0].to_owned(), named()))
    }

    /// Adds the event's record.
    fn record(&mut self, index: usize, said: Fields, parent: Value) {
        let name = self.names[index].clone();
        self.record_as(&name, index, said, parent);
    }

    /// Adds a record of the event's, with what every record has.
    fn record_as(&mut self, name: &str, index: usize, said: Fields, parent: Value) {
        let event = self.source.event(index);
        let mut fields: Fields = Vec::with_capacity(said.len() + 8);
        let named =
            field(&said, "parentUuid").filter(|named| !named.as_text().is_some_and(|name| self.is_left_out(name)));
        let parent = named.cloned().unwrap_or(parent);
        put(&mut fields, "parentUuid", parent.clone());
        let sidechain = event.message().is_some_and(|message| message.metadata.sidechain);
        put(&mut fields, "isSidechain", sidechain);
        let is_bare = event.message().is_none_or(|message| message.extra.is_empty()) || !self.is_own;
        if is_bare {
            put(&mut fields, "userType", "external");
            put(&mut fields, "cwd", self.cwd.as_str());
            put(&mut fields, "version", self.version.as_str());
            put_text(&mut fields, "gitBranch", self.source.noted("gitBranch"));
        }
        // Its own one stays in its place: a record is known again only in the order of its fields.
        if field(&said, "sessionId").is_none() {
            put(&mut fields, "sessionId", self.session.as_str());
        }
        for (name, value) in said {
            put(&mut fields, &name, value);
        }
        put(&mut fields, "parentUuid", parent);
        self.put_agent(&mut fields);
        put(&mut fields, "uuid", name);
        put_new(&mut fields, "timestamp", if is_bare { iso_cut(event.at) } else { iso_millis(event.at) });
        self.records.push(Value::Map(fields));
    }

    /// In a sub-agent's own file each record is the agent's, in no other one is all of it.
    fn put_agent(&self, fields: &mut Fields) {
        if let Some(agent) = &self.agent {
            put(fields, "isSidechain", true);
            put_new(fields, "agentId", agent.as_str());
        } else if self.is_own && self.source.noted("parentSession").is_some() {
            put(fields, "isSidechain", false);
            fields.retain(|(name, _)| name != "agentId");
        }
    }

    fn foreign(&mut self, told: &mut Told) {
        let source = self.source;
        source.tell_of_records(told);
        source.tell_of_settings(told);
        let mut fields: Vec<Option<Fields>> = Vec::with_capacity(source.len());
        let again = source.summaries_again();
        for index in 0..source.len() {
            let message = source.message(index).filter(|_| !again.contains(&index));
            let message = message.filter(|message| is_written(source.event(index), message, told));
            fields.push(message.and_then(|message| match &message.kind {
                Kind::CompactBoundary(_) => source.summary(index).map(|_| Fields::new()),
                Kind::CompactSummary(_) => {
                    let boundary = source.partner(index)?;
                    source.summary(boundary)?;
                    foreign_fields(&source.entry(index).event, message, &source.tools, told)
                }
                _ => foreign_fields(&source.entry(index).event, message, &source.tools, told),
            }));
        }
        let written: Vec<bool> = fields.iter().map(Option::is_some).collect();
        let line = Line::new(source, written, Keeping::Answers, told);
        let written: Vec<bool> = (0..source.len()).map(|index| line.is_written(index)).collect();
        self.behind = Behind::of(self, &written, &line.cut, &line.parent);
        for (&index, event) in &line.cut {
            let said = event.message();
            let said = said.and_then(|said| foreign_fields(event, said, &source.tools, &mut Told::default()));
            fields[index] = said.or(fields[index].take());
        }
        // The program goes on from nothing that is hidden.
        let last = line.path.last().and_then(|&last| Some((last, source.message(last)?)));
        if let Some((last, _)) = last.filter(|(_, message)| message.kind == Kind::UserInput && is_hidden(message)) {
            told.note(lost::SHOWN, source.event(last).id);
        }
        self.lines(&line, &line.in_file_order(), &fields, told);
        self.settle_compactions(told);
        if self.stand_at_the_leaf(true).is_some_and(|found| self.reads_as(&line, &found)) {
            return;
        }
        // What one branch's compaction kept, the program takes for that of all branches.
        self.records.clear();
        let boundaries = line.path.iter().filter_map(|&index| source.event(index).boundary());
        let kept = boundaries.flat_map(|boundary| &boundary.keep).filter_map(|kept| source.place(kept.id));
        let order = line.sorted(line.units(kept).into_iter().chain(line.path.iter().copied()));
        let is_left: HashSet<usize> = order.iter().copied().collect();
        for index in (0..source.len()).filter(|index| line.is_written(*index) && !is_left.contains(index)) {
            told.note(lost::BRANCHES, source.event(index).id);
        }
        self.lines(&line, &order, &fields, &mut Told::default());
        let found = self.stand_at_the_leaf(true);
        if let Some(leaf) = line.path.last().filter(|_| !found.is_some_and(|found| self.reads_as(&line, &found))) {
            told.note(lost::LEAF, source.event(*leaf).id);
        }
    }

    fn lines(&mut self, line: &Line, order: &[usize], fields: &[Option<Fields>], told: &mut Told) {
        let source = self.source;
        self.behind.begin();
        for &index in order {
            let Some(mut said) = fields[index].clone() else { continue };
            // The program goes on from nothing that is only for the model.
            if line.path.last() == Some(&index) {
                said.retain(|(name, _)| name != "isMeta");
            }
            if line.is_rest(index)
                && let Some(first) = line.answer(index).and_then(|answer| answer.blocks.first())
            {
                let id = format!("msg_{}", source.event(*first).id.simple());
                if let Some((_, Value::Map(inner))) = said.iter_mut().find(|(name, _)| name == "message") {
                    put(inner, "id", id);
                }
            }
            let parent = line.parent[index];
            let above = parent.map(|parent| self.behind.said(parent).unwrap_or(&self.names[parent]));
            let mut hangs_on = above.map_or(Value::Null, |above| above.as_str().into());
            if source.event(index).boundary().is_some() {
                self.boundary(&mut said, index, parent, |kept| line.units(kept));
                hangs_on = Value::Null;
            } else {
                let said_there = line.cut.get(&index).map_or(source.message(index), |event| event.message());
                self.put_call(&mut said, index, said_there);
            }
            self.answer(index, said, hangs_on, told);
        }
        if let Some(title) = &source.meta().title {
            self.title(title.clone());
        }
        if let Some(agent) = source.agent() {
            self.note("agent-name", [("agentName", agent.into())]);
        }
        self.stand_at(line.path.last().copied());
    }
}
