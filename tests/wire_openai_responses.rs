//! The body for OpenAI's Responses: what its server takes, whatever the history looks like.

mod common;
mod wire_rules;

use common::bodies::{Made, made, media};
use common::story::{Story, calling};
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{Options, Provider, Tool};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGMQaPgAAAIkAYFvkeRkAAAAAElFTkSuQmCC";
const PDF: &str = "JVBERi0xLjQK";

fn payload_with(story: &Story, options: &Options) -> Made {
    let made = made(&story.model().messages, Provider::OpenAiResponses, options);
    let broken = wire_rules::check_text("openai-responses", &made.to_json());
    assert!(made.message_count == 0 || broken.is_empty(), "{broken:?}\n{}", made.to_json());
    made
}

fn payload(story: &Story) -> Made {
    payload_with(story, &Options::default())
}

fn body(story: &Story) -> Json {
    payload(story).json()
}

fn input(story: &Story) -> Json {
    body(story)["input"].clone()
}

fn input_with(story: &Story, options: &Options) -> Json {
    payload_with(story, options).json()["input"].clone()
}

fn codes(story: &Story) -> Vec<&'static str> {
    let all = payload(story).diagnostics.into_iter().map(|item| item.code);
    all.filter(|code| *code != code::MODEL_NOT_NAMED).collect()
}

fn says(role: &str, text: &str) -> Json {
    json!({"type": "message", "role": role, "content": text})
}

fn said_with_id(id: &str, text: &str) -> Json {
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed", "content": [part]})
}

fn call(id: &str) -> Json {
    json!({"type": "function_call", "call_id": id, "name": "run", "arguments": "{}"})
}

fn call_with_id(id: &str, call_id: &str) -> Json {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": "run", "arguments": "{}"})
}

fn output(id: &str, output: impl Into<Json>) -> Json {
    json!({"type": "function_call_output", "call_id": id, "output": output.into()})
}

fn thought(id: &str) -> Json {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "ZW5j"})
}

fn with_id(id: &str, mut part: Part) -> Part {
    part.item_id = Some(id.to_owned());
    part
}

fn thinks(id: &str, text: Option<&str>, encrypted: Option<&str>) -> Part {
    let (text, encrypted) = (text.map(str::to_owned), encrypted.map(str::to_owned));
    with_id(id, Part::new(PartBody::Reasoning(Reasoning { text, encrypted, ..Reasoning::default() })))
}

fn rs(id: &str) -> Part {
    thinks(id, None, Some("ZW5j"))
}

fn calls(item: &str, id: &str) -> Part {
    with_id(item, Part::tool_call(id, "run", Value::Map(Vec::new())))
}

fn cut(mut part: Part) -> Part {
    if let PartBody::ToolCall(call) = &mut part.body {
        call.incomplete = true;
    }
    part
}

fn openai(parts: Vec<Part>) -> Message {
    let mut message = Message::assistant_calls(parts);
    message.provider = Some("openai".to_owned());
    message
}

fn opaque(json: &Json) -> Part {
    let value = Value::parse_json(json.to_string().into_bytes()).unwrap().0;
    Part { provider: Some("openai".to_owned()), ..Part::new(PartBody::Opaque(Opaque { value })) }
}

fn from_tool(part: Part) -> Message {
    Message::new(Role::Tool, Kind::ToolResult, vec![part])
}

fn data(text: &str) -> MediaSource {
    MediaSource::Data(text.to_owned())
}

fn url(text: &str) -> MediaSource {
    MediaSource::Url(text.to_owned())
}

