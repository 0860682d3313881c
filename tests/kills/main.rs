//! Writers that are killed by SIGKILL at random moments, again and again on the same file: what was acknowledged is there,
//! in order, and whole batches only, whatever the writer was doing; and a reader that follows all the while sees nothing else.
//!
//! 200 kills in an ordinary run. `SESLOG_KILLS=5000 cargo test --release --test kills -- --nocapture` makes it so many;
//! `SESLOG_SEED` repeats a run's choices (not its timing).
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod child;
mod follower;
mod log_kills;
#[cfg(feature = "cli")]
mod program;
mod records;
mod session_kills;

#[cfg(feature = "cli")]
#[path = "../cli_support/mod.rs"]
mod cli_support;

use std::sync::OnceLock;

/// Of a hundred kills, how many a test makes.
fn kills(percent: u64) -> u64 {
    let all: u64 = std::env::var("SESLOG_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(200);
    (all * percent).div_ceil(100)
}

/// The run's seed, printed once.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let given = std::env::var("SESLOG_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or(20_261_129);
        println!("SESLOG_SEED={seed}");
        seed
    })
}

/// Numbers that look random and come again with their seed.
struct Random(u64);

impl Random {
    fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self((seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1);
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}
