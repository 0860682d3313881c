//! What compactions kept, as the program reads it.
//!
//! Once a boundary in the file names kept messages, the program (2.1.197) takes the last boundary of the file for the one that
//! counts, wherever the conversation stands: of all before it only what it kept is left. So the boundary that counts comes last, and
//! later ones, on other branches, keep nothing. If it does not find one of the kept messages, it takes none.

use std::collections::HashMap;

use super::Writer;
use crate::event::{Uuid, Value};
use crate::interop::leaving_told::{Told, lost};

/// The fields under which a boundary names what it keeps.
pub(super) const KEPT: [&str; 2] = ["preservedMessages", "preservedSegment"];

impl Writer<'_, '_> {
    /// Brings the records into an order, and the boundaries to a form, in which the program finds the leaf's compaction.
    pub(super) fn settle_compactions(&mut self, told: &mut Told) {
        if !self.records.iter().any(|record| is_boundary(record) && keeps(record)) {
            return;
        }
        let roots = self.roots();
        let leaf = self.leaf.clone().flatten();
        let at_leaf = leaf.and_then(|leaf| self.records.iter().position(|record| text(record, "uuid") == Some(&leaf)));
        let root = at_leaf.map(|leaf| roots[leaf]).filter(|&root| is_boundary(&self.records[root]));
        let last = self.records.iter().rposition(is_boundary);
        match root {
            Some(root) if Some(root) == last => {}
            Some(root) if keeps(&self.records[root]) => {
                self.keep_nothing(root + 1, told);
                let all = std::mem::take(&mut self.records).into_iter().zip(roots);
                let (behind, others): (Vec<_>, Vec<_>) = all.partition(|&(_, of)| of == root);
                self.records = others.into_iter().chain(behind).map(|(record, _)| record).collect();
            }
            _ => self.keep_nothing(0, told),
        }
    }

    /// The boundaries of other branches, from here on.
    fn keep_nothing(&mut self, from: usize, told: &mut Told) {
        for record in self.records[from..].iter_mut().filter(|record| is_boundary(record) && keeps(record)) {
            let id = text(record, "uuid").and_then(|uuid| self.names.iter().position(|name| name == uuid));
            told.note(lost::KEPT_ASIDE, id.map_or(Uuid::nil(), |index| self.source.event(index).id));
            let Value::Map(fields) = record else { continue };
            if let Some((_, Value::Map(metadata))) = fields.iter_mut().find(|(name, _)| name == "compactMetadata") {
                metadata.retain(|(name, _)| !KEPT.contains(&name.as_str()));
            }
        }
    }

    /// For each record the one at the end of its way up; of one that hangs on nothing it is the record itself.
    fn roots(&self) -> Vec<usize> {
        let ids = self.records.iter().enumerate().filter_map(|(at, record)| Some((text(record, "uuid")?, at)));
        let by_id: HashMap<&str, usize> = ids.collect();
        let parent = |at: usize| by_id.get(text(&self.records[at], "parentUuid")?).copied();
        let mut roots: Vec<Option<usize>> = vec![None; self.records.len()];
        for start in 0..self.records.len() {
            let mut way = Vec::new();
            let mut at = start;
            // Each record is on one way only, so that a ring ends it too.
            while roots[at].is_none() {
                roots[at] = Some(at);
                way.push(at);
                let Some(above) = parent(at) else { break };
                at = above;
            }
            let root = roots[at].unwrap_or(at);
            way.into_iter().for_each(|at| roots[at] = Some(root));
        }
        roots.into_iter().enumerate().map(|(at, root)| root.unwrap_or(at)).collect()
    }
}

fn is_boundary(record: &Value) -> bool {
    text(record, "subtype") == Some("compact_boundary")
}

fn keeps(record: &Value) -> bool {
    let names = |metadata: &Value| KEPT.iter().any(|name| metadata.get(name).is_some_and(|kept| *kept != Value::Null));
    record.get("compactMetadata").is_some_and(names)
}

fn text<'v>(record: &'v Value, name: &str) -> Option<&'v str> {
    record.get(name).and_then(Value::as_text)
}
