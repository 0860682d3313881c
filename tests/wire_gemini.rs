//! The body for Gemini: what `generateContent` takes, whatever the history looks like.

mod common;

use common::bodies::{Made, made, media};
use common::story::{Story, calling};
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{FIRST_USER_TEXT, LAST_USER_TEXT, MediaLimits, Options, Provider, SYSTEM_NOTE_PREFIX, Tool};

/// A version that does not look at signatures.
const OLDER: &str = "gemini-2.5-flash";
/// A version that does.
const NEWER: &str = "gemini-3-pro-preview";
const SKIP: &str = "skip_thought_signature_validator";

fn payload_for(story: &Story, model: &str) -> Made {
    made(&story.model().messages, Provider::Gemini, &Options::for_model(model))
}

fn body_with(story: &Story, options: &Options) -> Json {
    made(&story.model().messages, Provider::Gemini, options).json()
}

fn contents_for(story: &Story, model: &str) -> Json {
    body_with(story, &Options::for_model(model))["contents"].clone()
}

fn contents(story: &Story) -> Json {
    contents_for(story, OLDER)
}

fn codes(story: &Story, model: &str) -> Vec<&'static str> {
    payload_for(story, model).codes()
}

fn user(text: &str) -> Json {
    json!({"role": "user", "parts": [{"text": text}]})
}

fn of_user(parts: Json) -> Json {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Json) -> Json {
    json!({"role": "model", "parts": parts})
}

fn call() -> Json {
    json!({"functionCall": {"name": "run", "args": {}}})
}

fn signed_call(signature: &str) -> Json {
    json!({"functionCall": {"name": "run", "args": {}}, "thoughtSignature": signature})
}

fn response(response: Json) -> Json {
    json!({"functionResponse": {"name": "run", "response": response}})
}

fn output(text: &str) -> Json {
    response(json!({"output": text}))
}

fn with_output(output: ToolOutput, is_error: bool) -> Message {
    let mut message = Message::tool_result("c", "", is_error);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.output = output;
    }
    message
}

/// A story of one call that gave back these parts.
fn answered(parts: Vec<Part>, is_error: bool) -> Story {
    Story::new().user("u1").calls("a1", &["c"]).say("r", with_output(ToolOutput::Parts(parts), is_error))
}

fn inline(media_type: &str) -> Part {
    media(media_type, MediaSource::Data("aTE=".to_owned()))
}

fn blob(media_type: &str) -> Json {
    json!({"inlineData": {"mimeType": media_type, "data": "aTE="}})
}

fn json_part(json: &str) -> Part {
    Part::new(PartBody::Json(Value::parse_json(json.as_bytes()).unwrap().0))
}

fn of_google(mut message: Message, model: &str) -> Message {
    message.provider = Some("google".to_owned());
    message.model = Some(model.to_owned());
    message
}

fn with_signatures(mut message: Message, signatures: &[Option<&str>]) -> Message {
    for (part, signature) in message.content.iter_mut().zip(signatures) {
        if let PartBody::ToolCall(call) = &mut part.body {
            call.thought_signature = signature.map(str::to_owned);
        }
    }
    message
}

fn reasoning(text: Option<&str>, signature: Option<&str>) -> Part {
    let reasoning =
        Reasoning { text: text.map(str::to_owned), signature: signature.map(str::to_owned), ..Reasoning::default() };
    Part::new(PartBody::Reasoning(reasoning))
}

fn said(parts: Vec<Part>) -> Message {
    let mut message = Message::assistant("x");
    message.content = parts;
    of_google(message, NEWER)
}

#[test]
fn the_prompt_is_the_system_instruction_and_later_system_text_is_the_users() {
    let story = Story::new()
        .say("s1", Message::system_note("one"))
        .say("s2", Message::system_note("two"))
        .user("u1")
        .say("s3", Message::system_note("three"));
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "one\n\ntwo"}]},
        "contents": [of_user(json!([{"text": "u1"}, {"text": format!("{SYSTEM_NOTE_PREFIX}three\n</system-note>")}]))],
    });
    assert_eq!(body_with(&story, &Options::default()), expected);
}

#[test]
fn responses_stand_in_the_order_of_the_calls_in_a_content_of_their_own() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]).result("r2", "c2").result("r1", "c1").user("u2");
    let expected =
        json!([user("u1"), model(json!([call(), call()])), of_user(json!([output("r1"), output("r2")])), user("u2"),]);
    assert_eq!(contents(&story), expected);
    assert_eq!(payload_for(&story, OLDER).message_count, 4);
}

