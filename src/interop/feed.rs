//! From incoming records, whose ids are any strings, into a session: ids of ours, what is known already, repairs.
//!
//! Done twice with the same records the second time writes nothing: each id of ours follows from the format, the
//! session's name, the record's id and how often other content has used that id before.

mod known;

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use known::{Found, NEUTRAL, SAME_ID_COMPARED};

use super::events::{LineError, NeutralReader};
use super::feed_leaf::LeafRule;
use super::feed_report::{ImportReport, Missing, Refused, Renamed};
use super::incoming::{Incoming, IncomingBody, IncomingParent, IncomingPlace};
use super::said_here::SaidHere;
use super::same::{is_same, is_same_boundary};
use crate::event::{
    Amend, Body, Event, EventError, Fields, Head, HungOn, Kind, Message, Prune, REDACTED, REMOVED, Role, Tombstone,
    Trigger, Uuid, apply_patch, encode, foreign_id, parse_id,
};
use crate::session::{Import, ImportedCompaction, NewEvent, Parent, Repair, Session, SessionError};

/// Reads neutral JSON lines into a session. The file's own name of the session goes before `session_key`, which is
/// any text that stays the same when the import is done again.
///
/// # Errors
/// Those of reading and writing the session. What is wrong with a line or a record is in the report.
pub fn import_events<R: BufRead>(
    session: &Session,
    session_key: &str,
    mut reader: NeutralReader<R>,
) -> Result<ImportReport, SessionError> {
    let key = reader.head().and_then(|head| head.id.clone()).unwrap_or_else(|| session_key.to_owned());
    let mut feed = Feed::new(session, NEUTRAL, &key)?;
    feed.is_fork = session.info().parent.is_some();
    for item in reader.by_ref() {
        match item {
            Ok((line, record)) => feed.take(line, record)?,
            Err(error) => feed.bad_line(error),
        }
    }
    feed.report.replaced(reader.lossy());
    feed.finish()
}

/// Writes what a reader found into a session, each event with its line, from 1; 0: it is of no one line.
///
/// # Errors
/// Those of reading and writing the session. An event that can't be stored is told in the report.
pub(super) fn feed_all(
    session: &Session,
    format: &str,
    session_key: &str,
    events: impl IntoIterator<Item = (u64, Incoming)>,
) -> Result<ImportReport, SessionError> {
    let mut feed = Feed::new(session, format, session_key)?;
    let events: Vec<(u64, Incoming)> = events.into_iter().collect();
    feed.leaf.knows_file(&feed.import, |id, original| {
        events.iter().filter_map(|(_, event)| event.id.as_deref()).any(|name| match parse_id(name) {
            Some(own) => own == id,
            None => original == Some(name),
        })
    })?;
    for (line, event) in events {
        feed.take(usize::try_from(line).unwrap_or(usize::MAX), event)?;
    }
    feed.finish()
}

/// Takes incoming records into a session, one after the other, holding the session's writer meanwhile.
#[derive(Debug)]
pub struct Feed<'a> {
    import: Import<'a>,
    format: String,
    session_key: String,
    /// What each id of the file means at this place: the nearest earlier record of that id.
    names: HashMap<String, Uuid>,
    /// How often an id was given to other content in this run, where that is more than is compared.
    nth: HashMap<String, u32>,
    /// The time of the record before.
    last_at: Option<i64>,
    leaf: LeafRule,
    said_here: SaidHere,
    /// The session is a fork: what its first events hang on is in another one.
    is_fork: bool,
    report: ImportReport,
}

impl<'a> Feed<'a> {
    /// A feed for records of this format and of the session that the file calls `session_key`.
    ///
    /// # Errors
    /// Those of reading the session.
    pub fn new(session: &'a Session, format: &str, session_key: &str) -> Result<Self, SessionError> {
        let import = session.import()?;
        let leaf = LeafRule::new(&import);
        Ok(Self {
            import,
            leaf,
            said_here: SaidHere::default(),
            format: format.to_owned(),
            session_key: session_key.to_owned(),
            names: HashMap::new(),
            nth: HashMap::new(),
            last_at: None,
            is_fork: false,
            report: ImportReport::default(),
        })
    }

    /// Tells of a line that could not be read.
    pub fn bad_line(&mut self, error: LineError) {
        self.report.bad_lines.push(error.into());
    }

