//! Numbers in another user's store that are far above the numbers of its files.

use std::fs;

use serde_json::json;

use crate::support::project::{World, sealed};

const FAR: u64 = 1_000_000_000_000;

#[test]
fn an_undo_record_of_all_numbers_there_are_is_refused() {
    for range in [[1, u64::MAX], [0, 0], [3, 3]] {
        let world = World::with_checkpoints(2);
        let plan = "ab".repeat(32);
        let undo = world.store().join("undo");
        fs::create_dir_all(&undo).unwrap();
        let part = json!({"workflow": "042", "ranges": [range, [2, 1]], "whole": false});
        let record = json!({
            "format": "ckpt.undo.v1", "plan": plan, "at": "2026-01-16T20:15:00Z", "workflows": [part],
        });
        fs::write(undo.join(format!("20260116T201500Z-{plan}.json")), record.to_string()).unwrap();
        world.refuses(&["restore", "--plan", &plan[..12]], 4, "no_such_checkpoint");
        world.refuses(&["restore", "--plan", &plan[..12], "--dry-run"], 4, "no_such_checkpoint");
    }
}

#[test]
fn a_deletion_of_a_bundle_with_a_wide_name_is_planned_at_once() {
    let world = World::with_checkpoints(2);
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    let mut seal = world.stored("042", 3);
    seal["seq"] = json!(FAR + 1);
    seal["sealed"]["last"] = json!(FAR);
    world.replace_checkpoint("042", FAR + 1, &sealed(seal));
    let name = format!("00000001-{FAR}-20260116T201500Z-completed.jsonl.gz");
    fs::write(world.store().join("archive/042").join(name), "damaged").unwrap();
    let planned = world.json(&["archive", "042", "--delete", "--dry-run"]);
    assert!(planned.to_string().contains(&FAR.to_string()), "{planned}");
}

#[test]
fn deletion_records_of_all_numbers_there_are_count_each_number_once() {
    let world = World::with_checkpoints(2);
    let archive = world.store().join("archive/042");
    fs::create_dir_all(&archive).unwrap();
    for first in 1..=3 {
        fs::write(archive.join(format!("{first:08}-{}.deleted", u64::MAX)), "lost\n").unwrap();
    }
    let verified = world.run(&["verify", "--json"]);
    assert!(verified.stdout.contains(&format!("records {} numbers", u64::MAX)), "{verified}");
}

#[test]
fn a_checkpoint_far_above_the_one_that_it_continues_is_verified_at_once() {
    let world = World::with_checkpoints(1);
    let mut document = world.stored("042", 1);
    document["seq"] = json!(FAR);
    document["save_id"] = json!("f".repeat(32));
    document["parent"] = json!({"seq": 1, "sha256": document["sha256"]});
    world.replace_checkpoint("042", FAR, &sealed(document));
    let verified = world.run(&["verify", "--json"]).document();
    assert!(verified.to_string().contains("\"missing\""), "{verified}");
}
