use serde_json::{Value as Json, json};

use super::{Example, bad_schemas, many, schema, with, without};
use crate::common::picture;

fn image(data: &str) -> Json {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn call(id: &str) -> Json {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a.txt"}})
}

fn result(id: &str) -> Json {
    json!({"type": "tool_result", "tool_use_id": id, "content": "42 lines"})
}

fn server_call(id: &str) -> Json {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}})
}

fn server_result(id: &str) -> Json {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

fn thinking() -> Json {
    json!({"type": "thinking", "thinking": "The file will say.", "signature": "c2lnbmVk"})
}

fn tool(name: &str) -> Json {
    json!({"name": name, "description": "Reads a file", "input_schema": schema()})
}

pub(super) fn good() -> Json {
    let document = json!({"type": "base64", "media_type": "application/pdf", "data": picture::pdf(1)});
    json!({
        "model": "claude",
        "max_tokens": 9000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "system": [{"type": "text", "text": "Answer shortly.", "cache_control": {"type": "ephemeral"}}],
        "tools": [tool("read")],
        "messages": [
            {"role": "user", "content": [
                image(&picture::png(20, 30, 0)),
                {"type": "image", "source": {"type": "url", "url": "https://pictures.test/1.png"}},
                {"type": "document", "source": document, "title": "Report"},
                {"type": "text", "text": "How long are these files?"},
            ]},
            {"role": "assistant", "content": [
                thinking(),
                {"type": "redacted_thinking", "data": "aGlkZGVu"},
                {"type": "text", "text": "I count."},
                server_call("srvtoolu_a"),
                server_result("srvtoolu_a"),
                call("toolu_a"),
                call("toolu_b"),
            ]},
            {"role": "user", "content": [
                result("toolu_b"),
                {"type": "tool_result", "tool_use_id": "toolu_a", "is_error": true,
                 "content": [{"type": "text", "text": "no such file"}]},
                {"type": "text", "text": "Never mind the second."},
            ]},
        ],
    })
}

/// A body whose messages are these.
fn of(messages: Json) -> Json {
    json!({"max_tokens": 100, "messages": messages})
}

/// A body of one message of the user's with these blocks.
fn said(blocks: Json) -> Json {
    of(json!([{"role": "user", "content": blocks}]))
}

/// A body with calls and what follows them.
fn after_calls(blocks: Json, rest: &[Json]) -> Json {
    let mut messages =
        vec![json!({"role": "user", "content": "Read."}), json!({"role": "assistant", "content": blocks})];
    messages.extend_from_slice(rest);
    of(messages.into())
}

fn results(blocks: Json) -> Json {
    json!({"role": "user", "content": blocks})
}

pub(super) fn bad() -> Vec<Example> {
    let mut bad = bad_schemas(&good(), "/tools/0/input_schema");
    bad.extend(of_shape());
    bad.extend(of_order());
    bad.extend(of_tools());
    bad.extend(of_thinking());
    bad.extend(of_media());
    bad
}

fn of_shape() -> Vec<Example> {
    vec![
        ("types", with(good(), "/messages/2/content/0/name", json!("read"))),
        ("types", without(good(), "/max_tokens")),
        ("types", without(good(), "/messages/1/content/0/signature")),
        ("types", with(good(), "/messages/1/content/5/input", json!("{}"))),
        ("types", of(json!([{"role": "user", "content": "x"}, {"role": "tool", "content": "y"}]))),
        ("control-character", said(json!("red \u{1b}[31m"))),
        ("text-empty", said(json!(" \n"))),
        ("text-empty", said(json!([{"type": "text", "text": ""}, {"type": "text", "text": "x"}]))),
        ("text-empty", with(good(), "/system/0/text", json!("\u{feff}"))),
        ("text-empty", with(good(), "/messages/2/content/1/content/0/text", json!(""))),
        ("content-empty", said(json!([]))),
        ("content-empty", said(json!(""))),
        ("messages-empty", of(json!([]))),
        ("messages-too-many", of(many(100_001, &json!({"role": "user", "content": "x"})))),
        ("max-tokens", with(said(json!("x")), "/max_tokens", json!(-1))),
    ]
}

fn of_order() -> Vec<Example> {
    let user = json!({"role": "user", "content": "x"});
    let model = json!({"role": "assistant", "content": "y"});
    let system = json!({"role": "system", "content": "z"});
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    vec![
        ("first-message-user", of(json!([model, user]))),
        ("system-placement", of(json!([user, system, user]))),
        ("system-placement", of(json!([user, model, system]))),
        ("block-role", said(json!([thinking(), {"type": "text", "text": "x"}]))),
        ("block-role", with(good(), "/messages/1/content/2", image(&picture::png(1, 1, 0)))),
        ("block-role", said(json!([{"type": "text", "text": "x", "citations": []}]))),
        ("prefill-trailing-space", of(json!([user, {"role": "assistant", "content": "It is "}]))),
        ("cache-control-limit", with(good(), "/messages/0/content", many(4, &marked))),
    ]
}

fn of_tools() -> Vec<Example> {
    let answered = results(json!([result("a")]));
    let with_picture = with(result("a"), "/content", json!([image(&picture::png(1, 1, 0))]));
    vec![
        ("tool-name", with(good(), "/tools/0/name", json!("mcp.read"))),
        ("tool-name", with(good(), "/tools/0/name", json!("r".repeat(129)))),
        ("tool-name", with(good(), "/messages/1/content/5/name", json!("read it"))),
        ("tool-name-unique", with(good(), "/tools", json!([tool("read"), tool("read")]))),
        ("schema-root-combiner", with(good(), "/tools/0/input_schema/anyOf", json!([]))),
        ("tool-choice-without-tools", with(said(json!("x")), "/tool_choice", json!({"type": "any"}))),
        (
            "tool-choice-unknown",
            without(with(good(), "/tool_choice", json!({"type": "tool", "name": "write"})), "/thinking"),
        ),
        ("tool-id", after_calls(json!([call("a|b")]), &[results(json!([result("a|b")]))])),
        ("tool-id-unique", after_calls(json!([call("a"), call("a")]), std::slice::from_ref(&answered))),
        ("tool-result-missing", after_calls(json!([call("a")]), &[])),
        ("tool-result-missing", after_calls(json!([call("a"), call("b")]), std::slice::from_ref(&answered))),
        ("tool-result-orphan", after_calls(json!("Done."), &[answered])),
        ("tool-result-twice", after_calls(json!([call("a")]), &[results(json!([result("a"), result("a")]))])),
        (
            "tool-result-first",
            after_calls(json!([call("a")]), &[results(json!([{"type": "text", "text": "x"}, result("a")]))]),
        ),
        ("server-tool-pair", after_calls(json!([server_call("s1"), server_call("s2"), server_result("s1")]), &[])),
        ("server-tool-pair", after_calls(json!([server_result("s1"), {"type": "text", "text": "x"}]), &[])),
        (
            "tool-id-unique",
            after_calls(json!([server_call("s"), server_result("s"), server_call("s"), server_result("s")]), &[]),
        ),
        ("tool-error-empty", with(good(), "/messages/2/content/1/content", json!(""))),
        (
            "tool-error-text",
            after_calls(json!([call("a")]), &[results(json!([with(with_picture, "/is_error", json!(true))]))]),
        ),
    ]
}

fn of_thinking() -> Vec<Example> {
    let begun = json!({"role": "assistant", "content": "It"});
    vec![
        ("final-block-thinking", after_calls(json!([thinking()]), &[results(json!("x"))])),
        ("cache-control-thinking", with(good(), "/messages/1/content/0/cache_control", json!({"type": "ephemeral"}))),
        ("thinking-signature", with(good(), "/messages/1/content/0/signature", json!(""))),
        ("thinking-signature", with(good(), "/messages/1/content/1/data", json!(""))),
        ("thinking-budget", with(good(), "/thinking/budget_tokens", json!(1023))),
        ("thinking-budget", with(good(), "/max_tokens", json!(2000))),
        ("thinking-first", without(without(good(), "/messages/1/content/1"), "/messages/1/content/0")),
        ("thinking-tool-choice", with(good(), "/tool_choice", json!({"type": "any"}))),
        ("thinking-temperature", with(good(), "/temperature", json!(0.5))),
        ("thinking-prefill", with(good(), "/messages/3", begun)),
    ]
}

fn of_media() -> Vec<Example> {
    let linked = json!({"type": "image", "source": {"type": "url", "url": "https://pictures.test/1.png"}});
    let mut large_of_many = vec![image(&picture::png(2001, 1, 0))];
    large_of_many.extend(vec![linked.clone(); 20]);
    vec![
        ("image-type", with(good(), "/messages/0/content/0/source/media_type", json!("image/tiff"))),
        ("file-type", with(good(), "/messages/0/content/2/source/media_type", json!("application/zip"))),
        ("url", with(good(), "/messages/0/content/1/source/url", json!("file:///etc/hosts"))),
        ("url", with(good(), "/messages/0/content/1/source/url", json!("data:image/png;base64,AAAA"))),
        ("base64", said(json!([image("AAAA\nAAAA")]))),
        ("base64", said(json!([image("AAA")]))),
        ("media-bytes", said(json!([image(&picture::gif(1, 1))]))),
        ("media-bytes", with(good(), "/messages/0/content/2/source/data", json!("AAAA"))),
        ("image-size", said(json!([image(&picture::png(1, 1, 5 << 20))]))),
        ("image-side", said(json!([image(&picture::png(1, 8001, 0))]))),
        ("image-side", said(large_of_many.into())),
        ("images-too-many", said(many(101, &linked))),
    ]
}
