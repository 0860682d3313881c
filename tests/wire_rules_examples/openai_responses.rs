use serde_json::{Value as Json, json};

use super::{Example, bad_schemas, many, schema, with, without};
use crate::common::picture;

fn image(address: &str) -> Json {
    json!({"type": "input_image", "detail": "auto", "image_url": address})
}

fn call(id: &str) -> Json {
    json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"})
}

fn result(id: &str) -> Json {
    json!({"type": "function_call_output", "call_id": id, "output": "42 lines"})
}

fn reasoning(id: &str) -> Json {
    json!({"type": "reasoning", "id": id, "encrypted_content": "aGlkZGVu", "summary": [
        {"type": "summary_text", "text": "The files will say."},
    ]})
}

fn tool(name: &str) -> Json {
    json!({"type": "function", "name": name, "parameters": schema(), "strict": false})
}

pub(super) fn good() -> Json {
    let file_data = format!("data:application/pdf;base64,{}", picture::pdf(0));
    json!({
        "model": "gpt",
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Answer shortly.",
        "tools": [tool("read")],
        "input": [
            {"role": "user", "content": [
                image(&format!("data:image/gif;base64,{}", picture::gif(70, 80))),
                {"type": "input_file", "filename": "report.pdf", "file_data": file_data},
                {"type": "input_text", "text": "How long are these files?"},
            ]},
            reasoning("rs_1"),
            with(call("call_a"), "/id", json!("fc_1")),
            call("call_b"),
            result("call_b"),
            with(result("call_a"), "/output", json!([{"type": "input_text", "text": "no such file"}])),
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
             "content": [{"type": "output_text", "text": "42 lines.", "annotations": []}]},
            {"role": "developer", "content": "It is late."},
            {"role": "assistant", "content": "Good night."},
        ],
    })
}

fn of(input: Json) -> Json {
    json!({"input": input})
}

fn said(content: Json) -> Json {
    of(json!([{"role": "user", "content": content}]))
}

pub(super) fn bad() -> Vec<Example> {
    let mut bad = bad_schemas(&good(), "/tools/0/parameters");
    bad.extend(of_shape());
    bad.extend(of_items());
    bad.extend(of_tools());
    bad.extend(of_media());
    bad
}

fn of_shape() -> Vec<Example> {
    vec![
        ("types", with(good(), "/input/2/input", json!({}))),
        ("types", with(good(), "/input/4/output", json!({"lines": 42}))),
        ("types", without(good(), "/input/1/summary")),
        ("types", without(good(), "/input/6/id")),
        ("types", with(good(), "/input/7/role", json!("tool"))),
        ("types", with(good(), "/input/9", json!({"type": "tool_result", "call_id": "a", "output": "x"}))),
        ("control-character", said(json!("\u{0}x"))),
        ("text-empty", said(json!("\t"))),
        ("text-empty", with(good(), "/instructions", json!(" "))),
        ("text-empty", with(good(), "/input/4/output", json!(""))),
        ("text-empty", with(good(), "/input/6/content/0/text", json!(""))),
        ("content-empty", said(json!([]))),
        ("content-empty", with(good(), "/input/4/output", json!([]))),
        ("input-empty", of(json!([]))),
        ("input-empty", json!({})),
        ("state-twice", json!({"input": "x", "previous_response_id": "resp_1", "conversation": "conv_1"})),
        ("part-role", with(said(json!([{"type": "input_text", "text": "x"}])), "/input/0/role", json!("assistant"))),
    ]
}

fn of_items() -> Vec<Example> {
    let user = json!({"role": "user", "content": "x"});
    let numbered = with(call("a"), "/id", json!("fc_1"));
    let said_with_id = good()["input"][6].clone();
    vec![
        ("item-id", with(good(), "/input/2/id", json!("call_1"))),
        ("item-id", with(good(), "/input/2/id", json!(format!("fc_{}", "1".repeat(62))))),
        ("item-id-unique", with(with(good(), "/input/3/id", json!("fc_1")), "/input/9", json!(user))),
        ("item-reference-store", json!({"store": false, "input": [{"type": "item_reference", "id": "rs_1"}]})),
        ("reasoning-follow", of(json!([user, reasoning("rs_1")]))),
        ("reasoning-follow", of(json!([reasoning("rs_1"), user]))),
        ("reasoning-encrypted", without(good(), "/input/1/encrypted_content")),
        ("reasoning-missing", of(json!([reasoning("rs_1"), call("b"), result("b"), user, numbered, result("a")]))),
        ("reasoning-missing", of(json!([user, said_with_id]))),
    ]
}

fn of_tools() -> Vec<Example> {
    let long = "c".repeat(65);
    let closed = with(schema(), "/additionalProperties", json!(false));
    let strict = |schema: Json| with(with(good(), "/tools/0/strict", json!(true)), "/tools/0/parameters", schema);
    vec![
        ("tool-name", with(good(), "/tools/0/name", json!("mcp/read"))),
        ("tool-name", with(good(), "/input/3/name", json!(""))),
        ("tool-name-unique", with(good(), "/tools/1", tool("read"))),
        ("schema-properties-missing", without(good(), "/tools/0/parameters/properties")),
        ("schema-strict", strict(schema())),
        ("schema-strict", strict(with(closed, "/required", json!([])))),
        ("tool-id", of(json!([call(&long), result(&long)]))),
        ("tool-id", of(json!([call(""), result("")]))),
        ("tool-id-unique", of(json!([call("a"), call("a"), result("a")]))),
        ("tool-result-missing", of(json!([call("a"), call("b"), result("b")]))),
        ("tool-result-orphan", of(json!([{"role": "user", "content": "x"}, result("a")]))),
        ("tool-result-twice", of(json!([call("a"), result("a"), result("a")]))),
        ("arguments-json", with(good(), "/input/3/arguments", json!("path=a"))),
        ("arguments-json", with(good(), "/input/3/arguments", json!("null"))),
    ]
}

fn of_media() -> Vec<Example> {
    let (url, file) = ("/input/0/content/0/image_url", "/input/0/content/1");
    vec![
        ("image-type", with(good(), url, json!("data:image/bmp;base64,AAAA"))),
        ("images-too-many", said(many(501, &image("https://pictures.test/1.png")))),
        ("file-type", with(good(), &format!("{file}/file_data"), json!("data:text/plain;base64,AAAA"))),
        ("file-source", without(good(), url)),
        ("file-source", without(good(), &format!("{file}/filename"))),
        ("file-source", with(good(), &format!("{file}/file_id"), json!("file-1"))),
        ("url", with(good(), url, json!("/tmp/a.png"))),
        ("base64", with(good(), url, json!("data:image/png;base64,A"))),
        ("media-bytes", with(good(), url, json!("data:image/png;base64,AAAA"))),
    ]
}
