use serde_json::{Value as Json, json};

use super::{Example, bad_schemas, schema, with};
use crate::common::picture;

fn call(id: &str, name: &str) -> Json {
    json!({"functionCall": {"id": id, "name": name, "args": {"path": "a.txt"}}})
}

fn response(id: &str, name: &str) -> Json {
    json!({"functionResponse": {"id": id, "name": name, "response": {"output": "42 lines"}}})
}

fn user(parts: Json) -> Json {
    json!({"role": "user", "parts": parts})
}

fn model(parts: Json) -> Json {
    json!({"role": "model", "parts": parts})
}

fn tool(name: &str) -> Json {
    json!({"name": name, "description": "Reads", "parameters": schema()})
}

pub(super) fn good() -> Json {
    json!({
        "model": "gemini-3-pro",
        "systemInstruction": {"parts": [{"text": "Answer shortly."}]},
        "tools": [{"functionDeclarations": [tool("read")]}],
        "contents": [
            user(json!([{"text": "Read z."}])),
            model(json!([call("z", "read")])),
            user(json!([response("z", "read")])),
            user(json!([
                {"inlineData": {"mimeType": "image/png", "data": picture::png(5, 5, 0)}},
                {"inlineData": {"mimeType": "application/pdf", "data": picture::pdf(0)}},
                {"fileData": {"mimeType": "image/png", "fileUri": "https://pictures.test/1.png"}},
                {"text": "How long are these files?"},
            ])),
            model(json!([
                {"text": "The files will say.", "thought": true},
                with(call("a", "read"), "/thoughtSignature", json!("c2ln_-_-")),
                call("b", "list"),
            ])),
            user(json!([
                response("a", "read"),
                with(response("b", "list"), "/functionResponse/response", json!({"error": "no such file"})),
            ])),
            user(json!([{"text": "Never mind the second."}])),
            model(json!([{"text": "42 lines."}, {"text": "", "thoughtSignature": "c2ln"}])),
            user(json!([{"text": "Thanks."}])),
        ],
    })
}

fn of(contents: Json) -> Json {
    json!({"contents": contents})
}

fn said(parts: Json) -> Json {
    of(json!([user(parts)]))
}

/// A body with these calls and these responses.
fn called(calls: Json, responses: Json) -> Json {
    of(json!([user(json!([{"text": "Read."}])), model(calls), user(responses)]))
}

pub(super) fn bad() -> Vec<Example> {
    let mut bad = bad_schemas(&good(), PARAMETERS);
    bad.extend(of_shape());
    bad.extend(of_order());
    bad.extend(of_tools());
    bad.extend(of_schemas());
    bad.extend(of_media());
    bad
}

const PARAMETERS: &str = "/tools/0/functionDeclarations/0/parameters";

fn of_shape() -> Vec<Example> {
    let response_place = "/contents/5/parts/0/functionResponse/response";
    vec![
        ("types", with(good(), "/messages", json!([]))),
        ("types", said(json!([{"type": "text", "text": "x"}]))),
        ("types", with(good(), "/contents/4/parts/1/functionCall/args", json!("{}"))),
        ("control-character", said(json!([{"text": "a\u{c}b"}]))),
        ("camel-case", with(said(json!([{"text": "x"}])), "/generationConfig", json!({"max_output_tokens": 5}))),
        ("text-empty", said(json!([{"text": ""}]))),
        ("text-empty", with(good(), "/systemInstruction/parts/0/text", json!(" "))),
        ("content-empty", said(json!([]))),
        ("messages-empty", of(json!([]))),
        ("role", with(said(json!([{"text": "x"}])), "/contents/0/role", json!("assistant"))),
        (
            "part-role",
            of(json!([
                user(json!([call("a", "f")])),
                model(json!([response("a", "f")])),
                user(json!([{"text": "x"}]))
            ])),
        ),
        ("part-data", said(json!([{"thought": true}]))),
        ("part-data", said(json!([{"text": "x", "fileData": {"fileUri": "https://pictures.test/1.png"}}]))),
        ("response-object", with(good(), response_place, json!("42 lines"))),
        ("response-ref", with(good(), response_place, json!({"schema": [{"$ref": "#/a"}]}))),
        ("system-text", with(good(), "/systemInstruction/parts/0", json!({"fileData": {"fileUri": "https://a.test"}}))),
    ]
}

fn of_order() -> Vec<Example> {
    let (x, y) = (json!([{"text": "x"}]), json!([{"text": "y"}]));
    let calls = || json!([call("a", "read"), call("b", "list")]);
    let both = |id: &str, name: &str| json!([response(id, name), response("b", "list")]);
    vec![
        ("first-message-user", of(json!([model(y.clone()), user(x.clone())]))),
        ("last-message-user", of(json!([user(x.clone()), model(y)]))),
        ("response-alone", with(good(), "/contents/5/parts/2", json!({"text": "And?"}))),
        (
            "tool-id-unique",
            called(json!([call("a", "f"), call("a", "f")]), json!([response("a", "f"), response("a", "f")])),
        ),
        ("tool-result-missing", called(calls(), x.clone())),
        ("tool-result-orphan", of(json!([user(x), user(json!([response("a", "read")]))]))),
        ("tool-result-count", called(calls(), json!([response("a", "read")]))),
        ("tool-result-name", called(calls(), both("a", "write"))),
        ("tool-result-id", called(calls(), both("c", "read"))),
        ("tool-result-order", called(calls(), json!([response("b", "list"), response("a", "read")]))),
        (
            "thought-signature",
            with(called(json!([call("a", "f")]), json!([response("a", "f")])), "/model", json!("gemini-3-pro")),
        ),
    ]
}

fn of_tools() -> Vec<Example> {
    let named = |name: &str| called(json!([call("a", name)]), json!([response("a", name)]));
    vec![
        ("tool-name", named("1st")),
        ("tool-name", named("read it")),
        ("tool-name", named(&"r".repeat(65))),
        ("tool-name", with(good(), "/tools/0/functionDeclarations/0/name", json!("mcp/read"))),
        ("tool-name-unique", with(good(), "/tools/0/functionDeclarations/1", tool("read"))),
    ]
}

fn of_schemas() -> Vec<Example> {
    let broken = |key: &str, value: Json| with(good(), &format!("{PARAMETERS}/{key}"), value);
    let both = with(good(), "/tools/0/functionDeclarations/0/parametersJsonSchema", schema());
    vec![
        ("schema-twice", both),
        ("schema-keyword", broken("$schema", json!("x"))),
        ("schema-required", broken("required", json!(["name"]))),
        ("schema-type-list", broken("properties/path/type", json!(["string", "null"]))),
        ("schema-items", broken("properties/path/type", json!("array"))),
        ("schema-enum", broken("properties/path", json!({"type": "boolean", "enum": [true]}))),
    ]
}

fn of_media() -> Vec<Example> {
    let inline = |media_type: &str, data: &str| said(json!([{"inlineData": {"mimeType": media_type, "data": data}}]));
    vec![
        ("image-type", inline("image/gif", &picture::gif(1, 1))),
        ("mime-type", inline("", "AAAA")),
        ("mime-type", inline("application/zip", "AAAA")),
        ("file-source", said(json!([{"fileData": {"fileUri": ""}}]))),
        ("base64", inline("image/png", "****")),
        ("base64", with(good(), "/contents/4/parts/1/thoughtSignature", json!("not base64"))),
        ("media-bytes", inline("image/png", &picture::jpeg(1, 1))),
    ]
}
