//! A Claude Code transcript in a session: the model's view is the context that the report names.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/claude.rs"]
mod claude;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use claude::{Transcript, id, long_transcript};
use seslog::event::{Kind, Message, Uuid, parse_id};
use seslog::interop::claude_code::{Imported, Options, read};
use seslog::log::Durability;
use seslog::projection::{View, project};
use seslog::session::{Session, SessionOptions, State, Store};

/// Writes the events into a session; nothing in them needs a repair. Names are ids of ours already.
fn store(session: &Session, imported: &Imported) {
    let (report, _) = imported.clone().feed(session, "s").unwrap();
    let lost = report.repairs.iter().filter(|repair| repair.reason == "missing_parent").count();
    assert_eq!(lost, imported.report.hung_on.len(), "{:?}", report.repairs);
    assert!(report.missing.is_empty() && report.refused.is_empty(), "{report:?}");
    // Once more, and nothing is new.
    let before = session.log().end();
    let (again, _) = imported.clone().feed(session, "s").unwrap();
    assert_eq!((again.written, again.known), (0, report.written + report.known));
    assert_eq!(session.log().end(), before);
}

/// One provider's answer: its blocks in order, and its results.
type Group = (Vec<Uuid>, Vec<Uuid>);

/// The same messages as answers: blocks of one answer together, then its results, as a request's body has them.
fn grouped(order: &[Uuid], state: &State) -> Vec<Group> {
    let message = |id: &Uuid| state.entry(*id).unwrap().event.message().unwrap();
    let mut groups: Vec<Group> = Vec::new();
    let mut of_message: HashMap<&str, usize> = HashMap::new();
    let mut of_call: HashMap<String, usize> = HashMap::new();
    for id in order {
        let said = message(id);
        if let Some(call) = said.results().next()
            && let Some(&group) = of_call.get(&call.call_id)
        {
            groups[group].1.push(*id);
            groups[group].1.sort_unstable();
            continue;
        }
        let new = groups.len();
        let group = said.message_id.as_deref().map_or(new, |id| *of_message.entry(id).or_insert(new));
        if group == new {
            groups.push(Group::default());
        }
        groups[group].0.push(*id);
        for call in said.calls() {
            of_call.insert(call.id.clone(), group);
        }
    }
    groups
}

/// Imports and compares the model's view with the report; also after the session was opened again.
fn assert_context_is_the_models_view(name: &str, imported: &Imported) {
    let dir = tempfile::tempdir().unwrap();
    let store_ = Store::at(dir.path(), SessionOptions::default());
    let session = store_.create().unwrap();
    store(&session, imported);
    let path = session.path().to_owned();
    let states = [session.state().unwrap(), session.whole_state().unwrap()];
    session.close().unwrap();
    let again = Session::open(&path, SessionOptions::default()).unwrap();
    let expected: Vec<Uuid> = imported.report.context_ids.iter().map(|id| parse_id(id).unwrap()).collect();
    for state in states.into_iter().chain([again.state().unwrap()]) {
        let mut shown: Vec<Uuid> = Vec::new();
        for message in project(&state, View::Model, &Default::default()).messages {
            let is_context = !matches!(*message.kind, Kind::Attachment(_));
            for id in message.source_message_ids.into_iter().filter(|_| is_context) {
                if shown.last() != Some(&id) {
                    shown.push(id);
                }
            }
        }
        let whole = again.whole_state().unwrap();
        // Words typed while the agent worked, with no answer yet, are in the session, behind the report's leaf.
        // A result whose call is not in the file is kept and not sent.
        let orphans = &imported.report.tool_calls.orphan_results;
        let orphan = |id: &Uuid| {
            let mut results = whole.entry(*id).unwrap().event.message().unwrap().results().peekable();
            results.peek().is_some() && results.all(|result| orphans.contains(&result.call_id))
        };
        let expected: Vec<Uuid> = expected.iter().copied().filter(|id| !orphan(id)).collect();
        let message = |id: &Uuid| whole.entry(*id).unwrap().event.message().unwrap();
        let typed = |id: &Uuid| message(id).extra.iter().any(|(name, _)| name == "attachment");
        while shown.len() > expected.len() && shown.last().is_some_and(typed) {
            shown.pop();
        }
        assert_eq!(grouped(&shown, &whole), grouped(&expected, &whole), "{name}: {shown:?} {expected:?}");
        match &imported.leaf {
            None => assert!(state.leaf().is_none() || expected.is_empty(), "{name}"),
            Some(_) => assert!(state.leaf().is_some(), "{name}"),
        }
    }
}

