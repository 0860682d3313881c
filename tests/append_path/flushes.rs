//! Writes and flushes of an append.

use seslog::event::Message;
use seslog::log::Durability;
use seslog::session::Session;

use crate::unhurried;

fn session(dir: &std::path::Path) -> Session {
    Session::create(&dir.join("a.seslog"), unhurried()).unwrap()
}

#[test]
fn an_append_that_waits_is_one_write_and_one_flush_also_where_an_index_is_due() {
    let dir = tempfile::tempdir().unwrap();
    let session = session(dir.path());
    for _ in 0..1_020 {
        drop(session.append(Message::user("before"), Durability::Os).unwrap());
    }
    session.sync().unwrap();
    for n in 0..12 {
        let before = session.log().io();
        drop(session.append(Message::user(format!("message {n}")), Durability::Sync).unwrap());
        let after = session.log().io();
        assert_eq!(after.syncs - before.syncs, 1, "flushes of append {n}");
        // The watermark that follows an INDEX is a write of its own.
        let writes = after.writes - before.writes;
        assert!(writes == 1 || (writes == 2 && after.bytes_written - before.bytes_written > 25 * 1024), "append {n}");
        assert_eq!(after.reads, before.reads, "append {n}");
    }
}
