//! The session's one source of time and randomness, replaceable.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
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
        // One question to the operating system, then a sequence with a period of 2^64 (SplitMix64): the bits keep ids
        // of two processes apart, they keep no secret.
        static NEXT: OnceLock<AtomicU64> = OnceLock::new();
        let next = NEXT.get_or_init(|| AtomicU64::new(getrandom::u64().unwrap_or_else(|_| self.now() as u64)));
        let mut bits = next.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }
}
