//! Checks what a case expects, key by key. A key that nobody checks fails the case, unless [`not_yet`](super::not_yet)
//! names it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};
use seslog::event::Uuid;
use seslog::session::{Session, State};

use super::case::{Case, list, strings};
use super::look::Look;
use super::not_yet::is_left_out;
use super::world::{MAIN, World};
use super::{bodies, disk, other, round_trip, said, store, tokens};

/// What became of the keys that are not checked.
#[derive(Debug, Default)]
pub struct Found {
    pub left_out: BTreeSet<String>,
    unknown: Vec<String>,
}

impl Found {
    /// Nobody checks this key. It must stand in the table.
    pub fn unknown(&mut self, key: &str) {
        if is_left_out(key) {
            self.leave_out(key);
        } else {
            self.unknown.push(key.to_owned());
        }
    }

    pub fn leave_out(&mut self, key: &str) {
        self.left_out.insert(key.to_owned());
    }
}

/// Checks all that the case expects.
pub fn check(world: &mut World) {
    let mut found = Found::default();
    world.reopen_members();
    let expect = world.case.expect.clone();
    if world.members.contains_key(MAIN) && !world.case.has_step("kill_first_process") {
        let bytes = std::fs::read(&world.member(MAIN).path).unwrap();
        let look = world.look(MAIN);
        for (key, expected) in &expect {
            if !of_a_look(&look, key, expected, &expect, &mut found)
                && !of_the_world(world, &look, key, expected, &mut found)
            {
                found.unknown(key);
            }
        }
        assert_eq!(std::fs::read(&world.member(MAIN).path).unwrap(), bytes, "looking changed the file");
        same_after_one_more_reopen(world, &look);
    } else {
        for (key, expected) in &expect {
            if !store::of_the_store(world, key, expected, &mut found) && key != "note" {
                found.unknown(key);
            }
        }
    }
    assert!(found.unknown.is_empty(), "neither checked nor in the table: {:?}", found.unknown);
}

/// Checks a key that can be seen by looking at a session. False if it is not of that sort.
pub fn of_a_look(look: &Look, key: &str, expected: &Json, all: &Map<String, Json>, found: &mut Found) -> bool {
    match key {
        "events" => same(key, &look.event_words(), expected),
        "leaf" => assert_eq!(look.leaf().as_deref(), expected.as_str(), "leaf"),
        "chain" => same(key, &look.chain(), expected),
        "model" => same(key, &look.words(&look.model()), expected),
        "model_after_context" => same(key, &look.words_of(&look.prompt().messages), expected),
        "transcript" => same(key, &look.words(&look.transcript()), expected),
        "transcript_includes_all" => {
            let shown = look.words(&look.transcript());
            let mut rest = shown.iter();
            for word in strings(expected) {
                assert!(rest.any(|shown| *shown == word), "{word} is missing, or not in this order: {shown:?}");
            }
        }
        "open" => assert_eq!(look.opened.as_deref(), expected.as_str(), "open: {:#?}", look.report),
        "report" => said::report(look.report.as_ref().expect("a report"), expected, found),
        "diagnostics" => said::diagnostics(look, list(expected), found),
        "forbid_events" => {
            let events = look.event_words();
            for word in strings(expected) {
                assert!(!events.contains(&word), "{word} is among {events:?}");
            }
        }
        "payload" => bodies::payload(look, expected, all, found),
        "ids_distinct" => bodies::ids_distinct(look, &strings(expected), all),
        "forbid_in_payload" => bodies::forbidden(look, &strings(expected), all.get("payload")),
        "compact_view_has_no_images" => is_flag(key, expected, !look.compact_has_media()),
        "same_body_twice" => is_flag(key, expected, bodies::are_the_same_twice(look)),
        "payload_is_valid_utf8" => is_flag(key, expected, bodies::is_valid(look)),
        "input_of" => bodies::inputs(look, expected),
        "tool_result_text_after_context" => bodies::result_texts(look, expected),
        "usage_total" => tokens::usage(look, expected),
        "context_tokens" => tokens::window(key, look, expected),
        // It says how texts of bodies are compared.
        "payload_text_match" => assert_eq!(expected, "contains"),
        "note" | "steps_note" => {}
        _ => return false,
    }
    true
}

