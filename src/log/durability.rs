//! When bytes are on the disk: sync levels, one sync for all that wait, receipts, and the poisoned state. FORMAT.md section 9.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::company::{GATHER_FOR, GATHER_TURNS};
use super::counters::Counters;
use super::error::LogError;
use super::format as f;
use super::fs::{Bell, Fs, FsFile};
use super::header::encode_watermark;
use super::progress::{HELD_FOR, Poison, Progress};
use super::sync::{Condvar, Mutex, MutexGuard, locked, wait, yield_now};
use super::tail::Tail;

/// What writer, flusher and receipts share. No lock of the writer is held while it syncs.
#[derive(Debug)]
pub(crate) struct Commit {
    fs: Arc<dyn Fs>,
    path: PathBuf,
    file: Arc<dyn FsFile>,
    file_tag: u32,
    counters: Arc<Counters>,
    tail: Arc<Tail>,
    process_id: u32,
    /// The same as `durable`, for readers of this process.
    durable_seen: Arc<AtomicU64>,
    progress: Mutex<Progress>,
    /// Whether `ready` holds anybody: looked at by each append, which has no other need of the lock.
    has_ready: AtomicBool,
    done: Condvar,
    pub(crate) bell: Arc<Bell>,
    window_bytes: u64,
    window: Duration,
}

/// How far a log has come, in bytes from the start of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// End of the last batch, be it written or held back.
    pub(crate) end: u64,
    /// Own syncs have covered everything up to here.
    pub(crate) durable: u64,
    /// Since when there is something held back.
    held_since: Option<Duration>,
}

/// What the flusher has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Tell those whose wait is over.
    Wake,
    /// Write what is held back.
    Write,
    Sync,
    Mark,
    Wait(Option<Duration>),
    /// Nothing will ever be to do again.
    Stop,
}

impl Commit {
    pub(crate) fn new(
        fs: Arc<dyn Fs>,
        tail: Arc<Tail>,
        file_tag: u32,
        durable: Arc<AtomicU64>,
        window: (u64, Duration),
    ) -> Self {
        let start = durable.load(Ordering::Acquire);
        Self {
            process_id: fs.process_id(),
            fs,
            path: tail.path.clone(),
            file: tail.file.clone(),
            file_tag,
            counters: tail.counters.clone(),
            tail,
            durable_seen: durable,
            progress: Mutex::new(Progress::from(start)),
            has_ready: AtomicBool::new(false),
            done: Condvar::new(),
            bell: Arc::default(),
            window_bytes: window.0,
            window: window.1,
        }
    }

    fn poisoned(&self, poison: Poison) -> LogError {
        LogError::Poisoned { path: self.path.clone(), from: poison.from, to: poison.to }
    }

    /// An error once something has failed.
    pub(crate) fn check(&self) -> Result<(), LogError> {
        self.standing().map(drop)
    }

    /// How far the log has come; an error once something has failed.
    pub(crate) fn standing(&self) -> Result<Standing, LogError> {
        let progress = locked(&self.progress);
        match progress.poison {
            Some(poison) => Err(self.poisoned(poison)),
            None => {
                let held_since = progress.held.map(|held| held.since);
                Ok(Standing { end: progress.end(), durable: progress.durable, held_since })
            }
        }
    }

    /// Nothing is written or synced any more. `to` is the end of what was being written.
    pub(crate) fn poison(&self, to: u64) {
        self.poison_with(locked(&self.progress), to);
    }

    fn poison_with(&self, mut progress: MutexGuard<'_, Progress>, to: u64) {
        let poison = Poison { from: progress.durable, to: to.max(progress.end()) };
        progress.poison.get_or_insert(poison);
        let over = std::mem::take(&mut progress.wakers);
        self.are_ready(&mut progress, over);
        drop(progress);
        self.done.notify_all();
        self.bell.ring();
    }

    /// The wait of these is over.
    fn are_ready(&self, progress: &mut Progress, over: Vec<(u64, Waker)>) {
        progress.ready.extend(over.into_iter().map(|(_, waker)| waker));
        self.has_ready.store(!progress.ready.is_empty(), Ordering::Release);
    }

