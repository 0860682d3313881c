//! Any bytes as a history of a session, with kills and power cuts in between, against a plain model.

use std::path::Path;

use seslog::event::{
    Amend, ApprovalRequest, Event, Kind, Message, Part, PartBody, Prune, Role, SessionMeta, Tombstone, ToolStarted,
    Uuid, Value,
};
use seslog::log::{Durability, Receipt};
use seslog::session::{Compaction, NewEvent, Opened, Parent, Session, SessionError, SessionReader, State, Store};

use super::input::Input;
use super::memory::{Cut, PATH, options};
use super::{look_at, same};
use seslog::sim::SimDisk;

const STEPS_MAX: usize = 64;

/// What was acknowledged as durable survives a power cut, what was appended survives a kill, in order, batches whole,
/// nothing invented; a session opens after both. The state kept append by append, the one that a resume replays, the
/// whole one trimmed, and the one that a follower has are the same, and every earlier point looks as it did.
pub fn operations(data: &[u8]) {
    let mut run = Run::new();
    let mut input = Input::new(data);
    for step in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        run.step(&mut input);
        if step % 4 == 0 {
            run.check();
        }
    }
    run.check();
    run.look_back();
}

/// The file of a session after so many steps, as a kill leaves it.
pub fn session_made_by(input: &mut Input<'_>, steps: usize) -> Vec<u8> {
    let mut run = Run::new();
    for _ in 0..steps {
        run.step(input);
    }
    Cut::of(&run.disk, Path::new(PATH)).after_kill()
}

/// One append that went through.
#[derive(Debug)]
struct Batch {
    events: Vec<Event>,
    /// Tells whether it is durable.
    receipt: Option<Receipt>,
    durable: bool,
    /// The state once it was in.
    state: State,
}

struct Run {
    disk: SimDisk,
    session: Option<Session>,
    follower: Option<SessionReader>,
    batches: Vec<Batch>,
    count: usize,
}

impl Run {
    fn new() -> Self {
        let disk = SimDisk::new();
        let session = Session::create(Path::new(PATH), options(&disk)).expect("an empty disk");
        Self { disk, session: Some(session), follower: None, batches: Vec::new(), count: 0 }
    }

    fn session(&self) -> &Session {
        self.session.as_ref().expect("a session is open between two steps")
    }

    fn ids(&self) -> Vec<Uuid> {
        self.batches.iter().flat_map(|batch| batch.events.iter().map(|event| event.id)).collect()
    }

    fn pick(&self, input: &mut Input<'_>) -> Option<Uuid> {
        let ids = self.ids();
        (!ids.is_empty()).then(|| ids[ids.len() - 1 - input.below(ids.len())])
    }

    fn picks(&self, input: &mut Input<'_>) -> Vec<Uuid> {
        (0..1 + input.below(3)).filter_map(|_| self.pick(input)).collect()
    }

    fn parent(&self, input: &mut Input<'_>) -> Parent {
        match input.below(6) {
            1 => Parent::Root,
            2 => self.pick(input).map_or(Parent::Leaf, Parent::Of),
            _ => Parent::Leaf,
        }
    }

    fn durability(input: &mut Input<'_>) -> Durability {
        match input.below(3) {
            0 => Durability::Os,
            1 => Durability::Group,
            _ => Durability::Sync,
        }
    }

    /// A few ids only, so that calls share them.
    fn call_id(input: &mut Input<'_>) -> String {
        match input.below(5) {
            0 => String::new(),
            n => format!("c{n}"),
        }
    }

    fn message(&mut self, input: &mut Input<'_>) -> Message {
        self.count += 1;
        let text = format!("text {}", self.count);
        let mut message = match input.below(9) {
            0 | 1 => Message::user(text),
            2 => Message::assistant(text),
            3 => {
                let call = |input: &mut Input<'_>| Part::tool_call(Self::call_id(input), "tool", Value::Map(vec![]));
                Message::assistant_calls((0..1 + input.below(3)).map(|_| call(input)).collect())
            }
            4 => Message::tool_result(Self::call_id(input), text, input.one_in(4)),
            5 => {
                let mut result = Message::tool_result(Self::call_id(input), text, false);
                result.metadata.source_tool_assistant_id = self.pick(input).map(|id| id.to_string());
                result
            }
            6 => match input.below(3) {
                0 => {
                    let request = ApprovalRequest { call_id: Self::call_id(input), approval_id: None };
                    let part = Part::new(PartBody::ToolApprovalRequest(request));
                    Message::new(Role::Assistant, Kind::ToolApprovalRequest, vec![part])
                }
                n => Message::approval_response(Self::call_id(input), n == 1, None),
            },
            7 => Message::progress(seslog::event::Progress::default()),
            _ => Message::system_event("informational", text),
        };
        message.metadata.sidechain = input.one_in(12);
        message
    }