/// Checks a key that needs to know what happened. False if it is not of that sort.
fn of_the_world(world: &World, look: &Look, key: &str, expected: &Json, found: &mut Found) -> bool {
    match key {
        "open_after_damage" => assert_eq!(world.first_open().outcome, expected.as_str().unwrap(), "{key}"),
        "events_after_damage" => same(key, &world.first_open().events, expected),
        "report_after_damage" => {
            said::report(world.first_open().report.as_ref().expect("a report"), expected, found);
        }
        "results" => {
            for (step, expected) in expected.as_object().unwrap() {
                assert_eq!(world.results.get(step).map(String::as_str), expected.as_str(), "result of {step}");
            }
        }
        "append_refused" => {
            let tried: Vec<Json> = world.case.steps().into_iter().filter(|step| step["do"] == "try_append").collect();
            assert!(!tried.is_empty(), "no step tries to append");
            for step in tried {
                let refused = world.results[step["event"]["id"].as_str().unwrap()] != "ok";
                assert_eq!(Some(refused), expected.as_bool(), "{step}");
            }
        }
        "file_unchanged_by" => {
            for step in strings(expected) {
                if is_left_out(&format!("{key}.{step}")) {
                    found.leave_out(&format!("{key}.{step}"));
                    continue;
                }
                // That looking changes nothing, bodies included, is checked for every case.
                assert!(step == "payload" || world.case.has_step(&step), "{step} is no step of the case");
                assert!(!world.changed_by.contains(&step), "{step} changed the file");
            }
        }
        "model_same_as_before_close" => {
            is_flag(key, expected, world.model_before_close.as_ref() == Some(&look.model().messages));
        }
        "ids_strictly_increasing" => {
            // Ids that are derived of them keep 80 bits, so these have to rise.
            let ids: Vec<u128> = look.events.iter().map(|event| event.id.as_u128() >> 48).collect();
            assert!(ids.len() > 1, "{ids:x?}");
            is_flag(key, expected, ids.is_sorted_by(|a, b| a < b));
        }
        "round_trip" => {
            for word in strings(expected) {
                round_trip::check(look, &word, world.told.get(&word).unwrap_or_else(|| panic!("{word} was not told")));
            }
        }
        "view_at" => {
            for (word, expected) in expected.as_object().unwrap() {
                let look = world.look_at(look, word);
                let expected = expected.as_object().unwrap();
                for (key, value) in expected {
                    assert!(of_a_look(&look, key, value, expected, found), "view_at.{key}");
                }
            }
        }
        "context_tokens_before" => {
            let then = world.look_at(look, expected["event"].as_str().unwrap());
            tokens::window(key, &then, expected);
        }
        "branches" => world.branch(look, expected["$contains_leaf"].as_str().unwrap()),
        "fuzz" => fuzz(world, expected.as_object().unwrap(), found),
        "append_api" => {
            for (way, expected) in expected.as_object().unwrap() {
                assert_eq!(way, "same_event_by_append");
                assert_eq!(world.first_refusal_by_append(), expected.as_str().unwrap());
            }
        }
        "list" => store::listed(world, &world.member(MAIN).path, expected),
        "time_limit_ms" => {
            let start = Instant::now();
            drop((look.model(), look.transcript()));
            let took = world.last_open().took + start.elapsed();
            assert!(took < Duration::from_millis(expected.as_u64().unwrap()), "{took:?}");
        }
        "resume_reads_bytes" => compare(key, &world.last_open().bytes_read.into(), expected),
        "list_reads_bytes" => compare(key, &store::bytes_read_by_a_list(world).into(), expected),
        "peak_memory_growth_bytes" => {
            // A platform that can't tell is not asked; the others are.
            if let Some(grown) = other::memory_of_a_resume(&world.copy_of_main().1) {
                compare(key, &grown.into(), expected);
            }
        }
        "parent_bytes_unchanged" => {
            let now = std::fs::read(&world.member(MAIN).path).unwrap();
            is_flag(key, expected, world.before_fork.as_ref() == Some(&now));
        }
        "fork_id_differs" => {
            let ids: BTreeSet<_> = world.members.values().map(|member| member.path.file_stem().unwrap()).collect();
            is_flag(key, expected, ids.len() == world.members.len());
        }
        "modes" => store::modes(world, expected),
        "grep_hits_after_rewrite" => {
            let hits = world.grep_hits.expect("a step that looks for it");
            assert_eq!(Some(hits as u64), expected.as_u64(), "{key}");
        }
        member if world.members.contains_key(member) => {
            let look = world.look(member);
            let expected = expected.as_object().unwrap();
            for (key, value) in expected {
                assert!(of_a_look(&look, key, value, expected, found), "{member}.{key}");
            }
        }
        _ => return false,
    }
    true
}

