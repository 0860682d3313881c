//! Bedrock Converse.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::common::{base64, check_any_message, check_blank, check_name, check_unique_names, each, is_name};
use super::media::{IMAGE_TYPES, Limits, Pictures, check_data};
use super::shape::*;
use super::{Report, schema};

pub(super) const RULES: [&str; 33] = [
    "types",
    "control-character",
    "text-empty",
    "content-empty",
    "messages-empty",
    "first-message-user",
    "alternate",
    "block-role",
    "final-block-thinking",
    "thinking-signature",
    "tools-needed",
    "tool-name",
    "tool-name-unique",
    "tool-id",
    "tool-id-unique",
    "tool-result-missing",
    "tool-result-orphan",
    "tool-result-twice",
    "tool-result-first",
    "images-too-many",
    "image-size",
    "image-side",
    "documents-too-many",
    "document-name",
    "document-text",
    "document-size",
    "base64",
    "media-bytes",
    "schema-required-null",
    "schema-required",
    "schema-properties-null",
    "schema-root-object",
    "schema-root-combiner",
];

const LEN_MAX: usize = 64;
const LIMITS: Limits =
    Limits { image_len: 3_750_000, side: 8000, side_of_many: 8000, few_images: usize::MAX, images: usize::MAX };
const IMAGES_MAX: usize = 20;
const DOCUMENTS_MAX: usize = 5;
const DOCUMENT_LEN_MAX: usize = 4_500_000;

fn source(report: &mut Report, value: &Json, path: &str) {
    one_key(report, value, path, &[("bytes", MAY, text), ("s3Location", MAY, any_object)]);
}

const TEXT: Field = ("text", MAY, text);
const IMAGE: Field = ("image", MAY, |r, v, p| {
    let format: Shape = |r, v, p| one_of(r, v, p, &["png", "jpeg", "gif", "webp"]);
    object(r, v, p, &[("format", MUST, format), ("source", MUST, source)]);
});
const DOCUMENT: Field = ("document", MAY, |r, v, p| {
    let known: Shape = |r, v, p| one_of(r, v, p, &["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]);
    let fields = [
        ("format", MAY, known),
        ("name", MUST, text),
        ("source", MUST, source),
        ("context", MAY, text),
        ("citations", MAY, any_object),
    ];
    object(r, v, p, &fields);
});
const CACHE_POINT: Field = ("cachePoint", MAY, |r, v, p| object(r, v, p, &[("type", MUST, text), ("ttl", MAY, text)]));
const TOOL_USE: Field = ("toolUse", MAY, |r, v, p| {
    object(
        r,
        v,
        p,
        &[("toolUseId", MUST, text), ("name", MUST, text), ("input", MUST, any_object), ("type", MAY, text)],
    );
});
const TOOL_RESULT: Field = ("toolResult", MAY, |r, v, p| {
    let status: Shape = |r, v, p| one_of(r, v, p, &["success", "error"]);
    let content: Shape = |r, v, p| list(r, v, p, result_block);
    let fields = [("toolUseId", MUST, text as Shape), ("content", MUST, content), ("status", MAY, status)];
    object(r, v, p, &fields);
});
const REASONING: Field = ("reasoningContent", MAY, |r, v, p| {
    let signed: Shape = |r, v, p| object(r, v, p, &[("text", MUST, text), ("signature", MAY, text)]);
    one_key(r, v, p, &[("reasoningText", MAY, signed), ("redactedContent", MAY, text)]);
});

fn result_block(report: &mut Report, value: &Json, path: &str) {
    one_key(report, value, path, &[TEXT, IMAGE, DOCUMENT, ("json", MAY, any), ("video", MAY, any_object)]);
}

fn block(report: &mut Report, value: &Json, path: &str) {
    let fields = [TEXT, IMAGE, DOCUMENT, CACHE_POINT, TOOL_USE, TOOL_RESULT, REASONING, ("video", MAY, any_object)];
    one_key(report, value, path, &fields);
}

fn message(report: &mut Report, value: &Json, path: &str) {
    let role: Shape = |r, v, p| one_of(r, v, p, &["user", "assistant"]);
    object(report, value, path, &[("role", MUST, role), ("content", MUST, |r, v, p| list(r, v, p, block))]);
}

fn tool(report: &mut Report, value: &Json, path: &str) {
    let spec: Shape = |r, v, p| {
        let json: Shape = |r, v, p| object(r, v, p, &[("json", MUST, any_object)]);
        let fields = [
            ("name", MUST, text as Shape),
            ("description", MAY, text),
            ("inputSchema", MUST, json),
            ("strict", MAY, flag),
        ];
        object(r, v, p, &fields);
    };
    one_key(report, value, path, &[("toolSpec", MAY, spec), CACHE_POINT]);
}

fn tool_config(report: &mut Report, value: &Json, path: &str) {
    object(report, value, path, &[("tools", MUST, |r, v, p| list(r, v, p, tool)), ("toolChoice", MAY, any_object)]);
}

pub(super) fn check(body: &Json, report: &mut Report) {
    let fields = [
        ("modelId", MAY, text as Shape),
        ("messages", MUST, |r, v, p| list(r, v, p, message)),
        ("system", MAY, |r, v, p| list(r, v, p, |r, v, p| one_key(r, v, p, &[TEXT, CACHE_POINT]))),
        ("toolConfig", MAY, tool_config),
        ("inferenceConfig", MAY, any_object),
        ("additionalModelRequestFields", MAY, any_object),
        ("guardrailConfig", MAY, any_object),
        ("performanceConfig", MAY, any_object),
        ("requestMetadata", MAY, any_object),
    ];
    object(report, body, "$", &fields);
    check_any_message(body, "messages", report);
    for (path, part) in each(&body["system"], "$.system") {
        check_blank(part, "text", &path, report);
    }
    check_tools(body, report);
    let messages = each(&body["messages"], "$.messages");
    let mut pictures = Pictures::default();
    for (at, (path, message)) in messages.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &messages[at].1["role"]);
        if before.is_none() && message["role"] != "user" {
            report.add("first-message-user", path, "the first message must be the user's");
        }
        if before == Some(&message["role"]) {
            report.add("alternate", path, "the user and the model must take turns");
        }
        check_message(message, path, &mut pictures, report);
    }
    pictures.finish(LIMITS, report);
    check_pairs(&messages, report);
}

