//! Random turns of OpenAI's own items, whole and broken: no body is refused, and what is whole goes back whole.

mod common;
mod wire_rules;

use common::bodies::made;
use common::story::Story;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::wire::{Options, Provider};
use wire_rules::check_text;

/// One part of a turn, or what stands between two.
#[derive(Debug, Clone)]
enum Step {
    Part(Part),
    /// The turn goes on in a message of its own, perhaps of the same id at the provider.
    NextMessage(bool),
    User,
    SystemNote,
    Result(u8),
    Answer(Part),
}

fn of_openai(body: PartBody, item: Option<String>) -> Part {
    Part { provider: Some("openai".to_owned()), item_id: item, ..Part::new(body) }
}

fn opaque(json: &Json) -> Part {
    let value = Value::parse_json(json.to_string().into_bytes()).unwrap().0;
    of_openai(PartBody::Opaque(Opaque { value }), None)
}

fn reasoning(item: u8, whole: bool, own: bool) -> Part {
    let text = Some("hm".to_owned());
    let encrypted = whole.then(|| "ZW5j".to_owned());
    let mut part = of_openai(
        PartBody::Reasoning(Reasoning { text, encrypted, ..Reasoning::default() }),
        Some(format!("rs_{item}")),
    );
    if !own {
        part.provider = Some("anthropic".to_owned());
    }
    part
}

fn call(id: u8, item: Option<u8>, incomplete: bool) -> Part {
    let mut part = Part::tool_call(format!("c{id}"), "run", Value::Map(Vec::new()));
    if let PartBody::ToolCall(call) = &mut part.body {
        call.incomplete = incomplete;
    }
    Part { item_id: item.map(|item| format!("fc_{item}")), ..part }
}

fn text(blank: bool, item: Option<u8>) -> Part {
    let text = if blank { " " } else { "said" };
    of_openai(PartBody::Text(Text { text: text.to_owned() }), item.map(|item| format!("msg_{item}")))
}

fn own(kind: u8, id: u8) -> Part {
    let call_id = format!("k{id}");
    opaque(&match kind {
        0 => json!({"type": "web_search_call", "id": format!("ws_{id}"), "status": "completed",
            "action": {"type": "search", "query": "x"}}),
        1 => json!({"type": "web_search_call", "id": format!("ws_{id}"), "status": "in_progress"}),
        2 => json!({"type": "custom_tool_call", "id": format!("ctc_{id}"), "call_id": call_id, "name": "sql",
            "input": "x", "status": "completed"}),
        3 => json!({"type": "shell_call", "call_id": call_id, "action": {"commands": ["ls"]}, "status": "completed"}),
        _ => {
            json!({"type": "image_generation_call", "id": format!("ig_{id}"), "result": "aTE=", "status": "completed"})
        }
    })
}

fn answer(kind: bool, id: u8) -> Part {
    let call_id = format!("k{id}");
    opaque(&match kind {
        true => json!({"type": "custom_tool_call_output", "call_id": call_id, "output": "3"}),
        false => json!({"type": "shell_call_output", "call_id": call_id,
            "output": [{"stdout": "", "stderr": "x", "outcome": {"type": "timeout"}}]}),
    })
}

fn step() -> impl Strategy<Value = Step> {
    let item = || prop::option::of(0_u8..40);
    prop_oneof![
        8 => (0_u8..40, prop::bool::weighted(0.8), prop::bool::weighted(0.9))
            .prop_map(|(item, whole, own)| Step::Part(reasoning(item, whole, own))),
        6 => (0_u8..40, item(), prop::bool::weighted(0.2)).prop_map(|(id, item, cut)| Step::Part(call(id, item, cut))),
        6 => (prop::bool::weighted(0.2), item()).prop_map(|(blank, item)| Step::Part(text(blank, item))),
        4 => (0_u8..5, 0_u8..8).prop_map(|(kind, id)| Step::Part(own(kind, id))),
        1 => (any::<bool>(), 0_u8..8).prop_map(|(kind, id)| Step::Part(answer(kind, id))),
        3 => any::<bool>().prop_map(Step::NextMessage),
        3 => Just(Step::User),
        1 => Just(Step::SystemNote),
        4 => (0_u8..40).prop_map(Step::Result),
        4 => (any::<bool>(), 0_u8..8).prop_map(|(kind, id)| Step::Answer(answer(kind, id))),
    ]
}

