//! The report of a reading, put together.

use std::collections::HashMap;

use super::file::File;
use super::history::Node;
use super::item::Family;
use super::report::{CodexReport, ContextItem};
use super::walk::Walk;
use crate::event::{Message, Part};
use crate::interop::IncomingBody;
use crate::interop::found::ToolCalls;

pub(super) fn sum_up(file: &File, walk: &mut Walk) -> CodexReport {
    let warnings = std::mem::take(&mut walk.warnings);
    let walk = &*walk;
    let context = walk.history.context();
    let message = |node: &Node| match walk.events.get(node.event) {
        Some((_, event)) => match &event.body {
            IncomingBody::Message(message) => Some(&**message),
            IncomingBody::Compaction { summary, .. } if node.is_summary => Some(&**summary),
            _ => None,
        },
        None => None,
    };
    let first = context.iter().filter_map(|(node, _)| message(node)).find_map(|message| texts(message).next());
    let last = context.iter().rev().filter_map(|(node, _)| message(node)).find_map(|message| texts(message).last());
    let item =
        |(node, id): &(&Node, String)| ContextItem { id: id.clone(), kind: node.kind.clone(), role: node.role.clone() };
    CodexReport {
        records: file.objects,
        bad_lines: file.bad.iter().map(|bad| bad.line).collect(),
        bad_line_details: file.bad.clone(),
        salvaged: file.salvaged.clone(),
        session_id: walk.folded.id.clone(),
        session_metas: walk.folded.count,
        forked_from: walk.folded.forked_from.clone(),
        parent_thread: walk.folded.parent.clone(),
        kinds: walk.kinds.clone(),
        unknown_types: walk.unknown.clone(),
        messages: walk.kinds.get("response_item/message").copied().unwrap_or_default(),
        leaf: context.last().map(|(_, id)| id.clone()),
        context: context.iter().map(item).collect(),
        tool_calls: tool_calls(&context),
        compact_boundaries_all: walk.compactions.clone(),
        compact_boundary_live: walk.history.base().map(|base| base.id.clone()).into_iter().collect(),
        context_first_text: first.map(str::to_owned),
        context_last_text: last.map(str::to_owned),
        title: walk.folded.title().map(str::to_owned),
        rollbacks: walk.rollbacks.clone(),
        usage: walk.usage.sum,
        warnings,
    }
}

/// The texts of a message that are not empty; of calls, outputs and reasoning none.
fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(Part::as_text).filter(|text| !text.is_empty())
}

/// Each output answers the first call before it of its id and family that has none.
fn tool_calls(context: &[(&Node, String)]) -> ToolCalls {
    let mut found = ToolCalls::default();
    let mut open: HashMap<(Family, &str), Vec<usize>> = HashMap::new();
    let mut calls: Vec<(&str, bool)> = Vec::new();
    for (node, _) in context {
        if let Some((family, id)) = &node.call {
            open.entry((*family, id)).or_default().push(calls.len());
            calls.push((id, false));
        }
        if let Some((family, id)) = &node.output {
            match open.get_mut(&(*family, id.as_str())).and_then(Vec::pop) {
                Some(call) => calls[call].1 = true,
                None => found.orphan_results.push(id.clone()),
            }
        }
    }
    found.paired = calls.iter().filter(|(_, is_answered)| *is_answered).count();
    found.unpaired = calls.iter().filter(|(_, is_answered)| !is_answered).map(|(id, _)| (*id).to_owned()).collect();
    found
}
