//! How these tests tell messages and look at what became of them.
#![allow(dead_code, reason = "each file uses a part of it")]

use std::sync::Arc;

use seslog::context::{Config, Pipeline, Prompt};
use seslog::event::{Body, CardMessage, Event, Fields, HungOn, Kind, Message, Role, Uuid, Value};
use seslog::projection::{ProjectedMessage, Shared, View};

/// The message as a view of a session shows it, the n-th event of it.
pub fn recorded(n: usize, role: Role, message: Message) -> ProjectedMessage {
    let event = Arc::new(Event {
        id: Uuid::from_u128(n as u128 + 1),
        parent: None,
        hung_on: HungOn::Named,
        at: 0,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Message(Box::new(message)),
        extra: Fields::new(),
    });
    ProjectedMessage::of(View::Model, &event, role, Shared::parts_of(&event).collect()).unwrap()
}

/// The messages as a view of a session shows them.
pub fn session(messages: impl IntoIterator<Item = Message>) -> Vec<ProjectedMessage> {
    messages.into_iter().enumerate().map(|(n, message)| recorded(n, message.role, message)).collect()
}

/// The message, as this agent's.
pub fn by(agent: &str, mut message: Message) -> Message {
    message.metadata.agent_name = Some(agent.to_owned());
    message
}

/// A card of this kind, with no words of its own.
pub fn card(kind: Kind) -> Message {
    let role = if matches!(kind, Kind::TaskCallback(_) | Kind::Verify(_)) { Role::User } else { Role::Assistant };
    Message::new(role, kind, Vec::new())
}

/// One message as a card holds it.
pub fn item(message: Message) -> Value {
    CardMessage { id: None, at: None, message }.to_item().unwrap()
}

/// A configuration from JSON.
pub fn config(json: &str) -> Config {
    serde_json::from_str(json).unwrap()
}

/// What the standard pipeline makes of the messages.
pub fn standard(config: &Config, messages: &[ProjectedMessage]) -> Prompt {
    Pipeline::standard(config).run(messages).unwrap()
}

/// The texts of a message.
pub fn texts(message: &ProjectedMessage) -> Vec<&str> {
    message.content.iter().filter_map(|part| part.as_text()).collect()
}

/// Every text of the prompt, each message on a line that begins with its role.
pub fn lines(prompt: &Prompt) -> Vec<String> {
    prompt.messages.iter().map(|message| format!("{}: {}", message.role.name(), texts(message).join(" | "))).collect()
}
