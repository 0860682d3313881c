//! Bytes that nobody of ours wrote: each gives an error, none a panic, and none makes us believe its lengths.

mod event_support;

use proptest::prelude::*;
use seslog::event::*;

fn nested(levels: usize) -> Vec<u8> {
    // {"type": "x", "id": nil, "at": 0, "deep": [[[...]]]}: the event itself is the first level.
    let mut bytes = vec![0x84, 0xA4];
    bytes.extend(b"type\xA1x\xA2id\xC4\x10");
    bytes.extend([0; 16]);
    bytes.extend(b"\xA2at\x00\xA4deep");
    bytes.extend(std::iter::repeat_n(0x91, levels - 1));
    bytes.push(0xC0);
    bytes
}

#[test]
fn the_limit_of_levels_is_the_same_for_bytes_json_and_writing() {
    let deepest = decode(&nested(DEPTH_MAX)).unwrap();
    assert_eq!(decode(&encode(&deepest).unwrap()).unwrap(), deepest);
    let line = to_json(&deepest);
    assert!(Value::parse_json(&line).is_ok());

    assert!(matches!(decode(&nested(DEPTH_MAX + 1)), Err(EventError::TooDeep { limit: DEPTH_MAX, .. })));
    assert!(matches!(decode(&nested(1_000_000)), Err(EventError::TooDeep { .. })));
    assert!(Value::parse_json("[".repeat(1_000_000)).is_err());
    assert!(matches!(Value::parse_json("[".repeat(DEPTH_MAX + 1)), Err(EventError::TooDeep { .. })));

    let mut value = Value::Null;
    for _ in 0..DEPTH_MAX {
        value = Value::List(vec![value]);
    }
    let body = Body::Extension(Extension { name: "deep".to_owned(), payload: value });
    let error = encode(&event_support::event_of(body)).unwrap_err();
    assert_eq!(error.to_string(), "this event can't be stored: nested deeper than 96 levels");
}

#[test]
fn claimed_lengths_are_never_believed() {
    let claims: [&[u8]; 8] = [
        b"\xDF\xFF\xFF\xFF\xFF",
        b"\xDD\xFF\xFF\xFF\xFF",
        b"\xDB\xFF\xFF\xFF\xFFab",
        b"\xC6\xFF\xFF\xFF\xFFab",
        b"\xC9\xFF\xFF\xFF\xFF\x01ab",
        b"\xDE\xFF\xFF",
        b"\xDC\xFF\xFF",
        b"\xDA\xFF\xFF",
    ];
    for claim in claims {
        assert!(matches!(decode(claim), Err(EventError::Bytes { .. })), "{claim:x?}");
    }
}

#[test]
fn errors_say_where_what_was_expected_and_what_was_found() {
    let good = encode(&event_support::event_of(Body::Head(Head { leaf: None }))).unwrap();
    let with = |from: &[u8], to: &[u8]| {
        let place = good.windows(from.len()).position(|window| window == from).unwrap();
        [&good[..place], to, &good[place + from.len()..]].concat()
    };
    let texts = [
        (decode(&[&good[..], b"\0\0"].concat()), "2 bytes too many behind the end, at byte 42"),
        (
            decode(&with(b"\xA4head", b"\xA4he\xFFd")),
            "bytes of an event: expected text in UTF-8 at byte 9, found byte 0xff",
        ),
        (decode(&with(b"\xA2at\x07", b"\xA2at\xA1x")), "field `at`: expected an integer, found \"x\""),
        (decode(&with(b"\xA2at\x07", b"\xA2ut\x07")), "field `at`: expected an integer, found nothing"),
        (
            decode(&with(b"\xA2at\x07", b"\xA2at\xC1")),
            "bytes of an event: expected a value at byte 35, found 0xc1, which MessagePack never uses",
        ),
        (
            decode(&with(b"\xA2at\x07", b"\xA2at\xCB\x7F\xF8\0\0\0\0\0\0")),
            "bytes of an event: expected a finite number at byte 35, found NaN",
        ),
        (
            decode(&with(b"\xA2at\x07", b"\xA2at\xD4\x05\x00")),
            "bytes of an event: expected ext type 1 at byte 35, found ext type 5",
        ),
        (
            decode(&with(b"leaf\xC0", b"leaf\x2A")),
            "field `leaf`: expected an id (16 bytes, or a UUID's text), found 42",
        ),
        (decode(b"\x90"), "field `event`: expected an object, found a list"),
        (decode(b""), "bytes of an event: expected a value at byte 0, found 0 bytes where 1 are claimed"),
        (decode(b"\x81\x01\x02"), "bytes of an event: expected a field's name at byte 1, found 1"),
    ];
    for (result, text) in texts {
        assert_eq!(result.unwrap_err().to_string(), text);
    }
}

#[test]
fn a_wrong_field_deep_inside_is_named_by_its_path() {
    let mut message = Message::tool_result("c", "x", false);
    message.content.insert(0, Part::text("a"));
    let bytes = encode(&event_support::event_of(Body::Message(Box::new(message)))).unwrap();
    let place = bytes.windows(8).position(|window| window == b"call_id\xA1").unwrap();
    let wrong = [&bytes[..place + 7], b"\x05", &bytes[place + 9..]].concat();
    assert_eq!(decode(&wrong).unwrap_err().to_string(), "field `content[1].call_id`: expected text, found 5");
}

#[test]
fn what_json_could_not_say_is_not_stored() {
    for (value, why) in [
        (Value::Float(f64::NAN), "NaN is no finite number"),
        (Value::Float(f64::INFINITY), "inf is no finite number"),
        (Value::Number("1,5".to_owned()), "`1,5` is no number in JSON"),
    ] {
        let mut bytes = b"before".to_vec();
        let body = Body::Extension(Extension { name: "x".to_owned(), payload: value });
        let error = encode_into(&event_support::event_of(body), &mut bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("this event can't be stored: {why}"));
        assert_eq!(bytes, b"before", "what stood there before stays");
    }
}

#[test]
fn a_name_given_twice_keeps_the_last_value() {
    let bytes = b"\x85\xA4type\xA1x\xA2id\xC4\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xA2at\x01\xA1a\x01\xA2at\x02";
    assert_eq!(decode(bytes).unwrap().at, 2);
    let many: String = (0..40).map(|index| format!("\"k{}\":{index},", index % 20)).collect();
    let (value, _) = Value::parse_json(format!("{{{}}}", many.trim_end_matches(','))).unwrap();
    assert_eq!(value.as_map().unwrap().len(), 20);
    assert_eq!(value.get("k0"), Some(&Value::Int(20)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
        let _ = Value::parse_json(&bytes);
        for item in seslog::interop::read_events(&bytes[..]) {
            let _ = item;
        }
    }

    #[test]
    fn a_cut_or_a_changed_byte_gives_an_event_or_an_error(
        event in event_support::event(), cut in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let mut bytes = encode(&event).unwrap();
        let place = cut.index(bytes.len());
        prop_assert!(decode(&bytes[..place]).is_err());
        bytes[place] = byte;
        if let Ok(other) = decode(&bytes) {
            // Whatever it is now, it can be kept.
            prop_assert_eq!(decode(&encode(&other).unwrap()).unwrap(), other);
        }
        let mut line = to_json(&event).into_bytes();
        let place = cut.index(line.len());
        line[place] = byte;
        for item in seslog::interop::read_events(&line[..]) {
            let _ = item;
        }
    }
}
