//! `ckpt restore`

use serde_json::json;

use crate::support::project::World;

/// `042` with three checkpoints, archived; and their files.
fn archived() -> (World, Vec<Vec<u8>>) {
    let world = World::with_checkpoints(3);
    let files = (1..=3).map(|seq| std::fs::read(world.checkpoint_file("042", seq)).unwrap()).collect();
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    (world, files)
}

#[test]
fn a_whole_workflow_comes_back_byte_for_byte() {
    for gone in [false, true] {
        let (world, files) = archived();
        if gone {
            std::fs::remove_dir_all(world.workflow_dir("042")).unwrap();
        }
        let restored = world.run(&["restore", "42"]);
        if gone {
            // The seal was only in the live store.
            insta::assert_snapshot!(restored, @"
            exit 0
            --- stdout
            042: 3 checkpoints are back, 042/1 to 042/3; the newest is 042/3
            --- end
            ");
        } else {
            insta::assert_snapshot!(restored, @"
            exit 0
            --- stdout
            042: 3 checkpoints are back, 042/1 to 042/3; the newest is 042/5
            --- stderr
            042/5 continues the last one. Resume with: ckpt resume 042
            --- end
            ");
        }
        for (seq, file) in (1..).zip(&files) {
            assert_eq!(std::fs::read(world.checkpoint_file("042", seq)).unwrap(), *file);
        }
        assert_eq!(world.json(&["list"])["workflows"][0]["status"], "in_progress");
        let again = world.json(&["restore", "042"]);
        assert_eq!((&again["workflows"][0]["restored"], &again["workflows"][0]["revived"]), (&json!([]), &json!(null)));
        assert_eq!(again["workflows"][0]["handle"], if gone { "042/3" } else { "042/5" });
    }
}

#[test]
fn one_checkpoint_comes_back_alone() {
    let (world, files) = archived();
    let answer = world.json(&["restore", "042/2"])["workflows"][0].clone();
    assert_eq!((&answer["restored"], &answer["revived"]), (&json!(["042/2"]), &json!(null)));
    assert_eq!(answer["handle"], "042/4");
    assert_eq!(std::fs::read(world.checkpoint_file("042", 2)).unwrap(), files[1]);
    assert!(std::fs::read(world.checkpoint_file("042", 1)).unwrap().is_empty());
    assert_eq!(world.json(&["restore", "042/2"])["workflows"][0]["restored"], json!([]));
    world.refuses(&["restore", "042/9"], 4, "no_such_checkpoint");
    world.refuses(&["restore", "nothing"], 4, "no_such_workflow");
}

#[test]
fn a_number_that_does_not_exist_leaves_no_trace() {
    let (world, _) = archived();
    std::fs::remove_dir_all(world.workflow_dir("042")).unwrap();
    world.refuses(&["restore", "042/9"], 4, "no_such_checkpoint");
}

#[test]
fn what_is_live_is_never_overwritten() {
    let (world, _) = archived();
    world.replace_checkpoint("042", 2, b"something else");
    world.refuses(&["restore", "042/2"], 6, "damaged");
    let answer = world.json(&["restore", "042"]);
    assert_eq!(answer["workflows"][0]["restored"], json!(["042/3", "042/1"]));
    assert_eq!(std::fs::read(world.checkpoint_file("042", 2)).unwrap(), b"something else");
}

#[test]
fn what_cannot_be_brought_back_is_listed() {
    let (world, _) = archived();
    world.run(&["save", "042", "--phase", "4"]).succeeds();
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    let bundles = world.json(&["archive", "--list"]);
    let path = bundles["bundles"][0]["path"].as_str().unwrap().to_owned();
    let mut bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let answer = world.run(&["restore", "042", "--json"]).exits(3).document();
    assert_eq!(answer["workflows"][0]["restored"], json!(["042/5", "042/4"]));
    let items: Vec<_> = answer["failures"].as_array().unwrap().iter().map(|line| &line["item"]).collect();
    assert_eq!(items, [path.as_str(), "042/1", "042/2", "042/3"]);
    world.refuses(&["restore", "042/1"], 6, "damaged_bundle");
}

#[test]
fn what_is_back_is_named_in_order_and_with_its_gaps() {
    let world = World::new();
    world.run(&["save", "p", "--phases", "a,b", "--phase", "a", "--pin"]).succeeds();
    world.run(&["save", "p", "--note", "2"]).succeeds();
    world.run(&["save", "p", "--phase", "b"]).succeeds();
    // The second one went by itself, into a bundle of its own.
    world.run(&["archive", "p"]).succeeds();
    assert_eq!(world.json(&["archive", "--list"])["bundles"].as_array().unwrap().len(), 2);
    let copy = world.copy();
    assert_eq!(copy.json(&["restore", "p"])["workflows"][0]["restored"], json!(["p/3", "p/2", "p/1"]));
    let outcome = world.run(&["restore", "p"]).succeeds();
    assert_eq!(outcome.stdout, "p: 3 checkpoints are back, p/1 to p/3; the newest is p/5\n");

    let world = World::with_checkpoints(6);
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    for live in ["042/2", "042/5"] {
        world.run(&["restore", live]).succeeds();
    }
    let outcome = world.run(&["restore", "042"]).succeeds();
    let expected = "042: 4 checkpoints are back, 042/1, 042/3 to 042/4 and 042/6; the newest is 042/8\n";
    assert_eq!(outcome.stdout, expected);
}

/// `o` with two checkpoints, which were purged.
fn purged() -> World {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    world.run(&["save", "o", "--phases", "a,b", "--phase", "a"]).succeeds();
    world.run(&["save", "o", "--phase", "b"]).succeeds();
    let purge = world.ckpt(&["cleanup", "--max-age", "1d", "--purge", "--yes"]);
    purge.env("CKPT_NOW", "2026-03-30T12:00:00Z").run().succeeds();
    world
}

#[test]
fn what_was_purged_is_called_so_and_nobody_is_sent_to_look_for_a_bundle() {
    let world = purged();
    insta::assert_snapshot!(world.run(&["show", "o/1"]), @"
    exit 4
    --- stderr
    error: the content of `o/1` was purged: it was deleted for good
      help: nothing brings it back; `ckpt log o` shows what there is
    --- end
    ");
    let rows = world.json(&["log", "o"])["entries"].clone();
    let deleted: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["deleted"]).collect();
    assert_eq!(deleted, ["purged"; 3]);
    let text = world.run(&["log", "o"]).succeeds();
    assert!(text.stdout.contains("purged, down to o/1") && text.stdout.contains(", purged\n"), "{text}");
    assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["deleted"], "purged");
    let text = world.run(&["list", "--archived"]).succeeds();
    assert!(text.stdout.contains("o/3     purged "), "{text}");
    let answer = world.copy().run(&["restore", "o", "--json"]).exits(3).document();
    assert!(answer["failures"][0]["message"].as_str().unwrap().contains("was purged"), "{answer}");
    insta::assert_snapshot!(world.run(&["restore", "o"]), @"
    exit 3
    --- stdout
    o: nothing to bring back; the newest is o/4
    --- stderr
    failed: o/1: the content of `o/1` was purged: it was deleted for good
    failed: o/2: the content of `o/2` was purged: it was deleted for good
      help: nothing brings it back; `ckpt log o` shows what there is
    o/4 continues the last one. The workflow is complete.
    --- end
    ");
}

#[test]
fn what_has_expired_is_called_so() {
    let world = World::with_checkpoints(3);
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world.ckpt(&["cleanup"]).env("CKPT_NOW", "2026-03-30T12:00:00Z").run().succeeds();
    let rows = world.json(&["log", "042"])["entries"].clone();
    let deleted: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["deleted"]).collect();
    assert_eq!(deleted[..3], ["expired"; 3], "{rows}");
    assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["deleted"], "expired");
    let failure = world.refuses(&["show", "042/1"], 4, "archived");
    assert!(failure["message"].as_str().unwrap().contains("has expired"), "{failure}");
    let restored = world.run(&["restore", "042"]).exits(3);
    assert!(restored.stderr.contains("has expired with its run: it was deleted for good"), "{restored}");
    // What simply is not there is another thing.
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 1, b"");
    let failure = world.refuses(&["show", "042/1"], 4, "archived");
    assert!(failure["message"].as_str().unwrap().contains("no bundle holds it"), "{failure}");
}

