//! Anthropic Messages.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::anthropic_shape::{self, SERVER_ANSWERS};
use super::common::{
    check_any_message, check_blank, check_name, check_unique_names, each, is_blank, is_empty, is_name,
};
use super::media::{Limits, PDF, Pictures, check_address, check_data};
use super::{Report, schema};

pub(super) const RULES: [&str; 46] = [
    "types",
    "control-character",
    "text-empty",
    "content-empty",
    "messages-empty",
    "messages-too-many",
    "max-tokens",
    "first-message-user",
    "system-placement",
    "block-role",
    "final-block-thinking",
    "prefill-trailing-space",
    "cache-control-limit",
    "cache-control-thinking",
    "tool-name",
    "tool-name-unique",
    "tool-choice-without-tools",
    "tool-choice-unknown",
    "tool-id",
    "tool-id-unique",
    "tool-result-missing",
    "tool-result-orphan",
    "tool-result-twice",
    "tool-result-first",
    "server-tool-pair",
    "tool-error-empty",
    "tool-error-text",
    "thinking-signature",
    "thinking-budget",
    "thinking-first",
    "thinking-tool-choice",
    "thinking-temperature",
    "thinking-prefill",
    "image-type",
    "file-type",
    "url",
    "image-size",
    "image-side",
    "images-too-many",
    "media-bytes",
    "base64",
    "schema-required-null",
    "schema-required",
    "schema-properties-null",
    "schema-root-object",
    "schema-root-combiner",
];

const LIMITS: Limits = Limits { image_len: 5 << 20, side: 8000, side_of_many: 2000, few_images: 20, images: 100 };
const MESSAGES_MAX: usize = 100_000;
const MARKS_MAX: usize = 4;
const BUDGET_MIN: i64 = 1024;

/// The blocks of a content, a bare text as a block too.
fn blocks(content: &Json, path: &str) -> Vec<(String, Json)> {
    match content {
        Json::String(text) => vec![(path.to_owned(), serde_json::json!({"type": "text", "text": text}))],
        _ => each(content, path).into_iter().map(|(path, block)| (path, block.clone())).collect(),
    }
}

/// Messages of one role in a row are one turn to the server.
struct Turn {
    role: String,
    path: String,
    blocks: Vec<(String, Json)>,
}

impl Turn {
    fn of_type<'t>(&'t self, kind: &'t str) -> impl Iterator<Item = (&'t str, &'t Json)> {
        self.blocks.iter().filter(move |(_, block)| block["type"] == kind).map(|(path, block)| (path.as_str(), block))
    }
}

pub(super) fn check(body: &Json, report: &mut Report) {
    anthropic_shape::check(body, report);
    check_any_message(body, "messages", report);
    check_head(body, report);
    check_tools(body, report);
    let turns = check_messages(body, report);
    check_pairs(&turns, report);
    check_thinking(body, &turns, report);
}

fn check_head(body: &Json, report: &mut Report) {
    if body["max_tokens"].as_i64().is_some_and(|count| count < 0) {
        report.add("max-tokens", "$.max_tokens", "must not be negative");
    }
    if body["messages"].as_array().is_some_and(|messages| messages.len() > MESSAGES_MAX) {
        report.add("messages-too-many", "$.messages", format!("at most {MESSAGES_MAX}"));
    }
    check_blank(body, "system", "$", report);
    for (path, part) in each(&body["system"], "$.system") {
        check_blank(part, "text", &path, report);
    }
    let marks = usize::from(body.get("cache_control").is_some())
        + ["tools", "system", "messages"].iter().map(|key| marks(&body[*key])).sum::<usize>();
    if marks > MARKS_MAX {
        report.add("cache-control-limit", "$", format!("{marks} marks; at most {MARKS_MAX}"));
    }
}

fn marks(value: &Json) -> usize {
    match value {
        Json::Array(items) => items.iter().map(marks).sum(),
        Json::Object(fields) => {
            let inner = fields.iter().filter(|(key, _)| !["input", "input_schema"].contains(&key.as_str()));
            usize::from(fields.contains_key("cache_control")) + inner.map(|(_, value)| marks(value)).sum::<usize>()
        }
        _ => 0,
    }
}

fn check_tools(body: &Json, report: &mut Report) {
    let tools = each(&body["tools"], "$.tools");
    for (path, tool) in &tools {
        check_name("tool-name", &tool["name"], &format!("{path}.name"), (128, b"_-"), report);
        let path = format!("{path}.input_schema");
        schema::check_root(&tool["input_schema"], &path, report);
        schema::check_no_choice(&tool["input_schema"], &path, report);
    }
    check_unique_names(tools.iter().map(|(path, tool)| (format!("{path}.name"), &tool["name"])), report);
    let choice = &body["tool_choice"];
    if ["any", "tool"].iter().any(|kind| choice["type"] == *kind) && tools.is_empty() {
        report.add("tool-choice-without-tools", "$.tool_choice", "needs tools");
    } else if choice["type"] == "tool" && !tools.iter().any(|(_, tool)| tool["name"] == choice["name"]) {
        report.add("tool-choice-unknown", "$.tool_choice.name", "names no declared tool");
    }
}