#[test]
fn a_whole_turn_goes_back_with_its_reasoning_and_all_ids() {
    let mut options = Options::for_model("gpt-5");
    options.tools = vec![Tool {
        name: "run".to_owned(),
        description: Some("Runs it".to_owned()),
        schema: Value::from([("type", "object".into())]),
    }];
    let story = Story::new()
        .say("s", Message::system_note("Be brief."))
        .user("u1")
        .say("a1", openai(vec![thinks("rs_1", Some("Look."), Some("ZW5j")), calls("fc_1", "c1"), calls("fc_2", "c2")]))
        .result("r2", "c2")
        .result("r1", "c1")
        .say("a2", openai(vec![rs("rs_2"), with_id("msg_1", Part::text("Done."))]))
        .user("u2");
    let summary = json!([{"type": "summary_text", "text": "Look."}]);
    let tool = json!({"type": "function", "name": "run", "description": "Runs it",
        "parameters": {"type": "object", "properties": {}}, "strict": false});
    let expected = json!({
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            says("user", "u1"),
            {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"},
            call_with_id("fc_1", "c1"),
            call_with_id("fc_2", "c2"),
            output("c1", "r1"),
            output("c2", "r2"),
            thought("rs_2"),
            said_with_id("msg_1", "Done."),
            says("user", "u2"),
        ],
        "tools": [tool],
        "store": false,
        "include": ["reasoning.encrypted_content"],
    });
    let made = payload_with(&story, &options);
    assert_eq!(serde_json::from_str::<Json>(&made.to_json()).unwrap(), expected);
    assert_eq!(made.message_count, 9);
}

#[test]
fn a_body_without_a_prompt_tools_or_a_model_has_no_such_field() {
    let expected = json!({
        "input": [says("user", "u1")], "store": false, "include": ["reasoning.encrypted_content"],
    });
    assert_eq!(body(&Story::new().user("u1")), expected);
    assert!(payload(&Story::new().user("u1")).diagnostics.iter().any(|item| item.code == code::MODEL_NOT_NAMED));
}

#[test]
fn a_model_that_does_not_reason_is_not_asked_for_its_reasoning() {
    for (model, asks) in [
        ("gpt-4.1", false),
        ("gpt-4o-mini", false),
        ("gpt-5-chat-latest", false),
        ("gpt-5.1-codex", true),
        ("o3", true),
    ] {
        let made = payload_with(&Story::new().user("u1"), &Options::for_model(model));
        assert_eq!(made.to_json().contains("include"), asks, "{model}");
    }
}

#[test]
fn later_system_messages_stay_in_place() {
    let story = Story::new()
        .say("s1", Message::system_note("one"))
        .say("s2", Message::system_note("two"))
        .user("u1")
        .say("s3", Message::system_note("three"))
        .user("u2");
    assert_eq!(body(&story)["instructions"], "one\n\ntwo");
    assert_eq!(input(&story), json!([says("user", "u1"), says("system", "three"), says("user", "u2")]));
}

#[test]
fn what_has_no_reasoning_goes_back_in_the_short_form_without_ids() {
    let story = Story::new()
        .user("u1")
        .say("a1", openai(vec![with_id("msg_1", Part::text("I look.")), calls("fc_1", "c"), Part::text("Wait.")]))
        .result("r", "c");
    let expected = json!([
        says("user", "u1"),
        says("assistant", "I look."),
        call("c"),
        says("assistant", "Wait."),
        output("c", "r")
    ]);
    assert_eq!(input(&story), expected);
}

#[test]
fn ids_stay_away_by_option_and_the_reasoning_goes_back_all_the_same() {
    let mut options = Options::default();
    options.item_ids = false;
    let parts = vec![rs("rs_1"), with_id("msg_1", Part::text("x")), calls("fc_1", "c")];
    let story = Story::new().user("u1").say("a1", openai(parts)).result("r", "c");
    let expected = json!([says("user", "u1"), thought("rs_1"), says("assistant", "x"), call("c"), output("c", "r")]);
    assert_eq!(input_with(&story, &options), expected);
}

#[test]
fn reasoning_goes_to_openai_and_the_model_that_made_it_only() {
    let parts = || vec![rs("rs_1"), with_id("msg_1", Part::text("x"))];
    let plain = json!([says("user", "u1"), says("assistant", "x")]);
    let mut foreign = openai(parts());
    foreign.provider = Some("anthropic".to_owned());
    let story = Story::new().user("u1").say("a1", foreign);
    assert_eq!(input(&story), plain);
    assert_eq!(codes(&story), [code::FOREIGN_REASONING_LEFT_OUT]);
    let mut older = openai(parts());
    older.model = Some("gpt-5-2025-08-07".to_owned());
    let story = Story::new().user("u1").say("a1", older);
    assert_eq!(input_with(&story, &Options::for_model("gpt-6")), plain);
    let back = json!([says("user", "u1"), thought("rs_1"), said_with_id("msg_1", "x")]);
    assert_eq!(input_with(&story, &Options::for_model("gpt-5")), back);
    assert_eq!(input(&story), back);
}

