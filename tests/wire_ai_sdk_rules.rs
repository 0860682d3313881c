//! The structural rules of a body for the AI SDK, on random histories: whatever was recorded, no provider refuses.

mod common;

use std::collections::{HashMap, HashSet};

use common::bodies::ai_sdk;
use common::story::{Story, event};
use proptest::prelude::*;
use serde_json::Value as Json;
use seslog::event::*;
use seslog::projection;
use seslog::wire::Options;

/// One thing that happens in a random history. Numbers choose among the names so far.
#[derive(Debug, Clone)]
enum Step {
    User(String),
    Assistant { text: String, calls: Vec<(String, bool)>, reasoning: u8, message_id: Option<u8> },
    Result { call: String, text: String, beside: Option<usize>, synthetic: bool },
    UserWithResult { call: String, text: String },
    Attachment(Option<String>),
    LocalCommand,
    SystemNote(String),
    Picture(bool),
    Denied(String),
    Tombstone(usize),
    Prune(usize),
    Head(usize),
    Compact(Vec<usize>),
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n\t".to_owned()), "[a-z😀\u{0}é]{1,6}", Just("\u{feff}".to_owned())]
}

fn call_id() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "c[0-9]",
        1 => Just(String::new()),
        1 => Just("a|b".to_owned()),
        1 => Just("x".repeat(41)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let calls = prop::collection::vec((call_id(), prop::bool::weighted(0.15)), 0..4);
    prop_oneof![
        4 => text().prop_map(Step::User),
        6 => (text(), calls, 0_u8..6, prop::option::of(0_u8..3)).prop_map(|(text, calls, reasoning, message_id)| {
            Step::Assistant { text, calls, reasoning, message_id }
        }),
        8 => (call_id(), text(), prop::option::of(0_usize..40), prop::bool::weighted(0.2)).prop_map(
            |(call, text, beside, synthetic)| Step::Result { call, text, beside, synthetic }
        ),
        1 => (call_id(), text()).prop_map(|(call, text)| Step::UserWithResult { call, text }),
        1 => prop::option::of(call_id()).prop_map(Step::Attachment),
        1 => Just(Step::LocalCommand),
        1 => text().prop_map(Step::SystemNote),
        1 => any::<bool>().prop_map(Step::Picture),
        1 => call_id().prop_map(Step::Denied),
        1 => (0_usize..40).prop_map(Step::Tombstone),
        1 => (0_usize..40).prop_map(Step::Prune),
        1 => (0_usize..40).prop_map(Step::Head),
        1 => prop::collection::vec(0_usize..40, 0..4).prop_map(Step::Compact),
    ]
}

fn reasoning(of: u8) -> Option<Part> {
    let (provider, item) = match of {
        0 => return None,
        1 => (Some("anthropic"), None),
        2 => (Some("openai"), Some("rs_1".to_owned())),
        3 => (Some("google"), None),
        4 => (Some("bedrock"), None),
        _ => (None, None),
    };
    let body = Reasoning { text: Some("hm ".to_owned()), signature: Some("c2ln".to_owned()), ..Reasoning::default() };
    let part = Part::new(PartBody::Reasoning(body));
    Some(Part { provider: provider.map(str::to_owned), item_id: item, ..part })
}

/// A tool for a call: where the id is not legal, nor is the tool's name.
fn tool(call: &str) -> &str {
    match call {
        "c0" => "mcp:files/read",
        "c1" => "a tool",
        "a|b" => "a.b",
        "" => "",
        long if long.len() > 40 => "a name of a tool that is longer than what any provider takes for one, by far",
        _ => "run",
    }
}

fn assistant(text: &str, calls: &[(String, bool)], of: u8, message_id: Option<u8>) -> Message {
    let mut message = Message::assistant_calls(vec![Part::text(text)]);
    message.content.extend(calls.iter().map(|(id, incomplete)| {
        let mut part = Part::tool_call(id.as_str(), tool(id), Value::Int(1));
        if let PartBody::ToolCall(call) = &mut part.body {
            call.incomplete = *incomplete;
        }
        part
    }));
    // Before the text or at the end, where it has to go.
    if let Some(part) = reasoning(of) {
        let at = if text.is_empty() { message.content.len() } else { 0 };
        message.content.insert(at, part);
    }
    message.message_id = message_id.map(|id| format!("msg_{id}"));
    message
}

fn picture(good: bool) -> Message {
    let source = if good { MediaSource::Data("aTE=".to_owned()) } else { MediaSource::Path("/a.png".to_owned()) };
    let media = Media { media_type: "image/png".to_owned(), source, name: None, width: None, height: None };
    Message::new(Role::User, Kind::UserInput, vec![Part::new(PartBody::Image(media))])
}

fn denied(call: &str) -> Message {
    let response = ApprovalResponse { call_id: call.to_owned(), approval_id: None, approved: false, reason: None };
    Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![Part::new(PartBody::ToolApprovalResponse(response))])
}

