//! Whether the store's own rule finds the leaf, or has to be told.

use std::collections::HashMap;

use super::compaction::Compactions;
use super::file::File;
use super::live::Live;
use super::plan::Plan;
use super::record::Type;
use crate::interop::forest::Forest;
use crate::interop::work::Work;

/// The leaf to write down at the end, if the store's rule gives another: nothing, or before the first message, or a
/// record. `live` is the conversation's chain; it is empty if that was cleared.
pub(super) fn head(
    file: &File,
    compactions: &Compactions,
    plan: &Plan,
    live: &Live,
    records: &[usize],
    work: &mut Work,
) -> Option<Option<usize>> {
    let found = follow(file, compactions, plan, records, work);
    let Some(&leaf) = live.chain.last() else { return found.leaf.map(|_| None) };
    // A kept message at the end means that nothing follows the compaction yet.
    let of = live.kept_by.last().copied().flatten().or_else(|| compactions.of.get(&leaf).copied());
    let leaf = of.map_or(leaf, |of| compactions.all[of].node());
    let leaf = plan.straight.on_the_line(leaf);
    if !plan.straight.takes_part[leaf] {
        return None;
    }
    // Attachments behind the last message stay on the line, as the program has them.
    let mut end = found.leaf;
    while let Some(index) = end.filter(|&index| index != leaf && file.records[index].kind == Type::Attachment) {
        end = plan.parent[index];
    }
    match found.leaf {
        Some(own) if end == Some(leaf) => found.in_doubt.then_some(Some(own)),
        _ => Some(Some(leaf)),
    }
}

struct Found {
    leaf: Option<usize>,
    /// A result came for a call from before a compaction: whether that call is on the chain, two readers may see
    /// differently.
    in_doubt: bool,
}

/// The store's rule: each later event that takes part becomes the leaf; a result only if its call is on the chain.
fn follow(file: &File, compactions: &Compactions, plan: &Plan, records: &[usize], work: &mut Work) -> Found {
    let parents: Vec<Option<usize>> = (0..file.records.len())
        .map(|index| plan.straight.takes_part[index].then(|| plan.parent[index]).flatten())
        .collect();
    let forest = Forest::new(&parents, work);
    let mut last_compaction: Vec<Option<usize>> = vec![None; parents.len()];
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut found = Found { leaf: None, in_doubt: false };
    for &index in records.iter().filter(|&&index| plan.straight.takes_part[index]) {
        work.step();
        let record = &file.records[index];
        let own = compactions.of.get(&index).copied();
        last_compaction[index] = own.or_else(|| parents[index].and_then(|parent| last_compaction[parent]));
        for call in &record.calls {
            calls.insert(call, index);
        }
        let Some(id) = record.results.first() else {
            found.leaf = Some(index);
            continue;
        };
        let Some((&call, leaf)) = calls.get(id.as_str()).zip(found.leaf) else { continue };
        if !forest.is_above(call, leaf) {
            continue;
        }
        found.leaf = Some(index);
        if let Some(of) = last_compaction[leaf] {
            let behind = forest.is_above(compactions.all[of].node(), call);
            found.in_doubt |= !behind && !plan.keep[of].contains(&call);
        }
    }
    found
}
