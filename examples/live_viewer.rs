//! A screen that follows a session while somebody else writes it: a reader beside the writer, and a view that is built on
//! instead of anew. `cargo run --example live_viewer`

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seslog::event::{Message, StopReason, Value};
use seslog::log::{Durability, RealFs};
use seslog::projection::{Options, Projector, View};
use seslog::session::{SessionError, SessionOptions, SessionReader, Store};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    run(dir.path(), &mut |line| println!("{line}"))
}

pub(crate) fn run(dir: &Path, say: &mut (dyn FnMut(String) + Send)) -> Result<(), Box<dyn Error>> {
    let session = Store::at(dir, SessionOptions::default()).create()?;
    let path = session.path().to_owned();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let viewer = scope.spawn(|| follow(&path, &ended, say));
        // The writer: a question, and an answer that comes word by word.
        let written = (|| {
            session.append(Message::user("Which bed gets the beans?"), Durability::Sync)?.wait()?;
            let mut answer = Message::assistant("The");
            answer.stop_reason = StopReason::StreamOpen;
            let id = session.append(answer, Durability::Os)?.id;
            let mut text = "The".to_owned();
            for word in ["south", "bed:", "it", "has", "the", "sun", "all", "day."] {
                thread::sleep(Duration::from_millis(30));
                text = format!("{text} {word}");
                let _ = session.amend(id, vec![("content".into(), Value::Text(text.clone()))], Durability::Os)?;
            }
            // Until this is said, a reader and a resume take the answer for one that was cut off.
            let end = vec![("stop_reason".into(), Value::Text("end_turn".into()))];
            session.amend(id, end, Durability::Sync)?.wait()?;
            session.append(Message::user("Thank you."), Durability::Sync)?.wait()?;
            session.close()
        })();
        ended.store(true, Ordering::Release);
        let seen = viewer.join().map_err(|_| "the viewer panicked")?;
        written?;
        seen?;
        Ok(())
    })
}

/// Shows what is new, and what has changed, until the writer has ended.
fn follow(path: &Path, ended: &AtomicBool, say: &mut dyn FnMut(String)) -> Result<(), SessionError> {
    let mut reader = SessionReader::open(path, RealFs::shared())?;
    let mut projector = Projector::new(reader.state(), View::Transcript, Options::default());
    let mut shown = 0;
    loop {
        // Asked before the look: what was written before the end is seen by it.
        let is_last = ended.load(Ordering::Acquire);
        if reader.follow()? > 0 {
            let update = projector.update(reader.state());
            // What was shown already may be another now: a screen paints from there on.
            let from = update.first_changed.unwrap_or(shown).min(shown);
            for (index, message) in projector.messages().iter().enumerate().skip(from) {
                let texts: Vec<&str> = message.content.iter().filter_map(|part| part.as_text()).collect();
                let again = if index < shown { "again" } else { "new" };
                say(format!("{again:<5} {index} {:<9} {}", message.role.name(), texts.join(" ")));
            }
            shown = projector.messages().len();
        }
        if is_last {
            say(format!("{shown} messages; {} bytes were read", reader.log().io().bytes_read));
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
}
