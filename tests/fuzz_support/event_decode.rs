//! Any bytes as an event's payload, and as a value inside one.

use seslog::event::{Value, decode, encode, to_json};
use seslog::interop::read_events;

/// The front of an event whose last field takes any value: so a fuzzer need not find it first.
const EXTENSION: &[u8] =
    b"\x85\xA4type\xA9extension\xA2id\xC4\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\xA2at\x00\xA4name\xA1n\xA7payload";

/// What can be decoded can be encoded, and is the same afterwards; its JSON is JSON, and a neutral line that is read
/// without an error or told as a bad one.
pub fn event_decode(data: &[u8]) {
    decode_once(data);
    decode_once(&[EXTENSION, data].concat());
    decode_once(&compressed(data));
    decode_once(&compressed(&stored_frame(data)));
}

/// An event that says that it is compressed.
fn compressed(frame: &[u8]) -> Vec<u8> {
    [&[0xC9][..], &(frame.len() as u32).to_be_bytes(), &[2], frame].concat()
}

/// A zstd frame that gives these bytes, in blocks that are stored as they are.
fn stored_frame(bytes: &[u8]) -> Vec<u8> {
    let mut frame = [&[0x28, 0xB5, 0x2F, 0xFD, 0xA0][..], &(bytes.len() as u32).to_le_bytes()].concat();
    let blocks = bytes.chunks(64 << 10).count();
    for (index, block) in bytes.chunks(64 << 10).enumerate() {
        let header = (block.len() as u32) << 3 | u32::from(index + 1 == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

fn decode_once(data: &[u8]) {
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
