//! The Claude Code reader on small files: parents, leaves, compactions, parallel calls.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/claude.rs"]
mod claude;

use claude::{Transcript, id, long_transcript};
use seslog::event::{Kind, StopReason, Value};
use seslog::interop::claude_code::{ClaudeReport, Imported, Options, read};
use seslog::interop::{Incoming, IncomingBody, IncomingParent};

fn import(transcript: &Transcript) -> Imported {
    read(transcript.text.as_bytes(), &Options::default()).unwrap()
}

fn strict(transcript: &Transcript) -> ClaudeReport {
    read(transcript.text.as_bytes(), &Options { strict_parents: true, ..Options::default() }).unwrap().report
}

fn ids(numbers: &[u64]) -> Vec<String> {
    numbers.iter().map(|&number| id(number)).collect()
}

fn chain(report: &ClaudeReport) -> Vec<String> {
    report.live_chain.iter().map(|record| record.id.clone()).collect()
}

fn codes(report: &ClaudeReport) -> Vec<&str> {
    report.warnings.iter().map(|warning| warning.code).collect()
}

/// The parents that events have; an event that hangs on nothing has none.
fn parents(events: &[Incoming]) -> Vec<(String, Option<String>)> {
    let messages =
        events.iter().filter(|event| matches!(event.body, IncomingBody::Message(_) | IncomingBody::Compaction { .. }));
    messages
        .map(|event| {
            let parent = match &event.parent {
                IncomingParent::Id(id) => Some(id.clone()),
                _ => None,
            };
            (event.id.clone().unwrap(), parent)
        })
        .collect()
}

fn parent_of(imported: &Imported, number: u64) -> Option<String> {
    parents(&imported.events).into_iter().find(|(event, _)| *event == id(number)).expect("the event is there").1
}

fn head(imported: &Imported) -> Option<Option<String>> {
    imported.events.iter().find_map(|event| match &event.body {
        IncomingBody::Head { leaf } => Some(leaf.clone()),
        _ => None,
    })
}

fn compactions(imported: &Imported) -> Vec<(String, Option<String>, Vec<String>)> {
    let events = imported.events.iter();
    events
        .filter_map(|event| match &event.body {
            IncomingBody::Compaction { keep, .. } => {
                let parent = match &event.parent {
                    IncomingParent::Id(id) => Some(id.clone()),
                    _ => None,
                };
                Some((event.id.clone().unwrap(), parent, keep.clone()))
            }
            _ => None,
        })
        .collect()
}

/// Every parent, kept message and leaf is named by an earlier event.
fn assert_names_are_known(imported: &Imported) {
    let mut known = std::collections::HashSet::new();
    for event in &imported.events {
        if let IncomingParent::Id(parent) = &event.parent {
            assert!(known.contains(parent), "{parent} is named before it comes");
        }
        if let IncomingBody::Compaction { keep, summary_id, .. } = &event.body {
            assert!(keep.iter().all(|kept| known.contains(kept)), "{keep:?}");
            known.extend(summary_id.clone());
        }
        if let IncomingBody::Head { leaf: Some(leaf) } = &event.body {
            assert!(known.contains(leaf));
        }
        known.extend(event.id.clone());
    }
}

#[test]
fn a_parent_that_stands_later_comes_first_in_the_events() {
    let mut made = Transcript::default();
    made.user(1, 0, "Look.").result(3, 2, "t", "seen").calls(2, 1, "m", "t").says(4, 3, "n", "Seen.");
    let imported = import(&made);
    assert_eq!(imported.report.live_chain.len(), 4);
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 3, 4]));
    let order: Vec<String> = parents(&imported.events).into_iter().map(|(event, _)| event).collect();
    assert_eq!(order, ids(&[1, 2, 3, 4]));
    assert_eq!(head(&imported), None);
    assert_names_are_known(&imported);
}

