use serde_json::{Value as Json, json};

use super::{Example, bad_schemas, many, schema, with, without};
use crate::common::picture;

fn image(data: &str) -> Json {
    json!({"image": {"format": "png", "source": {"bytes": data}}})
}

fn document(name: &str, data: &str) -> Json {
    json!({"document": {"format": "pdf", "name": name, "source": {"bytes": data}}})
}

fn call(id: &str) -> Json {
    json!({"toolUse": {"toolUseId": id, "name": "read", "input": {"path": "a.txt"}}})
}

fn result(id: &str) -> Json {
    json!({"toolResult": {"toolUseId": id, "content": [{"text": "42 lines"}], "status": "success"}})
}

fn reasoning() -> Json {
    json!({"reasoningContent": {"reasoningText": {"text": "The file will say.", "signature": "c2lnbmVk"}}})
}

fn tool(name: &str) -> Json {
    json!({"toolSpec": {"name": name, "description": "Reads", "inputSchema": {"json": schema()}}})
}

fn user(content: Json) -> Json {
    json!({"role": "user", "content": content})
}

fn model(content: Json) -> Json {
    json!({"role": "assistant", "content": content})
}

pub(super) fn good() -> Json {
    json!({
        "modelId": "claude",
        "system": [{"text": "Answer shortly."}],
        "toolConfig": {"tools": [tool("read")]},
        "messages": [
            user(json!([
                image(&picture::png(5, 5, 0)),
                document("Report (1)", &picture::pdf(0)),
                {"text": "How long are these files?"},
            ])),
            model(json!([
                reasoning(),
                {"reasoningContent": {"redactedContent": "aGlkZGVu"}},
                {"text": "I count."},
                call("tooluse_a"),
                call("tooluse_b"),
            ])),
            user(json!([
                result("tooluse_a"),
                {"toolResult": {"toolUseId": "tooluse_b", "content": [{"json": {"error": 5}}], "status": "error"}},
                {"text": "Never mind the second."},
            ])),
        ],
    })
}

fn of(messages: Json) -> Json {
    json!({"toolConfig": {"tools": [tool("read")]}, "messages": messages})
}

fn said(content: Json) -> Json {
    of(json!([user(content)]))
}

/// A body with these blocks of the model's and what answers them.
fn called(content: Json, answer: Json) -> Json {
    of(json!([user(json!([{"text": "Read."}])), model(content), user(answer)]))
}

pub(super) fn bad() -> Vec<Example> {
    let mut bad = bad_schemas(&good(), "/toolConfig/tools/0/toolSpec/inputSchema/json");
    bad.extend(of_shape());
    bad.extend(of_order());
    bad.extend(of_tools());
    bad.extend(of_media());
    bad
}

fn of_shape() -> Vec<Example> {
    let text = json!([{"text": "x"}]);
    vec![
        ("types", with(good(), "/system", json!("Answer shortly."))),
        ("types", with(good(), "/messages/0/name", json!("Ann"))),
        ("types", said(json!([{"text": "x", "cachePoint": {"type": "default"}}]))),
        ("types", with(good(), "/messages/1/content/3/toolUse/input", json!("{}"))),
        ("control-character", said(json!([{"text": "a\u{b}b"}]))),
        ("text-empty", said(json!([{"text": ""}]))),
        ("text-empty", with(good(), "/system/0/text", json!(" "))),
        ("text-empty", with(good(), "/messages/2/content/0/toolResult/content/0/text", json!("\n"))),
        ("content-empty", said(json!([]))),
        ("content-empty", with(good(), "/messages/2/content/0/toolResult/content", json!([]))),
        ("messages-empty", of(json!([]))),
        ("first-message-user", of(json!([model(text.clone()), user(text.clone())]))),
        ("alternate", of(json!([user(text.clone()), user(text.clone())]))),
        ("block-role", of(json!([user(text), model(json!([image(&picture::png(1, 1, 0)), {"text": "x"}]))]))),
        ("block-role", said(json!([reasoning(), {"text": "x"}]))),
    ]
}

fn of_order() -> Vec<Example> {
    let text = json!({"text": "x"});
    vec![
        ("final-block-thinking", called(json!([reasoning()]), json!([text]))),
        ("thinking-signature", without(good(), "/messages/1/content/0/reasoningContent/reasoningText/signature")),
        ("tool-result-missing", called(json!([call("a"), call("b")]), json!([result("a")]))),
        ("tool-result-orphan", called(json!([text]), json!([result("a")]))),
        ("tool-result-twice", called(json!([call("a")]), json!([result("a"), result("a")]))),
        ("tool-result-first", called(json!([call("a")]), json!([text, result("a")]))),
        ("tool-id-unique", called(json!([call("a"), call("a")]), json!([result("a")]))),
    ]
}

fn of_tools() -> Vec<Example> {
    let id = "t".repeat(65);
    vec![
        ("tools-needed", without(good(), "/toolConfig")),
        ("tool-name", with(good(), "/toolConfig/tools/0/toolSpec/name", json!("mcp.read"))),
        ("tool-name", with(good(), "/messages/1/content/3/toolUse/name", json!("r".repeat(65)))),
        ("tool-name-unique", with(good(), "/toolConfig/tools/1", tool("read"))),
        ("schema-root-combiner", with(good(), "/toolConfig/tools/0/toolSpec/inputSchema/json/oneOf", json!([]))),
        ("tool-id", called(json!([call(&id)]), json!([result(&id)]))),
        ("tool-id", called(json!([call("a|b")]), json!([result("a|b")]))),
    ]
}

fn of_media() -> Vec<Example> {
    let pdf = picture::pdf(0);
    let mut six = vec![document("a", &pdf); 6];
    six.push(json!({"text": "x"}));
    vec![
        ("images-too-many", said(many(21, &image(&picture::png(1, 1, 0))))),
        ("image-size", said(json!([image(&picture::png(1, 1, 3_750_000))]))),
        ("image-side", said(json!([image(&picture::png(8001, 1, 0))]))),
        ("documents-too-many", said(six.into())),
        ("document-name", with(good(), "/messages/0/content/1", document("report.pdf", &pdf))),
        ("document-name", with(good(), "/messages/0/content/1", document("two  spaces", &pdf))),
        ("document-text", said(json!([document("a", &pdf)]))),
        ("document-size", with(good(), "/messages/0/content/1", document("a", &picture::pdf(4_500_000)))),
        ("base64", said(json!([image("*")]))),
        ("base64", with(good(), "/messages/1/content/1/reasoningContent/redactedContent", json!("*"))),
        ("media-bytes", said(json!([image(&picture::webp(1, 1))]))),
    ]
}