    fn event(&mut self, input: &mut Input<'_>) -> NewEvent {
        let event = match input.below(10) {
            0..=4 => NewEvent::from(self.message(input)),
            5 => NewEvent::from(Tombstone { targets: self.picks(input), reason: None }),
            6 => match self.pick(input) {
                Some(target) => {
                    let patch = vec![("model".to_owned(), Value::Text(format!("m{}", input.byte())))];
                    NewEvent::from(Amend { target, patch })
                }
                None => NewEvent::from(self.message(input)),
            },
            7 => NewEvent::from(Prune { targets: self.picks(input) }),
            8 => {
                let title = Some(format!("title {}", input.byte()));
                NewEvent::from(SessionMeta { title, ..SessionMeta::default() })
            }
            _ => NewEvent::from(ToolStarted { call_id: Self::call_id(input), idempotency_key: None }),
        };
        event.with_parent(self.parent(input))
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let durability = Self::durability(input);
        match input.below(16) {
            0..=5 => {
                let event = self.event(input);
                let appended = self.session().append(event, durability);
                self.done(appended.map(|done| (vec![done.id], done.receipt)), durability);
            }
            6 => {
                let events: Vec<NewEvent> = (0..1 + input.below(4)).map(|_| self.event(input)).collect();
                let appended = self.session().append_batch(events, durability);
                self.done(appended.map(|done| (done.ids, done.receipt)), durability);
            }
            7 => {
                let to = if input.one_in(8) { None } else { self.pick(input) };
                let appended = self.session().rewind(to, durability);
                self.done(appended.map(|done| (vec![done.id], done.receipt)), durability);
            }
            8 | 9 => {
                let mut compaction = Compaction::new("so far");
                let chain: Vec<Uuid> =
                    self.with_state(|state| state.chain().iter().map(|entry| entry.event.id).collect());
                if !chain.is_empty() {
                    let of_chain = |input: &mut Input<'_>| chain[input.below(chain.len())];
                    compaction = match input.below(3) {
                        0 => compaction,
                        1 => compaction.keep_from(of_chain(input)),
                        _ => compaction.keep((0..input.below(4)).map(|_| of_chain(input)).collect()),
                    };
                }
                let compacted = self.session().compact(compaction, durability);
                self.done(compacted.map(|done| (vec![done.boundary, done.summary], done.receipt)), durability);
            }
            10 => {
                let before = self.with_state(|state| state.pairing().dangling().count());
                let closed = self.session().close_dangling_tool_calls(durability).expect("the disk does not fail");
                assert!(closed.len() <= before.max(1) || before == closed.len());
                if !closed.is_empty() {
                    let receipt = self.session().log().receipt();
                    self.done(Ok((closed, receipt)), durability);
                }
            }
            11 => self.reopen(),
            12 => self.crash(|cut, _| cut.after_kill(), input, false),
            13 => self.crash(|cut, input| cut.after_power_cut(input), input, true),
            14 => self.fork(input),
            _ => self.follow(),
        }
    }

