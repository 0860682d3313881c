//! Checks on a whole store: lists, other processes, modes.

use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;
use seslog::session::{Listed, Opened, SessionOptions, Store};

use super::case::strings;
use super::disk_double::counting_disk;
use super::expect::{Found, of_a_look};
use super::world::{MAIN, World};

/// Checks a key of a case whose sessions are many, or live in other processes. False if it is not of that sort.
pub fn of_the_store(world: &World, key: &str, expected: &Json, found: &mut Found) -> bool {
    let member_key = |prefix: &str, suffix: &str| {
        let name = key.strip_prefix(prefix)?.strip_suffix(suffix)?;
        world.members.contains_key(name).then_some(name)
    };
    if let Some(name) = member_key("open_", "") {
        let opened = world.member(name).opens.last().expect("a step opens it");
        assert_eq!(opened.outcome, expected.as_str().unwrap(), "{key}");
    } else if let Some(name) = member_key("", "_transcript") {
        assert!(of_a_look(&world.look(name), "transcript", expected, &world.case.expect, found));
    } else if let Some(name) = member_key("", "_events") {
        assert_eq!(world.look(name).event_words(), strings(expected), "{key}");
    } else if let Some(told) = world.processes.get(key) {
        assert_eq!(told.outcome, expected.as_str().unwrap(), "{key}");
    } else if let Some(told) = key.strip_suffix("_events").and_then(|name| world.processes.get(name)) {
        let words = world.member(MAIN).names.words(told.messages.iter().copied());
        assert_eq!(words, strings(expected), "{key}");
    } else if let Some(told) = key.strip_suffix("_within_ms").and_then(|name| world.processes.get(name)) {
        assert!(told.took < Duration::from_millis(expected.as_u64().unwrap()), "{key}: {:?}", told.took);
    } else {
        match key {
            "list" => all_listed(world, expected),
            "catalogue_rebuilt_equals" => {
                assert_eq!(expected, "a full scan");
                list_equals_a_full_scan(world);
            }
            "nothing_deleted" => assert_eq!(Some(nothing_deleted(world)), expected.as_bool(), "{key}"),
            _ => return false,
        }
    }
    true
}

/// Checks what a list says of one session.
pub fn listed(world: &World, path: &Path, expected: &Json) {
    let list = world.store.list().unwrap();
    let listed = list.iter().find(|listed| listed.path == path).expect("the session is listed");
    for (key, value) in expected.as_object().unwrap() {
        match key.as_str() {
            "last_event" => {
                let word = listed.last_event.map(|id| world.member(MAIN).names.word(id));
                assert_eq!(word.as_deref(), value.as_str(), "{listed:#?}");
            }
            "flag" => assert_eq!(flag(listed), value.as_str().unwrap(), "{listed:#?}"),
            other => panic!("the harness does not know list.{other}"),
        }
    }
}

fn flag(listed: &Listed) -> &'static str {
    if listed.open == Opened::Damaged { "damaged" } else { "ok" }
}

/// Checks that these sessions are listed, and no others.
fn all_listed(world: &World, expected: &Json) {
    let list = world.store.list().unwrap();
    let expected = expected.as_object().unwrap();
    assert_eq!(list.len(), expected.len(), "{list:#?}");
    for (name, value) in expected {
        let path = &world.member(name).path;
        let listed = list.iter().find(|listed| listed.path == *path).unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!(flag(listed), value.as_str().unwrap(), "{listed:#?}");
    }
}

/// A list keeps nothing, so it must say what a look at each whole session says.
fn list_equals_a_full_scan(world: &World) {
    let list = world.store.list().unwrap();
    assert_eq!(list, world.store.list().unwrap());
    let in_store = world.members.iter().filter(|(_, member)| member.path.starts_with(world.store.dir()));
    for (name, member) in in_store {
        let listed = list.iter().find(|listed| listed.path == member.path).unwrap();
        let look = world.look(name);
        assert_eq!(listed.last_event, look.events.last().map(|event| event.id), "{name}");
        assert_eq!(listed.last_at, look.events.last().map(|event| event.at), "{name}");
        assert_eq!(listed.cwd, look.whole.meta().cwd, "{name}");
        assert_eq!(listed.title, look.whole.meta().title, "{name}");
    }
}

/// Whether each file is there with all that it held. An open may add to the end, and to the log's first page.
fn nothing_deleted(world: &World) -> bool {
    const HEADER_PAGE_LEN: usize = 4096;
    world.files_after_damage.iter().all(|(path, before)| {
        let Ok(after) = std::fs::read(path) else { return false };
        let from = if before.len() < HEADER_PAGE_LEN { 0 } else { HEADER_PAGE_LEN };
        after.len() >= before.len() && after[from..before.len()] == before[from..]
    })
}

/// Bytes that a list reads, maps not used.
pub fn bytes_read_by_a_list(world: &World) -> u64 {
    let disk = counting_disk();
    let options = SessionOptions { fs: disk.clone(), ..world.store.options().clone() };
    let listed = Store::at(world.store.dir(), options).list().unwrap();
    assert_eq!(listed.len(), world.members.len());
    disk.bytes_read()
}

/// Checks the modes of all files and folders at each look. Platforms without modes have none to check.
pub fn modes(world: &World, expected: &Json) {
    assert_eq!(world.modes.is_empty(), !cfg!(unix), "no step looked at modes");
    for (mode, path) in &world.modes {
        let what = if path.is_dir() { "folders" } else { "files" };
        assert_eq!(mode, expected[what].as_str().unwrap(), "{}", path.display());
    }
}