fn tell(steps: &[Step]) -> Story {
    let mut story = Story::new();
    let mut told: Vec<String> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let name = format!("m{index}");
        let pick = |at: usize| told.get(at % told.len().max(1)).cloned();
        story = match step {
            Step::User(text) => {
                let mut message = Message::user("x");
                message.content = vec![Part::text(text.as_str())];
                story.say(&name, message)
            }
            Step::Assistant { text, calls, reasoning, message_id } => {
                story.say(&name, assistant(text, calls, *reasoning, *message_id))
            }
            Step::Result { call, text, beside, synthetic } => {
                let mut message = Message::tool_result(call.as_str(), text.as_str(), false);
                message.metadata.synthetic = *synthetic;
                match beside.and_then(pick) {
                    Some(parent) => {
                        story.events.push(event(&name, Some(&parent), Body::Message(Box::new(message))));
                        story
                    }
                    None => story.say(&name, message),
                }
            }
            Step::UserWithResult { call, text } => {
                let mut message = Message::user("x");
                message.content = vec![Part::tool_result(call.as_str(), "y", true), Part::text(text.as_str())];
                story.say(&name, message)
            }
            Step::Attachment(call) => {
                let kind = Kind::Attachment(Attachment { tool_use_id: call.clone(), ..Attachment::default() });
                story.say(&name, Message::new(Role::User, kind, vec![Part::text("attached")]))
            }
            Step::LocalCommand => {
                let subtype = "local_command".to_owned();
                let kind = Kind::SystemEvent(SystemEvent { subtype, ..SystemEvent::default() });
                story.say(&name, Message::new(Role::System, kind, vec![Part::text("out")]))
            }
            Step::SystemNote(text) => {
                let mut message = Message::system_note("x");
                message.content = vec![Part::text(text.as_str())];
                story.say(&name, message)
            }
            Step::Picture(good) => story.say(&name, picture(*good)),
            Step::Denied(call) => story.say(&name, denied(call)),
            Step::Tombstone(at) => match pick(*at) {
                Some(target) => story.tombstone(&name, &[&target]),
                None => continue,
            },
            Step::Prune(at) => match pick(*at) {
                Some(target) => story.prune(&name, &[&target]),
                None => continue,
            },
            Step::Head(at) => match pick(*at) {
                Some(target) => story.head(&name, &target),
                None => continue,
            },
            Step::Compact(keep) => {
                let on_chain: Vec<String> =
                    story.state().chain().iter().filter_map(|entry| entry.event.original_id.clone()).collect();
                let keep: Vec<&str> = on_chain
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| keep.contains(&(on_chain.len() - at)))
                    .map(|(_, name)| name.as_str())
                    .collect();
                story.compact(&name, &format!("s{index}"), &keep)
            }
        };
        let is_message = story.events.last().is_some_and(|event| event.takes_part());
        if is_message && !matches!(step, Step::Compact(_)) {
            told.push(name);
        }
    }
    story
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// Each rule that a body breaks.
fn broken_rules(body: &Json) -> Vec<String> {
    let mut broken = Vec::new();
    let messages = body["messages"].as_array().expect("a list of messages");
    if messages.first().is_some_and(|first| first["role"] != "user") {
        broken.push("the first message is not the user's".to_owned());
    }
    let mut open: Vec<String> = Vec::new();
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut last_role = String::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().expect("a role");
        if !open.is_empty() && role != "tool" {
            broken.push(format!("{index}: {open:?} are not answered at once"));
            open.clear();
        }
        if role == last_role && role == "user" {
            broken.push(format!("{index}: two messages of the user's in a row"));
        }
        if role == "system" {
            broken.push(format!("{index}: a system message"));
        }
        role.clone_into(&mut last_role);
        let parts = match &message["content"] {
            Json::String(text) => {
                if is_blank(text) || role == "tool" {
                    broken.push(format!("{index}: blank content"));
                }
                continue;
            }
            Json::Array(parts) => parts,
            _ => panic!("content is a text or a list"),
        };
        if parts.is_empty() {
            broken.push(format!("{index}: an empty message"));
        }
        if role == "assistant" && parts.last().is_some_and(|part| part["type"] == "reasoning") {
            broken.push(format!("{index}: ends in reasoning"));
        }
        let mut answered = HashSet::new();
        for part in parts {
            match part["type"].as_str().expect("a type") {
                "text" if is_blank(part["text"].as_str().expect("a text")) => {
                    broken.push(format!("{index}: a blank text"));
                }
                "tool-call" => {
                    let id = part["toolCallId"].as_str().expect("an id").to_owned();
                    let legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                    if id.is_empty() || id.len() > 40 || !id.bytes().all(legal) {
                        broken.push(format!("{index}: {id} is not legal"));
                    }
                    if !part["input"].is_object() {
                        broken.push(format!("{index}: input is no object"));
                    }
                    let name = part["toolName"].as_str().expect("a name").to_owned();
                    if name.is_empty() || name.len() > 64 || !name.bytes().all(legal) {
                        broken.push(format!("{index}: {name} is not a legal name"));
                    }
                    if seen.insert(id.clone(), name).is_some() {
                        broken.push(format!("{index}: {id} is used twice"));
                    }
                    open.push(id);
                }
                "tool-result" => {
                    let id = part["toolCallId"].as_str().expect("an id").to_owned();
                    if !open.contains(&id) || !answered.insert(id.clone()) {
                        broken.push(format!("{index}: {id} is not open"));
                    }
                    open.retain(|other| *other != id);
                    if seen.get(&id).is_none_or(|name| part["toolName"] != name.as_str()) {
                        broken.push(format!("{index}: the name of {id} is not its call's"));
                    }
                    if part["output"]["value"].as_str().is_some_and(is_blank) {
                        broken.push(format!("{index}: a blank output"));
                    }
                }
                _ => {}
            }
        }
    }
    if !open.is_empty() {
        broken.push(format!("{open:?} are not answered at the end"));
    }
    broken
}

