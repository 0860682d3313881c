//! The body for Bedrock's Converse: one test a rule of that interface, bodies compared whole.

mod common;

use common::bodies::{Made, made, named_media as media};
use common::story::{Story, calling, id};
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{FIRST_USER_TEXT, Options, Provider, SYSTEM_NOTE_PREFIX, Tool};

const MODEL: &str = "us.anthropic.claude-x-v1:0";

fn options() -> Options {
    Options::for_model(MODEL)
}

fn payload_with(story: &Story, options: &Options) -> Made {
    made(&story.model().messages, Provider::Bedrock, options)
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
    json!({"text": text})
}

fn user(content: Json) -> Json {
    json!({"role": "user", "content": content})
}

fn assistant(content: Json) -> Json {
    json!({"role": "assistant", "content": content})
}

fn call(id: &str) -> Json {
    json!({"toolUse": {"toolUseId": id, "name": "run", "input": {}}})
}

fn result(id: &str, content: Json) -> Json {
    json!({"toolResult": {"toolUseId": id, "content": content}})
}

fn failed(id: &str, content: Json) -> Json {
    json!({"toolResult": {"toolUseId": id, "content": content, "status": "error"}})
}

fn bare_tool(name: &str) -> Json {
    json!({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object", "properties": {}}}}})
}

fn data() -> MediaSource {
    MediaSource::Data("aTE=".to_owned())
}

fn picture() -> Part {
    media("image/png", data(), None)
}

fn picture_block() -> Json {
    json!({"image": {"format": "png", "source": {"bytes": "aTE="}}})
}

fn document(name: Option<&str>) -> Part {
    media("application/pdf", data(), name)
}

fn document_block(name: &str) -> Json {
    json!({"document": {"format": "pdf", "name": name, "source": {"bytes": "aTE="}}})
}

fn showing(content: Vec<Part>) -> Message {
    let mut message = Message::user("x");
    message.content = content;
    message
}

fn answering(content: Vec<Part>) -> Message {
    let mut message = Message::assistant("x");
    message.content = content;
    message
}

fn giving(call: &str, output: Vec<Part>, is_error: bool) -> Message {
    let mut message = Message::tool_result(call, "", is_error);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.output = ToolOutput::Parts(output);
    }
    message
}

fn reasoning(provider: &str, reasoning: Reasoning) -> Part {
    Part { provider: Some(provider.to_owned()), ..Part::new(PartBody::Reasoning(reasoning)) }
}

fn signed(text: &str, signature: &str) -> Part {
    let body = Reasoning { text: Some(text.to_owned()), signature: Some(signature.to_owned()), ..Reasoning::default() };
    reasoning("bedrock", body)
}

fn redacted(data: &str) -> Part {
    reasoning("bedrock", Reasoning { redacted: Some(data.to_owned()), ..Reasoning::default() })
}

#[test]
fn a_whole_request() {
    let mut options = options();
    let schema = json!({"type": "object", "properties": {"cmd": {"type": "string"}}});
    let schema = Value::parse_json(schema.to_string().into_bytes()).unwrap().0;
    options.tools = vec![Tool { name: "run".to_owned(), description: Some("Runs.".to_owned()), schema }];
    let input = Value::from([("cmd", "ls".into())]);
    let acting = Message::assistant_calls(vec![Part::text("I look."), Part::tool_call("c1", "run", input)]);
    let story = Story::new()
        .say("s1", Message::system_note("Be brief."))
        .say("s2", Message::system_note("Be kind."))
        .user("What is here?")
        .say("a1", acting)
        .say("r", Message::tool_result("c1", "a.txt", false))
        .assistant("One file.");
    let expected = json!({
        "modelId": MODEL,
        "system": [{"text": "Be brief.\n\nBe kind."}],
        "messages": [
            {"role": "user", "content": [{"text": "What is here?"}]},
            {"role": "assistant", "content": [
                {"text": "I look."},
                {"toolUse": {"toolUseId": "c1", "name": "run", "input": {"cmd": "ls"}}},
            ]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "a.txt"}]}}]},
            {"role": "assistant", "content": [{"text": "One file."}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "run", "description": "Runs.", "inputSchema": {
            "json": {"type": "object", "properties": {"cmd": {"type": "string"}}}}}}]},
    });
    let payload = payload_with(&story, &options);
    assert_eq!(serde_json::from_str::<Json>(&payload.to_json()).unwrap(), expected);
    assert_eq!(payload.message_count, 4);
    assert!(payload.diagnostics.is_empty(), "{:?}", payload.diagnostics);
    let plain = json!({"modelId": MODEL, "messages": [user(json!([text("u1")]))]});
    assert_eq!(body(&Story::new().user("u1")), plain);
}

