//! Reads a case file.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};

/// One case: what is given, and what is expected.
#[derive(Debug)]
pub struct Case {
    pub id: String,
    pub given: Json,
    pub expect: Map<String, Json>,
}

impl Case {
    /// Reads the case of this name.
    pub fn load(name: &str) -> Self {
        let path = folder().join(format!("{name}.json"));
        let mut json: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for key in json.as_object().unwrap().keys() {
            assert!(["id", "kind", "title", "from", "given", "expect"].contains(&key.as_str()), "{name}: key {key}");
        }
        let Json::Object(expect) = json["expect"].take() else { panic!("{name}: nothing is expected") };
        let case = Self { id: json["id"].as_str().unwrap().to_owned(), given: json["given"].take(), expect };
        assert_eq!(case.id, name, "a case's id is the name of its file");
        for key in case.given.as_object().unwrap().keys() {
            let known =
                ["via", "events", "damage", "steps", "also", "importJson", "store", "umask", "clock", "context"];
            assert!(known.contains(&key.as_str()), "{name}: given.{key}");
        }
        case
    }

    /// The steps; a case without any closes and opens once.
    pub fn steps(&self) -> Vec<Json> {
        match self.given["steps"].as_array() {
            Some(steps) => steps.clone(),
            None if self.given.get("store").is_some() => Vec::new(),
            None => vec![serde_json::json!({"do": "reopen"})],
        }
    }

    /// Whether a step of this name is among the steps.
    pub fn has_step(&self, name: &str) -> bool {
        self.steps().iter().any(|step| step["do"] == name)
    }

    /// A list of the case; empty if it is not there.
    pub fn list(&self, key: &str) -> &[Json] {
        list(&self.given[key])
    }

    /// The events of the case and how often each is told; `#` in its id is the number.
    pub fn events(&self) -> Vec<(u64, &Json)> {
        self.list("events")
            .iter()
            .map(|event| match event.get("repeat") {
                Some(times) => (times.as_u64().unwrap(), &event["of"]),
                None => (1, event),
            })
            .collect()
    }
}

/// The items of a list; none if there is no list.
pub fn list(value: &Json) -> &[Json] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a list.
pub fn strings(value: &Json) -> Vec<String> {
    let text = |item: &Json| item.as_str().unwrap_or_else(|| panic!("{item} is no text")).to_owned();
    value.as_array().unwrap_or_else(|| panic!("{value} is no list")).iter().map(text).collect()
}

/// The event with its number put in its id and long texts made.
pub fn filled(event: &Json, number: u64) -> Json {
    let mut filled = with_long_texts(event);
    if let Some(id) = filled["id"].as_str() {
        filled["id"] = Json::String(id.replace('#', &number.to_string()));
    }
    filled
}

fn with_long_texts(value: &Json) -> Json {
    match value {
        Json::Object(fields) => match fields.get("$bytes").and_then(Json::as_u64) {
            Some(len) => Json::String("long text ".chars().cycle().take(usize::try_from(len).unwrap()).collect()),
            None => Json::Object(fields.iter().map(|(name, value)| (name.clone(), with_long_texts(value))).collect()),
        },
        Json::Array(items) => Json::Array(items.iter().map(with_long_texts).collect()),
        other => other.clone(),
    }
}

/// The names of all case files, in order.
pub fn case_files() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases")
}