#[test]
fn reasoning_without_its_encrypted_content_or_a_right_id_is_left_out_with_the_ids_behind_it() {
    for incomplete in [
        thinks("rs_1", Some("hm"), None),
        thinks("rs_1", Some("hm"), Some("")),
        thinks("think-1", Some("hm"), Some("ZW5j")),
        thinks(&format!("rs_{}", "x".repeat(70)), Some("hm"), Some("ZW5j")),
    ] {
        let parts = vec![incomplete, with_id("msg_1", Part::text("x"))];
        let story = Story::new().user("u1").say("a1", openai(parts));
        assert_eq!(input(&story), json!([says("user", "u1"), says("assistant", "x")]));
        assert_eq!(codes(&story), [code::UNSIGNED_REASONING_LEFT_OUT]);
    }
}

#[test]
fn parts_of_one_reasoning_item_become_one_item_again() {
    let parts = vec![
        thinks("rs_1", Some("One."), None),
        thinks("rs_1", Some("Two."), Some("ZW5j")),
        with_id("msg_1", Part::text("x")),
        with_id("msg_1", Part::text("y")),
    ];
    let story = Story::new().user("u1").say("a1", openai(parts));
    let summary = json!([{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]);
    let mut said = said_with_id("msg_1", "x");
    said["content"].as_array_mut().unwrap().push(json!({"type": "output_text", "text": "y", "annotations": []}));
    let expected = json!([
        says("user", "u1"),
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "ZW5j"},
        said,
    ]);
    assert_eq!(input(&story), expected);
}

#[test]
fn reasoning_that_led_to_what_is_left_out_is_left_out_with_the_ids_behind_it() {
    let mut unknown = opaque(&json!({"type": "image_generation_call", "id": "ig_1", "result": null}));
    unknown.item_id = Some("ig_1".to_owned());
    for gone in [cut(calls("fc_1", "c1")), with_id("msg_0", Part::text(" ")), unknown] {
        let parts = vec![rs("rs_1"), gone, with_id("msg_1", Part::text("x"))];
        let story = Story::new().user("u1").say("a1", openai(parts)).user("u2");
        assert_eq!(input(&story), json!([says("user", "u1"), says("assistant", "x"), says("user", "u2")]));
        assert!(codes(&story).contains(&code::TRAILING_REASONING_LEFT_OUT));
    }
    // What came before keeps its own.
    let parts = vec![rs("rs_1"), calls("fc_1", "c1"), rs("rs_2"), cut(calls("fc_2", "c2"))];
    let story = Story::new().user("u1").say("a1", openai(parts)).result("r1", "c1");
    let expected = json!([says("user", "u1"), thought("rs_1"), call_with_id("fc_1", "c1"), output("c1", "r1")]);
    assert_eq!(input(&story), expected);
}

#[test]
fn reasoning_at_the_end_and_reasoning_alone_are_left_out() {
    let story = Story::new().user("u1").say("a1", openai(vec![rs("rs_1")])).user("u2");
    assert_eq!(input(&story), json!([says("user", "u1"), says("user", "u2")]));
    assert_eq!(codes(&story), [code::TRAILING_REASONING_LEFT_OUT]);
}

#[test]
fn reasoning_that_was_recorded_as_a_message_of_its_own_stands_before_what_it_led_to() {
    let story = Story::new().user("u1").say("a1", openai(vec![rs("rs_1")]));
    let story = story.say("a2", openai(vec![calls("fc_1", "c")])).result("r", "c");
    let expected = json!([says("user", "u1"), thought("rs_1"), call_with_id("fc_1", "c"), output("c", "r")]);
    assert_eq!(input(&story), expected);
}

