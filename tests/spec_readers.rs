//! Two readers, the library and `format-spec/reader.py`, which share no line and were written from the same text, say the same
//! about every golden log of `format-spec/vectors/` and about logs of random histories and damage.
//!
//! `SESLOG_BLESS=1 cargo test --test spec_readers` writes the golden files anew: only for a change of the format that is meant.

#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;
mod spec_support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use seslog::event::{decode, encode};
use seslog::log::LogOptions;
use spec_support::document::{document, is_compressed};
use spec_support::python::{read_all, reader as second_reader, spec_dir};
use spec_support::random::{Random, bend, history};
use spec_support::story::{Story, new_log, recovered, result, uid, user};
use spec_support::vectors::{Vector, all};

/// Random histories in one run; each gives a few files.
const HISTORIES: u64 = 60;
/// What only the second reader says.
const ITS_OWN: [&str; 4] = ["wrong_states", "wrong_hints", "wrong_indexes", "body_fault"];

fn golden(name: &str) -> PathBuf {
    spec_dir().join("vectors").join(name)
}

fn blessing() -> bool {
    std::env::var_os("SESLOG_BLESS").is_some()
}

/// Where two documents differ; empty if they don't. The library's may leave out what it cannot know.
fn differences(ours: &Value, theirs: &Value, at: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let refused = theirs.get("verdict") == Some(&Value::from("refused"));
            let may_lack = |name: &str| ITS_OWN.contains(&name) || (name == "header" && refused);
            for (name, value) in theirs {
                match ours.get(name) {
                    Some(own) => differences(own, value, &format!("{at}.{name}"), found),
                    None if may_lack(name) => {}
                    None => found.push(format!("{at}.{name}: only the second reader has it")),
                }
            }
            let lacking = ours.keys().filter(|name| !theirs.contains_key(*name));
            found.extend(lacking.map(|name| format!("{at}.{name}: only the library has it")));
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                differences(ours, theirs, &format!("{at}[{index}]"), found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{at}: library {ours}, second reader {theirs}")),
    }
}

fn same(what: &str, bytes: &[u8], theirs: &Value) {
    let mut found = Vec::new();
    differences(&document(bytes), theirs, "", &mut found);
    assert!(found.is_empty(), "{what}: the readers differ:\n{}", found.join("\n"));
}

/// Frames of one status in a document.
fn of_status<'a>(doc: &'a Value, status: &'a str) -> impl Iterator<Item = &'a Value> {
    let frames = doc["frames"].as_array().into_iter().flatten();
    frames.filter(move |frame| frame["status"] == status)
}

fn text(doc: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(doc).expect("JSON"))
}

#[test]
fn the_golden_logs_are_what_their_maker_makes() {
    let vectors = all();
    for vector in &vectors {
        let file = golden(&format!("{}.seslog", vector.name));
        if blessing() {
            std::fs::write(&file, &vector.bytes).expect("a golden log");
        }
        let stored = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(stored == vector.bytes, "{}: the maker's bytes have changed", vector.name);
    }
    let list: String = vectors
        .iter()
        .map(|vector| format!("| `{}` | {} | {} |\n", vector.name, vector.verdict, vector.what))
        .collect();
    let list = format!(
        "# Golden logs\n\nEach `NAME.seslog` is a log, and `NAME.expect.json` what `reader.py` says about it. `tests/spec_readers.rs` holds \
         both readers\nto them. `example.seslog` is the worked example of FORMAT.md.\n\n| name | verdict | what it shows |\n| --- | --- | --- |\n{list}"
    );
    let file = golden("README.md");
    if blessing() {
        std::fs::write(&file, &list).expect("the list");
    }
    assert_eq!(
        std::fs::read_to_string(&file).expect("the list is there"),
        list,
        "the list of golden logs is an old one"
    );
    let mut names: Vec<String> = std::fs::read_dir(golden(""))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.retain(|name| name.ends_with(".seslog") && name != "example.seslog");
    assert_eq!(names.len(), vectors.len(), "a golden log that nobody makes");
}

