//! The exact counter, and how near the estimate comes to it. Built with the feature `tiktoken` only.

#![allow(unreachable_pub, reason = "it shares a file with other tests")]

use seslog::context::tokens::{Estimate, Tiktoken, TokenCounter, Vocabulary};

#[path = "../common/random.rs"]
mod random;

const RUST: [&str; 3] = [
    include_str!("../../src/context/slots.rs"),
    include_str!("../../src/session/compact.rs"),
    include_str!("../../src/event/pack.rs"),
];
const GUIDES: [&str; 3] = [
    include_str!("../../README.md"),
    include_str!("../../ARCHITECTURE.md"),
    include_str!("../data/tokens/markdown.txt"),
];

fn data(name: &str) -> &'static str {
    match name {
        "python" => include_str!("../data/tokens/python.txt"),
        "shell" => include_str!("../data/tokens/shell.txt"),
        "json" => include_str!("../data/tokens/json.txt"),
        "json_one_line" => include_str!("../data/tokens/json_one_line.txt"),
        "english" => include_str!("../data/tokens/english.txt"),
        "chinese" => include_str!("../data/tokens/chinese.txt"),
        "mixed" => include_str!("../data/tokens/mixed.txt"),
        "japanese" => include_str!("../data/tokens/japanese.txt"),
        "korean" => include_str!("../data/tokens/korean.txt"),
        "russian" => include_str!("../data/tokens/russian.txt"),
        "emoji" => include_str!("../data/tokens/emoji.txt"),
        other => panic!("there is no sample {other}"),
    }
}

/// Base64 of random bytes.
fn base64(count: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut random = random::Random::new(7);
    (0..count).map(|_| char::from(LETTERS[random.below(64)])).collect()
}

#[test]
fn the_estimate_is_as_near_as_its_documentation_says() {
    let blob = base64(8000);
    let mut samples: Vec<(&str, &str, f64)> = Vec::new();
    samples.extend(RUST.iter().map(|text| ("rust", *text, 0.10)));
    samples.extend(GUIDES.iter().map(|text| ("markdown", *text, 0.10)));
    for name in ["python", "shell", "json", "json_one_line", "english", "chinese", "mixed"] {
        samples.push((name, data(name), 0.10));
    }
    for name in ["japanese", "korean", "russian"] {
        samples.push((name, data(name), 0.15));
    }
    samples.push(("base64", &blob, 0.15));
    samples.push(("emoji", data("emoji"), 0.25));
    let exact = Tiktoken::new(Vocabulary::O200k);
    let mut too_far = Vec::new();
    for (kind, text, most) in samples {
        let (counted, estimated) = (exact.count(text), Estimate.count(text));
        let error = estimated as f64 / counted as f64 - 1.0;
        println!("{kind:14} exact {counted:6}  estimate {estimated:6}  {:+.1} %", error * 100.0);
        if error.abs() > most {
            too_far.push(format!("{kind}: {:+.1} %, at most {} %", error * 100.0, most * 100.0));
        }
    }
    assert!(too_far.is_empty(), "{too_far:#?}");
}

#[test]
fn known_texts_have_known_counts() {
    let cases = [
        (Vocabulary::O200k, "hello world", 2),
        (Vocabulary::Cl100k, "hello world", 2),
        (Vocabulary::O200k, "", 0),
        // What looks like a special token is text like any other.
        (Vocabulary::O200k, "<|endoftext|>", 7),
    ];
    for (vocabulary, text, expected) in cases {
        assert_eq!(Tiktoken::new(vocabulary).count(text), expected, "{vocabulary:?} {text:?}");
    }
}

#[test]
fn the_vocabulary_is_chosen_by_the_models_name_and_an_unknown_one_has_none() {
    let cases = [
        ("gpt-4o", Some("o200k_base")),
        ("openai/gpt-4o-mini-2024-07-18", Some("o200k_base")),
        ("gpt-4.1", Some("o200k_base")),
        ("gpt-5.1-codex", Some("o200k_base")),
        ("GPT-5", Some("o200k_base")),
        ("o1", Some("o200k_base")),
        ("o3-mini", Some("o200k_base")),
        ("o4-mini-2025-04-16", Some("o200k_base")),
        ("chatgpt-4o-latest", Some("o200k_base")),
        ("ft:gpt-4o-mini-2024-07-18:org::id", Some("o200k_base")),
        ("gpt-oss-120b", Some("o200k_base")),
        ("gpt-4", Some("cl100k_base")),
        ("gpt-4-turbo-2024-04-09", Some("cl100k_base")),
        ("gpt-3.5-turbo", Some("cl100k_base")),
        ("text-embedding-3-small", Some("cl100k_base")),
        ("claude-opus-4-8", None),
        ("gemini-2.5-pro", None),
        ("gpt-2", None),
        ("o200k", None),
        ("", None),
    ];
    for (model, expected) in cases {
        let counter = Tiktoken::for_model(model);
        assert_eq!(counter.as_ref().map(|counter| counter.name()), expected, "{model}");
    }
}
