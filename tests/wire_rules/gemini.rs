//! Gemini generateContent, the REST body.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::common::{base64, check_any_message, check_unique_names, each, is_blank, is_name};
use super::gemini_shape::{self, DATA};
use super::media::{FREE, PDF, Pictures, check_data};
use super::{Report, schema};

pub(super) const RULES: [&str; 39] = [
    "types",
    "control-character",
    "camel-case",
    "text-empty",
    "content-empty",
    "messages-empty",
    "role",
    "part-role",
    "part-data",
    "response-alone",
    "response-object",
    "response-ref",
    "system-text",
    "first-message-user",
    "last-message-user",
    "tool-name",
    "tool-name-unique",
    "tool-id-unique",
    "tool-result-missing",
    "tool-result-orphan",
    "tool-result-count",
    "tool-result-name",
    "tool-result-id",
    "tool-result-order",
    "thought-signature",
    "mime-type",
    "image-type",
    "file-source",
    "base64",
    "media-bytes",
    "schema-required-null",
    "schema-required",
    "schema-properties-null",
    "schema-root-object",
    "schema-twice",
    "schema-keyword",
    "schema-type-list",
    "schema-items",
    "schema-enum",
];

/// The client's comment says 128, the server's error 64.
const NAME_LEN_MAX: usize = 64;
const IMAGE_TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
/// Contents of one role in a row are one turn to the server.
struct Turn<'b> {
    role: &'b str,
    path: String,
    parts: Vec<(String, &'b Json)>,
}

impl<'b> Turn<'b> {
    fn with(&self, key: &'static str) -> impl Iterator<Item = (&str, &'b Json)> {
        self.parts.iter().filter_map(move |(path, part)| part.get(key).map(|data| (path.as_str(), data)))
    }
}

pub(super) fn check(body: &Json, report: &mut Report) {
    gemini_shape::check(body, report);
    check_camel_case(body, "$", report);
    check_any_message(body, "contents", report);
    for (path, part) in each(&body["systemInstruction"]["parts"], "$.systemInstruction.parts") {
        match part["text"].as_str() {
            Some(text) if is_blank(text) => report.add("text-empty", &path, "must have something to read in it"),
            Some(_) => {}
            None => report.add("system-text", &path, "must be text"),
        }
    }
    check_tools(body, report);
    let mut pictures = Pictures::default();
    for (path, content) in each(&body["contents"], "$.contents") {
        check_content(content, &path, &mut pictures, report);
    }
    let turns = turns(body);
    check_order(&turns, report);
    check_pairs(&turns, report);
    check_signatures(body, &turns, report);
}

/// The server reads both spellings, what stands between does not. What the caller or a tool wrote is left alone.
fn check_camel_case(value: &Json, path: &str, report: &mut Report) {
    const FREE_KEYS: [&str; 9] = [
        "args",
        "response",
        "parameters",
        "parametersJsonSchema",
        "responseJsonSchema",
        "responseSchema",
        "partMetadata",
        "part_metadata",
        "labels",
    ];
    match value {
        Json::Object(fields) => {
            for (key, inner) in fields {
                if key.contains('_') {
                    report.add("camel-case", &format!("{path}.{key}"), "must be written in camel case");
                }
                if !FREE_KEYS.contains(&key.as_str()) {
                    check_camel_case(inner, &format!("{path}.{key}"), report);
                }
            }
        }
        Json::Array(_) => {
            each(value, path).iter().for_each(|(path, inner)| check_camel_case(inner, path, report));
        }
        _ => {}
    }
}

fn check_name(name: &Json, path: &str, report: &mut Report) {
    let Some(name) = name.as_str() else { return };
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || !is_name(name, NAME_LEN_MAX, b"_.:-") {
        report.add("tool-name", path, "must begin with a letter or _, and hold 1 to 64 letters, digits, _ . : -");
    }
}