    /// Takes one record; `line` is its place in the file, from 1.
    ///
    /// # Errors
    /// Those of reading and writing the session. A record that can't be stored is told in the report.
    pub fn take(&mut self, line: usize, record: Incoming) -> Result<(), SessionError> {
        let name = record.id.clone();
        // What says no time happened as late as what stands before it; where that is nothing, now, as an append does.
        let at = record.at.or(self.last_at);
        self.last_at = at;
        self.report.undated += usize::from(record.at.is_none());
        self.report.read += 1;
        let taken = match record.body {
            IncomingBody::Compaction { .. } => self.take_compaction(line, at, record),
            _ => self.take_one(line, at, record),
        };
        match taken {
            Err(error) if error.is_of_the_event() => {
                self.report.refused.push(Refused { line, id: name, why: error.to_string() });
                Ok(())
            }
            other => other,
        }
    }

    /// Makes everything durable and says what was done.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the sync fails.
    pub fn finish(mut self) -> Result<ImportReport, SessionError> {
        self.report.leaf_kept = self.leaf.settle(&mut self.import)?;
        self.report.changed_again += self.import.change_again()?;
        self.report.meta_kept = self.import.take_meta_kept();
        self.report.messages = self.import.counts().messages;
        self.report.came_late = self.import.came_late();
        self.import.finish()?;
        let named: HashSet<&str> = self.report.named_events().collect();
        let all = self.names.iter().map(|(name, id)| (id.to_string(), name));
        let originals = all.filter(|(id, name)| id != *name && named.contains(id.as_str()));
        self.report.original_ids = originals.map(|(id, name)| (id, name.clone())).collect();
        Ok(self.report)
    }

    fn take_one(&mut self, line: usize, at: Option<i64>, record: Incoming) -> Result<(), SessionError> {
        let named = parent_name(&record.parent);
        // A leaf that is not there would be read as none at all, and everything before it would be out of sight. One
        // that comes later in the file is there when it is imported again, and must not count then either.
        let is_lost = matches!(&record.body, IncomingBody::Head { leaf: Some(leaf) } if !self.names.contains_key(leaf));
        let body = self.body(line, record.body)?;
        if is_lost {
            let why = "the leaf that it names is no earlier record".to_owned();
            self.report.refused.push(Refused { line, id: record.id, why });
            return Ok(());
        }
        let mut event = self.envelope(&record.parent, record.at, body, record.extra)?;
        event.placed = self.placed(&event, record.placed)?;
        let key = record.id.clone().unwrap_or_else(|| format!("line {line}"));
        match self.find(&key, (&mut event, named.as_deref()), record.id.as_deref(), record.original_id, is_same)? {
            Found::Known { id, nth } => {
                self.leaf.passes(&self.import, id);
                self.import.passes(id);
                self.aim_again(id, &event)?;
                self.means(key, id, nth);
                self.report.known += 1;
            }
            Found::Free { id, nth } => {
                event.at = at;
                self.leaf.leads(&mut self.import, event.parent);
                let repairs = self.import.add(event)?;
                self.leaf.brought(&self.import, id);
                self.wrote(line, key, id, nth, repairs, named.as_deref());
            }
        }
        Ok(())
    }

