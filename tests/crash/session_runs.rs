//! Small runs of a session, each with every power cut at every moment of it.

use std::path::{Path, PathBuf};

use seslog::event::{Message, Part, SessionMeta, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, NewEvent, Session, SessionError, State, Store};
use seslog::sim::{Count, Crashes, Persistence, SimDisk, persistence};

use super::session_check::{Promise, Walk, options, others_are_whole, path};
use super::{deep, say};

/// A session on a simulated disk, with the state after each step.
struct Run {
    disk: SimDisk,
    session: Option<Session>,
    states: Vec<State>,
    created: bool,
}

impl Run {
    /// From before the session exists.
    fn from_nothing() -> Self {
        let disk = SimDisk::new();
        disk.record();
        let session = Session::create(&path(), options(&disk, 0)).unwrap();
        disk.note(0);
        let states = vec![session.whole_state().unwrap()];
        Self { disk, session: Some(session), states, created: false }
    }

    /// After some durable talk; recorded from then on.
    fn with_talk() -> Self {
        let mut run = Self::from_nothing();
        run.append(Message::user("hello"));
        run.append(Message::assistant_calls(vec![Part::tool_call("c1", "run", Value::Map(Vec::new()))]));
        run.session().sync().unwrap();
        run.disk.record();
        run.created = true;
        run.durable();
        run
    }

    fn session(&self) -> &Session {
        self.session.as_ref().expect("the session is open")
    }

    fn step<T>(&mut self, step: impl FnOnce(&Session) -> Result<T, SessionError>) -> T {
        let done = step(self.session()).unwrap();
        self.states.push(self.session().whole_state().unwrap());
        done
    }

    fn append(&mut self, event: impl Into<NewEvent>) -> Uuid {
        self.step(|session| session.append(event, Durability::Os)).id
    }

    fn last(&self) -> Uuid {
        self.states.last().and_then(State::leaf).expect("there is a leaf").event.id
    }

    /// All steps so far are acknowledged as durable.
    fn durable(&self) {
        self.disk.note(self.states.len() as u64 - 1);
    }

    fn sync(&self) {
        self.session().sync().unwrap();
        self.durable();
    }

    fn close(&mut self) {
        self.session.take().expect("the session is open").close().unwrap();
        self.durable();
    }

    fn kill(&mut self) {
        self.disk.kill();
        self.session = None;
    }

    fn open(&mut self) {
        let since = 1_000_000 * self.disk.calls(seslog::sim::Call::Open);
        let session = Session::open(&path(), options(&self.disk, since)).unwrap();
        assert_eq!(Some(&session.whole_state().unwrap()), self.states.last());
        self.session = Some(session);
        self.durable();
    }
}

fn every_cut(what: &str, depth: usize, run: impl Fn() -> Run) {
    let (depth, full) = if deep() > 0 { (depth + deep(), 8) } else { (depth, 5) };
    let mut count = Count::default();
    let models: &[Persistence] = if deep() > 0 { &persistence::ALL } else { &[persistence::ANYTHING] };
    for model in models {
        let mut run = run();
        run.kill();
        let mut walk = Walk::new(*model, full);
        walk.run(&run.disk, &Promise { states: run.states, created: run.created }, depth);
        count += walk.count;
    }
    say(what, count);
}

#[test]
fn a_cut_while_a_session_is_made_and_gets_its_first_message_leaves_it_whole_or_absent() {
    every_cut("session: create", 2, || {
        let mut run = Run::from_nothing();
        run.append(Message::user("hello"));
        run.sync();
        run
    });
}

#[test]
fn a_cut_around_a_call_and_its_result_leaves_a_state_that_the_session_has_had() {
    every_cut("session: result", 1, || {
        let mut run = Run::with_talk();
        let _ = run.step(|session| session.tool_started("c1", Some("key"), Durability::Os));
        run.append(Message::tool_result("c1", "done", false));
        run.append(Message::assistant("that is it"));
        run.sync();
        run
    });
}

#[test]
fn a_cut_leaves_a_compaction_whole_or_not_at_all() {
    every_cut("session: compact", 1, || {
        let mut run = Run::with_talk();
        let keep = vec![run.append(Message::tool_result("c1", "done", false))];
        let _ = run.step(|session| session.compact(Compaction::new("so far").keep(keep), Durability::Os));
        run.append(Message::user("go on"));
        run.sync();
        run
    });
}

