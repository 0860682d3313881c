//! What a session takes on the disk.

use seslog::event::to_json;

use crate::made::{Contents, session};

#[test]
fn a_log_takes_at_most_1_15_of_its_messagepack_and_less_than_json_lines() {
    let dir = tempfile::tempdir().unwrap();
    for count in [1_000, 10_000] {
        let path = session(dir.path(), count);
        let bytes = std::fs::metadata(&path).unwrap().len();
        let Contents { payload, events, .. } = Contents::of(&path);
        let lines: u64 = events.iter().map(|event| to_json(event).len() as u64 + 1).sum();
        assert!(bytes * 100 <= payload * 115, "{count} messages: {bytes} bytes for {payload}");
        assert!(bytes < lines, "{count} messages: {bytes} bytes, {lines} of JSON lines");
    }
}
