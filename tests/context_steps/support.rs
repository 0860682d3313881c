//! How these tests tell messages and look at what became of them.
#![allow(dead_code, unreachable_pub, reason = "each file uses a part of it")]

use std::sync::Arc;

use seslog::context::{Pipeline, Processor, Prompt};
use seslog::event::*;
use seslog::projection::{ProjectedMessage, Shared, View};

/// The message as a view of a session shows it, the n-th event of it.
pub fn recorded(n: usize, message: Message) -> ProjectedMessage {
    let role = message.role;
    let event = Arc::new(Event {
        id: id(n),
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

pub fn id(n: usize) -> Uuid {
    Uuid::from_u128(n as u128 + 1)
}

/// The messages as a view of a session shows them.
pub fn session(messages: impl IntoIterator<Item = Message>) -> Vec<ProjectedMessage> {
    messages.into_iter().enumerate().map(|(n, message)| recorded(n, message)).collect()
}

/// The prompt that one step makes.
pub fn run(step: impl Processor + 'static, messages: &[ProjectedMessage]) -> Prompt {
    let mut pipeline = Pipeline::new();
    pipeline.push(step);
    pipeline.run(messages).unwrap()
}

/// The prompt that several steps make.
pub fn run_all(steps: Vec<Box<dyn Processor>>, messages: &[ProjectedMessage]) -> Prompt {
    let mut pipeline = Pipeline::new();
    steps.into_iter().for_each(|step| {
        pipeline.push(step);
    });
    pipeline.run(messages).unwrap()
}

/// The codes of what was said, in order.
pub fn codes(prompt: &Prompt) -> Vec<&'static str> {
    prompt.diagnostics.iter().map(|item| item.code).collect()
}

/// The texts of a message.
pub fn texts(message: &ProjectedMessage) -> Vec<&str> {
    message.content.iter().filter_map(|part| part.as_text()).collect()
}

/// Every text of the prompt, each message on a line that begins with its role.
pub fn lines(prompt: &Prompt) -> Vec<String> {
    prompt.messages.iter().map(|message| format!("{}: {}", message.role.name(), texts(message).join(" | "))).collect()
}

/// What one wrapper holds, without its marks and the instruction.
pub fn inside(wrapper: &str) -> &str {
    use seslog::context::slots::{CONTEXT_END, CONTEXT_INSTRUCTION, CONTEXT_START};
    let start = format!("{CONTEXT_START}\n{CONTEXT_INSTRUCTION}\n");
    wrapper.strip_prefix(&start).and_then(|rest| rest.strip_suffix(CONTEXT_END)).expect("a wrapper").trim_end()
}

/// Reads a step's configuration.
pub fn config<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).unwrap()
}