fn check_tools(body: &Json, report: &mut Report) {
    let tools = each(&body["toolConfig"]["tools"], "$.toolConfig.tools");
    for (path, tool) in &tools {
        let path = format!("{path}.toolSpec");
        check_name("tool-name", &tool["toolSpec"]["name"], &format!("{path}.name"), (LEN_MAX, b"_-"), report);
        let schema = &tool["toolSpec"]["inputSchema"]["json"];
        schema::check_root(schema, &format!("{path}.inputSchema.json"), report);
        schema::check_no_choice(schema, &format!("{path}.inputSchema.json"), report);
    }
    check_unique_names(tools.iter().map(|(path, tool)| (path.clone(), &tool["toolSpec"]["name"])), report);
    let uses = each(&body["messages"], "").iter().any(|(_, message)| {
        each(&message["content"], "")
            .iter()
            .any(|(_, block)| block.get("toolUse").is_some() || block.get("toolResult").is_some())
    });
    if uses && tools.is_empty() {
        report.add("tools-needed", "$.toolConfig", "must declare tools where messages hold calls or results");
    }
}

fn check_message(message: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let blocks = each(&message["content"], &format!("{path}.content"));
    if blocks.is_empty() {
        report.add("content-empty", &format!("{path}.content"), "must not be empty");
    }
    for (path, block) in &blocks {
        let of = [
            ("toolUse", "assistant"),
            ("reasoningContent", "assistant"),
            ("toolResult", "user"),
            ("image", "user"),
            ("document", "user"),
        ];
        for (key, _) in of.iter().filter(|(key, role)| block.get(*key).is_some() && message["role"] != *role) {
            report.add("block-role", path, format!("{key} must not stand in a message of this role"));
        }
        check_block(block, path, pictures, report);
    }
    let has = |key: &str| blocks.iter().filter(|(_, block)| block.get(key).is_some()).count();
    if has("image") > IMAGES_MAX {
        report.add("images-too-many", path, format!("at most {IMAGES_MAX} in a message"));
    }
    if has("document") > DOCUMENTS_MAX {
        report.add("documents-too-many", path, format!("at most {DOCUMENTS_MAX} in a message"));
    }
    if has("document") > 0 && has("text") == 0 {
        report.add("document-text", path, "a document must have a text beside it");
    }
    if let Some((path, _)) = blocks.last().filter(|(_, block)| block.get("reasoningContent").is_some()) {
        report.add("final-block-thinking", path, "a message must not end in reasoning");
    }
}

