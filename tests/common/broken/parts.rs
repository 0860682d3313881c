//! Parts of messages.

use proptest::prelude::*;
use seslog::event::{
    ApprovalRequest, ApprovalResponse, Opaque, Part, PartBody, Reasoning, ToolCall, ToolInput, ToolOutput, ToolResult,
    Value,
};

use super::media::media;
use super::values::{call_id, deep, item_id, object, provider, signature, text, tool_name, value};

/// A part of a message of the model's.
pub(super) fn of_model() -> BoxedStrategy<Part> {
    prop_oneof![
        20 => owned(prop_oneof![6 => text_body(), 4 => reasoning(), 8 => call(), 1 => any_body()]),
        3 => own(),
    ]
    .boxed()
}

/// A part of a message of the user's.
pub(super) fn of_user() -> BoxedStrategy<Part> {
    prop_oneof![
        20 => owned(prop_oneof![8 => text_body(), 3 => media().prop_map(|part| part.body), 1 => any_body()]),
        1 => own(),
    ]
    .boxed()
}

/// A part that has no place there, maybe.
pub(super) fn any_part() -> BoxedStrategy<Part> {
    owned(any_body()).boxed()
}

/// A result that some call may have.
pub(super) fn result() -> BoxedStrategy<Part> {
    owned(result_body()).boxed()
}

fn owned(body: impl Strategy<Value = PartBody> + 'static) -> BoxedStrategy<Part> {
    let owner = prop_oneof![3 => Just(None), 1 => provider()];
    (body, owner, item_id()).prop_map(|(body, provider, item_id)| Part { provider, item_id, ..Part::new(body) }).boxed()
}

fn text_body() -> BoxedStrategy<PartBody> {
    text().prop_map(|text| Part::text(text).body).boxed()
}

fn any_body() -> BoxedStrategy<PartBody> {
    prop_oneof![
        text_body(),
        reasoning(),
        call(),
        result_body(),
        media().prop_map(|part| part.body),
        opaque(),
        value().prop_map(PartBody::Json),
        text().prop_map(PartBody::Unknown),
        (call_id(), prop::option::of(text())).prop_map(|(call_id, approval_id)| {
            PartBody::ToolApprovalRequest(ApprovalRequest { call_id, approval_id })
        }),
        (call_id(), any::<bool>(), prop::option::of(text())).prop_map(|(call_id, approved, reason)| {
            PartBody::ToolApprovalResponse(ApprovalResponse { call_id, approval_id: None, approved, reason })
        }),
    ]
    .boxed()
}

fn reasoning() -> BoxedStrategy<PartBody> {
    (prop::option::of(text()), signature(), signature(), signature())
        .prop_map(|(text, signature, redacted, encrypted)| {
            PartBody::Reasoning(Reasoning { text, signature, redacted, encrypted })
        })
        .boxed()
}

fn call() -> BoxedStrategy<PartBody> {
    (call_id(), tool_name(), input(), prop::bool::weighted(0.1), signature())
        .prop_map(|(id, name, input, incomplete, thought_signature)| {
            PartBody::ToolCall(ToolCall { id, name, input, incomplete, thought_signature })
        })
        .boxed()
}

fn input() -> BoxedStrategy<ToolInput> {
    let texts: &'static [&'static str] = &[
        "{\"a\":1}",
        "{\"a\":",
        "[1]",
        "",
        " ",
        "null",
        "\"x\"",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1e999}",
        "{\"a\":\"\\u0000\"}",
        "no JSON \u{1}",
        "{} {}",
    ];
    prop_oneof![
        1 => Just(ToolInput::None),
        5 => object().prop_map(ToolInput::Json),
        1 => value().prop_map(ToolInput::Json),
        1 => Just(ToolInput::Json(Value::from([("a", deep())]))),
        2 => prop::sample::select(texts).prop_map(|text| ToolInput::Text(text.to_owned())),
    ]
    .boxed()
}

