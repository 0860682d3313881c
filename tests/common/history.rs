//! Random histories: steps that a session takes, and a session that takes them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use proptest::prelude::*;
use seslog::event::{Message, Part, SessionMeta, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, NewEvent, Parent, Session, SessionError, SessionOptions, State, Store};

/// One step of a history. Numbers pick from what is there, by remainder.
#[derive(Debug, Clone)]
pub enum Step {
    User {
        parent: Option<usize>,
    },
    Call {
        calls: usize,
    },
    Result {
        call: usize,
        parent: Option<usize>,
        named: bool,
    },
    Progress {
        parent: Option<usize>,
    },
    SystemEvent,
    Sidechain,
    Tombstone {
        targets: Vec<usize>,
    },
    Amend {
        target: usize,
    },
    Prune {
        targets: Vec<usize>,
    },
    Rewind {
        to: Option<usize>,
    },
    Compact {
        keep: Vec<usize>,
        from: Option<usize>,
    },
    Meta,
    Started {
        call: usize,
    },
    Approval {
        call: usize,
        answer: Option<bool>,
    },
    CloseDangling,
    Batch {
        len: usize,
    },
    Reopen,
    /// What `step` does not give.
    AmendContent {
        target: usize,
        call: Option<usize>,
        answer: Option<usize>,
    },
    AmendMetadata {
        target: usize,
        sidechain: bool,
    },
    AmendWrongly {
        target: usize,
    },
    Unknown {
        parent: Option<usize>,
    },
    /// A message by an importer: its parent is unknown, or comes later under this number.
    Orphan {
        number: u128,
        named: u128,
    },
    SideResult {
        call: usize,
        parent: Option<usize>,
    },
    CallAgain {
        call: usize,
    },
    MadeUpResult {
        call: usize,
        parent: Option<usize>,
    },
}

