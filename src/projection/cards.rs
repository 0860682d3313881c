//! The messages inside a multi-agent card, as lines of text.
//!
//! A card holds its messages as JSON, as they were recorded. Here each becomes a line that says who speaks; nothing
//! is guessed. A pipeline that gives each agent its own point of view does so before this floor's text is needed.

use super::document::to_json;
use crate::event::Value;

/// Deeper cards inside cards are written as JSON.
const DEPTH_MAX: usize = 16;

/// The title, then each message on lines of its own. Empty if there are none.
pub(crate) fn lines(title: &str, messages: &[Value]) -> String {
    let mut lines = Vec::new();
    collect(messages, 0, &mut lines);
    if lines.is_empty() { String::new() } else { format!("{title}\n\n{}", lines.join("\n\n")) }
}

fn collect(messages: &[Value], depth: usize, lines: &mut Vec<String>) {
    for message in messages {
        if depth >= DEPTH_MAX || message.as_map().is_none() {
            lines.push(to_json(message));
            continue;
        }
        let who = speaker(message);
        match message.get("content") {
            Some(Value::Text(text)) => lines.push(format!("{who}: {text}")),
            Some(Value::List(parts)) => lines.extend(parts.iter().map(|part| part_line(who, part))),
            _ => {}
        }
        let mut task: Vec<_> =
            ["title", "instruction"].iter().filter_map(|name| message.get(name)?.as_text()).collect();
        task.dedup();
        if !task.is_empty() {
            let status = message.get("status").and_then(Value::as_text).unwrap_or("status not known");
            lines.push(format!("{who}: {} ({status})", task.join(": ")));
        }
        for inner in ["children", "members", "tasks"] {
            collect(message.get(inner).and_then(Value::as_list).unwrap_or_default(), depth + 1, lines);
        }
    }
}

fn speaker(message: &Value) -> &str {
    let agent = message.get("metadata").and_then(|metadata| first_of(metadata, &["agentName", "agent_name"]));
    agent.or_else(|| message.get("role")).and_then(Value::as_text).unwrap_or("someone")
}

fn part_line(who: &str, part: &Value) -> String {
    let text_of = |name| part.get(name).and_then(Value::as_text);
    match text_of("type") {
        Some("text") => format!("{who}: {}", text_of("text").unwrap_or_default()),
        Some("tool_call") => {
            let input = first_of(part, &["input", "inputText", "input_text"]).map(to_json).unwrap_or_default();
            format!("{who} calls {} {input}", text_of("name").unwrap_or("a tool"))
        }
        Some("tool_result") => {
            let tool = text_of("name").unwrap_or("the tool");
            match part.get("output") {
                Some(Value::Text(text)) => format!("{tool} answers: {text}"),
                Some(Value::List(parts)) => {
                    let texts: Vec<_> = parts.iter().map(output_text).collect();
                    format!("{tool} answers: {}", texts.join("\n"))
                }
                other => format!("{tool} answers: {}", other.map(to_json).unwrap_or_default()),
            }
        }
        Some(name @ ("image" | "file" | "reasoning")) => format!("{who}: [{name} not shown]"),
        _ => format!("{who}: {}", to_json(part)),
    }
}

fn output_text(part: &Value) -> String {
    match (part.get("text"), part.get("value"), part.get("type")) {
        (Some(Value::Text(text)), _, _) => text.clone(),
        (_, Some(value), _) => to_json(value),
        (_, _, Some(Value::Text(name))) => format!("[{name} not shown]"),
        _ => to_json(part),
    }
}

fn first_of<'a>(value: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| value.get(name))
}
