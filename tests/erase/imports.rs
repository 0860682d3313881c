//! Sessions that came from other agents: words of theirs are taken out, ids and places stay.

use std::path::{Path, PathBuf};

use seslog::event::{Event, to_json};
use seslog::interop::{claude_code, codex, pi};
use seslog::session::{Redaction, Session, SessionReader, Store};

use super::world::{closed, events, options, skeleton};

/// Every sample as a session of its own.
fn sessions(store: &Store) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for agent in ["claude-code", "codex", "pi"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(agent);
        for entry in std::fs::read_dir(folder).unwrap() {
            let sample = entry.unwrap().path();
            if sample.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let bytes = std::fs::read(&sample).unwrap();
            paths.push(closed(store, |session| match agent {
                "claude-code" => {
                    let read = claude_code::read(&bytes[..], &claude_code::Options::default()).unwrap();
                    drop(read.feed(session, "key").unwrap());
                }
                "codex" => {
                    let read = codex::read(&bytes[..], &codex::Options::default()).unwrap();
                    drop(read.feed(session, "key").unwrap());
                }
                _ => {
                    let read = pi::read(&bytes[..], &pi::Options::default()).unwrap();
                    drop(read.feed(session, "key").unwrap());
                }
            }));
        }
    }
    paths
}

/// What stands where, without the texts.
fn chain(path: &Path) -> Vec<String> {
    let reader = SessionReader::open(path, options().fs).unwrap();
    let state = reader.whole_state().unwrap();
    state.history().iter().map(|entry| format!("{:?}", skeleton(&entry.event))).collect()
}

#[test]
fn a_word_is_taken_out_of_every_sample_of_every_agent() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path(), options());
    let mut matches = 0;
    for path in sessions(&store) {
        let (before, places): (Vec<Event>, _) = (events(&path), chain(&path));
        // A word that stands in texts, paths and JSON, and in no id.
        let redaction = Redaction::new().pattern(r"(?i)\bth[a-z]{2,}\b|/[a-z]+/[a-z]+").unwrap();
        let report = Session::redact(&path, &redaction, &options()).unwrap();
        let after = events(&path);
        matches += report.matches;
        assert!(before.iter().map(skeleton).eq(after.iter().map(skeleton)), "{}", path.display());
        assert_eq!(places, chain(&path));
        let json: String = after.iter().map(to_json).collect();
        assert!(!json.contains("\"text\":\"the ") && !json.contains("/home/"), "{json}");
        assert!(!Session::redact(&path, &redaction, &options()).unwrap().rewritten);
    }
    assert!(matches > 100, "{matches} matches in all samples");
}