    fn take_compaction(&mut self, line: usize, at: Option<i64>, record: Incoming) -> Result<(), SessionError> {
        let named = parent_name(&record.parent);
        let IncomingBody::Compaction {
            summary_id,
            summary_original_id,
            summary_at,
            summary_off_chain,
            mut summary,
            keep: keep_names,
            trigger,
            boundary_extra,
        } = record.body
        else {
            return Ok(());
        };
        let keep = self.targets(line, "keep", keep_names)?;
        self.resolve_metadata(&mut summary);
        let boundary = boundary_message(boundary_extra, trigger.clone())?;
        let mut boundary = self.envelope(&record.parent, record.at, Body::Message(Box::new(boundary)), record.extra)?;
        boundary.placed = self.placed(&boundary, record.placed)?;
        let key = record.id.clone().unwrap_or_else(|| format!("line {line}"));
        let mut summary_key = summary_id.clone().unwrap_or_else(|| format!("line {line}, summary"));
        if summary_key == key {
            // Two events, and the file has one name for both.
            summary_key.push_str(", summary");
        }
        let back = match self.is_neutral() {
            true => None,
            false => self.said_here.boundary(&self.import, &key, record.at, &summary),
        };
        let same = |new: &NewEvent, known: &Event| back == Some(known.id) || is_same_boundary(new, known, &keep);
        let found =
            self.find(&key, (&mut boundary, named.as_deref()), record.id.as_deref(), record.original_id, same)?;
        let (Found::Known { id, .. } | Found::Free { id, .. }) = found;
        summary.metadata.summary_for_boundary_id = Some(id.to_string());
        let mut summary = NewEvent::new(Body::Message(summary)).with_parent(Parent::Of(id));
        summary.at = summary_at.or(record.at);
        summary.placed = boundary.placed.map(|_| (HungOn::Named, summary_off_chain));
        let summary_found =
            self.find(&summary_key, (&mut summary, None), summary_id.as_deref(), summary_original_id, is_same)?;
        let (Found::Known { id: below, nth: below_nth } | Found::Free { id: below, nth: below_nth }) = summary_found;
        let mut below = back.and_then(|back| Some(self.import.summary_of(back)?.id)).unwrap_or(below);
        match found {
            Found::Known { id, nth } => {
                self.import.passes(id);
                self.means(key, id, nth);
                self.report.known += 1;
            }
            Found::Free { id, nth } => {
                boundary.at = at;
                summary.at = summary.at.or(at);
                if self.import.contains(below) {
                    // A salvage has saved it without its boundary: it stays what it is, and is no summary of this one.
                    below = self.another_id(&summary_key);
                    (summary.id, summary.original_id) = (Some(below), summary_id);
                    self.report.renamed.push(Renamed {
                        line,
                        id: summary_key.clone(),
                        event: below.to_string(),
                        nth: 2,
                    });
                }
                self.leaf.leads(&mut self.import, boundary.parent);
                let compaction = ImportedCompaction { boundary, summary, keep, trigger };
                let (repairs, _) = self.import.add_compaction(compaction)?;
                self.leaf.brought(&self.import, below);
                self.wrote(line, key, id, nth, repairs, named.as_deref());
            }
        }
        self.leaf.passes(&self.import, below);
        self.means(summary_key, below, below_nth);
        Ok(())
    }

    fn wrote(&mut self, line: usize, key: String, id: Uuid, nth: u32, repairs: Vec<Repair>, named: Option<&str>) {
        self.report.written += 1;
        for repair in repairs {
            self.report.repaired(line, repair, named);
        }
        if nth > 1 {
            self.report.renamed.push(Renamed { line, id: key.clone(), event: id.to_string(), nth });
        }
        self.means(key, id, nth);
    }

    /// From here on the name means this event.
    fn means(&mut self, key: String, id: Uuid, nth: u32) {
        if nth > SAME_ID_COMPARED {
            self.nth.insert(key.clone(), nth);
        }
        self.names.insert(key, id);
    }

    /// The event but for its id. A time that the record does not say is not asked when it is compared with what is known,
    /// and comes from its place when it is written.
    fn envelope(
        &self,
        parent: &IncomingParent,
        at: Option<i64>,
        body: Body,
        extra: Fields,
    ) -> Result<NewEvent, SessionError> {
        let mut event = NewEvent { at, ..NewEvent::new(body) };
        match &mut event.body {
            // In the log an event and its message are one map, and what nobody knows is read back as the message's.
            Body::Message(message) => message.extra.extend(extra),
            _ => event.extra = extra,
        }
        event.parent = match parent {
            IncomingParent::Leaf => Parent::Leaf,
            IncomingParent::Root => Parent::Root,
            IncomingParent::Id(name) => {
                let id = self.meaning(name);
                if !self.import.contains(id) {
                    event.original_parent = Some(name.clone());
                }
                Parent::Of(id)
            }
        };
        Ok(event)
    }

