//! Odd files, written from the format's description and read by hand.

use serde_json::{Value as Json, json};
use seslog::event::{PartBody, ToolInput, Value};
use seslog::interop::codex::{Imported, Options, read};
use seslog::projection::{View, project};

use crate::{body, feed, model, shown, with_session};

/// One pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A file that is written line by line.
#[derive(Default)]
pub(crate) struct File(pub(crate) String);

impl File {
    pub(crate) fn begun() -> Self {
        let mut file = Self::default();
        file.put("session_meta", &json!({"id": "t-1", "timestamp": "2026-05-01T00:00:00.000Z", "cwd": "/x"}));
        file
    }

    pub(crate) fn put(&mut self, kind: &str, payload: &Json) -> &mut Self {
        let line = json!({"timestamp": "2026-05-01T00:00:00.000Z", "type": kind, "payload": payload});
        self.0.push_str(&format!("{line}\n"));
        self
    }

    pub(crate) fn event(&mut self, kind: &str) -> &mut Self {
        self.put("event_msg", &json!({"type": kind}))
    }

    pub(crate) fn item(&mut self, item: &Json) -> &mut Self {
        self.put("response_item", item)
    }

    pub(crate) fn user(&mut self, text: &str) -> &mut Self {
        self.item(&message("user", text))
    }

    pub(crate) fn says(&mut self, text: &str) -> &mut Self {
        self.item(&message("assistant", text))
    }

    /// A turn as the program writes it.
    pub(crate) fn turn(&mut self, asked: &str, answered: &str) -> &mut Self {
        self.event("task_started").user(asked).says(answered).event("task_complete")
    }

    pub(crate) fn left(&mut self, items: &[Json]) -> &mut Self {
        self.put("compacted", &json!({"message": "", "replacement_history": items}))
    }

    pub(crate) fn back(&mut self, turns: u32) -> &mut Self {
        self.put("event_msg", &json!({"type": "thread_rolled_back", "num_turns": turns}))
    }
}

