//! Which tools a run gets: merge, function calling, the rule of four levels, definitions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use seslog::context::tools::{
    Api, Ask, Catalogue, Enable, Level, Manifest, PlatformFilter, ToolConfig, ToolEngine, ToolSet, Verdict,
};
use seslog::event::Value;

use crate::support::{enabled, engine, filtered, manifest, rules, tool_names, value};

/// A platform that has these and lacks those, and counts how often it is asked.
#[derive(Debug, Default)]
struct Platform {
    on: Vec<&'static str>,
    off: Vec<&'static str>,
    asked: AtomicUsize,
}

impl PlatformFilter for Platform {
    fn is_on(&self, id: &str) -> Option<bool> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.on.contains(&id).then_some(true).or_else(|| self.off.contains(&id).then_some(false))
    }
}

#[test]
fn the_first_level_that_decides_decides_and_none_is_off() {
    let platform = || Platform { on: vec!["has"], off: vec!["lacks"], asked: AtomicUsize::new(0) };
    let rule = |explicit_may_bypass| Enable {
        explicit_may_bypass,
        platform: Some(Arc::new(platform())),
        ..rules(&[("has", false), ("lacks", true), ("on", true), ("off", false)])
    };
    let cases = [
        // (may bypass, id, explicit) => (on, by)
        (true, "lacks", true, true, Level::Explicit),
        (true, "off", true, true, Level::Explicit),
        (true, "unheard of", true, true, Level::Explicit),
        (true, "lacks", false, false, Level::Platform),
        (false, "lacks", true, false, Level::Platform),
        (false, "has", false, true, Level::Platform),
        (false, "on", false, true, Level::Rules),
        (false, "off", true, false, Level::Rules),
        (false, "unheard of", true, false, Level::Default),
        (true, "unheard of", false, false, Level::Default),
    ];
    for (bypass, id, is_explicit, is_on, by) in cases {
        assert_eq!(rule(bypass).verdict(id, is_explicit), Verdict { is_on, by }, "{bypass} {id} {is_explicit}");
    }
    assert!(!Enable::default().verdict("anything", true).is_on);
}

#[test]
fn asked_and_default_tools_are_merged_once_each_in_order() {
    let all = ["a", "b", "c", "d"];
    let engine =
        ToolEngine::new(Catalogue::new(all.map(|id| manifest(id, &["run"]))), rules(&all.map(|id| (id, true))));
    let engine = engine.with_defaults(["c", "b"]);
    let set = |ask: Ask| enabled(&engine.operation(&ask)).join(" ");
    let excluded: BTreeSet<String> = ["c".to_owned()].into();
    let cases = [
        (Ask::of(["b", "a", "b"]), "b a c"),
        (Ask::of(["d"]), "d c b"),
        (Ask::default(), "c b"),
        (Ask { skip_defaults: true, ..Ask::of(["a"]) }, "a"),
        (Ask { skip_defaults: true, ..Ask::default() }, ""),
        (Ask { exclude_defaults: excluded.clone(), ..Ask::of(["a"]) }, "a b"),
        // What is asked for is no default.
        (Ask { exclude_defaults: excluded, ..Ask::of(["c"]) }, "c b"),
    ];
    for (ask, wanted) in cases {
        assert_eq!(set(ask.clone()), wanted, "{ask:?}");
    }
}

