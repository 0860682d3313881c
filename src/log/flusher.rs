//! The background thread of a writer: started at first need, gone once an idle log has its MARK.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use super::appender::Appender;
use super::durability::Chore;
use super::locked;

/// The thread, or none.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    pub(crate) running: bool,
    pub(crate) handle: Option<JoinHandle<()>>,
}

/// Starts the thread if it does not run. False if there is none to be had.
pub(crate) fn start(appender: &Arc<Appender>, flusher: &Arc<Mutex<Flusher>>) -> bool {
    let mut running = locked(flusher);
    if running.running {
        return true;
    }
    let (appender, state) = (appender.clone(), flusher.clone());
    let spawned =
        std::thread::Builder::new().name(String::from("seslog-flush")).spawn(move || flush(&appender, &state));
    running.running = spawned.is_ok();
    running.handle = spawned.ok();
    running.running
}

/// The background thread: bounds the unsynced window in bytes and time, serves those who wait, marks an idle log, and ends.
fn flush(appender: &Appender, state: &Mutex<Flusher>) {
    loop {
        let seen = appender.commit.bell.count();
        if appender.stop.load(Ordering::Acquire) {
            break;
        }
        match appender.commit.chore() {
            // Errors poison the log, and whoever waits hears of them there.
            Chore::Sync => drop(appender.commit.sync_written()),
            Chore::Mark => {
                if appender.mark().is_err() {
                    break;
                }
            }
            Chore::Wait(Some(until)) => appender.view.fs.wait(&appender.commit.bell, seen, Some(until)),
            Chore::Wait(None) | Chore::Stop => {
                // An append looks at `running` after it has left its work: either it sees the end, or this sees the work.
                let mut flusher = locked(state);
                if matches!(appender.commit.chore(), Chore::Wait(None) | Chore::Stop) {
                    flusher.running = false;
                    return;
                }
            }
        }
    }
    locked(state).running = false;
}
