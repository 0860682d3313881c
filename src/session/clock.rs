//! The session's one source of time and randomness, replaceable.

use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

/// Time and randomness as a session sees them.
pub trait Clock: Debug + Send + Sync {
    /// The wall clock, µs since the epoch (UTC). May go back; nothing depends on it but what people read.
    fn now(&self) -> i64;
    /// Bits that nobody can foresee; they fill the lower end of new ids.
    fn random(&self) -> u64;
}

/// The operating system's clock and randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let micros =
            since.map_or_else(|before| -(before.duration().as_micros() as i128), |after| after.as_micros() as i128);
        i64::try_from(micros).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u64 {
        // Ids stay unique without it: the bits above are a counter that rises over re-opens.
        getrandom::u64().unwrap_or(0)
    }
}
