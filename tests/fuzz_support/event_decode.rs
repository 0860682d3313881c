//! Any bytes as an event's payload.

use seslog::event::{Value, decode, encode, to_json};
use seslog::interop::read_events;

/// What can be decoded can be encoded, and is the same afterwards; its JSON is JSON, and a neutral line that is read
/// without an error or told as a bad one.
pub fn event_decode(data: &[u8]) {
    let Ok(event) = decode(data) else { return };
    let bytes = encode(&event).expect("what was read can be written");
    let again = decode(&bytes).expect("what was written can be read");
    assert_eq!(again, event);
    assert_eq!(encode(&again).expect("the same event"), bytes, "an event has one encoding");
    let json = to_json(&event);
    assert!(Value::parse_json(&json).is_ok(), "{json}");
    assert!(!json.contains('\n'), "one line: {json}");
    for item in read_events(json.as_bytes()) {
        if let Err(error) = item {
            assert!(error.offset <= json.len() as u64, "{error}");
        }
    }
}