/// The same expectation for each value of a range.
fn fuzz(world: &World, fuzz: &Map<String, Json>, found: &mut Found) {
    assert_eq!(fuzz["op"], "truncate_tail");
    let base = world.base.as_ref().expect("the file as the last append left it");
    let to = match &fuzz["to"] {
        Json::Object(size) => {
            let id = look_id(world, size["$frame_size"].as_str().unwrap());
            let extent = disk::extent(&world.member(MAIN).path, id);
            extent.to - extent.from
        }
        number => usize::try_from(number.as_u64().unwrap()).unwrap(),
    };
    let from = usize::try_from(fuzz["from"].as_u64().unwrap()).unwrap();
    assert!(from < to, "{from}..={to}");
    for cut in from..=to {
        let (dir, path) = world.file_of(&base[..base.len() - cut]);
        let session = Session::open(&path, world.store.options().clone())
            .unwrap_or_else(|error| panic!("{cut} bytes cut off: {error}"));
        let look = world.look_at_file(&path, session.report().clone());
        for (key, value) in fuzz {
            let known = matches!(key.as_str(), "op" | "from" | "to") || of_a_look(&look, key, value, fuzz, found);
            assert!(known, "fuzz.{key}");
        }
        drop((session, dir));
    }
}

fn look_id(world: &World, word: &str) -> Uuid {
    world.member(MAIN).names.id(word)
}

/// What every case has to hold, whatever it expects: the live state is the state that a reader finds, a close and an
/// open change nothing that is to be seen, and what was closed opens clean.
fn same_after_one_more_reopen(world: &mut World, before: &Look) {
    let Some(session) = &world.member(MAIN).session else { return };
    let state = session.state().unwrap();
    let words = |state: &State| before.names.words(state.chain().into_iter().map(|entry| entry.event.id));
    assert_eq!(words(&state), words(&before.state), "the writer's chain is not the reader's");
    assert!(state == before.state, "the writer's state is not the reader's: {state:#?}");
    world.close(MAIN);
    world.open(MAIN);
    let after = world.look(MAIN);
    assert_eq!(after.opened.as_deref(), Some("clean"), "{:#?}", after.report);
    assert_eq!(after.event_words(), before.event_words());
    assert_eq!(after.leaf(), before.leaf());
    assert_eq!(after.model().messages, before.model().messages);
    assert_eq!(after.body(None).to_json(), before.body(None).to_json());
}

/// Compares with a yes or no of the case.
fn is_flag(key: &str, expected: &Json, actual: bool) {
    assert_eq!(Some(actual), expected.as_bool(), "{key}");
}

/// Compares words in order.
fn same(key: &str, actual: &[String], expected: &Json) {
    assert_eq!(actual, strings(expected), "{key}");
}

/// Compares a value with one of a case, which may be a limit.
pub fn compare(key: &str, actual: &Json, expected: &Json) {
    let Some(limits) = expected.as_object() else { return assert_eq!(actual, expected, "{key}") };
    let number = actual.as_u64().unwrap_or_else(|| panic!("{key}: {actual} is no number"));
    for (limit, value) in limits {
        let value = value.as_u64().unwrap();
        let holds = match limit.as_str() {
            "$lt" => number < value,
            "$gt" => number > value,
            "$eq" => number == value,
            other => panic!("{key}: {other} is no limit"),
        };
        assert!(holds, "{key}: {number}, expected {expected}");
    }
}

/// What a case uses of the table of things that are not checked.
pub fn left_out(case: &Case) -> Vec<String> {
    let mut used: BTreeSet<String> = case.expect.keys().cloned().collect();
    used.extend(case.steps().iter().map(|step| format!("steps.{}", step["do"].as_str().unwrap())));
    let nested = case.expect.values().filter_map(Json::as_object);
    for expect in std::iter::once(&case.expect).chain(nested) {
        let providers = expect.get("payload").and_then(Json::as_object);
        used.extend(providers.into_iter().flatten().map(|(provider, _)| format!("payload.{provider}")));
        let codes = expect.get("diagnostics").map(list).unwrap_or_default();
        used.extend(codes.iter().map(|said| format!("diagnostics.{}", said["code"].as_str().unwrap())));
        let steps = expect.get("file_unchanged_by").map(list).unwrap_or_default();
        used.extend(steps.iter().map(|step| format!("file_unchanged_by.{}", step.as_str().unwrap())));
    }
    used.into_iter().filter(|key| is_left_out(key)).collect()
}
