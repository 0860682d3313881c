//! The body for OpenAI's Chat Completions: what its server and the compatible ones take, whatever the history looks
//! like.

mod common;
mod wire_rules;

use common::bodies::{Made, made, named_media as media};
use common::story::{Story, calling, id};
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{MOVED_FILE_NOTE, MOVED_MEDIA_PREFIX, MOVED_PICTURE_NOTE, Options, Provider, Tool};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGMQaPgAAAIkAYFvkeRkAAAAAElFTkSuQmCC";
const PDF: &str = "JVBERi0xLjQK";

fn payload_with(story: &Story, options: &Options) -> Made {
    let made = made(&story.model().messages, Provider::OpenAiChat, options);
    let broken = wire_rules::check_text("openai-chat", &made.to_json());
    assert!(made.message_count == 0 || options.reasoning_content || broken.is_empty(), "{broken:?}");
    made
}

fn payload(story: &Story) -> Made {
    payload_with(story, &Options::default())
}

fn messages(story: &Story) -> Json {
    payload(story).json()["messages"].clone()
}

fn codes(story: &Story) -> Vec<&'static str> {
    let all = payload(story).diagnostics.into_iter().map(|item| item.code);
    all.filter(|code| *code != code::MODEL_NOT_NAMED).collect()
}

fn call(id: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}})
}

fn assistant(content: Json, calls: Json) -> Json {
    json!({"role": "assistant", "content": content, "tool_calls": calls})
}

fn user(content: &str) -> Json {
    json!({"role": "user", "content": content})
}

fn tool(id: &str, content: &str) -> Json {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

fn answering(call: &str, parts: Vec<Part>, is_error: bool) -> Message {
    let mut message = Message::tool_result(call, "", is_error);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.output = ToolOutput::Parts(parts);
    }
    message
}

fn data(text: &str) -> MediaSource {
    MediaSource::Data(text.to_owned())
}

fn url(text: &str) -> MediaSource {
    MediaSource::Url(text.to_owned())
}

fn thinking(provider: Option<&str>, reasoning: Reasoning, text: &str) -> Message {
    let mut message = Message::assistant(text);
    let part = Part { provider: provider.map(str::to_owned), ..Part::new(PartBody::Reasoning(reasoning)) };
    message.content.insert(0, part);
    message
}

fn plain(text: &str) -> Reasoning {
    Reasoning { text: Some(text.to_owned()), ..Reasoning::default() }
}

#[test]
fn the_worked_example_comes_out_as_chat_messages() {
    let read = Part::tool_call("call_1", "Read", Value::from([("file_path", "src/auth.ts".into())]));
    let mut asks = Message::assistant("I look.");
    asks.content.push(read);
    let story = Story::new()
        .say("m1", Message::system_note("Workspace root is /repo"))
        .say("m2", Message::user("why?"))
        .say("m3", asks)
        .say("m4", Message::tool_result("call_1", "a long file", false))
        .say("m5", Message::assistant("Because."))
        .prune("p", &["m4"]);
    let arguments = "{\"file_path\":\"src/auth.ts\"}";
    let expected = json!({
        "messages": [
            {"role": "system", "content": "Workspace root is /repo"},
            {"role": "user", "content": "why?"},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "Read", "arguments": arguments}}
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "[Old tool result content cleared]"},
            {"role": "assistant", "content": "Because."}
        ]
    });
    assert_eq!(payload(&story).json(), expected);
    assert_eq!(payload(&story).message_count, 5);
}

#[test]
fn system_messages_stay_where_they_are() {
    let story = Story::new()
        .say("s1", Message::system_note("one"))
        .say("s2", Message::system_note("two"))
        .user("u1")
        .say("s3", Message::system_note("three"))
        .assistant("a1");
    let system = |text: &str| json!({"role": "system", "content": text});
    let said = json!({"role": "assistant", "content": "a1"});
    assert_eq!(messages(&story), json!([system("one"), system("two"), user("u1"), system("three"), said]));
    assert_eq!(codes(&story), Vec::<&str>::new());
}

#[test]
fn messages_of_one_role_stay_apart_and_the_model_may_begin() {
    let story = Story::new().assistant("a1").assistant("a2").user("u1").user("u2");
    let said = |text: &str| json!({"role": "assistant", "content": text});
    assert_eq!(messages(&story), json!([said("a1"), said("a2"), user("u1"), user("u2")]));
    assert_eq!(codes(&story), Vec::<&str>::new());
}

