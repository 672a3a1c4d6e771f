//! `ckpt merge`, and the histories that it makes.

use serde_json::{Value, json};

use crate::support::project::World;

/// A workflow and a fork of it, both continued.
fn world() -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b,c", "--phase", "a", "--set", "n=1"]).succeeds();
    world.run(&["fork", "042", "--as", "redis"]).succeeds();
    world.run(&["save", "redis", "--phase", "b", "--set", "cache=true"]).succeeds();
    world.run(&["save", "042", "--task", "t=running", "--label", "l"]).succeeds();
    world
}

/// A world in which both sides have changed the same.
fn conflicting() -> World {
    let world = world();
    world.run(&["save", "042", "--set", "n=2", "--title", "Ours"]).succeeds();
    world.run(&["save", "redis", "--set", "n=3", "--title", "Theirs"]).succeeds();
    world
}

#[test]
fn the_result_is_one_checkpoint_with_both_parents() {
    let world = world();
    let outcome = world.run(&["merge", "042", "redis", "--note", "both"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/3
    --- stderr
    Merged redis/2 into 042/3: phase b complete, 2 of 3 done. Next: c. Resume with: ckpt resume 042
    Undo the merge with: ckpt rollback 042/2
    --- end
    ");
    let merged = world.stored("042", 3);
    assert_eq!(merged["merged"], json!({"workflow": "redis", "seq": 2, "sha256": world.stored("redis", 2)["sha256"]}));
    assert_eq!((&merged["parent"]["seq"], &merged["trigger"]), (&json!(2), &json!("merge")));
    assert_eq!(merged["state"], json!({"n": 1, "cache": true}));
    assert_eq!((&merged["tasks"][0]["id"], &merged["labels"]), (&json!("t"), &json!(["l"])));
    assert_eq!(world.numbers("redis"), [1, 2], "the other workflow is as it was");
    assert!(world.run(&["show", "042"]).stdout.contains("  merged     redis/2\n"));
    assert_eq!(world.json(&["verify"])["ok"], true);
    let entries = world.json(&["log", "042"])["entries"].clone();
    assert_eq!((&entries[0]["parents"], &entries[0]["merged"]), (&json!(["042/2", "redis/2"]), &json!("redis/2")));
    // The one after it has one parent again.
    world.run(&["save", "042", "--phase", "c"]).succeeds();
    assert_eq!(world.stored("042", 4)["merged"], Value::Null);
}

#[test]
fn merging_an_ancestor_changes_nothing() {
    let world = world();
    world.run(&["merge", "042", "redis"]).succeeds();
    for other in ["redis", "redis/1", "042/1", "042"] {
        let outcome = world.run(&["merge", "042", other]);
        assert!(outcome.stderr.starts_with("Nothing new: 042/3 continues "), "{outcome}");
        assert_eq!((outcome.code(), outcome.stdout.as_str()), (0, "042/3\n"));
    }
    assert_eq!(world.numbers("042"), [1, 2, 3]);
    assert_eq!(world.json(&["merge", "042", "redis"])["created"], false);
    // The other way round there is something new: what the first one did.
    world.run(&["merge", "redis", "042"]).succeeds();
    assert_eq!(world.stored("redis", 3)["state"], world.stored("042", 3)["state"]);
    assert_eq!(world.stored("redis", 3)["tasks"], world.stored("042", 3)["tasks"]);
}

#[test]
fn it_does_not_matter_which_side_is_merged_into() {
    let (one, other) = (world(), world());
    one.run(&["merge", "042", "redis"]).succeeds();
    other.run(&["merge", "042", "redis", "--into", "redis"]).succeeds();
    let (one, other) = (one.stored("042", 3), other.stored("redis", 3));
    for member in ["status", "phase", "next", "title", "labels", "pipeline", "phases", "tasks", "artifacts", "state"] {
        assert_eq!(one[member], other[member], "{member}");
    }
}

#[test]
fn conflicts_are_listed_with_both_values_and_refused() {
    let world = conflicting();
    let outcome = world.run(&["merge", "042", "redis"]);
    insta::assert_snapshot!(outcome, @r#"
    exit 8
    --- stderr
    error: both sides have changed 2 places
           /title: "Ours" or "Theirs"
           /state/n: 2 or 3
      help: `--ours` takes all of the first values, `--theirs` all of the second
      help: `--theirs=/title` takes one of them
      help: `--set /title=JSON` takes another value
    --- end
    "#);
    assert_eq!(world.numbers("042"), [1, 2, 3], "nothing was saved");
    let error = world.refuses(&["merge", "042", "redis"], 8, "merge_conflict");
    assert_eq!(error["context"]["conflicts"][1], json!({"pointer": "/state/n", "origin": 1, "ours": 2, "theirs": 3}));
}

#[test]
fn each_conflict_is_settled_by_a_side_or_by_a_value() {
    let result = |flags: &[&str]| {
        let world = conflicting();
        let answer = world.json(&[&["merge", "042", "redis"], flags].concat());
        assert_eq!(answer["settled"].as_array().unwrap().len(), 2);
        let stored = world.stored("042", 4);
        (stored["title"].clone(), stored["state"]["n"].clone())
    };
    assert_eq!(result(&["--ours"]), (json!("Ours"), json!(2)));
    assert_eq!(result(&["--theirs"]), (json!("Theirs"), json!(3)));
    assert_eq!(result(&["--theirs", "--ours=/title"]), (json!("Ours"), json!(3)));
    assert_eq!(result(&["--set", "/title=\"New\"", "--set", "/state/n=[4]"]), (json!("New"), json!([4])));
    let world = conflicting();
    assert_eq!(world.run(&["merge", "042", "redis", "--set", "/state/n=1"]).code(), 8, "one is left");
    assert_eq!(world.run(&["merge", "042", "redis", "--ours", "--theirs"]).code(), 2);
    world.refuses(&["merge", "042", "redis", "--ours", "--set", "/state/x=1"], 2, "no_conflict");
    world.refuses(&["merge", "042", "redis", "--ours", "--set", "/title=7"], 2, "invalid_merge");
}

#[test]
fn a_value_that_settles_a_conflict_is_searched_for_secrets() {
    let world = conflicting();
    let secret = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
    let set = format!("/title=\"{secret}\"");
    let answer = world.json(&["merge", "042", "redis", "--ours", "--set", &set]);
    assert_eq!(answer["redactions"], json!(["/title"]), "{answer}");
    assert!(!world.stored("042", 4).to_string().contains(&secret));
}

#[test]
fn workflows_without_a_common_checkpoint_are_merged_as_far_as_they_agree() {
    let world = World::new();
    world.run(&["save", "a", "--phase", "x", "--set", "n=1"]).succeeds();
    world.run(&["save", "b", "--phase", "y", "--set", "m=1"]).succeeds();
    let answer = world.json(&["merge", "a", "b", "--ours"]);
    assert_eq!(answer["origin"], Value::Null);
    assert_eq!(world.stored("a", 2)["state"], json!({"n": 1, "m": 1}));
    let phases = world.stored("a", 2)["phases"].clone();
    assert_eq!((&phases[0]["id"], &phases[1]["id"]), (&json!("x"), &json!("y")));
}

#[test]
fn a_later_merge_begins_where_the_last_one_ended() {
    let world = world();
    world.run(&["merge", "042", "redis"]).succeeds();
    // Both had `n` unchanged at the fork, and only one side has changed it since the merge.
    world.run(&["save", "redis", "--set", "n=5"]).succeeds();
    let answer = world.json(&["merge", "042", "redis"]);
    assert_eq!((&answer["origin"], &answer["settled"]), (&json!("redis/2"), &json!([])));
    assert_eq!(world.stored("042", 4)["state"]["n"], 5);
}

#[test]
fn only_a_workflow_is_merged_into_and_it_is_one_of_the_two() {
    let world = world();
    world.run(&["save", "third", "--phase", "a"]).succeeds();
    for line in [&["merge", "042/1", "redis"][..], &["merge", "042", "redis", "--into", "third"]] {
        let outcome = world.run(line);
        assert_eq!(outcome.code(), 2, "{outcome}");
        assert!(outcome.stderr.contains("help: "), "{outcome}");
    }
    assert_eq!(world.run(&["merge", "042", "nothing"]).code(), 4);
    assert_eq!(world.run(&["merge", "042", "redis", "--expect", "042/1"]).code(), 8);
    assert_eq!(world.json(&["merge", "042", "redis", "--dry-run"])["applied"], false);
    assert_eq!(world.numbers("042"), [1, 2]);
}

#[test]
fn tasks_of_both_sides_that_would_wait_for_each_other_are_refused() {
    let world = World::new();
    world.run(&["save", "a", "--task", "s=pending", "--task", "t=pending"]).succeeds();
    world.run(&["fork", "a", "--as", "b"]).succeeds();
    world.run(&["save", "a", "--task", "s=pending,after=t"]).succeeds();
    world.run(&["save", "b", "--task", "t=pending,after=s"]).succeeds();
    world.refuses(&["merge", "a", "b"], 2, "task_cycle");
}

#[test]
fn the_graph_shows_forks_merges_rollbacks_and_archives() {
    let world = world();
    world.run(&["merge", "042", "redis"]).succeeds();
    world.run(&["rollback", "042/2"]).succeeds();
    world.run(&["fork", "042", "--as", "third"]).succeeds();
    world.run(&["archive", "redis", "--as", "abandoned"]).succeeds();
    insta::assert_snapshot!(world.run(&["log", "042", "--graph"]).stdout, @r"
           CHECKPOINT  SAVED                     AFTER    CHANGED
    #      redis/3     2026-01-30T14:37:00.000Z  +5m 00s  archived as abandoned
    | *    third/1     2026-01-30T14:36:00.000Z  -        forked from 042/4
    | *    042/4       2026-01-30T14:35:00.000Z  +1m 00s  rolled back to 042/2
    | | *  042/3       2026-01-30T14:34:00.000Z  +1m 00s  merged redis/2, b done in 2m 00s, state
    |_|/|
    | |/
    | *    042/2       2026-01-30T14:33:00.000Z  +3m 00s  task t started, label l added
    * |    redis/2     2026-01-30T14:32:00.000Z  +1m 00s  b done in 2m 00s, state
    * |    redis/1     2026-01-30T14:31:00.000Z  -        forked from 042/1
    |/
    *      042/1       2026-01-30T14:30:00.000Z  -        3 phases, a done, state
    ");
    let entries = world.json(&["log", "042", "--graph"])["entries"].clone();
    let of = |handle: &str| entries.as_array().unwrap().iter().find(|entry| entry["handle"] == handle).unwrap().clone();
    assert_eq!((&of("redis/1")["parents"], &of("redis/1")["forked_from"]), (&json!(["042/1"]), &json!("042/1")));
    assert_eq!(world.json(&["log", "042"])["entries"].as_array().unwrap().len(), 4, "only its own without --graph");
}

#[test]
fn a_rollback_its_undo_and_the_rollback_again_give_the_same_content() {
    let world = world();
    world.run(&["merge", "042", "redis"]).succeeds();
    let content = |seq: u64| {
        let mut document = world.stored("042", seq);
        let own = ["sha256", "seq", "saved_at", "trigger", "note", "writer", "save_id", "parent", "copy_of", "merged"];
        own.iter().for_each(|name| drop(document.as_object_mut().unwrap().remove(*name)));
        document
    };
    world.run(&["rollback", "042/1"]).succeeds();
    world.run(&["rollback", "042/3"]).succeeds();
    world.run(&["rollback", "042/1"]).succeeds();
    assert_eq!((content(4), content(5), content(6)), (content(1), content(3), content(1)));
}
