//! Texts, ids, names and values that somebody once recorded.

use proptest::prelude::*;
use seslog::event::{DEPTH_MAX, Fields, NO_CONTENT, Value};

/// A text, often blank, often with what no server wants in it.
pub(super) fn text() -> BoxedStrategy<String> {
    let known: &'static [&'static str] = &[
        "",
        " \n\t",
        "\u{feff}",
        "\u{200b}",
        "\0",
        "\u{1b}[31mred\u{7f}",
        "\u{85}\u{2028}",
        "it ends in a space ",
        "\n\n",
        "\u{fffd}\u{ffff}\u{10ffff}",
        "e\u{301}\u{202e}",
        "```\n</summary></system-note>```",
        "{\"type\":\"text\"}",
        "\\ud83d",
        NO_CONTENT,
    ];
    prop_oneof![
        4 => "[a-z😀\u{0}é ]{1,6}",
        4 => prop::sample::select(known).prop_map(|text: &str| text.to_owned()),
        1 => (1_usize..5000).prop_map(|len| "long é".repeat(len)),
    ]
    .boxed()
}

/// An id of a call. Few are different, so that they meet.
pub(super) fn call_id() -> BoxedStrategy<String> {
    let odd: &'static [&'static str] =
        &["", " ", "a|b", "\0", "😀", "call_1\n", "toolu_01AbC", "-", "functions.run:0", "a.b:c"];
    prop_oneof![
        6 => "c[0-5]",
        1 => prop::sample::select(odd).prop_map(|text: &str| text.to_owned()),
        1 => prop::sample::select(vec![40_usize, 41, 64, 65, 300]).prop_map(|len| "x".repeat(len)),
    ]
    .boxed()
}

/// The name of a tool.
pub(super) fn tool_name() -> BoxedStrategy<String> {
    let odd: &'static [&'static str] =
        &["", "mcp:files/read", "a tool", "a.b", "1st", "-x", "😀", "\0", "__", "$ref", "a_b", "read\n", "Read"];
    prop_oneof![
        4 => Just("run".to_owned()),
        2 => prop::sample::select(odd).prop_map(|text: &str| text.to_owned()),
        1 => prop::sample::select(vec![64_usize, 65, 128, 129, 201]).prop_map(|len| "n".repeat(len)),
    ]
    .boxed()
}

/// The id that a provider gave to an item.
pub(super) fn item_id() -> BoxedStrategy<Option<String>> {
    let ids: &'static [&'static str] =
        &["rs_1", "rs_2", "fc_1", "fc_2", "msg_1", "msg_2", "call_1", "", "ws_1", "rs_\0", " "];
    prop_oneof![
        3 => Just(None),
        2 => prop::sample::select(ids).prop_map(|id| Some(id.to_owned())),
        1 => (1_usize..100).prop_map(|len| Some(format!("rs_{}", "9".repeat(len)))),
    ]
    .boxed()
}

/// Who made it.
pub(super) fn provider() -> BoxedStrategy<Option<String>> {
    let names: &'static [&'static str] =
        &["anthropic", "openai", "google", "bedrock", "OpenAI", "gemini", "amazon-bedrock", "mistral", "", "\0"];
    prop_oneof![
        1 => Just(None),
        4 => prop::sample::select(&names[..5]).prop_map(|name| Some(name.to_owned())),
        1 => prop::sample::select(names).prop_map(|name| Some(name.to_owned())),
    ]
    .boxed()
}

/// Which model made it.
pub(super) fn model() -> BoxedStrategy<Option<String>> {
    let names: &'static [&'static str] = &[
        "claude-sonnet-4-5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "gpt-5",
        "gemini-3-pro",
        "models/gemini-2.5-pro",
        "",
        "<synthetic>",
    ];
    prop::option::of(prop::sample::select(names).prop_map(|text: &str| text.to_owned())).boxed()
}

/// Something that a provider signed or hid, as it came or as somebody spoilt it.
pub(super) fn signature() -> BoxedStrategy<Option<String>> {
    let known: &'static [&'static str] = &["c2ln", "c2lnbmVk", "", " ", "no base64 !", "-_-_", "\0", "c2l", "c2ln\n"];
    prop_oneof![
        2 => Just(None),
        4 => Just(Some("c2ln".to_owned())),
        1 => prop::sample::select(known).prop_map(|text| Some(text.to_owned())),
    ]
    .boxed()
}

/// Any value: numbers that no double holds, bytes.
pub(super) fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        Just(Value::UInt(u64::MAX)),
        prop::sample::select(vec![0.5, -0.0, f64::MAX]).prop_map(Value::Float),
        prop::sample::select(vec!["1.10", "1e2", "123456789012345678901234567890"])
            .prop_map(|number| Value::Number(number.to_owned())),
        text().prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            fields(inner).prop_map(Value::from),
        ]
    })
    .boxed()
}

/// An object.
pub(super) fn object() -> BoxedStrategy<Value> {
    fields(value()).prop_map(Value::from).boxed()
}

fn fields(inner: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Fields> {
    let keys: &'static [&'static str] =
        &["a", "b", "$ref", "type", "", "a\u{1}", "a\u{2}", "__proto__", "text", "cache_control"];
    prop::collection::vec((prop::sample::select(keys).prop_map(|text: &str| text.to_owned()), inner), 0..4).boxed()
}

/// A value that is nearly as deep as a log takes it.
pub(super) fn deep() -> Value {
    (0..DEPTH_MAX - 8).fold(Value::Int(1), |inner, _| Value::List(vec![inner]))
}
