//! The body for Anthropic Messages: one test a rule of that interface, bodies compared whole.

mod common;

use std::slice::from_ref;

use common::bodies::{Made, made, media};
use common::story::{Story, calling, id};
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{FIRST_USER_TEXT, MediaLimits, Options, Provider, SYSTEM_NOTE_PREFIX, Tool};

fn options() -> Options {
    Options::for_model("claude-x")
}

fn payload_with(story: &Story, options: &Options) -> Made {
    made(&story.model().messages, Provider::Anthropic, options)
}

fn payload(story: &Story) -> Made {
    payload_with(story, &options())
}

fn body(story: &Story) -> Json {
    payload(story).json()
}

fn messages(story: &Story) -> Json {
    body(story)["messages"].clone()
}

fn codes(story: &Story) -> Vec<&'static str> {
    payload(story).codes()
}

fn text(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

fn user(content: Json) -> Json {
    json!({"role": "user", "content": content})
}

fn assistant(content: Json) -> Json {
    json!({"role": "assistant", "content": content})
}

fn call(id: &str) -> Json {
    json!({"type": "tool_use", "id": id, "name": "run", "input": {}})
}

fn result(id: &str, content: Json) -> Json {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

fn failed(id: &str, content: Json) -> Json {
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true})
}

fn picture() -> Part {
    media("image/png", MediaSource::Data("aTE=".to_owned()))
}

fn picture_block() -> Json {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aTE="}})
}

fn showing(content: Vec<Part>) -> Message {
    let mut message = Message::user("x");
    message.content = content;
    message
}

fn giving(output: Vec<Part>, is_error: bool) -> Message {
    let mut message = Message::tool_result("c", "", is_error);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.output = ToolOutput::Parts(output);
    }
    message
}

fn own(body: PartBody) -> Part {
    Part { provider: Some("anthropic".to_owned()), ..Part::new(body) }
}

fn signed(text: &str, signature: &str) -> Part {
    own(PartBody::Reasoning(Reasoning {
        text: Some(text.to_owned()),
        signature: Some(signature.to_owned()),
        ..Reasoning::default()
    }))
}

fn redacted(data: &str) -> Part {
    own(PartBody::Reasoning(Reasoning { redacted: Some(data.to_owned()), ..Reasoning::default() }))
}

fn value(json: &Json) -> Value {
    Value::parse_json(json.to_string().into_bytes()).unwrap().0
}

fn block(json: &Json) -> Part {
    own(PartBody::Opaque(Opaque { value: value(json) }))
}

/// A message of the model's with these parts.
fn answering(content: Vec<Part>) -> Message {
    let mut message = Message::assistant("x");
    message.content = content;
    message
}

/// What goes out of these parts of the model's, between a question and another.
fn model_blocks(content: Vec<Part>) -> Json {
    let story = Story::new().user("u1").say("a1", answering(content)).user("u2");
    messages(&story)[1]["content"].clone()
}

#[test]
fn a_whole_request() {
    let mut options = options();
    options.max_tokens = 512;
    options.tools = vec![
        Tool {
            name: "run".to_owned(),
            description: Some("Runs a command.".to_owned()),
            schema: value(&json!({"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]})),
        },
        Tool { name: "now".to_owned(), description: None, schema: value(&json!({"type": "object", "properties": {}})) },
    ];
    let input = Value::from([("cmd", "ls".into())]);
    let acting = Message::assistant_calls(vec![Part::text("I look."), Part::tool_call("c1", "run", input)]);
    let story = Story::new()
        .say("s", Message::system_note("Be brief."))
        .user("What is here?")
        .say("a1", acting)
        .say("r", Message::tool_result("c1", "a.txt", false))
        .assistant("One file.");
    let expected = json!({
        "model": "claude-x",
        "max_tokens": 512,
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What is here?"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "run", "input": {"cmd": "ls"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a.txt"}]},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
        ],
        "tools": [
            {"name": "run", "description": "Runs a command.",
             "input_schema": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}},
            {"name": "now", "input_schema": {"type": "object", "properties": {}}},
        ],
    });
    let payload = payload_with(&story, &options);
    assert_eq!(serde_json::from_str::<Json>(&payload.to_json()).unwrap(), expected);
    assert_eq!(payload.message_count, 4);
    assert!(payload.diagnostics.is_empty(), "{:?}", payload.diagnostics);
}

