//! What a compaction's list in a rollout says, as a session has it and as it is written again.

use serde_json::json;
use seslog::event::{Message, Part, Role, Value};
use seslog::interop::Agent;
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::{Compaction, Session};

use crate::check;
use crate::programs::{call, output, rollout, said};
use crate::shown::{Shown, comparable, shown};
use crate::world::{World, named, whole};

fn append(session: &Session, message: Message) -> seslog::event::Uuid {
    session.append(message, Durability::Os).unwrap().id
}

fn lines(file: &[u8]) -> Vec<serde_json::Value> {
    std::str::from_utf8(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
fn a_summary_of_codexs_is_told_the_next_agents_model_once() {
    let list = [said("user", "Sort."), said("user", "SUM")];
    let unsaid = ("compacted", json!({"message": "SUM"}));
    for compaction in [compacted("SUM", &list), unsaid] {
        for agent in [Agent::ClaudeCode, Agent::Pi, Agent::Codex] {
            let (here, there) = (World::new(), World::new());
            let records =
                [said("user", "Sort."), said("assistant", "Sorted."), compaction.clone(), said("user", "Again.")];
            let session = here.import(Agent::Codex, &rollout(&records));
            let (file, _) = here.export(&session, agent);
            let seen = format!("{:?}", shown(&whole(&there.import(agent, &file)), View::Model));
            for text in ["Sort.", "SUM", "Again."] {
                assert_eq!(seen.matches(text).count(), 1, "{agent:?}: {text} in {seen}");
            }
        }
    }
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
    let records = lines(&file).into_iter();
    let last = records.filter_map(|record| record["payload"]["info"].get("last_token_usage").cloned());
    assert_eq!(last.collect::<Vec<_>>(), [usage]);
}

#[test]
fn a_failed_result_says_so_in_a_rollout_in_the_words_that_a_model_is_sent() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Go."));
    let calls = ["a", "b", "c"].map(|id| Part::tool_call(id, "run", Value::Map(Vec::new())));
    append(&session, Message::assistant_calls(calls.to_vec()));
    let results = [("a", "no such file"), ("b", "")].map(|(id, said)| Part::tool_result(id, said, true));
    let mut of_parts = Part::tool_result("c", "", true);
    if let seslog::event::PartBody::ToolResult(result) = &mut of_parts.body {
        result.output = seslog::event::ToolOutput::Parts(vec![Part::text("one"), Part::text("two")]);
    }
    for part in results.into_iter().chain([of_parts]) {
        append(&session, Message::new(Role::Tool, seslog::event::Kind::ToolResult, vec![part]));
    }
    let (file, report) = here.export(&session, Agent::Codex);
    assert!(named(&report).contains(&"errorMarks"), "{report:?}");
    let records = lines(&file).into_iter();
    let outputs = records.filter_map(|record| record["payload"].get("output").cloned());
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let failed = "The tool reported an error.";
    assert_eq!(
        outputs.collect::<Vec<_>>(),
        [json!(format!("{failed}\nno such file")), json!(failed), json!([text(failed), text("one"), text("two")])]
    );
    let again = there.import(Agent::Codex, &file);
    let seen = |session: &Session| comparable(shown(&whole(session), View::Model), &[]);
    assert_eq!(seen(&again), seen(&session));
    assert_eq!(there.export(&again, Agent::Codex).0, file);
}

#[test]
fn a_picture_by_its_address_is_one_after_a_rollout_too() {
    let picture = |url: &str| {
        let content = json!([{"type": "input_text", "text": "See."}, {"type": "input_image", "image_url": url}]);
        ("response_item", json!({"type": "message", "role": "user", "content": content}))
    };
    let addresses = ["https://example.org/a.PNG?x=1.gif", "https://example.org/b.jpeg", "https://example.org/c"];
    let world = World::new();
    let file = rollout(&addresses.map(picture));
    let session = world.import(Agent::Codex, &file);
    let state = whole(&session);
    let found = state.entries().iter().filter_map(|entry| match &entry.event.message()?.content.last()?.body {
        seslog::event::PartBody::Image(media) => Some(media.known_type().to_owned()),
        _ => None,
    });
    assert_eq!(found.collect::<Vec<_>>(), ["image/png", "image/jpeg", ""]);
    assert_eq!(lines(&world.export(&session, Agent::Codex).0), lines(&file));
}

#[test]
fn a_list_says_of_what_it_kept_what_it_said_and_nothing_that_only_the_message_had() {
    let with = |(kind, mut item): (&'static str, serde_json::Value), turn: &str| {
        item["internal_chat_message_metadata_passthrough"] = json!({"turn_id": turn});
        (kind, item)
    };
    let records = [
        with(said("developer", "Stay inside."), "1"),
        with(said("user", "One."), "1"),
        with(said("user", "Two."), "1"),
        said("user", "Three."),
        compacted(
            "SUM",
            &[
                said("user", "One."),
                with(said("user", "Two."), "1"),
                with(said("user", "Three."), "2"),
                said("developer", "Stay inside."),
            ],
        ),
    ];
    let file = rollout(&records);
    let world = World::new();
    let session = world.import(Agent::Codex, &file);
    let (again, report) = world.export(&session, Agent::Codex);
    assert_eq!(named(&report), Vec::<&str>::new());
    assert_eq!(lines(&again), lines(&file));
    // People read each of them once.
    let texts = transcript(&session);
    assert_eq!(texts.iter().filter(|(_, text)| text == "Stay inside.").count(), 1, "{texts:?}");
}
