//! What random histories have found, each by its name.

use seslog::event::{Kind, Message, Part, Role, Uuid, Value};
use seslog::interop::{Agent, WriteReport};
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::{Compaction, NewEvent, Parent, Session};

use crate::check;
use crate::shown::{comparable, shown};
use crate::world::{AGENTS, World, named, whole};

fn append(session: &Session, event: impl Into<NewEvent>) -> Uuid {
    session.append(event.into(), Durability::Os).unwrap().id
}

fn call(id: &str) -> Message {
    Message::assistant_calls(vec![Part::tool_call(id, "count", Value::Map(Vec::new()))])
}

fn results(ids: &[(&str, &str)], text: Option<&str>) -> Message {
    let mut parts: Vec<Part> = ids.iter().map(|(id, said)| Part::tool_result(*id, *said, false)).collect();
    parts.extend(text.map(Part::text));
    Message::new(Role::Tool, Kind::ToolResult, parts)
}

/// What the model sees of each agent's file, and the report.
fn there_and_back(make: impl Fn(&Session), check_it: impl Fn(Agent, String, &WriteReport)) {
    for (agent, name) in AGENTS {
        let (here, there) = (World::new(), World::new());
        let session = here.store.create().unwrap();
        make(&session);
        let (file, report) = here.export(&session, agent);
        check::check(agent, &file, name);
        let seen = format!("{:?}", shown(&whole(&there.import(agent, &file)), View::Model));
        check_it(agent, seen, &report);
    }
}

/// Which one is written had been decided by their places in the file alone.
#[test]
fn of_two_results_that_counts_which_the_model_sees() {
    there_and_back(
        |session| {
            append(session, Message::user("Count."));
            let held = append(session, call("c"));
            append(session, Message::tool_result("c", "Twelve.", false));
            append(
                session,
                NewEvent::from(Message::tool_result("c", "Thirteen.", false)).with_parent(Parent::Of(held)),
            );
            append(session, Message::user("Go on."));
            let seen = format!("{:?}", shown(&whole(session), View::Model));
            assert!(seen.contains("Twelve.") && !seen.contains("Thirteen."), "{seen}");
        },
        |agent, seen, report| {
            assert!(seen.contains("Twelve.") && !seen.contains("Thirteen."), "{agent:?} {report:?} {seen}");
        },
    );
}

/// The result without a call was written, and named the record of another call as its own.
#[test]
fn of_several_results_in_one_message_those_without_a_call_are_left_out_and_what_stands_beside_them_stays() {
    there_and_back(
        |session| {
            append(session, Message::user("Count."));
            append(session, call("c"));
            append(session, results(&[("gone", "Of nothing."), ("c", "Twelve.")], Some("Said beside.")));
            append(session, results(&[("gone too", "Of nothing.")], Some("Said alone.")));
        },
        |agent, seen, report| {
            assert!(named(report).contains(&"orphanResults"), "{agent:?} {report:?}");
            assert!(!seen.contains("Of nothing."), "{agent:?} {seen}");
            for text in ["Twelve.", "Said beside.", "Said alone."] {
                assert!(seen.contains(text), "{agent:?} {text} {seen}");
            }
        },
    );
}

/// All of the answer came back, what the conversation had left as well.
#[test]
fn a_conversation_that_left_an_answer_in_its_middle_does_not_get_the_rest_back() {
    there_and_back(
        |session| {
            append(session, Message::user("Count."));
            let blocks = ["Block 0.", "Block 1."].map(|text| {
                let mut message = Message::assistant(text);
                message.message_id = Some("msg_1".to_owned());
                append(session, message)
            });
            append(session, NewEvent::from(Message::user("Go on.")).with_parent(Parent::Of(blocks[0])));
        },
        |agent, seen, report| {
            assert!(seen.contains("Block 0.") && seen.contains("Go on."), "{agent:?} {seen}");
            assert!(!seen.contains("Block 1."), "{agent:?} {report:?} {seen}");
        },
    );
}

/// It went before the compaction, with the result.
#[test]
fn a_text_beside_a_result_whose_call_was_compacted_away_stays_in_the_conversation() {
    there_and_back(
        |session| {
            append(session, Message::user("Count."));
            append(session, call("c"));
            let _ = session.compact(Compaction::new("All so far."), Durability::Os).unwrap();
            append(session, results(&[("c", "Twelve.")], Some("Said beside.")));
        },
        |agent, seen, report| assert!(seen.contains("Said beside."), "{agent:?} {report:?} {seen}"),
    );
}

#[test]
fn an_answer_whose_call_nothing_answers_is_one_in_pis_file_too_wherever_the_session_stands() {
    for has_result in [false, true] {
        let world = World::new();
        let session = world.store.create().unwrap();
        append(&session, Message::user("Look."));
        let calls = vec![Part::text("I look."), Part::tool_call("a", "see", Value::Null)];
        let holder = append(&session, Message::assistant_calls(calls));
        if has_result {
            append(&session, Message::tool_result("a", "Seen.", false));
        }
        append(&session, Message::user("And?"));
        append(&session, Message::assistant("So."));
        let _ = session.rewind(Some(holder), Durability::Os).unwrap();
        let (file, _) = world.export(&session, Agent::Pi);
        let again = World::new().import(Agent::Pi, &file);
        let texts = |session: &Session| {
            let state = whole(session);
            let messages = state.entries().iter().filter_map(|entry| entry.event.message());
            messages.map(Message::joined_text).filter(|text| text == "I look.").count()
        };
        assert_eq!(texts(&again), 1, "{has_result}");
        assert_eq!(whole(&again).counts().branches, whole(&session).counts().branches, "{has_result}");
        let seen = |session: &Session| comparable(shown(&whole(session), View::Model), &["callInputs"]);
        assert_eq!(seen(&again), seen(&session), "{has_result}");
    }
}
