//! `--expect`, `--key` and `--if-changed`.

use serde_json::json;

use crate::support::project::World;

#[test]
fn expecting_the_newest_saves() {
    let world = World::with_checkpoints(2);
    assert_eq!(world.json(&["save", "042", "--expect", "042/2"])["handle"], "042/3");
}

#[test]
fn expecting_another_one_is_a_conflict() {
    let world = World::with_checkpoints(2);
    let failure = world.refuses(&["save", "042", "--expect", "042/1"], 8, "conflict");
    assert_eq!((&failure["context"]["expected"], &failure["context"]["newest"]), (&json!("042/1"), &json!("042/2")));
    assert!(failure["help"].to_string().contains("--expect 042/2"), "{failure}");
    world.refuses(&["save", "042", "--expect", "042/3"], 8, "conflict");
}

#[test]
fn expecting_zero_means_there_must_be_none() {
    let world = World::new();
    assert_eq!(world.json(&["save", "042", "--expect", "042/0"])["handle"], "042/1");
    world.refuses(&["save", "042", "--expect", "042/0"], 8, "conflict");
    let failure = world.refuses(&["save", "new", "--expect", "new/1"], 8, "conflict");
    assert_eq!(failure["context"]["newest"], json!(null));
}

#[test]
fn an_expectation_names_one_checkpoint_of_the_same_workflow() {
    let world = World::with_checkpoints(1);
    world.refuses(&["save", "042", "--expect", "042"], 2, "invalid_selector");
    world.refuses(&["save", "042", "--expect", "042~0"], 2, "invalid_selector");
    world.refuses(&["save", "042", "--expect", "other/1"], 2, "usage");
}

#[test]
fn saying_the_same_save_again_under_its_key_returns_the_first_handle() {
    let world = World::new();
    let save = ["save", "042", "--phase", "a", "--data", r#"{"x":1}"#, "--key", "attempt-7"];
    assert_eq!(world.json(&save)["created"], true);
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    let again = world.json(&save);
    assert_eq!((&again["created"], &again["handle"]), (&json!(false), &json!("042/1")));
    assert_eq!(world.numbers("042"), [1, 2]);
    let outcome = world.run(&save);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Nothing new: 042/1 was saved under this key
    --- end
    ");
}

#[test]
fn a_key_is_good_for_one_save() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--key", "k"]).succeeds();
    let failure = world.refuses(&["save", "042", "--phase", "b", "--key", "k"], 8, "key_reused");
    assert_eq!(failure["context"], json!({"key": "k", "handle": "042/1"}));
}

#[test]
fn unknown_fields_are_part_of_what_a_key_stands_for() {
    let world = World::new();
    let save = |ticket: u32| {
        world.ckpt(&["save", "042", "--key", "k", "--from", "-"]).stdin(format!(r#"{{"ticket":{ticket}}}"#))
    };
    save(1).run().succeeds();
    assert_eq!(save(1).json()["created"], false);
    save(2).refused(8, "key_reused");
}

#[test]
fn a_repeated_save_of_a_file_that_changed_meanwhile_is_a_repetition() {
    let world = World::new();
    let save = ["save", "042", "--artifact", "log.txt", "--key", "k"];
    world.write("log.txt", "one");
    world.run(&save).succeeds();
    world.write("log.txt", "one two");
    assert_eq!(world.json(&save)["created"], false);
}

#[test]
fn a_key_and_an_expectation_go_together() {
    let world = World::new();
    let save = ["save", "042", "--phase", "a", "--expect", "042/0", "--key", "k"];
    world.run(&save).succeeds();
    assert_eq!(world.json(&save)["handle"], "042/1", "the retry of a whole command is not a conflict");
}

#[test]
fn if_changed_writes_only_news() {
    let world = World::new();
    let save = ["save", "042", "--phase", "a", "--data", r#"{"x":1}"#, "--if-changed"];
    assert_eq!(world.json(&save)["created"], true);
    let before = world.tree();
    let again = world.json(&save);
    assert_eq!((&again["created"], &again["handle"]), (&json!(false), &json!("042/1")));
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    for news in [&["--data", r#"{"x":2}"#][..], &["--note", "n"], &["--pin"], &["--label", "l"]] {
        let answer = world.json(&[&["save", "042", "--if-changed"][..], news].concat());
        assert_eq!(answer["created"], true, "{news:?}");
    }
}