#[test]
fn both_readers_say_of_every_golden_log_what_is_expected() {
    let vectors = all();
    let files: Vec<Vec<u8>> = vectors.iter().map(|vector| vector.bytes.clone()).collect();
    let (documents, status) = read_all(&files);
    assert_eq!(status, 1, "damaged ones are among them");
    for (vector, theirs) in vectors.iter().zip(&documents) {
        as_promised(vector, theirs);
        same(vector.name, &vector.bytes, theirs);
        let file = golden(&format!("{}.expect.json", vector.name));
        if blessing() {
            std::fs::write(&file, text(theirs)).expect("what is expected");
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let expected: Value = serde_json::from_str(&expected).expect("JSON");
        let mut found = Vec::new();
        differences(theirs, &expected, "", &mut found);
        assert!(
            found.is_empty(),
            "{}: left the second reader, right the golden file:\n{}",
            vector.name,
            found.join("\n")
        );
    }
}

/// What the maker says must come of it, in a few words.
fn as_promised(vector: &Vector, doc: &Value) {
    assert_eq!(doc["verdict"], vector.verdict, "{}: {doc:#}", vector.name);
    let records = of_status(doc, "accepted").filter(|frame| ![16, 17, 18].contains(&frame["type"].as_u64().unwrap()));
    let records: Vec<&str> = records.map(|frame| frame["id"].as_str().unwrap()).collect();
    let expected: Vec<String> = vector.records.iter().map(|number| uid(*number).to_string()).collect();
    assert_eq!(records, expected, "{}", vector.name);
    if vector.verdict == "clean" {
        for name in &ITS_OWN[..3] {
            assert_eq!(doc[name].as_array().map(Vec::len), Some(0), "{}: {name}", vector.name);
        }
    }
}

#[test]
fn the_events_in_the_golden_logs_come_back_byte_for_byte() {
    let mut events = 0;
    for vector in all().iter().filter(|vector| vector.verdict == "clean" && vector.name != "compressed_wrong") {
        let disk = log_support::disk_with(&vector.bytes);
        let (reader, _) = log_support::read(&disk).expect("a log");
        for frame in reader.frames(0).map_while(Result::ok).filter(|frame| !frame.frame_type().is_own()) {
            let event = decode(frame.payload()).expect("an event");
            let bytes = encode(&event).expect("its bytes");
            assert_eq!(event.id, frame.id(), "{}", vector.name);
            match is_compressed(frame.payload()) {
                true => assert!(reader.info().is_compressed() && decode(&bytes).as_ref() == Ok(&event)),
                false => assert_eq!(bytes, frame.payload(), "{}", vector.name),
            }
            events += 1;
        }
    }
    assert!(events > 60, "{events}");
}

#[test]
fn both_readers_say_the_same_of_random_logs() {
    let seed = std::env::var("SESLOG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut names, mut files) = (Vec::new(), Vec::new());
    for number in seed..seed + HISTORIES {
        let mut random = Random::new(number);
        for (index, file) in history(&mut random).into_iter().enumerate() {
            let bent = bend(&mut random, &file);
            for (what, bytes) in [("as written", file), ("bent", bent)] {
                files.extend(recovered(&bytes).into_iter().chain([bytes]));
                names.resize(files.len(), format!("SESLOG_SEED={number}, file {index}, {what}"));
            }
        }
    }
    let (documents, _) = read_all(&files);
    let (mut count, mut statuses) = (BTreeMap::new(), BTreeMap::new());
    for ((name, bytes), theirs) in names.iter().zip(&files).zip(&documents) {
        same(name, bytes, theirs);
        let verdict = theirs["verdict"].as_str().expect("a verdict");
        *count.entry(verdict).or_insert(0) += 1;
        for frame in theirs["frames"].as_array().into_iter().flatten() {
            *statuses.entry(frame["status"].as_str().expect("a status")).or_insert(0) += 1;
        }
        // Where nothing is damaged, all frames of the log agree with one another.
        if verdict == "clean" || verdict == "recovered" {
            for what in &ITS_OWN[..3] {
                assert_eq!(theirs[what].as_array().map(Vec::len), Some(0), "{name}: {what}: {}", theirs[what]);
            }
        }
    }
    println!("{} files: {count:?}, frames: {statuses:?}", files.len());
    // So that the histories do not become so tame that there is nothing to differ about.
    for verdict in ["clean", "recovered", "damaged"] {
        assert!(count.get(verdict).is_some_and(|count| *count > 20), "{count:?}");
    }
    for status in ["accepted", "set_aside", "incomplete", "orphan", "displaced"] {
        assert!(statuses.get(status).is_some_and(|count| *count > 3), "{statuses:?}");
    }
}

#[test]
fn the_second_reader_says_by_its_exit_status_how_it_went() {
    let reader = |arguments: &[&str]| {
        let output = second_reader().args(arguments).output().expect("Python starts");
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout).ok())
    };
    let file = |name: &str| golden(name).to_str().expect("UTF-8").to_owned();
    let (clean, damaged, newer) = (file("batch.seslog"), file("zeroed_frame.seslog"), file("incompat_unknown.seslog"));
    assert_eq!(reader(&[&clean]).0, Some(0));
    assert_eq!(reader(&[&clean, "--json"]).1.expect("a document")["verdict"], "clean");
    assert_eq!(reader(&[&file("torn_tail.seslog")]).0, Some(0));
    assert_eq!(reader(&[&damaged]).0, Some(1));
    assert_eq!(reader(&[&newer]).0, Some(1));
    assert_eq!(reader(&[&file("no such file")]).0, Some(3));
    assert_eq!(reader(&[]), (Some(2), None));
    assert_eq!(reader(&["--what", &clean]), (Some(2), None));
    assert_eq!(reader(&[&clean, &damaged]), (Some(2), None), "several files are one line each, and that must be said");
}

#[test]
fn the_second_reader_finds_every_index_right_up_to_the_second_level() {
    let mut story = Story::with(new_log(), LogOptions::default().index_records(16), 0);
    story.put(user(1, None, "Hi."));
    for number in 2..=300 {
        let item = if number % 7 == 0 { result(number, number - 1) } else { user(number, Some(number - 1), "So.") };
        story.leave(item);
    }
    let file = story.close();
    let (documents, status) = read_all(std::slice::from_ref(&file));
    assert_eq!(
        (status, &documents[0]["verdict"], &documents[0]["wrong_indexes"]),
        (0, &"clean".into(), &Value::Array(vec![]))
    );
    same("300 records", &file, &documents[0]);
    let indexes = of_status(&documents[0], "accepted").filter(|frame| frame["type"] == 18);
    let levels: Vec<u8> = indexes.map(|frame| file[frame["offset"].as_u64().unwrap() as usize + 64 + 40]).collect();
    assert!(levels.len() > 16 && levels.contains(&1), "{levels:?}");
}
