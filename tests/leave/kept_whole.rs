//! What is left out of a file takes nothing else with it: what hung on it, was kept with it or answered it.

use std::collections::HashSet;

use serde_json::Value;
use seslog::event::{BashExecution, Kind, Message, Part, Role, SessionMeta, Uuid};
use seslog::interop::Agent;
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::{Compaction, NewEvent, Parent, Session};

use crate::check;
use crate::shown::{Shown, shown};
use crate::world::{AGENTS, World, named, samples, whole};

fn sample(world: &World, agent: Agent, name: &str) -> Session {
    world.import(agent, &samples(agent)[name])
}

/// The event that had this id in the file.
fn of_file(session: &Session, name: &str) -> Uuid {
    let state = whole(session);
    let found = state
        .entries()
        .iter()
        .find(|entry| entry.event.original_id.as_deref() == Some(name) || entry.event.id.to_string() == name);
    found.unwrap_or_else(|| panic!("{name} is in the file")).event.id
}

fn take_back(session: &Session, name: &str) {
    let _ = session.tombstone(&[of_file(session, name)], None, Durability::Os).unwrap();
}

fn records(file: &[u8]) -> Vec<Value> {
    std::str::from_utf8(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn model(session: &Session) -> String {
    format!("{:?}", shown(&whole(session), View::Model))
}

/// Each record hangs on one that is in the file.
fn all_hang(file: &[u8]) {
    let records = records(file);
    let ids: HashSet<&str> = records.iter().filter_map(|record| record["uuid"].as_str()).collect();
    for record in &records {
        assert!(record["parentUuid"].as_str().is_none_or(|parent| ids.contains(parent)), "{record}");
    }
}

#[test]
fn a_record_whose_parent_is_left_out_hangs_on_the_nearest_one_that_is_written() {
    let (here, there) = (World::new(), World::new());
    let session = sample(&here, Agent::ClaudeCode, "classic-1.0");
    let hidden = BashExecution { command: "env".to_owned(), exclude_from_context: true, ..BashExecution::default() };
    let append = |message: Message| session.append(message, Durability::Os).unwrap().id;
    let hidden = append(Message::new(Role::User, Kind::BashExecution(hidden), Vec::new()));
    append(Message::user("ONE"));
    append(Message::assistant("ABANDONED"));
    let two = NewEvent::from(Message::user("TWO")).with_parent(Parent::Of(hidden));
    let _ = session.append(two, Durability::Os).unwrap();
    let (file, report) = here.export(&session, Agent::ClaudeCode);
    assert!(named(&report).contains(&"hiddenMessages"), "{report:?}");
    all_hang(&file);
    let seen = model(&there.import(Agent::ClaudeCode, &file));
    assert_eq!(seen, model(&session));
    assert!(seen.contains("TWO") && !seen.contains("ABANDONED"), "{seen}");
}

#[test]
fn what_hung_on_a_compaction_that_was_taken_back_hangs_on_what_stood_before_it() {
    let (here, there) = (World::new(), World::new());
    let session = sample(&here, Agent::ClaudeCode, "preserved-list-2.1");
    take_back(&session, "00000008-4004-4000-8000-000000000008");
    let (file, _) = here.export(&session, Agent::ClaudeCode);
    all_hang(&file);
    assert_eq!(model(&there.import(Agent::ClaudeCode, &file)), model(&session));
}

#[test]
fn a_compaction_whose_first_kept_message_was_taken_back_keeps_the_others() {
    let (here, there) = (World::new(), World::new());
    let session = sample(&here, Agent::Pi, "v3-all-types");
    take_back(&session, "b000000e");
    let (file, _) = here.export(&session, Agent::Pi);
    check::check(Agent::Pi, &file, "v3-all-types");
    let seen = model(&there.import(Agent::Pi, &file));
    assert_eq!(seen, model(&session));
    assert!(seen.contains("Basket weave set."), "{seen}");
}

#[test]
fn a_result_whose_call_was_taken_back_goes_with_it_and_is_told() {
    let calls = [
        (Agent::ClaudeCode, "classic-1.0", "00000005-1001-4000-8000-000000000005", "\"toolu_01\""),
        (Agent::Pi, "v3-all-types", "b0000004", "\"call_9|fc_0a1b2c\""),
    ];
    for (agent, name, call, id) in calls {
        let world = World::new();
        let session = sample(&world, agent, name);
        let (file, _) = world.export(&session, agent);
        assert!(String::from_utf8(file).unwrap().contains(id), "{name}");
        take_back(&session, call);
        let (file, report) = world.export(&session, agent);
        let names = named(&report);
        assert!(names.contains(&"tombstones") && names.contains(&"orphanResults"), "{name}: {report:?}");
        check::check(agent, &file, name);
        assert!(!String::from_utf8(file).unwrap().contains(id), "{name}");
    }
    for (name, bytes) in samples(Agent::Codex) {
        let world = World::new();
        let session = world.import(Agent::Codex, &bytes);
        let state = whole(&session);
        let holds = |message: &Message| message.calls().next().is_some();
        let held = state.entries().iter().rfind(|entry| entry.event.message().is_some_and(holds));
        let Some(held) = held.map(|entry| entry.event.id) else { continue };
        let _ = session.tombstone(&[held], None, Durability::Os).unwrap();
        let (file, report) = world.export(&session, Agent::Codex);
        assert!(named(&report).contains(&"tombstones"), "{name}: {report:?}");
        check::check(Agent::Codex, &file, &name);
    }
}

#[test]
fn blank_texts_are_left_out_of_claude_codes_file_and_told() {
    let world = World::new();
    let session = world.store.create().unwrap();
    let append = |message: Message| session.append(message, Durability::Os).unwrap().id;
    append(Message::user("Count."));
    append(Message::assistant("\n\n"));
    let call = Part::tool_call("c", "count", seslog::event::Value::Map(Vec::new()));
    append(Message::new(Role::Assistant, Kind::ToolCall, vec![Part::text(""), call]));
    append(Message::tool_result("c", "Twelve.", false));
    append(Message::new(Role::User, Kind::UserInput, vec![Part::text(" "), Part::text("Go on.")]));
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    check::check(Agent::ClaudeCode, &file, "blank");
    assert!(named(&report).contains(&"blankTexts"), "{report:?}");
    for record in records(&file) {
        for block in record["message"]["content"].as_array().into_iter().flatten() {
            assert!(block["type"] != "text" || !block["text"].as_str().unwrap().trim().is_empty(), "{record}");
        }
    }
    let seen = model(&World::new().import(Agent::ClaudeCode, &file));
    assert!(seen.contains("Twelve.") && seen.contains("Go on."), "{seen}");
}

#[test]
fn what_is_hidden_from_people_stays_hidden_or_is_told() {
    for (agent, name) in AGENTS {
        let (here, there) = (World::new(), World::new());
        let session = here.store.create().unwrap();
        let mut hidden = Message::user("INJECTED");
        hidden.metadata.visible_in_transcript = false;
        let _ = session.append(hidden, Durability::Os).unwrap();
        let _ = session.append(Message::user("hi"), Durability::Os).unwrap();
        let (file, report) = here.export(&session, agent);
        check::check(agent, &file, name);
        let again = there.import(agent, &file);
        assert!(model(&again).contains("INJECTED"), "{name}");
        let is_shown = format!("{:?}", shown(&whole(&again), View::Transcript)).contains("INJECTED");
        assert_eq!(is_shown, named(&report).contains(&"hiddenShown"), "{name}: {report:?}");
        assert!(!is_shown || agent == Agent::Codex, "{name}");
    }
}

#[test]
fn a_session_that_moved_says_its_new_folder() {
    let world = World::new();
    let session = sample(&world, Agent::Pi, "v3-all-types");
    let moved = SessionMeta { cwd: Some("/home/dev/new".to_owned()), ..SessionMeta::default() };
    let _ = session.set_meta(moved, Durability::Os).unwrap();
    let (file, report) = world.export(&session, Agent::Pi);
    assert_eq!(records(&file)[0]["cwd"], "/home/dev/new");
    assert!(report.place.contains("home-dev-new"), "{report:?}");
}

#[test]
fn calls_of_no_id_or_of_one_id_are_told_apart_and_each_result_stands_with_its_own() {
    for (agent, name) in AGENTS {
        let (here, there) = (World::new(), World::new());
        let session = here.store.create().unwrap();
        let append = |message: Message| session.append(message, Durability::Os).unwrap().id;
        let call = |id: &str, name: &str| Part::tool_call(id, name, seslog::event::Value::Map(Vec::new()));
        append(Message::user("When?"));
        append(Message::assistant_calls(vec![call("", "day"), call("", "hour")]));
        append(Message::tool_result("", "Monday", false));
        append(Message::tool_result("", "ten", false));
        for (tool, said) in [("month", "May"), ("year", "1912")] {
            append(Message::user("And?"));
            append(Message::assistant_calls(vec![call("call_0", tool)]));
            append(Message::tool_result("call_0", said, false));
        }
        let (file, report) = here.export(&session, agent);
        check::check(agent, &file, name);
        assert_eq!(file, here.export(&session, agent).0, "{name}");
        assert!(named(&report).contains(&"callIds") && !named(&report).contains(&"orphanResults"), "{report:?}");
        let seen = shown(&whole(&there.import(agent, &file)), View::Model);
        let mut ids = HashSet::new();
        for (tool, said) in [("day", "Monday"), ("hour", "ten"), ("month", "May"), ("year", "1912")] {
            let of_tool = seen.iter().find_map(|one| match one {
                Shown::Call { id, name, .. } if name == tool => Some(id.clone()),
                _ => None,
            });
            let id = of_tool.unwrap_or_else(|| panic!("{name}: {tool} in {seen:?}"));
            let is_its =
                |one: &Shown| matches!(one, Shown::Result { id: of, output, .. } if *of == id && output == said);
            assert!(seen.iter().any(is_its), "{name}: {tool} {seen:?}");
            assert!(!id.is_empty() && ids.insert(id), "{name}: {seen:?}");
        }
    }
}

#[test]
fn what_a_compaction_kept_does_not_stand_twice_in_the_transcript_of_a_rollout() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    let append = |message: Message| session.append(message, Durability::Os).unwrap().id;
    append(Message::user("Do."));
    let call = Part::tool_call("k1", "run", seslog::event::Value::Map(Vec::new()));
    let kept = [append(Message::assistant_calls(vec![call])), append(Message::tool_result("k1", "Done.", false))];
    let compaction = Compaction::new("SUM").keep(kept.to_vec());
    let _ = session.compact(compaction, Durability::Os).unwrap();
    append(Message::user("Next."));
    let (file, report) = here.export(&session, Agent::Codex);
    check::check(Agent::Codex, &file, "kept");
    assert!(!named(&report).contains(&"keptMessages"), "{report:?}");
    let again = there.import(Agent::Codex, &file);
    for view in [View::Model, View::Transcript] {
        assert_eq!(shown(&whole(&again), view), shown(&whole(&session), view), "{view:?}");
    }
    let seen = format!("{:?}", shown(&whole(&again), View::Transcript));
    for text in ["\"run\"", "Done.", "SUM"] {
        assert_eq!(seen.matches(text).count(), 1, "{text}: {seen}");
    }
    // Written once more as what it came from, it is the same file.
    assert_eq!(there.export(&again, Agent::Codex).0, file);
}