#[test]
fn every_samples_context_is_the_models_view_of_its_session() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        for strict_parents in [false, true] {
            let options = Options { strict_parents, ..Options::default() };
            let imported = read(bytes.as_slice(), &options).unwrap();
            assert_context_is_the_models_view(&format!("{path:?} strict {strict_parents}"), &imported);
        }
        // As it was at each line.
        let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
        for end in ends {
            let imported = read(&bytes[..end], &Options::default()).unwrap();
            assert_context_is_the_models_view(&format!("{path:?} up to {end}"), &imported);
        }
    }
}

#[test]
fn a_long_transcripts_context_is_the_models_view_of_its_session() {
    let imported = read(long_transcript(70, 40).as_slice(), &Options::default()).unwrap();
    assert_context_is_the_models_view("long", &imported);
}

/// A small generator of random numbers, so that a failure can be repeated by its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// A transcript whose shape the dice choose: parallel calls whose blocks hang in a row or side by side, results in any
/// order, progress, attachments, rewinds, compactions that keep a part, words only for the model.
fn random_transcript(seed: u64) -> Transcript {
    let mut dice = Dice(seed);
    let mut made = Transcript::default();
    let mut next = 0;
    let mut leaves = vec![0];
    for turn in 0..3 + dice.below(5) {
        let mut new = || {
            next += 1;
            next
        };
        // Mostly on, sometimes back to where an earlier turn ended.
        let place = if dice.below(5) == 0 { dice.below(leaves.len() as u64) as usize } else { leaves.len() - 1 };
        let start = leaves[place];
        let user = new();
        made.user(user, start, &format!("Question {turn}."));
        let message = format!("m{turn}");
        let (mut first, mut tip) = (0, user);
        let mut open: Vec<(u64, String)> = Vec::new();
        for block in 0..1 + dice.below(4) {
            let number = new();
            let parent = if first != 0 && dice.below(3) == 0 { first } else { tip };
            match dice.below(4) {
                0 => made.says(number, parent, &message, "Words."),
                _ => {
                    open.push((number, format!("t{turn}_{block}")));
                    made.calls(number, parent, &message, &format!("t{turn}_{block}"))
                }
            };
            if first == 0 {
                first = number;
            }
            tip = number;
            // The result may come before the next block.
            if dice.below(3) == 0
                && let Some((call, name)) = open.pop()
            {
                let result = new();
                made.result(result, call, &name, "out");
                if dice.below(2) == 0 {
                    tip = result;
                }
            }
            if dice.below(5) == 0 {
                made.progress(new(), tip, "p");
            }
        }
        while !open.is_empty() {
            let (call, name) = open.remove(dice.below(open.len() as u64) as usize);
            let result = new();
            made.result(result, call, &name, "out");
            if dice.below(3) == 0 {
                let hook = new();
                made.attachment(hook, result, r#""type":"hook_success","hookEvent":"PostToolUse""#);
                tip = hook;
            } else {
                tip = result;
            }
        }
        let answer = new();
        made.says(answer, tip, &format!("n{turn}"), "Answer.");
        let mut leaf = answer;
        if dice.below(3) == 0 {
            leaf = new();
            made.system(leaf, answer, "turn_duration");
        }
        if dice.below(4) == 0 {
            let (boundary, summary) = (new(), new());
            let segment = match dice.below(2) {
                0 => String::new(),
                _ => format!(
                    r#""preservedSegment":{{"headUuid":"{}","anchorUuid":"{}","tailUuid":"{}"}}"#,
                    id(user),
                    id(summary),
                    id(answer)
                ),
            };
            made.boundary(boundary, leaf, &segment).summary(summary, boundary, "Sum.");
            leaf = summary;
        }
        if dice.below(6) == 0 {
            made.meta(new(), leaf, "<local-command-caveat>");
        }
        leaves.push(leaf);
    }
    made
}

#[test]
fn the_context_of_random_transcripts_is_the_models_view_of_their_sessions() {
    for seed in 0..300 {
        let made = random_transcript(seed);
        let imported = read(made.text.as_bytes(), &Options::default()).unwrap();
        assert!(imported.report.tool_calls.orphan_results.is_empty(), "seed {seed}");
        assert_context_is_the_models_view(&format!("seed {seed}"), &imported);
    }
}

#[test]
fn an_import_can_be_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
    let mut made = Transcript::default();
    made.user(1, 0, "One.").says(2, 1, "m", "Two.").meta(3, 2, "<local-command-caveat>");
    store(&session, &read(made.text.as_bytes(), &Options::default()).unwrap());
    let _ = session.append(Message::user("Three."), Durability::Os).unwrap();
    let state = session.state().unwrap();
    assert_eq!(state.leaf().unwrap().event.parent, parse_id(&id(2)));
}

