//! The body for the AI SDK: what every provider behind it takes, whatever the history looks like.

mod common;

use common::bodies::{Made, ai_sdk, media};
use common::story::{Story, calling, id};
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{FIRST_USER_TEXT, Options, SYSTEM_NOTE_PREFIX};

fn payload(story: &Story) -> Made {
    ai_sdk(&story.model().messages, &Options::default())
}

fn body(story: &Story) -> Json {
    payload(story).json()
}

fn messages(story: &Story) -> Json {
    body(story)["messages"].clone()
}

fn for_provider(story: &Story, provider: &str) -> Json {
    let payload = ai_sdk(&story.model().messages, &Options::for_upstream(provider));
    serde_json::from_str::<Json>(&payload.to_json()).unwrap()["messages"].clone()
}

fn codes(story: &Story) -> Vec<&'static str> {
    payload(story).codes()
}

fn call(id: &str) -> Json {
    json!({"type": "tool-call", "toolCallId": id, "toolName": "run", "input": {}})
}

fn result(id: &str, output: Json) -> Json {
    json!({"type": "tool-result", "toolCallId": id, "toolName": "run", "output": output})
}

fn text_result(id: &str, text: &str) -> Json {
    result(id, json!({"type": "text", "value": text}))
}

fn missing(id: &str) -> Json {
    result(id, json!({"type": "error-text", "value": MISSING_TOOL_RESULT}))
}

fn user(text: &str) -> Json {
    json!({"role": "user", "content": text})
}

fn assistant(content: Json) -> Json {
    json!({"role": "assistant", "content": content})
}

fn tool(results: Json) -> Json {
    json!({"role": "tool", "content": results})
}

fn with_input(input: ToolInput) -> Message {
    let mut message = calling(&["c"]);
    if let PartBody::ToolCall(call) = &mut message.content[0].body {
        call.input = input;
    }
    message
}

fn with_output(output: ToolOutput, is_error: bool) -> Message {
    let mut message = Message::tool_result("c", "", is_error);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.output = output;
    }
    message
}

fn reasoning(provider: Option<&str>, reasoning: Reasoning) -> Part {
    Part { provider: provider.map(str::to_owned), ..Part::new(PartBody::Reasoning(reasoning)) }
}

fn block(message_id: &str, mut message: Message) -> Message {
    message.message_id = Some(message_id.to_owned());
    message
}

#[test]
fn the_worked_example_comes_out_as_written() {
    let read = vec![Part::tool_call(
        "call_1",
        "Read",
        Value::Map(vec![("file_path".to_owned(), Value::Text("src/auth.ts".to_owned()))]),
    )];
    let story = Story::new()
        .say("m1", Message::system_note("Workspace root is /repo"))
        .say("m2", Message::user("why?"))
        .say("m3", Message::assistant_calls(read))
        .say("m4", Message::tool_result("call_1", "a long file", false))
        .say("m5", Message::assistant("I look first."))
        .prune("p", &["m4"]);
    let expected = json!({
        "system": "Workspace root is /repo",
        "messages": [
            {"role": "user", "content": "why?"},
            {"role": "assistant", "content": [
                {"type": "tool-call", "toolCallId": "call_1", "toolName": "Read", "input": {"file_path": "src/auth.ts"}}
            ]},
            {"role": "tool", "content": [
                {"type": "tool-result", "toolCallId": "call_1", "toolName": "Read",
                 "output": {"type": "text", "value": "[Old tool result content cleared]"}}
            ]},
            {"role": "assistant", "content": "I look first."}
        ]
    });
    assert_eq!(body(&story), expected);

    // For an application that allows it, the prompt is the first message, as the example has it.
    let mut options = Options::default();
    options.system_in_messages = true;
    let listed = ai_sdk(&story.model().messages, &options);
    let mut messages = vec![json!({"role": "system", "content": "Workspace root is /repo"})];
    messages.extend(expected["messages"].as_array().unwrap().iter().cloned());
    assert_eq!(serde_json::from_str::<Json>(&listed.to_json()).unwrap(), json!({ "messages": messages }));
}