#[test]
fn what_is_not_offered_says_why() {
    let engine = engine().with_defaults(["maps", "gone"]);
    let set = engine.operation(&Ask::of(["web", "nowhere", "nowhere"]));
    assert_eq!(enabled(&set), ["web"]);
    assert_eq!(filtered(&set), ["nowhere: not_found", "maps: disabled", "gone: not_found"]);
    let json = serde_json::to_string(set.filtered()).unwrap();
    assert!(json.contains(r#"{"id":"maps","reason":"disabled","by":"default"}"#), "{json}");
}

#[test]
fn a_model_that_calls_no_functions_gets_no_tools_and_nothing_else_is_asked() {
    let platform = Arc::new(Platform::default());
    let enable = Enable { platform: Some(platform.clone()), ..rules(&[("files", true)]) };
    let engine = ToolEngine::new(Catalogue::new([manifest("files", &["read"])]), enable).with_defaults(["web"]);
    let set = engine.operation(&Ask { model_calls_functions: false, ..Ask::of(["files"]) });
    assert!(set.tools().is_empty() && set.enabled().is_empty());
    assert_eq!(filtered(&set), ["files: incompatible", "web: incompatible"]);
    assert_eq!(platform.asked.load(Ordering::Relaxed), 0);
    assert_eq!(engine.activatable(&set).count(), 0);
}

#[test]
fn each_api_is_one_definition() {
    let set = engine().operation(&Ask::of(["files", "web"]));
    assert_eq!(tool_names(&set), ["files____read", "files____write", "web____search"]);
    assert_eq!(set.tools()[1].description.as_deref(), Some("Does write."));
    assert_eq!(set.get("web").unwrap().manifest.identifier, "web");
    assert!(set.get("maps").is_none());
}

/// The schema of a tool as it is offered.
fn mended(schema: &str) -> String {
    let api = Api { name: "run".to_owned(), description: None, parameters: value(schema) };
    let catalogue = Catalogue::new([Manifest { apis: vec![api], ..Manifest::new("a") }]);
    let set: ToolSet = ToolEngine::new(catalogue, rules(&[("a", true)])).operation(&Ask::of(["a"]));
    serde_json::to_string(&set.tools()[0].schema).unwrap()
}

#[test]
fn required_is_a_list_in_every_object_schema() {
    let cases = [
        ("null", r#"{"type":"object","required":[]}"#),
        (r#"{"type":"object"}"#, r#"{"type":"object","required":[]}"#),
        (r#"{"required":null,"type":"object"}"#, r#"{"required":[],"type":"object"}"#),
        (r#"{"type":"object","required":["a"]}"#, r#"{"type":"object","required":["a"]}"#),
        (r#"{"type":"string"}"#, r#"{"type":"string"}"#),
        (
            r#"{"type":"object","properties":{"required":{"type":"object"},"b":{"items":{"type":"object","required":null}}}}"#,
            r#"{"type":"object","properties":{"required":{"type":"object","required":[]},"b":{"items":{"type":"object","required":[]}}},"required":[]}"#,
        ),
        // A value that only looks like a schema.
        (
            r#"{"type":"object","default":{"type":"object","required":null},"required":[]}"#,
            r#"{"type":"object","default":{"type":"object","required":null},"required":[]}"#,
        ),
    ];
    for (schema, wanted) in cases {
        assert_eq!(mended(schema), wanted);
    }
    // Wherever a schema may stand.
    let (bare, full) = (r#"{"type":"object"}"#, r#"{"type":"object","required":[]}"#);
    let by_name = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
    let listed = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
    let alone = [
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
    ];
    let whole = |keyword: &str, value: &str| format!(r#"{{"type":"object","required":[],"{keyword}":{value}}}"#);
    for (keywords, before, behind) in [(&by_name[..], r#"{"a":"#, "}"), (&listed, "[", "]"), (&alone, "", "")] {
        for keyword in keywords {
            let of = |schema: &str| whole(keyword, &format!("{before}{schema}{behind}"));
            assert_eq!(mended(&of(bare)), of(full), "{keyword}");
        }
    }
    let deep = (0..2000).fold(Value::Null, |inner, _| Value::from([("items", inner)]));
    let api = Api { name: "run".to_owned(), description: None, parameters: deep };
    let catalogue = Catalogue::new([Manifest { apis: vec![api], ..Manifest::new("a") }]);
    let set = ToolEngine::new(catalogue, rules(&[("a", true)])).operation(&Ask::of(["a"]));
    assert_eq!(set.tools().len(), 1);
}

#[test]
fn the_tools_of_a_call_are_read_from_one_piece_of_json() {
    let config: ToolConfig = serde_json::from_str(
        r#"{
            "manifests": [
                {"identifier": "files", "apis": [{"name": "read"}]},
                {"identifier": "web", "source": "mcp", "apis": [{"name": "search"}]},
                {"identifier": "maps", "apis": [{"name": "find"}]}
            ],
            "defaults": ["files"],
            "enable": {"explicitMayBypass": true, "rules": {"files": true, "web": false}},
            "ask": {"ids": ["web"], "excludeDefaults": []},
            "accumulated": [{"id": "web", "source": "discovery"}],
            "step": {"activate": [{"id": "maps", "source": "satellite"}], "deactivate": ["files"]}
        }"#,
    )
    .unwrap();
    let set = config.resolve(&config.engine());
    assert_eq!(tool_names(&set), ["web____search", "maps____find"]);
    let sources: Vec<&str> = set.enabled().iter().map(|tool| tool.source.as_ref().unwrap().name()).collect();
    assert_eq!(sources, ["mcp", "satellite"]);
    assert_eq!(filtered(&set), ["files: deactivated"]);
}