fn check_messages(body: &Json, report: &mut Report) -> Vec<Turn> {
    let messages = each(&body["messages"], "$.messages");
    let mut turns: Vec<Turn> = Vec::new();
    let mut pictures = Pictures::default();
    for (index, (path, message)) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let is_last = index + 1 == messages.len();
        if index == 0 && role != "user" {
            report.add("first-message-user", path, "the first message must be the user's");
        }
        if role == "system" {
            let role_at = |at: Option<usize>| at.and_then(|at| messages.get(at)).and_then(|(_, m)| m["role"].as_str());
            let follows_user = role_at(index.checked_sub(1)) == Some("user");
            if !follows_user || !matches!(role_at(Some(index + 1)), None | Some("assistant")) {
                report.add("system-placement", path, "must stand between a user's message and the model's or the end");
            }
        }
        let content_path = format!("{path}.content");
        if is_empty(&message["content"]) && !(is_last && role == "assistant") {
            report.add("content-empty", &content_path, "must not be empty");
        }
        let blocks = blocks(&message["content"], &content_path);
        for (path, block) in &blocks {
            if message["content"] != "" {
                check_block(role, block, path, &mut pictures, report);
            }
        }
        if let Some((path, block)) = blocks.last().filter(|_| role == "assistant") {
            check_final(block, path, is_last, report);
        }
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ if role == "system" => {}
            _ => turns.push(Turn { role: role.to_owned(), path: path.clone(), blocks }),
        }
    }
    pictures.finish(LIMITS, report);
    turns
}

fn check_final(block: &Json, path: &str, is_last: bool, report: &mut Report) {
    if matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")) {
        report.add("final-block-thinking", path, "a message must not end in thinking");
    }
    let text = block["text"].as_str().unwrap_or_default();
    if is_last && !is_blank(text) && text != text.trim_end() {
        report.add("prefill-trailing-space", path, "the last text of the model's must not end in white space");
    }
}

fn check_block(role: &str, block: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let kind = block["type"].as_str().unwrap_or_default();
    let of = match kind {
        "tool_result" | "image" | "document" | "search_result" | "container_upload" => Some("user"),
        "tool_use" | "thinking" | "redacted_thinking" | "server_tool_use" => Some("assistant"),
        answer if SERVER_ANSWERS.contains(&answer) => Some("assistant"),
        _ => None,
    };
    if of.is_some_and(|of| of != role) {
        report.add("block-role", path, format!("a {kind} must not stand in a message of {role}"));
    }
    match kind {
        "text" => {
            check_blank(block, "text", path, report);
            if role == "user" && block["citations"].is_array() {
                report.add("block-role", &format!("{path}.citations"), "only the model cites");
            }
        }
        "image" | "document" => check_media(block, path, pictures, report),
        "thinking" | "redacted_thinking" => {
            let key = if kind == "thinking" { "signature" } else { "data" };
            if block[key] == "" {
                report.add("thinking-signature", &format!("{path}.{key}"), "must be as it came");
            }
            if block.get("cache_control").is_some() {
                report.add("cache-control-thinking", path, "thinking takes no mark");
            }
        }
        "tool_use" => {
            check_name("tool-id", &block["id"], &format!("{path}.id"), (usize::MAX, b"_-"), report);
            check_name("tool-name", &block["name"], &format!("{path}.name"), (128, b"_-"), report);
        }
        "tool_result" => check_result(block, path, pictures, report),
        _ => {}
    }
}

fn check_result(block: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    if block["tool_use_id"].as_str().is_some_and(|id| !is_name(id, usize::MAX, b"_-")) {
        report.add("tool-id", &format!("{path}.tool_use_id"), "must be made of letters, digits, _ and -");
    }
    let inner = each(&block["content"], &format!("{path}.content"));
    if block["is_error"] == true {
        let is_blank = block["content"].as_str().is_some_and(is_blank);
        if block.get("content").is_none() || is_empty(&block["content"]) || is_blank {
            report.add("tool-error-empty", path, "an error must say something");
        }
        if inner.iter().any(|(_, part)| part["type"] != "text") {
            report.add("tool-error-text", path, "an error may hold text only");
        }
    }
    for (path, part) in &inner {
        match part["type"].as_str() {
            Some("text") => check_blank(part, "text", path, report),
            _ => check_media(part, path, pictures, report),
        }
    }
}