#[test]
fn an_id_stands_once_in_a_body_and_begins_with_its_kind() {
    let turn = || openai(vec![rs("rs_1"), with_id("msg_1", Part::text("x"))]);
    let story = Story::new().user("u1").say("a1", turn()).user("u2").say("a2", turn());
    let expected = json!([
        says("user", "u1"),
        thought("rs_1"),
        said_with_id("msg_1", "x"),
        says("user", "u2"),
        says("assistant", "x")
    ]);
    assert_eq!(input(&story), expected);
    assert_eq!(codes(&story), [code::DUPLICATE_ITEM_LEFT_OUT]);

    let parts = vec![rs("rs_1"), with_id("item_7", Part::text("x")), calls("call_7", "c")];
    let story = Story::new().user("u1").say("a1", openai(parts)).result("r", "c");
    let expected = json!([says("user", "u1"), thought("rs_1"), says("assistant", "x"), call("c"), output("c", "r")]);
    assert_eq!(input(&story), expected);

    let parts = vec![rs("rs_1"), calls("fc_1", "c1"), calls("fc_1", "c2")];
    let story = Story::new().user("u1").say("a1", openai(parts)).result("r1", "c1").result("r2", "c2");
    assert_eq!(input(&story)[3], call("c2"));
}

#[test]
fn a_phase_goes_back_with_or_without_an_id() {
    let said = |id: &str, phase: &str| {
        let mut part = with_id(id, Part::text("x"));
        part.extra = vec![("phase".to_owned(), phase.into())];
        part
    };
    let parts = vec![rs("rs_1"), said("msg_1", "commentary"), said("other", "final_answer"), said("other", "else")];
    let story = Story::new().user("u1").say("a1", openai(parts));
    let all = input(&story);
    assert_eq!(all[2]["phase"], "commentary");
    assert_eq!(all[3], json!({"type": "message", "role": "assistant", "content": "x", "phase": "final_answer"}));
    assert_eq!(all[4], says("assistant", "x"));
}

#[test]
fn each_call_has_one_output_behind_its_turn() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]).user("u2").result("r1", "c1").result("x", "orphan");
    let expected = json!([
        says("user", "u1"),
        call("c1"),
        call("c2"),
        output("c1", "r1"),
        output("c2", MISSING_TOOL_RESULT),
        says("user", "u2"),
    ]);
    assert_eq!(input(&story), expected);
}

#[test]
fn a_failed_output_says_so_and_an_output_with_a_picture_is_a_list() {
    let answer = |parts: Vec<Part>, is_error| {
        let mut message = Message::tool_result("c", "", is_error);
        if let PartBody::ToolResult(result) = &mut message.content[0].body {
            result.output = ToolOutput::Parts(parts);
        }
        let story = Story::new().user("u1").calls("a1", &["c"]).say("r", message);
        input(&story)[2].clone()
    };
    assert_eq!(answer(vec![Part::text("a"), Part::text("b")], false), output("c", "a\nb"));
    assert_eq!(answer(vec![Part::text("a")], true), output("c", "The tool reported an error.\na"));
    let parts =
        vec![Part::text("see"), media("image/png", data(PNG)), media("application/pdf", url("https://e.org/a"))];
    let list = json!([
        {"type": "input_text", "text": "The tool reported an error."},
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}"), "detail": "auto"},
        {"type": "input_file", "file_url": "https://e.org/a"},
    ]);
    assert_eq!(answer(parts, true), output("c", list));
}

#[test]
fn pictures_and_documents_of_the_users_are_input_parts() {
    let parts = vec![
        Part::text("look"),
        media("image/png", url("https://example.org/a.png")),
        media("application/pdf", data(PDF)),
        media("image/tiff", data("aTE=")),
    ];
    let all = input(&Story::new().say("u1", Message::new(Role::User, Kind::UserInput, parts)));
    assert_eq!(all[0]["content"][0], json!({"type": "input_text", "text": "look"}));
    let picture = json!({"type": "input_image", "image_url": "https://example.org/a.png", "detail": "auto"});
    assert_eq!(all[0]["content"][1], picture);
    let file = json!({"type": "input_file", "filename": "document.pdf",
        "file_data": format!("data:application/pdf;base64,{PDF}")});
    assert_eq!(all[0]["content"][2], file);
    assert!(all[0]["content"][3]["text"].as_str().unwrap().contains("not shown"));
}