#[test]
fn a_live_checkpoint_is_refused_with_the_command_that_was_meant() {
    let world = World::with_checkpoints(2);
    let outcome = world.run(&["restore", "042/1"]);
    insta::assert_snapshot!(outcome, @"
    exit 9
    --- stderr
    error: `042/1` is live; it was not archived
      help: did you mean `ckpt rollback 042/1`, which continues from it?
    --- end
    ");
    let failure = world.refuses(&["restore", "042~1"], 9, "already_live");
    assert!(failure["help"][0].as_str().unwrap().contains("`ckpt rollback 042/1`"), "{failure}");
    world.run(&["rollback", "042/1"]).succeeds();
    let failure = world.refuses(&["restore", "042/3"], 9, "already_live");
    assert_eq!(failure["help"][0], "it is the newest one: `ckpt resume 042`");
}

#[test]
fn several_come_back_with_one_command_and_the_dry_run_foresees_it() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    for id in ["a", "b", "c"] {
        world.run(&["save", id, "--phases", "x,y", "--phase", "x"]).succeeds();
        world.run(&["save", id, "--phase", "y"]).succeeds();
    }
    world.run(&["archive", "a", "b", "c"]).succeeds();
    let args = ["restore", "a", "b/1", "nothing", "c", "--json"];
    let before = world.tree();
    let planned = world.run(&[&args[..], &["--dry-run"]].concat()).exits(3).document();
    insta::assert_snapshot!(world.run(&["restore", "a", "b/1", "c", "-n"]), @"
    exit 0
    --- stdout
    a: 2 checkpoints would come back, a/1 to a/2; the newest would be a/4
    b: b/1 would come back; the newest would be b/3
    c: 2 checkpoints would come back, c/1 to c/2; the newest would be c/4
    --- end
    ");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "a dry run writes nothing");
    let done = world.run(&args).exits(3).document();
    assert_eq!((&planned["applied"], &done["applied"]), (&json!(false), &json!(true)));
    for key in ["workflows", "failures"] {
        assert_eq!(planned[key], done[key], "{key}");
    }
    assert_eq!(done["workflows"][1]["restored"], json!(["b/1"]));
    assert_eq!(done["failures"][0]["item"], "nothing");
    world.refuses(&["restore", "nothing", "--dry-run"], 4, "no_such_workflow");
}
