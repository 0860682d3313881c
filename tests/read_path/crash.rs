//! An open after a crash reads what had not been synced once, and no more for a longer session.

use seslog::log::Durability;
use seslog::session::{Compaction, Session, SessionOptions};

use crate::disk::watched;
use crate::{message, on, write};

/// Header page, tail, the frame before the window, and the end that the recovery looks at again.
const BESIDE: u64 = 128 << 10;

#[test]
fn an_open_after_a_crash_reads_the_unsynced_bytes_once_whatever_the_size_of_the_session() {
    let dir = tempfile::tempdir().unwrap();
    for count in [400, 4_000] {
        let path = dir.path().join(format!("{count}.seslog"));
        write(&path, count, 200);
        let synced = std::fs::metadata(&path).unwrap().len();
        let session = Session::open(&path, SessionOptions::default()).unwrap();
        let _ = session.compact(Compaction::new("what came before"), Durability::Os).unwrap();
        for n in 0..600 {
            let _ = session.append(message(n), Durability::Os).unwrap();
        }
        // What a crash would have left.
        let left = dir.path().join(format!("{count}-left.seslog"));
        std::fs::copy(&path, &left).unwrap();
        drop(session);
        let unsynced = std::fs::metadata(&left).unwrap().len() - synced;
        assert!(unsynced > 1 << 20);
        let disk = watched();
        let opened = Session::open(&left, on(disk.clone())).unwrap();
        let seen = disk.take();
        assert!(seen.bytes() <= unsynced + BESIDE, "{} bytes where {unsynced} had not been synced", seen.bytes());
        opened.with_state(|state| assert_eq!(state.chain().len(), 602)).unwrap();
        opened.close().unwrap();
    }
}
