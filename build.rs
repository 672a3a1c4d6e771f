//! Puts the functions that every run needs side by side in the static program. See `benches/hot.sh`.
#![expect(clippy::disallowed_methods, reason = "this is how cargo tells what it builds")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=benches/hot.ld");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "musl") {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/hot.ld");
        println!("cargo::rustc-link-arg-bin=ckpt=-Wl,-T,{script}");
    }
}
