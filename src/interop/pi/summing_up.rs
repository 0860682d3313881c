//! The report of a reading, put together.

use std::collections::{BTreeMap, HashSet};

use super::context::{Context, Replacement, replacement};
use super::convert::is_usable;
use super::entry::{Named, Type};
use super::file::{File, Item};
use super::meta::{name_of, parent_session};
use super::report::{ChainEntry, ContextEntry, HungEntry, PiReport, code};
use super::tree::Tree;
use crate::event::Value;

pub(super) fn sum_up(file: &mut File, tree: &Tree, context: &Context, answered: &HashSet<String>) -> PiReport {
    warn(file, tree);
    let warnings = std::mem::take(&mut file.warnings);
    let file = &*file;
    let id = |index: usize| file.entries[index].id.clone();
    let leaf = context.path.last().copied();
    let mut entry_types: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &file.entries {
        *entry_types.entry(entry.entry_type().to_owned()).or_default() += 1;
    }
    let order: HashSet<usize> = context.order.iter().copied().collect();
    let edited_so = |nothing: bool| -> Vec<String> {
        let is_so = |edit: usize| (replacement(&file.entries[edit]) == Replacement::None) == nothing;
        let shown = context.path.iter().filter(|index| nothing || order.contains(index));
        let edited = shown.filter(|index| context.edits.get(index).is_some_and(|&edit| is_so(edit)));
        edited.map(|&index| id(index)).collect()
    };
    PiReport {
        records: file.objects,
        bad_lines: file.bad.iter().map(|bad| bad.line).collect(),
        bad_line_details: file.bad.clone(),
        salvaged: file.salvaged.clone(),
        version: file.version(),
        session_id: file.header_text("id").map(str::to_owned),
        parent_session: file
            .header
            .as_ref()
            .and_then(|(_, fields)| parent_session(fields))
            .and_then(Value::as_text)
            .map(str::to_owned),
        entries: file.entries.len(),
        messages: file.entries.iter().filter(|entry| entry.is_message()).count(),
        entry_types,
        unknown_types: file.unknown.clone(),
        leaf: leaf.map(id),
        orphan_roots: context
            .path
            .iter()
            .filter(|index| tree.lost.binary_search(index).is_ok())
            .map(|&index| id(index))
            .collect(),
        hung_on: tree.hung.iter().map(|&(entry, on)| hung(file, entry, on)).collect(),
        live_chain: context.path.iter().map(|&index| chain_entry(file, index)).collect(),
        context: context.order.iter().map(|&index| context_entry(file, index)).collect(),
        unusable_turns: context
            .order
            .iter()
            // An edit puts something in its place.
            .filter(|&&index| !is_usable(&file.entries[index], answered) && !context.edits.contains_key(&index))
            .map(|&index| id(index))
            .collect(),
        edited: edited_so(false),
        omitted: edited_so(true),
        tool_calls: context.tool_calls.clone(),
        compact_boundaries_all: (0..file.entries.len())
            .filter(|&index| file.entries[index].kind == Type::Compaction)
            .map(id)
            .collect(),
        compact_boundary_live: context.compaction.map(id),
        thinking_level: tree.thinking_at(file, leaf).to_owned(),
        model: tree.model_at(file, leaf).map(|(provider, model)| (provider.to_owned(), model.to_owned())),
        labels: labels(file),
        name: file.entries.iter().rev().find_map(name_of).map(str::to_owned),
        context_first_text: context.first_text.clone(),
        context_last_text: context.last_text.clone(),
        warnings,
    }
}

fn hung(file: &File, entry: usize, on: usize) -> HungEntry {
    let missing = match &file.entries[entry].parent {
        Named::Id(id) => id.clone(),
        Named::Root | Named::Nothing => String::new(),
    };
    HungEntry {
        line: file.entries[entry].line,
        entry: file.entries[entry].id.clone(),
        on: file.entries[on].id.clone(),
        missing,
    }
}

fn chain_entry(file: &File, index: usize) -> ChainEntry {
    let entry = &file.entries[index];
    ChainEntry {
        id: entry.id.clone(),
        entry_type: entry.entry_type().to_owned(),
        role: entry.role().map(str::to_owned),
    }
}

fn context_entry(file: &File, index: usize) -> ContextEntry {
    let entry = &file.entries[index];
    ContextEntry { id: entry.id.clone(), kind: entry.role().unwrap_or(entry.entry_type()).to_owned() }
}

/// The labels that hold, the last word on each entry.
fn labels(file: &File) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for item in &file.items {
        let (Item::Entry(index) | Item::Again(index, _)) = item else { continue };
        let entry = &file.entries[*index];
        let Some(target) = (entry.entry_type() == "label").then(|| entry.text("targetId")).flatten() else { continue };
        match entry.text("label").filter(|label| !label.is_empty()) {
            Some(label) => drop(labels.insert(target.to_owned(), label.to_owned())),
            None => drop(labels.remove(target)),
        }
    }
    labels
}

/// Warns of what the context may be another for than the program's.
fn warn(file: &mut File, tree: &Tree) {
    for index in 0..file.entries.len() {
        let entry = &file.entries[index];
        let mut told: Vec<(&'static str, String)> = Vec::new();
        if entry.kind == Type::Compaction {
            let first = tree.first_kept(file, index);
            let names = entry.get("firstKeptEntryId").or_else(|| entry.get("firstKeptEntryIndex"));
            let is_own = entry.text("firstKeptEntryId") == Some(&entry.id);
            if first.is_none() && names.is_some() && !is_own {
                told.push((
                    code::NOT_KEPT,
                    format!("compaction {} names no entry above it: it keeps nothing", entry.id),
                ));
            }
            if entry.get("retainedTail").is_some() {
                told.push((code::CONTEXT_MAY_DIFFER, "`retainedTail` is kept and not followed".to_owned()));
            }
            if entry.summary().is_none_or(|summary| summary.trim().is_empty()) {
                told.push((code::EMPTY_SUMMARY, format!("compaction {} has no summary", entry.id)));
            }
            let older = tree.link[index].and_then(|above| tree.compaction[above]);
            if let Some((older, first)) = older.zip(first)
                && first != older
                && tree.forest.is_above(first, older)
            {
                let text = "it keeps entries from before an older compaction, whose summary newer versions show too";
                told.push((code::CONTEXT_MAY_DIFFER, text.to_owned()));
            }
        }
        if entry.kind == Type::System {
            let sections = entry.in_message("sections").and_then(Value::as_map).unwrap_or_default();
            let gone = sections.iter().filter(|(_, text)| *text == Value::Null).count();
            if gone > 0 {
                told.push((code::CONTEXT_MAY_DIFFER, format!("{gone} sections of the system's prompt are taken back")));
            }
        }
        let line = entry.line;
        for (code, text) in told {
            file.warn(code, line, text);
        }
    }
}
