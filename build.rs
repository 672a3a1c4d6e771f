//! Links the program that the tests start so that it starts quickly.

#![expect(clippy::disallowed_methods, reason = "a build script is told by the environment what is built")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let is_usual_linux = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    // A debug build has 130,000 addresses that would be relocated at every start, on pages of their own for each process.
    // That is a third of the time of a short command, and the tests start it thousands of times. The shipped build is not
    // relocated either; `.cargo/config.toml` says so.
    if is("PROFILE", "debug") && is_usual_linux {
        println!("cargo::rustc-link-arg-bin=ckpt=-no-pie");
    }
}
