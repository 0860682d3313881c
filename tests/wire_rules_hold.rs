//! The rule checks themselves: each sees what it is for, and nothing else.

mod common;
mod wire_rules;
mod wire_rules_examples;

use std::collections::HashSet;

use serde_json::json;
use wire_rules::{PROVIDERS, TEXT_RULES, check, check_text, rules};
use wire_rules_examples::{bad, good};

#[test]
fn a_good_body_of_each_provider_breaks_no_rule() {
    for provider in PROVIDERS {
        assert_eq!(check(provider, &good(provider)), [], "{provider}");
        assert_eq!(check_text(provider, &good(provider).to_string()), [], "{provider}");
    }
}

#[test]
fn each_bad_body_breaks_the_rule_that_it_is_for_and_no_other() {
    let mut wrong = String::new();
    for provider in PROVIDERS {
        for (at, (rule, body)) in bad(provider).iter().enumerate() {
            let broken = check(provider, body);
            let found: HashSet<&str> = broken.iter().map(|broken| broken.rule).collect();
            if found != HashSet::from([*rule]) {
                wrong.push_str(&format!("{provider}, example {at} of {rule}: {broken:?}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_rule_has_a_body_that_breaks_it() {
    for provider in PROVIDERS {
        let shown: HashSet<&str> = bad(provider).iter().map(|(rule, _)| *rule).collect();
        let known: HashSet<&str> = rules(provider).iter().copied().collect();
        assert_eq!(shown, known, "{provider}");
    }
}

#[test]
fn a_text_that_is_no_json_of_every_servers_breaks_the_rule_of_texts() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let texts = [
        ("json", "{\"messages\":["),
        ("json", "{\"messages\":NaN}"),
        ("json-depth", deep.as_str()),
        ("json-duplicate-key", r#"{"messages":[],"messages":[]}"#),
        ("json-duplicate-key", r#"[{"a":{"b":1,"b":2}}]"#),
        ("lone-surrogate", r#"{"a":"\ud83d"}"#),
        ("lone-surrogate", r#"{"a":"\ude00\ud83d\ude00"}"#),
        ("lone-surrogate", r#"{"\\\udc00":1}"#),
    ];
    for provider in PROVIDERS {
        for (rule, text) in texts {
            let broken = check_text(provider, text);
            assert_eq!(broken.iter().map(|broken| broken.rule).collect::<Vec<_>>(), [rule], "{text}");
            assert!(TEXT_RULES.contains(&rule));
        }
    }
}

#[test]
fn a_whole_pair_of_surrogates_and_a_backslash_before_a_u_are_no_lone_surrogate() {
    let text = json!({"messages": [{"role": "user", "content": "PLACE"}]}).to_string();
    for content in [r"\ud83d\ude00", r"\\ud83d", r"\\\\ud83d \ud83d\ude00\\"] {
        assert_eq!(check_text("ai-sdk", &text.replace("PLACE", content)), [], "{content}");
    }
}

#[test]
fn a_request_that_is_too_long_breaks_the_rule_of_its_size() {
    let body = json!({"max_tokens": 1, "messages": [{"role": "user", "content": "x".repeat(32 << 20)}]});
    let broken = check_text("anthropic", &body.to_string());
    assert_eq!(broken.iter().map(|broken| broken.rule).collect::<Vec<_>>(), ["request-size"]);
}