fn search(id: &str) -> Json {
    json!({"type": "web_search_call", "id": id, "status": "completed", "action": {"type": "search", "query": "x"}})
}

#[test]
fn an_item_that_openai_ran_itself_goes_back_whole() {
    let parts = vec![rs("rs_1"), opaque(&search("ws_1")), with_id("msg_1", Part::text("x"))];
    let story = Story::new().user("u1").say("a1", openai(parts));
    assert_eq!(input(&story), json!([says("user", "u1"), thought("rs_1"), search("ws_1"), said_with_id("msg_1", "x")]));
}

#[test]
fn an_item_that_is_not_whole_or_not_known_is_left_out() {
    let change = |key: &str, value: Json| {
        let mut item = search("ws_1");
        item[key] = value;
        item
    };
    for item in [
        change("status", json!("in_progress")),
        change("action", json!({"type": "search", "query": 1})),
        change("action", json!({"type": "walk"})),
        change("surprise", json!(1)),
        change("id", json!("")),
        json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
        json!({"type": "item_reference", "id": "msg_1"}),
        json!("text"),
    ] {
        let story = Story::new().user("u1").say("a1", openai(vec![opaque(&item), Part::text("x")]));
        assert_eq!(input(&story), json!([says("user", "u1"), says("assistant", "x")]), "{item}");
        assert_eq!(codes(&story), [code::PART_LEFT_OUT], "{item}");
    }
}

fn custom(call_id: &str) -> Json {
    json!({"type": "custom_tool_call", "id": format!("ctc_{call_id}"), "call_id": call_id, "name": "sql", "input": "x"})
}

fn custom_output(call_id: &str) -> Json {
    json!({"type": "custom_tool_call_output", "call_id": call_id, "output": "3"})
}

#[test]
fn a_call_of_openais_own_goes_back_with_its_output_and_without_what_only_the_server_writes() {
    let mut recorded = custom("k");
    (recorded["status"], recorded["namespace"]) = (json!("completed"), Json::Null);
    let mut answer = custom_output("k");
    answer["id"] = json!("ctco_1");
    let story = Story::new()
        .user("u1")
        .say("a1", openai(vec![rs("rs_1"), opaque(&recorded)]))
        .say("r", from_tool(opaque(&answer)))
        .user("u2");
    let expected = json!([says("user", "u1"), thought("rs_1"), custom("k"), custom_output("k"), says("user", "u2")]);
    assert_eq!(input(&story), expected);
}

#[test]
fn half_a_pair_is_left_out_with_the_reasoning_that_led_to_it() {
    let plain = json!([says("user", "u1"), says("user", "u2")]);
    let turn = |call_id: &str| openai(vec![rs("rs_1"), opaque(&custom(call_id))]);
    assert_eq!(input(&Story::new().user("u1").say("a1", turn("k")).user("u2")), plain);
    let answer = || from_tool(opaque(&custom_output("k")));
    assert_eq!(input(&Story::new().user("u1").say("r", answer()).user("u2")), plain);
    assert_eq!(input(&Story::new().user("u1").say("a1", turn("other")).say("r", answer()).user("u2")), plain);
    // The answer of another kind of call.
    let shell = json!({"type": "shell_call_output", "call_id": "k", "output": []});
    assert_eq!(
        input(&Story::new().user("u1").say("a1", turn("k")).say("r", from_tool(opaque(&shell))).user("u2")),
        plain
    );
    // A second answer, and a second call of the same id.
    let story = Story::new().user("u1").say("a1", turn("k")).say("r1", answer()).say("r2", answer());
    let story = story.say("a2", openai(vec![rs("rs_2"), opaque(&custom("k"))])).user("u2");
    let once = json!([says("user", "u1"), thought("rs_1"), custom("k"), custom_output("k"), says("user", "u2")]);
    assert_eq!(input(&story), once);
}

