//! What a compaction's list in a rollout says, as a session has it and as it is written again.

use serde_json::json;
use seslog::event::{Message, Part, Role, Value};
use seslog::interop::Agent;
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::{Compaction, Session};

use crate::check;
use crate::programs::{call, output, rollout, said};
use crate::shown::{Shown, shown};
use crate::world::{World, named, whole};

fn append(session: &Session, message: Message) -> seslog::event::Uuid {
    session.append(message, Durability::Os).unwrap().id
}

/// The roles and texts of what people see.
fn transcript(session: &Session) -> Vec<(Role, String)> {
    let all = shown(&whole(session), View::Transcript).into_iter();
    let texts = all.filter_map(|one| match one {
        Shown::Text(role, text) => Some((role, text)),
        _ => None,
    });
    texts.collect()
}

/// A compaction whose list is these items.
fn compacted(message: &str, items: &[(&str, serde_json::Value)]) -> (&'static str, serde_json::Value) {
    let items: Vec<&serde_json::Value> = items.iter().map(|(_, item)| item).collect();
    ("compacted", json!({"message": message, "replacement_history": items}))
}

#[test]
fn a_kept_call_has_its_result_in_the_file_though_that_answers_another_answer_too() {
    for (agent, name) in [(Agent::Codex, "codex"), (Agent::Pi, "pi")] {
        for keeps_the_last in [false, true] {
            let (here, there) = (World::new(), World::new());
            let session = here.store.create().unwrap();
            append(&session, Message::user("Go."));
            let answers = ["a", "b"].map(|id| {
                let mut message = Message::assistant_calls(vec![Part::tool_call(id, "run", Value::Map(Vec::new()))]);
                message.message_id = Some(format!("msg_{id}"));
                append(&session, message)
            });
            let results = ["a", "b"].map(|id| Part::tool_result(id, format!("of {id}"), false));
            append(&session, Message::new(Role::Tool, seslog::event::Kind::ToolResult, results.to_vec()));
            append(&session, Message::user("More."));
            let keep = vec![answers[usize::from(keeps_the_last)]];
            let _ = session.compact(Compaction::new("SUM").keep(keep), Durability::Os).unwrap();
            let (file, report) = here.export(&session, agent);
            check::check(agent, &file, name);
            let was = shown(&whole(&session), View::Model);
            let seen = shown(&whole(&there.import(agent, &file)), View::Model);
            for one in &was {
                let is_there = |other: &Shown| match (one, other) {
                    (Shown::Result { output: one, .. }, Shown::Result { output: other, .. }) => one == other,
                    _ => one == other,
                };
                assert!(seen.iter().any(is_there), "{name}: {one:?} of {seen:?}");
            }
            let results = seen.iter().filter(|one| matches!(one, Shown::Result { .. })).count();
            assert_eq!(calls(&seen), results, "{name}: {seen:?}");
            assert_eq!(calls(&seen) > calls(&was), named(&report).contains(&"keptMore"), "{name}: {seen:?}");
        }
    }
}

fn calls(all: &[Shown]) -> usize {
    all.iter().filter(|one| matches!(one, Shown::Call { .. })).count()
}

#[test]
fn calls_side_by_side_in_the_list_of_a_compaction_are_of_one_answer() {
    let list = [said("user", "Do."), call("a"), call("b"), output("a")];
    let inside = rollout(&[compacted("SUM", &list), said("user", "Next.")]);
    let outside = rollout(&[&list[..], &[said("user", "Next.")]].concat());
    let [inside, outside] = [inside, outside].map(|file| {
        let world = World::new();
        let session = world.import(Agent::Codex, &file);
        whole(&session).chain().iter().filter_map(|entry| entry.event.message()?.message_id.clone()).collect::<Vec<_>>()
    });
    assert_eq!((inside.len(), inside.iter().all(|id| *id == inside[0])), (2, true), "{inside:?}");
    assert_eq!(outside.len(), inside.len());
    // What follows the list is another answer.
    let world = World::new();
    let session = world.import(Agent::Codex, &rollout(&[compacted("SUM", &[call("a")]), call("b")]));
    let state = whole(&session);
    let ids: Vec<_> = state.chain().iter().filter_map(|entry| entry.event.message()?.message_id.clone()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
}

#[test]
fn what_a_list_left_and_people_saw_before_is_hidden_from_them_after_another_rollout() {
    let world = World::new();
    let list = [said("user", "Sort."), said("user", "SUM"), said("developer", "Stay inside.")];
    let session = world.import(
        Agent::Codex,
        &rollout(&[
            said("user", "Sort."),
            said("assistant", "Sorted."),
            compacted("SUM", &list),
            said("user", "Again."),
            said("user", "Left."),
        ]),
    );
    let again = whole(&session).chain().iter().rev().nth(1).unwrap().event.id;
    let _ = session.rewind(Some(again), Durability::Os).unwrap();
    append(&session, Message::user("Last."));
    let (file, report) = world.export(&session, Agent::Codex);
    check::check(Agent::Codex, &file, "list");
    assert!(!named(&report).contains(&"hiddenShown"), "{report:?}");
    let there = World::new();
    let other = there.import(Agent::Codex, &file);
    assert_eq!(transcript(&other), transcript(&session));
    assert_eq!(shown(&whole(&other), View::Model), shown(&whole(&session), View::Model));
    let texts = transcript(&other);
    assert_eq!(texts.iter().filter(|(_, text)| text.contains("SUM")).count(), 1, "{texts:?}");
    assert!(texts.contains(&(Role::User, "Last.".to_owned())) && !format!("{texts:?}").contains("Left."), "{texts:?}");
}

#[test]
fn tokens_that_codex_wrote_to_a_cache_are_counted_and_written_again() {
    let world = World::new();
    let usage = json!({"input_tokens": 900, "cached_input_tokens": 300, "cache_write_input_tokens": 500, "output_tokens": 7,
        "reasoning_output_tokens": 0, "total_tokens": 907});
    let counted = json!({"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}});
    let file = rollout(&[said("user", "Go."), said("assistant", "Gone."), ("event_msg", counted)]);
    let session = world.import(Agent::Codex, &file);
    let state = whole(&session);
    let found = state.entries().iter().find_map(|entry| entry.event.message()?.usage.clone()).unwrap();
    assert_eq!((found.input, found.cache_read, found.cache_write), (900, Some(300), Some(500)));
    // A branch of its own has it too.
    let _ = session.rewind(Some(state.chain()[0].event.id), Durability::Os).unwrap();
    let mut answer = Message::assistant("There.");
    (answer.usage, answer.provider) = (Some(found), Some("openai".to_owned()));
    append(&session, answer);
    let (file, report) = world.export(&session, Agent::Codex);
    assert!(!named(&report).contains(&"usage"), "{report:?}");
    let records = std::str::from_utf8(&file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap());
    let last =
        records.filter_map(|record: serde_json::Value| record["payload"]["info"].get("last_token_usage").cloned());
    assert_eq!(last.collect::<Vec<_>>(), [usage]);
}