    /// How the event was placed once, if what it hangs on is there. Else it is placed anew, like one that was never placed.
    fn placed(&self, event: &NewEvent, place: Option<IncomingPlace>) -> Result<Option<(HungOn, bool)>, SessionError> {
        let Some(IncomingPlace { hung_on, off_chain }) = place else { return Ok(None) };
        // A meta takes no part in the chain, and one that is placed anew is completed by what holds. That which a fork begins
        // with is whole, and hangs on what only the other session has.
        let is_outside = matches!(event.parent, Parent::Of(id) if self.is_fork && !self.import.contains(id));
        if matches!(event.body, Body::SessionMeta(_)) && !is_outside {
            return Ok(None);
        }
        let (hung_on, on) = match (hung_on, event.parent) {
            (Some(IncomingParent::Id(name)), _) => {
                let id = self.meaning(&name);
                (HungOn::Event(id), Some(id))
            }
            (Some(_), _) => (HungOn::Root, None),
            (None, Parent::Of(id)) => (HungOn::Named, Some(id)),
            (None, Parent::Root) => (HungOn::Named, None),
            (None, Parent::Leaf) => return Ok(None),
        };
        let is_there = match on {
            Some(id) => self.is_fork || self.import.contains(id),
            None => true,
        };
        Ok(is_there.then_some((hung_on, off_chain)))
    }

    /// The event that an id of the file means here, be it there or not.
    fn meaning(&self, name: &str) -> Uuid {
        match self.names.get(name) {
            Some(&id) => id,
            None => parse_id(name).unwrap_or_else(|| foreign_id(&self.format, &self.session_key, name, 1)),
        }
    }

    fn targets(&mut self, line: usize, field: &'static str, names: Vec<String>) -> Result<Vec<Uuid>, SessionError> {
        let mut targets = Vec::with_capacity(names.len());
        for name in names {
            let id = self.meaning(&name);
            if !self.import.contains(id) {
                self.report.missing.push(Missing { line, field, id: name });
            }
            targets.push(id);
        }
        Ok(targets)
    }

    fn body(&mut self, line: usize, body: IncomingBody) -> Result<Body, SessionError> {
        Ok(match body {
            IncomingBody::Message(mut message) => {
                self.resolve_metadata(&mut message);
                Body::Message(message)
            }
            IncomingBody::Tombstone { targets, reason } => {
                Body::Tombstone(Tombstone { targets: self.targets(line, "targets", targets)?, reason })
            }
            IncomingBody::Prune { targets } => Body::Prune(Prune { targets: self.targets(line, "targets", targets)? }),
            IncomingBody::Amend { target, patch } => {
                let target = self.targets(line, "target", vec![target])?[0];
                Body::Amend(Amend { target, patch })
            }
            IncomingBody::Head { leaf } => {
                let leaf = self.targets(line, "leaf", leaf.into_iter().collect())?;
                Body::Head(Head { leaf: leaf.first().copied() })
            }
            IncomingBody::ToolStarted(started) => Body::ToolStarted(started),
            IncomingBody::SessionMeta(meta) => Body::SessionMeta(meta),
            IncomingBody::Extension(extension) => Body::Extension(extension),
            IncomingBody::Unknown(unknown) => Body::Unknown(unknown),
            IncomingBody::Compaction { .. } => unreachable!("a compaction is two events, taken on its own"),
        })
    }

    /// The ids in a message's metadata mean records of the file too, so they follow them: earlier ones. A later one is
    /// there when the file is imported again, and the message must say the same then.
    fn resolve_metadata(&self, message: &mut Message) {
        let metadata = &mut message.metadata;
        for id in [
            &mut metadata.compact_boundary_id,
            &mut metadata.summary_for_boundary_id,
            &mut metadata.source_tool_assistant_id,
        ] {
            if let Some(meaning) = id.as_ref().and_then(|name| self.names.get(name)) {
                *id = Some(meaning.to_string());
            }
        }
    }
}

/// A boundary's message, out of what the file says of it.
fn boundary_message(patch: Fields, trigger: Option<Trigger>) -> Result<Message, EventError> {
    let kind = Kind::CompactBoundary(crate::event::CompactBoundary { trigger, ..Default::default() });
    apply_patch(&Message::new(Role::System, kind, Vec::new()), &patch)
}

fn parent_name(parent: &IncomingParent) -> Option<String> {
    match parent {
        IncomingParent::Id(name) => Some(name.clone()),
        IncomingParent::Leaf | IncomingParent::Root => None,
    }
}

/// Whether something was taken out of this event for good, by a redaction or a vacuum: a mark stands in its place.
fn was_erased(event: &Event) -> Result<bool, EventError> {
    let encoded = encode(event)?;
    // Numbered marks have their number before the bracket.
    let marks = [REDACTED.trim_end_matches(']').as_bytes(), REMOVED.as_bytes()];
    Ok(marks.iter().any(|mark| encoded.windows(mark.len()).any(|bytes| bytes == *mark)))
}
