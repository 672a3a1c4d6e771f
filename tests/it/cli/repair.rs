//! `ckpt verify --repair`

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::project::{World, can_mount, skip};
use ckpt::verify::{DAMAGES, bundle, codes, world};

/// Two versions of history; which one is right, a program cannot know.
const UNDECIDABLE: [&str; 3] = ["schema", "parent", "duplicate_save_id"];

/// Every content in a directory, and how often it is there.
fn contents(path: &Path, found: &mut BTreeMap<Vec<u8>, usize>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => contents(&path, found),
            (_, true) => *found.entry(std::fs::read(&path).unwrap()).or_default() += 1,
            _ => {}
        }
    }
}

fn kept(world: &World) -> BTreeMap<Vec<u8>, usize> {
    let mut found = BTreeMap::new();
    contents(&world.store(), &mut found);
    found.remove(&Vec::new());
    found
}

fn actions(answer: &Value) -> Vec<&str> {
    let repaired = answer["repaired"].as_array().unwrap();
    repaired.iter().map(|line| line["action"].as_str().unwrap()).collect()
}

#[test]
fn after_a_repair_nothing_is_wrong_and_nothing_was_deleted() {
    let model = world();
    for (what, damage, code, severity) in DAMAGES {
        let world = model.copy();
        damage(&world);
        let before = kept(&world);
        let outcome = world.run(&["verify", "--repair", "--json"]);
        let after = kept(&world);
        for (content, times) in &before {
            assert!(after.get(content) >= Some(times), "{what}: something was deleted");
        }
        if UNDECIDABLE.contains(&code) {
            outcome.exits(6);
            assert_eq!(before, after, "{what}");
            continue;
        }
        let answer = outcome.succeeds().document();
        assert_eq!(answer["ok"], true, "{what}");
        assert_eq!(actions(&answer).is_empty(), severity == "info" || is_left(what), "{what}: {answer}");
        // There is no problem, and doing it again does nothing.
        let tree = world.tree();
        let again = world.json(&["verify", "--repair"]);
        assert_eq!((&again["ok"], &again["repaired"]), (&json!(true), &json!([])), "{what}");
        assert_eq!(tree.changes(&world.tree()), Vec::<String>::new(), "{what}");
        // A newer format is not written over, and everything else continues.
        if code != "format_newer" {
            let newest = *world.numbers("042").last().unwrap();
            let saved = world.json(&["save", "042", "--phase", "more"]);
            assert_eq!(saved["seq"], newest + 1, "{what}");
            assert!(newest >= 5, "{what}: a number once taken is never freed");
            let done = saved["done"].as_array().unwrap();
            assert!(done.len() >= 5 && done.contains(&json!("4")), "{what}: {saved}");
        }
        world.run(&["save", "old", "--phase", "more"]).succeeds();
        world.run(&["verify"]).succeeds();
    }
}

/// Harmless files of others stay where they are.
fn is_left(what: &str) -> bool {
    matches!(what, "a foreign file" | "a newer version")
}

#[test]
fn a_damaged_newest_is_followed_by_one_that_continues_the_last_good_one() {
    let world = World::with_checkpoints(3);
    let good = world.stored("042", 2);
    world.replace_checkpoint("042", 3, b"damaged");
    let answer = world.json(&["verify", "--repair"]);
    assert_eq!(actions(&answer), ["continued", "quarantined", "recorded"]);
    let next = world.stored("042", 4);
    assert_eq!(next["phases"], good["phases"]);
    assert_eq!(next["parent"]["sha256"], good["sha256"]);
    assert_eq!((&next["trigger"], &next["parent"]["seq"]), (&json!("repair"), &json!(2)));
    assert!(next["note"].as_str().unwrap().starts_with("repaired: "));
    let quarantined = world.store().join("quarantine/042/00000003.json");
    assert_eq!(std::fs::read(&quarantined).unwrap(), b"damaged");
    assert_eq!(std::fs::read(world.checkpoint_file("042", 3)).unwrap(), b"");
    assert_eq!(answer["repaired"][1]["to"], quarantined.to_str().unwrap());
    // The same number damaged again does not replace what is in quarantine.
    world.replace_checkpoint("042", 3, b"again");
    world.run(&["verify", "--repair"]).succeeds();
    assert_eq!(std::fs::read(quarantined).unwrap(), b"damaged");
    assert_eq!(std::fs::read(world.store().join("quarantine/042/00000003.json.1")).unwrap(), b"again");
}

