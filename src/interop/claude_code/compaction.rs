//! Compactions: a boundary, its summary, and what it kept.

use std::collections::HashMap;

use super::file::File;
use super::graph::Graph;
use super::record::{Record, Type};
use super::report::code;
use crate::event::Value;

/// So many records that are no messages may stand between a boundary and its summary.
const TO_BOUNDARY_MAX: usize = 16;

/// A compaction.
#[derive(Debug)]
pub(super) struct Compaction {
    /// Its boundary; versions before 2.0 wrote none.
    pub(super) boundary: Option<usize>,
    pub(super) summary: usize,
    /// Messages from before it that go on behind the anchor, in order. Empty where the file shows them there already.
    pub(super) kept: Vec<usize>,
    /// What they go on behind: mostly the summary.
    pub(super) anchor: usize,
}

impl Compaction {
    /// The record that stands for the whole.
    pub(super) fn node(&self) -> usize {
        self.boundary.unwrap_or(self.summary)
    }
}

/// All compactions of a file, in file order of their summaries.
#[derive(Debug, Default)]
pub(super) struct Compactions {
    pub(super) all: Vec<Compaction>,
    /// The compaction that a boundary or a summary belongs to.
    pub(super) of: HashMap<usize, usize>,
    /// Where a record is kept: compaction and place in its list.
    kept_in: HashMap<usize, Vec<(usize, usize)>>,
    /// The last compaction whose kept messages go on behind this record.
    anchored: HashMap<usize, usize>,
}

impl Compactions {
    pub(super) fn find(file: &mut File, graph: &Graph) -> Self {
        let mut found = Self::default();
        for summary in 0..file.records.len() {
            // A sub-agent's compaction is none of the main line's.
            let record = &file.records[summary];
            if !record.is_summary || (record.sidechain && !file.agents_own) {
                continue;
            }
            let boundary = boundary_of(file, graph, summary).filter(|boundary| !found.of.contains_key(boundary));
            let starts_anew = graph.link[summary].is_none() || graph.lost.binary_search(&summary).is_ok();
            if (boundary.is_none() && !starts_anew) || is_blank(&file.records[summary]) {
                continue;
            }
            let compaction = found.all.len();
            found.of.insert(summary, compaction);
            if let Some(boundary) = boundary {
                found.of.insert(boundary, compaction);
            }
            let (kept, anchor) = boundary.map_or((Vec::new(), summary), |boundary| {
                let segment = Segment::of(file, boundary, summary);
                let kept = segment.kept(file, graph, boundary);
                (kept, segment.anchor)
            });
            for (place, &record) in kept.iter().enumerate() {
                found.kept_in.entry(record).or_default().push((compaction, place));
            }
            if !kept.is_empty() {
                found.anchored.insert(anchor, compaction);
            }
            found.all.push(Compaction { boundary, summary, kept, anchor });
        }
        for index in 0..file.records.len() {
            if file.records[index].is_boundary() && !found.of.contains_key(&index) {
                let record = &file.records[index];
                let (line, text) = (record.line, format!("boundary {} has no summary", record.uuid));
                file.warn(code::BOUNDARY_WITHOUT_SUMMARY, line, text);
            }
        }
        found
    }

    /// Where `record` is kept by this compaction.
    pub(super) fn place_in(&self, record: usize, compaction: usize) -> Option<usize> {
        let places = self.kept_in.get(&record)?;
        places.iter().find(|(of, _)| *of == compaction).map(|(_, place)| *place)
    }

    /// The compactions that keep `record`, the last first.
    pub(super) fn keeping(&self, record: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.kept_in.get(&record).into_iter().flatten().rev().copied()
    }

    /// The compaction whose kept messages stand between `parent` and `child`, and how many of them: all, if the child
    /// hangs on the anchor or on the last of them, fewer if it goes on from the middle. What hung on a kept message
    /// before the compaction hangs there still.
    pub(super) fn between(&self, parent: usize, child: usize) -> Option<(usize, usize)> {
        let kept_of_it = |compaction: usize| self.place_in(child, compaction).is_some();
        let behind = |compaction: usize| self.all[compaction].node() < child;
        if let Some((compaction, place)) = self.keeping(parent).find(|&(of, _)| behind(of) && !kept_of_it(of)) {
            return Some((compaction, place + 1));
        }
        let compaction = self.anchored.get(&parent).copied().filter(|&compaction| !kept_of_it(compaction))?;
        Some((compaction, self.all[compaction].kept.len()))
    }

    /// The compaction whose kept messages follow this record at once.
    pub(super) fn anchored_at(&self, record: usize) -> Option<usize> {
        self.anchored.get(&record).copied()
    }
}

