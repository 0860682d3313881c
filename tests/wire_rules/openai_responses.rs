//! OpenAI Responses.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use super::common::{check_arguments, check_blank, check_name, check_unique_names, each, is_empty};
use super::media::{FREE, Limits, Pictures, check_file_data, check_image_address};
use super::shape::*;
use super::{Report, schema};

pub(super) const RULES: [&str; 34] = [
    "types",
    "control-character",
    "text-empty",
    "content-empty",
    "input-empty",
    "state-twice",
    "part-role",
    "item-id",
    "item-id-unique",
    "item-reference-store",
    "reasoning-follow",
    "reasoning-encrypted",
    "reasoning-missing",
    "tool-name",
    "tool-name-unique",
    "tool-id",
    "tool-id-unique",
    "tool-result-missing",
    "tool-result-orphan",
    "tool-result-twice",
    "arguments-json",
    "image-type",
    "images-too-many",
    "file-type",
    "file-source",
    "url",
    "base64",
    "media-bytes",
    "schema-required-null",
    "schema-required",
    "schema-properties-null",
    "schema-root-object",
    "schema-properties-missing",
    "schema-strict",
];

const ID_LEN_MAX: usize = 64;
const NAME_LEN_MAX: usize = 64;
const LIMITS: Limits = Limits { images: 500, ..FREE };

/// What the model itself emits besides, and what is passed back as it came.
const OTHER_ITEMS: [&str; 17] = [
    "compaction",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "local_shell_call",
    "computer_call",
    "computer_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "tool_search_call",
];

/// Calls that need an output of the same kind.
const ANSWERED: [&str; 5] = ["function_call", "custom_tool_call", "computer_call", "shell_call", "apply_patch_call"];

const INPUT_PARTS: [(&str, &[Field]); 3] = [
    ("input_text", &[("text", MUST, text)]),
    ("input_image", &[("detail", MAY, text), ("image_url", MAY, text), ("file_id", MAY, text)]),
    (
        "input_file",
        &[
            ("file_id", MAY, text),
            ("file_url", MAY, text),
            ("file_data", MAY, text),
            ("filename", MAY, text),
            ("detail", MAY, text),
        ],
    ),
];

fn input_part(report: &mut Report, value: &Json, path: &str) {
    tagged(report, value, path, "type", &INPUT_PARTS);
}

fn output_part(report: &mut Report, value: &Json, path: &str) {
    let kinds: [(&str, &[Field]); 2] = [
        ("output_text", &[("text", MUST, text), ("annotations", MUST, any_list), ("logprobs", MAY, any_list)]),
        ("refusal", &[("refusal", MUST, text)]),
    ];
    tagged(report, value, path, "type", &kinds);
}

/// A part whose kind is of another role: that has a rule of its own.
fn any_part(report: &mut Report, value: &Json, path: &str) {
    match value["type"].as_str() {
        Some("output_text" | "refusal") => output_part(report, value, path),
        _ => input_part(report, value, path),
    }
}

fn message(report: &mut Report, value: &Json, path: &str) {
    let role: Shape = |r, v, p| one_of(r, v, p, &["user", "assistant", "system", "developer"]);
    let content: Shape = |r, v, p| text_or_list(r, v, p, any_part);
    // What the model said comes back whole; what is told of it is a text alone.
    let is_output = each(&value["content"], path).iter().any(|(_, part)| part["type"] == "output_text");
    let fields = [
        ("type", is_output, text as Shape),
        ("role", MUST, role),
        ("content", MUST, content),
        ("id", is_output, text),
        ("status", is_output, text),
        ("phase", MAY, text),
    ];
    object(report, value, path, &fields);
}

fn summary_part(report: &mut Report, value: &Json, path: &str) {
    tagged(report, value, path, "type", &[("summary_text", &[("text", MUST, text)])]);
}

fn reasoning_part(report: &mut Report, value: &Json, path: &str) {
    tagged(report, value, path, "type", &[("reasoning_text", &[("text", MUST, text)])]);
}

