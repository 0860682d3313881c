//! Manifests to test with.
#![allow(unreachable_pub, reason = "a module of a test")]

use seslog::context::tools::{Api, Catalogue, Enable, Filtered, Manifest, ToolEngine, ToolSet};
use seslog::event::Value;

pub fn value(json: &str) -> Value {
    Value::parse_json(json).unwrap().0
}

/// A manifest with these APIs, each of which takes a path.
pub fn manifest(identifier: &str, apis: &[&str]) -> Manifest {
    let schema = r#"{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}"#;
    let apis = apis.iter().map(|name| Api::new(*name, format!("Does {name}."), value(schema)));
    Manifest {
        title: Some(format!("The {identifier}")),
        description: Some(format!("All about {identifier}.")),
        system_role: Some(format!("How to use {identifier}.")),
        apis: apis.collect(),
        ..Manifest::new(identifier)
    }
}

/// The rule that turns these on and off.
pub fn rules(rules: &[(&str, bool)]) -> Enable {
    Enable { rules: rules.iter().map(|(id, on)| ((*id).to_owned(), *on)).collect(), ..Enable::default() }
}

/// Files, web and maps; the first two are on, and maps by activation only.
pub fn engine() -> ToolEngine {
    let manifests =
        [manifest("files", &["read", "write"]), manifest("web", &["search"]), manifest("maps", &["search"])];
    let enable = Enable { explicit_may_bypass: true, ..rules(&[("files", true), ("web", true)]) };
    ToolEngine::new(Catalogue::new(manifests), enable)
}

pub fn tool_names(set: &ToolSet) -> Vec<&str> {
    set.tools().iter().map(|tool| tool.name.as_str()).collect()
}

pub fn enabled(set: &ToolSet) -> Vec<&str> {
    set.enabled().iter().map(|tool| tool.manifest.identifier.as_str()).collect()
}

/// What is filtered and why, as it stands in JSON.
pub fn filtered(set: &ToolSet) -> Vec<String> {
    reasons(set.filtered())
}

/// The same of a list.
pub fn reasons(filtered: &[Filtered]) -> Vec<String> {
    let reason = |json: serde_json::Value| json["reason"].as_str().unwrap_or_default().to_owned();
    filtered.iter().map(|one| format!("{}: {}", one.id, reason(serde_json::to_value(one).unwrap()))).collect()
}