#[test]
fn a_record_that_stands_twice_is_taken_once() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "Two.");
    let twice = format!("{}{}", made.text, made.text.lines().last().unwrap());
    let imported = read(twice.as_bytes(), &Options::default()).unwrap();
    assert_eq!(imported.report.records, 3);
    assert_eq!(imported.report.transcript_records, 2);
    assert_eq!(codes(&imported.report), ["repeated_record"]);
    assert_eq!(parents(&imported.events).len(), 2);
}

#[test]
fn an_id_used_by_other_content_is_kept_twice_and_names_the_last() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "First.").says(2, 1, "n", "Second.").user(3, 2, "On.");
    let imported = import(&made);
    assert_eq!(codes(&imported.report), ["duplicate_id"]);
    assert_eq!(imported.report.transcript_records, 4);
    assert_eq!(imported.report.context_last_text.as_deref(), Some("On."));
    assert_eq!(imported.report.assistant_api_messages, ["n"]);
    let order: Vec<String> = parents(&imported.events).into_iter().map(|(event, _)| event).collect();
    assert_eq!(order, ids(&[1, 2, 2, 3]));
}

#[test]
fn a_circle_of_parents_ends_and_loses_no_record() {
    let mut made = Transcript::default();
    made.user(1, 0, "Start.").says(2, 4, "m", "A.").user(3, 2, "B.").says(4, 3, "n", "C.").user(5, 4, "End.");
    made.user(6, 6, "Its own parent.");
    for imported in
        [import(&made), read(made.text.as_bytes(), &Options { strict_parents: true, ..Options::default() }).unwrap()]
    {
        assert!(codes(&imported.report).contains(&"cycle"));
        assert_eq!(parents(&imported.events).len(), 6);
        assert_names_are_known(&imported);
    }
    // What comes first in the circle hangs on the record before it.
    assert_eq!(chain(&import(&made).report), ids(&[1, 2, 3, 4, 5, 6]));
}

#[test]
fn two_records_of_one_id_that_close_a_circle_are_told_apart() {
    let mut made = Transcript::default();
    made.user(1, 0, "Start.").says(2, 1, "m", "Ok.").system(9, 2, "informational").user(3, 9, "Go on.");
    made.system(9, 3, "stop_hook_summary").says(4, 9, "n", "Done.");
    let imported = import(&made);
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 3, 4]));
    assert!(imported.report.hung_on.is_empty());
    assert_names_are_known(&imported);
}

#[test]
fn a_lost_parent_is_named_and_strictly_a_root() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "Two.").user(4, 3, "Four.").says(5, 4, "n", "Five.");
    assert_eq!(chain(&strict(&made)), ids(&[4, 5]));
    let imported = import(&made);
    assert_eq!(chain(&imported.report), ids(&[1, 2, 4, 5]));
    assert_eq!(imported.report.orphan_roots, ids(&[4]));
    assert_eq!(imported.report.hung_on[0].messages_brought_back, 2);
    let event = imported.events.iter().find(|event| event.id == Some(id(4))).unwrap();
    assert_eq!(event.parent, IncomingParent::Id(id(2)));
    let IncomingBody::Message(message) = &event.body else { panic!("a message") };
    assert!(message.extra.contains(&("parentUuid".to_owned(), Value::Text(id(3)))), "{:?}", message.extra);
}

#[test]
fn a_lost_parent_hangs_on_its_own_line_only() {
    let mut made = Transcript::default();
    made.user(1, 0, "Main.").calls(2, 1, "m", "task");
    let side = Transcript::default().user(10, 0, "Side.").says(12, 11, "s", "Lost.").clone();
    made.text.push_str(&side.text.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\""));
    made.result(3, 2, "task", "done");
    let imported = import(&made);
    assert_eq!(imported.report.hung_on.len(), 1);
    assert_eq!(imported.report.hung_on[0].on, id(10));
    assert_eq!(chain(&imported.report), ids(&[1, 2, 3]));
    assert_eq!(imported.report.sidechain_messages, 2);
    let side = imported.events.iter().find(|event| event.id == Some(id(12))).unwrap();
    let IncomingBody::Message(message) = &side.body else { panic!("a message") };
    assert!(message.metadata.sidechain);
    assert_eq!(message.metadata.run_id.as_deref(), Some("a1"));
}

