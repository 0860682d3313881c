//! Locks and threads of the receipt protocol: the standard library's, and `loom`'s where `loom_models.rs` goes through all orders
//! in which threads can meet (`--cfg loom`). The rest of the floor names the standard library directly.

#[cfg(not(all(test, loom)))]
mod chosen {
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread::{Builder, JoinHandle, current, yield_now};
}

#[cfg(all(test, loom))]
mod chosen {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread::{Builder, JoinHandle, current, yield_now};
}

pub(crate) use chosen::{Builder, Condvar, JoinHandle, Mutex, MutexGuard, current, yield_now};

use std::sync::PoisonError;

/// Locks a mutex; see [`super::locked`].
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits to be notified; may return early.
pub(crate) fn wait<'a, T>(condvar: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
