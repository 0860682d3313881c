//! The rules of the providers' request bodies, checked without their libraries and without the network.
//!
//! Each provider has a file. It looks at the shape (only keys that the provider knows, of the right type, none missing)
//! and at what the provider's server demands of the whole: order, pairing, ids, names, text, media, schemas. Where two
//! limits are known for one thing, the smaller is checked: a body that keeps it is taken by every model.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

mod ai_sdk;
mod anthropic;
mod anthropic_shape;
mod bedrock;
mod common;
mod gemini;
mod gemini_shape;
mod media;
mod openai_chat;
mod openai_responses;
mod picture;
mod raw;
mod schema;
mod shape;

use serde_json::Value as Json;

/// A rule that a body breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The name of the rule.
    pub rule: &'static str,
    /// Where in the body.
    pub path: String,
    /// What the rule says.
    pub why: String,
}

/// The rules that have been found broken so far.
#[derive(Debug, Default)]
pub struct Report {
    broken: Vec<Broken>,
}

impl Report {
    fn add(&mut self, rule: &'static str, path: &str, why: impl Into<String>) {
        let broken = Broken { rule, path: path.to_owned(), why: why.into() };
        if !self.broken.contains(&broken) {
            self.broken.push(broken);
        }
    }
}

/// The providers whose rules are known.
pub const PROVIDERS: [&str; 6] = ["ai-sdk", "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock"];

/// The names of this provider's rules. Those of [`check_text`] alone are [`TEXT_RULES`].
pub fn rules(provider: &str) -> &'static [&'static str] {
    match provider {
        "ai-sdk" => &ai_sdk::RULES,
        "anthropic" => &anthropic::RULES,
        "openai-chat" => &openai_chat::RULES,
        "openai-responses" => &openai_responses::RULES,
        "gemini" => &gemini::RULES,
        "bedrock" => &bedrock::RULES,
        _ => panic!("no rules are known for {provider}"),
    }
}

/// The rules of a body as text, for every provider.
pub const TEXT_RULES: [&str; 5] = ["json", "json-depth", "json-duplicate-key", "lone-surrogate", "request-size"];

/// The rules of this provider that a body breaks.
pub fn check(provider: &str, body: &Json) -> Vec<Broken> {
    let mut report = Report::default();
    check_into(provider, body, &mut report);
    report.broken
}

/// The rules of this provider that a body breaks as text: first those of JSON itself, then [`check`].
pub fn check_text(provider: &str, text: &str) -> Vec<Broken> {
    let mut report = Report::default();
    if let Some(body) = raw::parse(text, &mut report) {
        check_into(provider, &body, &mut report);
    }
    check_len(provider, text, &mut report);
    report.broken
}

fn check_into(provider: &str, body: &Json, report: &mut Report) {
    common::check_characters(body, "$", report);
    match provider {
        "ai-sdk" => ai_sdk::check(body, report),
        "anthropic" => anthropic::check(body, report),
        "openai-chat" => openai_chat::check(body, report),
        "openai-responses" => openai_responses::check(body, report),
        "gemini" => gemini::check(body, report),
        "bedrock" => bedrock::check(body, report),
        _ => panic!("no rules are known for {provider}"),
    }
    let known = rules(provider);
    assert!(report.broken.iter().all(|broken| known.contains(&broken.rule)), "{:?}", report.broken);
}

fn check_len(provider: &str, text: &str, report: &mut Report) {
    let len_max = match provider {
        "anthropic" => 32 << 20,
        "openai-chat" | "openai-responses" => 50 << 20,
        "gemini" => 20 << 20,
        _ => return,
    };
    if text.len() > len_max {
        report.add("request-size", "$", format!("{} bytes; at most {len_max} are taken", text.len()));
    }
}
