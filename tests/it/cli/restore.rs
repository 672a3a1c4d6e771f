//! `ckpt restore`

use serde_json::json;

use crate::world::World;

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
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.run(&["restore", "42"]), @"
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
        assert_eq!((&again["restored"], &again["revived"]), (&json!([]), &json!(null)));
        assert_eq!(again["handle"], "042/5");
    }
}

#[test]
fn one_checkpoint_comes_back_alone() {
    let (world, files) = archived();
    let answer = world.json(&["restore", "042/2"]);
    assert_eq!((&answer["restored"], &answer["revived"]), (&json!(["042/2"]), &json!(null)));
    assert_eq!(answer["handle"], "042/4");
    assert_eq!(std::fs::read(world.checkpoint_file("042", 2)).unwrap(), files[1]);
    assert!(std::fs::read(world.checkpoint_file("042", 1)).unwrap().is_empty());
    assert_eq!(world.json(&["restore", "042/2"])["restored"], json!([]));
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
    assert_eq!(answer["restored"], json!(["042/3", "042/1"]));
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
    assert_eq!(answer["restored"], json!(["042/5", "042/4"]));
    let items: Vec<_> = answer["failures"].as_array().unwrap().iter().map(|line| &line["item"]).collect();
    assert_eq!(items, [path.as_str(), "042/1", "042/2", "042/3"]);
    world.refuses(&["restore", "042/1"], 6, "damaged_bundle");
}
