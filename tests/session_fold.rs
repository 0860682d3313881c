//! Replay is a fold: on random histories the state kept append by append, the state that a resume replays from the
//! boundary, the whole replay cut at the boundary, and the state as it was at any earlier point are the same.

use proptest::prelude::*;
use seslog::event::{Message, Part, SessionMeta, Uuid, Value};
use seslog::log::{Durability, RealFs};
use seslog::session::{Compaction, NewEvent, Parent, Session, SessionError, SessionOptions, SessionReader, State};

/// One step of a history. Numbers pick from what is there, by remainder.
#[derive(Debug, Clone)]
enum Step {
    User { parent: Option<usize> },
    Call { calls: usize },
    Result { call: usize, parent: Option<usize>, named: bool },
    Progress { parent: Option<usize> },
    SystemEvent,
    Sidechain,
    Tombstone { targets: Vec<usize> },
    Amend { target: usize },
    Prune { targets: Vec<usize> },
    Rewind { to: Option<usize> },
    Compact { keep: Vec<usize>, from: Option<usize> },
    Meta,
    Started { call: usize },
    Approval { call: usize, answer: Option<bool> },
    CloseDangling,
    Batch { len: usize },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let pick = 0..1000usize;
    prop_oneof![
        6 => prop::option::weighted(0.2, pick.clone()).prop_map(|parent| Step::User { parent }),
        4 => (1..3usize).prop_map(|calls| Step::Call { calls }),
        5 => (pick.clone(), prop::option::weighted(0.3, pick.clone()), any::<bool>())
            .prop_map(|(call, parent, named)| Step::Result { call, parent, named }),
        2 => prop::option::of(pick.clone()).prop_map(|parent| Step::Progress { parent }),
        1 => Just(Step::SystemEvent),
        1 => Just(Step::Sidechain),
        2 => prop::collection::vec(pick.clone(), 1..3).prop_map(|targets| Step::Tombstone { targets }),
        2 => pick.clone().prop_map(|target| Step::Amend { target }),
        2 => prop::collection::vec(pick.clone(), 1..3).prop_map(|targets| Step::Prune { targets }),
        2 => prop::option::weighted(0.9, pick.clone()).prop_map(|to| Step::Rewind { to }),
        3 => (prop::collection::vec(pick.clone(), 0..4), prop::option::of(pick.clone()))
            .prop_map(|(keep, from)| Step::Compact { keep, from }),
        1 => Just(Step::Meta),
        2 => pick.clone().prop_map(|call| Step::Started { call }),
        2 => (pick.clone(), prop::option::of(any::<bool>())).prop_map(|(call, answer)| Step::Approval { call, answer }),
        1 => Just(Step::CloseDangling),
        1 => (1..4usize).prop_map(|len| Step::Batch { len }),
        1 => Just(Step::Reopen),
    ]
}

/// A session and what the test knows of it.
struct Run {
    dir: tempfile::TempDir,
    session: Option<Session>,
    /// Every message that was appended.
    messages: Vec<Uuid>,
    /// Every call, with the message that holds it.
    calls: Vec<(String, Uuid)>,
    /// The state as it was when each of these events had just been appended.
    seen: Vec<(Uuid, State)>,
    counter: usize,
}

