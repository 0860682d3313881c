#![no_main]

use seslog_fuzz::mutate_log;

libfuzzer_sys::fuzz_target!(|data: &[u8]| seslog_fuzz::salvage(data));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], len: usize, len_max: usize, seed: u32| {
    mutate_log(data, len, len_max, seed)
});
