//! A view that follows its session is, after each event, what a projection of the whole would be; and what stood in it
//! before still stands there, unless something that may change it did.

mod common;

use common::story::{calling, event, id};
use proptest::prelude::*;
use seslog::event::*;
use seslog::projection::{Options, Projector, View, code, project};
use seslog::session::State;

/// One thing that happens. Numbers choose among what there is, counted back from the end.
#[derive(Debug, Clone)]
enum Step {
    User,
    Assistant { calls: Vec<u8>, message_id: Option<u8> },
    Result { call: u8, below: Option<usize>, synthetic: bool, with_text: bool },
    Attachment(Option<u8>),
    LocalCommand(usize),
    Sidechain,
    Unknown,
    Tombstone(usize),
    Prune(usize),
    AmendText(usize),
    AmendCalls(usize, Vec<u8>),
    AmendResult(usize, u8),
    Head(usize),
    Fork(usize),
    Compact(Vec<usize>),
    Meta,
    Trim,
}

fn step() -> impl Strategy<Value = Step> {
    let calls = || prop::collection::vec(0_u8..5, 0..3);
    prop_oneof![
        6 => Just(Step::User),
        8 => (calls(), prop::option::of(0_u8..3)).prop_map(|(calls, message_id)| Step::Assistant { calls, message_id }),
        10 => (0_u8..5, prop::option::weighted(0.2, 0_usize..12), prop::bool::weighted(0.2), prop::bool::weighted(0.1))
            .prop_map(|(call, below, synthetic, with_text)| Step::Result { call, below, synthetic, with_text }),
        3 => prop::option::of(0_u8..5).prop_map(Step::Attachment),
        2 => (0_usize..12).prop_map(Step::LocalCommand),
        1 => Just(Step::Sidechain),
        1 => Just(Step::Unknown),
        2 => (0_usize..12).prop_map(Step::Tombstone),
        2 => (0_usize..12).prop_map(Step::Prune),
        1 => (0_usize..12).prop_map(Step::AmendText),
        1 => (0_usize..12, calls()).prop_map(|(at, calls)| Step::AmendCalls(at, calls)),
        1 => (0_usize..12, 0_u8..5).prop_map(|(at, call)| Step::AmendResult(at, call)),
        1 => (0_usize..12).prop_map(Step::Head),
        1 => (0_usize..12).prop_map(Step::Fork),
        2 => prop::collection::vec(0_usize..12, 0..4).prop_map(Step::Compact),
        1 => Just(Step::Meta),
        1 => Just(Step::Trim),
    ]
}

fn named(calls: &[u8]) -> Vec<String> {
    calls.iter().map(|call| format!("c{call}")).collect()
}

fn content(parts: &[Part]) -> Fields {
    vec![("content".to_owned(), parts_as_value(parts))]
}

/// The parts as an amend's patch has them.
fn parts_as_value(parts: &[Part]) -> Value {
    let list = parts.iter().map(|part| match &part.body {
        PartBody::Text(text) => Value::from([("type", "text".into()), ("text", text.text.as_str().into())]),
        PartBody::ToolCall(call) => Value::from([
            ("type", "tool_call".into()),
            ("id", call.id.as_str().into()),
            ("name", call.name.as_str().into()),
            ("input", Value::Map(Fields::new())),
        ]),
        PartBody::ToolResult(result) => Value::from([
            ("type", "tool_result".into()),
            ("call_id", result.call_id.as_str().into()),
            ("output", "amended".into()),
        ]),
        other => panic!("no such patch: {other:?}"),
    });
    Value::List(list.collect())
}

/// A session that is told step by step.
#[derive(Debug, Default)]
struct Told {
    state: State,
    names: Vec<String>,
    count: usize,
    /// What the last participant, or a head, made the leaf.
    tip: Option<Uuid>,
}

impl Told {
    /// The leaf was taken back: what comes next hangs beside it, which is as good as a head.
    fn has_dead_end(&self) -> bool {
        self.tip != self.state.leaf().map(|leaf| leaf.event.id)
    }

    fn back(&self, at: usize) -> Option<&str> {
        let index = self.names.len().checked_sub(1 + at % self.names.len().max(1))?;
        Some(&self.names[index])
    }

