//! What a plan of a compaction leaves out and keeps, and what a session makes of it.

use std::collections::HashSet;

use seslog::context::tokens::{CompactionPlan, Keep, NothingToCompact, compaction_plan, message_costs};
use seslog::event::{Kind, Message, PartBody, Trigger, Uuid};
use seslog::log::Durability;
use seslog::projection::ProjectedMessage;
use seslog::session::Session;

use crate::history::write;
use crate::place::{Place, append, assistant, calls, leaf, result, user};
use crate::random::Random;
use crate::{Chars, view};

fn plan(session: &Session, keep: Keep) -> Result<CompactionPlan, NothingToCompact> {
    compaction_plan(&view(session), &Chars, keep)
}

fn ids(messages: &[ProjectedMessage]) -> Vec<Uuid> {
    let mut ids: Vec<Uuid> = messages.iter().flat_map(|message| message.source_message_ids.iter().copied()).collect();
    ids.dedup();
    ids
}

#[test]
fn the_last_groups_within_the_tokens_are_kept_and_a_group_is_never_cut() {
    let place = Place::new();
    let session = place.create();
    let first = user(&session, "1234567890");
    let call = calls(&session, &["a"]);
    let output = result(&session, "a", "12345");
    let said = assistant(&session, "done.");
    let question = user(&session, "next?");
    // The turn of calls costs its ids, names and arguments, and the texts: 7 + 1 + 5 + 5.
    let costs: Vec<u64> = message_costs(&view(&session), &Chars).iter().map(|cost| cost.total()).collect();
    assert_eq!(costs, [10, 7, 6, 5, 5]);
    let cases = [
        (Keep::Tokens(0), vec![question]),
        (Keep::Tokens(22), vec![question]),
        (Keep::Tokens(23), vec![call, output, said, question]),
        (Keep::Groups(0), vec![]),
        (Keep::Groups(1), vec![question]),
        (Keep::Groups(2), vec![call, output, said, question]),
    ];
    let all = [first, call, output, said, question];
    for (keep, expected) in cases {
        let plan = plan(&session, keep).unwrap();
        assert_eq!(plan.keep, expected, "{keep:?}");
        assert_eq!(plan.summarize, all[..all.len() - expected.len()], "{keep:?}");
        assert_eq!(plan.tokens_before, 33, "{keep:?}");
        assert_eq!(plan.tokens_kept, costs[all.len() - expected.len()..].iter().sum::<u64>(), "{keep:?}");
    }
    for keep in [Keep::Tokens(33), Keep::Tokens(u64::MAX), Keep::Groups(3), Keep::Groups(usize::MAX)] {
        assert_eq!(plan(&session, keep), Err(NothingToCompact::AllKept), "{keep:?}");
    }
}

#[test]
fn open_calls_stay_with_their_approvals_and_the_answers_beside_them() {
    let place = Place::new();
    let session = place.create();
    user(&session, "old");
    let both = calls(&session, &["done", "open"]);
    let answered = result(&session, "done", "1");
    let asked = append(&session, Message::approval_request("open", None));
    user(&session, "in between");
    let last = user(&session, "new");
    let plan = plan(&session, Keep::Groups(1)).unwrap();
    assert_eq!(plan.keep, [both, answered, asked, last]);
    let compacted = session.compact(plan.compaction("s", Trigger::Auto), Durability::Os).unwrap();
    assert!(compacted.kept_too.is_empty(), "{compacted:?}");
}

#[test]
fn system_notes_stay_and_the_summary_before_is_summed_up_again() {
    let place = Place::new();
    let session = place.create();
    let note = append(&session, Message::system_note("always"));
    user(&session, "one");
    let two = user(&session, "two");
    let first = plan(&session, Keep::Groups(1)).unwrap();
    assert_eq!(first.keep, [note, two]);
    let compacted = session.compact(first.compaction("first", Trigger::Manual), Durability::Os).unwrap();
    assert_eq!(ids(&view(&session)), [compacted.summary, note, two]);
    assert_eq!(plan(&session, Keep::Groups(1)), Err(NothingToCompact::OnlySummary));
    let three = user(&session, "three");
    let second = plan(&session, Keep::Groups(1)).unwrap();
    assert_eq!((second.summarize, second.keep), (vec![compacted.summary, two], vec![note, three]));
}

#[test]
fn a_compaction_says_what_the_window_cost_and_who_asked() {
    let place = Place::new();
    let session = place.create();
    user(&session, "12345");
    user(&session, "123");
    let mut planned = plan(&session, Keep::Groups(1)).unwrap();
    planned.tokens_before = 70_000;
    let compacted = session.compact(planned.compaction("s", Trigger::Auto), Durability::Os).unwrap();
    let state = session.state().unwrap();
    let message = |id: Uuid| state.entry(id).unwrap().event.message().unwrap().clone();
    let Kind::CompactSummary(summary) = message(compacted.summary).kind else { panic!("no summary") };
    let Kind::CompactBoundary(boundary) = message(compacted.boundary).kind else { panic!("no boundary") };
    assert_eq!((summary.tokens_before, boundary.trigger), (Some(70_000), Some(Trigger::Auto)));
}

