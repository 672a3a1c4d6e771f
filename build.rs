//! Links the program so that it starts quickly.

#![expect(clippy::disallowed_methods, reason = "a build script is told by the environment what is built")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // Otherwise thousands of addresses are relocated at every start, on pages of their own for each process. Here and
    // not in `.cargo/config.toml`, which `cargo install` does not read; that file has the flags of the static build.
    let arch = is("CARGO_CFG_TARGET_ARCH", "x86_64") || is("CARGO_CFG_TARGET_ARCH", "aarch64");
    if arch && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=ckpt=-no-pie");
    }
}
