#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| seslog_fuzz::pi_lines(data));
