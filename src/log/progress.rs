//! How far a log's end has come: appended, held back, written, durable. FORMAT.md section 9.

use std::task::Waker;
use std::time::Duration;

use super::company::Company;
use super::tail::HELD_ENOUGH;

/// How long bytes are held back, at most.
pub(super) const HELD_FOR: Duration = Duration::from_millis(50);

/// Range of bytes of which nobody knows whether they are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Poison {
    pub(super) from: u64,
    pub(super) to: u64,
}

#[derive(Debug)]
pub(super) struct Progress {
    /// End of the last batch that was written whole.
    pub(super) written: u64,
    /// What is held back; what is written is no longer held.
    pub(super) held: Option<HeldBack>,
    /// Own syncs have covered everything up to here.
    pub(super) durable: u64,
    /// A sync is under way, or begins.
    pub(super) syncing: bool,
    pub(super) company: Company,
    pub(super) poison: Option<Poison>,
    /// Somebody waits for the file to be durable up to here.
    pub(super) wanted: u64,
    /// When the oldest byte that is not durable was written.
    pub(super) oldest: Option<Duration>,
    /// When it was last seen that the file still has a name.
    pub(super) named_at: Option<Duration>,
    /// When the flusher looks for work by itself, unless somebody rings.
    pub(super) looks_at: Option<Duration>,
    /// When the last append came, if no MARK stands behind it.
    pub(super) unmarked_since: Option<Duration>,
    /// After a sync that covers this place, the end of an INDEX, the slot is to be written.
    pub(super) slot_due: Option<u64>,
    /// Who waits for a receipt without a thread, and for which place.
    pub(super) wakers: Vec<(u64, Waker)>,
    /// Whose wait is over and who has not been told yet.
    pub(super) ready: Vec<Waker>,
}

/// Batches that are not in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldBack {
    /// End of the last one.
    pub(super) end: u64,
    /// Since when there are any.
    pub(super) since: Duration,
    /// As many bytes as are worth a write at once.
    pub(super) is_enough: bool,
}

impl Progress {
    /// Everything up to here is written and durable.
    pub(super) fn from(start: u64) -> Self {
        Self {
            written: start,
            held: None,
            durable: start,
            syncing: false,
            company: Company::default(),
            poison: None,
            wanted: 0,
            oldest: None,
            named_at: None,
            looks_at: None,
            unmarked_since: None,
            slot_due: None,
            wakers: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// End of what was appended.
    pub(super) fn end(&self) -> u64 {
        self.held.map_or(self.written, |held| held.end.max(self.written))
    }

    /// A batch that ends at `end` is held back now, where so many bytes are held. Whether the flusher is to be rung: once for what
    /// is held from now on, where it would look too late, and once when that is enough for a write.
    pub(super) fn holds(&mut self, end: u64, len: usize, now: Duration) -> bool {
        let before = self.held;
        let since = before.map_or(now, |held| held.since);
        let is_enough = len >= HELD_ENOUGH;
        self.held = Some(HeldBack { end, since, is_enough });
        self.unmarked_since = Some(now);
        let is_late = self.looks_at.is_some_and(|at| at > since + HELD_FOR);
        let rings = is_late || is_enough && !before.is_some_and(|held| held.is_enough);
        self.looks_at = self.looks_at.filter(|_| !rings);
        rings
    }

    /// What was held when a write began is written up to `end`; so many bytes have come meanwhile.
    pub(super) fn flushed(&mut self, end: u64, left: usize, begun: Duration) {
        self.written = end;
        let behind = |held| HeldBack { since: begun, is_enough: left >= HELD_ENOUGH, ..held };
        self.held = self.held.filter(|_| left > 0).map(behind);
        self.oldest.get_or_insert(begun);
    }
}
