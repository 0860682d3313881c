//! What the model sees, by the format's rules: the path to the leaf, cut by its last compaction, with its edits.

use std::collections::HashMap;

use super::entry::{Entry, Type, texts};
use super::file::File;
use super::tree::Tree;
use crate::event::Value;
use crate::interop::found::ToolCalls;
use crate::interop::work::Work;

/// The path to the leaf, and what the model sees of it.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// From root to leaf.
    pub(super) path: Vec<usize>,
    /// The compaction that counts.
    pub(super) compaction: Option<usize>,
    /// What the model sees, in order.
    pub(super) order: Vec<usize>,
    /// The last edit of each entry of the path.
    pub(super) edits: HashMap<usize, usize>,
    pub(super) tool_calls: ToolCalls,
    pub(super) first_text: Option<String>,
    pub(super) last_text: Option<String>,
}

impl Context {
    pub(super) fn new(file: &File, tree: &Tree, leaf: Option<usize>, work: &mut Work) -> Self {
        let Some(leaf) = leaf else { return Self::default() };
        let path = tree.path(leaf, work);
        let compaction = tree.compaction[leaf];
        let edits = edits(file, tree, leaf, work);
        let omitted =
            |index: usize| edits.get(&index).is_some_and(|&edit| replacement(&file.entries[edit]) == Replacement::None);
        let shown = |index: &usize| file.entries[*index].is_for_the_model() && !omitted(*index);
        let order: Vec<usize> = match compaction {
            None => path.iter().copied().filter(shown).collect(),
            Some(compaction) => {
                let kept = kept(file, tree, compaction, &path);
                let behind = path.iter().copied().skip_while(|&index| index != compaction).skip(1);
                std::iter::once(compaction).chain(kept).chain(behind).filter(shown).collect()
            }
        };
        let mut context = Self { path, compaction, order, edits, ..Self::default() };
        context.pair(file);
        context.read_texts(file);
        context
    }

    /// Each result belongs to the nearest call of its id before it that has none.
    fn pair(&mut self, file: &File) {
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut calls: Vec<(&str, bool)> = Vec::new();
        for &index in &self.order {
            let entry = &file.entries[index];
            for call in &entry.calls {
                open.entry(call).or_default().push(calls.len());
                calls.push((call, false));
            }
            let Some(result) = &entry.result else { continue };
            match open.get_mut(result.as_str()).and_then(Vec::pop) {
                Some(call) => calls[call].1 = true,
                None => self.tool_calls.orphan_results.push(result.clone()),
            }
        }
        self.tool_calls.paired = calls.iter().filter(|(_, answered)| *answered).count();
        let unpaired = calls.iter().filter(|(_, answered)| !answered);
        self.tool_calls.unpaired = unpaired.map(|(call, _)| (*call).to_owned()).collect();
    }

    fn read_texts(&mut self, file: &File) {
        let of = |index: &usize| match self.edits.get(index).map(|&edit| replacement(&file.entries[edit])) {
            Some(Replacement::Content(content)) => texts(Some(content)),
            _ => file.entries[*index].texts(),
        };
        let first = self.order.iter().find_map(|index| of(index).into_iter().find(|text| !text.is_empty()));
        let last = self.order.iter().rev().find_map(|index| of(index).into_iter().rev().find(|text| !text.is_empty()));
        (self.first_text, self.last_text) = (first.map(str::to_owned), last.map(str::to_owned));
    }
}

/// What a compaction keeps of the path to it: neither an older compaction nor what was said of the system's prompt.
fn kept(file: &File, tree: &Tree, compaction: usize, path: &[usize]) -> Vec<usize> {
    let Some(first) = tree.first_kept(file, compaction) else { return Vec::new() };
    let from = path.iter().copied().skip_while(|&index| index != first);
    from.take_while(|&index| index != compaction).filter(|&index| can_be_kept(&file.entries[index])).collect()
}

/// Whether a compaction can keep the entry.
pub(super) fn can_be_kept(entry: &Entry) -> bool {
    entry.takes_part() && !matches!(entry.kind, Type::Compaction | Type::System)
}

/// The last edit of each entry on the path to this leaf.
fn edits(file: &File, tree: &Tree, leaf: usize, work: &mut Work) -> HashMap<usize, usize> {
    let mut edits = HashMap::new();
    let mut at = tree.edit[leaf];
    while let Some(edit) = at {
        work.step();
        if let Some(target) = target_of(file, tree, edit) {
            edits.entry(target).or_insert(edit);
        }
        at = tree.link[edit].and_then(|above| tree.edit[above]);
    }
    edits
}

/// The entry that an edit changes: one above it that has a content.
pub(super) fn target_of(file: &File, tree: &Tree, edit: usize) -> Option<usize> {
    file.entries[edit].replacement()?;
    let named = || file.by_id.get(file.entries[edit].text("targetId")?).copied();
    let target = file.entries[edit].names.or_else(named)?;
    let has_content =
        matches!(file.entries[target].kind, Type::User | Type::Assistant | Type::ToolResult | Type::Custom);
    (has_content && tree.forest.is_above(target, edit)).then_some(target)
}

/// What an edit puts in the place of a content.
#[derive(Debug, PartialEq)]
pub(super) enum Replacement<'a> {
    /// Nothing: the entry is not in the context.
    None,
    /// This content.
    Content(&'a Value),
}

pub(super) fn replacement(edit: &Entry) -> Replacement<'_> {
    match edit.replacement() {
        Some(content @ (Value::Text(_) | Value::List(_))) => Replacement::Content(content),
        _ => Replacement::None,
    }
}
