//! What is left of a message at last.

use seslog::context::steps::cleanup::Cleanup;
use seslog::event::*;
use seslog::projection::ProjectedMessage;

use crate::support::{codes, recorded, run, session};

fn parts() -> Vec<(&'static str, Part)> {
    let media = || Media {
        media_type: "image/png".into(),
        source: MediaSource::Url("https://a.example/b.png".into()),
        name: None,
        width: None,
        height: None,
    };
    vec![
        ("text", Part::text("words")),
        ("reasoning", Part::new(PartBody::Reasoning(Reasoning::default()))),
        ("call", Part::tool_call("c1", "run", Value::Null)),
        ("result", Part::tool_result("c1", "done", false)),
        (
            "question",
            Part::new(PartBody::ToolApprovalRequest(ApprovalRequest { call_id: "c1".into(), approval_id: None })),
        ),
        (
            "answer",
            Part::new(PartBody::ToolApprovalResponse(ApprovalResponse {
                call_id: "c1".into(),
                approval_id: None,
                approved: true,
                reason: None,
            })),
        ),
        ("image", Part::new(PartBody::Image(media()))),
        ("file", Part::new(PartBody::File(media()))),
        ("opaque", Part::new(PartBody::Opaque(Opaque { value: Value::Null }))),
        ("json", Part::new(PartBody::Json(Value::Null))),
        ("unknown", Part::new(PartBody::Unknown("hologram".into()))),
    ]
}

#[test]
fn a_message_keeps_the_parts_that_its_role_can_have() {
    let user = "text result answer image file opaque json";
    let cases = [
        (Role::System, Kind::SystemNote, "text"),
        (Role::User, Kind::UserInput, user),
        (Role::Tool, Kind::ToolResult, user),
        (Role::Assistant, Kind::AssistantText, "text reasoning call result image file opaque json"),
    ];
    for (role, kind, kept) in cases {
        let all = parts();
        let message = recorded(0, Message::new(role, kind, all.iter().map(|(_, part)| part.clone()).collect()));
        let prompt = run(Cleanup, &[message]);
        let left = &prompt.messages[0].content;
        let names: Vec<&str> =
            all.iter().filter(|(_, part)| left.iter().any(|left| left == part)).map(|(name, _)| *name).collect();
        assert_eq!(names.join(" "), kept, "{role:?}");
        assert_eq!(prompt.diagnostics.len(), all.len() - left.len(), "{role:?}");
        assert!(codes(&prompt).iter().all(|code| *code == "part_left_out"));
        assert!(left.iter().all(|part| part.is_recorded()));
    }
}

#[test]
fn texts_without_words_go_and_then_messages_without_parts() {
    let blank = ["", " \n\t", "\u{feff}\u{a0}"];
    for blank in blank {
        let messages = session([
            Message::new(Role::User, Kind::Custom(custom()), vec![Part::text(blank)]),
            Message::new(Role::User, Kind::UserInput, vec![Part::text(blank), Part::text("words")]),
            Message::assistant_calls(vec![Part::text(blank), Part::tool_call("c1", "run", Value::Null)]),
        ]);
        let prompt = run(Cleanup, &messages);
        let counts: Vec<usize> = prompt.messages.iter().map(|message| message.content.len()).collect();
        assert_eq!(counts, [1, 1]);
        assert_eq!(codes(&prompt), ["blank_text_left_out"; 3]);
    }
    let empty = ProjectedMessage { content: Vec::new(), ..recorded(0, Message::user("x")) };
    let prompt = run(Cleanup, &[empty]);
    assert!(prompt.messages.is_empty());
    assert_eq!(codes(&prompt), ["blank_text_left_out"]);
}

fn custom() -> Custom {
    Custom { custom_type: "note".into(), display: true, details: None }
}

#[test]
fn what_failed_without_output_says_why() {
    let text = |text: &str| ToolOutput::Text(text.to_owned());
    let raw = |json: &str| Value::parse_json(json).unwrap().0;
    let cases = [
        (text(""), r#"{"error":"no such file"}"#, Some("no such file")),
        (text(" \n"), r#"{"error":{"message":"no such file","code":2}}"#, Some("no such file")),
        (ToolOutput::Parts(vec![]), r#"{"error":"no such file"}"#, Some("no such file")),
        (ToolOutput::Parts(vec![Part::text(" ")]), r#"{"error":"no such file"}"#, Some("no such file")),
        (text("said"), r#"{"error":"no such file"}"#, None),
        (text(""), r#"{"error":" "}"#, None),
        (text(""), r#"{"error":7}"#, None),
        (text(""), r#"{"error":{"code":2}}"#, None),
        (text(""), r#"["error"]"#, None),
        (ToolOutput::Parts(vec![Part::new(PartBody::Json(Value::Null))]), r#"{"error":"x"}"#, None),
    ];
    for (output, raw_json, expected) in cases {
        let result = ToolResult {
            call_id: "c1".into(),
            name: Some("read".into()),
            output: output.clone(),
            is_error: false,
            raw: Some(raw(raw_json)),
        };
        let part = Part { item_id: Some("item".into()), ..Part::new(PartBody::ToolResult(result)) };
        let prompt = run(Cleanup, &session([Message::new(Role::Tool, Kind::ToolResult, vec![part])]));
        let part = &prompt.messages[0].content[0];
        let result = part.as_tool_result().unwrap();
        let (want, failed) = expected.map_or((output, false), |error| (text(error), true));
        assert_eq!((&result.output, result.is_error), (&want, failed), "{raw_json}");
        assert_eq!((part.item_id.as_deref(), result.name.as_deref()), (Some("item"), Some("read")));
        assert_eq!(codes(&prompt).len(), usize::from(failed));
    }
}
