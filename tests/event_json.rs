//! JSON in both directions: numbers keep their text, half letters are counted, and nothing hangs on what others
//! switch on for serde_json.

use std::path::Path;

use seslog::event::*;

fn parse(text: &str) -> Value {
    Value::parse_json(text).unwrap().0
}

#[test]
fn numbers_keep_their_text() {
    for (text, value) in [
        ("0", Value::Int(0)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        ("9223372036854775807", Value::Int(i64::MAX)),
        ("18446744073709551615", Value::UInt(u64::MAX)),
        ("18446744073709551616", Value::Number("18446744073709551616".to_owned())),
        ("1.5", Value::Float(1.5)),
        ("1.0", Value::Float(1.0)),
        ("1.10", Value::Number("1.10".to_owned())),
        ("-0", Value::Number("-0".to_owned())),
        ("-0.0", Value::Float(-0.0)),
        ("1e400", Value::Number("1e400".to_owned())),
        ("1E5", Value::Number("1E5".to_owned())),
        ("0.1000000000000000055511151231257827", Value::Number("0.1000000000000000055511151231257827".to_owned())),
    ] {
        assert_eq!(parse(text), value, "{text}");
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }
    for bad in ["01", "1.", ".5", "+1", "-", "1e", "0x1", "NaN", "Infinity"] {
        assert!(Value::parse_json(bad).is_err(), "{bad}");
    }
}

#[test]
fn half_surrogates_become_the_replacement_and_are_counted() {
    for (text, expected, count) in [
        (r#""\ud83d\ude00""#, "\u{1F600}", 0),
        (r#""\ud83d end""#, "\u{FFFD} end", 1),
        (r#""opt\udc00""#, "opt\u{FFFD}", 1),
        (r#""\ud83d\ud83d\ude00""#, "\u{FFFD}\u{1F600}", 1),
        (r#""\ud83d\u0041""#, "\u{FFFD}A", 1),
        (r#""\ud83d\n""#, "\u{FFFD}\n", 1),
    ] {
        let (value, lossy) = Value::parse_json(text).unwrap();
        assert_eq!(value.as_text(), Some(expected), "{text}");
        assert_eq!(lossy, Lossy { surrogates: count, bad_utf8: 0 }, "{text}");
    }
    let (value, lossy) = Value::parse_json(b"{\"opt\\udc00\":\"caf\\ud83d\",\"b\":\"\xE2\x82 x\"}").unwrap();
    assert_eq!(lossy, Lossy { surrogates: 2, bad_utf8: 1 });
    assert_eq!(value.get("b").and_then(Value::as_text), Some("\u{FFFD} x"));
}

#[test]
fn an_error_says_where_it_is() {
    for (text, expected) in [
        ("", "JSON: expected a value at byte 0, found the end"),
        ("{\"a\":1,}", "JSON: expected a field's name at byte 7, found `}`"),
        ("[1 2]", "JSON: expected `,` or `]` behind an item at byte 3, found `2`"),
        ("\"a\nb\"", "JSON: expected the rest of a string at byte 2, found byte 0x0a"),
        ("\"a", "JSON: expected the rest of a string at byte 2, found the end"),
        ("\"\\x\"", "JSON: expected an escape at byte 2, found `x`"),
        ("\"\\u12g4\"", "JSON: expected four hex digits at byte 5, found `g`"),
        ("{} {}", "2 bytes too many behind the end, at byte 3"),
        ("nul", "JSON: expected a value at byte 0, found `n`"),
    ] {
        assert_eq!(Value::parse_json(text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn bytes_are_shown_as_base64() {
    assert_eq!(serde_json::to_string(&Value::Bytes(b"fo".to_vec())).unwrap(), "\"Zm8=\"");
}

#[test]
fn names_inside_any_json_are_nobodys_but_their_makers() {
    let line = r#"{"type":"extension","name":"x","payload":{"parentId":1,"call_id":{"isError":2}}}"#;
    let (_, incoming) = seslog::interop::read_events(line.as_bytes()).next().unwrap().unwrap();
    let seslog::interop::IncomingBody::Extension(extension) = incoming.body else { panic!("no extension") };
    assert_eq!(serde_json::to_string(&extension.payload).unwrap(), r#"{"parentId":1,"call_id":{"isError":2}}"#);
}

/// Another crate in the build may switch on serde_json's `preserve_order` or `arbitrary_precision`; then its values
/// and maps behave differently, and bytes in a log would hang on it.
#[test]
fn nothing_in_the_library_goes_through_the_values_of_serde_json() {
    let forbidden =
        [["serde_json", "::Value"].concat(), ["serde_json", "::Map"].concat(), ["serde_json", "::json!"].concat()];
    let mut files = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        seen += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or(&text);
        for name in &forbidden {
            assert!(!product.contains(name.as_str()), "{} names {name}: use event::Value", path.display());
        }
    }
    assert!(seen > 20, "the sources were not found");
}