impl Run {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::create(&dir.path().join("s.seslog"), SessionOptions::default()).unwrap();
        Self { dir, session: Some(session), messages: vec![], calls: vec![], seen: vec![], counter: 0 }
    }

    fn session(&self) -> &Session {
        self.session.as_ref().unwrap()
    }

    fn pick(&self, n: usize) -> Option<Uuid> {
        (!self.messages.is_empty()).then(|| self.messages[n % self.messages.len()])
    }

    fn parent(&self, n: Option<usize>) -> Parent {
        n.and_then(|n| self.pick(n)).map_or(Parent::Leaf, Parent::Of)
    }

    fn append(&mut self, event: impl Into<NewEvent>) {
        let event = event.into();
        let is_message = matches!(event.body, seslog::event::Body::Message(_));
        let id = self.session().append(event, Durability::Os).unwrap().id;
        self.seen.push((id, self.session().state().unwrap()));
        if is_message {
            self.messages.push(id);
        }
    }

    fn apply(&mut self, step: &Step) {
        self.counter += 1;
        let text = format!("text {}", self.counter);
        match step {
            Step::User { parent } => {
                let parent = self.parent(*parent);
                self.append(NewEvent::from(Message::user(text)).with_parent(parent));
            }
            Step::Call { calls } => {
                let ids: Vec<String> = (0..*calls).map(|n| format!("call-{}-{n}", self.counter)).collect();
                let parts = ids.iter().map(|id| Part::tool_call(id, "tool", Value::Map(vec![]))).collect();
                self.append(Message::assistant_calls(parts));
                let message = *self.messages.last().unwrap();
                self.calls.extend(ids.into_iter().map(|id| (id, message)));
            }
            Step::Result { call, parent, named } => {
                let Some((id, message)) = self.call(*call) else { return };
                let mut result = Message::tool_result(id, text, false);
                if *named {
                    result.metadata.source_tool_assistant_id = Some(message.to_string());
                }
                let parent = self.parent(*parent);
                self.append(NewEvent::from(result).with_parent(parent));
            }
            Step::Progress { parent } => {
                let parent = self.parent(*parent);
                let mut message = Message::user(text);
                message.kind = seslog::event::Kind::Progress(Default::default());
                self.append(NewEvent::from(message).with_parent(parent));
            }
            Step::SystemEvent => {
                let mut message = Message::system_note(text);
                message.kind = seslog::event::Kind::SystemEvent(Default::default());
                self.append(message);
            }
            Step::Sidechain => {
                let mut message = Message::user(text);
                message.metadata.sidechain = true;
                self.append(message);
            }
            Step::Tombstone { targets } => {
                let targets: Vec<Uuid> = targets.iter().filter_map(|&n| self.pick(n)).collect();
                if !targets.is_empty() {
                    self.append(seslog::event::Tombstone { targets, reason: None });
                }
            }
            Step::Amend { target } => {
                if let Some(target) = self.pick(*target) {
                    let patch = vec![("model".to_owned(), Value::Text(text))];
                    self.append(seslog::event::Amend { target, patch });
                }
            }
            Step::Prune { targets } => {
                let targets: Vec<Uuid> = targets.iter().filter_map(|&n| self.pick(n)).collect();
                if !targets.is_empty() {
                    self.append(seslog::event::Prune { targets });
                }
            }
            Step::Rewind { to } => {
                let to = to.and_then(|n| self.pick(n));
                let id = self.session().rewind(to, Durability::Os).unwrap().id;
                self.seen.push((id, self.session().state().unwrap()));
            }
            Step::Compact { keep, from } => {
                let chain: Vec<Uuid> = {
                    let state = self.session().state().unwrap();
                    let chain = state.chain();
                    chain.iter().filter(|entry| !is_compaction(entry)).map(|entry| entry.event.id).collect()
                };
                let mut compaction = Compaction::new(text);
                if !chain.is_empty() {
                    compaction = match from {
                        Some(from) => compaction.keep_from(chain[from % chain.len()]),
                        None => compaction.keep(keep.iter().map(|n| chain[n % chain.len()]).collect()),
                    };
                }
                let done = self.session().compact(compaction, Durability::Os).unwrap();
                self.seen.push((done.boundary, self.session().state().unwrap()));
                self.messages.extend([done.boundary, done.summary]);
            }
            Step::Meta => self.append(SessionMeta { title: Some(text), ..SessionMeta::default() }),
            Step::Started { call } => {
                if let Some((call_id, _)) = self.call(*call) {
                    self.append(seslog::event::ToolStarted { call_id, idempotency_key: Some(text) });
                }
            }
            Step::Approval { call, answer } => {
                use seslog::event::{ApprovalRequest, ApprovalResponse, Kind, PartBody, Role};
                let Some((call_id, _)) = self.call(*call) else { return };
                let message = match answer {
                    None => {
                        let body = PartBody::ToolApprovalRequest(ApprovalRequest { call_id, approval_id: None });
                        Message::new(Role::Assistant, Kind::ToolApprovalRequest, vec![Part::new(body)])
                    }
                    Some(approved) => {
                        let body = PartBody::ToolApprovalResponse(ApprovalResponse {
                            call_id,
                            approval_id: None,
                            approved: *approved,
                            reason: None,
                        });
                        Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![Part::new(body)])
                    }
                };
                self.append(message);
            }
            Step::CloseDangling => {
                let ids = self.session().close_dangling_tool_calls(Durability::Os).unwrap();
                self.messages.extend(ids);
            }
            Step::Batch { len } => {
                let events = (0..*len).map(|n| NewEvent::from(Message::user(format!("{text} {n}")))).collect();
                let ids = self.session().append_batch(events, Durability::Os).unwrap().ids;
                self.seen.push((ids[ids.len() - 1], self.session().state().unwrap()));
                self.messages.extend(ids);
            }
            Step::Reopen => {
                let before = self.session().state().unwrap();
                self.session.take().unwrap().close().unwrap();
                let session = Session::open(&self.dir.path().join("s.seslog"), SessionOptions::default()).unwrap();
                assert_eq!(session.state().unwrap(), before, "after a clean close");
                self.session = Some(session);
            }
        }
    }

    fn call(&self, n: usize) -> Option<(String, Uuid)> {
        (!self.calls.is_empty()).then(|| self.calls[n % self.calls.len()].clone())
    }

    fn check(&self) -> Result<(), SessionError> {
        let session = self.session();
        let state = session.state()?;
        let reader = SessionReader::open(session.path(), RealFs::shared())?;
        same(reader.state(), &state, "a resume from the boundary");
        same(&reader.whole_state()?.trimmed(), &state, "the whole replay, cut at the boundary");
        assert!(reader.report().missing_kept.is_empty());
        Ok(())
    }
}

/// Whole states are compared; of two that differ only the first difference is shown.
fn same(left: &State, right: &State, what: &str) {
    if left == right {
        return;
    }
    let show = |state: &State| state.entries().iter().map(|entry| format!("{entry:?}")).collect::<Vec<_>>();
    let (left_shown, right_shown) = (show(left), show(right));
    assert_eq!(left_shown.len(), right_shown.len(), "{what}: number of entries");
    for (left, right) in left_shown.iter().zip(&right_shown) {
        assert_eq!(left, right, "{what}: an entry");
    }
    let rest = |state: &State| {
        let ids = |entries: Vec<&seslog::session::Entry>| entries.iter().map(|e| e.event.id).collect::<Vec<_>>();
        let leaf = state.leaf().map(|entry| entry.event.id);
        (leaf, ids(state.chain()), state.is_complete(), state.meta().clone(), state.last_id())
    };
    assert_eq!(rest(left), rest(right), "{what}");
    panic!("{what}: the states differ in what is not shown");
}

fn is_compaction(entry: &seslog::session::Entry) -> bool {
    use seslog::event::Kind;
    entry
        .event
        .message()
        .is_some_and(|message| matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_way_to_a_state_gives_the_same_state(steps in prop::collection::vec(step(), 1..40)) {
        let mut run = Run::new();
        for step in &steps {
            run.apply(step);
            run.check().unwrap();
        }
        for (event, seen) in &run.seen {
            same(&run.session().at(*event).unwrap(), seen, &format!("as it was at {event}"));
        }
    }
}