#[test]
fn the_model_is_the_one_named_or_the_one_at_bedrock_that_answered_last() {
    let by = |provider: &str, model: &str| {
        let mut message = Message::assistant("x");
        (message.provider, message.model) = (Some(provider.to_owned()), Some(model.to_owned()));
        message
    };
    let story = Story::new().user("u1").say("a1", by("amazon-bedrock", "m1")).say("a2", by("anthropic", "m2"));
    let last = payload_with(&story, &Options::default());
    assert_eq!(serde_json::from_str::<Json>(&last.to_json()).unwrap()["modelId"], "m1");
    assert_eq!(body(&story)["modelId"], MODEL);
    let nobody = payload_with(&Story::new().user("u1"), &Options::default());
    let expected = json!({"messages": [user(json!([text("u1")]))]});
    assert_eq!(serde_json::from_str::<Json>(&nobody.to_json()).unwrap(), expected);
    assert_eq!(nobody.diagnostics.iter().map(|item| item.code).collect::<Vec<_>>(), [code::MODEL_NOT_NAMED]);
}

#[test]
fn a_later_system_message_is_marked_user_text() {
    let story = Story::new().user("u1").say("s", Message::system_note("new rules")).assistant("a1");
    let expected = json!([
        user(json!([text("u1"), text(&format!("{SYSTEM_NOTE_PREFIX}new rules\n</system-note>"))])),
        assistant(json!([text("a1")])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn roles_alternate_and_the_user_begins() {
    let story = Story::new().assistant("a1").assistant("a2").user("u1").user("u2").calls("a3", &["c"]).assistant("a4");
    let expected = json!([
        user(json!([text(FIRST_USER_TEXT)])),
        assistant(json!([text("a1"), text("a2")])),
        user(json!([text("u1"), text("u2")])),
        assistant(json!([call("c")])),
        user(json!([failed("c", json!([text(MISSING_TOOL_RESULT)]))])),
        assistant(json!([text("a4")])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn answers_begin_the_message_behind_their_calls_in_the_order_of_the_calls() {
    let story = Story::new()
        .user("u1")
        .calls("a1", &["c1", "c2", "c3"])
        .user("u2")
        .say("r3", Message::tool_result("c3", "no", true))
        .result("r1", "c1");
    let expected = json!([
        user(json!([text("u1")])),
        assistant(json!([call("c1"), call("c2"), call("c3")])),
        user(json!([
            result("c1", json!([text("r1")])),
            failed("c2", json!([text(MISSING_TOOL_RESULT)])),
            failed("c3", json!([text("no")])),
            text("u2"),
        ])),
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
    let payload = made(&messages, Provider::Bedrock, &options());
    let body: Json = serde_json::from_str(&payload.to_json()).unwrap();
    assert_eq!(body["messages"][2], user(json!([result("c", json!([text("r1")]))])));
    assert_eq!(payload.message_count, 3);
}

#[test]
fn tools_that_the_history_calls_are_declared_even_if_nobody_declares_them() {
    let named = |tool: &str, call: &str| Part::tool_call(call, tool, Value::Map(Vec::new()));
    let story = Story::new()
        .user("u1")
        .say("a1", Message::assistant_calls(vec![named("run", "c1"), named("now", "c2"), named("run", "c3")]));
    assert_eq!(body(&story)["toolConfig"], json!({"tools": [bare_tool("run"), bare_tool("now")]}));
    let said: Vec<_> = payload(&story).diagnostics.into_iter().filter(|item| item.code == code::TOOL_PUT_IN).collect();
    assert_eq!(said.len(), 2);
    assert_eq!((said[1].call.as_deref(), said[1].ids.as_slice()), (Some("c2"), [id("a1")].as_slice()));
    let mut options = options();
    let schema = Value::from([("type", "object".into()), ("properties", Value::Map(Vec::new()))]);
    options.tools =
        ["look", "now"].map(|name| Tool { name: name.to_owned(), description: None, schema: schema.clone() }).into();
    let some: Json = payload_with(&story, &options).json();
    let tools = json!({"tools": [bare_tool("look"), bare_tool("now"), bare_tool("run")]});
    assert_eq!(some["toolConfig"], tools);
}

#[test]
fn a_tool_put_in_has_the_name_that_its_calls_have() {
    let part = Part::tool_call("a|b", "mcp:files/read", Value::Map(Vec::new()));
    let story = Story::new().user("u1").say("a1", Message::assistant_calls(vec![part])).result("r", "a|b");
    let body = body(&story);
    let sent = &body["messages"][1]["content"][0]["toolUse"];
    let (name, id) = (sent["name"].as_str().unwrap(), sent["toolUseId"].as_str().unwrap());
    assert_eq!(body["toolConfig"], json!({"tools": [bare_tool(name)]}));
    assert_eq!(body["messages"][2], user(json!([result(id, json!([text("r")]))])));
    let is_legal = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    assert!(is_legal(name) && name.len() <= 64 && is_legal(id) && id.len() <= 64, "{name} {id}");
}

#[test]
fn blank_texts_are_nowhere_and_a_blank_output_says_that_there_was_none() {
    let mut blank = calling(&["c"]);
    blank.content.insert(0, Part::text(" "));
    let story = Story::new()
        .user("u1")
        .say("a0", answering(vec![Part::text("\n")]))
        .user("u2")
        .say("a1", blank)
        .say("r", giving("c", vec![Part::text(" \n")], false))
        .say("u3", showing(vec![Part::text(""), Part::text("u3")]));
    let expected = json!([
        user(json!([text("u1"), text("u2")])),
        assistant(json!([call("c")])),
        user(json!([result("c", json!([text("(no output)")])), text("u3")])),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn an_output_may_have_pictures_if_the_tool_did_its_work() {
    let story = |is_error| {
        let json = Part::new(PartBody::Json(Value::List(vec![Value::Int(1)])));
        let output = vec![Part::text("see"), picture(), json];
        Story::new().user("u1").calls("a1", &["c"]).say("r", giving("c", output, is_error))
    };
    let content = json!([text("see"), picture_block(), text("[1]")]);
    assert_eq!(messages(&story(false))[2], user(json!([result("c", content)])));
    let note = text("[Picture not shown: image/png; a failed tool's output is text only]");
    let content = json!([text("see"), note, text("[1]")]);
    assert_eq!(messages(&story(true))[2], user(json!([failed("c", content)])));
}

#[test]
fn pictures_go_out_inline_only_and_all_else_is_a_note() {
    let shown = |part| {
        let story = Story::new().say("u1", showing(vec![Part::text("look"), part]));
        messages(&story)[0]["content"][1].clone()
    };
    for format in ["png", "jpeg", "gif", "webp"] {
        let expected = json!({"image": {"format": format, "source": {"bytes": "aTE="}}});
        assert_eq!(shown(media(&format!("image/{format}"), data(), None)), expected);
    }
    let web = || MediaSource::Url("https://example.org/a".to_owned());
    for other in [
        media("image/png", web(), None),
        media("application/pdf", web(), None),
        media("image/tiff", data(), None),
        media("text/csv", data(), None),
        media("image/png", MediaSource::Data("aaaa".repeat(1_250_001)), None),
        media("application/pdf", MediaSource::Data("aaaa".repeat(1_500_001)), None),
    ] {
        let note = shown(other);
        assert!(note["text"].as_str().unwrap().contains("not shown"), "{note}");
    }
    let mut message = answering(vec![Part::text("here")]);
    message.content.push(picture());
    let own = messages(&Story::new().user("u1").say("a1", message));
    assert!(own[1]["content"][1]["text"].as_str().unwrap().contains("not shown"), "the model shows no pictures");
}

#[test]
fn a_document_has_a_legal_name_of_its_own_and_a_text_beside_it() {
    let names = |names: &[Option<&str>]| {
        let parts = names.iter().map(|name| document(*name)).chain([Part::text("read")]).collect();
        let body = messages(&Story::new().say("u1", showing(parts)));
        let blocks = body[0]["content"].as_array().unwrap().clone();
        let names = blocks.iter().filter_map(|block| block["document"]["name"].as_str().map(str::to_owned));
        names.collect::<Vec<_>>()
    };
    let long = "x".repeat(300);
    assert_eq!(names(&[Some("report.pdf"), Some("report"), Some("report.pdf")]), ["report", "report-2", "report-3"]);
    assert_eq!(names(&[Some("report-2"), Some("report"), Some("report")]), ["report-2", "report", "report-3"]);
    assert_eq!(names(&[Some(" a\t b_c (1) [2]. ")]), ["a b-c (1) [2]-"]);
    assert_eq!(names(&[None, Some("отчёт.pdf"), Some("")]), ["document", "document-2", "document-3"]);
    assert_eq!(names(&[Some(&long)]), ["x".repeat(100)]);
    let alone =
        Story::new().say("u1", showing(vec![document(None)])).assistant("a1").say("u2", showing(vec![document(None)]));
    let expected = json!([
        user(json!([document_block("document"), text("(a document)")])),
        assistant(json!([text("a1")])),
        user(json!([document_block("document-2"), text("(a document)")])),
    ]);
    assert_eq!(messages(&alone), expected);
}

#[test]
fn a_message_has_no_more_pictures_and_documents_than_bedrock_takes_and_the_oldest_give_way() {
    let kinds = |story: &Story, message: usize| {
        let all = messages(story);
        let blocks = all[message]["content"].as_array().unwrap().clone();
        blocks.iter().map(|block| block.as_object().unwrap().keys().next().unwrap().clone()).collect::<Vec<_>>()
    };
    let story = Story::new().say("u1", showing(vec![picture(); 22]));
    let pictures = kinds(&story, 0);
    assert_eq!(pictures[..2], ["text", "text"]);
    assert_eq!(pictures[2..], vec!["image"; 20]);
    assert_eq!(codes(&story), [code::MEDIA_DEGRADED; 2]);
    let documents = kinds(&Story::new().say("u1", showing(vec![document(Some("a")); 6])), 0);
    assert_eq!(documents, ["text", "document", "document", "document", "document", "document"]);
    // What a tool shows counts too, and comes first.
    let story = Story::new().user("u1").calls("a1", &["c"]).say("r", giving("c", vec![picture()], false));
    let story = story.say("u2", showing(vec![picture(); 20]));
    let note = text("[Picture not shown: image/png; there are more of them in one message than the provider takes]");
    assert_eq!(messages(&story)[2]["content"][0], result("c", json!([note])));
    assert_eq!(kinds(&story, 2)[1..], vec!["image"; 20]);
    let apart =
        Story::new().say("u1", showing(vec![picture(); 20])).assistant("a1").say("u2", showing(vec![picture()]));
    assert_eq!(codes(&apart), Vec::<&str>::new());
}

#[test]
fn reasoning_goes_back_byte_for_byte_in_place_and_only_complete() {
    let thought = "3 × 7 = 21.  \ne\u{301}\t";
    let unsigned = reasoning("bedrock", Reasoning { text: Some("hm".to_owned()), ..Reasoning::default() });
    let content = vec![
        signed(thought, "c2ln"),
        redacted("cmVk"),
        redacted("no base64!"),
        unsigned,
        Part::text("Checking."),
        signed("", "c2lnLUI="),
        Part::tool_call("c", "run", Value::Map(Vec::new())),
    ];
    let expected = json!([
        {"reasoningContent": {"reasoningText": {"text": thought, "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "cmVk"}},
        text("Checking."),
        {"reasoningContent": {"reasoningText": {"text": "", "signature": "c2lnLUI="}}},
        call("c"),
    ]);
    let story = Story::new().user("u1").say("a1", answering(content)).result("r", "c");
    assert_eq!(messages(&story)[1]["content"], expected);
}

#[test]
fn reasoning_of_another_provider_or_model_is_left_out_even_of_anthropics_own() {
    let by = |provider: &str, model: &str| {
        let mut message = answering(vec![signed("hm", "c2ln"), Part::text("Hi.")]);
        message.content[0].provider = Some(provider.to_owned());
        message.model = Some(model.to_owned());
        messages(&Story::new().user("u1").say("a1", message).user("u2"))[1]["content"].clone()
    };
    let thought = json!({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}});
    assert_eq!(by("bedrock", MODEL), json!([thought, text("Hi.")]));
    assert_eq!(by("bedrock", "eu.anthropic.claude-y-v1:0"), json!([text("Hi.")]));
    for other in ["anthropic", "openai", "google", "somebody"] {
        assert_eq!(by(other, MODEL), json!([text("Hi.")]), "{other}");
    }
}

#[test]
fn a_message_does_not_end_in_reasoning() {
    let story = Story::new().user("u1").say("a1", answering(vec![Part::text("Hi"), signed("hm", "c2ln")])).user("u2");
    assert_eq!(messages(&story)[1]["content"], json!([text("Hi")]));
    assert_eq!(codes(&story), [code::TRAILING_REASONING_LEFT_OUT]);
}

#[test]
fn parts_of_a_providers_own_are_left_out() {
    let value = Value::from([("type", "server_tool_use".into())]);
    let part = Part { provider: Some("bedrock".to_owned()), ..Part::new(PartBody::Opaque(Opaque { value })) };
    let story = Story::new().user("u1").say("a1", answering(vec![Part::text("Hi"), part])).user("u2");
    assert_eq!(messages(&story)[1]["content"], json!([text("Hi")]));
    assert_eq!(codes(&story), [code::PART_LEFT_OUT]);
}

#[test]
fn white_space_at_the_end_of_the_last_text_goes_where_the_model_has_the_last_word() {
    let story = Story::new().user("u1").assistant("a1 \n");
    assert_eq!(messages(&story)[1], assistant(json!([text("a1")])));
    assert_eq!(codes(&story), [code::TRAILING_SPACE_TRIMMED]);
    assert_eq!(messages(&story.user("u2"))[1], assistant(json!([text("a1 \n")])));
}

#[test]
fn same_body_twice_and_a_longer_history_begins_with_the_shorter_ones_messages() {
    let story = Story::new().user("u1").calls("a1", &["", "c"]).result("r", "c").user("u2").assistant("a2");
    assert_eq!(payload(&story).to_json(), payload(&story.clone()).to_json());
    let short = messages(&story);
    let long = messages(&story.user("u3"));
    assert_eq!(short.as_array().unwrap()[..], long.as_array().unwrap()[..4]);
    assert_eq!(payload(&Story::new()).to_json(), format!("{{\"modelId\":\"{MODEL}\",\"messages\":[]}}"));
}
