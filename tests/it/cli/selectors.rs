//! One grammar for naming checkpoints, wherever one is named.

use serde_json::json;

use crate::support::project::World;

#[test]
fn newest_number_and_steps_back() {
    let world = World::with_checkpoints(3);
    let cases = [
        ("042", "042/3"),
        ("042/1", "042/1"),
        ("042/3", "042/3"),
        ("042~0", "042/3"),
        ("042~1", "042/2"),
        ("042~", "042/2"),
        ("042~2", "042/1"),
        ("042/01", "042/1"),
    ];
    for (selector, handle) in cases {
        assert_eq!(world.json(&["show", selector])["handle"], handle, "{selector}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let world = World::with_checkpoints(2);
    for selector in ["042/3", "042/0", "042~2", "042/18446744073709551615", "042~18446744073709551615"] {
        let failure = world.refuses(&["show", selector], 4, "no_such_checkpoint");
        assert_eq!(failure["context"]["newest"], "042/2", "{selector}");
    }
    world.refuses(&["show", "nope"], 4, "no_such_workflow");
    world.refuses(&["log", "nope"], 4, "no_such_workflow");
}

#[test]
fn what_is_no_selector_is_refused() {
    let world = World::with_checkpoints(1);
    let cases = [
        ("042~x", "invalid_selector"),
        ("042/99999999999999999999", "invalid_selector"),
        ("042/x", "invalid_selector"),
        ("042/-1", "invalid_selector"),
        ("042/latest", "invalid_selector"),
        ("042:1", "invalid_selector"),
        ("042@1", "invalid_selector"),
        ("/1", "invalid_id"),
        ("~1", "invalid_id"),
        ("a/b/1", "invalid_selector"),
        ("", "invalid_id"),
    ];
    for (selector, code) in cases {
        world.refuses(&["show", selector], 2, code);
    }
}

#[test]
fn a_number_finds_the_only_workflow_that_is_equal_to_it() {
    let world = World::with_checkpoints(2);
    for typed in ["42", "042", "0042", "000042"] {
        assert_eq!(world.json(&["show", typed])["handle"], "042/2", "{typed}");
    }
    assert_eq!(world.json(&["show", "42/1"])["handle"], "042/1");
    assert_eq!(world.json(&["show", "42~1"])["handle"], "042/1");
    assert_eq!(world.json(&["log", "42"])["workflow"], "042");
    assert_eq!(world.json(&["save", "42"])["handle"], "042/3", "a save continues it, too");
    world.refuses(&["show", "4"], 4, "no_such_workflow");
    world.refuses(&["show", "420"], 4, "no_such_workflow");
}

#[test]
fn two_equal_numbers_are_ambiguous() {
    let world = World::new();
    let directory = |id: &str| world.store().join("workflows").join(id);
    world.run(&["save", "0042"]).succeeds();
    std::fs::rename(directory("0042"), directory("kept")).unwrap();
    world.run(&["save", "042"]).succeeds();
    std::fs::rename(directory("kept"), directory("0042")).unwrap();
    for command in ["show", "log", "save"] {
        let failure = world.refuses(&[command, "42"], 5, "ambiguous");
        assert_eq!(failure["context"]["candidates"], json!(["042", "0042"]), "{command}");
    }
    let outcome = world.run(&["show", "42"]);
    insta::assert_snapshot!(outcome, @"
    exit 5
    --- stderr
    error: `42` could be any of 2 workflows
      help: write it in full: `042` and `0042`
    --- end
    ");
    assert_eq!(world.json(&["show", "0042"])["handle"], "0042/1", "the exact name is never ambiguous");
}

#[test]
fn a_prefix_never_matches() {
    let world = World::new();
    world.run(&["save", "auth_system"]).succeeds();
    let outcome = world.run(&["show", "auth"]);
    insta::assert_snapshot!(outcome, @"
    exit 4
    --- stderr
    error: there is no workflow `auth`; one contains it
      help: ckpt show auth_system
    --- end
    ");
    assert_eq!(world.json(&["save", "auth"])["handle"], "auth/1");
}

#[test]
fn up_to_three_similar_names_are_offered() {
    let world = World::new();
    for id in ["login-a", "login-b", "login-c", "login-d", "unrelated"] {
        world.run(&["save", id]).succeeds();
    }
    let failure = world.refuses(&["show", "login-x"], 4, "no_such_workflow");
    assert_eq!(failure["context"]["similar"], json!(["login-a", "login-b", "login-c"]));
    let failure = world.refuses(&["show", "zzz"], 4, "no_such_workflow");
    assert_eq!(failure["context"]["similar"], json!([]));
}

#[test]
fn upper_and_lower_case_are_two_workflows() {
    let world = World::new();
    world.run(&["save", "Auth", "--title", "upper"]).succeeds();
    world.run(&["save", "auth", "--title", "lower"]).succeeds();
    assert_eq!(world.json(&["show", "Auth"])["checkpoint"]["title"], "upper");
    assert_eq!(world.json(&["show", "auth"])["checkpoint"]["title"], "lower");
    assert_eq!(world.json(&["list"])["total"], 2);
    assert_ne!(
        world.workflow_dir("Auth").to_str().unwrap().to_lowercase(),
        world.workflow_dir("auth").to_str().unwrap()
    );
}
