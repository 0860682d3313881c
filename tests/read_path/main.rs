//! What reading costs, in counts: calls and bytes of a resume, a scan and an open after a crash, and what is held in memory.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may end at once")]

#[path = "../common/counting.rs"]
mod counting;
mod crash;
mod disk;
mod memory;
mod record;
mod resume;
mod scan;
#[path = "../common/wrapped_fs.rs"]
mod wrapped_fs;

use std::path::Path;

use seslog::event::{Message, Part, Value};
use seslog::log::{Durability, Fs};
use seslog::session::{Compaction, Session, SessionOptions};

/// The options of a session on this file system.
fn on(fs: std::sync::Arc<dyn Fs>) -> SessionOptions {
    SessionOptions { fs, ..SessionOptions::default() }
}

/// A coding agent's messages: what a person types, text and a call, its result, an answer.
fn message(n: usize) -> Message {
    let text = |len: usize| format!("line {n} of what was said. ").repeat(len / 24);
    match n % 4 {
        0 => Message::user(text(600)),
        1 => Message::assistant_calls(vec![
            Part::text(text(1_200)),
            Part::tool_call(format!("call_{n}"), "read", Value::from([("path", format!("src/file_{n}.rs").into())])),
        ]),
        2 => Message::tool_result(format!("call_{}", n - 1), text(if n % 100 == 2 { 60_000 } else { 2_000 }), false),
        _ => Message::assistant(text(3_000)),
    }
}

/// A session of so many messages, compacted `behind` messages before its end and closed.
fn write(path: &Path, count: usize, behind: usize) {
    let session = Session::create(path, SessionOptions::default()).unwrap();
    for n in 0..count {
        if n == count - behind {
            let _ = session.compact(Compaction::new("what came before"), Durability::Os).unwrap();
        }
        let _ = session.append(message(n), Durability::Os).unwrap();
    }
    session.close().unwrap();
}
