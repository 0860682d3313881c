//! The formats' rules, as far as a program that opens the file depends on them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use seslog::interop::Agent;

/// Holds a file against its format's rules.
pub(crate) fn check(agent: Agent, file: &[u8], name: &str) {
    let text = std::str::from_utf8(file).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{name}: each line ends");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().all(Value::is_object), "{name}: each line is an object");
    match agent {
        Agent::ClaudeCode => claude(&records, name),
        Agent::Codex => codex(&records, name),
        _ => pi(&records, name),
    }
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// `2026-08-13T19:00:07.037Z`.
fn is_time(text: &str) -> bool {
    let date = text.split_once('T').map(|(date, _)| date.len());
    date == Some(10) && text.ends_with('Z') && text.len() >= 24
}

fn claude(records: &[Value], name: &str) {
    let mut ids: HashSet<&str> = HashSet::new();
    for record in records {
        let Some(id) = text(record, "uuid") else { continue };
        if record.get("parentUuid").is_none() {
            continue;
        }
        assert!(ids.insert(id), "{name}: {id} stands twice");
        assert!(is_time(text(record, "timestamp").unwrap_or_default()), "{name}: {record}");
        assert!(record["isSidechain"].is_boolean(), "{name}: {record}");
        assert!(text(record, "sessionId").is_some(), "{name}: {record}");
        let kind = text(record, "type").unwrap();
        if ["user", "assistant"].contains(&kind) {
            assert_eq!(text(&record["message"], "role"), Some(kind), "{name}: {record}");
            assert!(
                record["message"]["content"].is_string() || record["message"]["content"].is_array(),
                "{name}: {record}"
            );
        }
        if kind == "assistant" {
            assert!(
                text(&record["message"], "id").is_some() && text(&record["message"], "model").is_some(),
                "{name}: {record}"
            );
            for block in record["message"]["content"].as_array().unwrap() {
                if block["type"] == "tool_use" {
                    assert!(block["input"].is_object() && text(block, "id").is_some(), "{name}: {block}");
                }
            }
        }
    }
    let calls: HashSet<&str> = blocks(records, "tool_use").filter_map(|block| text(block, "id")).collect();
    for record in records {
        if let Some(parent) = text(record, "parentUuid") {
            assert!(ids.contains(parent), "{name}: parent {parent} is nowhere");
        }
        let is_boundary = text(record, "subtype") == Some("compact_boundary");
        assert!(!is_boundary || record["parentUuid"].is_null(), "{name}: {record}");
        if is_boundary {
            let id = text(record, "uuid");
            let child = records.iter().find(|child| text(child, "parentUuid") == id);
            assert!(child.is_some_and(|child| child["isCompactSummary"] == true), "{name}: {record}");
        }
    }
    for result in blocks(records, "tool_result") {
        assert!(calls.contains(text(result, "tool_use_id").unwrap()), "{name}: {result}");
    }
}

fn blocks<'r>(records: &'r [Value], kind: &'static str) -> impl Iterator<Item = &'r Value> {
    let content = records.iter().filter_map(|record| record["message"]["content"].as_array());
    content.flatten().filter(move |block| text(block, "type") == Some(kind))
}

fn codex(records: &[Value], name: &str) {
    let first = &records[0];
    assert_eq!(text(first, "type"), Some("session_meta"), "{name}: the first line says whose session it is");
    for field in ["id", "timestamp", "cwd", "originator", "cli_version"] {
        assert!(text(&first["payload"], field).is_some(), "{name}: {field} in {first}");
    }
    let is_numbered = first.get("ordinal").is_some();
    let mut calls: HashMap<&str, &str> = HashMap::new();
    for (number, record) in records.iter().enumerate() {
        assert!(is_time(text(record, "timestamp").unwrap_or_default()), "{name}: {record}");
        assert!(record["payload"].is_object(), "{name}: {record}");
        assert!(!is_numbered || record["ordinal"] == number, "{name}: {record}");
        let payload = &record["payload"];
        let kind = text(payload, "type").unwrap_or_default();
        match (text(record, "type").unwrap(), kind) {
            ("response_item", "function_call" | "custom_tool_call" | "tool_search_call") => {
                let has_input =
                    payload["arguments"].is_string() || payload["input"].is_string() || kind == "tool_search_call";
                assert!(has_input, "{name}: {payload}");
                calls.insert(text(payload, "call_id").unwrap(), kind);
            }
            ("response_item", "function_call_output" | "custom_tool_call_output" | "tool_search_output") => {
                let of = calls.get(text(payload, "call_id").unwrap());
                let of = of.map(|of| of.replace("local_shell", "function").replace("_call", ""));
                let is = kind.replace("_call", "").replace("_output", "");
                assert!(of.as_deref() == Some(&is) || name == "damaged", "{name}: {payload} answers {of:?}");
            }
            ("response_item", "local_shell_call") => {
                calls.insert(text(payload, "call_id").or(text(payload, "id")).unwrap(), "function_call");
            }
            ("response_item", "message") => {
                assert!(payload["content"].is_array() && text(payload, "role").is_some(), "{name}: {payload}");
            }
            ("compacted", _) => {
                assert!(payload["message"].is_string(), "{name}: {payload}");
                let of_each = payload["replacement_history_metadata"].as_array().map(Vec::len);
                let items = payload["replacement_history"].as_array().map(Vec::len);
                assert!(of_each.is_none() || of_each == items, "{name}: {payload}");
            }
            _ => {}
        }
    }
}

fn pi(records: &[Value], name: &str) {
    let header = &records[0];
    assert_eq!((text(header, "type"), header["version"].as_i64()), (Some("session"), Some(3)), "{name}");
    assert!(text(header, "id").is_some() && text(header, "cwd").is_some(), "{name}: {header}");
    let mut ids: HashMap<&str, &Value> = HashMap::new();
    let lost_in_the_sample = ["damaged", "v3-fork-dropped-label"].contains(&name);
    for record in &records[1..] {
        let id = text(record, "id").unwrap_or_else(|| panic!("{name}: {record}"));
        assert!(is_time(text(record, "timestamp").unwrap_or_default()), "{name}: {record}");
        assert!(!id.starts_with('L') && ids.insert(id, record).is_none(), "{name}: {id}");
        match record.get("parentId") {
            Some(Value::Null) => {}
            Some(Value::String(parent)) => {
                assert!(ids.contains_key(parent.as_str()) || lost_in_the_sample, "{name}: {parent} is nowhere");
            }
            other => panic!("{name}: {other:?}"),
        }
        if record["type"] == "compaction" {
            assert!(record["summary"].is_string() && record["tokensBefore"].is_number(), "{name}: {record}");
            assert!(ids.contains_key(text(record, "firstKeptEntryId").unwrap()), "{name}: {record}");
        }
        let message = &record["message"];
        match text(message, "role") {
            Some("assistant") => {
                for field in ["api", "provider", "model", "stopReason"] {
                    assert!(text(message, field).is_some(), "{name}: {field} in {message}");
                }
                assert!(message["usage"].is_object() && message["content"].is_array(), "{name}: {message}");
            }
            Some("toolResult") => {
                assert!(text(message, "toolName").is_some() && message["isError"].is_boolean(), "{name}: {message}");
                let mut at = record.get("parentId").and_then(Value::as_str);
                let wanted = text(message, "toolCallId");
                let holds = |entry: &Value| {
                    entry["message"]["content"].as_array().is_some_and(|blocks| {
                        blocks.iter().any(|block| block["type"] == "toolCall" && text(block, "id") == wanted)
                    })
                };
                while let Some(entry) = at.and_then(|id| ids.get(id)).filter(|entry| !holds(entry)) {
                    at = entry.get("parentId").and_then(Value::as_str);
                }
                assert!(at.is_some() || lost_in_the_sample, "{name}: no call above {message}");
            }
            Some(_) => assert!(message["timestamp"].is_number(), "{name}: {message}"),
            None => {}
        }
    }
}