pub(crate) fn message(role: &str, text: &str) -> Json {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// Reads the file, holds the model's view of its session against these texts, and the whole against a body's rules.
fn check(text: &str, context: &[&str]) -> Imported {
    let imported = read(text.as_bytes(), &Options::default()).unwrap();
    with_session(|session| {
        feed(session, &imported);
        for state in [session.state().unwrap(), session.whole_state().unwrap()] {
            let messages = model(&state);
            assert_eq!(shown(&messages), context);
            if !messages.is_empty() {
                let _ = body(&messages, None);
            }
        }
        let again = feed(session, &imported);
        assert_eq!(again.0, 0, "{again:?}");
    });
    imported
}

fn ids(imported: &Imported) -> Vec<&str> {
    imported.report.context.iter().map(|item| item.id.as_str()).collect()
}

#[test]
fn a_rollback_of_more_turns_than_there_are_leaves_what_stood_before_the_first() {
    let mut file = File::begun();
    file.item(&message("developer", "<permissions instructions>ask")).user("<environment_context>x");
    file.turn("One.", "1").turn("Two.", "2").back(9);
    let imported = check(&file.0, &["system: <permissions instructions>ask", "user: <environment_context>x"]);
    assert_eq!(ids(&imported), ["L2", "L3"]);
    assert_eq!((imported.report.rollbacks[0].turns, imported.report.rollbacks[0].items), (9, 4));
    file.back(0).back(1).turn("Three.", "3");
    let imported = check(
        &file.0,
        &["system: <permissions instructions>ask", "user: <environment_context>x", "user: Three.", "assistant: 3"],
    );
    assert_eq!(imported.report.warnings.len(), 1, "{:?}", imported.report.warnings);
    assert_eq!(imported.report.warnings[0].code, "nothing_rolled_back");
}

#[test]
fn a_rollback_over_a_compaction_between_turns_brings_the_older_turns_back() {
    let mut file = File::begun();
    file.turn("One.", "1").turn("Two.", "2").left(&[message("user", "One."), message("user", "Sum.")]);
    file.turn("Three.", "3");
    check(&file.0, &["user: One.", "user: Sum.", "user: Three.", "assistant: 3"]);
    let one = format!("{}{}", file.0, File::default().back(1).0);
    check(&one, &["user: One.", "user: Sum."]);
    let two = format!("{}{}", file.0, File::default().back(2).0);
    let imported = check(&two, &["user: One.", "assistant: 1"]);
    assert!(imported.report.compact_boundary_live.is_empty());
    // Two rollbacks of one turn each do the same.
    let twice = format!("{}{}", file.0, File::default().back(1).back(1).0);
    check(&twice, &["user: One.", "assistant: 1"]);
}

#[test]
fn a_compaction_before_the_first_words_of_a_turn_goes_with_that_turn() {
    let mut file = File::begun();
    file.turn("One.", "1").event("task_started").left(&[message("user", "Sum.")]).user("Two.").says("2");
    file.event("task_complete");
    check(&file.0, &["user: Sum.", "user: Two.", "assistant: 2"]);
    file.back(1);
    check(&file.0, &["user: One.", "assistant: 1"]);
}

#[test]
fn a_rollback_in_a_file_that_begins_with_a_compaction_counts_the_turns_that_it_left() {
    let mut file = File::begun();
    file.left(&[message("user", "One."), message("assistant", "1"), message("user", "Two.")]);
    file.turn("Three.", "3").back(2);
    let imported = check(&file.0, &["user: One.", "assistant: 1"]);
    assert_eq!(ids(&imported), ["L2#0", "L2#1"]);
    file.turn("Four.", "4");
    let imported = check(&file.0, &["user: One.", "assistant: 1", "user: Four.", "assistant: 4"]);
    assert_eq!(imported.report.compact_boundary_live, ["L2"]);
}

#[test]
fn context_that_was_injected_for_a_turn_goes_with_it() {
    let mut file = File::begun();
    file.turn("One.", "1").item(&message("developer", "<model_switch>x")).user("<environment_context>y");
    file.turn("Two.", "2").back(1);
    check(&file.0, &["user: One.", "assistant: 1"]);
    // Also where a compaction kept it.
    let mut file = File::begun();
    file.turn("One.", "1").user("<environment_context>y").turn("Two.", "2");
    file.left(&[message("user", "One."), message("user", "<environment_context>y")]).turn("Three.", "3");
    check(&file.0, &["user: One.", "user: <environment_context>y", "user: Three.", "assistant: 3"]);
    file.back(1);
    let imported = check(&file.0, &["user: One."]);
    assert_eq!(ids(&imported), ["L11#0"]);
    file.turn("Four.", "4");
    check(&file.0, &["user: One.", "user: Four.", "assistant: 4"]);
}

#[test]
fn a_compaction_without_a_list_leaves_what_persons_said_and_its_message() {
    let mut file = File::begun();
    file.user("<environment_context>y").turn("One.", "1").put("compacted", &json!({"message": "Sum 1."}));
    file.turn("Two.", "2").put("compacted", &json!({"message": "Sum 2."}));
    let imported = check(&file.0, &["user: One.", "user: Two.", "user: Sum 2."]);
    assert_eq!(ids(&imported), ["L4", "L9", "L12"]);
    assert_eq!(imported.report.compact_boundary_live, ["L12"]);
    file.back(1);
    check(&file.0, &["user: One.", "user: Sum 1."]);
}

#[test]
fn the_early_form_is_one_object_over_many_lines() {
    let early = json!({
        "session": {"timestamp": "2025-04-20T10:00:00.000Z", "id": "early-1", "instructions": "Be brief."},
        "items": [
            message("user", "List it."),
            {"type": "function_call", "id": "fc_1", "status": "completed", "name": "shell",
                "arguments": "{\"command\": [\"ls\"]}", "call_id": "c1"},
            {"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a\"}"},
            {"type": "nonsense"},
            message("assistant", "a."),
        ],
    });
    for text in [serde_json::to_string_pretty(&early).unwrap(), early.to_string()] {
        let imported = check(&text, &["user: List it.", "call c1", "output c1", "assistant: a."]);
        assert_eq!(imported.session_id.as_deref(), Some("early-1"));
        assert_eq!(ids(&imported), ["L1#0", "L1#1", "L1#2", "L1#4"]);
        assert_eq!((imported.report.records, imported.report.messages), (6, 2));
    }
}

#[test]
fn an_output_whose_call_was_compacted_away_is_told_and_not_sent() {
    let mut file = File::begun();
    file.user("Run.");
    file.item(&json!({"type": "function_call", "name": "run", "arguments": "{}", "call_id": "c1"}));
    file.left(&[message("user", "Run.")]);
    file.item(&json!({"type": "function_call_output", "call_id": "c1", "output": "late"})).says("Done.");
    let imported = check(&file.0, &["user: Run.", "assistant: Done."]);
    assert_eq!(ids(&imported), ["L4#0", "L5", "L6"]);
    assert_eq!(imported.report.tool_calls.orphan_results, ["c1"]);
}

#[test]
fn two_records_on_one_line_and_one_behind_a_torn_one_are_read() {
    let mut file = File::begun();
    file.user("One.");
    file.0.pop();
    file.says("1").user("Two.");
    file.0.truncate(file.0.len() - 30);
    file.says("Torn before me.").user("Three.");
    let imported = check(&file.0, &["user: One.", "assistant: 1", "assistant: Torn before me.", "user: Three."]);
    assert_eq!(ids(&imported), ["L2.0", "L2.1", "L3.0", "L4"]);
    assert_eq!((imported.report.bad_lines.as_slice(), imported.report.salvaged.len()), ([2, 3].as_slice(), 3));
}

#[test]
fn a_sub_agents_file_names_who_started_it_and_messages_between_agents_begin_turns() {
    let mut file = File::default();
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": "t-0", "depth": 1}}});
    file.put("session_meta", &json!({"id": "t-9", "agent_nickname": "Oiler", "source": source}));
    file.put("session_meta", &json!({"id": "t-0", "cwd": "/other"}));
    file.user("Oil the clock.").says("Oiled.");
    let content = json!([{"type": "input_text", "text": "Once more."}]);
    file.item(&json!({"type": "agent_message", "author": "/root", "recipient": "/root/oiler", "content": content}));
    file.says("Oiled again.");
    let whole = ["user: Oil the clock.", "assistant: Oiled.", "user: Once more.", "assistant: Oiled again."];
    let imported = check(&file.0, &whole);
    assert_eq!((imported.session_id.as_deref(), imported.parent_thread.as_deref()), (Some("t-9"), Some("t-0")));
    file.back(1);
    check(&file.0, &whole[..2]);
    with_session(|session| {
        feed(session, &imported);
        let meta = session.state().unwrap().meta().clone();
        assert_eq!((meta.agent.as_deref(), meta.cwd), (Some("Oiler"), None));
        assert!(meta.extra.contains(&("parentThread".to_owned(), Value::from("t-0"))));
    });
}

#[test]
fn calls_of_every_kind_keep_what_the_model_wrote() {
    let mut file = File::begun();
    file.user("Go.");
    file.item(&json!({"type": "function_call", "id": "fc_1", "namespace": "mcp__x", "name": "run",
        "arguments": "{\"a\": 1.10", "call_id": "c1"}));
    file.item(&json!({"type": "function_call", "name": "run", "arguments": "{\"a\": 1.10}", "call_id": "c2"}));
    file.item(&json!({"type": "function_call", "name": "run", "arguments": "", "call_id": "c3"}));
    file.item(&json!({"type": "local_shell_call", "id": "lsh_1", "status": "completed",
        "action": {"type": "exec", "command": ["ls"]}}));
    file.item(&json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "moths"},
        "internal_chat_message_metadata_passthrough": {"turn_id": "t"}}));
    file.item(&json!({"type": "function_call_output", "call_id": "c2", "output": [
        {"type": "input_text", "text": "seen"},
        {"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}"), "detail": "high"}]}));
    let imported = check(
        &file.0,
        &["user: Go.", "call c1", "call c2", "output c2", "call c3", "call lsh_1", "whole web_search_call"],
    );
    assert_eq!(imported.report.tool_calls.unpaired, ["c1", "c3", "lsh_1"]);
    with_session(|session| {
        feed(session, &imported);
        let messages = model(&session.state().unwrap());
        let inputs: Vec<ToolInput> = messages
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(|part| Some(part.as_tool_call()?.input.clone()))
            .collect();
        assert_eq!(inputs[0], ToolInput::Text("{\"a\": 1.10".to_owned()));
        assert_eq!(inputs[1], ToolInput::Json(Value::parse_json("{\"a\":1.10}").unwrap().0));
        assert_eq!(inputs[2], ToolInput::None);
        let kept = |index: usize, name: &str| {
            messages[index].content[0].extra.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        assert_eq!(kept(1, "namespace"), Some("mcp__x".into()));
        assert_eq!(kept(2, "arguments"), Some("{\"a\": 1.10}".into()));
        let search = messages.last().unwrap();
        let PartBody::Opaque(whole) = &search.content[0].body else { panic!("{search:?}") };
        assert!(whole.value.get("internal_chat_message_metadata_passthrough").is_none());
        let sent = body(&messages, None);
        let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
            "action": {"type": "search", "query": "moths"}});
        assert!(sent["input"].as_array().unwrap().contains(&search), "{sent}");
    });
}

