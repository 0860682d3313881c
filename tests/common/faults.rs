//! What is wrong with the body of a request: what its provider refuses, what a person said and it does not hold.
//!
//! A test takes this file in beside `common` and `wire_rules`.
#![allow(unreachable_pub, dead_code, reason = "each test uses a part of it")]

use seslog::projection::ProjectedMessage;
use seslog::wire::{Options, Provider, payload};

use crate::common::bodies::made;
use crate::common::texts::{cleaned, collect_texts, is_blank};
use crate::wire_rules::check_text;

/// Who a body may go to, beside the provider whose form it has, and which model.
pub fn options(provider: Provider) -> Vec<Options> {
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
pub fn faults(messages: &[ProjectedMessage], provider: Provider, options: &Options) -> Vec<String> {
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