fn check_block(block: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    check_blank(block, "text", path, report);
    if let Some(image) = block.get("image") {
        let media_type = format!("image/{}", image["format"].as_str().unwrap_or_default());
        if IMAGE_TYPES.contains(&media_type.as_str()) {
            pictures.add(&image["source"]["bytes"], &media_type, &format!("{path}.image"), LIMITS, report);
        }
    }
    if let Some(document) = block.get("document") {
        check_document(document, &format!("{path}.document"), report);
    }
    let reasoning = &block["reasoningContent"];
    if reasoning.get("reasoningText").is_some_and(|text| text["signature"].as_str().is_none_or(str::is_empty)) {
        report.add("thinking-signature", &format!("{path}.reasoningContent"), "must be signed as it came");
    }
    if reasoning["redactedContent"].as_str().is_some_and(|data| base64(data, false).is_none()) {
        report.add("base64", &format!("{path}.reasoningContent.redactedContent"), "must be base64");
    }
    if let Some(call) = block.get("toolUse") {
        check_name("tool-id", &call["toolUseId"], &format!("{path}.toolUse.toolUseId"), (LEN_MAX, b"_.:-"), report);
        check_name("tool-name", &call["name"], &format!("{path}.toolUse.name"), (LEN_MAX, b"_-"), report);
    }
    if let Some(result) = block.get("toolResult") {
        let path = format!("{path}.toolResult");
        check_name("tool-id", &result["toolUseId"], &format!("{path}.toolUseId"), (LEN_MAX, b"_.:-"), report);
        let inner = each(&result["content"], &format!("{path}.content"));
        if inner.is_empty() {
            report.add("content-empty", &format!("{path}.content"), "must not be empty");
        }
        for (path, block) in inner {
            check_block(block, &path, pictures, report);
        }
    }
}

fn check_document(document: &Json, path: &str, report: &mut Report) {
    let name = document["name"].as_str().unwrap_or_default();
    if !name.split(' ').all(|word| is_name(word, usize::MAX, b"-()[]")) || name.len() > 200 {
        report.add("document-name", &format!("{path}.name"), "may hold letters, digits, single spaces, - ( ) [ ]");
    }
    let media_type = if document["format"] == "pdf" { super::media::PDF } else { "" };
    let data = check_data(&document["source"]["bytes"], media_type, &format!("{path}.source.bytes"), report);
    if data.is_some_and(|bytes| bytes.len() > DOCUMENT_LEN_MAX) {
        report.add("document-size", path, format!("at most {DOCUMENT_LEN_MAX} bytes"));
    }
}

fn check_pairs(messages: &[(String, &Json)], report: &mut Report) {
    let mut seen = HashSet::new();
    let of = |at: usize, key: &str| -> Vec<(String, Json)> {
        let Some((path, message)) = messages.get(at) else { return Vec::new() };
        let blocks = each(&message["content"], &format!("{path}.content"));
        blocks.into_iter().filter_map(|(path, block)| Some((path, block.get(key)?["toolUseId"].clone()))).collect()
    };
    for (at, (path, message)) in messages.iter().enumerate() {
        let answers = of(at + 1, "toolResult");
        for (path, id) in of(at, "toolUse") {
            if !seen.insert(id.to_string()) {
                report.add("tool-id-unique", &path, format!("{id} is used by an earlier call"));
            }
            if !answers.iter().any(|(_, answered)| *answered == id) {
                report.add("tool-result-missing", &path, format!("{id} has no result in the next message"));
            }
        }
        let asked = at.checked_sub(1).map(|at| of(at, "toolUse")).unwrap_or_default();
        let mut given = HashSet::new();
        for (path, id) in of(at, "toolResult") {
            if !asked.iter().any(|(_, asked)| *asked == id) {
                report.add("tool-result-orphan", &path, format!("{id} is no call of the message before"));
            } else if !given.insert(id.to_string()) {
                report.add("tool-result-twice", &path, format!("a second result of {id}"));
            }
        }
        let blocks = each(&message["content"], path);
        let is_result = |(_, block): &(String, &Json)| block.get("toolResult").is_some();
        if blocks.iter().skip_while(|block| is_result(block)).any(is_result) {
            report.add("tool-result-first", path, "results must stand before all other blocks");
        }
    }
}