#[test]
fn a_call_without_a_result_gets_one_that_says_so() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]).result("r2", "c2").user("u2");
    let expected = json!([
        user("u1"),
        assistant(json!([call("c1"), call("c2")])),
        tool(json!([missing("c1"), text_result("c2", "r2")])),
        user("u2"),
    ]);
    assert_eq!(messages(&story), expected);
    let payload = payload(&story);
    let item = payload.diagnostics.iter().find(|item| item.code == code::MISSING_RESULT_FILLED).unwrap();
    assert_eq!((item.call.as_deref(), item.ids.as_slice()), (Some("c1"), [id("a1")].as_slice()));
}

#[test]
fn a_result_that_came_late_stands_behind_its_call() {
    let story = Story::new().user("u1").calls("a1", &["c"]).user("u2").result("r", "c").assistant("a2");
    let expected = json!([
        user("u1"),
        assistant(json!([call("c")])),
        tool(json!([text_result("c", "r")])),
        user("u2"),
        assistant(json!("a2")),
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
    let payload = ai_sdk(&messages, &Options::default());
    assert_eq!(payload.message_count, 3);
    assert!(!payload.to_json().contains("again") && !payload.to_json().contains("whose?"));
    let codes: Vec<_> = payload.diagnostics.iter().map(|item| item.code).collect();
    assert_eq!(codes, [code::DUPLICATE_RESULT_LEFT_OUT, code::ORPHAN_RESULT_LEFT_OUT]);
}

#[test]
fn a_refused_call_is_answered_by_the_refusal() {
    let response = |approved| {
        let response =
            ApprovalResponse { call_id: "c".to_owned(), approval_id: None, approved, reason: Some("no".to_owned()) };
        Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![Part::new(PartBody::ToolApprovalResponse(response))])
    };
    let story = Story::new().user("u1").calls("a1", &["c"]).say("no", response(false));
    let denied = json!({"type": "execution-denied", "reason": "no"});
    assert_eq!(messages(&story)[2], tool(json!([result("c", denied)])));
    let story = Story::new().user("u1").calls("a1", &["c"]).say("yes", response(true)).result("r", "c");
    assert_eq!(messages(&story)[2], tool(json!([text_result("c", "r")])));
}

#[test]
fn system_messages_at_the_beginning_are_set_apart_and_later_ones_are_marked_user_text() {
    let story = Story::new()
        .say("s1", Message::system_note("one"))
        .say("s2", Message::system_note("two"))
        .user("u1")
        .say("s3", Message::system_note("three"))
        .assistant("a1");
    let body = body(&story);
    assert_eq!(body["system"], "one\n\ntwo");
    let texts = json!([{"type": "text", "text": "u1"}, {"type": "text", "text": format!("{SYSTEM_NOTE_PREFIX}three\n</system-note>")}]);
    assert_eq!(body["messages"][0]["content"], texts);
    assert!(codes(&story).contains(&code::SYSTEM_NOTE_AS_USER_TEXT));
    assert!(!payload(&Story::new().user("u1")).to_json().contains("system"));
}

#[test]
fn user_messages_in_a_row_are_merged_and_keep_every_word() {
    let story = Story::new().user("u1").user("u2").user("u3");
    let texts = json!([{"type": "text", "text": "u1"}, {"type": "text", "text": "u2"}, {"type": "text", "text": "u3"}]);
    assert_eq!(messages(&story), json!([{"role": "user", "content": texts}]));
    assert_eq!(codes(&story), [code::MESSAGES_MERGED]);
}

#[test]
fn blank_text_is_left_out_and_what_it_parted_is_merged() {
    let mut blank = Message::assistant("x");
    blank.content = vec![Part::text("\n\n")];
    let mut beside_a_call = calling(&["c"]);
    beside_a_call.content.insert(0, Part::text(""));
    let story = Story::new().user("u1").say("a1", blank).user("u2").say("a2", beside_a_call);
    let story = story.say("r", Message::tool_result("c", "", false)).user("u3");
    let texts = json!([{"type": "text", "text": "u1"}, {"type": "text", "text": "u2"}]);
    let expected = json!([
        {"role": "user", "content": texts},
        assistant(json!([call("c")])),
        tool(json!([text_result("c", "(no output)")])),
        user("u3"),
    ]);
    assert_eq!(messages(&story), expected);
    assert!(codes(&story).contains(&code::BLANK_TEXT_LEFT_OUT));
}

#[test]
fn blocks_of_one_message_become_one_message_with_all_their_results_behind() {
    let kind = Kind::Attachment(Attachment::default());
    let story = Story::new()
        .user("u1")
        .say("a1", block("m", Message::assistant("first")))
        .say("a2", block("m", calling(&["c1"])))
        .result("r1", "c1")
        .say("at", Message::new(Role::User, kind, vec![Part::text("hook")]))
        .say("a3", block("m", calling(&["c2"])))
        .result("r2", "c2")
        .say("a4", block("other", Message::assistant("done")));
    let expected = json!([
        user("u1"),
        assistant(json!([{"type": "text", "text": "first"}, call("c1"), call("c2")])),
        tool(json!([text_result("c1", "r1"), text_result("c2", "r2")])),
        user("hook"),
        assistant(json!("done")),
    ]);
    assert_eq!(messages(&story), expected);
}

#[test]
fn a_message_id_used_again_after_the_user_spoke_is_another_message() {
    let story = Story::new().user("u1").say("a1", block("m", Message::assistant("x"))).user("u2");
    let story = story.say("a2", block("m", Message::assistant("y")));
    assert_eq!(messages(&story), json!([user("u1"), assistant(json!("x")), user("u2"), assistant(json!("y"))]));
}

#[test]
fn call_ids_that_are_empty_used_before_or_not_legal_become_stable_others_in_results_too() {
    let long = "x".repeat(41);
    let calls = ["call_0", "", "", "a|b", long.as_str()];
    let mut story = Story::new().user("u1").calls("a0", &["call_0"]).result("r", "call_0").calls("a1", &calls);
    for (index, call) in calls.iter().enumerate() {
        story = story.result(&format!("r{index}"), call);
    }
    let all = messages(&story);
    let ids: Vec<&str> =
        all[3]["content"].as_array().unwrap().iter().map(|c| c["toolCallId"].as_str().unwrap()).collect();
    assert_eq!(all[1]["content"][0]["toolCallId"], "call_0");
    let mut distinct: Vec<&str> = ids.clone();
    distinct.push("call_0");
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 6, "{ids:?}");
    for (index, id) in ids.iter().enumerate() {
        assert!(id.len() <= 40 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{id}");
        assert_eq!(all[4]["content"][index], text_result(id, &format!("r{index}")));
    }
    let longer = messages(&story.user("u2"));
    assert_eq!(all.as_array().unwrap()[..], longer.as_array().unwrap()[..5]);
}

#[test]
fn a_tools_name_that_is_not_legal_becomes_a_legal_one_in_call_and_result_and_is_told() {
    let story = |name: &str| {
        let part = Part::tool_call("c", name, Value::Map(Vec::new()));
        Story::new().user("u1").say("a1", Message::assistant_calls(vec![part])).result("r", "c")
    };
    let long = "x".repeat(65);
    let mut sent = Vec::new();
    for name in ["", "a b", "mcp:server/tool", "a\nb", "😀", "1st", long.as_str()] {
        let story = story(name);
        let all = messages(&story);
        let goes_out = all[1]["content"][0]["toolName"].as_str().unwrap().to_owned();
        assert_eq!(all[2]["content"][0]["toolName"], goes_out.as_str(), "{name}");
        assert!(
            goes_out.len() <= 64 && goes_out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
            "{goes_out}"
        );
        assert!(goes_out.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{goes_out}");
        assert_eq!(codes(&story), [code::TOOL_NAME_MAPPED], "{name}");
        sent.push(goes_out);
    }
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), 7, "each has a name of its own: {sent:?}");
    assert_eq!(messages(&story("mcp__files__read-all"))[1]["content"][0]["toolName"], "mcp__files__read-all");
    assert_eq!(codes(&story("mcp__files__read-all")), Vec::<&str>::new());
}

