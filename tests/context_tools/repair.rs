//! Mended arguments: whole where they were whole, and never half.

use proptest::prelude::*;
use seslog::context::tools::{Arguments, NotRepaired, Repair, repair};
use seslog::event::{ToolInput, Value};

use crate::support::value;

fn schema(required: &[&str]) -> Value {
    let names = required.iter().map(|name| Value::from(*name)).collect::<Vec<_>>();
    Value::from([("type", "object".into()), ("required", names.into())])
}

fn mended(text: &str, required: &[&str]) -> Result<Arguments, NotRepaired> {
    repair(&ToolInput::Text(text.to_owned()), &schema(required))
}

fn missing(fields: &[&str], is_cut: bool) -> NotRepaired {
    NotRepaired::Missing { fields: fields.iter().map(|name| (*name).to_owned()).collect(), is_cut }
}

fn cut(dropped: Option<&str>) -> Option<Repair> {
    Some(Repair::Cut { dropped: dropped.map(str::to_owned) })
}

fn unescaped(field: &str) -> Option<Repair> {
    Some(Repair::Unescaped { field: field.to_owned() })
}

#[test]
fn what_is_whole_is_given_back_as_it_is() {
    let whole = r#"{"a": "x", "b": {"c": [1.10]}}"#;
    for required in [&[][..], &["a"], &["a", "b"]] {
        let wanted = Arguments { value: value(whole), repair: None };
        assert_eq!(mended(whole, required), Ok(wanted.clone()));
        assert_eq!(repair(&ToolInput::Json(value(whole)), &schema(required)), Ok(wanted));
    }
    assert_eq!(mended(whole, &["a", "z", "y"]), Err(missing(&["z", "y"], false)));
    assert_eq!(repair(&ToolInput::Json(value(whole)), &schema(&["z"])), Err(missing(&["z"], false)));
}