fn item(report: &mut Report, value: &Json, path: &str) {
    let kind = kind_of(value);
    if kind == "message" {
        return message(report, value, path);
    }
    if OTHER_ITEMS.contains(&kind) {
        return any_object(report, value, path);
    }
    const ID: Field = ("id", MAY, text);
    const CALL_ID: Field = ("call_id", MUST, text);
    const STATUS: Field = ("status", MAY, text);
    const CALLER: Field = ("caller", MAY, any_object);
    let output: Field = ("output", MUST, |r, v, p| text_or_list(r, v, p, input_part));
    let summary: Field = ("summary", MUST, |r, v, p| list(r, v, p, summary_part));
    let content: Field = ("content", MAY, |r, v, p| list(r, v, p, reasoning_part));
    let (name, namespace): (Field, Field) = (("name", MUST, text), ("namespace", MAY, text));
    let kinds: [(&str, &[Field]); 6] = [
        (
            "function_call",
            &[ID, CALL_ID, name, namespace, ("arguments", MUST, text), STATUS, CALLER, ("async", MAY, flag)],
        ),
        ("function_call_output", &[ID, CALL_ID, output, STATUS, CALLER]),
        ("custom_tool_call", &[ID, CALL_ID, name, namespace, ("input", MUST, text), CALLER]),
        ("custom_tool_call_output", &[ID, CALL_ID, output, CALLER]),
        ("reasoning", &[("id", MUST, text), summary, content, ("encrypted_content", MAY, text), STATUS]),
        ("item_reference", &[("id", MUST, text)]),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn tool(report: &mut Report, value: &Json, path: &str) {
    if value["type"] != "function" {
        return any_object(report, value, path);
    }
    let fields = [
        ("type", MUST, text as Shape),
        ("name", MUST, text),
        ("description", MAY, text),
        ("parameters", MUST, any_object),
        ("strict", MUST, flag),
    ];
    object(report, value, path, &fields);
}

/// Keys of a request that say nothing of the history.
const SETTINGS: [&str; 20] = [
    "conversation",
    "prompt",
    "tool_choice",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "reasoning",
    "text",
    "truncation",
    "user",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "stream",
    "stream_options",
    "background",
    "top_logprobs",
];

pub(super) fn check(body: &Json, report: &mut Report) {
    let mut fields: Vec<Field> = vec![
        ("model", MAY, text),
        ("input", MAY, |r, v, p| text_or_list(r, v, p, item)),
        ("instructions", MAY, text),
        ("store", MAY, flag),
        ("include", MAY, |r, v, p| list(r, v, p, text)),
        ("tools", MAY, |r, v, p| list(r, v, p, tool)),
        ("previous_response_id", MAY, text),
    ];
    fields.extend(SETTINGS.map(|key| (key, MAY, any as Shape)));
    object(report, body, "$", &fields);
    check_blank(body, "instructions", "$", report);
    let has = |key: &str| body.get(key).is_some_and(|value| !value.is_null());
    let is_continued = has("previous_response_id") || has("conversation");
    if (!has("input") || is_empty(&body["input"])) && !is_continued && !has("prompt") {
        report.add("input-empty", "$.input", "must hold something");
    }
    if has("previous_response_id") && has("conversation") {
        report.add("state-twice", "$", "previous_response_id and conversation exclude each other");
    }
    check_tools(body, report);
    let mut pictures = Pictures::default();
    for (path, item) in each(&body["input"], "$.input") {
        check_item(item, &path, &mut pictures, report);
    }
    pictures.finish(LIMITS, report);
    check_pairs(body, is_continued, report);
    check_reasoning(body, is_continued, report);
}

fn kind_of(item: &Json) -> &str {
    match item["type"].as_str() {
        Some(kind) => kind,
        None if item.get("role").is_some() => "message",
        None => "",
    }
}

fn check_tools(body: &Json, report: &mut Report) {
    let tools = each(&body["tools"], "$.tools");
    for (path, tool) in tools.iter().filter(|(_, tool)| tool["type"] == "function") {
        check_name("tool-name", &tool["name"], &format!("{path}.name"), (NAME_LEN_MAX, b"_-"), report);
        schema::check_openai(&tool["parameters"], &tool["strict"], &format!("{path}.parameters"), report);
    }
    let named = tools.iter().filter(|(_, tool)| tool["type"] == "function");
    check_unique_names(named.map(|(path, tool)| (format!("{path}.name"), &tool["name"])), report);
}

fn check_item(item: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let kind = kind_of(item);
    let prefix = match kind {
        "function_call" => "fc",
        "message" => "msg",
        "reasoning" => "rs",
        _ => "",
    };
    let is_legal = |id: &str| id.starts_with(prefix) && (1..=ID_LEN_MAX).contains(&id.chars().count());
    if item["id"].as_str().is_some_and(|id| !is_legal(id)) {
        report.add("item-id", &format!("{path}.id"), format!("must begin with {prefix:?} and be no longer than 64"));
    }
    if item["call_id"].as_str().is_some_and(|id| !(1..=ID_LEN_MAX).contains(&id.chars().count())) {
        report.add("tool-id", &format!("{path}.call_id"), format!("must have 1 to {ID_LEN_MAX} characters"));
    }
    match kind {
        "message" => {
            if item["content"].as_array().is_some_and(Vec::is_empty) {
                report.add("content-empty", &format!("{path}.content"), "must not be empty");
            }
            check_blank(item, "content", path, report);
            for (path, part) in each(&item["content"], &format!("{path}.content")) {
                let is_output = matches!(part["type"].as_str(), Some("output_text" | "refusal"));
                if is_output != (item["role"] == "assistant") {
                    report.add("part-role", &path, "such a part is not taken from this role");
                }
                check_part(part, &path, pictures, report);
            }
        }
        "function_call" => {
            check_name("tool-name", &item["name"], &format!("{path}.name"), (NAME_LEN_MAX, b"_-"), report);
            check_arguments(&item["arguments"], &format!("{path}.arguments"), report);
        }
        "function_call_output" | "custom_tool_call_output" => {
            check_blank(item, "output", path, report);
            if item["output"].as_array().is_some_and(Vec::is_empty) {
                report.add("content-empty", &format!("{path}.output"), "must not be empty");
            }
            for (path, part) in each(&item["output"], &format!("{path}.output")) {
                check_part(part, &path, pictures, report);
            }
        }
        _ => {}
    }
}

fn check_part(part: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let given = |keys: &[&str]| keys.iter().filter(|key| part[**key].as_str().is_some_and(|t| !t.is_empty())).count();
    match part["type"].as_str() {
        Some("input_text" | "output_text") => check_blank(part, "text", path, report),
        Some("input_image") => {
            if given(&["image_url", "file_id"]) == 0 {
                report.add("file-source", path, "must have image_url or file_id");
            }
            check_image_address(&part["image_url"], &format!("{path}.image_url"), pictures, report);
        }
        Some("input_file") => {
            if given(&["file_id", "file_url", "file_data"]) != 1
                || given(&["file_data"]) == 1 && given(&["filename"]) == 0
            {
                report.add("file-source", path, "must have one of file_id, file_url, file_data with a filename");
            }
            check_file_data(&part["file_data"], &format!("{path}.file_data"), report);
        }
        _ => {}
    }
}

fn check_pairs(body: &Json, is_continued: bool, report: &mut Report) {
    let mut calls: HashMap<String, String> = HashMap::new();
    let mut answered = HashSet::new();
    let mut ids = HashSet::new();
    for (path, item) in each(&body["input"], "$.input") {
        let kind = kind_of(item);
        if let Some(id) = item["id"].as_str().filter(|_| kind != "item_reference")
            && !ids.insert(id)
        {
            report.add("item-id-unique", &format!("{path}.id"), format!("{id} stands twice"));
        }
        if let Some(of) = kind.strip_suffix("_output") {
            let key = format!("{of} {}", item["call_id"]);
            if !calls.contains_key(&key) && !is_continued {
                report.add("tool-result-orphan", &path, format!("no call of {} stands before it", item["call_id"]));
            } else if !answered.insert(key) {
                report.add("tool-result-twice", &path, format!("a second output of {}", item["call_id"]));
            }
        } else if ANSWERED.contains(&kind) {
            let key = format!("{kind} {}", item["call_id"]);
            if calls.insert(key, path.clone()).is_some() {
                report.add("tool-id-unique", &path, format!("{} is used by an earlier call", item["call_id"]));
            }
        }
    }
    for (key, path) in calls.iter().filter(|(key, _)| !answered.contains(*key)) {
        report.add("tool-result-missing", path, format!("{key} has no output"));
    }
}

fn check_reasoning(body: &Json, is_continued: bool, report: &mut Report) {
    let items = each(&body["input"], "$.input");
    let is_stored = body["store"] != false;
    let mut has_reasoned = false;
    for (at, (path, item)) in items.iter().enumerate() {
        match kind_of(item) {
            "message" if item["role"] != "assistant" => has_reasoned = false,
            "reasoning" => {
                has_reasoned = true;
                if !items.get(at + 1).is_some_and(|(_, next)| is_of_model(next)) {
                    report.add("reasoning-follow", path, "must be followed by the item that it led to");
                }
                let encrypted = item["encrypted_content"].as_str().unwrap_or_default();
                if !is_stored && encrypted.is_empty() {
                    report.add("reasoning-encrypted", path, "must be encrypted where nothing is stored");
                }
            }
            "item_reference" => {
                has_reasoned = true;
                if !is_stored {
                    report.add("item-reference-store", path, "refers to nothing where nothing is stored");
                }
            }
            // Other items are sent whole, ids and all, if no reasoning came with them.
            "function_call" | "message" if item["id"].is_string() && !has_reasoned && !is_continued => {
                report.add("reasoning-missing", &format!("{path}.id"), "an id must come with its turn's reasoning");
            }
            _ => {}
        }
    }
}

fn is_of_model(item: &Json) -> bool {
    match kind_of(item) {
        "message" => item["role"] == "assistant",
        "mcp_approval_response" | "compaction" => false,
        kind => !kind.ends_with("_output"),
    }
}