#[test]
fn arguments_are_always_an_object() {
    let input = |input| {
        let story = Story::new().user("u1").say("a1", with_input(input)).result("r", "c");
        messages(&story)[1]["content"][0]["input"].clone()
    };
    assert_eq!(input(ToolInput::None), json!({}));
    assert_eq!(input(ToolInput::Json(Value::Null)), json!({}));
    assert_eq!(input(ToolInput::Json(Value::List(vec![Value::Int(1)]))), json!({"value": [1]}));
    assert_eq!(input(ToolInput::Json(Value::Text("x".to_owned()))), json!({"value": "x"}));
    assert_eq!(input(ToolInput::Text("{\"a\":".to_owned())), json!({"text": "{\"a\":"}));
    let story = Story::new().user("u1").say("a1", with_input(ToolInput::Text("x".to_owned()))).result("r", "c");
    assert_eq!(codes(&story), [code::CALL_INPUT_WRAPPED]);
}

#[test]
fn outputs_take_the_form_that_their_parts_need() {
    let output = |parts: Vec<Part>, is_error| {
        let message = with_output(ToolOutput::Parts(parts), is_error);
        let story = Story::new().user("u1").calls("a1", &["c"]).say("r", message);
        messages(&story)[2]["content"][0]["output"].clone()
    };
    let value = || Part::new(PartBody::Json(Value::Map(vec![("a".to_owned(), Value::Int(1))])));
    let picture = || media("image/png", MediaSource::Data("aTE=".to_owned()));
    assert_eq!(output(vec![Part::text("a"), Part::text("b")], false), json!({"type": "text", "value": "a\nb"}));
    assert_eq!(output(vec![Part::text("a")], true), json!({"type": "error-text", "value": "a"}));
    assert_eq!(output(vec![value()], false), json!({"type": "json", "value": {"a": 1}}));
    assert_eq!(output(vec![value()], true), json!({"type": "error-json", "value": {"a": 1}}));
    assert_eq!(output(vec![value(), Part::text("x")], false), json!({"type": "text", "value": "{\"a\":1}\nx"}));
    assert_eq!(output(vec![], false), json!({"type": "text", "value": "(no output)"}));
    let data = json!({"type": "image-data", "data": "aTE=", "mediaType": "image/png"});
    let items = json!([{"type": "text", "text": "see"}, data]);
    assert_eq!(output(vec![Part::text("see"), picture()], false), json!({"type": "content", "value": items}));
    let items = json!([{"type": "text", "text": "The tool reported an error."}, data]);
    assert_eq!(output(vec![picture()], true), json!({"type": "content", "value": items}));
}

