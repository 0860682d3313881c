//! Names: made of any parts, taken by every provider as they are, and decoded among what was offered only.

use proptest::prelude::*;
use seslog::context::Tool;
use seslog::context::tools::{Ask, Catalogue, Manifest, NameError, Names, Target, ToolEngine, encode, prefixes};
use seslog::event::Value;
use seslog::wire::{Options, Provider, payload};

use crate::common::story::Story;
use crate::support::{engine, manifest, rules};

fn is_legal(name: &str) -> bool {
    name.len() < 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Names stand in old logs, so these never change.
#[test]
fn a_name_is_made_of_its_parts_for_ever() {
    let (long, longer) = ("a".repeat(40), "b".repeat(60));
    let cases: [(&str, &str, Option<&str>, &str); 18] = [
        ("files", "read", None, "files____read"),
        ("files", "read", Some("mcp"), "files____read____mcp"),
        ("my-tool_2", "do-it", None, "my-tool_2____do-it"),
        ("_files", "_read", None, "_files_____read"),
        ("files", "read.all", None, "files____hash_6ab56074799a"),
        ("dateien/lesen", "read", None, "hash_2aad1485ac2a____read"),
        ("工具", "搜索", None, "hash_14ed22393ba2____hash_2a747f60dc65"),
        ("2files", "read", None, "hash_beb2bc517d8d____read"),
        ("-files", "2read", None, "hash_f98b5c2f0ca3____2read"),
        ("files_", "read", None, "hash_4fa87d8b85ed____read"),
        ("files", "read_", Some("mcp"), "files____hash_9f2d48622136____mcp"),
        ("a____b", "c", None, "hash_2b9ed5144087____c"),
        ("", "", Some(""), "hash_429e3ee20d13____hash_429e3ee20d13____hash_429e3ee20d13"),
        ("hash_0123456789ab", "read", None, "hash_6fdaf9f19dfa____read"),
        ("hash_0123456789xy", "read", None, "hash_0123456789xy____read"),
        (&long, "read_a_whole_directory", None, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa____hash_684a79b10d44"),
        (&longer, "read", None, "hash_dfdee77f7982____hash_f2011fa265a0"),
        (&longer, "read", Some(&longer), "hash_dfdee77f7982____hash_f2011fa265a0____hash_dfdee77f7982"),
    ];
    for (identifier, api, kind, wanted) in cases {
        assert_eq!(encode(identifier, api, kind), wanted, "{identifier} {api} {kind:?}");
    }
}

#[test]
fn a_name_of_63_characters_is_kept_and_one_of_64_is_made_shorter() {
    let api = "a".repeat(63 - "files____".len());
    assert_eq!(encode("files", &api, None), format!("files____{api}"));
    let longer = encode("files", &format!("{api}a"), None);
    assert!(longer.starts_with("files____hash_"), "{longer}");
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{0,6}", "[a-zA-Z0-9_-]{0,70}", "_{0,9}", "(a|_){0,8}", "hash_[0-9a-f]{12}", any::<String>()]
}

fn parts() -> impl Strategy<Value = (String, String, Option<String>)> {
    (part(), part(), proptest::option::of(part()))
}

proptest! {
    #[test]
    fn any_parts_make_a_legal_name_and_no_two_the_same(one in parts(), other in parts()) {
        let name = |(identifier, api, kind): &(String, String, Option<String>)| encode(identifier, api, kind.as_deref());
        prop_assert!(is_legal(&name(&one)), "{}", name(&one));
        prop_assert_eq!(one == other, name(&one) == name(&other), "{:?} {:?} {}", one, other, name(&one));
        prop_assert!(prefixes(&one.0).iter().any(|prefix| name(&one).starts_with(prefix)));
        if one.0 != other.0 {
            prop_assert!(!prefixes(&other.0).iter().any(|prefix| name(&one).starts_with(prefix)));
        }
    }

    #[test]
    fn any_name_of_a_manifest_that_was_offered_is_decoded(
        identifier in part(), api in part(), kind in proptest::option::of(part()),
    ) {
        prop_assume!(!identifier.is_empty() && !api.is_empty());
        let known = Manifest { kind: kind.clone(), ..manifest(&identifier, &[&api]) };
        let name = encode(&identifier, &api, kind.as_deref());
        let names = Names::new([&known], [name.clone()]);
        let target = Target { identifier, api: api.clone(), kind };
        prop_assert_eq!(names.decode(&name), Ok(&target));
        prop_assert_eq!(names.decode(&api), Ok(&target));
        // The part as the model saw it, too.
        let behind = name.split_once("____").unwrap().1;
        let seen = behind.split_once("____").map_or(behind, |(seen, _)| seen);
        prop_assert_eq!(names.decode(seen), Ok(&target));
    }
}

#[test]
fn the_wire_takes_every_name_as_it_is() {
    let long = "x".repeat(90);
    let manifests =
        ["files", "a.b", "9", "工具", "end_", &long].map(|id| manifest(id, &["read", "a b", "read_", &long]));
    let all: Vec<(&str, bool)> = manifests.iter().map(|manifest| (manifest.identifier.as_str(), true)).collect();
    let engine = ToolEngine::new(Catalogue::new(manifests.clone()), rules(&all));
    let set = engine.operation(&Ask::of(manifests.iter().map(|manifest| manifest.identifier.clone())));
    assert_eq!(set.tools().len(), 24);

    let mut options = Options::for_model("gpt-5");
    options.tools = set.tools().to_vec();
    let view = Story::new().user("u1").model();
    for provider in Provider::ALL {
        let body = payload(&view.messages, provider, &options);
        let json = body.to_json();
        for tool in set.tools() {
            assert!(json.contains(&format!("\"{}\"", tool.name)), "{provider:?} {}", tool.name);
        }
        let mended = body.diagnostics.iter().find(|item| item.code == seslog::projection::code::TOOL_SCHEMA_MENDED);
        assert_eq!(mended, None, "{provider:?}");
    }
}

#[test]
fn a_bare_name_means_the_only_tool_that_was_offered_with_it() {
    let engine = engine();
    let set = engine.operation(&Ask::of(["files", "web"]));
    let names = engine.names(&set, set.tools());
    let target =
        |identifier: &str, api: &str| Ok(Target { identifier: identifier.to_owned(), api: api.to_owned(), kind: None });
    let not_offered = |name: &str| Err(NameError::NotOffered { name: name.to_owned() });
    let unknown = |name: &str| Err(NameError::Unknown { name: name.to_owned() });
    let cases = [
        ("files____read", target("files", "read")),
        ("read", target("files", "read")),
        // Another `search` is known, and off: it makes nothing ambiguous, and can't be guessed.
        ("search", target("web", "search")),
        ("maps____search", not_offered("maps____search")),
        ("files____delete", unknown("files____delete")),
        ("files", unknown("files")),
        ("", unknown("")),
        ("Read", unknown("Read")),
    ];
    for (name, wanted) in cases {
        assert_eq!(names.decode(name).cloned(), wanted, "{name}");
    }
    let none = engine.names(&set, &[]);
    assert_eq!(none.decode("files____read").cloned(), not_offered("files____read"));
    assert_eq!(none.decode("search").cloned(), not_offered("search"));
}

#[test]
fn a_bare_name_of_two_tools_that_were_offered_is_ambiguous() {
    let engine = engine();
    let mut ask = Ask::of(["maps", "web"]);
    ask.explicit.insert("maps".to_owned());
    let set = engine.operation(&ask);
    let error = engine.names(&set, set.tools()).decode("search").unwrap_err().clone();
    let candidates = vec!["maps____search".to_owned(), "web____search".to_owned()];
    assert_eq!(error, NameError::Ambiguous { name: "search".to_owned(), candidates });
    assert_eq!(error.to_string(), "`search` could be each of `maps____search`, `web____search`");
}

#[test]
fn a_tool_that_the_application_declared_itself_is_never_taken_for_one_of_a_manifest() {
    let engine = engine();
    let set = engine.operation(&Ask::of(["web"]));
    let mut offered = set.tools().to_vec();
    offered.push(Tool { name: "search".to_owned(), description: None, schema: Value::Null });
    let names = engine.names(&set, &offered);
    assert_eq!(names.decode("search"), Err(NameError::NoManifest { name: "search".to_owned() }));
    assert!(names.decode("web____search").is_ok());

    // One that has the name of a tool that is off, which nobody turned on.
    let plain = |name: &str| Tool { name: name.to_owned(), description: None, schema: Value::Null };
    let names = engine.names(&set, &[plain("maps____search"), plain("web____search")]);
    assert_eq!(names.decode("maps____search"), Err(NameError::NoManifest { name: "maps____search".to_owned() }));
    assert_eq!(names.decode("search").unwrap().identifier, "web");
    let names = engine.names(&engine.operation(&Ask::default()), &[plain("maps____search")]);
    assert_eq!(names.decode("search"), Err(NameError::NotOffered { name: "search".to_owned() }));
}
