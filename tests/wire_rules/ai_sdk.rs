//! `ModelMessage[]` of the Vercel AI SDK: what versions 6 and 7 both take, and all providers behind them.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::common::{check_any_message, check_blank, check_name, check_unique_names, each, is_empty};
use super::media::{IMAGE_TYPES, Limits, PDF, Pictures, check_address, check_data};
use super::shape::*;
use super::{Report, schema};

pub(super) const RULES: [&str; 30] = [
    "types",
    "control-character",
    "text-empty",
    "content-empty",
    "messages-empty",
    "first-message-user",
    "system-placement",
    "final-block-thinking",
    "tool-name",
    "tool-name-unique",
    "tool-id",
    "tool-id-unique",
    "tool-input",
    "tool-result-missing",
    "tool-result-orphan",
    "tool-result-twice",
    "tool-result-name",
    "approval-orphan",
    "media-type",
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

const ID_LEN_MAX: usize = 40;
const NAME_LEN_MAX: usize = 64;
/// Those of the provider that takes the least.
const LIMITS: Limits = Limits { image_len: 3_750_000, side: 8000, side_of_many: 2000, few_images: 20, images: 100 };

const OPTIONS: Field = ("providerOptions", MAY, |report, value, path| {
    any_object(report, value, path);
    for (provider, options) in value.as_object().into_iter().flatten() {
        any_object(report, options, &format!("{path}.{provider}"));
    }
});
const TEXT: (&str, &[Field]) = ("text", &[("text", MUST, text), OPTIONS]);
const FILE: (&str, &[Field]) =
    ("file", &[("data", MUST, text), ("mediaType", MUST, text), ("filename", MAY, text), OPTIONS]);
const RESULT: (&str, &[Field]) =
    ("tool-result", &[("toolCallId", MUST, text), ("toolName", MUST, text), ("output", MUST, output), OPTIONS]);

fn output(report: &mut Report, value: &Json, path: &str) {
    let items: Shape = |r, v, p| list(r, v, p, output_item);
    let kinds: [(&str, &[Field]); 6] = [
        ("text", &[("value", MUST, text), OPTIONS]),
        ("json", &[("value", MUST, any), OPTIONS]),
        ("error-text", &[("value", MUST, text), OPTIONS]),
        ("error-json", &[("value", MUST, any), OPTIONS]),
        ("execution-denied", &[("reason", MAY, text), OPTIONS]),
        ("content", &[("value", MUST, items)]),
    ];
    tagged(report, value, path, "type", &kinds);
}

/// The kinds that both versions know.
fn output_item(report: &mut Report, value: &Json, path: &str) {
    let kinds: [(&str, &[Field]); 3] = [
        TEXT,
        ("image-data", &[("data", MUST, text), ("mediaType", MUST, text), OPTIONS]),
        ("file-data", &[("data", MUST, text), ("mediaType", MUST, text), ("filename", MAY, text), OPTIONS]),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn user_part(report: &mut Report, value: &Json, path: &str) {
    let image: [Field; 3] = [("image", MUST, text), ("mediaType", MAY, text), OPTIONS];
    tagged(report, value, path, "type", &[TEXT, FILE, ("image", &image)]);
}

fn assistant_part(report: &mut Report, value: &Json, path: &str) {
    let call: [Field; 5] = [
        ("toolCallId", MUST, text),
        ("toolName", MUST, text),
        // That it is an object is a rule of its own.
        ("input", MAY, any),
        ("providerExecuted", MAY, flag),
        OPTIONS,
    ];
    let request: [Field; 3] = [("approvalId", MUST, text), ("toolCallId", MUST, text), OPTIONS];
    let kinds: [(&str, &[Field]); 6] = [
        TEXT,
        FILE,
        ("reasoning", &[("text", MUST, text), OPTIONS]),
        ("tool-call", &call),
        RESULT,
        ("tool-approval-request", &request),
    ];
    tagged(report, value, path, "type", &kinds);
}

fn tool_part(report: &mut Report, value: &Json, path: &str) {
    let response: [Field; 4] =
        [("approvalId", MUST, text), ("approved", MUST, flag), ("reason", MAY, text), ("providerExecuted", MAY, flag)];
    tagged(report, value, path, "type", &[RESULT, ("tool-approval-response", &response)]);
}

fn message(report: &mut Report, value: &Json, path: &str) {
    let of_user: Shape = |r, v, p| text_or_list(r, v, p, user_part);
    let of_model: Shape = |r, v, p| text_or_list(r, v, p, assistant_part);
    let of_tool: Shape = |r, v, p| list(r, v, p, tool_part);
    let kinds: [(&str, &[Field]); 4] = [
        ("system", &[("content", MUST, text), OPTIONS]),
        ("user", &[("content", MUST, of_user), OPTIONS]),
        ("assistant", &[("content", MUST, of_model), OPTIONS]),
        ("tool", &[("content", MUST, of_tool), OPTIONS]),
    ];
    tagged(report, value, path, "role", &kinds);
}

fn tool(report: &mut Report, value: &Json, path: &str) {
    object(report, value, path, &[("name", MUST, text), ("description", MAY, text), ("inputSchema", MAY, any_object)]);
}

/// A bare list of messages is taken as well.
pub(super) fn check(body: &Json, report: &mut Report) {
    let body = if body.is_array() { serde_json::json!({ "messages": body }) } else { body.clone() };
    let fields = [
        ("system", MAY, text as Shape),
        ("messages", MUST, |r, v, p| list(r, v, p, message)),
        ("tools", MAY, |r, v, p| list(r, v, p, tool)),
    ];
    object(report, &body, "$", &fields);
    check_any_message(&body, "messages", report);
    check_blank(&body, "system", "$", report);
    check_tools(&body, report);
    check_order(&body, report);
    let mut pictures = Pictures::default();
    for (path, message) in each(&body["messages"], "$.messages") {
        check_message(message, &path, &mut pictures, report);
    }
    pictures.finish(LIMITS, report);
    Pairs::default().check(&body, report);
}

fn check_tools(body: &Json, report: &mut Report) {
    let tools = each(&body["tools"], "$.tools");
    for (path, tool) in &tools {
        check_name("tool-name", &tool["name"], &format!("{path}.name"), (NAME_LEN_MAX, b"_-"), report);
        let path = format!("{path}.inputSchema");
        schema::check_root(&tool["inputSchema"], &path, report);
        schema::check_no_choice(&tool["inputSchema"], &path, report);
    }
    check_unique_names(tools.iter().map(|(path, tool)| (format!("{path}.name"), &tool["name"])), report);
}

fn check_order(body: &Json, report: &mut Report) {
    let messages = each(&body["messages"], "$.messages");
    let mut others = messages.iter().skip_while(|(_, message)| message["role"] == "system");
    if let Some((path, _)) = others.clone().next().filter(|(_, message)| message["role"] != "user") {
        report.add("first-message-user", path, "the first message must be the user's");
    }
    if let Some((path, _)) = others.find(|(_, message)| message["role"] == "system") {
        report.add("system-placement", path, "system messages may stand at the beginning only");
    }
}

fn check_message(message: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let path = format!("{path}.content");
    let content = &message["content"];
    if is_empty(content) {
        return report.add("content-empty", &path, "must not be empty");
    }
    if content.as_str().is_some_and(super::common::is_blank) {
        report.add("text-empty", &path, "must have something to read in it");
    }
    let parts = each(content, &path);
    if message["role"] == "assistant" && parts.last().is_some_and(|(_, part)| part["type"] == "reasoning") {
        report.add("final-block-thinking", &path, "a message must not end in reasoning");
    }
    for (path, part) in &parts {
        match part["type"].as_str() {
            Some("text") => check_blank(part, "text", path, report),
            Some("file") => check_file(part, "data", path, pictures, report),
            Some("image") => check_file(part, "image", path, pictures, report),
            Some("tool-call") => check_call(part, path, report),
            Some("tool-result") => check_output(&part["output"], &format!("{path}.output"), pictures, report),
            _ => {}
        }
    }
}

fn check_call(part: &Json, path: &str, report: &mut Report) {
    check_name("tool-name", &part["toolName"], &format!("{path}.toolName"), (NAME_LEN_MAX, b"_-"), report);
    check_name("tool-id", &part["toolCallId"], &format!("{path}.toolCallId"), (ID_LEN_MAX, b"_-"), report);
    if !part["input"].is_object() {
        report.add("tool-input", &format!("{path}.input"), "must be an object");
    }
}

fn check_output(output: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    match output["type"].as_str() {
        Some("text" | "error-text") => check_blank(output, "value", path, report),
        Some("execution-denied") => check_blank(output, "reason", path, report),
        Some("content") => {
            if is_empty(&output["value"]) {
                report.add("content-empty", &format!("{path}.value"), "must not be empty");
            }
            for (path, item) in each(&output["value"], &format!("{path}.value")) {
                check_blank(item, "text", &path, report);
                if item["type"] != "text" {
                    check_file(item, "data", &path, pictures, report);
                }
            }
        }
        _ => {}
    }
}

fn check_file(part: &Json, key: &str, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let media_type = part["mediaType"].as_str().unwrap_or("image/png");
    let is_image = media_type.starts_with("image/");
    if !IMAGE_TYPES.contains(&media_type) && (media_type != PDF || key == "image" || part["type"] == "image-data") {
        report.add("media-type", path, format!("{media_type} is not taken by every provider"));
    }
    let path = format!("{path}.{key}");
    let text = part[key].as_str().unwrap_or_default();
    let data = match text.split_once(':') {
        None => part[key].clone(),
        Some(_) => match check_address(text, &path, report) {
            Some((_, data)) => Json::from(data),
            None if is_image => return pictures.count_one(),
            None => return,
        },
    };
    if is_image {
        pictures.add(&data, media_type, &path, LIMITS, report);
    } else {
        check_data(&data, media_type, &path, report);
    }
}

/// Calls, results and approvals, as they come.
#[derive(Default)]
struct Pairs {
    /// The tool of each call, by its id.
    names: HashMap<String, Json>,
    /// Calls of the latest message of the model's without a result, with their paths.
    open: Vec<(String, String)>,
    /// All calls of the latest message of the model's.
    latest: Vec<String>,
    approvals: Vec<Json>,
}

impl Pairs {
    fn check(&mut self, body: &Json, report: &mut Report) {
        for (path, message) in each(&body["messages"], "$.messages") {
            let role = message["role"].as_str().unwrap_or_default();
            if role != "tool" {
                self.close(report);
                self.latest.clear();
            }
            for (path, part) in each(&message["content"], &format!("{path}.content")) {
                self.part(role, part, &path, report);
            }
        }
        self.close(report);
    }

    fn close(&mut self, report: &mut Report) {
        for (id, path) in self.open.drain(..) {
            report.add("tool-result-missing", &path, format!("{id} has no result right after it"));
        }
    }

    fn part(&mut self, role: &str, part: &Json, path: &str, report: &mut Report) {
        let id = part["toolCallId"].to_string();
        match part["type"].as_str() {
            Some("tool-call") if role == "assistant" => {
                if self.names.insert(id.clone(), part["toolName"].clone()).is_some() {
                    report.add("tool-id-unique", path, format!("{id} is used by an earlier call"));
                }
                if part["providerExecuted"] != true {
                    self.open.push((id.clone(), path.to_owned()));
                    self.latest.push(id);
                }
            }
            Some("tool-result") if role == "tool" => self.result(&id, part, path, report),
            Some("tool-approval-request") => {
                if !self.names.contains_key(&id) {
                    report.add("approval-orphan", path, format!("no call {id} stands before it"));
                }
                self.approvals.push(part["approvalId"].clone());
            }
            Some("tool-approval-response") if !self.approvals.contains(&part["approvalId"]) => {
                report.add("approval-orphan", path, "nobody asked");
            }
            _ => {}
        }
    }

    fn result(&mut self, id: &str, part: &Json, path: &str, report: &mut Report) {
        if !self.latest.iter().any(|call| call == id) {
            report.add("tool-result-orphan", path, format!("{id} is no call of the message before"));
        } else if let Some(at) = self.open.iter().position(|(open, _)| open == id) {
            self.open.remove(at);
        } else {
            report.add("tool-result-twice", path, format!("a second result of {id}"));
        }
        if self.names.get(id).is_some_and(|name| *name != part["toolName"]) {
            report.add("tool-result-name", &format!("{path}.toolName"), "must be the name in its call");
        }
    }
}
