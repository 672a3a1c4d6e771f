//! The checkpoints directory: lifecycle, cleanup policy and error handling.

use serde_json::json;

use crate::support::project::World;

const SOON: &str = "2026-02-01T00:00:00Z";
const AFTER_29_DAYS: &str = "2026-02-28T00:00:00Z";
const AFTER_31_DAYS: &str = "2026-03-04T00:00:00Z";

fn workflow_with_status(status: &str) -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--title", "Login"]).succeeds();
    world.run(&["save", "042", "--phase", "b", "--error", "no", "--workflow-status", status]).succeeds();
    world
}

fn cleanup(world: &World, now: &str) -> serde_json::Value {
    world.ckpt(&["cleanup"]).env("CKPT_NOW", now).json()
}

#[test]
fn failure_moved_to_failed_subdirectory_kept_for_30_days() {
    for status in ["failed", "abandoned"] {
        let world = workflow_with_status(status);
        cleanup(&world, SOON);
        assert_eq!(world.json(&["list"])["workflows"], json!([]), "it left the live store");
        let bundles = world.json(&["archive", "--list"]);
        assert_eq!(bundles["bundles"][0]["reason"], status, "{bundles}");
        assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["title"], "Login");
        assert_eq!(world.json(&["show", "042/1"])["checkpoint"]["phases"][0]["status"], "complete");
        cleanup(&world, AFTER_29_DAYS);
        let restored = world.copy();
        restored.run(&["restore", "042"]).succeeds();
        assert_eq!(restored.stored("042", 2)["phases"][1]["error"], "no");
        // Also when it is the only one.
        let report = cleanup(&world, AFTER_31_DAYS);
        assert_eq!(world.json(&["archive", "--list"])["bundles"], json!([]), "{report}");
        world.refuses(&["show", "042/1"], 4, "archived");
        world.run(&["verify"]).succeeds();
    }
}

#[test]
fn a_failed_workflow_that_was_never_archived_goes_30_days_after_its_last_save() {
    let world = workflow_with_status("failed");
    cleanup(&world, AFTER_31_DAYS);
    assert_eq!(world.json(&["archive", "--list"])["bundles"], json!([]));
    world.refuses(&["show", "042/1"], 4, "archived");
}

#[test]
fn a_completed_workflow_keeps_its_final_checkpoint() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    cleanup(&world, "2027-01-01T00:00:00Z");
    assert_eq!(world.stored("042", 2)["status"], "complete");
    assert_eq!(world.json(&["show", "042/1"])["checkpoint"]["phases"][0]["status"], "complete");
}

#[test]
fn if_checkpoint_format_version_is_incompatible_it_can_be_set_aside() {
    for version in ["2.0", "1.9"] {
        let world = World::new();
        world.run(&["save", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
        world.forge("042", 1, |document| document["version"] = json!(version));
        let file = world.checkpoint_file("042", 1);
        let bytes = std::fs::read(&file).unwrap();
        let refused = world.run(&["save", "042", "--phase", "b"]).exits(6);
        assert!(refused.stderr.contains("ckpt archive 042 --as abandoned"), "{refused}");
        // A cleanup leaves it alone: only a person decides about it.
        cleanup(&world, "2027-01-01T00:00:00Z");
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 0, "{version}");
        assert_eq!(world.json(&["list"])["workflows"], json!([]));
        world.run(&["verify"]).succeeds();
        world.run(&["restore", "042/1"]).succeeds();
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{version}");
    }
}

#[test]
fn an_option_to_delete_the_corrupted_checkpoint_and_workflow_can_start_fresh() {
    let world = World::with_checkpoints(1);
    world.replace_checkpoint("042", 1, b"garbage\n");
    world.run(&["resume", "042"]).exits(6);
    let fresh = world.copy();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    assert_eq!(world.json(&["list"])["workflows"], json!([]));
    fresh.run(&["save", "042", "--fresh", "--phases", "a,b", "--phase", "a"]).succeeds();
    assert_eq!(fresh.json(&["resume", "042"])["phase"], "b");
}
