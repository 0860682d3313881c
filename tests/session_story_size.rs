//! A story streams: what it holds in memory does not grow with what the messages say.

#![allow(unsafe_code, reason = "a counting allocator has to be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::{Path, PathBuf};

use seslog::event::{Amend, Message, Value};
use seslog::log::{Durability, LogReader, RealFs};
use seslog::session::{Session, SessionOptions, Story};

/// Counts what the thread that asks holds, so that tests beside it do not matter.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that ends may free more once its counters are gone.
    _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of this very call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that is held at once while this runs, beyond what was held before, in bytes.
fn peak_of(run: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    run();
    usize::try_from(PEAK.get() - before).unwrap()
}

/// A session of `count` messages of about 1 KB; each fourth is completed later.
fn session(dir: &Path, count: usize) -> PathBuf {
    let path = dir.join(format!("{count}.seslog"));
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let text = "x".repeat(1_000);
    for n in 0..count {
        let message = if n % 2 == 0 { Message::user(&text) } else { Message::assistant(&text) };
        let target = session.append(message, Durability::Os).unwrap().id;
        if n % 4 == 3 {
            let patch = vec![("model".to_owned(), Value::Text(text.clone()))];
            let _ = session.append(Amend { target, patch }, Durability::Os).unwrap();
        }
    }
    session.close().unwrap();
    path
}

#[test]
fn streaming_a_story_holds_one_message_and_some_thirty_bytes_an_event() {
    /// Read-ahead, one message with its changes, the heads of the index.
    const FIXED: usize = 1 << 20;
    const PER_EVENT: usize = 32;
    let dir = tempfile::tempdir().unwrap();
    for messages in [10_000, 100_000] {
        let path = session(dir.path(), messages);
        let events = messages + messages / 4;
        let mut told = 0;
        let peak = peak_of(|| {
            let (log, _) = LogReader::open(RealFs::shared(), &path).unwrap();
            for entry in Story::of_log(&log).unwrap() {
                told += usize::from(entry.unwrap().event.message().is_some());
            }
        });
        assert_eq!(told, messages);
        println!("{messages} messages: at most {peak} bytes, {} an event", peak / events);
        assert!(peak <= FIXED + PER_EVENT * events, "{peak} bytes for {messages} messages");
    }
}
