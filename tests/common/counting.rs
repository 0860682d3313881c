//! Counts the bytes that a thread holds, and its allocations.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(unsafe_code, reason = "a counting allocator has to be one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the thread that asks holds, so that tests beside it do not matter.
pub struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that ends may free more once its counters are gone.
    _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        PEAK.with(|peak| peak.set(peak.get().max(held.get())));
        ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + u64::from(bytes > 0)));
    });
}

// SAFETY: every call goes to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of this very call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that is held at once while this runs, beyond what was held before, in bytes.
pub fn peak_of(run: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    run();
    usize::try_from(PEAK.get() - before).unwrap()
}

/// How often this thread asks for memory while this runs; an allocation that grows counts again.
pub fn allocations_of(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}
