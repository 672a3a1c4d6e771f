//! The one command that brings back what a cleanup or an archive run took out of the live store.

use serde_json::{Value, json};

use crate::support::project::{World, sealed};

const LATER: &str = "2026-03-30T12:00:00Z";

/// Every live checkpoint with its bytes.
fn live(world: &World, ids: &[&str]) -> Vec<(String, u64, Vec<u8>)> {
    let mut live = Vec::new();
    for id in ids {
        for seq in world.numbers(id) {
            let bytes = std::fs::read(world.checkpoint_file(id, seq)).unwrap();
            if !bytes.is_empty() {
                live.push(((*id).to_owned(), seq, bytes));
            }
        }
    }
    live
}

/// Runs the command that an answer has in `undo`.
fn undo(world: &World, answer: &Value) -> crate::support::project::Outcome {
    let words: Vec<String> = serde_json::from_value(answer["undo"].clone()).unwrap();
    assert_eq!(words[0], "ckpt");
    world.run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn it_brings_back_exactly_what_that_run_took() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    for round in 1..=6 {
        world.run(&["save", "open", "--trigger", "batch_complete", "--set", &format!("n={round}")]).succeeds();
    }
    world.run(&["save", "done", "--phases", "a", "--phase", "a"]).succeeds();
    // An earlier cleanup has archived open/1 to open/3.
    world.run(&["cleanup"]).succeeds();
    let before = live(&world, &["open", "done"]);
    assert_eq!(before.len(), 4);
    let answer = world.ckpt(&["cleanup", "--max-age", "7d"]).env("CKPT_NOW", LATER).json();
    assert_eq!(answer["undo"].as_array().unwrap().len(), 4, "{answer}");
    assert_eq!(answer["removed"]["count"], 3);
    let words: Vec<String> = serde_json::from_value(answer["undo"].clone()).unwrap();
    let planned = world.json(&[words[1].as_str(), &words[2], &words[3], "--dry-run"]);
    assert_eq!(planned["workflows"][0]["revived"], "done/3");
    let done = undo(&world, &answer).succeeds();
    assert!(done.stdout.contains("done/1 is back; the newest is done/3"), "{done}");
    let after = live(&world, &["open", "done"]);
    assert!(before.iter().all(|file| after.contains(file)), "byte for byte");
    let numbers: Vec<u64> = after.iter().filter(|(id, ..)| id == "open").map(|(_, seq, _)| *seq).collect();
    assert_eq!(numbers, [4, 5, 6], "the earlier cleanup stays");
    // Typed twice, it does nothing more.
    let again = undo(&world, &answer).succeeds();
    assert!(again.stdout.contains("open: nothing to bring back"), "{again}");
    world.run(&["verify"]).succeeds();
}

#[test]
fn it_is_short_however_many_workflows_there_are() {
    // In memory, where syncing costs nothing.
    let world = World::new().copy();
    world.configure("[save]\nauto_cleanup = false\n");
    world.run(&["save", "model", "--phases", "a", "--phase", "a"]).succeeds();
    let file = std::fs::read_to_string(world.checkpoint_file("model", 1)).unwrap();
    let store = world.store().join("workflows");
    for number in 0..60 {
        let id = format!("a-rather-long-name-of-a-workflow-{number:03}");
        std::fs::create_dir(store.join(&id)).unwrap();
        let mut document: Value = serde_json::from_str(&file).unwrap();
        document["workflow"] = json!(id);
        std::fs::write(store.join(&id).join("00000001.json"), sealed(document)).unwrap();
    }
    for args in [&["cleanup", "--max-age", "7d"][..], &["archive", "--finished"]] {
        let answer = world.ckpt(args).env("CKPT_NOW", LATER).json();
        let words: Vec<String> = serde_json::from_value(answer["undo"].clone()).unwrap();
        assert!(words.join(" ").len() < 50, "{words:?}");
        let back = undo(&world, &answer).succeeds();
        assert_eq!(back.stdout.lines().count(), 61, "{args:?}");
    }
    world.run(&["verify"]).succeeds();
}

#[test]
fn what_has_no_record_is_said_so() {
    let world = World::with_checkpoints(2);
    let failure = world.refuses(&["restore", "--plan", "0123456789ab"], 4, "no_undo_record");
    assert!(failure["message"].as_str().unwrap().starts_with("no recorded plans begin with"), "{failure}");
    world.refuses(&["restore", "--plan", "0123"], 2, "usage");
    world.refuses(&["restore", "--plan", "nonsense"], 2, "usage");
    world.refuses(&["restore", "042", "--plan", "0123456789ab"], 2, "usage");
    world.refuses(&["restore"], 2, "usage");
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    // A directory of records that is damaged stops nothing else.
    world.write(".ckpt/undo/strange", "x");
    let verified = world.json(&["verify"]);
    let codes: Vec<&Value> = verified["findings"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
    assert_eq!(codes, ["mode", "unknown_file"], "{verified}");
}

#[test]
fn the_newest_hundred_are_kept() {
    let world = World::with_checkpoints(1);
    let directory = world.store().join("undo");
    for second in 0..120 {
        let digits = format!("{second:064x}");
        world.write(&format!(".ckpt/undo/20250101T{second:06}Z-{digits}.json"), "{}");
    }
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    let answer = world.json(&["cleanup"]);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 100);
    undo(&world, &answer).succeeds();
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_long_way() {
    let world = World::with_checkpoints(1);
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    world.write(".ckpt/undo", "an obstacle");
    let answer = world.json(&["cleanup"]);
    assert_eq!(answer["undo"], json!(["ckpt", "restore", "042"]));
    assert!(answer["warnings"][0].as_str().unwrap().contains("could not be recorded"), "{answer}");
    undo(&world, &answer).succeeds();
}

#[test]
fn it_names_the_store_if_the_command_did() {
    let world = World::new();
    let elsewhere = world.temp().join("other store");
    let store = elsewhere.to_str().unwrap();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--store", store]).succeeds();
    let archived = world.json(&["archive", "042", "--as", "abandoned", "--store", store]);
    assert_eq!(archived["undo"], json!(["ckpt", "restore", "042", "--store", store]));
    undo(&world, &archived).succeeds();
    let shown = world.run(&["archive", "042", "--as", "abandoned", "--store", store]).succeeds();
    assert!(shown.stderr.contains(&format!("ckpt restore 042 --store '{store}'")), "{shown}");
    world.run(&["restore", "042", "--store", store]).succeeds();
    let saved = world.json(&["save", "042", "--set", "n=1", "--store", store])["handle"].clone();
    let rolled = world.json(&["rollback", "042/1", "--store", store]);
    assert_eq!(rolled["undo"], json!(["ckpt", "rollback", saved, "--store", store]));
    let fresh = world.run(&["resume", "042", "--fresh", "--store", store]).succeeds();
    assert!(fresh.stderr.contains(&format!("--store '{store}'")), "{fresh}");
}
