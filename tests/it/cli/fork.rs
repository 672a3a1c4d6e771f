//! `ckpt fork`

use serde_json::{Value, json};

use crate::support::project::World;

fn world() -> World {
    let world = World::new();
    let first = ["save", "042", "--phases", "a,b,c", "--phase", "a", "--title", "OAuth", "--state", r#"{"n": 1.50}"#];
    world.run(&first).succeeds();
    world.run(&["save", "042", "--phase", "b", "--task", "t=running", "--next", "Write it", "--label", "l"]).succeeds();
    world
}

/// Returns the content of a checkpoint.
fn content(mut document: Value) -> Value {
    let own = ["sha256", "workflow", "seq", "saved_at", "trigger", "note", "writer", "save_id", "parent", "origin"];
    own.iter().for_each(|name| drop(document.as_object_mut().unwrap().remove(*name)));
    document
}

#[test]
fn a_fork_has_the_content_of_its_origin_and_remembers_it() {
    let world = world();
    let outcome = world.run(&["fork", "042", "--as", "redis", "--note", "try it"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    redis/1
    --- stderr
    Forked 042/2 as redis/1, a new workflow: phase b complete, 2 of 3 done. Next: c. Resume with: ckpt resume redis
    --- end
    ");
    let (origin, fork) = (world.stored("042", 2), world.stored("redis", 1));
    assert_eq!(content(fork.clone()), content(origin.clone()));
    assert_eq!(fork["origin"], json!({"workflow": "042", "seq": 2, "sha256": origin["sha256"]}));
    assert_eq!((&fork["parent"], &fork["trigger"], &fork["note"]), (&Value::Null, &json!("fork"), &json!("try it")));
    assert!(world.run(&["show", "redis"]).stdout.contains("  origin     042/2\n"));
    // Every checkpoint of the fork says where it comes from, until it starts over.
    world.run(&["save", "redis", "--phase", "c"]).succeeds();
    assert_eq!(world.stored("redis", 2)["origin"]["seq"], 2);
    world.run(&["save", "redis", "--fresh", "--phase", "a"]).succeeds();
    assert_eq!(world.stored("redis", 4)["origin"], Value::Null);
    assert_eq!(world.json(&["verify"])["ok"], true);
    assert_eq!(world.numbers("042"), [1, 2], "the other workflow is as it was");
}

#[test]
fn any_checkpoint_can_be_forked_also_an_archived_one() {
    let world = world();
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let answer = world.json(&["fork", "042/1", "--as", "again", "--title", "Other"]);
    assert_eq!((&answer["origin"], &answer["handle"]), (&json!("042/1"), &json!("again/1")));
    assert_eq!(world.stored("again", 1)["title"], "Other");
    assert_eq!(world.json(&["fork", "042", "--as", "sealed"])["origin"], "042/2", "the content below the seal");
}

#[test]
fn an_existing_workflow_is_never_forked_into() {
    let world = world();
    world.run(&["fork", "042", "--as", "redis"]).succeeds();
    let outcome = world.run(&["fork", "042/1", "--as", "redis"]);
    insta::assert_snapshot!(outcome, @"
    exit 8
    --- stderr
    error: there is a workflow `redis` already
      help: choose another id with `--as`
      help: `ckpt merge redis 042` combines the two
    --- end
    ");
    assert_eq!(world.numbers("redis"), [1]);
    world.run(&["archive", "redis", "--as", "abandoned"]).succeeds();
    assert_eq!(world.run(&["fork", "042", "--as", "redis"]).code(), 8, "an archived one exists too");
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = world();
    let answer = world.json(&["fork", "042", "--as", "redis", "--dry-run"]);
    assert_eq!((&answer["applied"], &answer["created"]), (&json!(false), &json!(false)));
    assert!(!world.workflow_dir("redis").exists());
}