#[test]
fn a_cut_around_changes_of_earlier_messages_leaves_each_done_or_not() {
    every_cut("session: changes", 1, || {
        let mut run = Run::with_talk();
        let call = run.last();
        let _ = run.step(|session| session.amend(call, vec![("model".into(), Value::from("m"))], Durability::Os));
        let _ = run.step(|session| session.tombstone(&[call], Some("wrong"), Durability::Os));
        let _ = run.step(|session| {
            session.set_meta(SessionMeta { title: Some("t".into()), ..SessionMeta::default() }, Durability::Os)
        });
        run.sync();
        run
    });
}

#[test]
fn a_cut_around_a_rewind_leaves_one_leaf_or_the_other() {
    every_cut("session: rewind", 2, || {
        let mut run = Run::with_talk();
        let first = run.states[1].leaf().unwrap().event.id;
        let _ = run.step(|session| session.rewind(Some(first), Durability::Os));
        run.append(Message::assistant("another way"));
        run.sync();
        run
    });
}

#[test]
fn a_cut_after_a_close_and_after_the_next_opening_loses_nothing() {
    every_cut("session: close and open", 2, || {
        let mut run = Run::with_talk();
        run.close();
        run.open();
        run.append(Message::tool_result("c1", "done", false));
        run.kill();
        run.open();
        run.sync();
        run
    });
}

/// All states of a recorded run, without recovery.
fn each_state(what: &str, disk: &SimDisk, check: impl Fn(&seslog::sim::Crash<'_>)) {
    let mut count = Count::default();
    for model in persistence::ALL {
        count += Crashes::of(&disk.trace(), model).for_each(&check);
    }
    say(what, count);
}

#[test]
fn a_cut_while_a_store_is_made_keeps_each_session_that_was_acknowledged() {
    let disk = SimDisk::new();
    disk.record();
    let store = Store::at("/home/me/sessions", options(&disk, 0));
    let session = store.create().unwrap();
    let file = session.path().to_owned();
    session.append(Message::user("hello"), Durability::Sync).unwrap().wait().unwrap();
    disk.note(1);
    each_state("store: create", &disk, |crash| {
        if crash.notes.is_empty() {
            return;
        }
        assert!(crash.image.files.contains_key(&file), "the session was acknowledged: {:?}", crash.image.dirs);
        let disk = SimDisk::holding(&crash.image);
        let store = Store::at("/home/me/sessions", options(&disk, 9_000_000));
        assert_eq!(store.list().unwrap().len(), 1);
    });
}

#[test]
fn a_cut_while_a_session_is_forked_leaves_the_fork_whole_or_absent_and_the_parent_as_it_was() {
    let disk = SimDisk::new();
    let store = Store::at("/store", options(&disk, 0));
    let session = store.create().unwrap();
    let parent = session.path().to_owned();
    let at = session.append(Message::user("hello"), Durability::Os).unwrap().id;
    session.append(Message::assistant("hi"), Durability::Sync).unwrap().wait().unwrap();
    let name = session.id().to_string();
    session.close().unwrap();
    // The slot that a close leaves is not synced: what counts here begins with all of it on the disk.
    let disk = SimDisk::holding(&disk.image());
    let store = Store::at("/store", options(&disk, 0));
    let before = disk.bytes(&parent);
    disk.record();
    let fork = store.fork(&name, at).unwrap();
    let file: PathBuf = fork.path().to_owned();
    disk.note(1);
    each_state("store: fork", &disk, |crash| {
        assert!(*crash.image.files[&parent] == *before, "the parent is as it was");
        others_are_whole(&crash.image, &parent);
        assert!(crash.notes.is_empty() || crash.image.files.contains_key(&file), "the fork was acknowledged");
    });
}

#[test]
fn a_cut_while_a_session_is_salvaged_leaves_the_new_one_whole_or_absent_and_the_damaged_one_as_it_was() {
    let disk = SimDisk::new();
    let source = path();
    let session = Session::create(&source, options(&disk, 0)).unwrap();
    let lost = session.append(Message::user("hello"), Durability::Sync).unwrap().id;
    let lost = session.log().find(lost).unwrap().unwrap().offset as usize;
    session.append(Message::assistant("hi"), Durability::Sync).unwrap().wait().unwrap();
    session.close().unwrap();
    disk.change(&source, |bytes| bytes[lost + 70] ^= 1);
    let damaged = disk.bytes(&source);
    let disk = SimDisk::holding(&disk.image());
    disk.record();
    let target = Path::new("/s/new.seslog");
    let report = Session::salvage(&source, target, &options(&disk, 0)).unwrap();
    assert_eq!(report.kept, 1);
    disk.note(1);
    each_state("salvage", &disk, |crash| {
        assert!(*crash.image.files[&source] == *damaged, "the source is as it was");
        others_are_whole(&crash.image, &source);
        assert!(crash.notes.is_empty() || crash.image.files.contains_key(target), "the salvage was acknowledged");
    });
}
