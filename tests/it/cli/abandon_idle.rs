//! `ckpt cleanup --abandon-idle`: open workflows that nobody continued.

use insta::assert_snapshot;
use serde_json::json;

use crate::support::project::World;
use ckpt::cleanup::without_sizes;

/// 35 days after the first command of every world.
const LATER: &str = "2026-03-06T14:30:00Z";

/// `old` open and idle for 35 days, `young` open and saved today, `done` complete and as old as `old`.
fn world() -> World {
    let world = World::new();
    for phase in ["a", "b"] {
        world.run(&["save", "old", "--phases", "a,b,c", "--phase", phase]).succeeds();
    }
    world.run(&["save", "done", "--phases", "a", "--phase", "a"]).succeeds();
    world.ckpt(&["save", "young"]).env("CKPT_NOW", LATER).run().succeeds();
    world
}

#[test]
fn idle_open_workflows_are_marked_abandoned_and_come_back_open() {
    let world = world();
    let before = world.tree();
    let cleanup = |args: &[&str]| {
        let args = [&["cleanup", "--max-age", "60d", "--abandon-idle", "30d"], args].concat();
        world.ckpt(&args).env("CKPT_NOW", LATER).run().succeeds()
    };
    assert_snapshot!(without_sizes(&cleanup(&["--dry-run"]).to_string()), @"
    exit 0
    --- stdout
    Policy of this command, instead of that of the store:
      finished workflows idle for more than 60d go, and what is older in open ones, except the newest
      open workflows idle for more than 30d are marked abandoned, and go
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Would archive 2 of 2 checkpoints of old (SIZE): open and idle for more than 30d, so marked abandoned
    Would archive 2 checkpoints (SIZE), keep 2.
    Plan: $SHA256
    --- end
    ");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "a dry run writes nothing");
    cleanup(&[]);
    let listed = world.json(&["list", "--archived"]);
    assert_eq!(listed["workflows"][0]["status"], "abandoned", "{listed}");
    assert_eq!(world.json(&["archive", "--list"])["bundles"][0]["reason"], "abandoned");
    // It counts as ended now, so it does not expire for as long as any abandoned one.
    let soon = world.ckpt(&["cleanup"]).env("CKPT_NOW", "2026-04-04T00:00:00Z").json();
    assert_eq!(soon["deleted_runs"], json!([]));
    world.run(&["restore", "old"]).succeeds();
    let resumed = world.ckpt(&["resume", "old"]).env("CKPT_NOW", LATER).run();
    assert!(resumed.stdout.contains("resume at c"), "{resumed}");
    world.run(&["verify"]).succeeds();
}

#[test]
fn it_is_off_by_default_and_a_setting_switches_it_on() {
    let world = world();
    let codes = |args: &[&str]| {
        let args = [&["cleanup", "--dry-run", "--json"], args].concat();
        let planned = world.ckpt(&args).env("CKPT_NOW", LATER).run().succeeds().document();
        let leaving = planned["decisions"].as_array().unwrap().iter().filter(|made| made["keep"] == false);
        let codes: Vec<String> = leaving.map(|made| made["reasons"][0]["code"].as_str().unwrap().to_owned()).collect();
        (planned["policy"]["source"].as_str().unwrap().to_owned(), codes)
    };
    let abandoned = vec!["abandoned_after".to_owned(); 2];
    // Without the rule an idle workflow is only compressed, and its newest checkpoint stays.
    let compressed = vec!["compressed_after".to_owned()];
    assert_eq!(codes(&[]), ("store".to_owned(), compressed.clone()));
    assert_eq!(codes(&["--abandon-idle", "30d"]), ("store_and_command_line".to_owned(), abandoned.clone()));
    assert_eq!(codes(&["--abandon-idle", "36d"]).1, compressed);
    world.configure("[retention]\nabandon_idle = \"30d\"\n");
    assert_eq!(codes(&[]), ("store".to_owned(), abandoned.clone()));
    assert_eq!(codes(&["--max-age", "60d"]), ("command_line".to_owned(), vec![]), "rules replace the policy");
    assert_eq!(codes(&["--max-age", "60d", "--abandon-idle", "30d"]).1, abandoned);
    // A save of another workflow abandons nothing.
    world.ckpt(&["done", "young"]).env("CKPT_NOW", LATER).run().succeeds();
    assert_eq!(world.json(&["list"])["workflows"].as_array().unwrap().len(), 3);
}
