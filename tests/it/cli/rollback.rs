//! `ckpt rollback`

use serde_json::{Value, json};

use crate::support::project::World;

fn world() -> World {
    let world = World::new();
    world.write("s1.md", "one");
    let first = ["save", "042", "--phases", "a,b,c,d", "--phase", "a", "--artifact", "s1=s1.md", "--note", "said"];
    world.run(&[&first[..], &["--state", r#"{"n": 1.50}"#, "--pin", "--next-phase", "c"]].concat()).succeeds();
    world.run(&["save", "042", "--phase", "b", "--set", "n=2", "--task", "t=running"]).succeeds();
    world.run(&["save", "042", "--phase", "c", "--title", "t", "--label", "l"]).succeeds();
    world
}

/// Returns the content of a checkpoint.
fn content(mut document: Value) -> Value {
    let own = ["sha256", "seq", "saved_at", "trigger", "note", "writer", "save_id", "parent", "pinned", "copy_of"];
    own.iter().for_each(|name| drop(document.as_object_mut().unwrap().remove(*name)));
    document
}

#[test]
fn the_content_of_an_earlier_checkpoint_is_the_newest_again() {
    let world = world();
    let outcome = world.run(&["rollback", "042/1", "--note", "wrong way"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/4
    --- stderr
    Rolled back to 042/1 in 042/4: phase a complete, 1 of 4 done. Next: c. Resume with: ckpt resume 042
    Undo the rollback with: ckpt rollback 042/3
    Files were left as they are; `ckpt resume` compares them with the checkpoint
    --- end
    ");
    let (earlier, newest) = (world.stored("042", 1), world.stored("042", 4));
    assert_eq!(content(newest.clone()), content(earlier.clone()));
    assert_eq!(newest["copy_of"], json!({"seq": 1, "sha256": earlier["sha256"]}));
    assert_eq!(newest["parent"]["seq"], 3);
    assert_eq!((&newest["note"], &newest["pinned"]), (&json!("wrong way"), &Value::Null));
    assert!(world.run(&["show", "042"]).stdout.contains("  copy of    042/1\n"));
    assert_eq!(world.json(&["resume", "042"])["phase"], "c");
    assert_eq!(world.json(&["verify"])["ok"], true);
    // The one after it is not a copy.
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    assert_eq!(world.stored("042", 5)["copy_of"], Value::Null);
}

#[test]
fn the_undo_it_prints_works() {
    let world = world();
    let answer = world.json(&["rollback", "042~2"]);
    assert_eq!((&answer["copy_of"], &answer["handle"]), (&json!("042/1"), &json!("042/4")));
    let undo: Vec<String> = serde_json::from_value(answer["undo"].clone()).unwrap();
    assert_eq!(undo, ["ckpt", "rollback", "042/3"]);
    world.run(&undo[1..].iter().map(String::as_str).collect::<Vec<_>>()).succeeds();
    assert_eq!(content(world.stored("042", 5)), content(world.stored("042", 3)));
}

#[test]
fn saying_it_twice_takes_back_no_more() {
    let world = world();
    world.run(&["rollback", "042/1"]).succeeds();
    let again = world.json(&["rollback", "042/1"]);
    assert_eq!((&again["handle"], &again["created"], &again["undo"]), (&json!("042/4"), &json!(false), &Value::Null));
    assert_eq!(world.json(&["rollback", "042/4"])["created"], false);
}

#[test]
fn a_finished_workflow_goes_on() {
    let world = world();
    assert_eq!(world.json(&["save", "042", "--phase", "d", "--task", "t=complete"])["status"], "complete");
    assert_eq!(world.json(&["rollback", "042/2"])["status"], "in_progress");
    // Everything but the last one was archived then.
    assert_eq!(world.json(&["rollback", "042/4"])["status"], "complete");
}

#[test]
fn which_checkpoint_must_be_said_and_must_be_there() {
    let world = world();
    let before = world.tree();
    world.refuses(&["rollback", "042"], 2, "no_checkpoint_named");
    world.refuses(&["rollback", "nothing"], 4, "no_such_workflow");
    world.refuses(&["rollback", "042/9"], 4, "no_such_checkpoint");
    world.refuses(&["rollback", "042~3"], 4, "no_such_checkpoint");
    world.refuses(&["rollback", "042/1", "--expect", "042/2"], 8, "conflict");
    world.refuses(&["rollback", "042/1", "--expect", "043/3"], 2, "usage");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    world.run(&["rollback", "042/1", "--expect", "042/3"]).succeeds();
    world.replace_checkpoint("042", 2, b"x");
    world.refuses(&["rollback", "042/2"], 6, "damaged");
}

#[test]
fn an_archived_checkpoint_can_be_continued_from() {
    let world = world();
    let second = content(world.stored("042", 2));
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    let answer = world.json(&["rollback", "042/2"]);
    assert_eq!((&answer["handle"], &answer["undo"][2]), (&json!("042/5"), &json!("042/4")));
    assert_eq!(content(world.stored("042", 5)), second);
    // The undo names the seal, which stands for the last one before it.
    assert_eq!(world.json(&["rollback", "042/4"])["copy_of"], "042/3");
}

#[test]
fn a_key_that_was_used_stays_used() {
    let world = World::with_checkpoints(1);
    world.run(&["save", "042", "--set", "n=1", "--key", "k"]).succeeds();
    world.run(&["rollback", "042/1"]).succeeds();
    assert_eq!(world.json(&["save", "042", "--set", "n=1", "--key", "k"])["handle"], "042/2");
}

/// A person who decides is not told that a trigger is switched off, and a secret in their words is replaced.
#[test]
fn decisions_are_recorded_whatever_is_switched_off() {
    let world = world();
    world.configure("[save.triggers]\nmanual = false\n");
    assert_eq!(world.json(&["save", "042", "--set", "n=9"])["skipped_trigger"], "manual");
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for (seq, args) in [
        (4, &["rollback", "042/2", "--note", secret][..]),
        (5, &["revise", "042", "--from", "a", "--reason", secret]),
        (6, &["approve", "042", "--phase", "a", "--note", secret]),
    ] {
        let answer = world.json(args);
        assert_eq!((&answer["seq"], &answer["created"]), (&json!(seq), &json!(true)), "{args:?}");
        assert_eq!(answer["redactions"].as_array().unwrap().len(), 1, "{args:?}");
        assert!(!world.stored("042", seq).to_string().contains(secret));
    }
    assert_eq!(world.json(&["log", "042"])["total"], 6);
}

#[test]
fn going_back_to_the_last_one_takes_an_archived_workflow_up_again() {
    let world = world();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    let answer = world.json(&["rollback", "042~1"]);
    assert_eq!((&answer["handle"], &answer["copy_of"]), (&json!("042/5"), &json!("042/3")));
    assert_eq!(world.json(&["resume", "042"])["verdict"], "ready");
}

#[test]
fn a_dry_run_foresees_the_checkpoint_and_writes_nothing() {
    let world = World::with_checkpoints(3);
    let before = world.tree();
    insta::assert_snapshot!(world.run(&["rollback", "042/1", "--dry-run"]), @"
    exit 0
    --- stdout
    042/4
    --- stderr
    Would roll back to 042/1 in 042/4: phase 1 complete, 1 done.
    --- end
    ");
    let planned = world.json(&["rollback", "042/1", "-n"]);
    world.refuses(&["rollback", "042/1", "-n", "--expect", "042/2"], 8, "conflict");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    let done = world.json(&["rollback", "042/1"]);
    assert_eq!(
        (&planned["applied"], &planned["created"], &planned["undo"]),
        (&json!(false), &json!(false), &json!(null))
    );
    assert_eq!((&done["applied"], &done["created"]), (&json!(true), &json!(true)));
    for key in ["handle", "copy_of", "phase", "done", "remaining", "status", "next", "path"] {
        assert_eq!(planned[key], done[key], "{key}");
    }
    // Above a seal, and where there is nothing to do.
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    assert_eq!(world.json(&["rollback", "042/1", "-n"])["handle"], "042/6");
    let world = World::with_checkpoints(2);
    world.run(&["rollback", "042/1"]).succeeds();
    let again = world.run(&["rollback", "042/1", "-n"]).succeeds();
    assert!(again.stderr.contains("Nothing new"), "{again}");
}