#[test]
fn without_its_reasoning_an_item_goes_back_without_its_id_or_not_at_all() {
    let lost = || vec![thinks("rs_1", Some("hm"), None), Part::text("x")];
    let mut parts = lost();
    parts.push(opaque(&custom("k")));
    let story = Story::new().user("u1").say("a1", openai(parts)).say("r", from_tool(opaque(&custom_output("k"))));
    let mut bare = custom("k");
    bare.as_object_mut().unwrap().remove("id");
    let expected = json!([says("user", "u1"), says("assistant", "x"), bare, custom_output("k")]);
    assert_eq!(input(&story), expected);
    let mut parts = lost();
    parts.push(opaque(&search("ws_1")));
    let story = Story::new().user("u1").say("a1", openai(parts));
    assert_eq!(input(&story), json!([says("user", "u1"), says("assistant", "x")]));
}

#[test]
fn the_items_of_a_machines_control_go_back_in_pairs() {
    let pairs = [
        (
            json!({"type": "computer_call", "id": "cu_1", "call_id": "k", "status": "completed",
                "pending_safety_checks": [], "action": {"type": "click", "button": "left", "x": 1, "y": 2}}),
            json!({"type": "computer_call_output", "call_id": "k",
                "output": {"type": "computer_screenshot", "image_url": format!("data:image/png;base64,{PNG}")}}),
        ),
        (
            json!({"type": "shell_call", "id": "sh_1", "call_id": "k", "status": "completed",
                "action": {"commands": ["ls"], "timeout_ms": null}}),
            json!({"type": "shell_call_output", "call_id": "k",
                "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
        ),
        (
            json!({"type": "apply_patch_call", "id": "apc_1", "call_id": "k", "status": "completed",
                "operation": {"type": "update_file", "path": "a", "diff": "x"}}),
            json!({"type": "apply_patch_call_output", "call_id": "k", "status": "failed", "output": "no"}),
        ),
    ];
    for (asks, answers) in pairs {
        let turn = openai(vec![rs("rs_1"), opaque(&asks)]);
        let story = Story::new().user("u1").say("a1", turn).say("r", from_tool(opaque(&answers)));
        assert_eq!(input(&story), json!([says("user", "u1"), thought("rs_1"), asks, answers]));
    }
    let open = json!({"type": "computer_call", "id": "cu_1", "call_id": "k", "status": "completed",
        "pending_safety_checks": [{"id": "x", "code": null, "message": null}], "action": {"type": "wait"}});
    let story = Story::new().user("u1").say("a1", openai(vec![opaque(&open)]));
    assert_eq!(input(&story), json!([says("user", "u1")]));
}

#[test]
fn call_ids_and_names_are_legal_on_both_sides() {
    let joined = "call_1|fc_1";
    let part = Part::tool_call(joined, "mcp:files/read", Value::Map(Vec::new()));
    let story = Story::new().user("u1").say("a1", openai(vec![part])).result("r", joined);
    let all = input(&story);
    let sent = all[1]["call_id"].as_str().unwrap();
    assert!(sent.len() <= 64 && !sent.contains('|'), "{sent}");
    assert_eq!(all[2], output(sent, "r"));
    assert!(!all[1]["name"].as_str().unwrap().contains(':'));
}

#[test]
fn an_empty_history_says_that_there_is_nothing_to_send() {
    assert_eq!(payload(&Story::new()).message_count, 0);
    assert_eq!(codes(&Story::new()), [code::NOTHING_TO_SEND]);
}

#[test]
fn a_longer_history_begins_with_the_items_of_the_shorter_one() {
    let story = Story::new()
        .user("u1")
        .say("a1", openai(vec![rs("rs_1"), calls("fc_1", ""), calls("fc_2", "c")]))
        .result("r", "c")
        .result("s", "")
        .user("u2");
    let all = input(&story);
    let longer = input(&story.clone().say("a2", calling(&["d"])).user("u3"));
    let count = all.as_array().unwrap().len();
    assert_eq!(all.as_array().unwrap()[..], longer.as_array().unwrap()[..count]);
    assert_eq!(payload(&story).to_json(), payload(&story.clone()).to_json());
}
