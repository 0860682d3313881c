//! Compacting again and again, over sessions of any kind and views of any kind.

use std::collections::{BTreeSet, HashSet};

use seslog::context::tokens::{Estimate, Keep, Limits, compaction_plan, needs_compaction, window_tokens};
use seslog::event::{Message, Part, Trigger, Uuid, Value};
use seslog::log::Durability;
use seslog::projection::{Options, ProjectedMessage, View, project};
use seslog::session::Session;

use crate::place::{Place, append, calls, leaf, result, user};
use crate::random::Random;

fn view(session: &Session, options: &Options) -> Vec<ProjectedMessage> {
    session.with_state(|state| project(state, View::Model, options).messages).unwrap()
}

fn call(id: &str, tool: &str) -> Part {
    Part::tool_call(id, tool, Value::Map(Vec::new()))
}

/// Views in which tools are gone, results are cut or stubs, reasoning is left out.
fn views() -> Vec<Options> {
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        options
    };
    vec![
        Options::default(),
        with(|options| options.tools = Some(BTreeSet::new())),
        with(|options| options.tools = Some(["run".to_owned()].into())),
        with(|options| options.include_tool_results = false),
        with(|options| options.tool_result_soft_limit_chars = Some(3)),
        with(|options| (options.tools, options.include_reasoning) = (Some(["look".to_owned()].into()), false)),
    ]
}

/// Writes random calls of two tools, few ids, answers late, beside the chain, twice or never.
fn write(session: &Session, random: &mut Random, steps: usize) {
    let id = |random: &mut Random| ["a", "b", "", "c"][random.below(4)];
    for _ in 0..steps {
        match random.below(12) {
            0..=1 => drop(user(session, "some words of a person's")),
            2 => drop(append(session, Message::assistant("an answer"))),
            3..=5 => {
                let parts = (0..=random.below(3)).map(|_| call(id(random), random.pick(&["run", "look"]))).collect();
                append(session, Message::assistant_calls(parts));
            }
            6..=8 => {
                let message = Message::tool_result(id(random), "what the tool gave back", random.below(3) == 0);
                let _ = session.append(message, Durability::Os);
            }
            9 => drop(append(session, Message::approval_request(id(random), None))),
            10 => drop(append(session, Message::approval_response(id(random), random.below(2) == 0, None))),
            _ => drop(append(session, Message::system_note("a note"))),
        }
    }
}

/// The story: the view tells a call in words whose tool is gone, so a plan wanted to sum it up; a session keeps each open
/// call, and the next plan wanted the same again, for ever.
#[test]
fn an_open_call_of_a_tool_that_is_gone_is_kept_and_planning_ends() {
    let place = Place::new();
    let session = place.create();
    user(&session, "old");
    let open = calls(&session, &["open", "done"]);
    let answered = result(&session, "done", "r");
    let last = user(&session, "new");
    let mut options = Options::default();
    options.tools = Some(BTreeSet::new());
    let plan = compaction_plan(&view(&session, &options), &Estimate, Keep::Groups(1)).unwrap();
    assert_eq!(plan.keep, [open, answered, last]);
    let compacted = session.compact(plan.compaction("s", Trigger::Auto), Durability::Os).unwrap();
    assert!(compacted.kept_too.is_empty(), "{compacted:?}");
    assert!(compaction_plan(&view(&session, &options), &Estimate, Keep::Groups(1)).is_err());
}

#[test]
fn planning_ends_in_every_view_and_going_back_shows_the_old_one() {
    for seed in 0..150_u64 {
        let mut random = Random::new(seed);
        let place = Place::new();
        let session = place.create();
        let steps = 3 + random.below(40);
        write(&session, &mut random, steps);
        for (which, options) in views().iter().enumerate() {
            let keep = match random.below(3) {
                0 => Keep::Groups(random.below(4)),
                1 => Keep::Tokens(0),
                _ => Keep::Tokens(random.below(100) as u64),
            };
            let what = format!("seed {seed}, view {which}, {keep:?}");
            let (before, end) = (view(&session, options), leaf(&session));
            let mut count = 0;
            while let Ok(plan) = compaction_plan(&view(&session, options), &Estimate, keep) {
                let all: Vec<Uuid> = plan.keep.iter().chain(&plan.summarize).copied().collect();
                assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{what}: something is told twice");
                let _ = session
                    .compact(plan.compaction("so far", Trigger::Auto), Durability::Os)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                count += 1;
                assert!(count < 6, "{what}: it does not end");
            }
            let _ = session.rewind(end, Durability::Os).unwrap();
            assert_eq!(view(&session, options), before, "{what}");
        }
    }
}

#[test]
fn compacting_while_it_is_needed_ends_also_where_it_is_needed_for_ever() {
    let limits = Limits::new(10, 0.5, 2.0).unwrap();
    for seed in 0..40_u64 {
        let mut random = Random::new(seed);
        let place = Place::new();
        let session = place.create();
        write(&session, &mut random, 30);
        for options in views() {
            let mut count = 0;
            loop {
                let messages = view(&session, &options);
                if !needs_compaction(&window_tokens(&messages, &[], None, &Estimate), &limits).needed {
                    break;
                }
                let Ok(plan) = compaction_plan(&messages, &Estimate, Keep::default()) else { break };
                let _ = session.compact(plan.compaction("so far", Trigger::Auto), Durability::Os).unwrap();
                count += 1;
                assert!(count < 6, "seed {seed}");
            }
        }
    }
}