fn check_tools(body: &Json, report: &mut Report) {
    let tools = each(&body["tools"], "$.tools");
    let declarations = tools
        .iter()
        .flat_map(|(path, tool)| each(&tool["functionDeclarations"], &format!("{path}.functionDeclarations")));
    let declarations: Vec<(String, &Json)> = declarations.collect();
    for (path, function) in &declarations {
        check_name(&function["name"], &format!("{path}.name"), report);
        if function.get("parameters").is_some() && function.get("parametersJsonSchema").is_some() {
            report.add("schema-twice", path, "parameters and parametersJsonSchema exclude each other");
        }
        for key in ["parameters", "parametersJsonSchema"].into_iter().filter(|key| function.get(*key).is_some()) {
            schema::check_root(&lower_type(&function[key]), &format!("{path}.{key}"), report);
        }
        schema::check_gemini(&function["parameters"], &format!("{path}.parameters"), report);
    }
    check_unique_names(declarations.iter().map(|(path, f)| (format!("{path}.name"), &f["name"])), report);
}

/// Types may be written in capitals here.
fn lower_type(schema: &Json) -> Json {
    let mut schema = schema.clone();
    if let Some(kind) = schema["type"].as_str().map(str::to_ascii_lowercase) {
        schema["type"] = kind.into();
    }
    schema
}

fn check_content(content: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let role = content["role"].as_str().unwrap_or("user");
    if !["user", "model"].contains(&role) {
        report.add("role", &format!("{path}.role"), "must be user or model");
    }
    let parts = each(&content["parts"], &format!("{path}.parts"));
    if parts.is_empty() {
        report.add("content-empty", &format!("{path}.parts"), "must not be empty");
    }
    let is_response = |part: &Json| part.get("functionResponse").is_some();
    if parts.iter().any(|(_, part)| is_response(part)) && !parts.iter().all(|(_, part)| is_response(part)) {
        report.add("response-alone", path, "responses must not share a content with anything else");
    }
    for (path, part) in &parts {
        check_part(role, part, path, pictures, report);
    }
}

fn check_part(role: &str, part: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let count = DATA.iter().filter(|(key, ..)| part.get(*key).is_some()).count();
    let is_signed = part.get("thoughtSignature").is_some();
    if count > 1 || count == 0 && !is_signed {
        report.add("part-data", path, "must hold exactly one kind of data");
    }
    if part["text"].as_str().is_some_and(is_blank) && !is_signed {
        report.add("text-empty", path, "must have something to read in it");
    }
    if part["thoughtSignature"].as_str().is_some_and(|signature| base64(signature, true).is_none()) {
        report.add("base64", &format!("{path}.thoughtSignature"), "must be base64");
    }
    if let Some(data) = part.get("inlineData") {
        check_inline(data, &format!("{path}.inlineData"), pictures, report);
    }
    if part["fileData"]["fileUri"] == "" {
        report.add("file-source", &format!("{path}.fileData"), "must have a fileUri");
    }
    if let Some(call) = part.get("functionCall") {
        check_name(&call["name"], &format!("{path}.functionCall.name"), report);
        if role != "model" {
            report.add("part-role", path, "only the model calls");
        }
    }
    if let Some(response) = part.get("functionResponse") {
        check_name(&response["name"], &format!("{path}.functionResponse.name"), report);
        let inner = format!("{path}.functionResponse.response");
        if !response["response"].is_object() {
            report.add("response-object", &inner, "must be an object");
        }
        if has_reference(&response["response"]) {
            report.add("response-ref", &inner, "a key $ref is read as a link to a part");
        }
        if role == "model" {
            report.add("part-role", path, "the model answers no call");
        }
        for (path, part) in each(&response["parts"], &format!("{path}.functionResponse.parts")) {
            check_part(role, part, &path, pictures, report);
        }
    }
}

fn has_reference(value: &Json) -> bool {
    match value {
        Json::Object(fields) => fields.contains_key("$ref") || fields.values().any(has_reference),
        Json::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

fn check_inline(data: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let media_type = data["mimeType"].as_str().unwrap_or_default();
    let data_path = format!("{path}.data");
    if media_type.starts_with("image/") {
        if !IMAGE_TYPES.contains(&media_type) {
            report.add("image-type", path, format!("{media_type} is not taken"));
        }
        pictures.add(&data["data"], media_type, &data_path, FREE, report);
        return;
    }
    let is_known = media_type == PDF || ["audio/", "video/", "text/"].iter().any(|kind| media_type.starts_with(kind));
    if !is_known {
        report.add("mime-type", path, format!("{media_type:?} is not taken"));
    }
    check_data(&data["data"], media_type, &data_path, report);
}

fn turns(body: &Json) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (path, content) in each(&body["contents"], "$.contents") {
        let role = content["role"].as_str().unwrap_or("user");
        let parts = each(&content["parts"], &format!("{path}.parts"));
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.parts.extend(parts),
            _ => turns.push(Turn { role, path, parts }),
        }
    }
    turns
}