#[test]
fn a_result_before_its_lost_call_makes_no_circle() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").result(3, 2, "t", "out").calls(2, 7, "m", "t").says(4, 3, "n", "On.");
    let imported = import(&made);
    assert_eq!(chain(&imported.report), ids(&[1, 2, 3, 4]));
    assert_names_are_known(&imported);
}

#[test]
fn words_only_for_the_model_at_the_end_do_not_hide_the_last_exchange() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").calls(2, 1, "m", "t").progress(3, 2, "t").result(4, 2, "t", "out");
    made.says(5, 4, "n", "Done.").meta(6, 5, "<local-command-caveat>");
    let imported = import(&made);
    assert_eq!(imported.leaf, Some(id(5)));
    assert_eq!(head(&imported), Some(Some(id(5))));
}

#[test]
fn a_second_root_begins_anew_and_the_first_tree_stays() {
    let mut made = Transcript::default();
    made.user(1, 0, "Plan.").says(2, 1, "m", "Planned.").progress(3, 0, "h").user(4, 3, "Do it.");
    made.says(5, 4, "n", "Done.");
    let imported = import(&made);
    assert_eq!(imported.report.context_ids, ids(&[4, 5]));
    assert_eq!(parent_of(&imported, 4), None);
    assert_eq!(parents(&imported.events).len(), 5);
    assert!(imported.report.orphan_roots.is_empty());
    assert_eq!(head(&imported), None);
}

#[test]
fn a_rewind_leaves_the_old_branch_and_the_last_in_the_file_counts() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "Two.").user(3, 2, "Old.").says(4, 3, "n", "Old answer.");
    made.user(5, 2, "New.").says(6, 5, "o", "New answer.");
    made.line(&format!(r#"{{"type":"last-prompt","lastPrompt":"Old.","leafUuid":"{}"}}"#, id(4)));
    let imported = import(&made);
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 5, 6]));
    assert!(imported.report.recorded_leaf_diverges);
    assert_eq!(parent_of(&imported, 3), Some(id(2)));
    assert_eq!(head(&imported), None);
}

#[test]
fn a_cleared_conversation_ends_before_its_first_message() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "Two.");
    made.line(r#"{"type":"last-prompt","lastPrompt":"One.","leafUuid":null,"explicit":true}"#);
    let imported = import(&made);
    assert!(imported.report.cleared);
    assert_eq!((imported.leaf.clone(), head(&imported)), (None, Some(None)));
    made.user(3, 0, "Again.");
    let imported = import(&made);
    assert!(!imported.report.cleared);
    assert_eq!((imported.leaf.clone(), head(&imported)), (Some(id(3)), None));
}

#[test]
fn blocks_beside_the_walk_come_onto_the_line_of_their_answer() {
    let mut made = Transcript::default();
    // Both calls hang on the text; the walk from the end meets the first only.
    made.user(1, 0, "Go.").says(2, 1, "m", "Two at once.").calls(3, 2, "m", "x").calls(4, 2, "m", "y");
    made.result(6, 4, "y", "Y").result(5, 3, "x", "X").says(7, 5, "n", "Done.");
    let imported = import(&made);
    assert_eq!(chain(&imported.report), ids(&[1, 2, 3, 5, 7]));
    assert_eq!(imported.report.recovered, ids(&[4, 6]));
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 3, 4, 6, 5, 7]));
    assert_eq!(imported.report.tool_calls.paired, 2);
    assert_eq!(parent_of(&imported, 4), Some(id(3)));
    assert_eq!(parent_of(&imported, 5), Some(id(3)));
    // The second call and its result are the line; the answer goes on behind both.
    assert_eq!(parent_of(&imported, 6), Some(id(4)));
    assert_eq!(parent_of(&imported, 7), Some(id(6)));
    let moved = imported.events.iter().find(|event| event.id == Some(id(7))).unwrap();
    let IncomingBody::Message(moved) = &moved.body else { panic!("a message") };
    assert!(moved.extra.contains(&("parentUuid".to_owned(), Value::Text(id(5)))));
    assert_names_are_known(&imported);
}

