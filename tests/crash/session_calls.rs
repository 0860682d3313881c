//! Each call to the operating system fails once under a session: what it says it has is in its file, what was acknowledged
//! is there for the next opening, and that goes on.

use seslog::event::{Message, Part, Value};
use seslog::log::{Durability, survey};
use seslog::session::{Compaction, Session, SessionError, State, Store};
use seslog::sim::{Fault, SimDisk};

use super::say_faults;
use super::session_check::{options, path};

/// An agent that stops at the first error.
struct Agent {
    disk: SimDisk,
    session: Option<Session>,
    /// The state after each step.
    states: Vec<State>,
    /// So many steps are acknowledged as durable; none before the session exists.
    durable: Option<usize>,
}

impl Agent {
    fn on(disk: SimDisk) -> Self {
        Self { disk, session: None, states: Vec::new(), durable: None }
    }

    fn step<T>(
        &mut self,
        durability: Durability,
        step: impl FnOnce(&Session) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let session = self.session.as_ref().expect("the session is open");
        let done = step(session)?;
        self.states.push(session.whole_state()?);
        if durability == Durability::Sync {
            self.durable = Some(self.states.len() - 1);
        }
        Ok(done)
    }

    fn run(&mut self) -> Result<(), SessionError> {
        use Durability::{Os, Sync};
        self.session = Some(Session::create(&path(), options(&self.disk, 0))?);
        self.durable = Some(0);
        self.step(Os, |_| Ok(()))?;
        let hello = self.step(Sync, |session| session.append(Message::user("hello"), Sync))?.id;
        let call = Part::tool_call("c1", "run", Value::Map(Vec::new()));
        let call = self.step(Os, |session| session.append(Message::assistant_calls(vec![call]), Os))?.id;
        let _ = self.step(Sync, |session| session.tool_started("c1", Some("key"), Sync))?;
        let _ = self.step(Os, |session| session.append(Message::tool_result("c1", "done", false), Os))?;
        let _ = self.step(Sync, |session| session.compact(Compaction::new("so far").keep(vec![hello]), Sync))?;
        let _ = self.step(Os, |session| session.prune(&[call], Os))?;
        let _ = self.step(Sync, |session| session.tombstone(&[call], None, Sync))?;
        let _ = self.step(Sync, |session| session.rewind(Some(hello), Sync))?;
        self.session.take().expect("the session is open").close()?;
        self.durable = Some(self.states.len() - 1);
        self.session = Some(Session::open(&path(), options(&self.disk, 1_000_000))?);
        let _ = self.step(Sync, |session| session.append(Message::assistant("on"), Sync))?;
        self.session.take().expect("the session is open").close()
    }

    /// What the session says it has, and what the next opening finds, are states of a run without faults.
    fn goes_on(mut self, clean: &Self) {
        self.disk.heal();
        let position = |state: &State| clean.states.iter().position(|clean| clean == state);
        let believed = self.session.take().and_then(|session| session.whole_state().ok());
        let Some(durable) = self.durable else {
            assert!(!self.disk.image().files.contains_key(&path()), "what could not be made is not there");
            return;
        };
        let session = Session::open(&path(), options(&self.disk, 5_000_000)).unwrap();
        let found = session.whole_state().unwrap();
        let steps = position(&found).unwrap_or_else(|| panic!("a state that the session never had: {found:?}"));
        assert!(steps >= durable, "{steps} steps are there, {durable} were acknowledged");
        if let Some(believed) = believed {
            let believed = position(&believed).expect("the session believes what its file says");
            assert!(believed <= steps, "the session had said {believed} steps, {steps} are there");
        }
        session.append(Message::user("one more"), Durability::Sync).unwrap().wait().unwrap();
        session.close().unwrap();
        let looked = survey(self.disk.fs(), &path()).unwrap();
        assert!(looked.damage.is_empty(), "{:?}", looked.damage);
    }
}

#[test]
fn whatever_call_fails_under_a_session_it_says_only_what_its_file_has_and_the_next_opening_goes_on() {
    let mut clean = Agent::on(SimDisk::new());
    clean.run().unwrap();
    let mut runs = 0;
    for fault in [Fault::Errno(5), Fault::Errno(28), Fault::Dropped(5)] {
        for at in 0..clean.disk.all_calls() {
            let mut agent = Agent::on(SimDisk::new());
            agent.disk.fail_any(at, fault);
            let _ = agent.run();
            agent.goes_on(&clean);
            runs += 1;
        }
    }
    say_faults("each call under a session", runs);
}

#[test]
fn whatever_call_fails_while_a_session_is_forked_the_parent_is_as_it_was_and_no_half_fork_is_listed() {
    let make = || {
        let disk = SimDisk::new();
        let store = Store::at("/store", options(&disk, 0));
        let session = store.create().unwrap();
        let at = session.append(Message::user("hello"), Durability::Sync).unwrap().id;
        let name = session.id().to_string();
        session.close().unwrap();
        (disk, store, name, at)
    };
    let (disk, store, name, at) = make();
    let before = disk.all_calls();
    drop(store.fork(&name, at).unwrap());
    let mut runs = 0;
    for errno in [5, 28] {
        for call in 0..disk.all_calls() - before {
            let (disk, store, name, at) = make();
            disk.fail_any(call, Fault::Errno(errno));
            let forked = store.fork(&name, at).is_ok();
            disk.heal();
            let listed = store.list().unwrap();
            assert!(listed.iter().all(|session| session.problem.is_none()), "{listed:?}");
            assert_eq!(listed.len(), 1 + usize::from(forked), "call {call}: {listed:?}");
            assert!(store.fork(&name, at).is_ok(), "another try goes through");
            runs += 1;
        }
    }
    say_faults("each call of a fork", runs);
}