#[test]
fn the_model_is_the_one_named_or_the_one_of_anthropics_that_answered_last() {
    let by = |provider: &str, model: &str| {
        let mut message = Message::assistant("x");
        message.provider = Some(provider.to_owned());
        message.model = Some(model.to_owned());
        message
    };
    let story = Story::new()
        .user("u1")
        .say("a1", by("anthropic", "claude-1"))
        .user("u2")
        .say("a2", by("anthropic", "claude-2"))
        .user("u3")
        .say("a3", by("openai", "gpt"))
        .user("u4");
    assert_eq!(body(&story)["model"], "claude-x");
    let last = payload_with(&story, &Options::default());
    assert_eq!(serde_json::from_str::<Json>(&last.to_json()).unwrap()["model"], "claude-2");
    assert!(last.diagnostics.is_empty());
    let nobody = payload_with(&Story::new().user("u1"), &Options::default());
    let expected = json!({"max_tokens": 8192, "messages": [user(json!([text("u1")]))]});
    assert_eq!(serde_json::from_str::<Json>(&nobody.to_json()).unwrap(), expected);
    assert_eq!(nobody.diagnostics.iter().map(|item| item.code).collect::<Vec<_>>(), [code::MODEL_NOT_NAMED]);
}

#[test]
fn system_messages_at_the_beginning_are_the_prompt_and_later_ones_are_marked_user_text() {
    let story = Story::new()
        .say("s1", Message::system_note("one"))
        .say("s2", Message::system_note("two"))
        .user("u1")
        .say("s3", Message::system_note("three"))
        .assistant("a1");
    let expected = json!({
        "model": "claude-x", "max_tokens": 8192, "system": "one\n\ntwo",
        "messages": [
            user(json!([text("u1"), text(&format!("{SYSTEM_NOTE_PREFIX}three\n</system-note>"))])),
            assistant(json!([text("a1")])),
        ],
    });
    assert_eq!(body(&story), expected);
    assert!(codes(&story).contains(&code::SYSTEM_NOTE_AS_USER_TEXT));
}

#[test]
fn answers_begin_the_message_behind_their_calls_in_the_order_of_the_calls() {
    let story = Story::new()
        .user("u1")
        .calls("a1", &["c1", "c2", "c3"])
        .user("u2")
        .result("r3", "c3")
        .result("r1", "c1")
        .assistant("a2");
    let expected = json!([
        user(json!([text("u1")])),
        assistant(json!([call("c1"), call("c2"), call("c3")])),
        user(json!([
            result("c1", json!([text("r1")])),
            failed("c2", json!([text(MISSING_TOOL_RESULT)])),
            result("c3", json!([text("r3")])),
            text("u2"),
        ])),
        assistant(json!([text("a2")])),
    ]);
    assert_eq!(messages(&story), expected);
    let item = payload(&story).diagnostics.into_iter().find(|item| item.code == code::MISSING_RESULT_FILLED).unwrap();
    assert_eq!((item.call.as_deref(), item.ids.as_slice()), (Some("c2"), [id("a1")].as_slice()));
}