fn result_body() -> BoxedStrategy<PartBody> {
    let inner = prop_oneof![
        4 => text_body(),
        2 => media().prop_map(|part| part.body),
        2 => value().prop_map(PartBody::Json),
        1 => opaque(),
        1 => call(),
        1 => reasoning(),
    ];
    let output = prop_oneof![
        3 => text().prop_map(ToolOutput::Text),
        2 => prop::collection::vec(inner.prop_map(Part::new), 0..4).prop_map(ToolOutput::Parts),
    ];
    let raw = prop::option::weighted(0.2, value());
    (call_id(), prop::option::of(tool_name()), output, any::<bool>(), raw)
        .prop_map(|(call_id, name, output, is_error, raw)| {
            PartBody::ToolResult(ToolResult { call_id, name, output, is_error, raw })
        })
        .boxed()
}

/// Parts that this version does not know, as somebody spoilt them.
fn opaque() -> BoxedStrategy<PartBody> {
    prop_oneof![2 => own().prop_map(|part| part.body), 1 => value().prop_map(|value| PartBody::Opaque(Opaque { value }))]
        .boxed()
}

/// Parts of a provider's own, as it wrote them or nearly so. Whether the other half of a pair is there is chance.
pub(super) fn own() -> BoxedStrategy<Part> {
    let known: &'static [(&'static str, &'static str)] = &[
        ("anthropic", r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}"#),
        ("anthropic", r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#),
        ("anthropic", r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":null}"#),
        ("anthropic", r#"{"type":"server_tool_use","id":"c1","name":"code_execution","input":{}}"#),
        (
            "anthropic",
            r#"{"type":"code_execution_tool_result","tool_use_id":"c1","content":
                {"type":"code_execution_tool_result_error","error_code":"unavailable"}}"#,
        ),
        ("anthropic", r#"{"type":"tool_use","id":"c1","name":"run","input":null}"#),
        ("anthropic", r#"{"type":"tool_result","tool_use_id":"c1"}"#),
        ("anthropic", r#"{"type":"thinking","thinking":"x"}"#),
        ("anthropic", r#"{"type":"text","text":""}"#),
        ("anthropic", r#"{"type":"container_upload","file_id":"file_1"}"#),
        ("anthropic", r#"{"type":"search_result","source":"a","title":"b","content":[]}"#),
        ("anthropic", r#"{"type":"compaction","content":"x"}"#),
        (
            "openai",
            r#"{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}"#,
        ),
        ("openai", r#"{"type":"custom_tool_call","call_id":"c1","name":"run","input":"x","id":"ctc_1"}"#),
        ("openai", r#"{"type":"custom_tool_call_output","call_id":"c1","output":"y"}"#),
        ("openai", r#"{"type":"shell_call","call_id":"c2","action":{"commands":["ls"]},"status":"completed"}"#),
        ("openai", r#"{"type":"shell_call_output","call_id":"c2","output":[],"status":"completed"}"#),
        ("openai", r#"{"type":"function_call","call_id":"c1","name":"run","arguments":""}"#),
        ("openai", r#"{"type":"function_call_output","call_id":"c9","output":"x"}"#),
        ("openai", r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2ln"}"#),
        ("openai", r#"{"type":"compaction","id":"cmp_1","encrypted_content":"c2ln"}"#),
        ("openai", r#"{"type":"item_reference","id":"rs_1"}"#),
        ("openai", r#"{"type":"mcp_call","id":"mcp_1","name":"run","arguments":"{}","server_label":"a"}"#),
        ("google", r#"{"executableCode":{"language":"PYTHON","code":"1"}}"#),
        ("google", r#"{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"},"thoughtSignature":"c2ln"}"#),
        ("google", r#"{"executableCode":{"code":"1"},"text":"x"}"#),
        ("google", r#"{"functionCall":{"name":"run"}}"#),
        ("google", r#"{"text":"","thoughtSignature":"c2ln"}"#),
        ("bedrock", r#"{"toolUse":{"toolUseId":"c1"}}"#),
        ("bedrock", r#"{"cachePoint":{"type":"default"}}"#),
        ("bedrock", r#"{"guardContent":{"text":{"text":""}}}"#),
    ];
    (prop::sample::select(known), item_id())
        .prop_map(|((provider, json), item_id)| {
            let (value, _) = Value::parse_json(json).expect("it is JSON");
            let body = PartBody::Opaque(Opaque { value });
            Part { provider: Some(provider.to_owned()), item_id, ..Part::new(body) }
        })
        .boxed()
}
