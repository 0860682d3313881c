//! The shape of Anthropic's request.

use serde_json::Value as Json;

use super::Report;
use super::shape::*;

const CACHE: Field = ("cache_control", MAY, |report, value, path| {
    object(report, value, path, &[("type", MUST, text), ("ttl", MAY, text)]);
});
const TEXT: &[Field] = &[("text", MUST, text), CACHE, ("citations", MAY, any_list)];
const IMAGE: &[Field] = &[("source", MUST, source), CACHE];
const DOCUMENT: &[Field] =
    &[("source", MUST, source), CACHE, ("title", MAY, text), ("context", MAY, text), ("citations", MAY, any_object)];
const TOOL_USE: &[Field] = &[("id", MUST, text), ("name", MUST, text), ("input", MUST, any_object), CACHE];
const TOOL_RESULT: &[Field] = &[
    ("tool_use_id", MUST, text),
    ("content", MAY, |report, value, path| text_or_list(report, value, path, result_block)),
    ("is_error", MAY, flag),
    CACHE,
];

/// What a tool of the server's was asked, and what it answered.
const SERVER_TOOL_USE: &[Field] =
    &[("id", MUST, text), ("name", MUST, text), ("input", MUST, any_object), ("caller", MAY, any_object), CACHE];
const SERVER_TOOL_RESULT: &[Field] =
    &[("tool_use_id", MUST, text), ("content", MUST, any), ("caller", MAY, any_object), CACHE];
const SEARCH_RESULT: &[Field] = &[
    ("source", MUST, text),
    ("title", MUST, text),
    ("content", MUST, any_list),
    ("citations", MAY, any_object),
    CACHE,
];

fn source(report: &mut Report, value: &Json, path: &str) {
    let data = [("media_type", MUST, text as Shape), ("data", MUST, text)];
    let blocks: [Field; 1] = [("content", MUST, |report, value, path| text_or_list(report, value, path, result_block))];
    let kinds: [(&str, &[Field]); 5] = [
        ("base64", &data),
        ("text", &data),
        ("url", &[("url", MUST, text)]),
        ("file", &[("file_id", MUST, text)]),
        ("content", &blocks),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn result_block(report: &mut Report, value: &Json, path: &str) {
    tagged(
        report,
        value,
        path,
        "type",
        &[("text", TEXT), ("image", IMAGE), ("document", DOCUMENT), ("search_result", SEARCH_RESULT)],
    );
}

/// The blocks in which a tool of the server's answers.
pub(super) const SERVER_ANSWERS: [&str; 6] = [
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
];

fn block(report: &mut Report, value: &Json, path: &str) {
    if value["type"].as_str().is_some_and(|kind| SERVER_ANSWERS.contains(&kind)) {
        let all: Vec<Field> = [("type", MUST, text as Shape)].into_iter().chain(SERVER_TOOL_RESULT.to_vec()).collect();
        return object(report, value, path, &all);
    }
    let kinds: [(&str, &[Field]); 10] = [
        ("text", TEXT),
        ("image", IMAGE),
        ("document", DOCUMENT),
        ("search_result", SEARCH_RESULT),
        ("container_upload", &[("file_id", MUST, text), CACHE]),
        ("server_tool_use", SERVER_TOOL_USE),
        // A mark on it has a rule of its own.
        ("thinking", &[("thinking", MUST, text), ("signature", MUST, text), CACHE]),
        ("redacted_thinking", &[("data", MUST, text), CACHE]),
        ("tool_use", TOOL_USE),
        ("tool_result", TOOL_RESULT),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn message(report: &mut Report, value: &Json, path: &str) {
    let role: Shape = |report, value, path| one_of(report, value, path, &["user", "assistant", "system"]);
    let content: Shape = |report, value, path| text_or_list(report, value, path, block);
    object(report, value, path, &[("role", MUST, role), ("content", MUST, content)]);
}

fn tool(report: &mut Report, value: &Json, path: &str) {
    let fields = [
        ("name", MUST, text as Shape),
        ("description", MAY, text),
        ("input_schema", MUST, any_object),
        ("type", MAY, text),
        ("strict", MAY, flag),
        CACHE,
    ];
    object(report, value, path, &fields);
}

pub(super) fn check(body: &Json, report: &mut Report) {
    let fields = [
        ("model", MAY, text as Shape),
        ("max_tokens", MUST, integer),
        ("messages", MUST, |report: &mut Report, value: &Json, path: &str| list(report, value, path, message)),
        ("system", MAY, |report, value, path| {
            text_or_list(report, value, path, |r, v, p| tagged(r, v, p, "type", &[("text", TEXT)]));
        }),
        ("tools", MAY, |report, value, path| list(report, value, path, tool)),
        ("tool_choice", MAY, any_object),
        ("thinking", MAY, any_object),
        ("temperature", MAY, any),
        ("top_p", MAY, any),
        ("top_k", MAY, integer),
        ("stop_sequences", MAY, any_list),
        ("stream", MAY, flag),
        ("metadata", MAY, any_object),
        ("service_tier", MAY, text),
        CACHE,
    ];
    object(report, body, "$", &fields);
}
