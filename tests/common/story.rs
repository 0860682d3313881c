//! Tells a session as a list of named events and projects it.

use seslog::event::{
    Body, CompactBoundary, CompactSummary, Event, Fields, Head, HungOn, Kept, Kind, Message, Part, PartBody, Prune,
    Role, Tombstone, Uuid, Value,
};
use seslog::projection::{Options, Projection, View, project};
use seslog::session::State;

/// The fixed id of a name.
pub fn id(name: &str) -> Uuid {
    Uuid::new_v5(&Uuid::from_u128(0x5e55_1090_0000_4000_8000_0000_0000_0001), name.as_bytes())
}

/// An event of this name that hangs on another.
pub fn event(name: &str, parent: Option<&str>, body: Body) -> Event {
    Event {
        id: id(name),
        parent: parent.map(id),
        hung_on: HungOn::Named,
        at: 0,
        original_id: Some(name.to_owned()),
        original_parent: None,
        off_chain: false,
        body,
        extra: Fields::new(),
    }
}

/// A session told one event after the other; each hangs on the one before, unless it is told otherwise.
#[derive(Debug, Clone, Default)]
pub struct Story {
    pub events: Vec<Event>,
    last: Option<String>,
}

impl Story {
    pub fn new() -> Self {
        Self::default()
    }

    /// A message that hangs on the last one.
    pub fn say(self, name: &str, message: Message) -> Self {
        let parent = self.last.clone();
        self.say_below(name, parent.as_deref(), message)
    }

    /// A message that hangs on the named one.
    pub fn say_below(mut self, name: &str, parent: Option<&str>, message: Message) -> Self {
        if message.takes_part() {
            self.last = Some(name.to_owned());
        }
        self.events.push(event(name, parent, Body::Message(Box::new(message))));
        self
    }

    pub fn user(self, name: &str) -> Self {
        self.say(name, Message::user(name))
    }

    pub fn assistant(self, name: &str) -> Self {
        self.say(name, Message::assistant(name))
    }

    /// A message of the model's with these calls.
    pub fn calls(self, name: &str, calls: &[&str]) -> Self {
        self.say(name, calling(calls))
    }

    /// A result, its text being its name.
    pub fn result(self, name: &str, call: &str) -> Self {
        self.say(name, Message::tool_result(call, name, false))
    }

    /// A compaction that keeps these messages.
    pub fn compact(mut self, boundary: &str, summary: &str, keep: &[&str]) -> Self {
        let keep = keep.iter().map(|name| Kept { id: id(name), offset: 0, changed: Vec::new() }).collect();
        let kind = Kind::CompactBoundary(CompactBoundary { keep, ..CompactBoundary::default() });
        self = self.say(boundary, Message::new(Role::System, kind, Vec::new()));
        let kind = Kind::CompactSummary(CompactSummary::default());
        self.say(summary, Message::new(Role::User, kind, vec![Part::text(summary)]))
    }

    pub fn body(mut self, name: &str, body: Body) -> Self {
        self.events.push(event(name, None, body));
        self
    }

    pub fn tombstone(self, name: &str, targets: &[&str]) -> Self {
        let targets = targets.iter().map(|name| id(name)).collect();
        self.body(name, Body::Tombstone(Tombstone { targets, reason: None }))
    }

    pub fn prune(self, name: &str, targets: &[&str]) -> Self {
        self.body(name, Body::Prune(Prune { targets: targets.iter().map(|name| id(name)).collect() }))
    }

    pub fn head(mut self, name: &str, leaf: &str) -> Self {
        self.last = Some(leaf.to_owned());
        self.body(name, Body::Head(Head { leaf: Some(id(leaf)) }))
    }

    pub fn state(&self) -> State {
        State::from_events(self.events.clone())
    }

    pub fn model(&self) -> Projection {
        project(&self.state(), View::Model, &Options::default())
    }

    pub fn model_with(&self, options: &Options) -> Projection {
        project(&self.state(), View::Model, options)
    }

    pub fn transcript(&self) -> Projection {
        project(&self.state(), View::Transcript, &Options::default())
    }
}

/// A message of the model's with these calls, each of a tool `run`.
pub fn calling(calls: &[&str]) -> Message {
    let parts = calls.iter().map(|call| Part::tool_call(*call, "run", Value::Map(Fields::new()))).collect();
    Message::assistant_calls(parts)
}

/// The names of the messages of a view, in order.
pub fn names(projection: &Projection) -> Vec<String> {
    projection.messages.iter().flat_map(|message| message.original_ids.clone()).collect()
}

/// All text of a view's message, results included.
pub fn text_of(projection: &Projection, name: &str) -> String {
    let found = projection.messages.iter().filter(|message| message.original_ids.iter().any(|id| id == name));
    let parts = found.flat_map(|message| &message.content);
    let texts = parts.map(|part| match &part.body {
        PartBody::Text(text) => text.text.clone(),
        PartBody::ToolResult(result) => match &result.output {
            seslog::event::ToolOutput::Text(text) => text.clone(),
            seslog::event::ToolOutput::Parts(parts) => {
                parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
            }
        },
        _ => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The codes of a view's diagnostics that are about this message.
pub fn codes(projection: &Projection, name: &str) -> Vec<&'static str> {
    let about = projection.diagnostics.items.iter().filter(|item| item.ids.contains(&id(name)));
    about.map(|item| item.code).collect()
}