    fn with_state<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.session().with_state(look).expect("the disk does not fail")
    }

    /// Notes an append. One that is refused has changed nothing.
    fn done(&mut self, appended: Result<(Vec<Uuid>, Receipt), SessionError>, durability: Durability) {
        let (ids, receipt) = match appended {
            Ok(done) => done,
            Err(SessionError::Refused { .. } | SessionError::UnknownParent { .. } | SessionError::Event(_)) => return,
            Err(error) => panic!("the disk does not fail, and yet: {error}"),
        };
        let event = |id: Uuid| self.session().event(id).expect("the log reads").expect("what was appended is there");
        let events = ids.into_iter().map(event).collect();
        if durability == Durability::Sync {
            self.batches.iter_mut().for_each(|batch| batch.durable = true);
        }
        let state = self.with_state(State::clone);
        let durable = durability == Durability::Sync;
        self.batches.push(Batch { events, receipt: Some(receipt), durable, state });
    }

    fn all_durable(&mut self) {
        self.batches.iter_mut().for_each(|batch| batch.durable = true);
    }

    fn reopen(&mut self) {
        let before = self.with_state(State::clone);
        let session = self.session.take().expect("a session is open");
        session.close().expect("the disk does not fail");
        self.all_durable();
        let session = Session::open(Path::new(PATH), options(&self.disk)).expect("it was closed cleanly");
        assert_eq!(session.report().open, Opened::Clean);
        same(&session.state().expect("the log reads"), &before, "after a clean close");
        self.session = Some(session);
    }

    fn crash(
        &mut self,
        outcome: impl FnOnce(super::memory::Cut, &mut Input<'_>) -> Vec<u8>,
        input: &mut Input<'_>,
        power: bool,
    ) {
        for batch in &mut self.batches {
            batch.durable |= batch.receipt.as_ref().is_some_and(Receipt::is_durable);
        }
        let path = Path::new(PATH);
        let cut = Cut::of(&self.disk, path);
        self.follower = None;
        drop(self.session.take());
        self.batches.iter_mut().for_each(|batch| batch.receipt = None);
        self.disk.put(path, &outcome(cut, input));

        let session = match Session::open(path, options(&self.disk)) {
            Ok(session) => session,
            Err(error) => panic!("a crash is never damage, and yet: {error}"),
        };
        let whole = session.whole_state().expect("what was recovered reads");
        let recovered: Vec<Uuid> = whole.entries().iter().map(|entry| entry.event.id).collect();
        let (mut left, mut kept) = (recovered.as_slice(), 0);
        for batch in &self.batches {
            let ids: Vec<Uuid> = batch.events.iter().map(|event| event.id).collect();
            let Some(rest) = left.strip_prefix(ids.as_slice()) else { break };
            (left, kept) = (rest, kept + 1);
        }
        assert!(left.is_empty(), "batches come back whole and in order: {recovered:?} of {:?}", self.ids());
        let lost = &self.batches[kept..];
        assert!(power || lost.is_empty(), "a kill loses nothing");
        assert!(!lost.iter().any(|batch| batch.durable), "what was acknowledged survives: {lost:?}");
        self.batches.truncate(kept);
        self.all_durable();
        for event in self.batches.iter().flat_map(|batch| &batch.events) {
            assert_eq!(session.event(event.id).expect("the log reads").as_ref(), Some(event));
        }
        if let Some(last) = self.batches.last() {
            same(&session.state().expect("the log reads"), &last.state, "after a crash");
        }
        self.session = Some(session);
    }

    fn fork(&mut self, input: &mut Input<'_>) {
        let Some(at) = self.pick(input) else { return };
        let store = Store::at("/s", options(&self.disk));
        let source = self.disk.bytes(Path::new(PATH));
        match store.fork(PATH, at) {
            Err(SessionError::Refused { .. }) => {}
            Err(error) => panic!("a fork fails at {at}: {error}"),
            Ok(fork) => {
                let state = fork.state().expect("a fork reads");
                look_at(&state);
                let whole = fork.whole_state().expect("a fork reads");
                same(&whole.trimmed(), &state, "a fork, cut at its boundary");
                let path = fork.path().to_owned();
                fork.close().expect("the disk does not fail");
                let reader = SessionReader::open(&path, self.disk.fs()).expect("a fork reads");
                let history = store.history(&reader).expect("a fork's history reads");
                look_at(&history.state);
                seslog::log::Fs::remove(&self.disk, &path).expect("it is there");
            }
        }
        // The page in front holds the watermark, which the writer's own background may move on.
        let now = self.disk.bytes(Path::new(PATH));
        assert!(now[4096..] == source[4096..], "a fork leaves its source alone");
    }

    fn follow(&mut self) {
        match &mut self.follower {
            Some(follower) => drop(follower.follow().expect("the log reads")),
            None => {
                let reader = SessionReader::open(Path::new(PATH), self.disk.fs()).expect("a log of our own opens");
                self.follower = Some(reader);
            }
        }
        let follower = self.follower.as_ref().expect("there is one by now");
        self.with_state(|state| same(follower.state(), state, "who follows sees what the writer sees"));
    }

    fn check(&self) {
        let state = self.with_state(State::clone);
        let reader = SessionReader::open(Path::new(PATH), self.disk.fs()).expect("a log of our own opens");
        same(reader.state(), &state, "a resume from the boundary");
        let whole = reader.whole_state().expect("a log of our own reads");
        let ids: Vec<Uuid> = whole.entries().iter().map(|entry| entry.event.id).collect();
        assert_eq!(ids, self.ids(), "all that was appended, in order");
        same(&whole.trimmed(), &state, "the whole replay, cut at the boundary");
        assert!(reader.report().missing_kept.is_empty());
        assert!(reader.report().damage.is_empty(), "{:?}", reader.report().damage);
        look_at(&state);
    }

    fn look_back(&self) {
        for batch in &self.batches {
            let Some(last) = batch.events.last() else { continue };
            let then = self.session().at(last.id).expect("an earlier point reads");
            same(&then, &batch.state, "an earlier point");
        }
    }
}
