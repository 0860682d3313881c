//! Tools as bodies declare them: names, descriptions and schemas that no provider refuses.

mod common;

use common::bodies::{Made, made};
use common::story::Story;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use seslog::event::Value;
use seslog::projection::code;
use seslog::wire::{Options, Provider, Tool};

fn value(json: &Json) -> Value {
    Value::parse_json(json.to_string()).unwrap().0
}

fn tool(name: &str, schema: &Json) -> Tool {
    Tool { name: name.to_owned(), description: Some("Does it.".to_owned()), schema: value(schema) }
}

fn payload(tools: Vec<Tool>, provider: Provider) -> Made {
    let mut options = Options::default();
    options.tools = tools;
    made(&Story::new().user("u1").model().messages, provider, &options)
}

fn declared(tools: Vec<Tool>) -> Json {
    serde_json::from_str::<Json>(&payload(tools, Provider::AiSdk).to_json()).unwrap()["tools"].clone()
}

/// What is said about tools: not about the history, and not that no model is named.
fn codes(made: &Made) -> Vec<&'static str> {
    let about_tools = [code::TOOL_SCHEMA_MENDED, code::TOOL_LEFT_OUT];
    made.diagnostics.iter().map(|item| item.code).filter(|code| about_tools.contains(code)).collect()
}

fn sent(schema: &Json) -> Json {
    declared(vec![tool("run", schema)])[0]["inputSchema"].clone()
}

/// The schema of a property, as it goes out.
fn inner(schema: &Json) -> Json {
    sent(&json!({"type": "object", "properties": {"a": schema}}))["properties"]["a"].clone()
}

#[test]
fn a_right_schema_goes_out_as_it_is_and_nothing_is_said() {
    let right = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "path": {"type": ["string", "null"], "description": "Where.", "default": null, "minLength": 1},
            "kind": {"enum": ["a", null, 1]},
            "list": {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 0}, {"$ref": "#/$defs/x"}]}},
            "any": true,
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {"x": {"type": "object", "properties": {"required": {"type": "boolean"}}, "x-own": {"required": 1}}},
    });
    for provider in Provider::ALL {
        let made = payload(vec![tool("run", &right)], provider);
        assert_eq!(codes(&made), Vec::<&str>::new(), "{}", provider.name());
        let text = serde_json::to_string(&value(&right)).unwrap();
        assert!(made.to_json().contains(&text), "{}: {}", provider.name(), made.to_json());
    }
}

#[test]
fn the_outermost_schema_is_an_objects() {
    let empty = json!({"type": "object", "properties": {}});
    for schema in [json!(null), json!({}), json!("object"), json!(true), json!({"type": "string"}), json!([])] {
        assert_eq!(sent(&schema), empty, "{schema}");
    }
    assert_eq!(sent(&json!({"type": ["object", "null"], "properties": null})), empty);
    assert_eq!(sent(&json!({"properties": {"a": {}}})), json!({"type": "object", "properties": {"a": {}}}));
}

#[test]
fn a_list_of_required_names_is_one_at_any_depth() {
    for wrong in [json!(null), json!(false), json!(true), json!("a"), json!({})] {
        let object = json!({"type": "object", "properties": {"b": {}}, "required": wrong});
        let right = json!({"type": "object", "properties": {"b": {}}});
        assert_eq!(sent(&object), right, "{wrong}");
        for place in ["items", "additionalProperties", "not", "if", "contains"] {
            assert_eq!(inner(&json!({place: object})), json!({place: right}), "{place}");
        }
        for place in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            assert_eq!(inner(&json!({place: [object]})), json!({place: [right]}), "{place}");
        }
        for place in ["properties", "$defs", "definitions", "patternProperties"] {
            assert_eq!(inner(&json!({place: {"x": object}})), json!({place: {"x": right}}), "{place}");
        }
    }
    assert_eq!(inner(&json!({"required": ["a", 1, "a", null, "b"]})), json!({"required": ["a", "b"]}));
}

#[test]
fn a_closed_object_requires_only_what_it_has() {
    let closed = json!({"properties": {"a": {}}, "required": ["a", "b"], "additionalProperties": false});
    assert_eq!(inner(&closed)["required"], json!(["a"]));
    let open = json!({"properties": {"a": {}}, "required": ["a", "b"]});
    assert_eq!(inner(&open), open);
}

