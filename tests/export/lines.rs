//! Export, import, export: the same bytes, and the same session.

use std::path::Path;

use proptest::prelude::*;
use seslog::interop::{import_events, read_events, write_events};
use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions, Store};
use seslog::wire::{self, Provider};

use crate::history::{Run, odd_step};

fn lines_of(session: &Session) -> Vec<u8> {
    let mut lines = Vec::new();
    write_events(session.log(), &mut lines).unwrap();
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
        prop_assert_eq!(kept, lines_again);
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
