//! The events of a run of frames, in order. Of a long run a second thread reads and checks the frames.

use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

use super::error::SessionError;
use super::read_event::event_of;
use crate::event::Event;
use crate::log::{Frame, LogError, LogView};

/// A shorter run is over before a thread would help, in bytes.
const RUN_MIN: u64 = 4 << 20;
/// Bytes of frames that are handed over together, at least.
const GROUP_MIN: u64 = 128 << 10;
/// Groups that may wait.
const WAITING: usize = 3;

/// A frame's place, and the event in it, which the log's own frames do not have.
pub(super) type Found = Result<(u64, Result<Option<Event>, SessionError>), LogError>;

type Read = Result<Frame, LogError>;

/// Shows the event of each of these frames, which begin at `from`, until `visit` has seen enough.
///
/// The second thread makes no events: what it took from the allocator would come from a heap of its own, which grows by one
/// call to the kernel after the other.
pub(super) fn each_event(
    log: &LogView,
    from: u64,
    frames: impl Iterator<Item = Read> + Send,
    mut visit: impl FnMut(Found) -> ControlFlow<()>,
) {
    let mut show = |frame: Read| visit(frame.map(|frame| (frame.offset(), event_of(log, &frame))));
    let own = Mutex::new(frames);
    let frames = &own;
    let mut alone = log.end().saturating_sub(from) < RUN_MIN;
    if !alone {
        scope(|scope| {
            let (ready, groups) = sync_channel(WAITING);
            let reads = move || hand_over(&mut *frames.lock().unwrap_or_else(PoisonError::into_inner), &ready);
            // Without a thread to be had, this one does it all.
            alone = Builder::new().name(String::from("seslog-check")).spawn_scoped(scope, reads).is_err();
            // Once nobody takes them any more, the thread ends with the group at hand.
            _ = groups.into_iter().try_for_each(|group| group.into_iter().try_for_each(&mut show));
        });
    }
    if alone {
        _ = own.into_inner().unwrap_or_else(PoisonError::into_inner).try_for_each(show);
    }
}

fn hand_over(frames: &mut impl Iterator<Item = Read>, ready: &SyncSender<Vec<Read>>) {
    loop {
        let mut group = Vec::new();
        let mut bytes = 0;
        while bytes < GROUP_MIN
            && let Some(frame) = frames.next()
        {
            bytes += frame.as_ref().map_or(0, |frame| frame.head().total_len());
            group.push(frame);
        }
        if group.is_empty() || ready.send(group).is_err() {
            return;
        }
    }
}