#[test]
fn pictures_and_documents_go_out_inline_or_by_address_and_all_else_is_a_note() {
    let part = |part| {
        let message = Message::new(Role::User, Kind::UserInput, vec![Part::text("look"), part]);
        messages(&Story::new().say("u1", message))[0]["content"][1].clone()
    };
    let data = || MediaSource::Data("aTE=".to_owned());
    assert_eq!(part(media("image/png", data())), json!({"type": "file", "data": "aTE=", "mediaType": "image/png"}));
    assert_eq!(part(media("application/pdf", data()))["mediaType"], "application/pdf");
    let url = MediaSource::Url("https://example.org/a.png".to_owned());
    assert_eq!(part(media("image/png", url))["data"], "https://example.org/a.png");
    let notes = [
        media("image/tiff", data()),
        media("audio/wav", data()),
        media("image/png", MediaSource::Data("not base64!".to_owned())),
        media("image/png", MediaSource::Data(String::new())),
        media("image/png", MediaSource::Path("/tmp/a.png".to_owned())),
        media("image/png", MediaSource::Url("file:///a.png".to_owned())),
        media("image/png", MediaSource::Missing),
    ];
    for picture in notes {
        let note = part(picture);
        assert_eq!(note["type"], "text");
        assert!(note["text"].as_str().unwrap().contains("not shown"), "{note}");
    }
}

#[test]
fn a_picture_of_the_models_own_becomes_a_note() {
    let mut message = Message::assistant("here");
    message.content.push(media("image/png", MediaSource::Data("aTE=".to_owned())));
    let story = Story::new().user("u1").say("a1", message);
    assert_eq!(messages(&story)[1]["content"][1]["type"], "text");
    assert_eq!(codes(&story), [code::MEDIA_DEGRADED]);
}

#[test]
fn signed_reasoning_goes_byte_for_byte_to_the_provider_that_made_it_and_to_no_other() {
    let text = "3 × 7 = 21.  \ne\u{301} é\t";
    let signed = Reasoning { text: Some(text.to_owned()), signature: Some("c2ln".to_owned()), ..Reasoning::default() };
    let redacted = Reasoning { redacted: Some("cmVk".to_owned()), ..Reasoning::default() };
    let empty = Reasoning { text: Some(String::new()), signature: Some("c2lnLUI=".to_owned()), ..Reasoning::default() };
    let mut message = calling(&["c"]);
    for part in [empty, redacted, signed] {
        message.content.insert(0, reasoning(Some("anthropic"), part));
    }
    let story = Story::new().user("u1").say("a1", message).result("r", "c");
    let part =
        |text: &str, own: Json| json!({"type": "reasoning", "text": text, "providerOptions": {"anthropic": own}});
    let expected = json!([
        part(text, json!({"signature": "c2ln"})),
        part("", json!({"redactedData": "cmVk"})),
        part("", json!({"signature": "c2lnLUI="})),
        call("c"),
    ]);
    assert_eq!(for_provider(&story, "anthropic")[1]["content"], expected);
    for other in ["openai", "google", "bedrock", "somebody"] {
        assert_eq!(for_provider(&story, other)[1]["content"], json!([call("c")]), "{other}");
    }
    assert_eq!(messages(&story)[1]["content"], json!([call("c")]));
    assert!(codes(&story).contains(&code::REASONING_LEFT_OUT));
}