#[test]
fn an_open_side_line_at_the_end_gives_the_leaf_that_has_all_blocks() {
    let mut made = Transcript::default();
    made.user(1, 0, "Go.").calls(2, 1, "m", "x").calls(3, 2, "m", "y").result(4, 2, "x", "X");
    let imported = import(&made);
    assert_eq!(imported.leaf, Some(id(4)));
    assert_eq!(imported.report.tool_calls.unpaired, ["y"]);
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 3, 4]));
    assert_eq!(head(&imported), Some(Some(id(3))));
}

fn before_compaction() -> Transcript {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "a", "Two.").user(3, 2, "Three.").says(4, 3, "b", "Four.");
    made
}

#[test]
fn a_compaction_keeps_nothing_and_hangs_on_what_was_before() {
    let mut made = before_compaction();
    made.system(5, 4, "turn_duration").boundary(6, 5, "").summary(7, 6, "Sum.").attachment(
        8,
        7,
        r#""type":"date_change""#,
    );
    made.user(9, 8, "On.");
    let imported = import(&made);
    assert_eq!(compactions(&imported), [(id(6), Some(id(4)), Vec::new())]);
    assert_eq!(parent_of(&imported, 8), Some(id(6)));
    assert_eq!(imported.report.context_ids, ids(&[7, 9]));
    assert_eq!(head(&imported), None);
    assert_names_are_known(&imported);
}

