//! The report of a reading, put together.

use std::collections::HashMap;

use super::compaction::Compactions;
use super::context::Context;
use super::file::File;
use super::graph::Graph;
use super::live::Live;
use super::meta::Folded;
use super::record::{Record, Type};
use super::report::{ChainRecord, ClaudeReport, HungRecord, code};

pub(super) fn sum_up(
    file: &mut File,
    graph: &Graph,
    compactions: &Compactions,
    folded: &Folded,
    live: &Live,
    context: &Context,
    leaf: Option<usize>,
) -> ClaudeReport {
    let diverges = recorded_leaf_diverges(file, graph, folded, live, leaf);
    if diverges {
        let text = "the leaf that the program wrote down lies on another branch".to_owned();
        file.warn(code::RECORDED_LEAF_DIVERGES, 0, text);
    }
    let warnings = std::mem::take(&mut file.warnings);
    let file = &*file;
    let id = |index: usize| file.records[index].uuid.clone();
    let ids = |indexes: &[usize]| -> Vec<String> { indexes.iter().map(|&index| id(index)).collect() };
    let (start, boundary) = live.context_start(file, compactions);
    let counts = boundary.and_then(|boundary| compactions.of.get(&boundary).copied());
    let kept: Vec<usize> = (start..live.chain.len())
        .filter(|&place| counts.is_some() && live.kept_by[place] == counts)
        .map(|place| live.chain[place])
        .collect();
    let orphans: Vec<usize> =
        live.chain.iter().copied().filter(|index| graph.lost.binary_search(index).is_ok()).collect();
    let texts: Vec<&str> = context.order.iter().flat_map(|&index| file.records[index].texts()).collect();
    let mut spoken = texts.iter().filter(|text| !text.is_empty()).map(|text| (*text).to_owned());
    let messages = || file.records.iter().filter(|record| record.is_message());
    ClaudeReport {
        records: file.objects,
        bad_lines: file.bad.iter().map(|bad| bad.line).collect(),
        bad_line_details: file.bad.clone(),
        salvaged: file.salvaged.clone(),
        transcript_records: file.records.len(),
        messages: messages().count(),
        sidechain_messages: messages().filter(|record| record.sidechain).count(),
        metadata_records: file.metadata.clone(),
        leaf: leaf.map(id),
        recorded_leaf: folded.recorded_leaf.clone(),
        recorded_leaf_diverges: diverges,
        cleared: folded.cleared_at.is_some(),
        orphan_roots: ids(&orphans),
        hung_on: hung_on(file, graph),
        live_chain: live.chain.iter().map(|&index| chain_record(&file.records[index])).collect(),
        kept_by_compaction: ids(&kept),
        recovered: ids(&context.recovered),
        context_ids: ids(&context.order),
        assistant_api_messages: context.api_messages.clone(),
        tool_calls: context.tool_calls.clone(),
        compact_boundaries_all: file
            .records
            .iter()
            .filter(|record| record.is_boundary())
            .map(|r| r.uuid.clone())
            .collect(),
        compact_boundary_on_chain: boundary.map(id),
        context_first_text: spoken.next(),
        context_last_text: texts.iter().rev().find(|text| !text.is_empty()).map(|text| (*text).to_owned()),
        title: folded.title().map(str::to_owned),
        session_ids: file.sessions.clone(),
        output_tokens_counted_once: output_tokens(file),
        warnings,
    }
}

fn recorded_leaf_diverges(file: &File, graph: &Graph, folded: &Folded, live: &Live, leaf: Option<usize>) -> bool {
    let recorded = folded.recorded_leaf.as_deref().and_then(|recorded| file.by_id.get(recorded).copied());
    let Some((recorded, leaf)) = recorded.zip(leaf) else { return false };
    !graph.forest.is_above(leaf, recorded) && !graph.forest.is_above(recorded, leaf) && !live.chain.contains(&recorded)
}

fn hung_on(file: &File, graph: &Graph) -> Vec<HungRecord> {
    let messages = graph.messages_to_cut(file);
    let one = |&(record, on): &(usize, usize)| HungRecord {
        line: file.records[record].line,
        record: file.records[record].uuid.clone(),
        on: file.records[on].uuid.clone(),
        missing: file.records[record].parent.clone().unwrap_or_default(),
        messages_brought_back: messages[on],
    };
    graph.hung.iter().map(one).collect()
}

fn chain_record(record: &Record) -> ChainRecord {
    ChainRecord {
        id: record.uuid.clone(),
        record_type: record.text("type").unwrap_or_default().to_owned(),
        kinds: record.is_message().then(|| record.block_types()),
        subtype: (record.kind == Type::System).then(|| record.text("subtype")).flatten().map(str::to_owned),
    }
}

/// Each answer's records repeat its count, and the last has the whole of it.
fn output_tokens(file: &File) -> i64 {
    let mut of_answer: HashMap<&str, i64> = HashMap::new();
    let mut nameless = 0;
    let all = file.by_answer().map(|index| &file.records[index]);
    for record in all.filter(|record| record.kind == Type::Assistant && !record.sidechain) {
        let Some(tokens) = record.output_tokens() else { continue };
        match record.answer() {
            Some(id) => drop(of_answer.insert(id, tokens)),
            None => nameless += tokens,
        }
    }
    nameless + of_answer.values().sum::<i64>()
}
