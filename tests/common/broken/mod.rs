//! Random histories in which everything is broken that a history can break.

mod media;
mod messages;
mod parts;
mod tools;
mod values;

use proptest::prelude::*;
use seslog::event::{
    Amend, Body, Event, Extension, Fields, HungOn, Kind, Message, SessionMeta, ToolStarted, Unknown, Value, decode,
    encode,
};

use seslog::wire::Tool;

use super::story::{Story, event, id};

/// One thing that happens. Numbers choose among what happened so far.
#[derive(Debug, Clone)]
pub enum Step {
    Say(Box<Message>, Hang),
    Tombstone(usize),
    Prune(usize),
    Amend(usize, Fields),
    Head(usize),
    /// Keeps the messages that stand so far from the end of the chain.
    Compact(Vec<usize>),
    /// An event that is no message.
    Beside(Body),
    /// An event once more, under the same id.
    Again(usize),
}

/// What a message hangs on.
#[derive(Debug, Clone, Copy)]
pub enum Hang {
    /// The last one.
    Last,
    /// An earlier one: a fork.
    Earlier(usize),
    /// An earlier one, and what comes next does not hang on it.
    Beside(usize),
    /// Itself, or one that comes so much later: a cycle.
    Later(usize),
    /// One that never was.
    Nothing,
    /// No other: it begins anew.
    Root,
    /// Nothing, and the session took it off the chain.
    OffChain,
}

/// So many cases in a quick run; `PROPTEST_CASES` asks for others.
pub fn cases(quick: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => asked,
        None => ProptestConfig { cases: quick, ..asked },
    }
}

/// One thing that happens in a broken history.
pub fn step() -> BoxedStrategy<Step> {
    prop_oneof![
        30 => (messages::message(), hang()).prop_map(|(message, hang)| Step::Say(Box::new(message), hang)),
        1 => (0_usize..40).prop_map(Step::Tombstone),
        1 => (0_usize..40).prop_map(Step::Prune),
        1 => (0_usize..40, patch()).prop_map(|(at, patch)| Step::Amend(at, patch)),
        1 => (0_usize..40).prop_map(Step::Head),
        1 => prop::collection::vec(0_usize..40, 0..4).prop_map(Step::Compact),
        1 => beside().prop_map(Step::Beside),
        1 => (0_usize..40).prop_map(Step::Again),
    ]
    .boxed()
}

/// A broken history.
pub fn steps() -> BoxedStrategy<Vec<Step>> {
    prop::collection::vec(step(), 0..40).boxed()
}

/// The tools that an application declares.
pub fn tools() -> BoxedStrategy<Vec<Tool>> {
    tools::declared()
}

fn hang() -> BoxedStrategy<Hang> {
    prop_oneof![
        90 => Just(Hang::Last),
        2 => (0_usize..40).prop_map(Hang::Earlier),
        4 => (0_usize..40).prop_map(Hang::Beside),
        1 => (0_usize..4).prop_map(Hang::Later),
        1 => Just(Hang::Nothing),
        1 => Just(Hang::Root),
        1 => Just(Hang::OffChain),
    ]
    .boxed()
}

fn patch() -> BoxedStrategy<Fields> {
    let part = || {
        (prop_oneof![Just("text"), Just("reasoning"), Just("tool_call"), Just("new")], values::text()).prop_map(
            |(kind, text)| Value::from([("type", kind.into()), ("text", text.clone().into()), ("id", text.into())]),
        )
    };
    prop_oneof![
        prop::collection::vec(part(), 0..3).prop_map(|parts| vec![("content".to_owned(), Value::List(parts))]),
        values::text().prop_map(|text| vec![("provider".to_owned(), text.into())]),
        Just(vec![("metadata".to_owned(), Value::from([("eligible_for_model_context", false.into())]))]),
        Just(vec![("content".to_owned(), Value::Null)]),
    ]
    .boxed()
}