#[test]
fn kept_messages_that_stay_where_they_were_are_put_behind_the_summary() {
    let mut made = before_compaction();
    let segment =
        format!(r#""preservedSegment":{{"headUuid":"{}","anchorUuid":"{}","tailUuid":"{}"}}"#, id(3), id(7), id(4));
    made.boundary(6, 4, &segment).summary(7, 6, "Sum.");
    let at_once = import(&made);
    assert_eq!(at_once.report.context_ids, ids(&[7, 3, 4]));
    assert_eq!(at_once.leaf, Some(id(7)));
    assert_eq!(head(&at_once), None);
    made.user(8, 7, "On.");
    let imported = import(&made);
    assert_eq!(imported.report.kept_by_compaction, ids(&[3, 4]));
    assert_eq!(chain(&imported.report), ids(&[6, 7, 3, 4, 8]));
    assert_eq!(compactions(&imported), [(id(6), Some(id(4)), ids(&[3, 4]))]);
    assert_eq!(parent_of(&imported, 8), Some(id(6)));
    assert_names_are_known(&imported);
}

#[test]
fn what_goes_on_behind_the_last_kept_message_goes_on_behind_the_compaction() {
    let mut made = before_compaction();
    let segment =
        format!(r#""preservedSegment":{{"headUuid":"{}","anchorUuid":"{}","tailUuid":"{}"}}"#, id(3), id(7), id(4));
    made.user(5, 4, "Old end.").boundary(6, 5, &segment).summary(7, 6, "Sum.").user(8, 4, "On.");
    let imported = import(&made);
    assert_eq!(chain(&imported.report), ids(&[6, 7, 3, 4, 8]));
    assert_eq!(parent_of(&imported, 8), Some(id(6)));
    // What hung on it before does so still.
    assert_eq!(parent_of(&imported, 5), Some(id(4)));
}

#[test]
fn kept_messages_written_again_under_new_ids_are_left_where_they_are() {
    let segment = |head, tail| {
        format!(
            r#""preservedSegment":{{"headUuid":"{}","anchorUuid":"{}","tailUuid":"{}"}}"#,
            id(head),
            id(7),
            id(tail)
        )
    };
    for (head, tail) in [(3, 4), (13, 14)] {
        let mut made = before_compaction();
        made.boundary(6, 4, &segment(head, tail)).summary(7, 6, "Sum.");
        let line = |number: u64| made.text.lines().nth(number as usize - 1).unwrap().to_owned();
        let again = |number: u64, new: u64, parent: u64, old_parent: u64| {
            line(number).replace(&id(number), &id(new)).replace(&id(old_parent), &id(parent))
        };
        let copies = [again(3, 13, 7, 2), again(4, 14, 13, 3)];
        for copy in copies {
            made.line(&copy);
        }
        made.user(8, 14, "On.");
        let imported = import(&made);
        assert_eq!(imported.report.context_ids, ids(&[7, 13, 14, 8]), "{head}");
        assert!(imported.report.recovered.is_empty());
        assert!(imported.report.kept_by_compaction.is_empty());
        assert_eq!(compactions(&imported), [(id(6), Some(id(4)), Vec::new())]);
        assert_eq!(parent_of(&imported, 13), Some(id(6)));
    }
}

#[test]
fn a_listed_tail_below_the_summary_is_put_before_its_compaction() {
    let mut made = before_compaction();
    let list = format!(
        r#""preservedMessages":{{"anchorUuid":"{}","uuids":["{}","{}"],"allUuids":["{}"]}}"#,
        id(7),
        id(3),
        id(8),
        id(1)
    );
    made.boundary(6, 8, &list).summary(7, 6, "Sum.").says(8, 7, "c", "Tail.").user(9, 8, "On.");
    let imported = import(&made);
    assert_eq!(imported.report.context_ids, ids(&[7, 3, 8, 9]));
    assert_eq!(parent_of(&imported, 8), Some(id(3)));
    assert_eq!(compactions(&imported), [(id(6), Some(id(8)), ids(&[3, 8]))]);
    assert_eq!(parent_of(&imported, 9), Some(id(6)));
    assert_eq!(head(&imported), None);
    assert_names_are_known(&imported);
}

#[test]
fn a_segment_whose_head_is_not_above_its_tail_is_passed_over_and_told() {
    let mut made = before_compaction();
    let segment =
        format!(r#""preservedSegment":{{"headUuid":"{}","anchorUuid":"{}","tailUuid":"{}"}}"#, id(4), id(7), id(3));
    made.boundary(6, 4, &segment).summary(7, 6, "Sum.").user(8, 7, "On.");
    let imported = import(&made);
    assert_eq!(codes(&imported.report), ["preserved_segment"]);
    assert_eq!(imported.report.context_ids, ids(&[7, 8]));
}

#[test]
fn results_beside_the_kept_walk_are_kept_with_their_call() {
    let mut made = Transcript::default();
    made.user(1, 0, "Go.").calls(2, 1, "m", "x").calls(3, 2, "m", "y").result(4, 3, "y", "Y").result(5, 2, "x", "X");
    made.says(10, 4, "n", "Both.");
    let segment =
        format!(r#""preservedSegment":{{"headUuid":"{}","anchorUuid":"{}","tailUuid":"{}"}}"#, id(2), id(7), id(10));
    made.boundary(6, 10, &segment).summary(7, 6, "Sum.").user(8, 7, "On.");
    let imported = import(&made);
    assert_eq!(imported.report.kept_by_compaction, ids(&[2, 3, 4, 10]));
    assert_eq!(imported.report.recovered, ids(&[5]));
    assert_eq!(imported.report.context_ids, ids(&[7, 2, 3, 4, 5, 10, 8]));
    assert_eq!(compactions(&imported)[0].2, ids(&[2, 3, 4, 5, 10]));
}

#[test]
fn a_summary_without_a_boundary_is_a_compaction() {
    let mut made = before_compaction();
    made.summary(7, 0, "Sum.").user(8, 7, "On.");
    let imported = import(&made);
    assert_eq!(compactions(&imported), [(format!("{}.boundary", id(7)), Some(id(4)), Vec::new())]);
    assert_eq!(imported.report.context_ids, ids(&[7, 8]));
    assert_eq!(imported.report.compact_boundary_on_chain, None);
    assert_names_are_known(&imported);
}

#[test]
fn a_boundary_that_a_kill_left_alone_hides_nothing() {
    let mut made = before_compaction();
    made.boundary(6, 4, "");
    let imported = import(&made);
    assert_eq!(codes(&imported.report), ["boundary_without_summary"]);
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 3, 4]));
    assert!(compactions(&imported).is_empty());
    assert_eq!(head(&imported), None);
}

#[test]
fn a_light_compaction_prunes_the_results_it_names() {
    let mut made = Transcript::default();
    made.user(1, 0, "Go.").calls(2, 1, "m", "x").result(3, 2, "x", "X");
    made.record(
        4,
        3,
        "system",
        r#""subtype":"microcompact_boundary","microcompactMetadata":{"trigger":"auto","compactedToolIds":["x","gone"]}"#,
    );
    let imported = import(&made);
    let targets: Vec<&Vec<String>> = imported
        .events
        .iter()
        .filter_map(|event| match &event.body {
            IncomingBody::Prune { targets } => Some(targets),
            _ => None,
        })
        .collect();
    assert_eq!(targets, [&ids(&[3])]);
}

#[test]
fn words_typed_while_the_agent_worked_are_the_persons() {
    let mut made = Transcript::default();
    made.user(1, 0, "Go.").calls(2, 1, "m", "x").result(3, 2, "x", "X");
    made.attachment(4, 3, r#""type":"queued_command","prompt":"And this.","commandMode":"prompt""#);
    made.attachment(5, 4, r#""type":"queued_command","prompt":"A task ended.","commandMode":"task-notification""#);
    made.says(6, 5, "n", "Both.");
    let imported = import(&made);
    assert_eq!(imported.report.context_ids, ids(&[1, 2, 3, 4, 5, 6]));
    let source = |number: u64| {
        let event = imported.events.iter().find(|event| event.id == Some(id(number))).unwrap();
        let IncomingBody::Message(message) = &event.body else { panic!("a message") };
        assert_eq!(message.kind, Kind::UserInput);
        (message.joined_text(), message.metadata.source.clone())
    };
    assert_eq!(source(4), ("And this.".to_owned(), Some(seslog::event::Source::User)));
    assert_eq!(source(5), ("A task ended.".to_owned(), Some(seslog::event::Source::Runtime)));
}

#[test]
fn usage_stands_once_for_each_answer_and_a_null_stop_is_no_open_stream() {
    let mut made = Transcript::default();
    made.user(1, 0, "Go.")
        .says(2, 1, "m", "Text.")
        .calls(3, 2, "m", "x")
        .result(4, 3, "x", "X")
        .says(5, 4, "n", "End.");
    let imported = import(&made);
    let messages: Vec<_> = imported
        .events
        .iter()
        .filter_map(|event| match &event.body {
            IncomingBody::Message(message) => Some(message),
            _ => None,
        })
        .collect();
    let outputs: Vec<Option<u64>> =
        messages.iter().map(|message| message.usage.as_ref().map(|usage| usage.output)).collect();
    assert_eq!(outputs, [None, None, Some(20), None, Some(20)]);
    assert!(messages.iter().all(|message| message.stop_reason == StopReason::NotSaid));
    assert_eq!(imported.report.output_tokens_counted_once, 40);
}

#[test]
fn the_same_bytes_give_the_same_events_and_every_name_is_known() {
    let bytes = long_transcript(120, 100);
    let first = read(bytes.as_slice(), &Options::default()).unwrap();
    let second = read(bytes.as_slice(), &Options::default()).unwrap();
    assert_eq!(first, second);
    assert_names_are_known(&first);
    assert!(first.report.tool_calls.unpaired.is_empty());
    assert_eq!(first.report.recovered.len(), 20 * 2);
    assert_eq!(compactions(&first).len(), 2);
}

#[test]
fn work_grows_with_the_file_and_with_nothing_else() {
    let cost = |turns| {
        let bytes = long_transcript(turns, 64);
        let imported = read(bytes.as_slice(), &Options::default()).unwrap();
        assert_eq!(imported.cost.bytes as usize, bytes.len() - bytes.iter().filter(|byte| **byte == b'\n').count());
        imported.cost.steps as f64 / imported.report.records as f64
    };
    let (small, large) = (cost(100), cost(3_000));
    assert!(large <= small * 1.1, "{small} steps for each record of a small file, {large} of a large one");
    assert!(large < 30.0, "{large} steps for each record");
}
