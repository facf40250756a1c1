#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| vyre_fuzz::target("decode").hold(bytes));
