//! Records that quote the log they are in, next to damage.

use seslog::event::{Extension, Message, Value};
use seslog::log::{Durability, FrameStatus};
use seslog::session::Session;

use crate::made::{End, Log, disk_with, options, path, rich, survey_of};
use crate::oracle::{Case, Look};

/// A session whose last records but one hold its own bytes, each shifted by another number of bytes.
fn quoting() -> Log {
    let disk = disk_with(&rich(End::Closed).bytes);
    let session = Session::open(&path(), options(&disk, 31)).unwrap();
    for shift in [0, 1, 4] {
        let quote = [vec![0xEE; shift], disk.bytes(&path())[4096..].to_vec()].concat();
        let payload = Value::Bytes(quote);
        let _ = session.append(Extension { name: "quote".to_owned(), payload }, Durability::Sync).unwrap();
        let _ = session.append(Message::user("between"), Durability::Sync).unwrap();
    }
    session.close().unwrap();
    Log::of(disk.bytes(&path()))
}

#[test]
fn a_quoted_frame_is_never_taken_for_one_whatever_is_hit_beside_it() {
    let log = quoting();
    let mut count = 0;
    for frame in &log.frames {
        let (from, to) = (frame.from() as usize, frame.to() as usize);
        for (what, range) in [("header", from..from + 64), ("payload", from + 64..from + 72), ("all", from..to)] {
            let mut bytes = log.bytes.clone();
            bytes[range].iter_mut().for_each(|byte| *byte ^= 0x5A);
            let _ = Case::of(&log, bytes, format!("{what} of {from}")).check(Look::All);
            count += 1;
        }
    }
    println!("{count} hits");
}

#[test]
fn a_quoted_frame_is_not_displaced_though_all_behind_the_hit_is() {
    let log = quoting();
    for frame in &log.frames {
        for at in [frame.from(), frame.from() + 32, frame.to() - 4] {
            for len in [1, 8] {
                let mut bytes = log.bytes.clone();
                bytes.splice(at as usize..at as usize, vec![b'x'; len]);
                let found = survey_of(&bytes).unwrap();
                let mut seen = std::collections::HashSet::new();
                for frame in found.frames.iter().filter(|frame| frame.status == FrameStatus::Displaced) {
                    assert_eq!(frame.at, frame.head.offset + len as u64, "{len} put in at {at}: a quote is displaced");
                }
                assert!(found.frames.iter().all(|frame| seen.insert(frame.head.offset)), "{len} put in at {at}");
            }
        }
    }
}