#[test]
fn a_grown_file_adds_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let store_ = Store::at(dir.path(), SessionOptions::default());
    let bytes = long_transcript(12, 20);
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    let grow = |ends: &[usize]| {
        let session = store_.create().unwrap();
        let (mut written, mut renamed) = (0, 0);
        for &end in ends {
            let (report, _) = read(&bytes[..end], &Options::default()).unwrap().feed(&session, "s").unwrap();
            assert!(report.refused.is_empty() && report.missing.is_empty(), "{report:?}");
            written += report.written;
            renamed += report.renamed.len();
        }
        let messages = project(&session.state().unwrap(), View::Model, &Default::default()).messages;
        let view: Vec<_> = messages.into_iter().map(|message| (message.kind, message.content)).collect();
        (view, written, renamed)
    };
    let (view, at_once, _) = grow(&[bytes.len()]);
    // Between turns every record is as it will stay.
    let is_between = |&&end: &&usize| {
        bytes[..end]
            .rsplit(|byte| *byte == b'\n')
            .next()
            .is_some_and(|line| String::from_utf8_lossy(line).contains("turn_duration"))
    };
    let turns: Vec<usize> = ends.iter().filter(is_between).copied().collect();
    let (by_turns, written, renamed) = grow(&turns);
    assert_eq!((turns.len(), renamed), (12, 0));
    assert_eq!(written, at_once);
    assert_eq!(by_turns, view);
    // Within an answer, the last record so far holds what the answer costs so far, and is another record later.
    let lines: Vec<usize> = ends.iter().copied().step_by(5).chain([bytes.len()]).collect();
    assert_eq!(grow(&lines).0, view);
}

#[test]
fn lines_lost_doubled_and_out_of_order_are_all_stored() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let made = random_transcript(seed);
        let mut lines: Vec<String> = made.text.lines().map(str::to_owned).collect();
        for _ in 0..dice.below(8) {
            let (from, to) = (dice.below(lines.len() as u64) as usize, dice.below(lines.len() as u64) as usize);
            match dice.below(5) {
                0 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from].clone()),
                2 => lines.insert(to, lines[from].replace("Words.", "Other words.")),
                3 => lines.swap(from, to),
                // Another parent, often one that makes a circle.
                _ => lines[from] = lines[from].replacen(&id(dice.below(9)), &id(dice.below(20)), 1),
            }
            if lines.is_empty() {
                break;
            }
        }
        let text = lines.join("\n");
        for strict_parents in [false, true] {
            let options = Options { strict_parents, ..Options::default() };
            let imported = read(text.as_bytes(), &options).unwrap();
            let dir = tempfile::tempdir().unwrap();
            let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
            let records = imported.report.transcript_records;
            let summaries = imported.events.len();
            let (report, found) = imported.feed(&session, "s").unwrap();
            assert!(report.missing.is_empty() && report.refused.is_empty(), "seed {seed}: {report:?}");
            assert_eq!(report.written, summaries, "seed {seed}");
            assert!(records <= summaries + found.compact_boundaries_all.len(), "seed {seed}");
        }
    }
}
