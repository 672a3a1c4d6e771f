//! `examples/quick-start.sh`, the first command of the README.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::program::CKPT;
use crate::support::project::World;
use crate::support::terminal::Terminal;
use ckpt::pages::repository;

/// Runs the script on a terminal, from another directory, below a store, with a cargo that has built already.
#[test]
fn it_runs_anywhere_asks_nothing_and_leaves_other_stores_alone() {
    let world = World::new();
    world.run(&["save", "demo", "--phases", "a,b", "--phase", "a"]).succeeds();
    let ckpt = CKPT.as_str();
    let cargo = format!("#!/bin/sh\necho \"cargo $*\" >&2\necho '{{\"executable\":\"{ckpt}\",\"fresh\":true}}'\n");
    let cargo = world.write("bin/cargo", cargo);
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let temporary = world.project().join("tmp");
    std::fs::create_dir(&temporary).unwrap();

    let mut script = Command::new("sh");
    script.arg(repository().join("examples/quick-start.sh")).current_dir(world.project()).env_clear();
    script.env("PATH", format!("{}:/usr/bin:/bin", cargo.parent().unwrap().display()));
    script.env("HOME", world.home()).env("TMPDIR", temporary).env("TERM", "dumb");
    script.env("CARGO_TARGET_DIR", "elsewhere").env("CKPT_STORE", world.store());
    let (code, seen) = Terminal::spawn(&script).exit();

    assert_eq!(code, 0, "{seen}");
    let manifest = repository().join("Cargo.toml");
    assert!(seen.contains(&format!("cargo build --locked --manifest-path {}", manifest.display())), "{seen}");
    assert!(!seen.contains("--quiet"), "the progress of the build is shown: {seen}");
    for shown in ["resume at build (2 of 3)", "Verdict: ready", "The workflow is complete", "The store is "] {
        assert!(seen.contains(shown), "{shown}: {seen}");
    }
    assert_eq!(world.numbers("demo"), [1], "the store above");
}