#[test]
fn the_providers_own_summary_goes_back_under_the_name_that_it_has_there() {
    let mut file = File::begun();
    file.user("One.").left(&[json!({"type": "compaction_summary", "encrypted_content": "c2VhbGVk"})]).user("Two.");
    let imported = check(&file.0, &["whole compaction", "user: Two."]);
    assert_eq!(imported.report.context[0].kind, "compaction_summary");
    with_session(|session| {
        feed(session, &imported);
        let sent = body(&model(&session.state().unwrap()), None);
        assert_eq!(sent["input"][0], json!({"type": "compaction", "encrypted_content": "c2VhbGVk"}));
    });
}

#[test]
fn searches_for_tools_are_calls_with_answers_or_the_providers_own() {
    let mut file = File::begun();
    file.user("Find.");
    file.item(
        &json!({"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {"query": "x"}}),
    );
    file.item(&json!({"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [{"name": "y"}]}));
    file.item(&json!({"type": "tool_search_call", "call_id": null, "execution": "server", "arguments": {}}));
    let context = ["user: Find.", "call c1", "output c1", "whole tool_search_call"];
    let imported = check(&file.0, &context);
    assert_eq!(imported.report.tool_calls.paired, 1);
}

#[test]
fn what_stopped_a_turn_is_shown_to_people_and_not_to_the_model() {
    let mut file = File::begun();
    file.event("task_started").user("Go.");
    file.put("event_msg", &json!({"type": "error", "message": "the line is down"}));
    file.put("event_msg", &json!({"type": "turn_aborted", "turn_id": "t", "reason": "interrupted"}));
    let imported = check(&file.0, &["user: Go."]);
    with_session(|session| {
        feed(session, &imported);
        let transcript = project(&session.whole_state().unwrap(), View::Transcript, &Default::default()).messages;
        let told: Vec<_> = transcript.iter().map(|message| message.semantic_type()).collect();
        assert_eq!(told, ["user_input", "system_event", "system_event"]);
    });
}

#[test]
fn what_the_program_would_pass_over_is_kept_and_not_shown() {
    let mut file = File::begun();
    file.user("One.");
    file.item(&json!({"type": "function_call", "name": "run", "arguments": {"a": 1}, "call_id": "c1"}));
    file.item(&json!({"type": "message", "role": "user", "content": null}));
    file.put("compacted", &json!({"message": "m", "replacement_history": [{"type": "message"}]}));
    file.put("event_msg", &json!({"type": "thread_rolled_back"}));
    file.item(&json!({"type": "future_item", "x": 1})).put("future", &json!({}));
    let imported = check(&file.0, &["user: One."]);
    assert_eq!(imported.report.bad_lines, [3, 4, 5, 6]);
    let unknown: Vec<_> = imported.report.unknown_types.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(unknown, [("future", 1), ("response_item/future_item", 1)]);
    // Each line is one event, and the meta.
    assert_eq!(imported.events.len(), 9);
}
