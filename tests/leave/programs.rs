//! What the programs themselves were seen to do with files (Codex 0.171, pi 0.73 and 1.6), as promises of ours.

use serde_json::json;
use seslog::event::{Kind, Media, MediaSource, Message, Part, PartBody, Role, StopReason, ToolCall, ToolInput, Value};
use seslog::interop::{Agent, codex, pi};
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::{NewEvent, Session};

use crate::check;
use crate::cli_support::Home;
use crate::shown::{Shown, shown};
use crate::world::{World, named, samples, whole};

fn append(session: &Session, message: Message) -> seslog::event::Uuid {
    session.append(message, Durability::Os).unwrap().id
}

fn records(file: &[u8]) -> Vec<serde_json::Value> {
    std::str::from_utf8(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn file(records: &[serde_json::Value]) -> Vec<u8> {
    records.iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

/// A rollout of these records, a second apart.
pub(crate) fn rollout(payloads: &[(&str, serde_json::Value)]) -> Vec<u8> {
    let header = json!({"id": "01a22ef6-0000-7000-8000-000000000001", "timestamp": "2026-12-01T00:00:00.000Z",
        "cwd": "/hive", "originator": "codex_exec", "cli_version": "0.171.0"});
    let header = ("session_meta", header);
    let all = std::iter::once(&header).chain(payloads);
    let of = |(at, (kind, payload)): (usize, &(&str, serde_json::Value))| json!({"timestamp": format!("2026-12-01T00:00:{at:02}.000Z"), "type": kind, "payload": payload});
    file(&all.enumerate().map(of).collect::<Vec<_>>())
}

pub(crate) fn said(role: &str, text: &str) -> (&'static str, serde_json::Value) {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    ("response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

pub(crate) fn call(id: &str) -> (&'static str, serde_json::Value) {
    ("response_item", json!({"type": "function_call", "name": "run", "arguments": "{}", "call_id": id}))
}

pub(crate) fn output(id: &str) -> (&'static str, serde_json::Value) {
    ("response_item", json!({"type": "function_call_output", "call_id": id, "output": format!("of {id}")}))
}

#[test]
fn calls_side_by_side_in_a_rollout_are_of_one_answer_and_those_one_after_the_other_are_not() {
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "total_tokens": 2});
    let counted = (
        "event_msg",
        json!({"type": "token_count",
        "info": {"total_token_usage": usage, "last_token_usage": usage}}),
    );
    let records = [
        said("user", "Go."),
        call("a"),
        ("token_usage_record", json!({"response_id": "r"})),
        call("b"),
        output("a"),
        output("b"),
        call("c"),
        output("c"),
        call("d"),
        counted,
        call("e"),
        output("d"),
        output("e"),
    ];
    let read = codex::read(&rollout(&records)[..], &codex::Options::default()).unwrap();
    let answers: Vec<(String, String)> = read
        .events
        .iter()
        .filter_map(|event| match &event.body {
            seslog::interop::IncomingBody::Message(message) => {
                Some((message.calls().next()?.id.clone(), message.message_id.clone()?))
            }
            _ => None,
        })
        .collect();
    let of = |id: &str| &answers.iter().find(|(call, _)| call == id).unwrap().1;
    assert_eq!(of("a"), of("b"));
    for (one, other) in [("a", "c"), ("c", "d"), ("d", "e")] {
        assert_ne!(of(one), of(other), "{one} {other}");
    }
}

#[test]
fn calls_of_one_answer_stay_one_answer_through_a_rollout() {
    let (here, there, further) = (World::new(), World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Both."));
    let calls = ["a", "b"].map(|id| Part::tool_call(id, "run", Value::Map(Vec::new())));
    append(&session, Message::assistant_calls(calls.to_vec()));
    for id in ["a", "b"] {
        append(&session, Message::tool_result(id, id, false));
    }
    let (file, _) = here.export(&session, Agent::Codex);
    let again = there.import(Agent::Codex, &file);
    // pi has one entry for each answer.
    let (file, _) = there.export(&again, Agent::Pi);
    let of_pi = records(&file);
    let blocks = of_pi.iter().filter_map(|record| record["message"]["content"].as_array());
    let calls = blocks.map(|blocks| blocks.iter().filter(|block| block["type"] == "toolCall").count());
    assert_eq!(calls.max(), Some(2), "{of_pi:#?}");
    let seen = |session: &Session| shown(&whole(session), View::Model);
    assert_eq!(seen(&further.import(Agent::Pi, &file)).len(), seen(&session).len());
}

/// The list of a compaction has the summary as a message of the user's.
#[test]
fn a_summary_in_the_list_of_a_compaction_stands_once_in_the_transcript() {
    let compacted = json!({"message": "All that was.", "replacement_history": [said("user", "First.").1, said("user", "All that was.").1]});
    let bytes =
        rollout(&[said("user", "First."), said("assistant", "Done."), ("compacted", compacted), said("user", "Next.")]);
    let world = World::new();
    let session = world.import(Agent::Codex, &bytes);
    for view in [View::Model, View::Transcript] {
        let seen = format!("{:?}", shown(&whole(&session), view));
        for text in ["First.", "All that was.", "Next."] {
            assert_eq!(seen.matches(text).count(), 1, "{view:?} {text}: {seen}");
        }
    }
    let (file, report) = world.export(&session, Agent::Codex);
    assert_eq!((records(&file), named(&report)), (records(&bytes), Vec::new()));
}

#[test]
fn input_that_is_no_json_goes_to_codex_as_the_input_of_a_free_call() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Patch."));
    let call = ToolCall {
        id: "p".to_owned(),
        name: "patch".to_owned(),
        input: ToolInput::Text("*** Begin".to_owned()),
        incomplete: false,
        thought_signature: None,
    };
    append(&session, Message::assistant_calls(vec![Part::new(PartBody::ToolCall(call))]));
    append(&session, Message::tool_result("p", "Patched.", false));
    let (file, _) = here.export(&session, Agent::Codex);
    check::check(Agent::Codex, &file, "free");
    let kinds: Vec<_> = records(&file).iter().map(|record| record["payload"]["type"].clone()).collect();
    assert!(
        kinds.contains(&"custom_tool_call".into()) && kinds.contains(&"custom_tool_call_output".into()),
        "{kinds:?}"
    );
    let again = there.import(Agent::Codex, &file);
    assert_eq!(shown(&whole(&again), View::Model), shown(&whole(&session), View::Model));
}

#[test]
fn arguments_that_are_no_object_stand_in_one_in_a_rollout() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Go."));
    let calls = [("a", Value::Int(5)), ("b", Value::Null)].map(|(id, input)| Part::tool_call(id, "run", input));
    append(&session, Message::assistant_calls(calls.to_vec()));
    let (file, report) = world.export(&session, Agent::Codex);
    let arguments = records(&file).into_iter().filter_map(|record| record["payload"].get("arguments").cloned());
    assert!(arguments.eq([r#"{"input":5}"#, "{}"]));
    assert!(named(&report).contains(&"callInputs"), "{report:?}");
}

#[test]
fn an_output_that_is_an_object_is_written_as_the_text_that_codex_still_reads() {
    let world = World::new();
    let (file, report) =
        world.export(&world.import(Agent::Codex, &samples(Agent::Codex)["bare-2025-08"]), Agent::Codex);
    let outputs: Vec<_> =
        records(&file).into_iter().filter_map(|record| record["payload"].get("output").cloned()).collect();
    assert!(outputs.len() > 1 && outputs.iter().all(|output| output.is_string()), "{outputs:?}");
    assert!(named(&report).contains(&"outputForms") && named(&report).contains(&"folder"), "{report:?}");
}

#[test]
fn times_in_a_rollout_never_go_back_and_the_report_says_whose_did() {
    let world = World::new();
    let session = world.store.create().unwrap();
    for (text, at) in [("One.", 5_000_000), ("Two.", 2_000_000), ("Three.", 9_000_000)] {
        let _ = session.append(NewEvent::from(Message::user(text)).at(at), Durability::Os).unwrap();
    }
    let (file, report) = world.export(&session, Agent::Codex);
    let times: Vec<String> =
        records(&file).iter().map(|record| record["timestamp"].as_str().unwrap().to_owned()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let told = report.differences.iter().find(|difference| difference.what == "times").unwrap();
    assert_eq!(told.count, 1);
}

#[test]
fn a_rollout_that_begins_with_a_summary_is_titled_by_what_a_person_asked() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    let summary = seslog::event::BranchSummary::default();
    append(&session, Message::new(Role::User, Kind::BranchSummary(summary), vec![Part::text("Left.")]));
    append(&session, Message::user("Count the bees."));
    let again = there.import(Agent::Codex, &here.export(&session, Agent::Codex).0);
    assert_eq!(whole(&again).meta().title.as_deref(), Some("Count the bees."));
}

#[test]
fn pictures_that_codex_would_not_fetch_are_told() {
    let world = World::new();
    let session = world.store.create().unwrap();
    let source = MediaSource::Url("https://example.invalid/bee.png".to_owned());
    let media = Media { media_type: String::new(), source, name: None, width: None, height: None };
    append(&session, Message::new(Role::User, Kind::UserInput, vec![Part::new(PartBody::Image(media))]));
    assert!(named(&world.export(&session, Agent::Codex).1).contains(&"mediaLinks"));
}

#[test]
fn what_is_hidden_from_people_is_not_on_codexs_screen() {
    let world = World::new();
    let session = world.store.create().unwrap();
    let mut hidden = Message::user("For the model.");
    hidden.metadata.meta = true;
    append(&session, hidden);
    append(&session, Message::user("Count the bees."));
    let (file, report) = world.export(&session, Agent::Codex);
    let screen = records(&file).into_iter().filter(|record| record["payload"]["type"] == "user_message");
    assert!(screen.map(|record| record["payload"]["message"].clone()).eq(["Count the bees."]));
    assert!(named(&report).contains(&"hiddenShown"), "{report:?}");
}

#[test]
fn a_rollout_of_the_live_branch_says_what_people_see_so_that_codex_lists_it() {
    let world = World::new();
    let bytes = rollout(&[
        said("user", "<environment_context>x"),
        said("user", "First."),
        said("assistant", "Done."),
        said("user", "Next."),
    ]);
    let session = world.import(Agent::Codex, &bytes);
    let state = whole(&session);
    let answer = state.entries().iter().find(|entry| entry.event.original_id.as_deref() == Some("L4")).unwrap();
    let _ = session.rewind(Some(answer.event.id), Durability::Os).unwrap();
    append(&session, Message::user("Else."));
    let (file, report) = world.export(&session, Agent::Codex);
    let of_people = records(&file).into_iter().filter(|record| record["type"] == "event_msg");
    let texts: Vec<_> = of_people.filter_map(|record| record["payload"].get("message").cloned()).collect();
    assert_eq!(texts, ["First.", "Done.", "Else."], "{report:?}");
    assert!(!named(&report).contains(&"title"), "{report:?}");
}

#[test]
fn what_codex_says_of_an_answers_cost_later_counts_for_its_model() {
    let home = Home::new();
    let sample = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/codex/resume-2026.jsonl");
    let imported = home.run(&["import", sample.to_str().unwrap(), "--json"]).ends_with(0).json();
    let stat = home.run(&["stat", imported["session"].as_str().unwrap(), "--json"]).ends_with(0).json();
    let of_models: u64 = stat["models"].as_object().unwrap().values().map(|made| made["input"].as_u64().unwrap()).sum();
    assert!(of_models > 0, "{stat}");
    assert_eq!(stat["tokens"]["input"], of_models);
}

/// Entries of a session of pi's, each hanging on the one before.
fn entries(all: &[serde_json::Value]) -> Vec<u8> {
    let mut records = vec![
        json!({"type": "session", "version": 3, "id": "6c0e0009", "timestamp": "2026-12-01T00:00:00.000Z", "cwd": "/hive"}),
    ];
    let mut parent = serde_json::Value::Null;
    for (number, entry) in all.iter().enumerate() {
        let mut entry = entry.clone();
        let id = format!("e000000{number}");
        entry["id"] = id.clone().into();
        if entry.get("parentId").is_none() {
            entry["parentId"] = parent;
        }
        entry["timestamp"] = format!("2026-12-01T00:00:0{number}.000Z").into();
        parent = id.into();
        records.push(entry);
    }
    file(&records)
}

fn user(text: &str) -> serde_json::Value {
    json!({"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}})
}

fn model(session: &Session) -> String {
    format!("{:?}", shown(&whole(session), View::Model))
}

#[test]
fn an_edit_whose_new_content_stands_in_an_object_replaces_and_one_that_is_null_leaves_out() {
    let edit =
        |target: &str, replacement| json!({"type": "context_edit", "targetId": target, "replacement": replacement});
    let bytes = entries(&[
        user("Old."),
        user("Gone."),
        edit("e0000000", json!({"content": "New."})),
        edit("e0000001", json!(null)),
    ]);
    let world = World::new();
    let session = world.import(Agent::Pi, &bytes);
    let seen = model(&session);
    assert!(seen.contains("New.") && !seen.contains("Old.") && !seen.contains("Gone."), "{seen}");
    // And the file comes back.
    let (file, report) = world.export(&session, Agent::Pi);
    assert_eq!((records(&file), named(&report)), (records(&bytes), Vec::new()));
}

#[test]
fn what_lost_its_parent_hangs_in_the_file_where_the_session_has_it() {
    let (here, there) = (World::new(), World::new());
    let mut second = user("Second.");
    second["parentId"] = "not-there".into();
    let session = here.import(Agent::Pi, &entries(&[user("First."), second]));
    let (file, report) = here.export(&session, Agent::Pi);
    assert_eq!(named(&report), ["lostParents"]);
    let strict = pi::Options { strict_parents: true, ..pi::Options::default() };
    let read = pi::read(&file[..], &strict).unwrap();
    assert_eq!(read.report.live_chain.len(), 2, "{:?}", read.report);
    assert_eq!(model(&there.import(Agent::Pi, &file)), model(&session));
}

#[test]
fn an_answer_that_was_broken_off_goes_to_pi_as_one_that_it_sends() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Go."));
    for stop in [StopReason::Said("aborted".to_owned()), StopReason::Said("refusal".to_owned()), StopReason::StreamOpen]
    {
        let mut message = Message::assistant("Half an answer.");
        message.stop_reason = stop;
        append(&session, message);
    }
    let (file, report) = here.export(&session, Agent::Pi);
    let told = report.differences.iter().find(|difference| difference.what == "brokenOff").unwrap();
    assert_eq!(told.count, 3);
    let stops = records(&file).into_iter().filter_map(|record| record["message"].get("stopReason").cloned());
    assert!(stops.eq(["stop"; 3].map(serde_json::Value::from)));
    assert_eq!(model(&there.import(Agent::Pi, &file)), model(&session));
}

#[test]
fn an_answer_of_unknown_cost_is_no_request_after_pi() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Go."));
    append(&session, Message::assistant("Gone."));
    let (file, _) = here.export(&session, Agent::Pi);
    let again = there.import(Agent::Pi, &file);
    let usages = whole(&again)
        .entries()
        .iter()
        .filter(|entry| entry.event.message().is_some_and(|message| message.usage.is_some()))
        .count();
    assert_eq!(usages, 0);
    // The zeros come back all the same.
    assert_eq!(records(&there.export(&again, Agent::Pi).0)[2], records(&file)[2]);
}

#[test]
fn names_and_ids_that_providers_refuse_are_made_anew_for_pi() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Go."));
    // The program cuts ids at 64 characters.
    let ids = ["1", "2"].map(|end| format!("{}{end}", "x".repeat(80)));
    let calls =
        [(&ids[0], ""), (&ids[1], "a b")].map(|(id, name)| Part::tool_call(id.clone(), name, Value::Map(Vec::new())));
    append(&session, Message::assistant_calls(calls.to_vec()));
    for id in &ids {
        append(&session, Message::tool_result(id, &id[79..], false));
    }
    let (file, report) = here.export(&session, Agent::Pi);
    assert!(["callIds", "toolNames"].iter().all(|what| named(&report).contains(what)), "{report:?}");
    let seen = shown(&whole(&there.import(Agent::Pi, &file)), View::Model);
    let calls: Vec<_> = seen
        .iter()
        .filter_map(|one| match one {
            Shown::Call { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    assert!(calls.iter().all(|(id, name)| id.len() <= 64 && !name.is_empty() && !name.contains(' ')), "{calls:?}");
    for ((id, _), output) in calls.iter().zip(["x1", "x2"]) {
        let is_its = |one: &Shown| matches!(one, Shown::Result { id: of, output: is, .. } if of == id && is == output);
        assert!(seen.iter().any(is_its), "{id}: {seen:?}");
    }
}

#[test]
fn a_session_at_a_call_whose_result_is_on_another_branch_goes_on_behind_the_result() {
    let (here, there) = (World::new(), World::new());
    let answer = json!({"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "run", "arguments": {}}],
        "api": "a", "provider": "p", "model": "m", "usage": {"input": 1, "output": 1}, "stopReason": "toolUse", "timestamp": 1}});
    let result = json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "run", "content": [{"type": "text", "text": "Ran."}],
        "isError": false, "timestamp": 1}});
    let session = here.import(Agent::Pi, &entries(&[user("Go."), answer, result, user("More.")]));
    let at = whole(&session)
        .entries()
        .iter()
        .find(|entry| entry.event.message().is_some_and(|message| message.calls().next().is_some()))
        .unwrap()
        .event
        .id;
    let _ = session.rewind(Some(at), Durability::Os).unwrap();
    assert!(model(&session).contains("Ran."));
    let (file, _) = here.export(&session, Agent::Pi);
    assert_eq!(model(&there.import(Agent::Pi, &file)), model(&session));
}

/// Pi sent a result of its own beside the call, and the real one once more behind what the person had said meanwhile.
#[test]
fn a_result_that_came_after_other_words_stands_behind_its_call_in_pis_file() {
    let world = World::new();
    let session = world.import(Agent::Pi, &samples(Agent::Pi)["v2-branch"]);
    append(&session, Message::user("Go."));
    let calls = ["k1", "k2"].map(|id| Part::tool_call(id, "run", Value::Map(Vec::new())));
    append(&session, Message::assistant_calls(calls.to_vec()));
    append(&session, Message::tool_result("k1", "first", false));
    append(&session, Message::user("Wait."));
    append(&session, Message::tool_result("k2", "second", false));
    append(&session, Message::assistant("Done."));
    let (file, _) = world.export(&session, Agent::Pi);
    check::check(Agent::Pi, &file, "parted");
    let records = records(&file);
    let parent_of =
        |text: &str| records.iter().find(|record| record.to_string().contains(text)).unwrap()["parentId"].clone();
    for (text, parent) in
        [("\"second\"", "toolCall\""), ("\"first\"", "\"second\""), ("Wait.", "\"first\""), ("Done.", "Wait.")]
    {
        let is_last = |record: &&serde_json::Value| record.to_string().contains(parent);
        let parent = records.iter().rev().find(is_last).unwrap()["id"].clone();
        assert_eq!(parent_of(text), parent, "{text}: {records:#?}");
    }
    // Nothing is lost, and the model reads the same.
    let again = World::new().import(Agent::Pi, &file);
    assert_eq!(shown(&whole(&again), View::Model), shown(&whole(&session), View::Model));
}