#[test]
fn a_call_without_a_result_gets_an_error() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]).result("r2", "c2").user("u2");
    let missing = response(json!({"error": MISSING_TOOL_RESULT}));
    assert_eq!(contents(&story)[2], of_user(json!([missing, output("r2")])));
}

#[test]
fn ids_of_calls_go_out_on_neither_side() {
    let story = Story::new().user("u1").calls("a1", &["call_7", "", "a|b"]).result("r", "call_7");
    let text = payload_for(&story, OLDER).to_json();
    assert!(!text.contains("\"id\"") && !text.contains("call_7"), "{text}");
}

#[test]
fn messages_of_one_side_in_a_row_are_one_content_with_all_their_parts() {
    let story = Story::new().user("u1").user("u2").assistant("a1").calls("a2", &["c"]).result("r", "c");
    let expected = json!([
        of_user(json!([{"text": "u1"}, {"text": "u2"}])),
        model(json!([{"text": "a1"}, call()])),
        of_user(json!([output("r")])),
    ]);
    assert_eq!(contents(&story), expected);
}

#[test]
fn a_response_is_an_object_that_says_whether_the_tool_failed() {
    let given =
        |parts, is_error| contents(&answered(parts, is_error))[2]["parts"][0]["functionResponse"]["response"].clone();
    assert_eq!(given(vec![Part::text("a"), Part::text("b")], false), json!({"output": "a\nb"}));
    assert_eq!(given(vec![Part::text("a")], true), json!({"error": "a"}));
    assert_eq!(given(vec![], false), json!({"output": "(no output)"}));
    assert_eq!(given(vec![json_part("{\"a\":[1]}")], false), json!({"output": {"a": [1]}}));
    assert_eq!(given(vec![json_part("[1]")], false), json!({"output": [1]}));
    assert_eq!(given(vec![json_part("{\"a\":1}")], true), json!({"error": {"a": 1}}));
    assert_eq!(given(vec![json_part("{\"a\":1}"), Part::text("x")], false), json!({"output": "{\"a\":1}\nx"}));
}

#[test]
fn json_with_a_reference_anywhere_goes_out_as_text() {
    let schema = "{\"a\":[{\"$ref\":\"#/x\"}]}";
    let given = contents(&answered(vec![json_part(schema)], false));
    assert_eq!(given[2]["parts"][0], output(schema));
}

#[test]
fn a_refused_call_is_answered_by_the_reason() {
    let response_part = ApprovalResponse {
        call_id: "c".to_owned(),
        approval_id: None,
        approved: false,
        reason: Some("not there".to_owned()),
    };
    let parts = vec![Part::new(PartBody::ToolApprovalResponse(response_part))];
    let message = Message::new(Role::Tool, Kind::ToolApprovalResponse, parts);
    let story = Story::new().user("u1").calls("a1", &["c"]).say("no", message);
    assert_eq!(contents(&story)[2], of_user(json!([response(json!({"error": "not there"}))])));
}

#[test]
fn arguments_are_an_object_and_names_are_legal_on_both_sides() {
    let mut message = calling(&["c"]);
    if let PartBody::ToolCall(call) = &mut message.content[0].body {
        call.name = "mcp:files/read".to_owned();
        call.input = ToolInput::Text("{\"a\":".to_owned());
    }
    let story = Story::new().user("u1").say("a1", message).result("r", "c");
    let all = contents(&story);
    let function = &all[1]["parts"][0]["functionCall"];
    assert_eq!(function["args"], json!({"text": "{\"a\":"}));
    let name = function["name"].as_str().unwrap();
    assert!(name.starts_with("mcp_files_read_"), "{name}");
    assert_eq!(all[2]["parts"][0]["functionResponse"]["name"], name);
    let made = payload_for(&story, OLDER);
    assert_eq!(made.renamed.tool(name), "mcp:files/read");
}

#[test]
fn a_signature_goes_back_on_the_call_that_it_came_with() {
    let message = || with_signatures(calling(&["c1", "c2"]), &[Some("c2lnLUE="), None]);
    let story = Story::new().user("u1").say("a1", of_google(message(), NEWER)).result("r1", "c1").result("r2", "c2");
    for model_name in [NEWER, "models/gemini-3-pro-preview", OLDER] {
        let of_this_model = model_name != OLDER;
        let first = if of_this_model { signed_call("c2lnLUE=") } else { call() };
        assert_eq!(contents_for(&story, model_name)[1], model(json!([first, call()])), "{model_name}");
    }
    assert_eq!(codes(&story, NEWER), Vec::<&str>::new());
    let unnamed = body_with(&story, &Options::default());
    assert_eq!(unnamed["contents"][1], model(json!([signed_call("c2lnLUE="), call()])));
}