fn bodies(story: &Story) -> Vec<Json> {
    let messages = story.model().messages;
    let targets = [None, Some("anthropic"), Some("openai"), Some("google"), Some("bedrock")];
    let options = targets.map(|target| target.map_or_else(Options::default, Options::for_upstream));
    options.iter().map(|options| serde_json::from_str(&ai_sdk(&messages, options).to_json()).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_recorded_the_body_obeys_the_rules(steps in prop::collection::vec(step(), 0..40)) {
        let story = tell(&steps);
        for body in bodies(&story) {
            let broken = broken_rules(&body);
            prop_assert!(broken.is_empty(), "{broken:?}\n{body:#}");
        }
        let payload = |story: &Story| ai_sdk(&story.model().messages, &Options::default());
        prop_assert_eq!(payload(&story).to_json(), payload(&story.clone()).to_json());
    }

    /// Whatever a user or the model said and the view shows is in the body.
    #[test]
    fn nobodys_words_are_lost_on_the_way_into_a_body(steps in prop::collection::vec(step(), 0..40)) {
        let messages = tell(&steps).model().messages;
        let body = ai_sdk(&messages, &Options::default());
        let sent: Json = serde_json::from_str(&body.to_json()).unwrap();
        let mut texts = Vec::new();
        collect_texts(&sent, &mut texts);
        for part in messages.iter().flat_map(|message| &message.content) {
            if let Some(text) = part.as_text().filter(|text| !is_blank(text)) {
                let text = text.replace('\0', "\u{fffd}");
                prop_assert!(texts.iter().any(|sent| sent.contains(&text)), "{text:?} is not in {body:?}");
            }
        }
    }

    /// Appending at the end changes no earlier message of the view, but by what is meant to change it.
    #[test]
    fn the_models_view_begins_with_the_shorter_sessions_view(steps in prop::collection::vec(step(), 0..40)) {
        let mut options = projection::Options::default();
        options.tool_result_soft_limit_chars = Some(3);
        let mut before = Vec::new();
        for len in 0..=steps.len() {
            let after = tell(&steps[..len]).model_with(&options).messages;
            let changes = matches!(
                len.checked_sub(1).map(|last| &steps[last]),
                Some(Step::Tombstone(_) | Step::Prune(_) | Step::Head(_) | Step::Compact(_)
                    | Step::Result { .. } | Step::UserWithResult { .. } | Step::Attachment(Some(_)))
            );
            if !changes {
                prop_assert_eq!(&after[..before.len().min(after.len())], &before[..]);
            }
            before = after;
        }
    }

    /// Every living message of the current chain is shown to a person, and nothing is shown twice.
    #[test]
    fn the_transcript_shows_the_whole_chain_once(steps in prop::collection::vec(step(), 0..40)) {
        let story = tell(&steps);
        let shown = story.transcript();
        let ids: Vec<Uuid> = shown.messages.iter().flat_map(|message| message.source_message_ids.clone()).collect();
        let distinct: HashSet<&Uuid> = ids.iter().collect();
        prop_assert_eq!(distinct.len(), ids.len());
        for entry in story.state().history() {
            prop_assert!(distinct.contains(&entry.event.id), "{:?} is missing", entry.event.original_id);
        }
    }
}

fn collect_texts(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Json::Object(fields) => fields.values().for_each(|item| collect_texts(item, texts)),
        _ => {}
    }
}

#[test]
fn the_checker_sees_what_is_broken() {
    let check = |json: &str| broken_rules(&serde_json::from_str(json).unwrap()).len();
    assert_eq!(check(r#"{"messages":[{"role":"assistant","content":"x"}]}"#), 1);
    assert_eq!(check(r#"{"messages":[{"role":"user","content":" "}]}"#), 1);
    let call = r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"t","input":{}}]}"#;
    let answer = r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","toolName":"t","output":{}}]}"#;
    let of = |rest: &str| check(&format!(r#"{{"messages":[{{"role":"user","content":"u"}},{rest}]}}"#));
    assert_eq!(of(&format!("{call},{answer}")), 0);
    assert_eq!(of(call), 1);
    assert_eq!(of(&format!(r#"{call},{{"role":"user","content":"x"}},{answer}"#)), 2);
    assert_eq!(of(&format!("{call},{answer},{answer}")), 1);
    assert!(of(&format!("{call},{answer},{call},{answer}")) > 0);
}
