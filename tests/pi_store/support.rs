//! Importing a file and looking at the session that is opened then.

use std::fs;
use std::path::Path;

use seslog::event::{Kind, Message};
use seslog::interop::pi::{Imported, Options, PiReport, read};
use seslog::projection::{ProjectedMessage, View, project};
use seslog::session::{Session, SessionOptions, State, Store};

/// Each sample and its bytes.
pub(crate) fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pi");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

pub(crate) fn read_text(text: &str) -> Imported {
    read(text.as_bytes(), &Options::default()).unwrap()
}

/// Imports into a new session, twice: the second time nothing is new. Gives the session as it is opened again.
pub(crate) fn import(name: &str, imported: &Imported, dir: &Path) -> Session {
    let session = Store::at(dir, SessionOptions::default()).create().unwrap();
    let (report, _) = imported.clone().feed(&session, "s").unwrap();
    assert!(report.missing.is_empty() && report.refused.is_empty() && report.renamed.is_empty(), "{name}: {report:?}");
    assert_eq!(report.written, imported.events.len(), "{name}");
    let late: Vec<_> = report.repairs.iter().filter(|repair| repair.reason != "missing_parent").collect();
    assert!(late.is_empty(), "{name}: {late:?}");
    assert_eq!(report.repairs.len(), imported.report.hung_on.len(), "{name}: {report:?}");
    let end = session.log().end();
    let (again, _) = imported.clone().feed(&session, "s").unwrap();
    assert_eq!((again.written, session.log().end()), (0, end), "{name}: {again:?}");
    let path = session.path().to_owned();
    session.close().unwrap();
    Session::open(&path, SessionOptions::default()).unwrap()
}

/// The id in the file of what a view shows; a twin has that of its entry.
pub(crate) fn name(message: &ProjectedMessage) -> String {
    let name = message.original_ids.first().expect("ids of the file are none of ours");
    let is_summary = matches!(*message.kind, Kind::CompactSummary(_));
    let name = name.strip_suffix(".summary").filter(|_| is_summary).unwrap_or(name);
    name.split('~').next().unwrap_or(name).to_owned()
}

pub(crate) fn model_view(state: &State) -> Vec<ProjectedMessage> {
    project(state, View::Model, &Default::default()).messages
}

/// The same ids, results that stand side by side in one order.
fn settled(ids: Vec<(String, bool)>) -> Vec<String> {
    let mut settled: Vec<String> = Vec::new();
    let mut results: Vec<String> = Vec::new();
    for (id, is_result) in ids {
        if !is_result {
            results.sort();
            settled.append(&mut results);
            settled.push(id);
        } else {
            results.push(id);
        }
    }
    results.sort();
    settled.append(&mut results);
    settled
}

/// Holds the model's view of the opened session against the context that the report names: all of it, but for broken
/// turns and for results that answer no call.
pub(crate) fn assert_context(name_of_it: &str, session: &Session, report: &PiReport) {
    let whole = session.whole_state().unwrap();
    let message = |id: &str| -> Option<Message> {
        let entries = whole.entries().iter();
        let mut of_it = entries.filter(|entry| entry.event.original_id.as_deref() == Some(id));
        of_it.find_map(|entry| entry.event.message().cloned())
    };
    // A view shows a result behind its call, whatever came between.
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut turns: Vec<(Option<String>, Vec<String>)> = Vec::new();
    for entry in &report.context {
        let said = message(&entry.id);
        if let Some(call) = said.as_ref().and_then(|said| said.results().next()).map(|result| &result.call_id) {
            if let Some(place) = open.iter().position(|(open, _)| open == call) {
                let (_, turn) = open.remove(place);
                turns[turn].1.push(entry.id.clone());
            }
            continue;
        }
        open.extend(said.iter().flat_map(Message::calls).map(|call| (call.id.clone(), turns.len())));
        let is_sent = !report.unusable_turns.contains(&entry.id);
        turns.push((is_sent.then(|| entry.id.clone()), Vec::new()));
    }
    let expected = turns.into_iter().flat_map(|(said, results)| {
        said.into_iter().map(|id| (id, false)).chain(results.into_iter().map(|id| (id, true)))
    });
    let expected = settled(expected.collect());
    for state in [session.state().unwrap(), whole.clone()] {
        let view = model_view(&state);
        let shown = view.iter().map(|message| (name(message), matches!(*message.kind, Kind::ToolResult))).collect();
        assert_eq!(settled(shown), expected, "{name_of_it}");
    }
}

/// What a view says, without ids.
pub(crate) fn said(session: &Session) -> Vec<(String, String)> {
    let state = session.state().unwrap();
    model_view(&state).iter().map(|message| (name(message), format!("{:?}", message.content))).collect()
}
