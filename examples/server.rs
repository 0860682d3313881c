//! A server that keeps many sessions under few file handles: those that were used last are open, and one that is needed
//! again is opened again. `cargo run --release --example server`

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use seslog::event::{Message, Uuid};
use seslog::log::Durability;
use seslog::session::{Session, SessionError, SessionOptions, Store};

const SESSIONS: usize = 500;
const OPEN_MAX: usize = 32;
const ROUNDS: usize = 2;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    run(dir.path(), &mut |line| println!("{line}"))
}

/// Sessions, of which the last used ones are open. An open session holds one file handle.
struct Sessions {
    store: Store,
    open: HashMap<Uuid, (Session, u64)>,
    /// Counts uses, so that the one used longest ago is known.
    uses: u64,
    opened: u64,
}

impl Sessions {
    /// The session, opened if it is not. Where too many would be open, the one that was used longest ago is closed before: what
    /// was appended to it is safe, and its lock is free.
    fn get(&mut self, id: Uuid) -> Result<&Session, SessionError> {
        self.uses += 1;
        if !self.open.contains_key(&id) {
            if self.open.len() >= OPEN_MAX
                && let Some(oldest) = self.open.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| *id)
                && let Some((session, _)) = self.open.remove(&oldest)
            {
                session.close()?;
            }
            self.open.insert(id, (self.store.open(&id.to_string())?, self.uses));
            self.opened += 1;
        }
        let (session, used) = self.open.get_mut(&id).expect("it was put in if it was not there");
        *used = self.uses;
        Ok(session)
    }
}

/// File handles of this process, where the system tells.
fn handles() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count())
}

pub(crate) fn run(dir: &Path, say: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let store = Store::at(dir, SessionOptions::default());
    let before = handles();
    let mut ids = Vec::new();
    for _ in 0..SESSIONS {
        let session = store.create()?;
        ids.push(session.id());
        session.close()?;
    }
    let mut sessions = Sessions { store, open: HashMap::new(), uses: 0, opened: 0 };
    let mut most = 0;
    for round in 0..ROUNDS {
        for number in 0..SESSIONS {
            // Some are asked for more often than others, as people do.
            for &id in [&ids[number], &ids[number % 10]] {
                let message = Message::user(format!("request {round} for {number}"));
                let _ = sessions.get(id)?.append(message, Durability::Os)?;
                most = most.max(handles().zip(before).map_or(0, |(now, before)| now.saturating_sub(before)));
            }
        }
    }
    assert!(sessions.open.len() <= OPEN_MAX && most <= OPEN_MAX, "{most} handles");
    say(format!("{SESSIONS} sessions, {} requests: at most {most} handles more than before", sessions.uses));
    say(format!(
        "{} were answered by a session that was open, {} opened one",
        sessions.uses - sessions.opened,
        sessions.opened
    ));
    let mut events = 0;
    for id in ids {
        events += sessions.get(id)?.log().record_count()?;
    }
    say(format!("{events} events are in the sessions"));
    assert_eq!(events as usize, 2 * ROUNDS * SESSIONS, "an append to a session that was closed between goes on");
    for (session, _) in sessions.open.into_values() {
        session.close()?;
    }
    Ok(())
}
