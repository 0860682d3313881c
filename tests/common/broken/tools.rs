//! Tools as applications declare them.

use proptest::prelude::*;
use seslog::event::Value;
use seslog::wire::Tool;

use super::values::{text, tool_name, value};

/// The tools of a request.
pub(super) fn declared() -> BoxedStrategy<Vec<Tool>> {
    let tool = (tool_name(), prop::option::of(text()), schema()).prop_map(|(name, description, schema)| Tool {
        name,
        description,
        schema,
    });
    prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(tool, 1..4)].boxed()
}

fn schema() -> BoxedStrategy<Value> {
    let fine = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#;
    let known: &'static [&'static str] = &[
        "{}",
        "null",
        r#"{"type":"object"}"#,
        r#"{"type":"string"}"#,
        r#"{"type":["object","null"],"properties":{}}"#,
        r#"{"type":"object","properties":null,"required":null}"#,
        r#"{"type":"object","properties":{"a":{"type":"object","properties":null,"required":false}},"required":false}"#,
        r#"{"type":"object","properties":{"a":true},"required":["a",1,"b"],"additionalProperties":false}"#,
        r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"null"}]}"#,
        r#"{"type":"object","properties":{},"allOf":[{"required":["a"]}],"oneOf":[],"$schema":"x"}"#,
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"enum":[1,null],"const":1}}}"##,
        r#"{"type":"object","properties":{"a":{"type":"array"},"b":{"type":["string","null"]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"prefixItems":[{"required":null}]}}}"#,
        r#"{"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["x"]}}}"#,
    ];
    let parsed = |json: &str| Value::parse_json(json).map_or(Value::Null, |(value, _)| value);
    prop_oneof![2 => Just(parsed(fine)), 5 => prop::sample::select(known).prop_map(parsed), 1 => value()].boxed()
}
