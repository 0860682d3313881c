//! The same work on many items, in as many threads as pay.

/// More threads than this wait for the same directory.
const THREADS_MAX: usize = 8;

/// Does the work on each item, in threads that get `least` items or more, and gives the results in the order of the items.
pub(super) fn spread<T: Sync, R: Send>(items: &[T], least: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = match items.len() / least.max(1) {
        0 | 1 => 1,
        paying => std::thread::available_parallelism().map_or(1, usize::from).min(paying).min(THREADS_MAX),
    };
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    let work = &work;
    let (own, others) = items.split_at(items.len() / threads);
    std::thread::scope(|scope| {
        let others = others.chunks(others.len().div_ceil(threads - 1).max(1));
        let started: Vec<_> = others
            .map(|part| {
                let run = move || part.iter().map(work).collect::<Vec<R>>();
                // Where there is no thread to be had, the work is done here in its turn.
                (part, std::thread::Builder::new().spawn_scoped(scope, run))
            })
            .collect();
        let mut done: Vec<R> = Vec::with_capacity(items.len());
        done.extend(own.iter().map(work));
        for (part, thread) in started {
            match thread {
                Ok(thread) => match thread.join() {
                    Ok(results) => done.extend(results),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                Err(_) => done.extend(part.iter().map(work)),
            }
        }
        done
    })
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
