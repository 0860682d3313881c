//! Export, import, export: the same bytes, and the same session.

use std::path::Path;

use proptest::prelude::*;
use seslog::interop::{import_events, read_events, write_events};
use seslog::log::RealFs;
use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions, SessionReader, Store};
use seslog::wire::{self, Provider};

use crate::history::{Run, odd_step};

fn lines_of(session: &Session) -> Vec<u8> {
    let mut lines = Vec::new();
    let reader = SessionReader::open(session.path(), RealFs::shared()).unwrap();
    write_events(&reader, &mut lines).unwrap();
    lines
}

/// The session that an import makes of these lines, in a store of its own.
fn imported(dir: &Path, of: &Session, lines: &[u8]) -> (Session, Vec<usize>) {
    let session = Store::at(dir, SessionOptions::default()).open_or_create(of.id()).unwrap();
    let report = import_events(&session, "a file", read_events(lines)).unwrap();
    let set_aside: Vec<usize> = report.bad_lines.iter().map(|bad| bad.line).collect();
    // An amend that fits no message has no effect, and is the one thing that is not taken in again; it is told.
    assert!(report.bad_lines.iter().all(|bad| bad.field.as_ref().unwrap().starts_with("patch")), "{report:?}");
    // What was repaired once is repaired, and told, in the same way again.
    assert_eq!((&report.refused[..], &report.renamed[..]), (&[][..], &[][..]));
    (session, set_aside)
}

fn bodies(session: &Session) -> Vec<String> {
    let state = session.state().unwrap();
    let messages = project(&state, View::Model, &Options::default()).messages;
    [Provider::Anthropic, Provider::OpenAiResponses, Provider::Gemini, Provider::AiSdk]
        .map(|provider| wire::payload(&messages, provider, &wire::Options::default()).to_json())
        .into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_export_becomes_the_same_session_again_to_the_byte(steps in prop::collection::vec(odd_step(), 1..40)) {
        let mut run = Run::new();
        for step in &steps {
            run.apply(step);
        }
        let session = run.session();
        let lines = lines_of(session);
        let dir = tempfile::tempdir().unwrap();
        let (again, set_aside) = imported(dir.path(), session, &lines);
        let lines_again = lines_of(&again);
        let (lines, lines_again) = (String::from_utf8_lossy(&lines), String::from_utf8_lossy(&lines_again));
        let kept = lines.lines().enumerate().filter(|(index, _)| !set_aside.contains(&(index + 1))).map(|(_, line)| line);
        // In JSON a call whose input is null is one without an input.
        let kept: Vec<String> = kept.map(|line| line.replace(",\"input\":null", "")).collect();
        let lines_again: Vec<&str> = lines_again.lines().collect();
        for (old, new) in kept.iter().zip(&lines_again) {
            prop_assert_eq!(old, new);
        }
        prop_assert_eq!(kept.len(), lines_again.len());
        prop_assert_eq!(bodies(session), bodies(&again));
        for view in [View::Transcript, View::Ui, View::Export] {
            let shown = |session: &Session| {
                let projection = project(&session.whole_state().unwrap(), view, &Options::default());
                serde_json::to_string(&projection.messages).unwrap().replace(",\"input\":null", "")
            };
            prop_assert_eq!(shown(session), shown(&again), "{:?}", view);
        }
    }
}

/// A file that only says that it is an export of ours.
#[test]
fn a_place_that_is_not_there_is_not_believed() {
    let lines = [
        r#"{"type":"session","placed":true}"#,
        r#"{"type":"message","id":"a","parentId":null,"role":"user","kind":"user_input","content":"One."}"#,
        r#"{"type":"message","id":"b","parentId":"gone","hungOn":"gone too","role":"user","kind":"user_input","content":"Two."}"#,
        r#"{"type":"message","id":"c","parentId":"c","hungOn":"c","role":"user","kind":"user_input","content":"Three."}"#,
        r#"{"type":"message","id":"d","parentId":"d","role":"user","kind":"user_input","content":"Four."}"#,
        r#"{"type":"message","id":"e","parentId":"b","offChain":true,"role":"user","kind":"user_input","content":"Five."}"#,
    ]
    .join("\n");
    let dir = tempfile::tempdir().unwrap();
    let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
    let report = import_events(&session, "a file", read_events(lines.as_bytes())).unwrap();
    assert_eq!((report.written, report.repairs.len()), (5, 3), "{report:?}");
    let state = session.whole_state().unwrap();
    let texts: Vec<_> = state.chain().iter().map(|entry| entry.event.message().unwrap().joined_text()).collect();
    assert_eq!(texts, ["One.", "Two.", "Three.", "Four."]);
}
