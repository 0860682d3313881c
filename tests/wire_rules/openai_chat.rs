//! OpenAI Chat Completions.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::common::{check_any_message, check_arguments, check_blank, check_name, check_unique_names, each, is_empty};
use super::media::{FREE, Limits, Pictures, check_file_data, check_image_address};
use super::shape::*;
use super::{Report, schema};

pub(super) const RULES: [&str; 31] = [
    "types",
    "control-character",
    "text-empty",
    "content-empty",
    "messages-empty",
    "participant-name",
    "tools-empty",
    "tools-too-many",
    "tool-choice-without-tools",
    "tool-name",
    "tool-name-unique",
    "tool-id",
    "tool-id-unique",
    "tool-calls-empty",
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

const ID_LEN_MAX: usize = 40;
const NAME_LEN_MAX: usize = 64;
const TOOLS_MAX: usize = 128;
const LIMITS: Limits = Limits { images: 500, ..FREE };

const TEXT: (&str, &[Field]) = ("text", &[("text", MUST, text)]);

fn text_part(report: &mut Report, value: &Json, path: &str) {
    tagged(report, value, path, "type", &[TEXT]);
}

fn assistant_part(report: &mut Report, value: &Json, path: &str) {
    tagged(report, value, path, "type", &[TEXT, ("refusal", &[("refusal", MUST, text)])]);
}

fn user_part(report: &mut Report, value: &Json, path: &str) {
    let image: Shape = |r, v, p| object(r, v, p, &[("url", MUST, text), ("detail", MAY, text)]);
    let audio: Shape = |r, v, p| object(r, v, p, &[("data", MUST, text), ("format", MUST, text)]);
    let file: Shape =
        |r, v, p| object(r, v, p, &[("file_id", MAY, text), ("filename", MAY, text), ("file_data", MAY, text)]);
    let kinds: [(&str, &[Field]); 4] = [
        TEXT,
        ("image_url", &[("image_url", MUST, image)]),
        ("input_audio", &[("input_audio", MUST, audio)]),
        ("file", &[("file", MUST, file)]),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn tool_call(report: &mut Report, value: &Json, path: &str) {
    let function: Shape = |r, v, p| object(r, v, p, &[("name", MUST, text), ("arguments", MUST, text)]);
    let custom: Shape = |r, v, p| object(r, v, p, &[("name", MUST, text), ("input", MUST, text)]);
    let kinds: [(&str, &[Field]); 2] = [
        ("function", &[("id", MUST, text), ("function", MUST, function)]),
        ("custom", &[("id", MUST, text), ("custom", MUST, custom)]),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn message(report: &mut Report, value: &Json, path: &str) {
    let texts: Shape = |r, v, p| text_or_list(r, v, p, text_part);
    let of_user: Shape = |r, v, p| text_or_list(r, v, p, user_part);
    let of_model: Shape = |r, v, p| {
        if !v.is_null() {
            text_or_list(r, v, p, assistant_part);
        }
    };
    let calls: Shape = |r, v, p| list(r, v, p, tool_call);
    let kinds: [(&str, &[Field]); 5] = [
        ("system", &[("content", MUST, texts), ("name", MAY, text)]),
        ("developer", &[("content", MUST, texts), ("name", MAY, text)]),
        ("user", &[("content", MUST, of_user), ("name", MAY, text)]),
        (
            "assistant",
            &[("content", MAY, of_model), ("name", MAY, text), ("refusal", MAY, text), ("tool_calls", MAY, calls)],
        ),
        ("tool", &[("content", MUST, texts), ("tool_call_id", MUST, text)]),
    ];
    tagged(report, value, path, "role", &kinds);
}

fn tool(report: &mut Report, value: &Json, path: &str) {
    let function: Shape = |r, v, p| {
        let fields = [
            ("name", MUST, text as Shape),
            ("description", MAY, text),
            ("parameters", MAY, any_object),
            ("strict", MAY, flag),
        ];
        object(r, v, p, &fields);
    };
    tagged(
        report,
        value,
        path,
        "type",
        &[("function", &[("function", MUST, function)]), ("custom", &[("custom", MUST, any_object)])],
    );
}

/// Keys of a request that say nothing of the history.
const SETTINGS: [&str; 22] = [
    "tool_choice",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "stop",
    "seed",
    "user",
    "metadata",
    "response_format",
    "reasoning_effort",
    "logprobs",
    "top_logprobs",
    "presence_penalty",
    "frequency_penalty",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "verbosity",
    "modalities",
    "stream_options",
];

pub(super) fn check(body: &Json, report: &mut Report) {
    let mut fields: Vec<Field> = vec![
        ("model", MAY, text),
        ("messages", MUST, |r, v, p| list(r, v, p, message)),
        ("tools", MAY, |r, v, p| list(r, v, p, tool)),
        ("parallel_tool_calls", MAY, flag),
        ("store", MAY, flag),
        ("stream", MAY, flag),
    ];
    fields.extend(SETTINGS.map(|key| (key, MAY, any as Shape)));
    object(report, body, "$", &fields);
    check_any_message(body, "messages", report);
    check_tools(body, report);
    let mut pictures = Pictures::default();
    for (path, message) in each(&body["messages"], "$.messages") {
        check_message(message, &path, &mut pictures, report);
    }
    pictures.finish(LIMITS, report);
    check_pairs(body, report);
}

fn check_tools(body: &Json, report: &mut Report) {
    let tools = each(&body["tools"], "$.tools");
    let mut names = Vec::new();
    for (path, tool) in &tools {
        let (path, function) = (format!("{path}.function"), &tool["function"]);
        check_name("tool-name", &function["name"], &format!("{path}.name"), (NAME_LEN_MAX, b"_-"), report);
        schema::check_openai(&function["parameters"], &function["strict"], &format!("{path}.parameters"), report);
        names.push((format!("{path}.name"), &function["name"]));
    }
    check_unique_names(names, report);
    if body["tools"].is_array() && tools.is_empty() {
        report.add("tools-empty", "$.tools", "must not be empty");
    }
    if tools.len() > TOOLS_MAX {
        report.add("tools-too-many", "$.tools", format!("at most {TOOLS_MAX}"));
    }
    let chooses = ["tool_choice", "parallel_tool_calls"].iter().any(|key| body.get(*key).is_some());
    if chooses && body.get("tools").is_none() {
        report.add("tool-choice-without-tools", "$", "a choice of tools needs tools");
    }
}

fn check_message(message: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let may_be_name = |name: &str| {
        (1..=64).contains(&name.chars().count()) && !name.contains(|c: char| c.is_whitespace() || "<|\\/>".contains(c))
    };
    if message["name"].as_str().is_some_and(|name| !may_be_name(name)) {
        report.add("participant-name", &format!("{path}.name"), "has a character that is not taken, or is too long");
    }
    let content_path = format!("{path}.content");
    let content = &message["content"];
    if content.as_array().is_some_and(Vec::is_empty) {
        report.add("content-empty", &content_path, "must not be empty");
    }
    check_blank(message, "content", path, report);
    for (path, part) in each(content, &content_path) {
        match part["type"].as_str() {
            Some("text") => check_blank(part, "text", &path, report),
            Some("image_url") => {
                check_image_address(&part["image_url"]["url"], &format!("{path}.image_url.url"), pictures, report);
            }
            Some("file") => check_file(&part["file"], &format!("{path}.file"), report),
            _ => {}
        }
    }
    if message["role"] == "tool" {
        check_id(&message["tool_call_id"], &format!("{path}.tool_call_id"), report);
    }
    if message["role"] != "assistant" {
        return;
    }
    let calls = &message["tool_calls"];
    if is_empty(calls) {
        report.add("tool-calls-empty", &format!("{path}.tool_calls"), "must not be empty");
    } else if content.is_null() && calls.is_null() && message["refusal"].is_null() {
        report.add("content-empty", &content_path, "must be there unless there are calls");
    }
    for (path, call) in each(calls, &format!("{path}.tool_calls")) {
        check_id(&call["id"], &format!("{path}.id"), report);
        let function = &call["function"];
        check_name("tool-name", &function["name"], &format!("{path}.function.name"), (NAME_LEN_MAX, b"_-"), report);
        check_arguments(&function["arguments"], &format!("{path}.function.arguments"), report);
    }
}

fn check_id(id: &Json, path: &str, report: &mut Report) {
    if id.as_str().is_some_and(|id| !(1..=ID_LEN_MAX).contains(&id.chars().count())) {
        report.add("tool-id", path, format!("must have 1 to {ID_LEN_MAX} characters"));
    }
}

fn check_file(file: &Json, path: &str, report: &mut Report) {
    let has = |key: &str| file[key].as_str().is_some_and(|text| !text.is_empty());
    if !(has("file_id") || has("file_data") && has("filename")) {
        report.add("file-source", path, "must have a file_id, or file_data and a filename");
    }
    check_file_data(&file["file_data"], &format!("{path}.file_data"), report);
}

fn check_pairs(body: &Json, report: &mut Report) {
    let mut open: Vec<(&Json, String)> = Vec::new();
    let mut answered: HashSet<String> = HashSet::new();
    let mut seen: HashSet<String> = HashSet::new();
    let messages = each(&body["messages"], "$.messages");
    let close = |open: &mut Vec<(&Json, String)>, report: &mut Report| {
        for (id, path) in open.drain(..) {
            report.add("tool-result-missing", &path, format!("{id} has no tool message right after it"));
        }
    };
    for (path, message) in &messages {
        if message["role"] == "tool" {
            let id = &message["tool_call_id"];
            match open.iter().position(|(open, _)| *open == id) {
                Some(at) => {
                    open.remove(at);
                    answered.insert(id.to_string());
                }
                None if answered.contains(&id.to_string()) => {
                    report.add("tool-result-twice", path, format!("a second tool message for {id}"));
                }
                None => report.add("tool-result-orphan", path, format!("{id} is no call of the message before")),
            }
            continue;
        }
        close(&mut open, report);
        answered.clear();
        for (path, call) in each(&message["tool_calls"], &format!("{path}.tool_calls")) {
            let id = &call["id"];
            if !seen.insert(id.to_string()) {
                report.add("tool-id-unique", &path, format!("{id} is used by an earlier call"));
            }
            open.push((id, path));
        }
    }
    close(&mut open, report);
}
