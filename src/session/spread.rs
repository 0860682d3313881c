//! The same work on many items, in as many threads as pay.

use std::sync::{Mutex, PoisonError};

/// More threads than this wait for the same directory.
const THREADS_MAX: usize = 8;

/// Does the work on each item and gives the results in the order of the items. Threads take pieces of `piece_len` items, one
/// after the other, so that one that gets no processor for a while holds up no more than its piece.
pub(super) fn spread<T: Sync, R: Send>(items: &[T], piece_len: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let pieces = items.chunks(piece_len.max(1));
    let threads = match pieces.len() {
        0 | 1 => 1,
        paying => std::thread::available_parallelism().map_or(1, usize::from).min(paying).min(THREADS_MAX),
    };
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    let left = Mutex::new(pieces.enumerate());
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut done: Vec<(usize, Vec<R>)> = Vec::new();
        while let Some((number, piece)) = take() {
            done.push((number, piece.iter().map(&work).collect()));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        // Where there is no thread to be had, the others do the work.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, run).ok();
        let started: Vec<_> = (1..threads).filter_map(start).collect();
        let mut done = run();
        for thread in started {
            done.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    let mut results = Vec::with_capacity(items.len());
    done.into_iter().for_each(|(_, piece)| results.extend(piece));
    results
}

/// Does two things, at the same time if that is worth a thread and there is one to be had.
pub(super) fn beside<A: Send, B>(is_worth: bool, one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    if !is_worth {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, &one);
        let other = other();
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => (result, other),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => (one(), other),
        }
    })
}