#[test]
fn what_is_cut_is_taken_where_all_that_is_required_is_complete() {
    let cases = [
        (r#"{"a": "x", "b": 1, "c": "half"#, r#"{"a":"x","b":1}"#, cut(Some("c"))),
        (r#"{"a": "x", "b": 1"#, "", None),
        (r#"{"a": "x", "b": 1 "#, r#"{"a":"x","b":1}"#, cut(None)),
        (r#"{"a": "x", "b": 1,"#, r#"{"a":"x","b":1}"#, cut(None)),
        (r#"{"a": "x", "b": true"#, r#"{"a":"x","b":true}"#, cut(None)),
        (r#"{"a": "x", "b": tru"#, "", None),
        (r#"{"a": "x", "b": "y""#, r#"{"a":"x","b":"y"}"#, cut(None)),
        (r#"{"a": "x", "b": "y"#, "", None),
        (r#"{"a": "x", "b": ""#, "", None),
        (r#"{"a": "x", "b": "y\"#, "", None),
        (r#"{"a": "x", "b": "y\""#, "", None),
        (r#"{"a": "x", "b": "y", "c"#, r#"{"a":"x","b":"y"}"#, cut(None)),
        (r#"{"a": "x", "b": "y", "c""#, r#"{"a":"x","b":"y"}"#, cut(Some("c"))),
        (r#"{"a": "x", "b": "y", "c": "#, r#"{"a":"x","b":"y"}"#, cut(Some("c"))),
        (r#"{"a": "x", "b": ["y""#, "", None),
        (r#"{"a": "x", "b": {"y": 1"#, "", None),
        (r#"{"a": "x", "b": {"y": 1}"#, r#"{"a":"x","b":{"y":1}}"#, cut(None)),
        (r#"{"b": "y", "a": "x", "b": "z"#, "", None),
    ];
    for (text, wanted, repair) in cases {
        match wanted {
            "" => {
                let error = mended(text, &["a", "b"]).unwrap_err();
                assert!(matches!(error, NotRepaired::Missing { is_cut: true, .. }), "{text}: {error:?}");
            }
            wanted => {
                let wanted = Arguments { value: value(wanted), repair };
                assert_eq!(mended(text, &["a", "b"]), Ok(wanted), "{text}");
            }
        }
    }
    assert_eq!(mended(r#"{"a": "x", "b": "y"#, &["a", "b"]), Err(missing(&["b"], true)));
}

#[test]
fn nothing_that_is_cut_is_taken_where_nothing_is_required() {
    for text in ["{", r#"{"path": "/tm"#, r#"{"path": "/tmp""#, r#"{"path": "/tmp","#] {
        assert_eq!(mended(text, &[]), Err(NotRepaired::Cut), "{text}");
    }
}

#[test]
fn no_arguments_are_an_empty_object_where_nothing_is_required() {
    let empty = Arguments { value: value("{}"), repair: Some(Repair::Empty) };
    assert_eq!(repair(&ToolInput::None, &schema(&[])), Ok(empty.clone()));
    assert_eq!(mended(" \n", &[]), Ok(empty));
    assert_eq!(repair(&ToolInput::None, &schema(&["a"])), Err(missing(&["a"], true)));
    assert_eq!(mended("{}", &[]), Ok(Arguments { value: value("{}"), repair: None }));
}

#[test]
fn arguments_that_were_escaped_into_one_of_them_are_taken_out_again() {
    let both = r#"{"description":"real desc","instruction":"real"}"#;
    let cases = [
        // Everything behind the first quote is escaped, so that the text never ends.
        (r#"{"description": "real desc\", \"instruction\": \"real\"}"#, both),
        // It ends, with the object inside.
        (r#"{"description": "real desc\", \"instruction\": \"real\"}"}"#, both),
        (r#"{"description": "real desc\", \"instruction\": \"real\"}"} "#, both),
        // The end of the text and of the object were not escaped.
        (r#"{"description": "real desc\", \"instruction\": \"real"}"#, both),
        // The same, and the last brace is missing, of which there would be two.
        (r#"{"description": "real desc\", \"instruction\": \"real\"}""#, both),
        (
            r#"{"description": "a\\\"b\\nc\", \"instruction\": \"one\ntwo\", \"n\": [1,\n2]}"}"#,
            r#"{"description":"a\"b\nc","instruction":"one\ntwo","n":[1,2]}"#,
        ),
        (
            r#"{"id": 1, "description": "real desc\", \"instruction\": \"real\"}"}"#,
            r#"{"id":1,"description":"real desc","instruction":"real"}"#,
        ),
    ];
    for (text, wanted) in cases {
        let wanted = Arguments { value: value(wanted), repair: unescaped("description") };
        assert_eq!(mended(text, &["description", "instruction"]), Ok(wanted.clone()), "{text}");
        if let Ok((parsed, _)) = Value::parse_json(text) {
            let input = ToolInput::Json(parsed);
            assert_eq!(repair(&input, &schema(&["description", "instruction"])), Ok(wanted), "{text}");
        }
    }
}

#[test]
fn what_a_text_quotes_stays_in_it_unless_something_is_missing() {
    let quoting = r#"{"description": "real desc\", \"instruction\": \"real\"}"}"#;
    let wanted = Arguments { value: value(quoting), repair: None };
    assert_eq!(mended(quoting, &["description"]), Ok(wanted));

    let both = ["description", "instruction"];
    let not = [
        // Cut inside: it is not known what came behind.
        r#"{"description": "real desc\", \"instruction\": \"rea"#,
        r#"{"description": "real desc\", \"instruction\": \"real\""#,
        r#"{"description": "real desc\", \"instruction\": \"real\", \"n\": 1"#,
        // Not what is missing.
        r#"{"description": "real desc\", \"other\": \"real\"}"}"#,
        // Nothing is escaped.
        r#"{"description": "real desc"#,
        // Quotes inside a text that was cut.
        r#"{"description": "call f(\"instruction\": \"x\")\n} \"instruction\": \"y\"}"#,
        // Text behind the object.
        r#"{"description": "real desc\", \"instruction\": \"real\"} and more"}"#,
        // Not the last field.
        r#"{"description": "real desc\", \"instruction\": \"real\"}", "n": 1}"#,
    ];
    for text in not {
        let error = mended(text, &both).unwrap_err();
        assert!(
            matches!(&error, NotRepaired::Missing { fields, .. } if fields.contains(&"instruction".to_owned())),
            "{text}"
        );
    }
}

#[test]
fn what_is_wrong_says_so() {
    let cases = [
        ("[1]", "the arguments are no object, but a list"),
        ("\"{}\"", "the arguments are no object, but \"{}\""),
        ("path: x", "the arguments are no JSON object"),
        (r#"{"a": 1} x"#, "the arguments are no JSON object"),
        (r#"{"a" 1"#, "the arguments are no JSON object"),
        (r#"{"a": 1 "b": 2"#, "the arguments are no JSON object"),
        (r#"{"a": ]"#, "the arguments are no JSON object"),
        (r#"{"a": [1}, "b": 2"#, "the arguments are no JSON object"),
        (r#"{"a": nul, "b": 2"#, "the arguments are no JSON object"),
        (r#"{a: 1}"#, "the arguments are no JSON object"),
        (r#"{"b": "x"#, "the arguments lack a, b"),
    ];
    for (text, wanted) in cases {
        assert_eq!(mended(text, &["a", "b"]).unwrap_err().to_string(), wanted, "{text}");
    }
}

#[test]
fn hostile_texts_take_no_stack_and_are_no_arguments() {
    let count = 400_000;
    let (no_json, lacks, cut) = (
        "the arguments are no JSON object",
        "the arguments lack a, b",
        "the arguments broke off, and no required field shows how much is missing",
    );
    // Each with what is said where `a` and `b` are required, and where nothing is.
    let cases = [
        ("[".repeat(count), no_json, no_json),
        ("{\"a\":".repeat(count), no_json, no_json),
        (format!("{{\"a\": {}", "[".repeat(count)), no_json, no_json),
        (format!("{{\"a\": \"{}", "\\\"".repeat(count)), lacks, cut),
        (format!("{{\"a\": \"{}", "\\".repeat(count + 1)), lacks, cut),
        (format!("{{{}", "\"a\": 1, ".repeat(count)), "the arguments lack b", cut),
        (format!("{{\"a\": \"x\\\", {}", "\\\"b\\\": 1, ".repeat(count)), lacks, cut),
        (format!("{{\"a\": \"x\\\", \\\"b\\\": {}", "[".repeat(count)), lacks, cut),
        (" ".repeat(count), lacks, ""),
    ];
    for (text, wanted, wanted_of_nothing) in cases {
        let said = |required: &[&str]| mended(&text, required).map_err(|error| error.to_string());
        let begin = text.get(..20).unwrap_or(&text);
        assert_eq!(said(&["a", "b"]).unwrap_err(), wanted, "{begin}");
        match said(&[]) {
            Err(error) => assert_eq!(error, wanted_of_nothing, "{begin}"),
            Ok(made) => {
                assert_eq!((made.value, made.repair, wanted_of_nothing), (value("{}"), Some(Repair::Empty), ""))
            }
        }
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        "[a\"\\\\{}\\[\\],:ü\n ]{0,12}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec(("[a-c\"]{1,2}", inner), 0..4)
                .prop_map(|fields: Vec<(String, Value)>| Value::from(fields)),
        ]
    })
}

proptest! {
    #[test]
    fn a_cut_at_any_place_gives_only_whole_fields(
        fields in prop::collection::vec(("[a-e]", json()), 1..5),
        required in prop::collection::vec("[a-e]", 0..3),
    ) {
        let whole = Value::from(fields);
        let text = serde_json::to_string(&whole).unwrap();
        let required: Vec<&str> = required.iter().map(String::as_str).collect();
        let places = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
        for at in places {
            let Ok(made) = mended(&text[..at], &required) else { continue };
            for name in &required {
                prop_assert!(made.value.get(name).is_some());
            }
            let cut_is_said = at == text.len() || made.repair.is_some();
            prop_assert!(cut_is_said);
            if !matches!(made.repair, Some(Repair::Unescaped { .. })) {
                for (name, value) in made.value.as_map().unwrap() {
                    prop_assert_eq!(whole.get(name), Some(value), "{} cut at {}", text, at);
                }
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a\"\\\\{}\\[\\],:1ü\n ]{0,40}", tail in any::<String>()) {
        let _ = mended(&format!("{{\"a\": {text}{tail}"), &["a"]);
        let _ = mended(&text, &[]);
        let _ = mended(&tail, &["a"]);
    }
}
