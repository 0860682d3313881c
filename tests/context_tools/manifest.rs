//! Manifests: what they say in JSON, and what is wrong with them.

use seslog::context::tools::{Api, Ask, Catalogue, Manifest, ManifestError, ToolEngine, ToolSource, WhyNot};
use seslog::event::Value;

use crate::support::{enabled, manifest, rules, value};

#[test]
fn a_manifest_is_read_from_json_with_camel_case_names() {
    let json = r#"{
        "identifier": "files", "type": "mcp", "source": "mcp", "title": "Files", "description": "Reads files.",
        "systemRole": "Read before you write.",
        "apis": [{"name": "read", "description": "Reads.", "parameters": {"b": 1, "a": 1.10}}, {"name": "list"}]
    }"#;
    let read: Manifest = serde_json::from_str(json).unwrap();
    let wanted = Manifest {
        kind: Some("mcp".to_owned()),
        source: Some(ToolSource::Mcp),
        title: Some("Files".to_owned()),
        description: Some("Reads files.".to_owned()),
        system_role: Some("Read before you write.".to_owned()),
        apis: vec![
            Api::new("read", "Reads.", value(r#"{"b": 1, "a": 1.10}"#)),
            Api { name: "list".to_owned(), description: None, parameters: Value::Null },
        ],
        ..Manifest::new("files")
    };
    assert_eq!(read, wanted);
    let unknown = serde_json::from_str::<Manifest>(r#"{"identifier": "a", "system_role": "x"}"#).unwrap_err();
    assert!(unknown.to_string().contains("system_role"), "{unknown}");
}

#[test]
fn what_is_wrong_with_a_manifest_is_said() {
    let with = |name: &str, parameters: &str| Manifest {
        apis: vec![Api::new(name, "", value(parameters))],
        ..Manifest::new("files")
    };
    let cases = [
        (Manifest::new(""), "a manifest has an empty identifier"),
        (with("", "{}"), "manifest `files`: the API at place 0 has an empty name"),
        (
            manifest("files", &["read", "write", "read"]),
            "manifest `files`: two APIs have the name `read`; each needs one of its own",
        ),
        (
            with("read", "[1]"),
            "manifest `files`: the parameters of `read` are no JSON Schema: expected an object, found a list",
        ),
    ];
    for (manifest, text) in cases {
        assert_eq!(manifest.check().unwrap_err().to_string(), text);
    }
    for right in [with("read", "{}"), with("read", "null"), Manifest::new("words only")] {
        assert_eq!(right.check(), Ok(()));
    }
}

#[test]
fn a_wrong_manifest_is_set_aside_and_spoils_no_other() {
    let wrong = manifest("web", &["search", "search"]);
    let catalogue = Catalogue::new([manifest("files", &["read"]), wrong, manifest("files", &["other"])]);
    let duplicate = ManifestError::Duplicate { identifier: "files".to_owned() };
    assert_eq!(catalogue.refused().len(), 2);
    assert_eq!(catalogue.refused()[1], duplicate);

    let engine = ToolEngine::new(catalogue, rules(&[("files", true), ("web", true)]));
    let set = engine.operation(&Ask::of(["web", "files"]));
    assert_eq!(enabled(&set), ["files"]);
    assert_eq!(set.tools()[0].name, "files____read");
    let message = "manifest `web`: two APIs have the name `search`; each needs one of its own".to_owned();
    assert_eq!(set.filtered()[0].why, WhyNot::Invalid { message });
}