#[test]
fn nothing_to_compact_is_said_in_words() {
    let place = Place::new();
    let session = place.create();
    assert_eq!(plan(&session, Keep::default()), Err(NothingToCompact::Empty));
    user(&session, "short");
    assert_eq!(plan(&session, Keep::default()), Err(NothingToCompact::AllKept));
    for reason in [NothingToCompact::Empty, NothingToCompact::AllKept, NothingToCompact::OnlySummary] {
        assert!(!reason.to_string().is_empty());
    }
    let keep: Keep = serde_json::from_str(r#"{"tokens": 5}"#).unwrap();
    assert_eq!(keep, Keep::Tokens(5));
}

/// By the id of each call of a view, in order: whether a result stands behind it.
fn pairing(messages: &[ProjectedMessage]) -> Vec<(Uuid, String, bool)> {
    let mut calls: Vec<(Uuid, String, bool)> = Vec::new();
    for message in messages {
        for part in &message.content {
            match &part.body {
                PartBody::ToolCall(call) => calls.push((message.id, call.id.clone(), false)),
                PartBody::ToolResult(result) => {
                    let open = calls.iter_mut().rev().find(|(_, id, answered)| *id == result.call_id && !answered);
                    open.unwrap_or_else(|| panic!("a result of {} without its call", result.call_id)).2 = true;
                }
                _ => {}
            }
        }
    }
    calls
}

#[test]
fn a_session_takes_every_plan_and_shows_its_summary_and_what_was_kept() {
    let mut compacted_count = 0;
    for seed in 0..200_u64 {
        let mut random = Random::new(seed);
        let place = Place::new();
        let session = place.create();
        let steps = 5 + random.below(60);
        write(&session, &mut random, steps);
        let keep = match random.below(2) {
            0 => Keep::Groups(random.below(6)),
            _ => Keep::Tokens(random.below(800) as u64),
        };
        let before = view(&session);
        let end = leaf(&session);
        let Ok(plan) = plan(&session, keep) else { continue };
        compacted_count += 1;
        let what = format!("seed {seed}, {keep:?}");
        let all: HashSet<Uuid> = before.iter().flat_map(|message| message.source_message_ids.iter().copied()).collect();
        let planned: HashSet<Uuid> = plan.keep.iter().chain(&plan.summarize).copied().collect();
        assert_eq!(all, planned, "{what}: a message is in neither list");
        assert_eq!(planned.len(), plan.keep.len() + plan.summarize.len(), "{what}: a message is in both lists");

        let compacted = session
            .compact(plan.compaction("all of that", Trigger::Auto), Durability::Os)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let after = view(&session);
        assert_eq!(after[0].source_message_ids, [compacted.summary], "{what}");
        let shown: HashSet<Uuid> = ids(&after[1..]).into_iter().collect();
        let kept: HashSet<Uuid> = plan.keep.iter().copied().collect();
        let kept_too: HashSet<Uuid> = compacted.kept_too.iter().copied().collect();
        assert!(kept.is_subset(&shown), "{what}: {:?} is gone", kept.difference(&shown).collect::<Vec<_>>());
        assert!(shown.difference(&kept).all(|id| kept_too.contains(id)), "{what}");

        // What is shown is paired as it was.
        let paired = pairing(&before);
        for call in pairing(&after) {
            assert!(paired.contains(&call), "{what}: {call:?} was not like this: {paired:?}");
        }

        // Nothing is left to compact, or the next plan takes more away.
        if let Ok(again) = self::plan(&session, keep) {
            assert!(again.keep.len() < shown.len(), "{what}");
        }

        let _ = session.rewind(end, Durability::Os).unwrap();
        assert_eq!(view(&session), before, "{what}: going back shows something else");
    }
    assert!(compacted_count > 100, "only {compacted_count} plans");
}

#[test]
fn planning_again_and_again_comes_to_an_end() {
    for seed in 0..60_u64 {
        let mut random = Random::new(seed);
        let place = Place::new();
        let session = place.create();
        write(&session, &mut random, 50);
        let mut count = 0;
        while let Ok(plan) = plan(&session, Keep::Tokens(100)) {
            let _ = session.compact(plan.compaction("so far", Trigger::Auto), Durability::Os).unwrap();
            count += 1;
            assert!(count < 5, "seed {seed}");
        }
    }
}