pub fn step() -> impl Strategy<Value = Step> {
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

/// As `step`, with what is rare: calls that are amended in or used again, results that are made up or hang anywhere,
/// messages that leave the chain afterwards, and what only imports and later versions write.
pub fn odd_step() -> impl Strategy<Value = Step> {
    let pick = 0..1000usize;
    let parent = || prop::option::of(0..1000usize);
    prop_oneof![
        20 => step(),
        4 => (pick.clone(), parent(), any::<bool>())
            .prop_map(|(call, parent, named)| Step::Result { call, parent: parent.or(Some(call)), named }),
        2 => (pick.clone(), parent(), parent())
            .prop_map(|(target, call, answer)| Step::AmendContent { target, call, answer }),
        1 => (pick.clone(), any::<bool>()).prop_map(|(target, sidechain)| Step::AmendMetadata { target, sidechain }),
        1 => pick.clone().prop_map(|target| Step::AmendWrongly { target }),
        1 => parent().prop_map(|parent| Step::Unknown { parent }),
        2 => (1..20u128, 1..20u128).prop_map(|(number, named)| Step::Orphan { number, named }),
        1 => (pick.clone(), parent()).prop_map(|(call, parent)| Step::SideResult { call, parent }),
        1 => pick.clone().prop_map(|call| Step::CallAgain { call }),
        2 => (pick, parent()).prop_map(|(call, parent)| Step::MadeUpResult { call, parent }),
    ]
}

/// A session and what the test knows of it.
pub struct Run {
    pub dir: tempfile::TempDir,
    pub session: Option<Session>,
    /// Every message that was appended.
    pub messages: Vec<Uuid>,
    /// Every call, with the message that holds it.
    pub calls: Vec<(String, Uuid)>,
    /// The state as it was when each of these events had just been appended.
    pub seen: Vec<(Uuid, State)>,
    counter: usize,
}

impl Run {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
        Self { dir, session: Some(session), messages: vec![], calls: vec![], seen: vec![], counter: 0 }
    }

    pub fn store(&self) -> Store {
        Store::at(self.dir.path(), SessionOptions::default())
    }

    /// Goes on in a fork from an event that was seen, if one can be made there.
    pub fn fork(&mut self, at: usize) {
        let name = self.session().id().to_string();
        let Some((event, _)) = (!self.seen.is_empty()).then(|| &self.seen[at % self.seen.len()]) else { return };
        let fork = match self.store().fork(&name, *event) {
            Ok(fork) => fork,
            Err(SessionError::Refused { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        self.messages.retain(|id| fork.contains(*id).unwrap());
        self.calls.retain(|(_, message)| fork.contains(*message).unwrap());
        self.seen.clear();
        self.session = Some(fork);
    }

    pub fn session(&self) -> &Session {
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

    pub fn apply(&mut self, step: &Step) {
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
                let path = self.session().path().to_owned();
                self.session.take().unwrap().close().unwrap();
                let session = Session::open(&path, SessionOptions::default()).unwrap();
                assert_eq!(session.state().unwrap(), before, "after a clean close");
                self.session = Some(session);
            }
            Step::AmendContent { target, call, answer } => {
                let Some(target) = self.pick(*target) else { return };
                let mut parts = vec![Part::text(text.clone())];
                parts.extend(call.and_then(|n| self.call(n)).map(|(id, _)| Part::tool_call(id, "tool", Value::Null)));
                parts.extend(answer.and_then(|n| self.call(n)).map(|(id, _)| Part::tool_result(id, text, false)));
                let mut after = Message::user("");
                let before = after.clone();
                after.content = parts;
                let patch = seslog::event::patch_between(&before, &after).unwrap();
                self.append(seslog::event::Amend { target, patch });
            }
            Step::AmendMetadata { target, sidechain } => {
                let Some(target) = self.pick(*target) else { return };
                let metadata = Value::Map(vec![("sidechain".to_owned(), Value::Bool(*sidechain))]);
                self.append(seslog::event::Amend { target, patch: vec![("metadata".to_owned(), metadata)] });
            }
            Step::AmendWrongly { target } => {
                let Some(target) = self.pick(*target) else { return };
                let wrong = [("content", Value::Int(1)), ("metadata", Value::Int(2))];
                let patch = wrong.map(|(name, value)| (name.to_owned(), value)).to_vec();
                self.append(seslog::event::Amend { target, patch });
            }
            Step::Unknown { parent } => {
                let unknown = seslog::event::Unknown {
                    event_type: "message".to_owned(),
                    kind: Some("of_tomorrow".to_owned()),
                    fields: ["role", "kind"]
                        .iter()
                        .zip(["user", "of_tomorrow"])
                        .map(|(name, value)| (name.to_string(), Value::Text(value.into())))
                        .collect(),
                };
                let parent = self.parent(*parent);
                self.append(NewEvent::new(seslog::event::Body::Unknown(unknown)).with_parent(parent));
            }
            Step::Orphan { number, named } => {
                let (id, named) = (Uuid::from_u128(*number), Uuid::from_u128(*named));
                if self.messages.contains(&id) {
                    return;
                }
                let event = NewEvent::from(Message::user(text)).with_id(id).with_parent(Parent::Of(named));
                let mut import = self.session().import().unwrap();
                import.add(event).unwrap();
                drop(import);
                self.seen.push((id, self.session().state().unwrap()));
                self.messages.push(id);
            }
            Step::SideResult { call, parent } => {
                let Some((id, _)) = self.call(*call) else { return };
                let mut message = Message::tool_result(id, text, false);
                message.kind = seslog::event::Kind::SystemEvent(Default::default());
                let parent = self.parent(*parent);
                self.append(NewEvent::from(message).with_parent(parent));
            }
            Step::CallAgain { call } => {
                let Some((id, _)) = self.call(*call) else { return };
                let part = Part::tool_call(&id, "tool", Value::Map(vec![]));
                self.append(Message::assistant_calls(vec![part.clone(), part]));
                self.calls.push((id, *self.messages.last().unwrap()));
            }
            Step::MadeUpResult { call, parent } => {
                let Some((id, _)) = self.call(*call) else { return };
                let parent = self.parent(*parent);
                self.append(NewEvent::from(Message::missing_result(id)).with_parent(parent));
            }
        }
    }

    fn call(&self, n: usize) -> Option<(String, Uuid)> {
        (!self.calls.is_empty()).then(|| self.calls[n % self.calls.len()].clone())
    }
}

fn is_compaction(entry: &seslog::session::Entry) -> bool {
    use seslog::event::Kind;
    entry
        .event
        .message()
        .is_some_and(|message| matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_)))
}