#[test]
fn the_first_call_of_a_step_that_has_no_signature_of_the_model_has_the_value_that_stands_for_one() {
    let foreign = with_signatures(calling(&["c1", "c2"]), &[Some("c2lnLUE="), None]);
    let of_another_model = of_google(with_signatures(calling(&["c3"]), &[Some("c2lnLUI=")]), "gemini-3-flash");
    let broken = of_google(with_signatures(calling(&["c4"]), &[Some("§")]), NEWER);
    let story = Story::new()
        .user("u1")
        .say("a1", foreign)
        .result("r1", "c1")
        .result("r2", "c2")
        .say("a2", of_another_model)
        .result("r3", "c3")
        .user("u2")
        .say("a3", broken)
        .result("r4", "c4");
    let all = contents_for(&story, NEWER);
    assert_eq!(all[1], model(json!([signed_call(SKIP), call()])));
    assert_eq!(all[3], model(json!([signed_call(SKIP)])));
    assert_eq!(all[6], model(json!([signed_call(SKIP)])));
    let made = payload_for(&story, NEWER);
    let calls = made.diagnostics.iter().filter(|item| item.code == code::CALL_SIGNATURE_PUT_IN);
    assert_eq!(calls.filter_map(|item| item.call.as_deref()).collect::<Vec<_>>(), ["c1", "c3", "c4"]);
    // A body that names no model must suit both generations; the older one does not look at it.
    assert_eq!(body_with(&story, &Options::default())["contents"][1], model(json!([signed_call(SKIP), call()])));
    assert!(!payload_for(&story, OLDER).to_json().contains(SKIP));
}

#[test]
fn a_signature_without_a_text_is_an_empty_part_that_is_kept_even_at_the_end() {
    for text in [None, Some("")] {
        let parts = vec![Part::text("Done."), reasoning(text, Some("c2ln_-A="))];
        let story = Story::new().user("u1").say("a1", said(parts)).user("u2");
        let expected = model(json!([{"text": "Done."}, {"text": "", "thoughtSignature": "c2ln_-A="}]));
        assert_eq!(contents_for(&story, NEWER), json!([user("u1"), expected, user("u2")]));
    }
    let alone = Story::new().user("u1").say("a1", said(vec![reasoning(None, Some("c2ln"))])).user("u2");
    assert_eq!(contents_for(&alone, NEWER)[1], model(json!([{"text": "", "thoughtSignature": "c2ln"}])));
}

#[test]
fn a_thought_goes_back_with_its_signature_only_and_to_its_model_only() {
    let text = "3 × 7 = 21.  \ne\u{301}\t";
    let parts = vec![reasoning(Some("unsigned"), None), reasoning(Some(text), Some("c2ln")), Part::text("Hi.")];
    let story = Story::new().user("u1").say("a1", said(parts)).user("u2");
    let thought = json!({"text": text, "thought": true, "thoughtSignature": "c2ln"});
    assert_eq!(contents_for(&story, NEWER)[1], model(json!([thought, {"text": "Hi."}])));
    assert_eq!(codes(&story, NEWER), [code::UNSIGNED_REASONING_LEFT_OUT]);
    assert_eq!(contents_for(&story, OLDER)[1], model(json!([{"text": "Hi."}])));
    for (text, signature) in [("a\u{0}b", "c2ln"), ("hm", "c2l"), ("hm", "c2l="), ("hm", "§"), ("hm", "")] {
        let story =
            Story::new().user("u1").say("a1", said(vec![reasoning(Some(text), Some(signature)), Part::text("Hi.")]));
        assert_eq!(contents_for(&story, NEWER)[1], model(json!([{"text": "Hi."}])), "{text:?} {signature:?}");
    }
    let mut foreign = Message::assistant("Hi.");
    foreign.content.insert(0, reasoning(Some("hm"), Some("c2ln")));
    foreign.provider = Some("anthropic".to_owned());
    let story = Story::new().user("u1").say("a1", foreign).user("u2");
    assert_eq!(contents_for(&story, NEWER)[1], model(json!([{"text": "Hi."}])));
    assert_eq!(codes(&story, NEWER), [code::FOREIGN_REASONING_LEFT_OUT]);
}