fn check_order(turns: &[Turn<'_>], report: &mut Report) {
    if let Some(first) = turns.first().filter(|turn| turn.role == "model") {
        report.add("first-message-user", &first.path, "the first content must be the user's");
    }
    if let Some(last) = turns.last().filter(|turn| turn.role == "model") {
        report.add("last-message-user", &last.path, "the last content must be the user's");
    }
}

fn check_pairs(turns: &[Turn<'_>], report: &mut Report) {
    let mut ids = HashSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let calls: Vec<(&str, &Json)> = turn.with("functionCall").collect();
        for (path, call) in &calls {
            if call["id"].as_str().is_some_and(|id| !ids.insert(id)) {
                report.add("tool-id-unique", path, format!("{} is used by an earlier call", call["id"]));
            }
        }
        let after = turns.get(at + 1).map(|turn| turn.with("functionResponse").collect()).unwrap_or_default();
        if !calls.is_empty() {
            check_answers(turn, &calls, after, report);
        }
        let before = at.checked_sub(1).and_then(|at| turns.get(at));
        if let Some((path, _)) = turn.with("functionResponse").next()
            && before.is_none_or(|turn| turn.with("functionCall").next().is_none())
        {
            report.add("tool-result-orphan", path, "responses must stand right behind their calls");
        }
    }
}

fn check_answers(turn: &Turn<'_>, calls: &[(&str, &Json)], answers: Vec<(&str, &Json)>, report: &mut Report) {
    if answers.is_empty() {
        return report.add("tool-result-missing", &turn.path, "calls must be followed by their responses");
    }
    if answers.len() != calls.len() {
        let why = format!("{} responses for {} calls", answers.len(), calls.len());
        return report.add("tool-result-count", answers[0].0, why);
    }
    let sorted = |side: &[(&str, &Json)], key: &str| {
        let mut all: Vec<String> = side.iter().map(|(_, data)| data[key].to_string()).collect();
        all.sort();
        all
    };
    let rules = [("tool-result-name", "name"), ("tool-result-id", "id")];
    let mut is_paired = true;
    for (rule, key) in rules {
        if sorted(calls, key) != sorted(&answers, key) {
            is_paired = false;
            report.add(rule, answers[0].0, format!("each call's {key} must stand in its response"));
        }
    }
    let in_order = calls
        .iter()
        .zip(&answers)
        .all(|((_, call), (_, answer))| call["name"] == answer["name"] && call["id"] == answer["id"]);
    if is_paired && !in_order {
        report.add("tool-result-order", answers[0].0, "responses must stand in the order of their calls");
    }
}

/// From version 3 on the server looks at the current turn: what follows the last thing that the user said.
fn check_signatures(body: &Json, turns: &[Turn<'_>], report: &mut Report) {
    let model = body["model"].as_str().unwrap_or_default();
    let version = model.split_once("gemini-").and_then(|(_, rest)| rest.split(['.', '-']).next()?.parse::<u32>().ok());
    if version.is_none_or(|version| version < 3) {
        return;
    }
    let said = |turn: &Turn<'_>| {
        turn.role == "user" && turn.parts.iter().any(|(_, part)| part.get("functionResponse").is_none())
    };
    let start = turns.iter().rposition(said).unwrap_or_default();
    for turn in turns[start..].iter().filter(|turn| turn.role == "model") {
        let first = turn.parts.iter().find(|(_, part)| part.get("functionCall").is_some());
        if let Some((path, _)) = first.filter(|(_, part)| part.get("thoughtSignature").is_none()) {
            report.add("thought-signature", path, "the first call of each step must be signed");
        }
    }
}
