//! What the Claude Code reader makes of each kind of record.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/claude.rs"]
mod claude;

use claude::{Transcript, id};
use seslog::event::{
    Fields, HookPhase, Kind, MediaSource, Message, PartBody, Role, SessionMeta, Source, StopReason, ToolInput,
    ToolOutput, Value,
};
use seslog::interop::claude_code::{Imported, Options, read};
use seslog::interop::{Incoming, IncomingBody};

fn import(made: &Transcript) -> Imported {
    read(made.text.as_bytes(), &Options::default()).unwrap()
}

fn event(imported: &Imported, number: u64) -> &Incoming {
    imported.events.iter().find(|event| event.id == Some(id(number))).expect("the event is there")
}

fn message(imported: &Imported, number: u64) -> &Message {
    match &event(imported, number).body {
        IncomingBody::Message(message) => message,
        other => panic!("{other:?}"),
    }
}

fn one(fields: &str, kind: &str) -> (Message, Fields) {
    let mut made = Transcript::default();
    made.record(1, 0, kind, fields);
    let imported = import(&made);
    (message(&imported, 1).clone(), message(&imported, 1).extra.clone())
}

fn user_with(content: &str) -> Message {
    one(&format!(r#""message":{{"role":"user","content":{content}}}"#), "user").0
}

fn answer_with(content: &str) -> Message {
    one(
        &format!(r#""message":{{"id":"m","type":"message","role":"assistant","model":"x","content":{content}}}"#),
        "assistant",
    )
    .0
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

#[test]
fn reasoning_is_kept_byte_for_byte() {
    let message = answer_with(
        r#"[{"type":"thinking","thinking":" a\u0000\r\n é","signature":"c2ln+/=="},{"type":"thinking","thinking":"","signature":""},
        {"type":"redacted_thinking","data":"cmVk"}]"#
            .replace('\n', "")
            .as_str(),
    );
    assert_eq!(message.kind, Kind::AssistantReasoning);
    let parts: Vec<_> = message
        .content
        .iter()
        .map(|part| match &part.body {
            PartBody::Reasoning(reasoning) => {
                (reasoning.text.as_deref(), reasoning.signature.as_deref(), reasoning.redacted.as_deref())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        parts,
        [(Some(" a\0\r\n é"), Some("c2ln+/=="), None), (Some(""), Some(""), None), (None, None, Some("cmVk"))]
    );
    assert!(message.content.iter().all(|part| part.provider.as_deref() == Some("anthropic")));
}

#[test]
fn an_answers_kind_is_its_main_meaning() {
    let thinking = r#"{"type":"thinking","thinking":"t","signature":"s"}"#;
    let words = r#"{"type":"text","text":"w"}"#;
    let call = r#"{"type":"tool_use","id":"c","name":"Read","input":{"b":1,"a":2},"caller":{"type":"direct"}}"#;
    assert_eq!(answer_with(&format!("[{thinking},{words},{call}]")).kind, Kind::ToolCall);
    assert_eq!(answer_with(&format!("[{thinking},{words}]")).kind, Kind::AssistantText);
    let other = answer_with(r#"[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]"#);
    assert_eq!(other.kind, Kind::AssistantText);
    assert!(
        matches!(&other.content[0].body, PartBody::Opaque(opaque) if opaque.value.get("name") == Some(&text("web_search")))
    );
    let called = answer_with(&format!("[{call}]"));
    let made = called.content[0].as_tool_call().unwrap();
    assert_eq!((made.id.as_str(), made.name.as_str()), ("c", "Read"));
    let ToolInput::Json(Value::Map(input)) = &made.input else { panic!("{made:?}") };
    assert_eq!(input.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(called.content[0].extra[0].0, "caller");
}

#[test]
fn a_result_and_words_in_one_record_stay_in_their_order() {
    let message = user_with(
        r#"[{"type":"tool_result","tool_use_id":"c","is_error":null,"content":[{"type":"text","text":"out"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aW1n"}},{"type":"tool_reference","tool_name":"T"}]},
        {"type":"text","text":"Words."}]"#
            .replace('\n', "")
            .as_str(),
    );
    assert_eq!((message.role, &message.kind), (Role::Tool, &Kind::ToolResult));
    let result = message.content[0].as_tool_result().unwrap();
    assert!(!result.is_error);
    let ToolOutput::Parts(parts) = &result.output else { panic!("{result:?}") };
    assert_eq!(parts[0].as_text(), Some("out"));
    assert!(matches!(&parts[1].body, PartBody::Image(media) if media.source == MediaSource::Data("aW1n".to_owned())));
    assert!(matches!(&parts[2].body, PartBody::Json(value) if value.get("tool_name") == Some(&text("T"))));
    assert_eq!(message.content[1].as_text(), Some("Words."));
}

#[test]
fn a_result_has_its_copy_for_the_screen_and_its_calls_message() {
    let (message, extra) = one(
        r#""message":{"role":"user","content":[{"tool_use_id":"c","type":"tool_result","content":"no","is_error":true}]},
        "toolUseResult":"Error: no","sourceToolAssistantUUID":"abc","slug":"quiet-pond""#
            .replace('\n', "")
            .as_str(),
        "user",
    );
    let result = message.content[0].as_tool_result().unwrap();
    assert!(result.is_error);
    assert_eq!(result.raw, Some(text("Error: no")));
    assert_eq!(message.metadata.source_tool_assistant_id.as_deref(), Some("abc"));
    let names: Vec<&str> = extra.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["userType", "cwd", "version", "gitBranch", "slug"]);
    let (message, extra) = one(
        r#""message":{"role":"user","content":[{"tool_use_id":"c","type":"tool_result"},{"tool_use_id":"d","type":"tool_result"}]},"toolUseResult":[1]"#,
        "user",
    );
    assert!(message.results().all(|result| result.raw.is_none()));
    assert!(extra.iter().any(|(name, _)| name == "toolUseResult"));
}

#[test]
fn pictures_and_documents_become_parts_and_other_sources_stay_whole() {
    let message = user_with(
        r#"[{"type":"image","source":{"type":"url","url":"https://example.invalid/a.png"}},
        {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"cGRm"},"title":"A","context":"c"},
        {"type":"document","source":{"type":"file","file_id":"f"}}]"#
            .replace('\n', "")
            .as_str(),
    );
    assert!(matches!(&message.content[0].body, PartBody::Image(media) if matches!(media.source, MediaSource::Url(_))));
    assert!(matches!(&message.content[1].body, PartBody::File(media) if media.name.as_deref() == Some("A")));
    assert_eq!(message.content[1].extra[0].0, "context");
    assert!(matches!(&message.content[2].body, PartBody::Opaque(_)));
}

#[test]
fn what_nobody_typed_is_not_a_persons() {
    for (fields, synthetic, meta, source) in [
        (r#""message":{"role":"user","content":"Hello"}"#, false, false, Source::User),
        (r#""message":{"role":"user","content":"Hello"},"isMeta":true"#, false, true, Source::Runtime),
        (
            r#""message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}"#,
            true,
            false,
            Source::Runtime,
        ),
        (
            r#""message":{"role":"user","content":"[Request interrupted by user for tool use]"}"#,
            true,
            false,
            Source::Runtime,
        ),
        (
            r#""message":{"role":"user","content":"Done"},"origin":{"kind":"task-notification"}"#,
            false,
            false,
            Source::Runtime,
        ),
        (r#""message":{"role":"user","content":"Hi"},"origin":{"kind":"human"}"#, false, false, Source::User),
    ] {
        let (message, _) = one(fields, "user");
        assert_eq!(message.kind, Kind::UserInput);
        let found = (message.metadata.synthetic, message.metadata.meta, message.metadata.source.clone());
        assert_eq!(found, (synthetic, meta, Some(source)), "{fields}");
    }
}

#[test]
fn an_error_text_is_not_the_models_and_a_placeholder_stays_for_it() {
    let record = |flag: &str| {
        let answer = r#"{"id":"u","model":"<synthetic>","role":"assistant","type":"message","content":[{"type":"text","text":"API Error"}],"stop_reason":"stop_sequence","usage":{"input_tokens":0,"output_tokens":0}}"#;
        one(&format!(r#""message":{answer},"error":"rate_limit","isApiErrorMessage":{flag}"#), "assistant")
    };
    let (error, extra) = record("true");
    assert_eq!(error.kind, Kind::AssistantText);
    assert!(error.metadata.synthetic && !error.metadata.eligible_for_model_context);
    assert!(extra.contains(&("error".to_owned(), text("rate_limit"))));
    let (placeholder, _) = record("false");
    assert!(placeholder.metadata.synthetic && placeholder.metadata.eligible_for_model_context);
    assert_eq!(placeholder.provider, None);
}

#[test]
fn a_stop_reason_is_the_providers_word_or_not_said() {
    let record = |stop: &str, more: &str| {
        let answer =
            format!(r#"{{"id":"m","model":"x","content":[{{"type":"text","text":"t"}}],"stop_reason":{stop}}}"#);
        one(&format!(r#""message":{answer}{more}"#), "assistant")
    };
    assert_eq!(record(r#""end_turn""#, "").0.stop_reason, StopReason::Said("end_turn".to_owned()));
    let (message, extra) = record("null", "");
    assert_eq!(message.stop_reason, StopReason::NotSaid);
    let raw = extra.iter().find(|(name, _)| name == "message").map(|(_, value)| value);
    assert_eq!(raw.and_then(|raw| raw.get("stop_reason")), Some(&Value::Null));
    assert_eq!(record("null", r#","isAbortedMidStream":true"#).0.stop_reason, StopReason::StreamOpen);
}

#[test]
fn usage_has_its_places_and_the_rest_beside_it() {
    let usage = r#"{"input_tokens":3,"output_tokens":7,"cache_creation_input_tokens":50,"cache_read_input_tokens":8000,"service_tier":"standard"}"#;
    let (message, _) = one(
        &format!(r#""message":{{"id":"m","model":"x","content":[],"usage":{usage}}},"requestId":"r""#),
        "assistant",
    );
    let usage = message.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (3, 7, Some(8000), Some(50)));
    assert_eq!(usage.extra, [("service_tier".to_owned(), text("standard"))]);
    assert_eq!((message.request_id.as_deref(), message.message_id.as_deref()), (Some("r"), Some("m")));
}

#[test]
fn what_the_runtime_tells_keeps_all_its_fields() {
    let (message, extra) = one(
        r#""subtype":"turn_duration","durationMs":7000,"messageCount":3,"isMeta":false,"toolUseID":"t","level":"info","content":"Took 7 s""#,
        "system",
    );
    let Kind::SystemEvent(told) = &message.kind else { panic!("{message:?}") };
    assert_eq!(
        (told.subtype.as_str(), told.level.as_deref(), told.tool_use_id.as_deref()),
        ("turn_duration", Some("info"), Some("t"))
    );
    let data = told.data.as_ref().unwrap().as_map().unwrap();
    assert_eq!(data, [("durationMs".to_owned(), Value::Int(7000)), ("messageCount".to_owned(), Value::Int(3))]);
    assert_eq!(message.content[0].as_text(), Some("Took 7 s"));
    assert!(extra.iter().any(|(name, _)| name == "cwd"));
}

#[test]
fn progress_and_attachments_keep_what_they_hold() {
    let (message, _) = one(
        r#""data":{"type":"hook_progress","hookEvent":"PreToolUse"},"toolUseID":"a","parentToolUseID":"b""#,
        "progress",
    );
    let Kind::Progress(progress) = &message.kind else { panic!("{message:?}") };
    assert_eq!((progress.tool_use_id.as_deref(), progress.parent_tool_use_id.as_deref()), (Some("a"), Some("b")));
    assert_eq!(progress.hook_event, Some(HookPhase::Pre));
    assert!(!message.takes_part());
    let (message, _) = one(
        r#""attachment":{"type":"hook_success","hookEvent":"PostToolUse","toolUseID":"t","stdout":"x"}"#,
        "attachment",
    );
    let Kind::Attachment(attachment) = &message.kind else { panic!("{message:?}") };
    assert_eq!(attachment.tool_use_id.as_deref(), Some("t"));
    assert_eq!(attachment.hook_event, Some(HookPhase::Post));
    assert_eq!(attachment.attachment.as_ref().unwrap().get("stdout"), Some(&text("x")));
    assert_eq!(message.metadata.source, Some(Source::Hook));
    let (message, extra) = one(
        r#""attachment":{"type":"queued_command","prompt":[{"type":"text","text":"Blocks."}],"commandMode":"prompt","source_uuid":"s"}"#,
        "attachment",
    );
    assert_eq!((message.kind.clone(), message.joined_text()), (Kind::UserInput, "Blocks.".to_owned()));
    let raw = extra.iter().find(|(name, _)| name == "attachment").map(|(_, value)| value).unwrap();
    assert_eq!(raw.get("source_uuid"), Some(&text("s")));
}

#[test]
fn what_a_session_is_called_is_the_last_word_of_each_kind() {
    let mut made = Transcript::default();
    made.line(&format!(r#"{{"type":"summary","summary":"Of this file","leafUuid":"{}"}}"#, id(2)));
    made.line(r#"{"type":"summary","summary":"Of another","leafUuid":"00000063-0c0c-4000-8000-000000000063"}"#);
    made.user(1, 0, "One.").says(2, 1, "m", "Two.");
    let meta = |made: &Transcript| -> (Option<String>, SessionMeta) {
        let imported = import(made);
        let metas: Vec<_> = imported
            .events
            .iter()
            .filter_map(|event| match &event.body {
                IncomingBody::SessionMeta(meta) => Some(meta.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(metas.len(), 1);
        (imported.report.title.clone(), metas[0].clone())
    };
    let (title, told) = meta(&made);
    assert_eq!((title, told.title.as_deref()), (None, Some("Of this file")));
    assert_eq!((told.cwd.as_deref(), told.model.as_deref()), (Some("/home/dev/made"), Some("made-model")));
    made.line(r#"{"type":"custom-title","customTitle":"Mine"}"#).line(r#"{"type":"ai-title","aiTitle":"Made"}"#);
    made.line(r#"{"type":"tag","tag":"ops"}"#).line(r#"{"type":"mode","mode":"plan"}"#);
    let (title, told) = meta(&made);
    assert_eq!((title.as_deref(), told.title.as_deref()), (Some("Mine"), Some("Mine")));
    assert_eq!(told.tags, ["ops"]);
    assert_eq!(told.extra[0], ("mode".to_owned(), text("plan")));
    made.line(r#"{"type":"custom-title","customTitle":""}"#).line(r#"{"type":"tag","tag":""}"#);
    let (title, told) = meta(&made);
    assert_eq!((title.as_deref(), told.tags.len()), (Some("Made"), 0));
}

#[test]
fn a_compaction_has_its_trigger_and_its_cost_and_keeps_the_boundarys_fields() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "Two.").boundary(3, 2, r#""postTokens":5"#).summary(4, 3, "Sum.");
    let imported = import(&made);
    let event = event(&imported, 3);
    let IncomingBody::Compaction { summary_id, summary, trigger, boundary_extra, .. } = &event.body else {
        panic!("{event:?}")
    };
    assert_eq!(summary_id, &Some(id(4)));
    assert_eq!(trigger, &Some(seslog::event::Trigger::Auto));
    let Kind::CompactSummary(kind) = &summary.kind else { panic!("{summary:?}") };
    assert_eq!(kind.tokens_before, Some(1000));
    assert_eq!(summary.joined_text(), "Sum.");
    let metadata = boundary_extra.iter().find(|(name, _)| name == "compactMetadata").map(|(_, value)| value).unwrap();
    assert_eq!(metadata.get("postTokens"), Some(&Value::Int(5)));
    assert_eq!(event.at, Some(1_772_323_203_000_000));
}

#[test]
fn a_sub_agents_own_file_is_a_main_line_of_its_own() {
    let mut made = Transcript::default();
    made.user(1, 0, "Task.").says(2, 1, "m", "Done.");
    made.text = made.text.replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a77\"");
    let imported = import(&made);
    assert_eq!(imported.agent_id.as_deref(), Some("a77"));
    let message = message(&imported, 2);
    assert!(!message.metadata.sidechain);
    assert_eq!(message.metadata.run_id.as_deref(), Some("a77"));
    assert!(message.extra.contains(&("isSidechain".to_owned(), Value::Bool(true))));
}
