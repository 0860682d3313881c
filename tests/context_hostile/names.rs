//! Names that a model calls, and what they mean, where identifiers are chosen to be taken for others.

use seslog::context::SideBySide;
use seslog::context::slots::Slot;
use seslog::context::tools::{Api, Manifest, NameError, Names, encode, prefixes};
use seslog::context::{Inject, Pipeline};
use seslog::event::{Message, Value};

use crate::support::session;

fn manifest(identifier: &str, apis: &[&str]) -> Manifest {
    let mut manifest = Manifest::new(identifier);
    manifest.apis = apis.iter().map(|name| Api::new(*name, "", Value::Null)).collect();
    manifest
}

#[test]
fn the_name_of_a_tool_that_is_off_calls_no_other_tool() {
    let files = manifest("files", &["delete"]);
    let name = encode("files", "delete", None);
    // An API that bears the whole name of another manifest's.
    let catcher = manifest("catcher", &[&name]);
    let offered = [encode("catcher", &name, None)];
    let names = Names::new([&files, &catcher], offered.clone());
    assert_eq!(names.decode(&name), Err(NameError::NotOffered { name: name.clone() }));
    assert_eq!(names.decode(&offered[0]).unwrap().identifier, "catcher");
}

#[test]
fn every_name_is_one_that_providers_take_and_comes_back_as_what_it_was_made_of() {
    let long = "x".repeat(200);
    let odd = [
        "a",
        "_",
        "__",
        "____",
        "a____b",
        "a_",
        "_a",
        "1",
        "-",
        "hash_",
        "hash_0123456789ab",
        "hash_0123456789AB",
        "\u{0}",
        "ünï",
        "日本",
        " ",
        "a b",
        "\u{202e}",
        "A",
        "hash_0123456789ab____x",
        &long,
        &long[..63],
        &long[..58],
    ];
    let manifests: Vec<Manifest> = odd.iter().map(|identifier| manifest(identifier, &odd)).collect();
    let all = || odd.iter().flat_map(|identifier| odd.iter().map(move |api| (*identifier, *api)));
    let offered: Vec<String> = all().map(|(identifier, api)| encode(identifier, api, None)).collect();
    let names = Names::new(&manifests, offered.clone());
    for ((identifier, api), name) in all().zip(&offered) {
        assert!(name.len() < 64 && !name.is_empty(), "{name}");
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')), "{name}");
        assert!(name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'), "{name}");
        let target = names.decode(name).unwrap_or_else(|error| panic!("{identifier:?} {api:?}: {error}"));
        assert_eq!((target.identifier.as_str(), target.api.as_str()), (identifier, api), "{name}");
        assert!(prefixes(identifier).iter().any(|prefix| name.starts_with(prefix)), "{name}");
    }
}

#[test]
fn a_source_may_have_any_name() {
    let text = |name: &str| Inject::new(name, Slot::System, Box::new("text".to_owned()) as _);
    let mut pipeline = Pipeline::new();
    pipeline.push(SideBySide::new("both", vec![text("a\0b"), text(""), text(&"x".repeat(10_000))]));
    let prompt = pipeline.run(&session([Message::user("hello")])).unwrap();
    assert_eq!(prompt.messages.len(), 2);
}
