//! A long file's second half, checked by a second thread while the first one is: for who wants of each frame only its head.
//!
//! A help only. What the second thread accepted counts where the walk from the start comes to just the place from which it went,
//! with just the chain that its first frame names: so a walk alone would have accepted the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, scope};

use super::error::LogError;
use super::frame::{Decoded, FrameHead, Rules};
use super::load::load_header;
use super::scan::{Markers, Walk};
use super::source::{ReadAhead, Source};

/// A shorter file is checked before a thread would help.
const LEN_MIN: u64 = 4 << 20;
/// How far a place to begin from is looked for: large records are rarely longer.
const SEARCH_MAX: u64 = 8 << 20;

/// Walks on as far as the frames are whole and fit, at most to `end`, and gives their heads. No frame is held longer than it is
/// checked, a large one never as a whole. The walk stands where a single one would stand.
///
/// # Errors
/// `Io`, and what else reading before that place gives.
pub(super) fn heads(source: &Source, walk: &mut Walk, end: u64) -> Result<Vec<FrameHead>, LogError> {
    let mut heads = Vec::new();
    let stop = AtomicBool::new(false);
    let Some(middle) = middle(source, walk.rules, walk.at, end) else {
        run(source, walk, end, end, &stop, &mut heads)?;
        return Ok(heads);
    };
    let mut second = Walk { at: middle, chain: None, rules: walk.rules };
    scope(|scope| {
        let stop = &stop;
        let ahead = move || {
            let mut heads = Vec::new();
            // What can't be read there is met again by who goes on from here.
            run(source, &mut second, end, end, stop, &mut heads).ok().map(|()| (second, heads))
        };
        let ahead = Builder::new().name(String::from("seslog-read")).spawn_scoped(scope, ahead).ok();
        let mut own = walk.clone();
        let done = run(source, &mut own, middle, end, stop, &mut heads);
        // It is of no use where the first half does not lead to it, and is not waited for.
        let leads = done.is_ok() && own.at == middle;
        stop.store(!leads, Ordering::Relaxed);
        let second = ahead.and_then(|thread| thread.join().ok().flatten()).filter(|_| leads);
        done?;
        if let Some((went, more)) = second
            && more.first().is_some_and(|first| own.chain == Some(first.chain))
        {
            heads.extend(more);
            own = went;
        }
        *walk = own;
        Ok(heads)
    })
}

fn run(
    source: &Source,
    walk: &mut Walk,
    until: u64,
    end: u64,
    stop: &AtomicBool,
    heads: &mut Vec<FrameHead>,
) -> Result<(), LogError> {
    let mut pages = ReadAhead::run(source, walk.at, end);
    while walk.at < until && !stop.load(Ordering::Relaxed) {
        match walk.step_over(&mut pages)? {
            Some(group) => heads.extend(group),
            None => break,
        }
    }
    Ok(())
}

/// The end of a batch near the middle, by the looks of it.
fn middle(source: &Source, rules: Rules, from: u64, end: u64) -> Option<u64> {
    let len = end.checked_sub(from).filter(|len| *len >= LEN_MIN)?;
    let mut pages = ReadAhead::new(source, end);
    let mut markers = Markers::new(from + len / 2, (from + len / 2 + SEARCH_MAX).min(end));
    while let Some(offset) = markers.next(&mut pages).ok()? {
        if let Decoded::Whole(head) = load_header(&mut pages, offset, rules).ok()? {
            if !head.batch_goes_on() {
                return Some(head.next_offset()).filter(|next| *next < end);
            }
            markers.skip_to(head.next_offset());
        }
    }
    None
}
