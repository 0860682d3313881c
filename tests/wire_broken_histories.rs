//! Whatever was recorded, however broken: no provider refuses the body, and nothing that a person said is lost in it.

mod common;
mod wire_rules;

use common::bodies::made;
use common::broken::{cases, steps, tell, tools};
use common::picture::{pdf, png};
use common::story::Story;
use common::texts::{cleaned, collect_texts, is_blank};
use proptest::prelude::*;
use seslog::event::{Kind, MediaSource, Message, Part, Role};
use seslog::projection::ProjectedMessage;
use seslog::wire::{Options, Provider, payload};
use wire_rules::check_text;

/// Who a body may go to, beside the provider whose form it has, and which model.
fn options(provider: Provider) -> Vec<Options> {
    let models = |models: &[&str]| models.iter().map(|model| Options::for_model(*model)).collect::<Vec<_>>();
    let mut all = match provider.name() {
        "ai-sdk" => ["anthropic", "openai", "google", "bedrock"].map(Options::for_upstream).into(),
        "anthropic" => models(&["claude-sonnet-4-5"]),
        "gemini" => models(&["gemini-3-pro", "gemini-2.5-pro"]),
        "bedrock" => models(&["anthropic.claude-sonnet-4-5-20250929-v1:0"]),
        _ => models(&["gpt-5"]),
    };
    all.push(Options::default());
    all
}

/// What a body does wrong, in words; empty if it does nothing wrong.
fn faults(messages: &[ProjectedMessage], provider: Provider, options: &Options) -> Vec<String> {
    let body = made(messages, provider, options);
    let mut broken = check_text(provider.name(), &body.to_json());
    // With nothing to say there is nothing to send, and the caller is told so.
    broken.retain(|broken| body.message_count > 0 || !["messages-empty", "input-empty"].contains(&broken.rule));
    let mut faults: Vec<String> = broken.iter().map(|b| format!("[{}] {}: {}", b.rule, b.path, b.why)).collect();
    let mut texts = Vec::new();
    match serde_json::from_str(&body.to_json()) {
        Ok(json) => collect_texts(&json, &mut texts),
        Err(error) => faults.push(format!("no JSON: {error}")),
    }
    let said = messages.iter().filter(|message| message.semantic_type() == "user_input");
    for text in said.flat_map(|message| &message.content).filter_map(|part| part.as_text()) {
        let text = cleaned(text);
        if !is_blank(&text) && !texts.iter().any(|sent| sent.contains(&text)) {
            faults.push(format!("lost: {text:?}"));
        }
    }
    let mut written = Vec::new();
    payload(messages, provider, options).write_to(&mut written).expect("a vector takes all");
    if written != body.to_json().into_bytes() {
        faults.push("built twice, the bytes are others".to_owned());
    }
    faults
}

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn no_provider_refuses_the_body_and_nothing_that_a_person_said_is_lost(steps in steps(), tools in tools()) {
        let messages = tell(&steps).model().messages;
        for provider in Provider::ALL {
            for mut options in options(provider) {
                options.tools.clone_from(&tools);
                let faults = faults(&messages, provider, &options);
                if !faults.is_empty() {
                    let body = made(&messages, provider, &options).to_json();
                    prop_assert!(false, "{} for {options:?}: {faults:#?}\n{body}", provider.name());
                }
            }
        }
    }
}

#[test]
fn giants_of_every_kind_keep_the_body_within_its_providers_limits() {
    const MIB: usize = 1 << 20;
    let picture = |len| Part::image("image/png", MediaSource::Data(png(9, 9, len)));
    let document = |len| Part::file("application/pdf", MediaSource::Data(pdf(len)));
    let mut story = Story::new().user("u");
    // None is too large by itself; together they are.
    story = (0..8).fold(story, |story, at| {
        let parts = vec![picture(3 * MIB), document(3 * MIB)];
        story.say(&format!("some{at}"), Message::new(Role::User, Kind::UserInput, parts))
    });
    let parts = vec![picture(4 * MIB), picture(6 * MIB), picture(11 * MIB), document(5 * MIB), document(34 * MIB)];
    story = story.say("large", Message::new(Role::User, Kind::UserInput, parts.clone()));
    story = story.calls("c", &["c1"]).say("r", Message::tool_result_parts("c1", parts, false));
    story = story.say("words", Message::user("word ".repeat(MIB / 5)));
    let messages = story.model().messages;
    for provider in Provider::ALL {
        let faults = faults(&messages, provider, &Options::default());
        assert!(faults.is_empty(), "{}: {faults:#?}", provider.name());
    }
}