    fn push(&mut self, body: Body, parent: Option<&str>) {
        self.count += 1;
        let name = format!("e{}", self.count);
        let leaf = self.state.leaf().map(|leaf| leaf.event.id);
        let mut event = event(&name, parent, body);
        if parent.is_none() {
            event.parent = leaf;
        }
        self.place(&mut event);
        let takes_part = event.takes_part();
        match &event.body {
            Body::Head(head) => self.tip = head.leaf,
            _ if takes_part && !event.off_chain => self.tip = Some(event.id),
            _ => {}
        }
        self.state.push(event, self.count as u64 + 1);
        if takes_part {
            self.names.push(name);
        }
    }

    /// A result whose call is not on the chain does not move the leaf; a late one hangs on the leaf.
    fn place(&self, event: &mut Event) {
        let Some(message) = event.message() else { return };
        let Some(call) = message.results().next().filter(|_| message.content.len() == 1) else { return };
        let holds = |entry: &&seslog::session::Entry| {
            entry.event.message().is_some_and(|message| message.calls().any(|held| held.id == call.call_id))
        };
        let chain = self.state.chain();
        match chain.iter().rev().find(|entry| holds(entry)) {
            None => event.off_chain = self.state.entries().iter().any(|entry| holds(&entry)),
            Some(_) => {
                let leaf = chain.last().map(|leaf| leaf.event.id);
                if event.parent != leaf {
                    event.hung_on = leaf.map_or(HungOn::Root, HungOn::Event);
                }
            }
        }
    }

    fn say(&mut self, message: Message) {
        self.push(Body::Message(Box::new(message)), None);
    }

    fn tell(&mut self, step: &Step) {
        let target = |told: &Self, at: usize| told.back(at).map(id);
        match step {
            Step::User => self.say(Message::user(format!("u{}", self.count))),
            Step::Assistant { calls, message_id } => {
                let calls = named(calls);
                let mut message = calling(&calls.iter().map(String::as_str).collect::<Vec<_>>());
                message.content.insert(0, Part::text("said"));
                message.message_id = message_id.map(|id| format!("msg{id}"));
                self.say(message);
            }
            Step::Result { call, below, synthetic, with_text } => {
                let text = format!("a result of some length {}", self.count);
                let mut message = Message::tool_result(format!("c{call}"), text, false);
                message.metadata.synthetic = *synthetic;
                if *with_text {
                    message.content.push(Part::text("and words"));
                }
                let below = below.and_then(|at| self.back(at)).map(str::to_owned);
                self.push(Body::Message(Box::new(message)), below.as_deref());
            }
            Step::Attachment(call) => {
                let tool_use_id = call.map(|call| format!("c{call}"));
                let kind = Kind::Attachment(Attachment { tool_use_id, ..Attachment::default() });
                self.say(Message::new(Role::User, kind, vec![Part::text("attached")]));
            }
            Step::LocalCommand(at) => {
                let kind = SystemEvent { subtype: "local_command".to_owned(), ..SystemEvent::default() };
                let message = Message::new(Role::System, Kind::SystemEvent(kind), vec![Part::text("out")]);
                let below = self.back(*at).map(str::to_owned);
                self.push(Body::Message(Box::new(message)), below.as_deref());
            }
            Step::Sidechain => {
                let mut message = calling(&["c1"]);
                message.metadata.sidechain = true;
                self.say(message);
            }
            Step::Unknown => {
                let unknown = Unknown {
                    event_type: "message".to_owned(),
                    kind: Some("of_tomorrow".to_owned()),
                    fields: Fields::new(),
                };
                self.push(Body::Unknown(unknown), None);
            }
            Step::Tombstone(at) => {
                let Some(target) = target(self, *at) else { return };
                self.push(Body::Tombstone(Tombstone { targets: vec![target], reason: None }), None);
            }
            Step::Prune(at) => {
                let Some(target) = target(self, *at) else { return };
                self.push(Body::Prune(Prune { targets: vec![target] }), None);
            }
            Step::AmendText(at) => self.amend(*at, content(&[Part::text(format!("amended {}", self.count))])),
            Step::AmendCalls(at, calls) => {
                let parts = named(calls).into_iter().map(|call| Part::tool_call(call, "run", Value::Null));
                self.amend(*at, content(&parts.collect::<Vec<_>>()));
            }
            Step::AmendResult(at, call) => {
                self.amend(*at, content(&[Part::tool_result(format!("c{call}"), "amended", false)]));
            }
            Step::Head(at) => {
                let leaf = target(self, *at);
                self.push(Body::Head(Head { leaf }), None);
            }
            Step::Fork(at) => {
                let below = self.back(*at).map(str::to_owned);
                self.push(Body::Message(Box::new(Message::user("elsewhere"))), below.as_deref());
            }
            Step::Compact(keep) => {
                let chain: Vec<Uuid> = self.state.chain().iter().map(|entry| entry.event.id).collect();
                let keep = chain.iter().enumerate().filter(|(at, _)| keep.contains(&(chain.len() - at)));
                let keep = keep.map(|(_, id)| Kept { id: *id, offset: 0, changed: Vec::new() }).collect();
                let kind = Kind::CompactBoundary(CompactBoundary { keep, ..CompactBoundary::default() });
                self.say(Message::new(Role::System, kind, Vec::new()));
                let kind = Kind::CompactSummary(CompactSummary::default());
                self.say(Message::new(Role::User, kind, vec![Part::text("summed up")]));
            }
            Step::Meta => {
                let meta = SessionMeta { title: Some("a title".to_owned()), ..SessionMeta::default() };
                self.push(Body::SessionMeta(meta), None);
            }
            Step::Trim => self.state = std::mem::take(&mut self.state).trimmed(),
        }
    }