#[test]
fn what_is_no_schema_of_draft_2020_12_is_left_out_or_put_into_its_form() {
    for (wrong, right) in [
        (json!({"type": "STRING", "description": null, "enum": null}), json!({"type": "string"})),
        (json!({"type": "any", "title": 1, "format": null}), json!({})),
        (json!({"type": []}), json!({})),
        (json!({"type": ["String", "null", "string", "x"]}), json!({"type": ["string", "null"]})),
        (json!({"enum": []}), json!({})),
        (json!({"properties": null}), json!({"properties": {}})),
        (json!({"properties": {"x": null, "y": "text"}}), json!({"properties": {"x": {}, "y": {}}})),
        (json!({"items": [{"type": "string"}, null]}), json!({"prefixItems": [{"type": "string"}, {}]})),
        (json!({"items": [{}], "additionalItems": false}), json!({"prefixItems": [{}], "items": false})),
        (json!({"items": null, "anyOf": [], "allOf": null, "not": null}), json!({})),
        (json!({"additionalProperties": null, "$defs": null}), json!({})),
        (json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1})),
        (json!({"maximum": 9, "exclusiveMaximum": false}), json!({"maximum": 9})),
        (json!({"exclusiveMinimum": true, "minLength": -1, "maxLength": null, "minItems": "1"}), json!({})),
        (json!({"uniqueItems": null, "pattern": null, "examples": "x", "dependencies": null}), json!({})),
        (json!({"dependentRequired": {"a": null, "b": ["c"]}}), json!({"dependentRequired": {"b": ["c"]}})),
        (json!({"description": "a\u{0}b"}), json!({"description": "a\u{fffd}b"})),
    ] {
        assert_eq!(inner(&wrong), right, "{wrong}");
    }
}

#[test]
fn what_was_mended_or_left_out_is_said_by_the_tools_name() {
    let made = payload(vec![tool("first", &json!({"type": "object"})), tool("first", &json!({}))], Provider::AiSdk);
    assert_eq!(codes(&made), [code::TOOL_SCHEMA_MENDED, code::TOOL_LEFT_OUT]);
    assert!(made.diagnostics.iter().all(|item| item.reason.contains("\"first\"") && item.ids.is_empty()));
}

#[test]
fn choices_at_the_top_become_one_object() {
    let by_name = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name", "how"]});
    let by_id = json!({"type": "object", "properties": {"id": {"type": "integer"}, "how": {}}, "required": ["how"]});
    for choice in ["anyOf", "oneOf"] {
        let schema = json!({"description": "Finds.", "properties": {"more": {}}, "required": ["more"],
                            choice: [by_name, by_id]});
        let expected = json!({
            "type": "object",
            "description": "Finds.",
            "properties": {"more": {}, "name": {"type": "string"}, "id": {"type": "integer"}, "how": {}},
            "required": ["more", "how"],
        });
        assert_eq!(sent(&schema), expected, "{choice}");
    }
    let all = json!({"type": "object", "allOf": [by_name, by_id], "not": {"required": ["x"]}, "enum": [{}]});
    let expected = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "id": {"type": "integer"}, "how": {}},
        "required": ["name", "how"],
    });
    assert_eq!(sent(&all), expected);
}

#[test]
fn a_property_that_choices_have_different_schemas_for_takes_each_of_them() {
    let choice = |kind: &str| json!({"properties": {"kind": {"const": kind}}, "required": ["kind"]});
    let schema = json!({"type": "object", "oneOf": [choice("a"), choice("b"), choice("c"), choice("a")]});
    let kinds = json!({"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "c"}, {"const": "a"}]});
    assert_eq!(sent(&schema), json!({"type": "object", "properties": {"kind": kinds}, "required": ["kind"]}));
}

#[test]
fn a_reference_at_the_top_is_followed_and_a_circle_comes_to_an_end() {
    let schema = json!({
        "$ref": "#/definitions/Args",
        "definitions": {"Args": {"type": "object", "properties": {"a": {"$ref": "#/definitions/Args"}}}},
    });
    let expected = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/Args"}},
        "definitions": {"Args": {"type": "object", "properties": {"a": {"$ref": "#/definitions/Args"}}}},
    });
    assert_eq!(sent(&schema), expected);
    let twice = json!([{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}, {"$ref": "#/nowhere"}, {"$ref": "other.json"}]);
    let circle = json!({"anyOf": twice, "$defs": {"x": {"properties": {"b": {}}, "anyOf": twice, "allOf": twice}}});
    assert_eq!(sent(&circle)["properties"], json!({"b": {}}));
}

