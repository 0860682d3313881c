//! A clock that runs evenly and a randomness that counts, so that a run is always the same.

use std::sync::atomic::{AtomicU64, Ordering};

use seslog::session::Clock;

#[derive(Debug, Default)]
pub struct EvenClock(AtomicU64);

impl EvenClock {
    /// One that began so many µs ago.
    pub fn since(micros: u64) -> Self {
        Self(AtomicU64::new(micros))
    }
}

impl Clock for EvenClock {
    fn now(&self) -> i64 {
        1_764_450_000_000_000 + self.0.fetch_add(700, Ordering::Relaxed) as i64
    }

    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}