#[test]
fn reasoning_with_an_empty_signature_is_left_out_and_empty_redacted_data_do_not_count() {
    let empty = || Some(String::new());
    let unsigned = Reasoning { text: Some("hm".to_owned()), signature: empty(), ..Reasoning::default() };
    let signed = Reasoning {
        text: Some("ah".to_owned()),
        signature: Some("c2ln".to_owned()),
        redacted: empty(),
        ..Reasoning::default()
    };
    let mut message = calling(&["c"]);
    for part in [signed, unsigned] {
        message.content.insert(0, reasoning(Some("anthropic"), part));
    }
    let story = Story::new().user("u1").say("a1", message).result("r", "c");
    let expected = json!([
        {"type": "reasoning", "text": "ah", "providerOptions": {"anthropic": {"signature": "c2ln"}}},
        call("c"),
    ]);
    assert_eq!(for_provider(&story, "anthropic")[1]["content"], expected);
}

#[test]
fn openais_item_ids_go_with_their_reasoning_or_not_at_all() {
    let mut thought = reasoning(
        None,
        Reasoning { text: Some("hm".to_owned()), encrypted: Some("ZW5j".to_owned()), ..Reasoning::default() },
    );
    thought.item_id = Some("rs_1".to_owned());
    let mut said = Part::text("Hi.");
    said.item_id = Some("msg_1".to_owned());
    let mut message = Message::assistant("x");
    message.provider = Some("openai".to_owned());
    message.content = vec![thought, said];
    let story = Story::new().user("u1").say("a1", message);
    let expected = json!([
        {"type": "reasoning", "text": "hm",
         "providerOptions": {"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "ZW5j"}}},
        {"type": "text", "text": "Hi.", "providerOptions": {"openai": {"itemId": "msg_1"}}},
    ]);
    assert_eq!(for_provider(&story, "openai")[1]["content"], expected);
    let mut options = seslog::projection::Options::default();
    options.include_reasoning = false;
    let payload = ai_sdk(&story.model_with(&options).messages, &Options::for_upstream("openai"));
    assert!(!payload.to_json().contains("msg_1"));
    let foreign = ai_sdk(&story.model().messages, &Options::for_upstream("anthropic"));
    assert!(!foreign.to_json().contains("rs_1") && !foreign.to_json().contains("msg_1"));
    assert!(foreign.diagnostics.iter().any(|item| item.code == code::FOREIGN_REASONING_LEFT_OUT));
}

#[test]
fn reasoning_that_was_recorded_as_a_message_of_its_own_joins_the_message_that_it_led_to() {
    let mut thought =
        reasoning(Some("openai"), Reasoning { encrypted: Some("ZW5j".to_owned()), ..Reasoning::default() });
    thought.item_id = Some("rs_1".to_owned());
    let alone = Message::new(Role::Assistant, Kind::AssistantReasoning, vec![thought]);
    let mut acting = calling(&["c"]);
    acting.provider = Some("openai".to_owned());
    acting.content[0].item_id = Some("fc_1".to_owned());
    let story = Story::new().user("u1").say("a1", alone).say("a2", acting).result("r", "c");
    let all = for_provider(&story, "openai");
    assert_eq!(all[1]["content"][0]["providerOptions"]["openai"]["itemId"], "rs_1");
    assert_eq!(all[1]["content"][1]["providerOptions"]["openai"]["itemId"], "fc_1");
    assert_eq!(all[2]["role"], "tool");
}

#[test]
fn openais_reasoning_without_its_encrypted_content_is_left_out_and_the_item_ids_with_it() {
    let mut thought = reasoning(Some("openai"), Reasoning { text: Some("hm".to_owned()), ..Reasoning::default() });
    thought.item_id = Some("rs_1".to_owned());
    let mut said = Part::text("Hi.");
    said.item_id = Some("msg_1".to_owned());
    let mut message = Message::assistant("x");
    message.provider = Some("openai".to_owned());
    message.content = vec![thought, said];
    let story = Story::new().user("u1").say("a1", message);
    assert_eq!(for_provider(&story, "openai")[1], assistant(json!("Hi.")));
}

#[test]
fn googles_signature_of_a_call_goes_back_with_it() {
    let mut message = calling(&["c"]);
    message.provider = Some("google".to_owned());
    if let PartBody::ToolCall(call) = &mut message.content[0].body {
        call.thought_signature = Some("c2ln".to_owned());
    }
    let story = Story::new().user("u1").say("a1", message).result("r", "c");
    let options = json!({"google": {"thoughtSignature": "c2ln"}});
    assert_eq!(for_provider(&story, "google")[1]["content"][0]["providerOptions"], options);
    assert_eq!(messages(&story)[1]["content"][0], call("c"));
}

#[test]
fn what_is_no_signature_of_googles_does_not_go_to_it() {
    let mut message = calling(&["c"]);
    message.provider = Some("google".to_owned());
    if let PartBody::ToolCall(call) = &mut message.content[0].body {
        call.thought_signature = Some("not base64".to_owned());
    }
    let signed = Reasoning { signature: Some("c2l".to_owned()), text: Some("hm".to_owned()), ..Reasoning::default() };
    message.content.insert(0, reasoning(None, signed));
    let story = Story::new().user("u1").say("a1", message).result("r", "c");
    assert_eq!(for_provider(&story, "google")[1]["content"], json!([call("c")]));
}

#[test]
fn a_message_does_not_end_in_reasoning() {
    let signed = || Reasoning { signature: Some("c2ln".to_owned()), ..Reasoning::default() };
    let mut message = Message::assistant("Hi");
    message.content.push(reasoning(Some("anthropic"), signed()));
    let mut only = Message::assistant("x");
    only.content = vec![reasoning(Some("anthropic"), signed())];
    let story = Story::new().user("u1").say("a1", message).user("u2").say("a2", only).user("u3");
    let texts = json!([{"type": "text", "text": "u2"}, {"type": "text", "text": "u3"}]);
    let expected = json!([user("u1"), assistant(json!("Hi")), {"role": "user", "content": texts}]);
    assert_eq!(for_provider(&story, "anthropic"), expected);
}

#[test]
fn a_history_that_begins_with_the_model_gets_a_users_text_in_front() {
    let story = Story::new().assistant("a1");
    assert_eq!(messages(&story), json!([user(FIRST_USER_TEXT), assistant(json!("a1"))]));
    assert_eq!(codes(&story), [code::FIRST_USER_PUT_IN]);
}

#[test]
fn an_empty_history_says_that_there_is_nothing_to_send() {
    assert_eq!(payload(&Story::new()).to_json(), "{\"messages\":[]}");
    assert_eq!(codes(&Story::new()), [code::NOTHING_TO_SEND]);
}

#[test]
fn same_body_twice() {
    let story = Story::new().user("u1").calls("a1", &["", "c"]).result("r", "c").user("u2").assistant("a2");
    assert_eq!(payload(&story).to_json(), payload(&story.clone()).to_json());
    let text = payload(&story).to_json();
    assert!(text.starts_with("{\"messages\":[{\"role\":\"user\",\"content\":\"u1\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"tool-call\",\"toolCallId\":\""), "{text}");
}

#[test]
fn numbers_keep_the_text_that_they_had() {
    let input = Value::Map(vec![
        ("b".to_owned(), Value::Number("1.10".to_owned())),
        ("a".to_owned(), Value::Float(f64::NAN)),
        ("c".to_owned(), Value::UInt(u64::MAX)),
    ]);
    let story = Story::new().user("u1").say("a1", with_input(ToolInput::Json(input))).result("r", "c");
    let text = payload(&story).to_json();
    assert!(text.contains("\"input\":{\"b\":1.10,\"a\":null,\"c\":18446744073709551615}"), "{text}");
}

/// OpenAI refuses reasoning without the item that it led to, and an item that stands twice.
#[test]
fn openais_reasoning_goes_back_once_and_only_before_what_it_led_to() {
    let thought = |id: &str| {
        let reasoning = Reasoning { encrypted: Some("ZW5j".to_owned()), ..Reasoning::default() };
        let part = Part::new(PartBody::Reasoning(reasoning));
        Part { provider: Some("openai".to_owned()), item_id: Some(id.to_owned()), ..part }
    };
    let numbered = |id: &str, text: &str| Part {
        provider: Some("openai".to_owned()),
        item_id: Some(id.to_owned()),
        ..Part::text(text)
    };
    let mut cut = Part::tool_call("c", "run", Value::Null);
    if let PartBody::ToolCall(call) = &mut cut.body {
        call.incomplete = true;
    }
    let story = Story::new()
        .user("u1")
        .say("a1", Message::assistant_calls(vec![thought("rs_1"), cut, numbered("msg_1", "One.")]))
        .user("u2")
        .say("a2", Message::assistant_calls(vec![thought("rs_2"), numbered("msg_2", "Two.")]))
        .user("u3")
        .say("a3", Message::assistant_calls(vec![thought("rs_2"), numbered("msg_3", "Three.")]));
    let messages = for_provider(&story, "openai");
    assert_eq!(messages[1], assistant(json!("One.")));
    let item = |id: &str| json!({"openai": {"itemId": id}});
    let options = json!({"openai": {"itemId": "rs_2", "reasoningEncryptedContent": "ZW5j"}});
    assert_eq!(
        messages[3],
        assistant(json!([
            {"type": "reasoning", "text": "", "providerOptions": options},
            {"type": "text", "text": "Two.", "providerOptions": item("msg_2")},
        ]))
    );
    assert_eq!(messages[5], assistant(json!("Three.")));
}

#[test]
fn without_a_named_model_reasoning_goes_to_the_model_that_answered_last() {
    let answer = |model: &str| {
        let signed =
            Reasoning { text: Some(model.to_owned()), signature: Some("c2ln".to_owned()), ..Reasoning::default() };
        let mut message = Message::assistant_calls(vec![reasoning(None, signed), Part::text("Yes.")]);
        message.provider = Some("anthropic".to_owned());
        message.model = Some(model.to_owned());
        message
    };
    let story = Story::new().user("u1").say("a1", answer("one")).user("u2").say("a2", answer("two"));
    let messages = for_provider(&story, "anthropic");
    assert_eq!(messages[1], assistant(json!("Yes.")));
    assert_eq!(messages[3]["content"][0]["text"], "two");
}

#[test]
fn google_is_sent_no_gif() {
    let gif = media("image/gif", MediaSource::Data("aTE=".to_owned()));
    let story = Story::new().say("u1", Message::new(Role::User, Kind::UserInput, vec![gif]));
    assert!(for_provider(&story, "google")[0].to_string().contains("Picture not shown"));
    assert_eq!(for_provider(&story, "anthropic")[0]["content"][0]["mediaType"], "image/gif");
}

#[test]
fn messages_of_the_models_in_a_row_are_told_as_merged_whichever_has_an_id_of_the_providers() {
    for with_id in ["a1", "a2"] {
        let answer = |name: &str| {
            let message = Message::assistant(name);
            if name == with_id { block("msg_1", message) } else { message }
        };
        let story = Story::new().user("u").say("a1", answer("a1")).say("a2", answer("a2"));
        assert_eq!(messages(&story).as_array().unwrap().len(), 2);
        let merged = payload(&story).diagnostics.into_iter().find(|item| item.code == code::MESSAGES_MERGED);
        assert_eq!(merged.map(|item| item.ids), Some(vec![id("a1"), id("a2")]), "{with_id}");
    }
}

#[test]
fn words_of_refusal_that_a_result_replaced_are_named() {
    let response = ApprovalResponse {
        call_id: "c".to_owned(),
        approval_id: None,
        approved: false,
        reason: Some("not on a Friday".to_owned()),
    };
    let denied = Part::new(PartBody::ToolApprovalResponse(response));
    let denied = Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![denied]);
    let story = Story::new().user("u").calls("a", &["c"]).say("no", denied).result("r", "c");
    // In the order in which a caller may hand them in: the refusal first.
    let mut given = story.model().messages;
    given.sort_by_key(|message| message.role == Role::Tool && message.semantic_type() == "tool_result");
    let said = ai_sdk(&given, &Options::default()).diagnostics;
    assert!(said.iter().any(|item| item.reason.contains("words of refusal")), "{said:#?}");
}
