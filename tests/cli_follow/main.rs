//! What follows a session, draws it and compares two places of it; and what the program says of itself.

#![cfg(feature = "cli")]

#[path = "../cli_support/mod.rs"]
mod cli_support;

mod diff;
mod following;
mod help;
mod tail;
mod tree;

use serde_json::{Value, json};

/// The line as a child of this one.
fn below(parent: &str, line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["parentId"] = json!(parent);
    line.to_string()
}

/// The id that an event has here.
fn id_of(home: &cli_support::Home, session: &str, original: &str) -> String {
    let all = home.run(&["tail", session, "-n", "1000000", "--json"]).ends_with(0).json_lines();
    let found = all.iter().find(|line| line["event"]["originalId"] == original);
    found.unwrap_or_else(|| panic!("{original}")).get("event").unwrap()["id"].as_str().unwrap().to_owned()
}
