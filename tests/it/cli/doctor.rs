//! `ckpt doctor`: it always has an answer.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::support::project::World;

#[test]
fn a_healthy_project_is_said_to_be_well_and_nothing_changes() {
    let world = World::with_checkpoints(2);
    let before = world.tree();
    let outcome = world.run(&["doctor"]).succeeds();
    assert!(outcome.stdout.ends_with("All is well.\n"), "{outcome}");
    assert!(outcome.stdout.contains("1 workflow, 2 checkpoints, 0 bundles"), "{outcome}");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    let empty = World::new();
    assert!(empty.run(&["doctor"]).succeeds().stdout.contains("none yet"));
}

#[test]
fn a_damaged_checkpoint_and_settings_that_cannot_be_used_are_told() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"damaged");
    world.configure("[save\n");
    let outcome = world.run(&["doctor"]);
    assert_eq!(outcome.status.code(), Some(6), "{outcome}");
    for part in ["settings:", "store:", "ckpt verify --repair"] {
        assert!(outcome.stdout.contains(part), "{part}: {outcome}");
    }
    let report: Value = serde_json::from_str(&world.run(&["doctor", "--json"]).stdout).unwrap();
    assert_eq!(report["store"]["findings"], 1, "the settings are told once: {report}");
}

#[test]
fn settings_of_the_user_behind_a_link_are_valid() {
    let world = World::with_checkpoints(1);
    let dir = world.home().join(".config/ckpt");
    fs::create_dir_all(&dir).unwrap();
    fs::write(world.home().join("dotfile.toml"), "[save]\n").unwrap();
    symlink(world.home().join("dotfile.toml"), dir.join("config.toml")).unwrap();
    let report = world.run(&["doctor", "--json"]).succeeds().document();
    assert_eq!(report["settings"][1]["state"], "valid", "{report}");
    // In a store, a link could lead out of the project.
    symlink(world.home().join("dotfile.toml"), world.store().join("config.toml")).unwrap();
    let report = world.run(&["doctor", "--json"]).document();
    assert_eq!(report["settings"][0]["state"], "invalid", "{report}");
}

#[test]
fn a_store_that_is_none_is_told() {
    let world = World::new();
    world.write(".ckpt", "a file");
    let outcome = world.run(&["doctor", "-q"]);
    assert_eq!((outcome.status.code(), outcome.stdout.as_str()), (Some(6), "store\n"), "{outcome}");
}

#[test]
fn no_secret_is_printed() {
    let world = World::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let outcome = world.ckpt(&["doctor"]).env("CKPT_TOKEN", secret).run();
    assert!(outcome.stdout.contains("CKPT_TOKEN=") && !outcome.stdout.contains(secret), "{outcome}");
}

#[test]
fn an_agent_whose_hooks_cannot_run_is_told() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".claude")).unwrap();
    world.run(&["setup", "claude"]).succeeds();
    let outcome = world.run(&["doctor"]);
    assert_eq!(outcome.status.code(), Some(6), "{outcome}");
    assert!(outcome.stdout.contains("claude is set up, but its hooks do not run"), "{outcome}");
    assert!(outcome.stdout.contains("put `ckpt` on the PATH"), "{outcome}");
    fs::write(world.home().join(".claude/settings.json"), "{").unwrap();
    let outcome = world.run(&["doctor"]);
    assert!(outcome.stdout.contains("the settings of claude cannot be read"), "{outcome}");
}
