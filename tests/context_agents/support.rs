//! How these tests tell a history and look at what became of it.
#![allow(dead_code, unreachable_pub, reason = "each file uses a part of it")]

use seslog::context::{Pipeline, Processor, Prompt};
use seslog::event::{AgentCouncil, Children, Kind, Message, Part, PartBody, Role, Task, ToolOutput, Value};
use seslog::projection::ProjectedMessage;

use crate::common::story::Story;

/// A history in words, one message a word:
///
/// `u1` a person's, `s1` a system note, `a1` an answer, `a1(c1,c2)` calls, `r1(c1)` a result, `t1` a task, `x1` an
/// attachment. Behind it: `@ann` the agent, `#compare` a label, `^u1` what it hangs on, where that is not the one before.
pub fn told(words: &str) -> Story {
    words.split_whitespace().fold(Story::new(), |story, word| {
        let (word, parent) = split(word, '^');
        let (name, message) = message(word);
        match parent {
            Some(parent) => story.say_below(&name, Some(parent), message),
            None => story.say(&name, message),
        }
    })
}

/// The name and the message of one word.
pub fn message(word: &str) -> (String, Message) {
    let (word, message_id) = split(word, '~');
    let (word, tag) = split(word, '#');
    let (word, agent) = split(word, '@');
    let (name, calls) = split(word.trim_end_matches(')'), '(');
    let calls: Vec<&str> = calls.into_iter().flat_map(|calls| calls.split(',')).collect();
    let mut message = match (&name[..1], calls.as_slice()) {
        ("u", _) => Message::user(name),
        ("s", _) => Message::system_note(name),
        ("t", _) => task(name),
        ("x", _) => Message::attachment(seslog::event::Attachment::default(), vec![Part::text(name)]),
        ("r", [call]) => Message::tool_result(*call, name, false),
        ("a", []) => Message::assistant(name),
        ("a", calls) => Message::assistant_calls(calls.iter().map(|call| call_part(call)).collect()),
        _ => panic!("no message is told as {word}"),
    };
    message.message_id = message_id.map(str::to_owned);
    message.metadata.agent_name = agent.map(str::to_owned);
    message.metadata.tags.extend(tag.map(str::to_owned));
    (name.to_owned(), message)
}

/// A call `c1`, of the tool `run`, or `speak:c1`, of the tool that is named.
pub fn call_part(call: &str) -> Part {
    let (tool, id) = call.split_once(':').unwrap_or(("run", call));
    Part::tool_call(id, tool, Value::Map(Vec::new()))
}

/// What a card holds, told like a history.
pub fn items(words: &str) -> Vec<Value> {
    words.split_whitespace().map(message).map(|(name, message)| item(&name, message)).collect()
}

/// One message as a card holds it.
pub fn item(name: &str, message: Message) -> Value {
    seslog::event::CardMessage { id: Some(name.to_owned()), at: None, message }.to_item().unwrap()
}

/// A card of this kind, with no words of its own.
pub fn card(kind: Kind) -> Message {
    let role = if matches!(kind, Kind::TaskCallback(_) | Kind::Verify(_)) { Role::User } else { Role::Assistant };
    Message::new(role, kind, Vec::new())
}

/// A council of these members.
pub fn council(members: Vec<Value>) -> Message {
    card(Kind::AgentCouncil(AgentCouncil { members }))
}

/// A group of these children.
pub fn group(children: Vec<Value>) -> Message {
    card(Kind::AssistantGroup(Children { children }))
}

/// A supervisor of these children.
pub fn supervisor(children: Vec<Value>) -> Message {
    card(Kind::Supervisor(Children { children }))
}

fn split(word: &str, at: char) -> (&str, Option<&str>) {
    word.split_once(at).map_or((word, None), |(word, rest)| (word, Some(rest)))
}

fn task(title: &str) -> Message {
    card(Kind::Task(Task { title: Some(title.to_owned()), ..Task::default() }))
}

/// The prompt that these steps make of the messages.
pub fn run(messages: &[ProjectedMessage], steps: Vec<Box<dyn Processor>>) -> Prompt {
    let mut pipeline = Pipeline::new();
    steps.into_iter().for_each(|step| {
        pipeline.push(step);
    });
    pipeline.run(messages).unwrap()
}

/// The codes of what a prompt has to say, each once, in order.
pub fn codes(prompt: &Prompt) -> Vec<&'static str> {
    let mut codes: Vec<&str> = prompt.diagnostics.iter().map(|said| said.code).collect();
    codes.dedup();
    codes
}

/// The names that the messages' events have.
pub fn names(messages: &[ProjectedMessage]) -> Vec<String> {
    messages.iter().flat_map(|message| message.original_ids.clone()).collect()
}

/// Each message in a line: its role, and what its parts say.
pub fn lines(messages: &[ProjectedMessage]) -> Vec<String> {
    messages.iter().map(line).collect()
}

fn line(message: &ProjectedMessage) -> String {
    let parts: Vec<String> = message.content.iter().map(|part| said(part)).collect();
    format!("{}: {}", message.role.name(), parts.join(" | "))
}

fn said(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => text.text.clone(),
        PartBody::Reasoning(reasoning) => format!("({})", reasoning.text.as_deref().unwrap_or_default()),
        PartBody::ToolCall(call) => format!("{}!{}", call.name, call.id),
        PartBody::ToolResult(result) => match &result.output {
            ToolOutput::Text(text) => format!("{}={text}", result.call_id),
            ToolOutput::Parts(parts) => {
                let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
                format!("{}={}", result.call_id, texts.join(" "))
            }
        },
        other => format!("[{}]", other.type_name()),
    }
}
