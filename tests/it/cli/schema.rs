//! `ckpt schema`

use serde_json::{Value, json};

use crate::support::project::World;

#[test]
fn every_schema_that_is_listed_prints_as_a_schema() {
    let world = World::new();
    let names = world.run(&["schema", "--list"]).succeeds().stdout;
    assert!(names.lines().any(|name| name == "checkpoint.v1"), "{names}");
    for name in names.lines() {
        let schema: Value = serde_json::from_str(&world.run(&["schema", name]).succeeds().stdout).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert!(ckpt_model::schema::Validator::named(name).is_some(), "{name} compiles");
    }
}

#[test]
fn it_is_that_of_checkpoints_unless_another_is_named() {
    let world = World::new();
    let default = world.run(&["schema"]).succeeds().stdout;
    for name in ["checkpoint", "checkpoint.v1"] {
        assert_eq!(world.run(&["schema", name]).succeeds().stdout, default);
    }
    assert_ne!(world.run(&["schema", "list"]).succeeds().stdout, default);
    let answer = world.json(&["schema", "list"]);
    assert_eq!((&answer["name"], &answer["schema"]["type"]), (&json!("ckpt.list.v1"), &json!("object")));
}

#[test]
fn what_is_stored_is_valid_by_it() {
    let world = World::new();
    world.write("spec.md", "hello");
    world.configure("[resume]\nwatch = [\"spec.md\"]\n");
    let phase = ["save", "042", "--phase", "1", "--total", "2", "--status", "failed", "--error", "e"];
    let content = ["--task", "t=failed,after=u", "--artifact", "spec.md", "--label", "l", "--pin", "--key", "k"];
    world.run(&[&phase[..], &content].concat()).succeeds();
    let shown = world.json(&["show", "042"]);
    assert_eq!((&shown["valid"], &shown["violations"]), (&json!(true), &json!([])));
}

#[test]
fn an_unknown_one_is_not_found() {
    World::new().refuses(&["schema", "nothing"], 4, "no_such_schema");
}