#[test]
fn a_reference_that_leads_nowhere_or_out_of_the_schema_is_left_out() {
    let lost = ["#/$defs/none", "#/properties/a/anyOf/7", "other.json", "https://example.org/schema.json"];
    for address in lost {
        assert_eq!(inner(&json!({"anyOf": [{"$ref": address}, {}]})), json!({"anyOf": [{}, {}]}), "{address}");
    }
    for address in ["#", "#name", "#/properties/a", "#/properties/a/anyOf/1"] {
        let kept = json!({"anyOf": [{"$ref": address}, {}], "default": {"$ref": "anything"}});
        assert_eq!(inner(&kept), kept, "{address}");
    }
}

#[test]
fn two_tools_of_one_name_are_one_and_two_names_never_become_one() {
    let names = ["a b", "a b", "a_b", "a.b"];
    let tools = declared(names.iter().map(|name| tool(name, &json!({}))).collect());
    let sent: Vec<&str> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(sent.len(), 3, "{sent:?}");
    // A name that is made to look like a changed one meets it.
    let mapped = sent[0].to_owned();
    let tools = declared(vec![tool("a b", &json!({})), tool(&mapped, &json!({}))]);
    assert_eq!(tools.as_array().unwrap().len(), 1);
}

#[test]
fn openai_gets_as_many_tools_as_it_takes() {
    let tools: Vec<Tool> =
        (0..130).map(|index| tool(&format!("t{index}"), &json!({"type": "object", "properties": {}}))).collect();
    let made = payload(tools.clone(), Provider::OpenAiChat);
    let body: Json = serde_json::from_str(&made.to_json()).unwrap();
    assert_eq!(body["tools"].as_array().unwrap().len(), 128);
    assert_eq!(codes(&made), [code::TOOL_LEFT_OUT; 2]);
    let mut options = Options::for_upstream("openai");
    options.tools = tools.clone();
    let behind = made_for(&options);
    assert_eq!(behind["tools"].as_array().unwrap().len(), 128);
    assert_eq!(declared(tools).as_array().unwrap().len(), 130);
}

fn made_for(options: &Options) -> Json {
    let messages = Story::new().user("u1").model().messages;
    serde_json::from_str(&made(&messages, Provider::AiSdk, options).to_json()).unwrap()
}

#[test]
fn a_blank_description_is_left_out_and_a_list_without_tools_too() {
    let mut blank = tool("run", &json!({"type": "object", "properties": {}}));
    blank.description = Some(" \n".to_owned());
    let tools = declared(vec![blank]);
    assert_eq!(tools, json!([{"name": "run", "inputSchema": {"type": "object", "properties": {}}}]));
    for provider in Provider::ALL {
        assert!(!payload(Vec::new(), provider).to_json().contains("tools"), "{}", provider.name());
    }
}

/// Anything that may stand where a schema should.
fn anything() -> impl Strategy<Value = Json> {
    const NAMES: [&str; 24] = [
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "$ref",
        "$defs",
        "minimum",
        "exclusiveMinimum",
        "additionalProperties",
        "additionalItems",
        "prefixItems",
        "not",
        "default",
        "description",
        "minLength",
        "patternProperties",
        "dependentRequired",
        "a",
        "b",
        "examples",
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        (-2_i64..3).prop_map(Json::from),
        prop::sample::select(vec!["object", "string", "ARRAY", "a", "b", "#/$defs/a", "#/properties/a", "#", ""])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_stands_for_a_schema_becomes_an_objects_schema_that_is_not_mended_again(schema in anything()) {
        let once = sent(&schema);
        prop_assert_eq!(&once["type"], "object");
        prop_assert!(once["properties"].is_object());
        for choice in ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"] {
            prop_assert!(once.get(choice).is_none(), "{}", once);
        }
        let again = payload(vec![tool("run", &once)], Provider::AiSdk);
        prop_assert_eq!(codes(&again), Vec::<&str>::new(), "{}", once);
    }
}