    fn amend(&mut self, at: usize, patch: Fields) {
        let Some(target) = self.back(at).map(id) else { return };
        self.push(Body::Amend(Amend { target, patch }), None);
    }
}

fn options(kind: u8) -> Options {
    let mut options = Options::default();
    match kind {
        0 => {}
        1 => options.tool_result_soft_limit_chars = Some(8),
        2 => options.tools = Some(["other".to_owned()].into()),
        _ => options.apply_compact_boundary = false,
    }
    options
}

/// What may change a message that was in the model's view before.
fn may_change(step: &Step) -> bool {
    match step {
        Step::Tombstone(_)
        | Step::Prune(_)
        | Step::AmendText(_)
        | Step::AmendCalls(..)
        | Step::AmendResult(..)
        | Step::Head(_)
        | Step::Fork(_)
        | Step::Compact(_)
        | Step::Result { .. }
        | Step::Trim
        // An attachment takes its place before the result that it belongs to.
        | Step::Attachment(Some(_)) => true,
        Step::User
        | Step::Assistant { .. }
        | Step::Attachment(None)
        | Step::LocalCommand(_)
        | Step::Sidechain
        | Step::Unknown
        | Step::Meta => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn a_view_that_follows_is_what_a_projection_of_the_whole_would_be(
        steps in prop::collection::vec(step(), 1..40), kind in 0_u8..4,
    ) {
        let views = View::ALL;
        let options = options(kind);
        let mut told = Told::default();
        let mut projectors = views.map(|view| Projector::new(&told.state, view, options.clone()));
        for (index, step) in steps.iter().enumerate() {
            let may_change = may_change(step) || told.has_dead_end();
            told.tell(step);
            for (projector, view) in projectors.iter_mut().zip(views) {
                let before = projector.messages().to_vec();
                let update = projector.update(&told.state);
                let whole = project(&told.state, view, &options);
                prop_assert_eq!(projector.messages(), &whole.messages[..], "messages, step {} {:?}", index, step);
                prop_assert_eq!(projector.diagnostics(), &whole.diagnostics, "diagnostics, step {} {:?}", index, step);

                let same = before.iter().zip(&whole.messages).take_while(|(old, new)| old == new).count();
                let first_changed = Some(same).filter(|&same| same < before.len());
                prop_assert_eq!(update.first_changed, first_changed, "step {} {:?}", index, step);
                if let Some(first) = first_changed {
                    let item = update.diagnostic.expect("a diagnostic");
                    prop_assert_eq!(item.code, code::EARLIER_MESSAGE_CHANGED);
                    prop_assert_eq!(&item.ids, &before[first].source_message_ids);
                    prop_assert!(view != View::Model || may_change, "step {} {:?} changed {}", index, step, first);
                }
            }
        }
    }
}

#[test]
fn an_append_builds_on_a_view_and_says_what_a_late_result_moved() {
    let mut told = Told::default();
    let mut projector = Projector::new(&told.state, View::Model, Options::default());
    told.tell(&Step::Assistant { calls: vec![1], message_id: None });
    told.tell(&Step::User);
    assert_eq!(projector.update(&told.state).first_changed, None);
    told.tell(&Step::Result { call: 1, below: None, synthetic: false, with_text: false });
    let update = projector.update(&told.state);
    assert_eq!(update.first_changed, Some(1), "the result stands before what the user said");
    let item = update.diagnostic.unwrap();
    assert_eq!(item.ids, [id("e2")]);
    assert!(item.reason.contains(&format!("the late result {}", id("e3"))), "{}", item.reason);
}
