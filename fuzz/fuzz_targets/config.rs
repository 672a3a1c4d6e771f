#![no_main]
#[path = "../../tests/it/fuzz/properties.rs"]
mod properties;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::config(bytes));