fn beside() -> BoxedStrategy<Body> {
    let unknown = Unknown { event_type: "dream".to_owned(), kind: None, fields: vec![("a".to_owned(), Value::Int(1))] };
    prop_oneof![
        values::call_id().prop_map(|call_id| Body::ToolStarted(ToolStarted { call_id, idempotency_key: None })),
        values::text()
            .prop_map(|text| { Body::SessionMeta(SessionMeta { model: Some(text), ..SessionMeta::default() }) }),
        values::text().prop_map(|name| Body::Extension(Extension { name, payload: Value::Null })),
        Just(Body::Unknown(unknown)),
    ]
    .boxed()
}

/// Whether a message changes what stands further up in a view: it belongs to a call there, or cuts the view.
pub fn reaches_back(message: &Message) -> bool {
    message.results().next().is_some()
        || match &message.kind {
            Kind::Attachment(attachment) => attachment.tool_use_id.is_some(),
            kind => matches!(kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_)),
        }
}

/// Tells what happens, one after the other.
pub fn tell(steps: &[Step]) -> Story {
    let mut story = Story::new();
    let mut told: Vec<String> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let name = format!("m{index}");
        let pick = |at: usize| told.get(at % told.len().max(1)).cloned();
        story = match step {
            Step::Say(message, hang) => say(story, index, message, *hang, pick),
            Step::Compact(keep) => {
                let chain = story.state();
                let chain: Vec<&str> =
                    chain.chain().iter().filter_map(|entry| entry.event.original_id.as_deref()).collect();
                let is_kept = |at: &usize| keep.contains(&(chain.len() - at));
                let keep: Vec<&str> = (0..chain.len()).filter(is_kept).map(|at| chain[at]).collect();
                story.compact(&name, &format!("s{index}"), &keep)
            }
            Step::Beside(body) => story.body(&name, body.clone()),
            Step::Tombstone(at) | Step::Prune(at) | Step::Amend(at, _) | Step::Head(at) | Step::Again(at) => {
                let Some(target) = pick(*at) else { continue };
                match step {
                    Step::Tombstone(_) => story.tombstone(&name, &[&target]),
                    Step::Prune(_) => story.prune(&name, &[&target]),
                    Step::Head(_) => story.head(&name, &target),
                    Step::Amend(_, patch) => {
                        let amend = Amend { target: id(&target), patch: patch.clone() };
                        story.body(&name, Body::Amend(amend))
                    }
                    _ => again(story, &target),
                }
            }
        };
        if matches!(step, Step::Say(..)) {
            told.push(name);
        }
    }
    // Only what a log can hold, as it comes out of one.
    for event in &mut story.events {
        *event = decode(&encode(event).expect("a log takes it")).expect("it comes back");
    }
    story
}

fn again(mut story: Story, target: &str) -> Story {
    let twice: Option<Event> = story.events.iter().find(|event| event.id == id(target)).cloned();
    story.events.extend(twice);
    story
}

fn say(mut story: Story, index: usize, message: &Message, hang: Hang, pick: impl Fn(usize) -> Option<String>) -> Story {
    let name = format!("m{index}");
    let parent = match hang {
        Hang::Last => return story.say(&name, message.clone()),
        Hang::Beside(at) if pick(at).is_none() => return story.say(&name, message.clone()),
        Hang::Earlier(at) | Hang::Beside(at) => pick(at),
        Hang::Later(more) => Some(format!("m{}", index + more)),
        Hang::Nothing => Some("never".to_owned()),
        Hang::Root | Hang::OffChain => None,
    };
    if matches!(hang, Hang::Beside(_) | Hang::OffChain) {
        story.events.push(event(&name, parent.as_deref(), Body::Message(Box::new(message.clone()))));
    } else {
        story = story.say_below(&name, parent.as_deref(), message.clone());
    }
    let told = story.events.last_mut().expect("it was told");
    told.off_chain = matches!(hang, Hang::OffChain);
    if matches!(hang, Hang::Root) {
        told.hung_on = HungOn::Root;
    }
    story
}
