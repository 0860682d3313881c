use serde_json::{Value as Json, json};

use super::{Example, bad_schemas, many, schema, with, without};
use crate::common::picture;

fn file(media_type: &str, data: &str) -> Json {
    json!({"type": "file", "mediaType": media_type, "data": data})
}

fn call(id: &str) -> Json {
    json!({"type": "tool-call", "toolCallId": id, "toolName": "read", "input": {"path": "a.txt"}})
}

fn result(id: &str) -> Json {
    json!({"type": "tool-result", "toolCallId": id, "toolName": "read", "output": {"type": "text", "value": "42"}})
}

fn request(id: &str) -> Json {
    json!({"type": "tool-approval-request", "approvalId": "ask", "toolCallId": id})
}

fn reasoning() -> Json {
    json!({"type": "reasoning", "text": "Hm.", "providerOptions": {"anthropic": {"signature": "c2lnbmVk"}}})
}

fn tool(name: &str) -> Json {
    json!({"name": name, "description": "Reads", "inputSchema": schema()})
}

pub(super) fn good() -> Json {
    let output = json!({"type": "content", "value": [
        {"type": "text", "text": "a picture"},
        {"type": "image-data", "mediaType": "image/jpeg", "data": picture::jpeg(9, 9)},
        {"type": "file-data", "mediaType": "application/pdf", "data": picture::pdf(0)},
    ]});
    json!({
        "system": "Answer shortly.",
        "tools": [tool("read")],
        "messages": [
            {"role": "user", "content": [
                file("image/png", &picture::png(5, 5, 0)),
                file("image/png", "https://pictures.test/1.png"),
                file("application/pdf", &picture::pdf(0)),
                {"type": "text", "text": "How long are these files?"},
            ]},
            {"role": "assistant", "content": [
                reasoning(),
                {"type": "text", "text": "I count."},
                call("call_a"),
                call("call_b"),
                request("call_b"),
            ]},
            {"role": "tool", "content": [
                {"type": "tool-approval-response", "approvalId": "ask", "approved": false},
                with(result("call_b"), "/output", json!({"type": "execution-denied", "reason": "not now"})),
            ]},
            {"role": "tool", "content": [with(result("call_a"), "/output", output)]},
            {"role": "assistant", "content": "42 lines."},
        ],
    })
}

fn of(messages: Json) -> Json {
    json!({"messages": messages})
}

fn said(content: Json) -> Json {
    of(json!([{"role": "user", "content": content}]))
}

/// A body with these parts of the model's and these results.
fn called(parts: Json, results: Json) -> Json {
    of(json!([
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": parts},
        {"role": "tool", "content": results},
    ]))
}

pub(super) fn bad() -> Vec<Example> {
    let mut bad = bad_schemas(&good(), "/tools/0/inputSchema");
    bad.extend(of_shape());
    bad.extend(of_order());
    bad.extend(of_tools());
    bad.extend(of_media());
    bad
}

fn of_shape() -> Vec<Example> {
    let output = "/messages/3/content/0/output";
    vec![
        ("types", with(good(), "/messages/0/id", json!("1"))),
        ("types", with(good(), "/messages/4/role", json!("developer"))),
        ("types", with(good(), "/messages/1/content/2/args", json!({}))),
        ("types", with(good(), "/messages/1/content/0/providerOptions/anthropic", json!("flat"))),
        ("types", with(good(), output, json!("42"))),
        ("types", with(good(), &format!("{output}/value/1/type"), json!("media"))),
        ("types", said(json!([reasoning(), {"type": "text", "text": "x"}]))),
        ("control-character", said(json!("\u{7f}"))),
        ("text-empty", said(json!(" "))),
        ("text-empty", said(json!([{"type": "text", "text": ""}]))),
        ("text-empty", with(good(), "/system", json!("\n"))),
        ("text-empty", with(good(), output, json!({"type": "error-text", "value": ""}))),
        ("content-empty", said(json!([]))),
        ("content-empty", said(json!(""))),
        ("content-empty", with(good(), &format!("{output}/value"), json!([]))),
        ("messages-empty", of(json!([]))),
    ]
}

fn of_order() -> Vec<Example> {
    let user = json!({"role": "user", "content": "x"});
    let system = json!({"role": "system", "content": "z"});
    vec![
        ("first-message-user", of(json!([system, {"role": "assistant", "content": "y"}, user]))),
        ("system-placement", of(json!([system, user, system]))),
        ("final-block-thinking", of(json!([user, {"role": "assistant", "content": [reasoning()]}, user]))),
        ("tool-result-missing", called(json!([call("a"), call("b")]), json!([result("b")]))),
        (
            "tool-result-orphan",
            of(json!([user, {"role": "assistant", "content": "y"}, {"role": "tool", "content": [result("a")]}])),
        ),
        ("tool-result-twice", called(json!([call("a")]), json!([result("a"), result("a")]))),
        ("tool-result-name", called(json!([call("a")]), json!([with(result("a"), "/toolName", json!("write"))]))),
        ("tool-id-unique", called(json!([call("a"), call("a")]), json!([result("a"), result("a")]))),
        ("approval-orphan", without(good(), "/messages/1/content/4")),
        ("approval-orphan", of(json!([user, {"role": "assistant", "content": [request("a")]}]))),
    ]
}

fn of_tools() -> Vec<Example> {
    let long = "c".repeat(41);
    let both = |id: &str| called(json!([call(id)]), json!([result(id)]));
    let named = |name: &str| {
        let name = json!(name);
        let answer = with(result("a"), "/toolName", name.clone());
        called(json!([with(call("a"), "/toolName", name)]), json!([answer]))
    };
    vec![
        ("tool-name", named("mcp.read")),
        ("tool-name", named(&"r".repeat(65))),
        ("tool-name", with(good(), "/tools/0/name", json!(""))),
        ("tool-name-unique", with(good(), "/tools/1", tool("read"))),
        ("schema-root-combiner", with(good(), "/tools/0/inputSchema/allOf", json!([]))),
        ("tool-id", both(&long)),
        ("tool-id", both("a|b")),
        ("tool-input", with(good(), "/messages/1/content/2/input", json!("{}"))),
        ("tool-input", without(good(), "/messages/1/content/2/input")),
    ]
}

fn of_media() -> Vec<Example> {
    let linked = file("image/png", "https://pictures.test/1.png");
    vec![
        ("media-type", said(json!([file("application/zip", "AAAA")]))),
        ("url", said(json!([file("image/png", "file:///tmp/a.png")]))),
        ("base64", said(json!([file("image/png", "AAA")]))),
        ("media-bytes", said(json!([file("image/gif", &picture::png(1, 1, 0))]))),
        ("image-size", said(json!([file("image/png", &picture::png(1, 1, 3_750_000))]))),
        ("image-side", said(json!([file("image/webp", &picture::webp(8001, 1))]))),
        ("images-too-many", said(many(101, &linked))),
    ]
}
