use serde_json::{Value as Json, json};

use super::{Example, bad_schemas, many, schema, with, without};
use crate::common::picture;

fn image(address: &str) -> Json {
    json!({"type": "image_url", "image_url": {"url": address}})
}

fn call(id: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.txt\"}"}})
}

fn calls(ids: &[&str]) -> Json {
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()})
}

fn result(id: &str) -> Json {
    json!({"role": "tool", "tool_call_id": id, "content": "42 lines"})
}

fn tool(name: &str) -> Json {
    json!({"type": "function", "function": {"name": name, "description": "Reads", "parameters": schema()}})
}

pub(super) fn good() -> Json {
    let file_data = format!("data:application/pdf;base64,{}", picture::pdf(0));
    json!({
        "model": "gpt",
        "tools": [tool("read")],
        "parallel_tool_calls": true,
        "messages": [
            {"role": "developer", "content": "Answer shortly."},
            {"role": "user", "name": "Ann", "content": [
                image(&format!("data:image/webp;base64,{}", picture::webp(70, 80))),
                image("https://pictures.test/1.png"),
                {"type": "file", "file": {"filename": "report.pdf", "file_data": file_data}},
                {"type": "text", "text": "How long are these files?"},
            ]},
            calls(&["call_a", "call_b"]),
            result("call_b"),
            {"role": "tool", "tool_call_id": "call_a", "content": [{"type": "text", "text": "no such file"}]},
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

pub(super) fn bad() -> Vec<Example> {
    let mut bad = bad_schemas(&good(), "/tools/0/function/parameters");
    bad.extend(of_shape());
    bad.extend(of_tools());
    bad.extend(of_media());
    bad
}

fn of_shape() -> Vec<Example> {
    vec![
        ("types", with(good(), "/messages/3/content", json!([image("https://pictures.test/1.png")]))),
        ("types", with(good(), "/messages/2/tool_calls/0/function/arguments", json!({}))),
        ("types", with(good(), "/messages/5/reasoning_content", json!("Hm."))),
        ("types", said(Json::Null)),
        ("control-character", said(json!("bell \u{7}"))),
        (
            "control-character",
            with(good(), "/messages/2/tool_calls/0/function/arguments", json!("{\"a\":\"\\u0000\"}")),
        ),
        ("text-empty", said(json!(""))),
        ("text-empty", said(json!([{"type": "text", "text": " "}]))),
        ("content-empty", said(json!([]))),
        ("content-empty", of(json!([{"role": "assistant", "content": null}]))),
        ("messages-empty", of(json!([]))),
        ("participant-name", with(good(), "/messages/1/name", json!("Ann Lee"))),
    ]
}

fn of_tools() -> Vec<Example> {
    let user = json!({"role": "user", "content": "x"});
    let (long, arguments) = ("c".repeat(41), "/messages/2/tool_calls/0/function/arguments");
    let closed = with(schema(), "/additionalProperties", json!(false));
    let strict = |schema: Json| with(with(good(), "/tools/0/function/strict", json!(true)), PARAMETERS, schema);
    const PARAMETERS: &str = "/tools/0/function/parameters";
    let distinct = (0..129).map(|at| tool(&format!("read_{at}"))).collect::<Vec<_>>();
    vec![
        ("tools-empty", with(good(), "/tools", json!([]))),
        ("tools-too-many", with(good(), "/tools", distinct.into())),
        ("tool-choice-without-tools", without(good(), "/tools")),
        ("tool-name", with(good(), "/tools/0/function/name", json!("mcp:read"))),
        ("tool-name", with(good(), "/messages/2/tool_calls/0/function/name", json!("r".repeat(65)))),
        ("tool-name-unique", with(good(), "/tools/1", tool("read"))),
        ("schema-properties-missing", without(good(), "/tools/0/function/parameters/properties")),
        ("schema-strict", strict(schema())),
        ("schema-strict", strict(with(closed, "/required", json!([])))),
        ("tool-id", of(json!([user, calls(&[&long]), result(&long)]))),
        ("tool-id", of(json!([user, calls(&[""]), result("")]))),
        ("tool-id-unique", of(json!([user, calls(&["a"]), result("a"), calls(&["a"]), result("a")]))),
        ("tool-calls-empty", of(json!([with(calls(&[]), "/content", json!("x"))]))),
        ("tool-result-missing", of(json!([user, calls(&["a", "b"]), result("a")]))),
        ("tool-result-orphan", of(json!([user, result("a")]))),
        ("tool-result-twice", of(json!([user, calls(&["a"]), result("a"), result("a")]))),
        ("arguments-json", with(good(), arguments, json!("{\"path\":"))),
        ("arguments-json", with(good(), arguments, json!("[1]"))),
    ]
}

fn of_media() -> Vec<Example> {
    let (url, file) = ("/messages/1/content/0/image_url/url", "/messages/1/content/2/file");
    vec![
        ("image-type", with(good(), url, json!("data:image/tiff;base64,AAAA"))),
        ("images-too-many", said(many(501, &image("https://pictures.test/1.png")))),
        ("file-type", with(good(), &format!("{file}/file_data"), json!("data:text/plain;base64,AAAA"))),
        ("file-source", without(good(), &format!("{file}/filename"))),
        ("file-source", with(good(), file, json!({}))),
        ("url", with(good(), url, json!("AAAA"))),
        ("url", with(good(), &format!("{file}/file_data"), json!(picture::pdf(0)))),
        ("base64", with(good(), url, json!("data:image/png;base64,****"))),
        ("media-bytes", with(good(), url, json!(format!("data:image/png;base64,{}", picture::jpeg(5, 5))))),
    ]
}