#[test]
fn it_is_said_for_people() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"damaged");
    insta::assert_snapshot!(world.run(&["verify", "--repair"]), @"
    exit 0
    --- stdout
    continued: $TMP/project/.ckpt/workflows/042/00000003.json
    quarantined: $TMP/project/.ckpt/workflows/042/00000002.json -> $TMP/project/.ckpt/quarantine/042/00000002.json
    recorded: $TMP/project/.ckpt/workflows/042/00000002.json
    Checked 1 workflow, 3 checkpoints and 0 bundles: nothing is wrong
    --- stderr
    2 notes not shown; `-v` shows them.
    --- end
    ");
    insta::assert_snapshot!(world.run(&["verify", "--repair"]), @"
    exit 0
    --- stdout
    Checked 1 workflow, 3 checkpoints and 0 bundles: nothing is wrong
    --- stderr
    There was nothing to repair.
    2 notes not shown; `-v` shows them.
    --- end
    ");
}

#[test]
fn what_a_bundle_holds_comes_back_exactly() {
    let world = World::with_checkpoints(3);
    let files: Vec<_> = (1..=3).map(|seq| std::fs::read(world.checkpoint_file("042", seq)).unwrap()).collect();
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world.run(&["restore", "042/2"]).succeeds();
    world.replace_checkpoint("042", 2, b"damaged");
    let answer = world.json(&["verify", "--repair"]);
    assert_eq!(actions(&answer), ["quarantined", "restored"]);
    assert_eq!(std::fs::read(world.checkpoint_file("042", 2)).unwrap(), files[1]);
    // A seal is in no bundle: the workflow is open again, with the content below the seal.
    world.replace_checkpoint("042", 4, b"damaged too");
    let answer = world.json(&["verify", "--repair"]);
    assert_eq!(actions(&answer), ["continued", "quarantined", "recorded"]);
    assert_eq!(world.json(&["list"])["workflows"][0]["workflow"], "042");
    assert_eq!(world.stored("042", 5)["phases"], serde_json::from_slice::<Value>(&files[2]).unwrap()["phases"]);
}

#[test]
fn what_a_bundle_holds_is_continued_before_anything_older() {
    let world = World::with_checkpoints(2);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    let phases = world.stored("042", 2)["phases"].clone();
    world.replace_checkpoint("042", 2, b"damaged, and in the bundle");
    world.replace_checkpoint("042", 4, b"damaged, and the newest");
    let answer = world.json(&["verify", "--repair"]);
    assert_eq!(actions(&answer), ["quarantined", "restored", "continued", "quarantined", "recorded"]);
    assert_eq!(world.stored("042", 5)["phases"], phases);
}

#[test]
fn a_workflow_of_which_nothing_is_left_goes_on() {
    let world = World::with_checkpoints(2);
    for seq in [1, 2] {
        world.replace_checkpoint("042", seq, b"damaged");
    }
    world.run(&["verify", "--repair"]).succeeds();
    assert_eq!(world.json(&["save", "042", "--phase", "new"])["handle"], "042/4");
    world.run(&["verify"]).succeeds();
}

#[test]
fn a_lost_archive_is_recorded_and_its_numbers_stay_taken() {
    for gone in [false, true] {
        let world = world();
        let path = bundle(&world);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[300] ^= 1;
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        if gone {
            std::fs::remove_dir_all(world.workflow_dir("old")).unwrap();
        }
        world.run(&["verify", "--repair"]).succeeds();
        let moved = world.store().join("quarantine/old").join(path.file_name().unwrap());
        assert_eq!(std::fs::read(moved).unwrap(), bytes);
        let saved = world.json(&["save", "old", "--phase", "c"]);
        // The number of the seal is known only if the seal is there.
        assert_eq!(saved["handle"], if gone { "old/4" } else { "old/5" });
        world.run(&["verify"]).succeeds();
    }
}

#[test]
fn a_store_too_broken_for_everything_else_works_again() {
    let world = world();
    let elsewhere = world.temp().join("elsewhere");
    std::fs::rename(world.store().join("workflows"), &elsewhere).unwrap();
    symlink(&elsewhere, world.store().join("workflows")).unwrap();
    symlink("/etc", world.store().join("quarantine")).unwrap();
    std::fs::remove_file(world.store().join(".gitignore")).unwrap();
    symlink("/etc/passwd", world.store().join(".gitignore")).unwrap();
    world.run(&["save", "042"]).exits(10);
    let answer = world.json(&["verify", "--repair"]);
    assert!(codes(&answer).iter().all(|(_, severity)| *severity == "info"), "{answer}");
    assert!(world.store().join("quarantine/+workflows").is_symlink());
    assert!(elsewhere.join("042/00000005.json").is_file(), "links are not followed");
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    world.run(&["verify"]).succeeds();
}

#[test]
fn settings_that_cannot_be_read_do_not_stop_it() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"damaged");
    world.configure("nonsense");
    let answer = world.run(&["verify", "--repair", "--json"]).exits(6).document();
    assert!(!answer["repaired"].as_array().unwrap().is_empty(), "{answer}");
    let errors: Vec<_> = codes(&answer).into_iter().filter(|(_, severity)| *severity == "blocker").collect();
    assert_eq!(errors, [("invalid_config", "blocker")], "what is left is for a person");
}

#[test]
fn only_what_is_named_is_repaired() {
    let world = World::with_checkpoints(2);
    world.run(&["save", "other"]).succeeds();
    world.replace_checkpoint("042", 2, b"damaged");
    world.replace_checkpoint("other", 1, b"damaged");
    world.run(&["verify", "other", "--repair"]).succeeds();
    world.run(&["verify"]).exits(6);
    world.run(&["verify", "--repair"]).succeeds();
}

#[test]
fn a_read_only_store_is_refused_cleanly() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"damaged");
    let mount = "mount --bind .ckpt .ckpt && mount -o remount,bind,ro .ckpt && exec \"$@\"";
    let under = ["unshare", "-m", "/bin/sh", "-c", mount, "sh"];
    let repair = world.ckpt(&["verify", "--repair"]).under(&under);
    repair.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run().exits(10);
}