fn tell(steps: &[Step]) -> Story {
    let mut story = Story::new().user("u");
    let mut parts: Vec<Part> = Vec::new();
    let mut message_id = 0;
    let flush = |story: Story, parts: &mut Vec<Part>, name: &str, id: i32| {
        if parts.is_empty() {
            return story;
        }
        let mut message = Message::assistant_calls(std::mem::take(parts));
        (message.provider, message.message_id) = (Some("openai".to_owned()), Some(format!("resp_{id}")));
        story.say(name, message)
    };
    for (index, step) in steps.iter().enumerate() {
        let name = format!("m{index}");
        if let Step::Part(part) = step {
            parts.push(part.clone());
            continue;
        }
        story = flush(story, &mut parts, &format!("a{index}"), message_id);
        message_id += i32::from(!matches!(step, Step::NextMessage(true)));
        story = match step {
            Step::User => story.user(&name),
            Step::SystemNote => story.say(&name, Message::system_note("note")),
            Step::Result(id) => story.result(&name, &format!("c{id}")),
            Step::Answer(part) => story.say(&name, Message::new(Role::Tool, Kind::ToolResult, vec![part.clone()])),
            Step::Part(_) | Step::NextMessage(_) => story,
        };
    }
    flush(story, &mut parts, "last", message_id)
}

fn items(json: &str) -> Vec<Json> {
    serde_json::from_str::<Json>(json).unwrap()["input"].as_array().unwrap().clone()
}

proptest! {
    #[test]
    fn no_mix_of_items_makes_a_body_that_is_refused(steps in prop::collection::vec(step(), 0..40), item_ids: bool) {
        let mut options = Options::for_model("gpt-5");
        options.item_ids = item_ids;
        let messages = tell(&steps).model().messages;
        let body = made(&messages, Provider::OpenAiResponses, &options).to_json();
        let broken = check_text("openai-responses", &body);
        prop_assert!(broken.is_empty(), "{broken:#?}\n{body}");
        for items in items(&body).windows(2) {
            let is_followed = items[0]["type"] != "reasoning" || items[1]["role"] != "user";
            prop_assert!(is_followed, "{body}");
        }
        let chat = made(&messages, Provider::OpenAiChat, &options).to_json();
        let broken = check_text("openai-chat", &chat);
        prop_assert!(broken.is_empty(), "{broken:#?}\n{chat}");
    }

    #[test]
    fn whole_turns_go_back_with_every_item_and_id(turns in prop::collection::vec((0_u8..4, 0_u8..4), 1..8)) {
        let mut story = Story::new().user("u");
        let mut expected = Vec::new();
        for (turn, (searches, calls)) in (0_u8..).zip(&turns) {
            let (rs, msg) = (format!("rs_{turn}"), format!("msg_{turn}"));
            let mut parts = vec![reasoning(turn, true, true)];
            expected.push(rs);
            for search in 0..*searches {
                parts.push(own(0, turn * 10 + search));
                expected.push(format!("ws_{}", turn * 10 + search));
            }
            for call_id in 0..*calls {
                parts.push(call(turn * 10 + call_id, Some(turn * 10 + call_id), false));
                expected.push(format!("fc_{}", turn * 10 + call_id));
            }
            parts.push(text(false, Some(turn)));
            expected.push(msg);
            let mut message = Message::assistant_calls(parts);
            message.provider = Some("openai".to_owned());
            story = story.say(&format!("a{turn}"), message).user(&format!("u{turn}"));
        }
        let body = made(&story.model().messages, Provider::OpenAiResponses, &Options::default()).to_json();
        let ids: Vec<String> =
            items(&body).iter().filter_map(|item| item["id"].as_str().map(str::to_owned)).collect();
        prop_assert_eq!(ids, expected);
    }
}
