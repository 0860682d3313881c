//! Files that no program would write.

use seslog::interop::pi::{Options, read};
use seslog::session::{SessionOptions, Store};

use super::made::{Dice, Made, random_file};
use super::support::{assert_context, import, read_text, samples};

/// Reads and stores any bytes: no panic, the work grows with the input, a second import writes nothing.
fn take_any(name: &str, bytes: &[u8]) {
    for choice in 0..4 {
        let options = Options { strict_parents: choice & 1 == 1, skip_bad_lines: choice & 2 == 2 };
        let imported = read(bytes, &options).unwrap();
        let len = bytes.len() as u64;
        let limit = 64 * len + (1 << 16);
        assert!(imported.cost.bytes <= limit && imported.cost.steps <= limit, "{name}: {:?}", imported.cost);
        assert!(imported.events.len() as u64 <= len, "{name}: {} events of {len} bytes", imported.events.len());
        if choice > 0 {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
        let (first, _) = imported.clone().feed(&session, "s").unwrap();
        assert!(first.refused.is_empty(), "{name}: {first:?}");
        let (again, _) = imported.feed(&session, "s").unwrap();
        assert_eq!(again.written, 0, "{name}: {again:?}");
    }
}

#[test]
fn cuts_nuls_and_doubled_lines_are_all_taken() {
    let mut files: Vec<Vec<u8>> = samples().into_iter().map(|(_, bytes)| bytes).collect();
    files.extend((0..6).map(|seed| random_file(seed).text.into_bytes()));
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let mut bytes = files[dice.below(files.len())].clone();
        for _ in 0..1 + dice.below(6) {
            let (from, to) = (dice.below(bytes.len()), dice.below(bytes.len()));
            match dice.below(6) {
                0 => bytes.truncate(from.max(1)),
                1 => bytes[from] = 0,
                2 => drop(bytes.splice(from..from, [0; 40])),
                3 => drop(bytes.drain(from.min(to)..to.max(from).min(from.min(to) + 60))),
                4 => bytes[from] = dice.below(256) as u8,
                _ => {
                    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                    let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
                    match dice.below(3) {
                        0 => lines.insert(to, lines[from].clone()),
                        1 => lines.swap(from, to),
                        _ => drop(lines.remove(from)),
                    }
                    bytes = lines.join(&b'\n');
                }
            }
            if bytes.is_empty() {
                bytes.push(b'\n');
            }
        }
        take_any(&format!("seed {seed}"), &bytes);
    }
}

#[test]
fn circles_and_lines_out_of_order_keep_every_entry() {
    let mut made = Made::new();
    made.user("a", "c", "One.").user("b", "a", "Two.").user("c", "b", "Three.").user("d", "d", "Own parent.");
    made.user("e", "f", "Child first.").user("f", "", "Parent.").user("g", "e", "Go on.");
    take_any("circle", made.text.as_bytes());
    let imported = read_text(&made.text);
    assert_eq!(imported.report.entries, 7);
    let dir = tempfile::tempdir().unwrap();
    let session = import("circle", &imported, dir.path());
    assert_context("circle", &session, &imported.report);
    let chain: Vec<&str> = imported.report.live_chain.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(chain, ["f", "e", "g"]);
    let codes: Vec<&str> = imported.report.warnings.iter().map(|warning| warning.code).collect();
    assert!(codes.contains(&"cycle"), "{codes:?}");
}

#[test]
fn what_many_compactions_edits_and_branches_cost_grows_with_the_file() {
    let mut made = Made::new();
    made.user("u0", "", "One.");
    for number in 1..2000 {
        made.user(&format!("u{number}"), &format!("u{}", number - 1), "More.");
        made.line(&format!(
            r#"{{"type":"compaction","id":"c{number}","parentId":"u{number}","summary":"S","firstKeptEntryId":"u0"}}"#
        ));
    }
    take_any("compactions", made.text.as_bytes());
    let mut made = Made::new();
    made.user("a", "", &"Long. ".repeat(2000)).user("b", "a", "Left.").user("c", "a", "Right.");
    let (mut left, mut right) = ("b".to_owned(), "c".to_owned());
    for number in 0..1000 {
        for (at, side) in [(&mut left, 'l'), (&mut right, 'r')] {
            let id = format!("{side}{number}");
            made.edit(&id, at, "a", "\"Short.\"");
            *at = id;
        }
    }
    take_any("edits", made.text.as_bytes());
    let mut made = Made::new();
    made.user("u", "", "One.").answer(
        "a",
        "u",
        &format!(r#"{{"type":"toolCall","id":"c","name":"read","arguments":{{"path":"{}"}}}}"#, "x".repeat(20_000)),
        "toolUse",
    );
    for number in 0..1000 {
        made.result(&format!("r{number}"), "a", "c", "out");
    }
    take_any("results", made.text.as_bytes());
}

#[test]
fn odd_values_in_known_fields_are_kept() {
    let mut made = Made::new();
    made.line(r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":{"odd":1}}}"#);
    made.line(r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[5,{"type":"toolCall"},{"type":"thinking"}],"usage":{"input":-1}}}"#);
    made.line(r#"{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","content":null}}"#);
    made.line(r#"{"type":"message","id":"d","parentId":7,"message":"no object"}"#);
    made.line(r#"{"type":"message","id":"e","parentId":"d"}"#);
    made.line(r#"{"type":"compaction","id":"f","parentId":"e","summary":5,"firstKeptEntryId":[]}"#);
    made.line(r#"{"type":"context_edit","id":"g","parentId":"f","targetId":"nobody"}"#);
    made.line(r#"{"id":"h","parentId":"g"}"#);
    made.line(r#"{"no":"type"}"#);
    take_any("odd", made.text.as_bytes());
    let report = read_text(&made.text).report;
    assert_eq!((report.entries, report.records), (8, 10));
}

#[test]
fn an_edit_that_does_not_say_what_to_put_in_changes_nothing_and_is_told() {
    for replacement in ["5", "{}", "true"] {
        let mut made = Made::new();
        made.user("a", "", "One.").edit("e", "a", "a", replacement).user("b", "e", "Two.");
        let report = read_text(&made.text).report;
        assert_eq!(report.context_first_text.as_deref(), Some("One."), "{replacement}");
        assert!(report.warnings.iter().any(|warning| warning.code == "context_may_differ"), "{replacement}");
    }
    let mut made = Made::new();
    made.user("a", "", "One.").edit("e", "a", "a", "null").user("b", "e", "Two.");
    assert_eq!(read_text(&made.text).report.context_first_text.as_deref(), Some("Two."));
}