#[test]
fn pictures_and_documents_go_out_inline_and_all_else_is_a_note() {
    let part = |part| {
        let message = Message::new(Role::User, Kind::UserInput, vec![Part::text("look"), part]);
        contents(&Story::new().say("u1", message))[0]["parts"][1].clone()
    };
    for media_type in ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"] {
        assert_eq!(part(inline(media_type)), blob(media_type));
    }
    let url = |url: &str| media("image/png", MediaSource::Url(url.to_owned()));
    let notes = [
        inline("image/gif"),
        inline("audio/wav"),
        url("https://example.org/a.png"),
        url("https://generativelanguage.googleapis.com/v1beta/files/abc"),
        media("image/png", MediaSource::Path("/tmp/a.png".to_owned())),
    ];
    for picture in notes {
        let note = part(picture);
        assert!(note["text"].as_str().unwrap().contains("not shown"), "{note}");
    }
}

#[test]
fn the_newer_version_gets_pictures_inside_the_response() {
    let parts = vec![Part::text("see"), inline("image/png"), inline("application/pdf")];
    let all = contents_for(&answered(parts, false), NEWER);
    let expected = json!({"functionResponse": {
        "name": "run",
        "response": {"output": "see"},
        "parts": [blob("image/png"), blob("application/pdf")],
    }});
    assert_eq!(all[2], of_user(json!([expected])));
    assert_eq!(all.as_array().unwrap().len(), 3);
    let all = contents_for(&answered(vec![inline("image/png")], true), NEWER);
    let answer = &all[2]["parts"][0]["functionResponse"];
    assert_eq!(answer["response"], json!({"error": "(shown beside this text)"}));
    // Of pictures it takes fewer kinds there.
    let all = contents_for(&answered(vec![inline("image/heic")], false), NEWER);
    assert_eq!(all[3]["parts"][1], blob("image/heic"));
}

#[test]
fn any_other_model_gets_them_in_a_content_behind_the_responses() {
    let story = answered(vec![Part::text("see"), inline("image/png"), inline("image/jpeg")], false).user("u2");
    let expected = json!([
        of_user(json!([output("see\n(2 shown in the next message)")])),
        of_user(json!([{"text": "Shown by the tool run:"}, blob("image/png"), blob("image/jpeg")])),
        user("u2"),
    ]);
    for options in [Options::for_model(OLDER), Options::default()] {
        let all = body_with(&story, &options)["contents"].clone();
        assert_eq!(all.as_array().unwrap()[2..], expected.as_array().unwrap()[..]);
    }
}

#[test]
fn the_oldest_pictures_give_way_until_all_of_them_fit_into_a_request() {
    let picture = |len: usize| media("image/png", MediaSource::Data("a".repeat(len)));
    let parts = vec![picture(12), picture(8), inline("application/pdf"), picture(4)];
    let story = Story::new().say("u1", Message::new(Role::User, Kind::UserInput, parts));
    let shown = |inline_bytes_max| {
        let limits = MediaLimits {
            image_side_max: 8_000,
            many_images_above: 20,
            many_image_side_max: 8_000,
            images_max: 100,
            image_bytes_max: 1_000,
            inline_bytes_max,
        };
        let mut options = Options::for_model(OLDER);
        options.media = Some(limits);
        let parts = body_with(&story, &options)["contents"][0]["parts"].clone();
        let is_shown: Vec<bool> =
            parts.as_array().unwrap().iter().map(|part| part.get("inlineData").is_some()).collect();
        is_shown
    };
    assert_eq!(shown(28), [true, true, true, true]);
    assert_eq!(shown(27), [false, true, true, true]);
    assert_eq!(shown(15), [false, false, true, true]);
    assert_eq!(shown(4), [false, false, false, true]);
    // One that is too large by itself does not push out the others.
    assert_eq!(shown(11), [false, false, true, true]);
    assert_eq!(shown(0), [false, false, false, false]);
}

