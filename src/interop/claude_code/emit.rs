//! The plan carried out: every record and every other item of the file as an event.

use std::collections::HashMap;

use super::compaction::Compactions;
use super::convert::{Around, convert, convert_compaction};
use super::file::{File, Item};
use super::meta::Folded;
use super::plan::{Plan, Step};
use super::record::{Record, Type};
use crate::event::{Extension, Value};
use crate::interop::limits::ID_LEN_MAX;
use crate::interop::{Incoming, IncomingBody, IncomingParent};

/// What names the events that are made of no transcript record.
const PREFIX: &str = "claude_code";

/// The events of a file, each with its line, in the order of the plan. `head` is the leaf that the store has to be
/// told, if any. Ids follow from what is said and where, so that a file that has grown gives the old events again.
pub(super) fn emit(
    mut file: File,
    compactions: &Compactions,
    plan: &Plan,
    folded: &Folded,
    head: Option<Option<usize>>,
) -> Vec<(u64, Incoming)> {
    let meta = folded.session_meta();
    let names = Names::new(&file, compactions);
    let times = Times::new(&file);
    let head = head.map(|leaf| (leaf, leaf.map_or(folded.cleared_at, |leaf| Some(file.records[leaf].line))));
    let counts = last_of_answers(&file);
    let mut results: HashMap<String, usize> = HashMap::new();
    let mut records: Vec<Option<Record>> = std::mem::take(&mut file.records).into_iter().map(Some).collect();
    let mut items: Vec<Option<Item>> = std::mem::take(&mut file.items).into_iter().map(Some).collect();
    let mut events = Vec::with_capacity(plan.steps.len() + 2);
    for &step in &plan.steps {
        let index = match step {
            Step::Item(number) => {
                events.extend(items[number].take().and_then(|item| extension(item, &times)));
                continue;
            }
            Step::Record(index) => index,
        };
        let parent = plan.parent[index].map(|parent| names.node[parent].as_str());
        let record = records[index].take().expect("each record is one step");
        let line = record.line;
        let around =
            Around { session: file.session.as_deref(), agents_own: file.agents_own, counts: counts[index], parent };
        for result in &record.results {
            results.insert(result.clone(), index);
        }
        let pruned: Vec<usize> = pruned(&record).filter_map(|call| results.get(call).copied()).collect();
        let parent = parent.map_or(IncomingParent::Root, |parent| IncomingParent::Id(parent.to_owned()));
        let id = Some(names.node[index].clone());
        if let Some(&of) = compactions.of.get(&index) {
            let compaction = &compactions.all[of];
            let (boundary, summary) = match compaction.boundary {
                Some(_) => (Some(record), records[compaction.summary].take().expect("a summary is no step of its own")),
                None => (None, record),
            };
            let converted = convert_compaction(boundary, summary, around);
            let body = IncomingBody::Compaction {
                summary_id: Some(names.own[compaction.summary].clone()),
                summary_original_id: None,
                summary_at: converted.summary_at,
                summary_off_chain: false,
                summary: Box::new(converted.summary),
                keep: plan.keep[of].iter().map(|&kept| names.node[kept].clone()).collect(),
                trigger: converted.trigger,
                boundary_extra: converted.boundary,
            };
            events.push((line, Incoming { id, parent, at: converted.at.or(times.at(line)), ..Incoming::new(body) }));
            continue;
        }
        let (at, message) = convert(record, around);
        let at = at.or(times.at(line));
        let body = IncomingBody::Message(Box::new(message));
        events.push((line, Incoming { id, parent, at, ..Incoming::new(body) }));
        if !pruned.is_empty() {
            let targets = pruned.iter().map(|&target| names.own[target].clone()).collect();
            let id = Some(format!("{}.prune", names.own[index]));
            events.push((line, Incoming { id, at, ..Incoming::new(IncomingBody::Prune { targets }) }));
        }
    }
    events.extend(meta.map(|(line, meta)| {
        let id = Some(format!("{PREFIX}.meta:L{line}"));
        (line, Incoming { id, at: times.at(line), ..Incoming::new(IncomingBody::SessionMeta(meta)) })
    }));
    events.extend(head.map(|(leaf, line)| {
        let (leaf, line) = (leaf.map(|leaf| names.leaf[leaf].clone()), line.unwrap_or(0));
        let id = Some(format!("{PREFIX}.head:{}", leaf.clone().unwrap_or_else(|| format!("L{line}"))));
        (line, Incoming { id, at: times.at(line), ..Incoming::new(IncomingBody::Head { leaf }) })
    }));
    events
}