    /// Poisons the log if what begins now does not come to its end: it fails, or it panics.
    pub(crate) fn armed(&self, to: u64) -> Armed<'_> {
        Armed { commit: self, to }
    }

    /// Whether somebody whose wait is over has not been told.
    pub(crate) fn has_ready(&self) -> bool {
        self.has_ready.load(Ordering::Acquire)
    }

    /// Tells those whose wait is over. That runs code of others, which may use the log: the caller holds no lock of it.
    pub(crate) fn wake(&self) {
        let mut progress = locked(&self.progress);
        let ready = std::mem::take(&mut progress.ready);
        self.has_ready.store(false, Ordering::Release);
        drop(progress);
        for waker in ready {
            // A panic in there is not the log's, and keeps nobody else from being told.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }

    pub(crate) fn durable(&self) -> u64 {
        locked(&self.progress).durable
    }

    /// A batch, whole, now ends at `end`. `urgent`: somebody waits for it. `marks`: it is a MARK.
    pub(crate) fn wrote(&self, end: u64, urgent: bool, marks: bool) {
        let mut progress = locked(&self.progress);
        progress.written = end;
        progress.held = None;
        let now = self.fs.monotonic();
        progress.oldest.get_or_insert(now);
        progress.unmarked_since = if marks { None } else { Some(now) };
        // The flusher looks again by itself, at the latest a window after it last looked. It is woken where somebody waits
        // whom it does not serve yet, and where the window is full: not at each append.
        let unserved = urgent && progress.wanted <= progress.durable;
        let full = end - progress.durable >= self.window_bytes && !progress.syncing;
        if urgent {
            progress.wanted = progress.wanted.max(end);
        }
        drop(progress);
        if unserved || full {
            self.bell.ring();
        }
    }

    /// Whether bytes have been held back for as long as they may: the thread in the background is busy with a sync.
    pub(crate) fn has_held_long(&self, standing: Standing) -> bool {
        standing.held_since.is_some_and(|since| self.fs.monotonic().saturating_sub(since) >= HELD_FOR)
    }

    /// A batch, whole, now ends at `end` and is held back in memory, where so many bytes are held now.
    pub(crate) fn holds(&self, end: u64, len: usize) {
        let mut progress = locked(&self.progress);
        let now = self.fs.monotonic();
        let rings = progress.holds(end, len, now);
        drop(progress);
        if rings {
            self.bell.ring();
        }
    }

    /// A forked child has a copy of the memory, and must not write it, nor the slot.
    fn check_process(&self) -> Result<(), LogError> {
        match self.process_id == self.fs.process_id() {
            true => Ok(()),
            false => Err(LogError::ForkedProcess { path: self.path.clone() }),
        }
    }

    /// Writes what is held back.
    pub(crate) fn flush(&self) -> Result<(), LogError> {
        self.check()?;
        self.check_process()?;
        let armed = self.armed(0);
        let begun = self.fs.monotonic();
        self.tail.flush(|end, left| {
            locked(&self.progress).flushed(end, left, begun);
        })?;
        armed.done();
        Ok(())
    }

    /// Whether everything up to `end` is durable by now; if not, the waker is told once it is, or once nobody can tell.
    pub(crate) fn poll(&self, end: u64, waker: Waker) -> Poll<Result<(), LogError>> {
        let mut progress = locked(&self.progress);
        if progress.durable >= end {
            return Poll::Ready(Ok(()));
        }
        if let Some(poison) = progress.poison {
            return Poll::Ready(Err(self.poisoned(poison)));
        }
        if !progress.wakers.iter().any(|(target, known)| *target == end && known.will_wake(&waker)) {
            progress.wakers.push((end, waker));
        }
        Poll::Pending
    }

    /// The slot is to be written once everything up to here is durable.
    pub(crate) fn slot_after(&self, end: u64) {
        locked(&self.progress).slot_due = Some(end);
    }

    /// Bytes that are appended and not durable.
    pub(crate) fn unsynced(&self) -> u64 {
        let progress = locked(&self.progress);
        progress.end() - progress.durable
    }

    /// Makes everything durable that is appended by now.
    pub(crate) fn sync_appended(&self) -> Result<(), LogError> {
        let target = locked(&self.progress).end();
        self.check()?;
        self.sync_until(target)
    }

    /// Returns when everything up to `target` is durable: by waiting for a sync that is under way, and by syncing itself.
    pub(crate) fn sync_to(&self, target: u64) -> Result<(), LogError> {
        locked(&self.progress).company.comes(target);
        let outcome = self.sync_until(target);
        locked(&self.progress).company.goes(target);
        outcome
    }

    fn sync_until(&self, target: u64) -> Result<(), LogError> {
        let mut progress = locked(&self.progress);
        loop {
            if progress.durable >= target {
                return Ok(());
            }
            if let Some(poison) = progress.poison {
                return Err(self.poisoned(poison));
            }
            self.check_process()?;
            if progress.held.is_some() && progress.written < target {
                drop(progress);
                self.flush()?;
                progress = locked(&self.progress);
                continue;
            }
            if progress.syncing {
                progress = wait(&self.done, progress);
                continue;
            }
            let begun = self.fs.monotonic();
            progress.syncing = true;
            // From here on: the kernel may call lost pages clean after a failure, so a second sync would prove nothing.
            let armed = self.armed(progress.written);
            progress = self.gather(progress, begun);
            // Only what was there whole when the sync began is covered by it.
            let goal = progress.written;
            let look = self.name_is_due(&mut progress, begun);
            drop(progress);
            self.counters.synced();
            self.file.sync_data().map_err(|source| LogError::io(&self.path, "sync", goal, source))?;
            if look {
                self.check_named()?;
            }
            armed.done();
            progress = locked(&self.progress);
            progress.syncing = false;
            let threadless = progress.wakers.len();
            progress.company.served(goal, threadless);
            let slot = progress.slot_due.take_if(|end| *end <= goal);
            progress.durable = goal;
            progress.oldest = (progress.written > goal).then_some(begun);
            self.durable_seen.store(goal, Ordering::Release);
            let (over, waiting): (Vec<_>, Vec<_>) =
                std::mem::take(&mut progress.wakers).into_iter().partition(|(target, _)| *target <= goal);
            progress.wakers = waiting;
            self.are_ready(&mut progress, over);
            drop(progress);
            self.done.notify_all();
            if slot.is_some() {
                self.write_slot(goal)?;
            }
            progress = locked(&self.progress);
        }
    }

    /// Gives those a moment who may come back together before a sync begins.
    fn gather<'a>(&'a self, mut progress: MutexGuard<'a, Progress>, begun: Duration) -> MutexGuard<'a, Progress> {
        for _ in 0..GATHER_TURNS {
            let is_over = || self.fs.monotonic().saturating_sub(begun) >= GATHER_FOR;
            if progress.company.is_complete(progress.wakers.len()) || is_over() {
                break;
            }
            drop(progress);
            yield_now();
            progress = locked(&self.progress);
        }
        progress
    }

    /// Whether it is time to look whether the file was removed, or replaced by another one of its name: then what is synced
    /// is found by nobody. Once in a window, since a look makes the next write cost more.
    fn name_is_due(&self, progress: &mut Progress, now: Duration) -> bool {
        if progress.named_at.is_some_and(|at| now.saturating_sub(at) < self.window) {
            return false;
        }
        progress.named_at = Some(now);
        true
    }

    /// An error if nobody can find the file any more. An error of the look itself says nothing about what is durable.
    pub(crate) fn check_named(&self) -> Result<(), LogError> {
        if self.file.is_named().unwrap_or(true) { Ok(()) } else { Err(self.nameless()) }
    }

    fn nameless(&self) -> LogError {
        LogError::Replaced {
            path: self.path.clone(),
            expected: String::from("the file that was opened"),
            found: String::from("one without a name, removed or replaced"),
        }
    }

    /// Writes the watermark slot. It speaks of what is durable already, so it is not synced.
    pub(crate) fn write_slot(&self, durable_end: u64) -> Result<(), LogError> {
        let slot = encode_watermark(durable_end, self.file_tag);
        super::piece::write_all(&*self.file, &self.counters, &slot, f::WATERMARK_OFFSET).map_err(|source| {
            self.poison(0);
            LogError::io(&self.path, "write the watermark", f::WATERMARK_OFFSET, source)
        })
    }

    /// The MARK could not be written although the log is not poisoned; the next append asks for one again.
    pub(crate) fn give_up_mark(&self) {
        locked(&self.progress).unmarked_since = None;
    }

    /// What the flusher has to do now.
    pub(crate) fn chore(&self) -> Chore {
        let mut progress = locked(&self.progress);
        let chore = self.chore_of(&progress);
        progress.looks_at = match chore {
            Chore::Wait(until) => until,
            _ => None,
        };
        chore
    }

    fn chore_of(&self, progress: &Progress) -> Chore {
        if !progress.ready.is_empty() {
            return Chore::Wake;
        }
        // Of another process's log there is nothing to do, ever.
        if progress.poison.is_some() || self.check_process().is_err() {
            return Chore::Stop;
        }
        let now = self.fs.monotonic();
        let write_at = progress.held.map(|held| if held.is_enough { now } else { held.since + HELD_FOR });
        let unsynced = progress.written - progress.durable;
        let sync_at = progress.oldest.filter(|_| unsynced > 0).map(|oldest| oldest + self.window);
        let mark_at = progress.unmarked_since.map(|since| since + self.window);
        let urgent = progress.wanted > progress.durable || unsynced >= self.window_bytes;
        if write_at.is_some_and(|at| at <= now) {
            Chore::Write
        } else if mark_at.is_some_and(|at| at <= now) {
            Chore::Mark
        } else if unsynced > 0 && (urgent || sync_at.is_some_and(|at| at <= now)) {
            Chore::Sync
        } else {
            Chore::Wait(write_at.into_iter().chain(sync_at).chain(mark_at).min())
        }
    }
}

/// Something under way that must not stop half-way. See [`Commit::armed`].
#[derive(Debug)]
pub(crate) struct Armed<'a> {
    commit: &'a Commit,
    to: u64,
}

impl Armed<'_> {
    /// It came to its end.
    pub(crate) fn done(self) {
        std::mem::forget(self);
    }
}

impl Drop for Armed<'_> {
    fn drop(&mut self) {
        self.commit.poison(self.to);
    }
}
