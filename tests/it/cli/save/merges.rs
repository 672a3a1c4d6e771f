//! `--data`, `--state` and `--set`: what is merged, and how exactly it is kept.

use serde_json::{Value, json};

use crate::support::project::World;

fn state_after(saves: &[&[&str]]) -> Value {
    let world = World::new();
    for save in saves {
        world.run(&[&["save", "042"][..], save].concat()).succeeds();
    }
    world.stored("042", saves.len() as u64)["state"].clone()
}

#[test]
fn state_merges_and_null_removes() {
    let state = state_after(&[
        &["--state", r#"{"a":1,"b":{"c":2,"d":3},"e":[1,2]}"#],
        &["--state", r#"{"a":null,"b":{"c":null,"x":4},"e":[3]}"#],
    ]);
    assert_eq!(state, json!({"b": {"d": 3, "x": 4}, "e": [3]}));
}

#[test]
fn data_belongs_to_the_phase_and_merges_there() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--data", r#"{"x":1,"y":1}"#]).succeeds();
    world.run(&["save", "042", "--phase", "b", "--data", r#"{"x":2}"#]).succeeds();
    world.run(&["save", "042", "--phase", "a", "--data", r#"{"y":null,"z":3}"#]).succeeds();
    let phases = &world.stored("042", 3)["phases"];
    assert_eq!((&phases[0]["data"], &phases[1]["data"]), (&json!({"x": 1, "z": 3}), &json!({"x": 2})));
    world.run(&["save", "042", "--data", r#"{"w":4}"#]).succeeds();
    assert_eq!(world.stored("042", 4)["phases"][0]["data"]["w"], 4, "the phase of the newest save");
}

#[test]
fn data_without_any_phase_is_refused() {
    World::new().refuses(&["save", "042", "--data", "{}"], 2, "no_phase");
}

#[test]
fn set_takes_a_name_or_a_pointer() {
    let cases: [(&[&str], Value); 7] = [
        (&["--set", "retries=2"], json!({"retries": 2})),
        (&["--set", "name=\"x=y\""], json!({"name": "x=y"})),
        (&["--set", "a.b=true"], json!({"a.b": true})),
        (&["--set", "/a/b=1", "--set", "/a/c=2"], json!({"a": {"b": 1, "c": 2}})),
        (&["--set", "/a~1b/m~0n=[]"], json!({"a/b": {"m~n": []}})),
        (&["--set", "gone=null"], json!({"gone": null})),
        (&["--state", r#"{"a":1}"#, "--set", "a=2"], json!({"a": 2})),
    ];
    for (flags, expected) in cases {
        assert_eq!(state_after(&[flags]), expected, "{flags:?}");
    }
}

#[test]
fn set_refuses_what_is_no_member() {
    let world = World::new();
    world.refuses(&["save", "042", "--set", "x"], 2, "usage");
    world.refuses(&["save", "042", "--set", "=1"], 2, "usage");
    let failure = world.refuses(&["save", "042", "--set", "x=plain"], 2, "invalid_json");
    let mut help = failure["help"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(help.any(|line| line.contains(r#"--set 'x="plain"'"#)), "{failure}");
    world.run(&["save", "042", "--state", r#"{"a":[1]}"#]).succeeds();
    world.refuses(&["save", "042", "--set", "/a/0=1"], 2, "not_an_object");
}

#[test]
fn falsy_values_are_values() {
    let state = state_after(&[&["--state", r#"{"f":false,"z":0,"e":"","l":[],"o":{}}"#, "--set", "n=null"]]);
    assert_eq!(state.to_string(), r#"{"f":false,"z":0,"e":"","l":[],"o":{},"n":null}"#);
}

#[test]
fn a_whole_value_that_is_no_object_is_refused() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    for value in ["null", "false", "0", "\"\"", "[]"] {
        world.refuses(&["save", "042", "--state", value], 2, "not_an_object");
        world.refuses(&["save", "042", "--data", value], 2, "not_an_object");
    }
}

#[test]
fn json_comes_from_the_argument_a_file_or_stdin() {
    let world = World::new();
    world.write("state.json", r#"{"from":"file"}"#);
    world.run(&["save", "042", "--state", "@state.json"]).succeeds();
    assert_eq!(world.stored("042", 1)["state"], json!({"from": "file"}));
    world.ckpt(&["save", "042", "--state", "-"]).stdin(r#"{"from":"stdin"}"#).run().succeeds();
    assert_eq!(world.stored("042", 2)["state"], json!({"from": "stdin"}));
    world.ckpt(&["save", "042", "--set", "x=-"]).stdin("[1]").run().succeeds();
    assert_eq!(world.stored("042", 3)["state"]["x"], json!([1]));
}

#[test]
fn stdin_can_be_read_once() {
    let world = World::new();
    let twice = world.ckpt(&["save", "042", "--phase", "a", "--state", "-", "--data", "-"]).stdin("{}");
    let failure = twice.refused(2, "stdin_twice");
    assert!(failure["message"].as_str().unwrap().contains("--data and --state"), "{failure}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let failure = World::new().refuses(&["save", "042", "--state", "@nowhere.json"], 2, "unreadable_input");
    assert!(failure["message"].as_str().unwrap().contains("`nowhere.json`"), "{failure}");
}

#[test]
fn numbers_keys_and_their_order_are_kept_exactly() {
    let given = concat!(
        r#"{"z":9007199254740993,"a":1234567890123456789012345678901234567890,"#,
        r#""tiny":1.0,"exp":1e+999,"neg":-0,"__proto__":{"x":1},"Ä":"ü"}"#
    );
    let state = state_after(&[&["--state", given], &["--note", "copied once more"]]);
    assert_eq!(state.to_string(), given);
}