/// How each record is named in events.
struct Names {
    /// By its own id.
    own: Vec<String>,
    /// As a parent: a compaction's boundary stands for its summary too.
    node: Vec<String>,
    /// As a leaf: a compaction's summary.
    leaf: Vec<String>,
}

impl Names {
    fn new(file: &File, compactions: &Compactions) -> Self {
        let own: Vec<String> = file.records.iter().map(|record| record.uuid.clone()).collect();
        let (mut node, mut leaf) = (own.clone(), own.clone());
        for (&index, &of) in &compactions.of {
            let compaction = &compactions.all[of];
            node[index] = match compaction.boundary {
                Some(boundary) => own[boundary].clone(),
                None => format!("{}.boundary", own[compaction.summary]),
            };
            leaf[index].clone_from(&own[compaction.summary]);
        }
        Self { own, node, leaf }
    }
}

/// For each record whether it is the last of its answer, so that what the answer cost is counted once.
fn last_of_answers(file: &File) -> Vec<bool> {
    let mut last: HashMap<&str, usize> = HashMap::new();
    let mut counts = vec![true; file.records.len()];
    for index in file.by_answer() {
        if let Some(id) = file.records[index].answer()
            && let Some(before) = last.insert(id, index)
        {
            counts[before] = false;
        }
    }
    counts
}

/// The calls whose results a light compaction left out from then on.
fn pruned(record: &Record) -> impl Iterator<Item = &str> {
    let is_one = record.kind == Type::System && record.text("subtype") == Some("microcompact_boundary");
    let metadata = is_one.then(|| record.get("microcompactMetadata")).flatten();
    let ids = metadata.and_then(|metadata| metadata.get("compactedToolIds")).and_then(Value::as_list);
    ids.unwrap_or_default().iter().filter_map(Value::as_text)
}

/// When what has no time of its own happened: as late as the last thing before it in the file that has one.
struct Times(Vec<(u64, i64)>);

impl Times {
    fn new(file: &File) -> Self {
        let time = |text: Option<&str>| text.and_then(crate::interop::time::micros);
        let timed = file.items.iter().filter_map(|item| match item {
            Item::Record(index) => {
                let record = &file.records[*index];
                Some((record.line, time(record.text("timestamp"))?))
            }
            Item::Metadata { line, value, .. } => Some((*line, time(value.get("timestamp").and_then(Value::as_text))?)),
            Item::Unplaced { .. } => None,
        });
        Self(timed.collect())
    }

    fn at(&self, line: u64) -> Option<i64> {
        let before = self.0.partition_point(|(timed, _)| *timed <= line);
        before.checked_sub(1).map(|last| self.0[last].1)
    }
}

/// A metadata record, or what could not be read, kept as it is.
fn extension(item: Item, times: &Times) -> Option<(u64, Incoming)> {
    let (line, id, name, payload) = match item {
        Item::Record(_) => return None,
        Item::Metadata { line, place, value } => {
            let text = |name: &str| value.get(name).and_then(Value::as_text);
            let name = format!("{PREFIX}.{}", text("type").unwrap_or("untyped"));
            (line, text("uuid").filter(|id| id.len() <= ID_LEN_MAX).map_or(place, str::to_owned), name, value)
        }
        Item::Unplaced { line, place, value } => (line, place, format!("{PREFIX}.unplaced"), value),
    };
    let at =
        payload.get("timestamp").and_then(Value::as_text).and_then(crate::interop::time::micros).or(times.at(line));
    let body = IncomingBody::Extension(Extension { name, payload });
    Some((line, Incoming { id: Some(id), at, ..Incoming::new(body) }))
}
