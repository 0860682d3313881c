//! What the targets share, compiled once: the promises of `tests/fuzz_support`, and a mutator for logs.

#![allow(unreachable_pub, reason = "the targets are crates of their own")]

#[path = "../../tests/fuzz_support/mod.rs"]
mod fuzz_support;

pub use fuzz_support::{
    claude_lines, codex_lines, event_decode, frame, neutral_lines, open_log, operations, pi_lines, salvage, two_readers,
};

use fuzz_support::{Random, change_input};

/// Changes an input of a log's target: each second time by whole frames, else as libFuzzer does.
pub fn mutate_log(data: &mut [u8], len: usize, len_max: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed));
    if random.below(2) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, len, len_max);
    }
    let changed = change_input(&data[..len], &mut random);
    if changed.len() > len_max {
        return libfuzzer_sys::fuzzer_mutate(data, len, len_max);
    }
    data[..changed.len()].copy_from_slice(&changed);
    changed.len()
}
