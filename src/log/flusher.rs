//! The background thread of a writer: started at first need, gone once an idle log has its MARK.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::appender::Appender;
use super::durability::{Chore, Commit};
use super::error::LogError;
use super::sync::{Builder, JoinHandle, Mutex, current, locked};

/// What the thread works on.
pub(crate) trait Work {
    fn commit(&self) -> &Commit;
    /// The writer is being closed.
    fn is_stopped(&self) -> bool;
    fn mark(&self) -> Result<(), LogError>;
    fn wait(&self, seen: u64, until: Option<Duration>);
}

impl Work for Appender {
    fn commit(&self) -> &Commit {
        &self.commit
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn mark(&self) -> Result<(), LogError> {
        Self::mark(self)
    }

    fn wait(&self, seen: u64, until: Option<Duration>) {
        self.view.fs.wait(&self.commit.bell, seen, until);
    }
}

#[derive(Debug, Default)]
struct Thread {
    running: bool,
    handle: Option<JoinHandle<()>>,
}

/// The thread, or none.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    thread: Mutex<Thread>,
}

impl Flusher {
    /// Starts the thread if it does not run. False if there is none to be had.
    pub(crate) fn start<W: Work + Send + Sync + 'static>(self: &Arc<Self>, work: &Arc<W>) -> bool {
        let mut thread = locked(&self.thread);
        if !thread.running {
            let (flusher, work) = (self.clone(), work.clone());
            let spawned: io::Result<_> =
                Builder::new().name(String::from("seslog-flush")).spawn(move || flusher.serve(&*work));
            thread.running = spawned.is_ok();
            thread.handle = spawned.ok();
        }
        thread.running
    }

    /// Has those told whose wait is over: by the thread, since the caller may hold locks of its own; without one, here.
    pub(crate) fn tell(&self, commit: &Commit) {
        if !commit.has_ready() {
            return;
        }
        if locked(&self.thread).running {
            commit.bell.ring();
        } else {
            commit.wake();
        }
    }

    /// Waits for the thread's end. The writer is stopped and the bell has rung.
    pub(crate) fn join(&self) {
        let handle = locked(&self.thread).handle.take();
        // Whoever was told by the thread may have dropped the writer right there; it ends when it has told everybody.
        if let Some(handle) = handle.filter(|handle| handle.thread().id() != current().id()) {
            let _ = handle.join();
        }
    }

    /// What the thread does: it bounds the unsynced window in bytes and time, serves those who wait, marks an idle log, and
    /// ends.
    fn serve(&self, work: &impl Work) {
        let mut ending = Ending { flusher: self, commit: work.commit(), in_order: false };
        loop {
            let seen = work.commit().bell.count();
            if work.is_stopped() {
                break;
            }
            match work.commit().chore() {
                Chore::Wake => work.commit().wake(),
                // Errors poison the log, and whoever waits hears of them there.
                Chore::Write => drop(work.commit().flush()),
                Chore::Sync => drop(work.commit().sync_appended()),
                Chore::Mark => {
                    if work.mark().is_err() {
                        work.commit().give_up_mark();
                    }
                }
                Chore::Wait(Some(until)) => work.wait(seen, Some(until)),
                Chore::Wait(None) | Chore::Stop => {
                    // An append looks at `running` after it has left its work: either it sees the end, or this sees the work.
                    let mut thread = locked(&self.thread);
                    if matches!(work.commit().chore(), Chore::Wait(None) | Chore::Stop) {
                        thread.running = false;
                        break;
                    }
                }
            }
        }
        ending.in_order = true;
    }
}

/// The thread's end. If it is a panic, whoever waits must not wait for what nobody will do.
struct Ending<'a> {
    flusher: &'a Flusher,
    commit: &'a Commit,
    in_order: bool,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.in_order {
            self.commit.poison(0);
            locked(&self.flusher.thread).running = false;
            self.commit.wake();
        }
    }
}
