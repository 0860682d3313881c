//! A story and its transcript stream: what they hold in memory does not grow with what the messages say.

#[path = "common/counting.rs"]
mod counting;

use std::path::{Path, PathBuf};

use counting::peak_of;
use seslog::event::{Amend, Message, Part, Value};
use seslog::log::{Durability, LogReader, RealFs};
use seslog::projection::TranscriptStream;
use seslog::session::{NewEvent, Parent, Session, SessionOptions, Story};

/// Read-ahead, a few messages with their changes, the heads of the index.
const FIXED: usize = 1 << 20;
/// What the outline may take for each event.
const PER_EVENT: usize = 32;

/// A session of `count` messages of about 1 KB: questions, answers that are completed later, two calls at once and their
/// results, which hang side by side.
fn session(dir: &Path, count: usize) -> PathBuf {
    let path = dir.join(format!("{count}.seslog"));
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let text = "x".repeat(1_000);
    let append = |event: NewEvent| session.append(event, Durability::Os).unwrap().id;
    for turn in 0..count / 5 {
        append(Message::user(&text).into());
        let ids = [0, 1].map(|n| format!("call-{turn}-{n}"));
        let parts = ids.iter().map(|id| Part::tool_call(id, "tool", Value::Text(text.clone()))).collect();
        let call = append(Message::assistant_calls(parts).into());
        for id in ids.iter().rev() {
            let result = Message::tool_result(id, &text, false);
            append(NewEvent::from(result).with_parent(Parent::Of(call)));
        }
        let answer = append(Message::assistant(&text).into());
        let patch = vec![("model".to_owned(), Value::Text(text.clone()))];
        append(Amend { target: answer, patch }.into());
    }
    session.close().unwrap();
    path
}

#[test]
fn a_story_and_its_transcript_hold_a_few_messages_and_some_thirty_bytes_an_event() {
    let dir = tempfile::tempdir().unwrap();
    for messages in [10_000, 100_000] {
        let path = session(dir.path(), messages);
        let events = messages + messages / 5;
        let mut told = 0;
        let of_story = peak_of(|| {
            let (log, _) = LogReader::open(RealFs::shared(), &path).unwrap();
            for entry in Story::of_log(&log).unwrap() {
                told += usize::from(entry.unwrap().event.message().is_some());
            }
        });
        let of_transcript = peak_of(|| {
            let (log, _) = LogReader::open(RealFs::shared(), &path).unwrap();
            for message in TranscriptStream::new(Story::of_log(&log).unwrap()) {
                told += usize::from(!message.unwrap().content.is_empty());
            }
        });
        assert_eq!(told, 2 * messages);
        println!("{messages} messages: a story held {of_story} bytes, a transcript {of_transcript}");
        for peak in [of_story, of_transcript] {
            assert!(peak <= FIXED + PER_EVENT * events, "{peak} bytes for {messages} messages");
        }
    }
}
