//! A Claude Code transcript in a session: the model's view is the context that the report names.

#[path = "common/claude.rs"]
mod claude;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use claude::{Transcript, id, long_transcript};
use seslog::event::{Body, Head, Kind, Message, Prune, Uuid, foreign_id, parse_id};
use seslog::interop::claude_code::{Imported, Options, read};
use seslog::interop::{IncomingBody, IncomingParent};
use seslog::log::Durability;
use seslog::projection::{View, project};
use seslog::session::{ImportedCompaction, NewEvent, Parent, Session, SessionOptions, State, Store};

/// Puts the events into a session as they come. Names are looked up among earlier ones.
fn store(session: &Session, imported: &Imported) -> HashMap<String, Uuid> {
    let mut names: HashMap<String, Uuid> = HashMap::new();
    let mut uses: HashMap<String, u32> = HashMap::new();
    let mut import = session.import().unwrap();
    for event in &imported.events {
        let name = event.id.clone().unwrap();
        let used = uses.entry(name.clone()).or_default();
        *used += 1;
        let id = match parse_id(&name) {
            Some(id) if *used == 1 => id,
            _ => foreign_id("claude_code", "s", &name, *used),
        };
        let parent = match &event.parent {
            IncomingParent::Leaf => Parent::Leaf,
            IncomingParent::Root => Parent::Root,
            IncomingParent::Id(parent) => Parent::Of(names[parent]),
        };
        let new = |body| NewEvent {
            id: Some(id),
            parent,
            at: event.at.or(Some(0)),
            original_id: None,
            original_parent: None,
            body,
            extra: event.extra.clone(),
        };
        let body = match event.body.clone() {
            IncomingBody::Compaction { summary_id, summary, keep, trigger, .. } => {
                let summary_name = summary_id.unwrap();
                let summary_id = parse_id(&summary_name).unwrap();
                names.insert(name, id);
                names.insert(summary_name, summary_id);
                let compaction = ImportedCompaction {
                    boundary: new(Body::Message(Box::new(Message::system_note("")))),
                    summary: NewEvent::new(Body::Message(summary)).with_id(summary_id).at(0),
                    keep: keep.iter().map(|kept| names[kept]).collect(),
                    trigger,
                };
                let (repairs, missing) = import.add_compaction(compaction).unwrap();
                assert!(repairs.is_empty() && missing.is_empty(), "{repairs:?} {missing:?}");
                continue;
            }
            IncomingBody::Message(message) => Body::Message(message),
            IncomingBody::Prune { targets } => {
                Body::Prune(Prune { targets: targets.iter().map(|t| names[t]).collect() })
            }
            IncomingBody::Head { leaf } => Body::Head(Head { leaf: leaf.map(|leaf| names[&leaf]) }),
            IncomingBody::SessionMeta(meta) => Body::SessionMeta(meta),
            IncomingBody::Extension(extension) => Body::Extension(extension),
            other => panic!("{other:?}"),
        };
        names.insert(name, id);
        import.add(new(body)).unwrap();
    }
    import.finish().unwrap();
    names
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
    let names = store(&session, imported);
    let path = session.path().to_owned();
    let states = [session.state().unwrap(), session.whole_state().unwrap()];
    session.close().unwrap();
    let again = Session::open(&path, SessionOptions::default()).unwrap();
    let expected: Vec<Uuid> = imported.report.context_ids.iter().map(|id| names[id]).collect();
    for state in states.into_iter().chain([again.state().unwrap()]) {
        let mut shown: Vec<Uuid> = Vec::new();
        for message in project(&state, View::Model, &Default::default()).messages {
            let is_context = !matches!(message.kind, Kind::Attachment(_));
            for id in message.source_message_ids.into_iter().filter(|_| is_context) {
                if shown.last() != Some(&id) {
                    shown.push(id);
                }
            }
        }
        let whole = again.whole_state().unwrap();
        // Words typed while the agent worked, with no answer yet, are in the session, behind the report's leaf.
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
    let names = store(&session, &read(made.text.as_bytes(), &Options::default()).unwrap());
    let _ = session.append(Message::user("Three."), Durability::Os).unwrap();
    let state = session.state().unwrap();
    assert_eq!(state.leaf().unwrap().event.parent, Some(names[&id(2)]));
}