#[test]
fn code_that_the_model_ran_goes_back_whole_with_its_result_or_not_at_all() {
    let opaque = |json: &str| {
        let value = Value::parse_json(json.as_bytes()).unwrap().0;
        Part::new(PartBody::Opaque(Opaque { value }))
    };
    let code = r#"{"executableCode":{"language":"PYTHON","code":"print(1)"},"thoughtSignature":"c2ln"}"#;
    let result = r#"{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}"#;
    let sent = |parts: Vec<Part>, model_name| {
        contents_for(&Story::new().user("u1").say("a1", said(parts)).user("u2"), model_name)[1].clone()
    };
    let both = json!([serde_json::from_str::<Json>(code).unwrap(), serde_json::from_str::<Json>(result).unwrap()]);
    assert_eq!(sent(vec![opaque(code), opaque(result)], NEWER), model(both));
    let note = json!({"text": "[Code that was run is not shown: its other half is missing]"});
    assert_eq!(sent(vec![opaque(code)], NEWER), model(json!([note])));
    assert_eq!(sent(vec![opaque(result), opaque(code)], NEWER), model(json!([note, note])));
    for unknown in [
        r#"{"toolCall":{"toolType":"x"}}"#,
        r#"{"executableCode":{"language":"PYTHON"}}"#,
        r#"{"executableCode":{"language":"PYTHON","code":1}}"#,
        r#"{"executableCode":{"language":"PYTHON","code":"x","more":"y"}}"#,
        r#"{"executableCode":{"language":"PYTHON","code":"x"},"text":"y"}"#,
    ] {
        assert_eq!(sent(vec![Part::text("a"), opaque(unknown)], NEWER), model(json!([{"text": "a"}])), "{unknown}");
    }
    assert_eq!(sent(vec![Part::text("a"), opaque(code), opaque(result)], OLDER), model(json!([{"text": "a"}])));
}

#[test]
fn tools_are_declared_with_their_json_schema() {
    let schema = Value::parse_json(br#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#);
    let mut options = Options::default();
    options.tools = vec![
        Tool { name: "read".to_owned(), description: Some("Reads.".to_owned()), schema: schema.unwrap().0 },
        Tool { name: "now".to_owned(), description: Some(" ".to_owned()), schema: Value::Null },
    ];
    let expected = json!([{"functionDeclarations": [
        {"name": "read", "description": "Reads.",
         "parametersJsonSchema": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}},
        {"name": "now", "parametersJsonSchema": {"type": "object", "properties": {}}},
    ]}]);
    assert_eq!(body_with(&Story::new().user("u1"), &options)["tools"], expected);
}

#[test]
fn the_user_begins_and_has_the_last_word() {
    let story = Story::new().assistant("a1");
    let expected = json!([user(FIRST_USER_TEXT), model(json!([{"text": "a1"}])), user(LAST_USER_TEXT)]);
    assert_eq!(contents(&story), expected);
    assert_eq!(codes(&story, OLDER), [code::FIRST_USER_PUT_IN, code::LAST_USER_PUT_IN]);
    // Responses are the user's.
    let story = Story::new().user("u1").calls("a1", &["c"]);
    assert_eq!(contents(&story).as_array().unwrap().len(), 3);
    // An application may add the user's next words itself.
    let mut options = Options::for_model(OLDER);
    options.last_user = false;
    let story = Story::new().user("u1").assistant("a1");
    assert_eq!(body_with(&story, &options)["contents"], json!([user("u1"), model(json!([{"text": "a1"}]))]));
}

#[test]
fn an_empty_history_says_that_there_is_nothing_to_send() {
    assert_eq!(payload_for(&Story::new(), OLDER).to_json(), "{\"contents\":[]}");
    assert_eq!(codes(&Story::new(), OLDER), [code::NOTHING_TO_SEND]);
}

#[test]
fn blank_texts_are_never_sent() {
    let blank = || {
        let mut message = Message::assistant("x");
        message.content = vec![Part::text(" \n")];
        message
    };
    let story = Story::new().user("u1").say("a1", blank()).user("u2");
    assert_eq!(contents(&story), json!([of_user(json!([{"text": "u1"}, {"text": "u2"}]))]));
}

#[test]
fn the_same_messages_give_the_same_bytes_and_a_longer_history_begins_with_them() {
    let story = Story::new().user("u1").calls("a1", &["", "c"]).result("r", "c").user("u2");
    let first = body_with(&story, &Options::default());
    assert_eq!(payload_for(&story, NEWER), payload_for(&story.clone(), NEWER));
    let longer = story.calls("a2", &["d"]).user("u3");
    let longer = body_with(&longer, &Options::default());
    let begins = first["contents"].as_array().unwrap();
    assert_eq!(longer["contents"].as_array().unwrap()[..begins.len()], begins[..]);
}
