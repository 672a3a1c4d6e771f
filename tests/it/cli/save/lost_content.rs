//! Saving to an archived workflow whose last content is gone.

use serde_json::json;

use crate::support::project::World;

/// `042`, archived with a state and a finished phase.
fn archived() -> World {
    let world = World::new();
    let declared = ["--title", "Login", "--phases", "plan,build", "--phase", "plan"];
    world.run(&[&["save", "042", "--state", r#"{"k": 1}"#][..], &declared].concat()).succeeds();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world
}

fn remove_bundles(world: &World) {
    for entry in std::fs::read_dir(world.store().join("archive/042")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

#[test]
fn it_says_that_the_content_is_gone_and_what_to_do() {
    let world = archived();
    remove_bundles(&world);
    world.refuses(&["save", "042", "--phase", "build"], 4, "archived");
    insta::assert_snapshot!(world.run(&["save", "042", "--phase", "build"]), @"
    exit 4
    --- stderr
    error: the content of `042/1` has left the live store, and no bundle holds it
      help: put the bundle back, if you have a copy of it
      help: or go on without it: `ckpt verify 042 --repair` records the loss and continues what is known
    --- end
    ");
    // What it says is true.
    world.run(&["verify", "042", "--repair"]).succeeds();
    let saved = world.json(&["save", "042", "--phase", "build"]);
    assert_eq!((&saved["handle"], &saved["done"]), (&json!("042/4"), &json!(["plan", "build"])));
    let shown = world.json(&["show", "042"])["checkpoint"].clone();
    assert_eq!((&shown["title"], &shown["state"]), (&json!("Login"), &json!({})));
    world.run(&["verify"]).succeeds();
}

#[test]
fn where_somebody_decided_on_it_the_workflow_goes_on_with_what_its_seal_knows() {
    let world = archived();
    remove_bundles(&world);
    let record = world.store().join("archive/042/00000001-00000001.deleted");
    std::fs::write(record, "expired\n").unwrap();
    let saved = world.json(&["save", "042", "--phase", "build"]);
    assert_eq!((&saved["handle"], &saved["done"]), (&json!("042/3"), &json!(["plan", "build"])));
    assert_eq!(world.json(&["show", "042"])["checkpoint"]["state"], json!({}));
    world.run(&["verify"]).succeeds();
}

#[test]
fn the_same_goes_for_one_that_was_purged() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    world.run(&["save", "042", "--title", "Login", "--phases", "plan", "--phase", "plan"]).succeeds();
    world.run(&["cleanup", "--max-age", "1s", "--purge", "--yes"]).succeeds();
    let saved = world.json(&["save", "042", "--note", "once more"]);
    assert_eq!((&saved["handle"], &saved["done"]), (&json!("042/3"), &json!(["plan"])));
    assert_eq!(world.json(&["show", "042"])["checkpoint"]["title"], "Login");
}