#[test]
fn calls_at_the_very_end_are_answered_too() {
    let story = Story::new().user("u1").calls("a1", &["c"]);
    let expected = json!([
        user(json!([text("u1")])),
        assistant(json!([call("c")])),
        user(json!([failed("c", json!([text(MISSING_TOOL_RESULT)]))])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn a_result_without_a_call_and_a_second_result_are_never_sent() {
    let mut messages = Story::new().user("u1").calls("a1", &["c"]).result("r1", "c").model().messages;
    let mut second = messages[2].clone();
    second.content =
        vec![Part::tool_result("c", "again", false).into(), Part::tool_result("x", "whose?", false).into()];
    messages.push(second);
    let payload = made(&messages, Provider::Anthropic, &options());
    let body: Json = serde_json::from_str(&payload.to_json()).unwrap();
    assert_eq!(body["messages"][2], user(json!([result("c", json!([text("r1")]))])));
    assert_eq!(payload.message_count, 3);
    let codes: Vec<_> = payload.diagnostics.iter().map(|item| item.code).collect();
    assert_eq!(codes, [code::DUPLICATE_RESULT_LEFT_OUT, code::ORPHAN_RESULT_LEFT_OUT]);
}

#[test]
fn messages_of_one_side_in_a_row_are_one_with_every_word() {
    let story = Story::new().user("u1").user("u2").assistant("a1").assistant("a2").calls("a3", &["c"]).user("u3");
    let expected = json!([
        user(json!([text("u1"), text("u2")])),
        assistant(json!([text("a1"), text("a2"), call("c")])),
        user(json!([failed("c", json!([text(MISSING_TOOL_RESULT)])), text("u3")])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn a_turn_with_calls_is_not_joined_with_the_next() {
    let story = Story::new().user("u1").calls("a1", &["c1"]).calls("a2", &["c2"]).result("r1", "c1").result("r2", "c2");
    let expected = json!([
        user(json!([text("u1")])),
        assistant(json!([call("c1")])),
        user(json!([result("c1", json!([text("r1")]))])),
        assistant(json!([call("c2")])),
        user(json!([result("c2", json!([text("r2")]))])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn a_history_that_begins_with_the_model_gets_a_users_text_in_front() {
    let story = Story::new().assistant("a1").user("u1");
    let expected =
        json!([user(json!([text(FIRST_USER_TEXT)])), assistant(json!([text("a1")])), user(json!([text("u1")]))]);
    assert_eq!(messages(&story), expected);
    assert_eq!(codes(&story), [code::FIRST_USER_PUT_IN]);
}

#[test]
fn blank_texts_are_nowhere_and_a_blank_output_says_that_there_was_none() {
    let mut blank = calling(&["c"]);
    blank.content.insert(0, Part::text("\n\u{feff}"));
    let story = Story::new()
        .user("u1")
        .say("a0", answering(vec![Part::text(" \n")]))
        .user("u2")
        .say("a1", blank)
        .say("r", Message::tool_result("c", " \n", false))
        .say("u3", showing(vec![Part::text("\t"), Part::text("u3")]));
    let expected = json!([
        user(json!([text("u1"), text("u2")])),
        assistant(json!([call("c")])),
        user(json!([result("c", json!([text("(no output)")])), text("u3")])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn an_error_is_flagged_and_has_text_only() {
    let story = |is_error| {
        let output = vec![Part::text("see"), picture(), Part::new(PartBody::Json(Value::from([("a", Value::Int(1))])))];
        Story::new().user("u1").calls("a1", &["c"]).say("r", giving(output, is_error))
    };
    let content = json!([text("see"), picture_block(), text("{\"a\":1}")]);
    assert_eq!(messages(&story(false))[2], user(json!([result("c", content)])));
    let note = text("[Picture not shown: image/png; a failed tool's output is text only]");
    let content = json!([text("see"), note, text("{\"a\":1}")]);
    assert_eq!(messages(&story(true))[2], user(json!([failed("c", content)])));
    assert_eq!(codes(&story(true)), [code::MEDIA_DEGRADED]);
    let silent = Story::new().user("u1").calls("a1", &["c"]).say("r", Message::tool_result("c", "", true));
    assert_eq!(messages(&silent)[2], user(json!([failed("c", json!([text("(no output)")]))])));
}

#[test]
fn a_refused_call_is_answered_by_the_refusal_as_an_error() {
    let refused = |reason: Option<&str>| {
        let reason = reason.map(str::to_owned);
        let response = ApprovalResponse { call_id: "c".to_owned(), approval_id: None, approved: false, reason };
        let part = Part::new(PartBody::ToolApprovalResponse(response));
        let message = Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![part]);
        messages(&Story::new().user("u1").calls("a1", &["c"]).say("no", message))[2].clone()
    };
    assert_eq!(refused(Some("not now")), user(json!([failed("c", json!([text("not now")]))])));
    assert_eq!(refused(None), user(json!([failed("c", json!([text(REJECTED)]))])));
}

#[test]
fn ids_and_names_that_anthropic_refuses_become_others_in_call_and_result() {
    let part = Part::tool_call("a|b", "mcp:files/read", Value::Map(Vec::new()));
    let again = Part::tool_call("a|b", "run", Value::Map(Vec::new()));
    let story = Story::new()
        .user("u1")
        .say("a1", Message::assistant_calls(vec![part]))
        .result("r1", "a|b")
        .say("a2", Message::assistant_calls(vec![again]))
        .result("r2", "a|b");
    let all = messages(&story);
    let is_legal = |text: &str, len_max| {
        text.len() <= len_max && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let ids = [&all[1]["content"][0]["id"], &all[3]["content"][0]["id"]].map(|id| id.as_str().unwrap());
    assert!(ids.iter().all(|id| is_legal(id, 40)) && ids[0] != ids[1], "{ids:?}");
    assert!(is_legal(all[1]["content"][0]["name"].as_str().unwrap(), 64));
    assert_eq!(all[2], user(json!([result(ids[0], json!([text("r1")]))])));
    assert_eq!(all[4], user(json!([result(ids[1], json!([text("r2")]))])));
}

#[test]
fn arguments_are_always_an_object() {
    let input = |input| {
        let mut message = calling(&["c"]);
        if let PartBody::ToolCall(call) = &mut message.content[0].body {
            call.input = input;
        }
        messages(&Story::new().user("u1").say("a1", message).result("r", "c"))[1]["content"][0]["input"].clone()
    };
    assert_eq!(input(ToolInput::None), json!({}));
    assert_eq!(input(ToolInput::Json(value(&json!({"b": 1, "a": [null]})))), json!({"b": 1, "a": [null]}));
    assert_eq!(input(ToolInput::Json(value(&json!([1])))), json!({"value": [1]}));
    assert_eq!(input(ToolInput::Text("{\"a\":".to_owned())), json!({"text": "{\"a\":"}));
}

#[test]
fn thinking_goes_back_byte_for_byte_in_place_and_only_complete() {
    let thought = "3 × 7 = 21.  \ne\u{301} é\t";
    let unsigned = own(PartBody::Reasoning(Reasoning { text: Some("hm".to_owned()), ..Reasoning::default() }));
    let content = vec![
        signed(thought, "c2ln"),
        redacted("cmVk"),
        unsigned,
        Part::text("Checking."),
        signed("", "c2lnLUI="),
        signed("empty signature", ""),
        Part::tool_call("c", "run", Value::Map(Vec::new())),
    ];
    let expected = json!([
        {"type": "thinking", "thinking": thought, "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "cmVk"},
        text("Checking."),
        {"type": "thinking", "thinking": "", "signature": "c2lnLUI="},
        call("c"),
    ]);
    let story = Story::new().user("u1").say("a1", answering(content)).result("r", "c");
    assert_eq!(messages(&story)[1]["content"], expected);
    assert_eq!(codes(&story), [code::UNSIGNED_REASONING_LEFT_OUT; 2]);
}

#[test]
fn thinking_of_another_provider_or_model_is_left_out() {
    let by = |provider: &str, model: &str| {
        let mut message = answering(vec![signed("hm", "c2ln"), Part::text("Hi.")]);
        message.content[0].provider = Some(provider.to_owned());
        message.model = Some(model.to_owned());
        messages(&Story::new().user("u1").say("a1", message).user("u2"))[1]["content"].clone()
    };
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
    assert_eq!(by("anthropic", "claude-x"), json!([thinking, text("Hi.")]));
    assert_eq!(by("anthropic", "claude-x-20260101"), json!([thinking, text("Hi.")]));
    assert_eq!(by("anthropic", "claude-y"), json!([text("Hi.")]));
    for other in ["openai", "google", "bedrock", "somebody"] {
        assert_eq!(by(other, "claude-x"), json!([text("Hi.")]), "{other}");
    }
}

#[test]
fn a_message_does_not_end_in_thinking() {
    assert_eq!(model_blocks(vec![Part::text("Hi"), signed("hm", "c2ln")]), json!([text("Hi")]));
    let story = Story::new().user("u1").say("a1", answering(vec![redacted("cmVk")])).user("u2");
    assert_eq!(messages(&story), json!([user(json!([text("u1"), text("u2")]))]));
    assert_eq!(codes(&story), [code::TRAILING_REASONING_LEFT_OUT, code::MESSAGES_MERGED]);
}

#[test]
fn white_space_at_the_end_of_the_last_text_goes_where_the_model_has_the_last_word() {
    let story = Story::new().user("u1 \n").assistant("a1 \n").user("u2 \n").assistant("a2\u{3000}\n");
    let expected = json!([
        user(json!([text("u1 \n")])),
        assistant(json!([text("a1 \n")])),
        user(json!([text("u2 \n")])),
        assistant(json!([text("a2")])),
    ]);
    assert_eq!(messages(&story), expected);
    let said = payload(&story).diagnostics;
    assert_eq!(said.iter().map(|item| item.code).collect::<Vec<_>>(), [code::TRAILING_SPACE_TRIMMED]);
    assert_eq!(said[0].ids, [id("a2\u{3000}\n")]);
    assert!(codes(&story.user("u3")).is_empty());
}

#[test]
fn pictures_and_documents_go_out_inline_or_by_address_and_all_else_is_a_note() {
    let shown = |part| {
        let story = Story::new().say("u1", showing(vec![Part::text("look"), part]));
        messages(&story)[0]["content"][1].clone()
    };
    let data = || MediaSource::Data("aTE=".to_owned());
    let web = || MediaSource::Url("https://example.org/a".to_owned());
    for media_type in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
        let source = json!({"type": "base64", "media_type": media_type, "data": "aTE="});
        assert_eq!(shown(media(media_type, data())), json!({"type": "image", "source": source}));
    }
    let by_address = json!({"type": "url", "url": "https://example.org/a"});
    assert_eq!(shown(media("image/png", web())), json!({"type": "image", "source": by_address}));
    assert_eq!(shown(media("application/pdf", web())), json!({"type": "document", "source": by_address}));
    let mut named = media("application/pdf", data());
    if let PartBody::File(file) = &mut named.body {
        file.name = Some("report.pdf".to_owned());
    }
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": "aTE="});
    assert_eq!(shown(named), json!({"type": "document", "source": source, "title": "report.pdf"}));
    for other in [
        media("image/tiff", data()),
        media("text/csv", data()),
        media("image/png", MediaSource::Data("no base64!".to_owned())),
        media("image/png", MediaSource::Path("/tmp/a.png".to_owned())),
        media("image/png", MediaSource::Missing),
    ] {
        let note = shown(other);
        assert!(note["text"].as_str().unwrap().contains("not shown"), "{note}");
    }
}

#[test]
fn pictures_over_a_limit_become_notes_and_the_limits_can_be_chosen() {
    let wide = |side| {
        let mut part = picture();
        if let PartBody::Image(image) = &mut part.body {
            (image.width, image.height) = (Some(side), Some(10));
        }
        part
    };
    let kinds = |pictures: Vec<Part>, options: &Options| {
        let payload = payload_with(&Story::new().say("u1", showing(pictures)), options);
        let body: Json = serde_json::from_str(&payload.to_json()).unwrap();
        let blocks = body["messages"][0]["content"].as_array().unwrap().clone();
        blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(vec![wide(8_000), wide(8_001)], &options()), ["image", "text"]);
    let mut many = vec![wide(2_001)];
    many.resize_with(20, picture);
    assert_eq!(kinds(many.clone(), &options())[0], "image");
    many.push(picture());
    assert_eq!(kinds(many, &options())[0], "text");
    let shown = kinds(vec![picture(); 101], &options());
    assert_eq!((shown[0].as_str(), shown.iter().filter(|kind| *kind == "image").count()), ("text", 100));
    let large = media("image/png", MediaSource::Data("aaaa".repeat(5 * 1_024 * 1_024 / 4 + 1)));
    assert_eq!(kinds(vec![large], &options()), ["text"]);
    let mut own = options();
    own.media = Some(MediaLimits {
        image_side_max: 8_000,
        many_images_above: 1,
        many_image_side_max: 100,
        images_max: 1,
        image_bytes_max: 10,
        inline_bytes_max: 100,
    });
    assert_eq!(kinds(vec![wide(101), picture(), picture()], &own), ["text", "text", "image"]);
}

#[test]
fn a_schema_has_no_choice_at_its_top() {
    let mut options = options();
    let schema = value(&json!({"anyOf": [{"type": "object", "required": null}], "required": false}));
    options.tools = vec![Tool { name: "a.b".to_owned(), description: Some(" ".to_owned()), schema }];
    let payload = payload_with(&Story::new().user("u1"), &options);
    let body: Json = serde_json::from_str(&payload.to_json()).unwrap();
    let tool = &body["tools"][0];
    assert_eq!(payload.renamed.tool(tool["name"].as_str().unwrap()), "a.b");
    assert_eq!(tool.get("description"), None);
    let schema = tool["input_schema"].as_object().unwrap();
    assert_eq!((&schema["type"], schema.get("required")), (&json!("object"), None));
    for choice in ["anyOf", "oneOf", "allOf"] {
        assert_eq!(schema.get(choice), None);
    }
}

#[test]
fn same_body_twice_and_a_longer_history_begins_with_the_shorter_ones_messages() {
    let story = Story::new().user("u1").calls("a1", &["", "c"]).result("r", "c").user("u2").assistant("a2");
    assert_eq!(payload(&story).to_json(), payload(&story.clone()).to_json());
    let short = messages(&story);
    let long = messages(&story.user("u3"));
    assert_eq!(short.as_array().unwrap()[..], long.as_array().unwrap()[..4]);
    assert_eq!(payload(&Story::new()).to_json(), r#"{"model":"claude-x","max_tokens":8192,"messages":[]}"#);
}

fn asks(id: &str, name: &str) -> Json {
    json!({"type": "server_tool_use", "id": id, "name": name, "input": {"query": "x"}})
}

fn finds(id: &str) -> Json {
    let hit = json!({"type": "web_search_result", "encrypted_content": "ZW5j", "title": "", "url": "https://a.example", "page_age": null});
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [hit]})
}

fn runs(id: &str) -> Json {
    let run = json!({"type": "code_execution_result", "content": [], "return_code": 0, "stderr": "", "stdout": "21\n"});
    json!({"type": "code_execution_tool_result", "tool_use_id": id, "content": run})
}

/// What goes out of these blocks of Anthropic's own, with a text of the model's in front.
fn own_blocks(blocks: &[Json]) -> Vec<Json> {
    let mut content = vec![Part::text("Hi.")];
    content.extend(blocks.iter().map(block));
    let blocks = model_blocks(content);
    blocks.as_array().unwrap()[1..].to_vec()
}

#[test]
fn what_a_tool_of_the_servers_was_asked_and_answered_goes_back_whole_and_in_place() {
    let content = |name: &str| match name {
        "web_search" => json!({"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}),
        "web_fetch" => {
            json!({"type": "web_fetch_result", "url": "https://a.example", "retrieved_at": null, "content": {
            "type": "document", "title": "A", "citations": {"enabled": true},
            "source": {"type": "text", "media_type": "text/plain", "data": "the page"}}})
        }
        "code_execution" => json!({"type": "encrypted_code_execution_result", "content": [
            {"type": "code_execution_output", "file_id": "file_1"}], "return_code": 1, "stderr": "no", "encrypted_stdout": "ZQ=="}),
        "bash_code_execution" => json!({"type": "bash_code_execution_result", "content": [
            {"type": "bash_code_execution_output", "file_id": "file_1"}], "return_code": 0, "stderr": "", "stdout": "a"}),
        "text_editor_code_execution" => json!({"type": "text_editor_code_execution_view_result",
            "content": "x", "file_type": "text", "num_lines": 1, "start_line": null, "total_lines": 1}),
        _ => json!({"type": "tool_search_tool_search_result", "tool_references": [
            {"type": "tool_reference", "tool_name": "run"}]}),
    };
    let answers = [
        ("web_search", "web_search_tool_result"),
        ("web_fetch", "web_fetch_tool_result"),
        ("code_execution", "code_execution_tool_result"),
        ("bash_code_execution", "bash_code_execution_tool_result"),
        ("text_editor_code_execution", "text_editor_code_execution_tool_result"),
        ("tool_search_tool_regex", "tool_search_tool_result"),
        ("tool_search_tool_bm25", "tool_search_tool_result"),
    ];
    for (name, answer) in answers {
        let mut asked = asks("srvtoolu_1", name);
        asked["caller"] = json!({"type": "direct"});
        let given = json!({"type": answer, "tool_use_id": "srvtoolu_1", "content": content(name)});
        let sent = model_blocks(vec![block(&asked), Part::text("So."), block(&given), Part::text("Done.")]);
        assert_eq!(sent, json!([asked, text("So."), given, text("Done.")]), "{name}");
    }
    let pair = [asks("srvtoolu_1", "web_search"), finds("srvtoolu_1")];
    assert_eq!(own_blocks(&pair), pair);
}

#[test]
fn a_half_of_such_a_pair_is_left_out() {
    let (ask, found) = (asks("srvtoolu_1", "web_search"), finds("srvtoolu_1"));
    let nothing: [Json; 0] = [];
    assert_eq!(own_blocks(from_ref(&ask)), nothing);
    assert_eq!(own_blocks(from_ref(&found)), nothing);
    assert_eq!(own_blocks(&[found.clone(), ask.clone()]), nothing);
    assert_eq!(own_blocks(&[ask.clone(), runs("srvtoolu_1")]), nothing, "the answer is another tool's");
    assert_eq!(own_blocks(&[ask.clone(), finds("srvtoolu_2")]), nothing);
    let pair = [ask.clone(), found.clone()];
    assert_eq!(own_blocks(&[ask.clone(), found.clone(), found.clone()]), pair, "a second answer");
    assert_eq!(own_blocks(&[ask.clone(), ask.clone(), found.clone()]), pair, "asked twice");
    assert_eq!(own_blocks(&[pair.clone(), pair.clone()].concat()), pair, "an id used twice");
    let story = Story::new().user("u1").say("a1", answering(vec![Part::text("Hi."), block(&ask)])).user("u2");
    let said = payload(&story).diagnostics;
    assert_eq!((said[0].code, said[0].ids.as_slice()), (code::PART_LEFT_OUT, [id("a1")].as_slice()));
    let story = story.say("a2", answering(vec![block(&found), Part::text("Found.")])).user("u3");
    assert_eq!(messages(&story)[1]["content"], json!([text("Hi.")]), "the answer stands in another turn");
    assert_eq!(messages(&story)[3]["content"], json!([text("Found.")]));
}

#[test]
fn halves_recorded_as_messages_of_their_own_meet_again() {
    let story = Story::new()
        .user("u1")
        .say("a1", answering(vec![block(&asks("srvtoolu_1", "web_search"))]))
        .say("a2", answering(vec![block(&finds("srvtoolu_1")), Part::text("Found.")]));
    let expected = json!([asks("srvtoolu_1", "web_search"), finds("srvtoolu_1"), text("Found.")]);
    assert_eq!(messages(&story)[1]["content"], expected);
}

#[test]
fn what_code_on_the_server_asked_goes_back_with_the_code_or_not_at_all() {
    let by_code = |mut block: Json| {
        block["caller"] = json!({"type": "code_execution_20250825", "tool_id": "srvtoolu_1"});
        block
    };
    let inner = [by_code(asks("srvtoolu_2", "web_search")), by_code(finds("srvtoolu_2"))];
    let code = asks("srvtoolu_1", "code_execution");
    let all = [code.clone(), inner[0].clone(), inner[1].clone(), runs("srvtoolu_1")];
    assert_eq!(own_blocks(&all), all);
    let nothing: [Json; 0] = [];
    assert_eq!(own_blocks(&all[..3]), nothing);
    assert_eq!(own_blocks(&inner), nothing);
}

#[test]
fn a_block_that_anthropic_is_not_known_to_take_is_left_out() {
    let with = |mut block: Json, name: &str, value: Json| {
        block[name] = value;
        block
    };
    let ask = || asks("srvtoolu_1", "web_search");
    let pairs = [
        [with(ask(), "id", json!("toolu_1")), with(finds("x"), "tool_use_id", json!("toolu_1"))],
        [with(ask(), "name", json!("dowse")), finds("srvtoolu_1")],
        [with(ask(), "input", json!("x")), finds("srvtoolu_1")],
        [with(ask(), "new", json!(1)), finds("srvtoolu_1")],
        [ask(), with(finds("srvtoolu_1"), "content", json!("none"))],
        [ask(), with(finds("srvtoolu_1"), "content", json!([{"type": "web_search_result", "title": "A"}]))],
        [
            ask(),
            with(finds("srvtoolu_1"), "content", json!({"type": "web_search_tool_result_error", "error_code": "?"})),
        ],
        [ask(), with(finds("srvtoolu_1"), "caller", json!({"type": "nobody"}))],
    ];
    let nothing: [Json; 0] = [];
    for pair in pairs {
        assert_eq!(own_blocks(&pair), nothing, "{pair:?}");
    }
    for lone in [
        json!({"type": "compaction", "content": "what was said"}),
        json!({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "x", "server_name": "y", "input": {}}),
        json!({"type": "container_upload", "file_id": "file_1"}),
        json!({"type": "tool_result", "tool_use_id": "c"}),
        json!({"type": "tomorrows"}),
        json!({}),
        json!([1]),
        json!("text"),
        Json::Null,
    ] {
        assert_eq!(own_blocks(from_ref(&lone)), nothing, "{lone}");
    }
    let mut foreign = [ask(), finds("srvtoolu_1")].map(|json| block(&json));
    foreign.iter_mut().for_each(|part| part.provider = Some("bedrock".to_owned()));
    assert_eq!(model_blocks([vec![Part::text("Hi.")], foreign.to_vec()].concat()), json!([text("Hi.")]));
}

#[test]
fn uploads_search_results_and_stored_files_of_the_users_go_back_without_their_marks() {
    let sent = |json: Json| {
        let story = Story::new().say("u1", showing(vec![Part::text("look"), block(&json)]));
        messages(&story)[0]["content"].as_array().unwrap()[1..].to_vec()
    };
    let file = json!({"type": "file", "file_id": "file_1"});
    for whole in [
        json!({"type": "container_upload", "file_id": "file_1"}),
        json!({"type": "search_result", "source": "s", "title": "t", "content": [text("found")]}),
        json!({"type": "document", "source": file, "title": null, "context": "c"}),
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}),
        json!({"type": "document", "source": {"type": "content", "content": [text("d")]}}),
        json!({"type": "image", "source": file}),
    ] {
        let mut marked = whole.clone();
        marked["cache_control"] = json!({"type": "ephemeral"});
        marked["citations"] = json!({"enabled": true});
        assert_eq!(sent(marked), [whole]);
    }
    for broken in [
        json!({"type": "container_upload"}),
        json!({"type": "container_upload", "file_id": " "}),
        json!({"type": "search_result", "source": "s", "title": "t", "content": []}),
        json!({"type": "search_result", "source": "s", "title": "t", "content": [text(" ")]}),
        json!({"type": "document", "source": {"type": "text", "media_type": "text/csv", "data": "d"}}),
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aTE="}}),
        asks("srvtoolu_1", "web_search"),
        text("x"),
    ] {
        assert_eq!(sent(broken.clone()), Vec::<Json>::new(), "{broken}");
    }
}