fn check_media(block: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let source = &block["source"];
    let media_type = source["media_type"].as_str().unwrap_or_default();
    let data_path = format!("{path}.source.data");
    match (block["type"].as_str(), source["type"].as_str()) {
        (Some("image"), Some("base64")) => {
            if !super::media::IMAGE_TYPES.contains(&media_type) {
                report.add("image-type", &format!("{path}.source"), format!("{media_type} is not taken"));
            }
            pictures.add(&source["data"], media_type, &data_path, LIMITS, report);
        }
        (Some("document"), Some("base64")) => {
            if media_type != PDF {
                report.add("file-type", &format!("{path}.source"), format!("{media_type} is not taken"));
            }
            check_data(&source["data"], media_type, &data_path, report);
        }
        (_, Some("url")) => {
            let address = source["url"].as_str().unwrap_or_default();
            if check_address(address, &format!("{path}.source.url"), report).is_some() {
                report.add("url", &format!("{path}.source.url"), "must be an http(s) address");
            }
            if block["type"] == "image" {
                pictures.count_one();
            }
        }
        (Some("image"), _) => pictures.count_one(),
        _ => {}
    }
}

fn check_pairs(turns: &[Turn], report: &mut Report) {
    let mut seen = HashSet::new();
    check_server_pairs(turns, report);
    for (at, turn) in turns.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| turns.get(at)).filter(|turn| turn.role == "assistant");
        let after = turns.get(at + 1).filter(|turn| turn.role == "user");
        for (path, call) in turn.of_type("tool_use").filter(|_| turn.role == "assistant") {
            let id = &call["id"];
            if !seen.insert(id.to_string()) {
                report.add("tool-id-unique", path, format!("{id} is used by an earlier call"));
            }
            let answered = after.is_some_and(|turn| turn.of_type("tool_result").any(|(_, r)| r["tool_use_id"] == *id));
            if !answered {
                report.add("tool-result-missing", path, format!("{id} has no result in the very next message"));
            }
        }
        let mut given = HashSet::new();
        let mut others = false;
        for (path, block) in turn.blocks.iter().filter(|_| turn.role == "user") {
            if block["type"] != "tool_result" {
                others = true;
                continue;
            }
            let id = &block["tool_use_id"];
            if !before.is_some_and(|turn| turn.of_type("tool_use").any(|(_, call)| call["id"] == *id)) {
                report.add("tool-result-orphan", path, format!("{id} is no call of the message before"));
            } else if !given.insert(id.to_string()) {
                report.add("tool-result-twice", path, format!("a second result of {id}"));
            } else if others {
                report.add("tool-result-first", path, "results must stand before all other blocks");
            }
        }
    }
}

/// A tool of the server's is asked and answers in one turn.
fn check_server_pairs(turns: &[Turn], report: &mut Report) {
    let mut seen = HashSet::new();
    for turn in turns {
        let mut open: Vec<(&str, &Json)> = Vec::new();
        for (path, block) in &turn.blocks {
            let kind = block["type"].as_str().unwrap_or_default();
            if kind == "server_tool_use" {
                if !seen.insert(block["id"].to_string()) {
                    report.add("tool-id-unique", path, format!("{} is used by an earlier call", block["id"]));
                }
                open.push((path, &block["id"]));
            } else if SERVER_ANSWERS.contains(&kind) {
                match open.iter().position(|(_, id)| **id == block["tool_use_id"]) {
                    Some(at) => drop(open.remove(at)),
                    None => report.add("server-tool-pair", path, "answers no tool of the server's that is open"),
                }
            }
        }
        for (path, id) in open {
            report.add("server-tool-pair", path, format!("{id} has no answer in its turn"));
        }
    }
}

fn check_thinking(body: &Json, turns: &[Turn], report: &mut Report) {
    let thinking = &body["thinking"];
    let is_enabled = thinking["type"] == "enabled";
    if !is_enabled && thinking["type"] != "adaptive" {
        return;
    }
    if is_enabled {
        let budget = thinking["budget_tokens"].as_i64().unwrap_or_default();
        if budget < BUDGET_MIN || body["max_tokens"].as_i64().is_some_and(|max| budget >= max) {
            report.add("thinking-budget", "$.thinking.budget_tokens", "must be 1024 at least and below max_tokens");
        }
        if let Some(first) = running_loop(turns).and_then(|turn| turn.blocks.first())
            && !matches!(first.1["type"].as_str(), Some("thinking" | "redacted_thinking"))
        {
            report.add("thinking-first", &first.0, "the turn of a running loop must begin with its thinking");
        }
        if ["any", "tool"].iter().any(|kind| body["tool_choice"]["type"] == *kind) {
            report.add("thinking-tool-choice", "$.tool_choice", "thinking does not go with a forced tool");
        }
    }
    if body["temperature"].as_f64().is_some_and(|temperature| temperature != 1.0) {
        report.add("thinking-temperature", "$.temperature", "must be 1 with thinking");
    }
    if let Some(last) = turns.last().filter(|turn| turn.role == "assistant") {
        report.add("thinking-prefill", &last.path, "thinking does not go with a begun answer");
    }
}

/// The turn of the model's that began the loop of tools that still runs.
fn running_loop(turns: &[Turn]) -> Option<&Turn> {
    let has_result = |turn: &Turn| turn.role == "user" && turn.of_type("tool_result").next().is_some();
    let mut first = None;
    for pair in turns.rchunks_exact(2) {
        if !has_result(&pair[1]) {
            break;
        }
        first = Some(&pair[0]);
    }
    first
}
