//! A second thread that reads and checks the frames of a long run while the first one looks at those before.
//!
//! A help only: where the chain ends, where reading fails, and in front of a large frame, the thread ends. Who asks goes on from
//! there by itself, and meets what is wrong.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::frame::{Decoded, Frame};
use super::load::load_header;
use super::scan::{Step, Walk};
use super::source::{ReadAhead, Source};

/// A shorter run is over before the thread would help, in bytes.
const RUN_MIN: u64 = 4 << 20;
/// Bytes of frames that are handed over together, at first and at most: each handing over may wake the other thread, which costs
/// as much as to read many frames, but who looks at the first ones only is to wait for no more.
const TOGETHER_MIN: u64 = 64 << 10;
const TOGETHER_MAX: u64 = 1 << 20;
/// A frame of more bytes is held by nobody but who asks for it.
pub(super) const FRAME_MAX: u64 = 8 << 20;

/// The frames of one run, in order.
#[derive(Debug)]
pub(super) struct FramesAhead {
    ready: Option<Receiver<Ready>>,
    thread: Option<JoinHandle<()>>,
}

/// Whole batches, one after the other, and where the walk stands behind them.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) frames: Vec<Frame>,
    pub(super) walk: Walk,
}

impl FramesAhead {
    /// Begins to read where the walk stands. None where the run is short, or there is no thread to be had.
    pub(super) fn start(source: &Arc<Source>, walk: &Walk, end: u64) -> Option<Self> {
        if end.saturating_sub(walk.at) < RUN_MIN {
            return None;
        }
        let (sender, ready) = sync_channel(1);
        let (source, walk) = (source.clone(), walk.clone());
        let reads = move || read_frames(&source, walk, end, &sender);
        let thread = Builder::new().name(String::from("seslog-read")).spawn(reads).ok()?;
        Some(Self { ready: Some(ready), thread: Some(thread) })
    }

    /// The next frames; none where the thread has ended.
    pub(super) fn next(&mut self) -> Option<Ready> {
        self.ready.as_ref()?.recv().ok()
    }
}

impl Drop for FramesAhead {
    fn drop(&mut self) {
        // Without a receiver the thread ends with the frames at hand. It does not outlive the run, nor keep the file open.
        drop(self.ready.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_frames(source: &Source, mut walk: Walk, end: u64, ready: &SyncSender<Ready>) {
    let mut pages = ReadAhead::run(source, walk.at, end);
    let mut together = TOGETHER_MIN;
    loop {
        let (from, mut frames, mut goes_on) = (walk.at, Vec::new(), true);
        while goes_on && walk.at - from < together {
            goes_on = step(&mut walk, &mut pages, &mut frames);
        }
        if ready.send(Ready { frames, walk: walk.clone() }).is_err() || !goes_on {
            return;
        }
        together = (together * 2).min(TOGETHER_MAX);
    }
}

/// Goes on by one batch. False where the thread ends.
fn step(walk: &mut Walk, pages: &mut ReadAhead<'_>, frames: &mut Vec<Frame>) -> bool {
    match load_header(pages, walk.at, walk.rules) {
        Ok(Decoded::Whole(head)) if head.total_len() <= FRAME_MAX => {}
        _ => return false,
    }
    let from = walk.at;
    match walk.step_without_search(pages) {
        Ok(Step::Frames { frames: batch, .. }) => frames.extend(batch),
        _ => return false,
    }
    walk.at - from <= FRAME_MAX
}