/// The boundary that a summary hangs on, other records but messages between them.
fn boundary_of(file: &File, graph: &Graph, summary: usize) -> Option<usize> {
    let mut at = graph.link[summary];
    for _ in 0..TO_BOUNDARY_MAX {
        let index = at?;
        let record = &file.records[index];
        if record.is_boundary() {
            return Some(index);
        }
        if record.is_message() {
            return None;
        }
        at = graph.link[index];
    }
    None
}

/// What a boundary says about the messages that it kept.
struct Segment {
    anchor: usize,
    listed: Option<Vec<String>>,
    head: Option<String>,
    tail: Option<String>,
    /// Names in it that the file does not have.
    unknown: Vec<String>,
}

impl Segment {
    fn of(file: &File, boundary: usize, summary: usize) -> Self {
        let metadata = file.records[boundary].get("compactMetadata");
        let segment = metadata.and_then(|metadata| metadata.get("preservedSegment"));
        let messages = metadata.and_then(|metadata| metadata.get("preservedMessages"));
        let text =
            |of: Option<&Value>, name| of.and_then(|of| of.get(name)).and_then(Value::as_text).map(str::to_owned);
        let list = |name| -> Option<Vec<String>> {
            let items = messages?.get(name)?.as_list()?;
            Some(items.iter().filter_map(Value::as_text).map(str::to_owned).collect())
        };
        let named = text(messages, "anchorUuid").or_else(|| text(segment, "anchorUuid"));
        let known = named.as_deref().and_then(|named| file.by_id.get(named).copied());
        let mut unknown = Vec::new();
        if known.is_none() {
            unknown.extend(named);
        }
        Self {
            anchor: known.filter(|&anchor| anchor != boundary).unwrap_or(summary),
            // The longer list holds messages that were not kept: only in want of the other.
            listed: list("uuids").or_else(|| list("allUuids")),
            head: text(segment, "headUuid"),
            tail: text(segment, "tailUuid"),
            unknown,
        }
    }

    /// The kept messages in order; none if the file shows them behind the boundary as it is.
    fn kept(&self, file: &mut File, graph: &Graph, boundary: usize) -> Vec<usize> {
        let mut unknown = self.unknown.clone();
        let kept = match &self.listed {
            Some(names) => {
                let mut kept: Vec<usize> = Vec::new();
                for name in names {
                    match file.by_id.get(name) {
                        Some(&index) => kept.push(index),
                        None => unknown.push(name.clone()),
                    }
                }
                let mut seen = std::collections::HashSet::new();
                kept.retain(|&index| seen.insert(index) && index != boundary && index != self.anchor);
                kept
            }
            None => match self.walk(file, graph) {
                Ok(kept) => kept,
                Err(name) => {
                    unknown.extend(name);
                    Vec::new()
                }
            },
        };
        for name in unknown {
            let line = file.records[boundary].line;
            file.warn(code::PRESERVED_SEGMENT, line, format!("kept message {name} is not where the boundary says"));
        }
        let all_below = kept.iter().all(|&index| graph.forest.is_above(boundary, index));
        if all_below || kept.is_empty() {
            return Vec::new();
        }
        if self.has_copies(file, graph, kept[0]) {
            let line = file.records[boundary].line;
            let text = "the kept messages stand behind the boundary as copies under new ids".to_owned();
            file.warn(code::PRESERVED_SEGMENT, line, text);
            return Vec::new();
        }
        kept
    }

    /// From tail up to head; if it is not reached, the name that led nowhere.
    fn walk(&self, file: &File, graph: &Graph) -> Result<Vec<usize>, Option<String>> {
        let (Some(head), Some(tail)) = (&self.head, &self.tail) else { return Err(None) };
        let first = *file.by_id.get(head).ok_or_else(|| Some(head.clone()))?;
        let last = *file.by_id.get(tail).ok_or_else(|| Some(tail.clone()))?;
        if !graph.forest.is_above(first, last) {
            return Err(Some(head.clone()));
        }
        let mut kept = vec![last];
        let mut at = last;
        while at != first {
            at = graph.link[at].expect("the head is above the tail");
            kept.push(at);
        }
        kept.reverse();
        Ok(kept)
    }

    /// Whether what hangs on the anchor first is the first kept message again, with its old instant, under a new id.
    fn has_copies(&self, file: &File, graph: &Graph, first: usize) -> bool {
        let kept = &file.records[first];
        let Some(copy) = graph.forest.first_child[self.anchor].map(|index| &file.records[index]) else { return false };
        let same = |name| kept.get(name) == copy.get(name);
        copy.uuid != kept.uuid && kept.get("message").is_some() && same("type") && same("timestamp") && same("message")
    }
}

/// Whether a summary holds no word: nothing then stands for what a boundary cut off.
fn is_blank(record: &Record) -> bool {
    record.kind != Type::User || record.texts().iter().all(|text| text.trim().is_empty())
}