#[test]
fn each_call_is_answered_right_behind_its_message_in_the_order_of_the_calls() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2", "c3"]).user("u2");
    let story = story.result("r3", "c3").result("r1", "c1").result("again", "c1").result("orphan", "x");
    let expected = json!([
        user("u1"),
        assistant(Json::Null, json!([call("c1"), call("c2"), call("c3")])),
        tool("c1", "r1"),
        tool("c2", MISSING_TOOL_RESULT),
        tool("c3", "r3"),
        user("u2"),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn a_message_without_calls_has_no_list_of_calls_and_one_with_nothing_is_left_out() {
    let mut cut = calling(&["c"]);
    if let PartBody::ToolCall(call) = &mut cut.content[0].body {
        call.incomplete = true;
    }
    cut.content.insert(0, Part::text(" \n"));
    let story = Story::new().user("u1").say("a1", cut).assistant("a2");
    assert_eq!(messages(&story), json!([user("u1"), {"role": "assistant", "content": "a2"}]));
    assert_eq!(codes(&story), [code::BLANK_TEXT_LEFT_OUT], "the view leaves out the call");
}

#[test]
fn the_texts_of_one_message_of_the_models_become_one_string() {
    let mut message = calling(&["c"]);
    message.content.insert(0, Part::text("one"));
    message.content.push(Part::text("two"));
    let story = Story::new().user("u1").say("a1", message).result("r", "c");
    let expected = json!([user("u1"), assistant(json!("one\n\ntwo"), json!([call("c")])), tool("c", "r")]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn several_texts_of_the_user_become_a_list() {
    let message = Message::new(Role::User, Kind::UserInput, vec![Part::text("a"), Part::text(" "), Part::text("b")]);
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    assert_eq!(messages(&Story::new().say("u1", message)), json!([{"role": "user", "content": parts}]));
}

#[test]
fn arguments_are_the_json_text_of_an_object() {
    let arguments = |input| {
        let mut message = calling(&["c"]);
        if let PartBody::ToolCall(call) = &mut message.content[0].body {
            call.input = input;
        }
        let story = Story::new().user("u1").say("a1", message).result("r", "c");
        messages(&story)[1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap().to_owned()
    };
    let object = Value::from([("b", Value::Number("1.10".to_owned())), ("a", "\"x\"\n".into())]);
    assert_eq!(arguments(ToolInput::Json(object)), r#"{"b":1.10,"a":"\"x\"\n"}"#);
    assert_eq!(arguments(ToolInput::None), "{}");
    assert_eq!(arguments(ToolInput::Json(Value::Null)), "{}");
    assert_eq!(arguments(ToolInput::Json(Value::List(vec![Value::Int(1)]))), r#"{"value":[1]}"#);
    assert_eq!(arguments(ToolInput::Text("{\"a\":".to_owned())), r#"{"text":"{\"a\":"}"#);
}

#[test]
fn a_failed_result_says_so_in_its_text_and_what_nobody_gave_stands_alone() {
    let response = ApprovalResponse {
        call_id: "c2".to_owned(),
        approval_id: None,
        approved: false,
        reason: Some("not on my machine".to_owned()),
    };
    let denied =
        Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![Part::new(PartBody::ToolApprovalResponse(response))]);
    let story = Story::new().user("u1").calls("a1", &["c1", "c2", "c3"]);
    let story = story.say("r1", Message::tool_result("c1", "no such file", true)).say("no", denied);
    let expected = json!([
        user("u1"),
        assistant(Json::Null, json!([call("c1"), call("c2"), call("c3")])),
        tool("c1", "The tool reported an error.\nno such file"),
        tool("c2", "not on my machine"),
        tool("c3", MISSING_TOOL_RESULT),
    ]);
    assert_eq!(messages(&story), expected);
    assert_eq!(codes(&story), [code::MISSING_RESULT_FILLED, code::ERROR_FLAG_AS_TEXT]);
}

#[test]
fn outputs_of_several_parts_become_one_text() {
    let value = Part::new(PartBody::Json(Value::from([("a", Value::Int(1))])));
    let parts = vec![Part::text("one"), value, Part::text("two")];
    let story = Story::new().user("u1").calls("a1", &["c"]).say("r", answering("c", parts, false));
    assert_eq!(messages(&story)[2], tool("c", "one\n{\"a\":1}\ntwo"));
    let story = Story::new().user("u1").calls("a1", &["c"]).say("r", answering("c", vec![], false));
    assert_eq!(messages(&story)[2], tool("c", "(no output)"));
}

#[test]
fn pictures_of_results_stand_in_one_message_of_the_users_behind_them_and_leave_as_many_notes() {
    let first = vec![Part::text("see"), media("image/png", data(PNG), None), media("image/png", data(PNG), None)];
    let second = vec![media("application/pdf", data(PDF), Some("a.pdf"))];
    let story = Story::new()
        .user("u1")
        .calls("a1", &["c1", "c2"])
        .say("r1", answering("c1", first, true))
        .say("r2", answering("c2", second, false))
        .user("u2");
    let picture = json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}});
    let file = json!({"type": "file",
        "file": {"filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")}});
    let of = |call: &str| json!({"type": "text", "text": format!("{MOVED_MEDIA_PREFIX}{call} (run):")});
    let expected = json!([
        user("u1"),
        assistant(Json::Null, json!([call("c1"), call("c2")])),
        tool("c1", &format!("The tool reported an error.\nsee\n{MOVED_PICTURE_NOTE}\n{MOVED_PICTURE_NOTE}")),
        tool("c2", MOVED_FILE_NOTE),
        {"role": "user", "content": [of("c1"), picture, picture, of("c2"), file]},
        user("u2"),
    ]);
    assert_eq!(messages(&story), expected);
    assert_eq!(codes(&story), [code::ERROR_FLAG_AS_TEXT, code::MEDIA_MOVED, code::MEDIA_MOVED]);
}

#[test]
fn pictures_go_out_by_either_way_and_documents_inline_only() {
    let parts = vec![
        Part::text("look"),
        media("image/png", data(PNG), None),
        media("image/webp", url("https://example.org/a.webp"), None),
        media("application/pdf", data(PDF), None),
        media("application/pdf", url("https://example.org/a.pdf"), None),
        media("image/tiff", data("aTE="), None),
        media("audio/wav", data("aTE="), None),
        media("image/png", MediaSource::Missing, None),
    ];
    let all = messages(&Story::new().say("u1", Message::new(Role::User, Kind::UserInput, parts)));
    let parts = all[0]["content"].as_array().unwrap();
    assert_eq!(parts[1]["image_url"], json!({"url": format!("data:image/png;base64,{PNG}")}));
    assert_eq!(parts[2]["image_url"], json!({"url": "https://example.org/a.webp"}));
    let file = json!({"filename": "document.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")});
    assert_eq!(parts[3], json!({"type": "file", "file": file}));
    assert_eq!(parts.len(), 8, "as many notes as pictures");
    for note in &parts[4..] {
        assert!(note["text"].as_str().unwrap().contains("not shown"), "{note}");
    }
}

#[test]
fn ids_and_names_are_legal_on_both_sides() {
    let long = "x".repeat(41);
    let part = |id: &str, name: &str| Part::tool_call(id, name, Value::Map(Vec::new()));
    let asks = Message::assistant_calls(vec![part(&long, "mcp:files/read"), part("", "a b")]);
    let story = Story::new().user("u1").say("a1", asks).result("r1", &long).result("r2", "");
    let all = messages(&story);
    for (index, text) in ["r1", "r2"].into_iter().enumerate() {
        let sent = all[1]["tool_calls"][index]["id"].as_str().unwrap();
        assert!((1..=40).contains(&sent.len()), "{sent}");
        assert_eq!(all[2 + index], tool(sent, text));
    }
    let codes = codes(&story);
    assert!(codes.contains(&code::CALL_ID_MAPPED) && codes.contains(&code::TOOL_NAME_MAPPED), "{codes:?}");
}

#[test]
fn no_reasoning_is_ever_sent() {
    let encrypted = Reasoning { encrypted: Some("ZW5j".to_owned()), ..plain("hm") };
    for (provider, reasoning) in [
        (None, plain("hm")),
        (Some("openai"), encrypted),
        (Some("deepseek"), plain("hm")),
        (Some("anthropic"), plain("hm")),
    ] {
        let story = Story::new().user("u1").say("a1", thinking(provider, reasoning, "Hi"));
        assert_eq!(messages(&story), json!([user("u1"), {"role": "assistant", "content": "Hi"}]));
        assert_eq!(codes(&story), [code::REASONING_LEFT_OUT]);
    }
}

#[test]
fn a_compatible_server_gets_plain_reasoning_of_its_own_back_if_it_is_asked_for() {
    let mut options = Options::default();
    options.reasoning_content = true;
    let sent = |provider: Option<&str>, reasoning: Reasoning| {
        let story = Story::new().user("u1").say("a1", thinking(provider, reasoning, "Hi"));
        payload_with(&story, &options).json()["messages"][1].clone()
    };
    let with = json!({"role": "assistant", "content": "Hi", "reasoning_content": "hm"});
    let without = json!({"role": "assistant", "content": "Hi"});
    assert_eq!(sent(Some("deepseek"), plain("hm")), with);
    assert_eq!(sent(None, plain("hm")), with);
    assert_eq!(sent(Some("openai"), plain("hm")), with);
    assert_eq!(sent(Some("anthropic"), plain("hm")), without);
    let signed = Reasoning { signature: Some("c2ln".to_owned()), ..plain("hm") };
    assert_eq!(sent(Some("deepseek"), signed), without);
    assert_eq!(sent(Some("deepseek"), plain(" ")), without);

    // Inside a row of calls, where such servers want it.
    let mut acting = calling(&["c"]);
    acting.content.insert(0, Part::new(PartBody::Reasoning(plain("I must look"))));
    let story = Story::new().user("u1").say("a1", acting).result("r", "c");
    let all = payload_with(&story, &options).json();
    let mut expected = assistant(Json::Null, json!([call("c")]));
    expected["reasoning_content"] = json!("I must look");
    assert_eq!(all["messages"], json!([user("u1"), expected, tool("c", "r")]));
}

#[test]
fn a_message_of_reasoning_alone_is_not_sent() {
    let mut only = Message::assistant("x");
    only.content = vec![Part::new(PartBody::Reasoning(plain("hm")))];
    let story = Story::new().user("u1").say("a1", only).user("u2");
    let mut options = Options::default();
    options.reasoning_content = true;
    for options in [&Options::default(), &options] {
        let made = payload_with(&story, options);
        let body: Json = serde_json::from_str(&made.to_json()).unwrap();
        assert_eq!(body["messages"], json!([user("u1"), user("u2")]));
    }
}

#[test]
fn tools_are_declared_as_functions_and_not_at_all_if_there_are_none() {
    assert!(!payload(&Story::new().user("u1")).to_json().contains("tools"));
    let mut options = Options::default();
    let tool = |name: &str, schema| Tool { name: name.to_owned(), description: Some("Runs it".to_owned()), schema };
    options.tools = vec![tool("run", Value::from([("type", "object".into()), ("required", Value::Null)]))];
    let body: Json = payload_with(&Story::new().user("u1"), &options).json();
    let parameters = json!({"type": "object", "properties": {}});
    let function = json!({"name": "run", "description": "Runs it", "parameters": parameters});
    assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
    options.tools = (0..130).map(|index| tool(&format!("tool_{index}"), Value::Map(Vec::new()))).collect();
    let body: Json = payload_with(&Story::new().user("u1"), &options).json();
    assert_eq!(body["tools"].as_array().unwrap().len(), 128);
}

#[test]
fn the_model_is_the_one_asked_for_or_the_last_that_answered_or_it_is_said_that_there_is_none() {
    let by = |provider: &str, model: &str, text: &str| {
        let mut message = Message::assistant(text);
        (message.provider, message.model) = (Some(provider.to_owned()), Some(model.to_owned()));
        message
    };
    let story = Story::new()
        .user("u1")
        .say("a1", by("openai", "gpt-4.1", "x"))
        .say("a2", by("openai", "gpt-5", "y"))
        .say("a3", by("anthropic", "claude-sonnet-4-5", "z"));
    let model = |story: &Story, options: &Options| {
        let made = payload_with(story, options);
        let is_said = made.diagnostics.iter().any(|item| item.code == code::MODEL_NOT_NAMED);
        (serde_json::from_str::<Json>(&made.to_json()).unwrap().get("model").cloned(), is_said)
    };
    assert_eq!(model(&story, &Options::default()), (Some(json!("gpt-5")), false));
    assert_eq!(model(&story, &Options::for_model("o3")), (Some(json!("o3")), false));
    assert_eq!(model(&Story::new().user("u1"), &Options::default()), (None, true));
}

#[test]
fn an_empty_history_says_that_there_is_nothing_to_send() {
    assert_eq!(payload(&Story::new()).to_json(), "{\"messages\":[]}");
    assert_eq!(codes(&Story::new()), [code::NOTHING_TO_SEND]);
}

#[test]
fn a_longer_history_begins_with_the_messages_of_the_shorter_one() {
    let story = Story::new().user("u1").calls("a1", &["", "c"]).result("r", "c").result("s", "").user("u2");
    let all = messages(&story);
    let longer = messages(&story.clone().assistant("a2").user("u3"));
    let count = all.as_array().unwrap().len();
    assert_eq!(all.as_array().unwrap()[..], longer.as_array().unwrap()[..count]);
    assert_eq!(payload(&story).to_json(), payload(&story.clone()).to_json());
}

#[test]
fn a_moved_picture_is_told_by_the_message_of_its_result() {
    let parts = vec![media("image/png", data(PNG), None)];
    let story = Story::new().user("u1").calls("a1", &["c"]).say("r1", answering("c", parts, false));
    let made = payload(&story);
    let item = made.diagnostics.iter().find(|item| item.code == code::MEDIA_MOVED).unwrap();
    assert_eq!(item.ids, [id("r1")]);
}
