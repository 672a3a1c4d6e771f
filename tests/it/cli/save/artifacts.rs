//! `--artifact`: files by size and digest.

use serde_json::{Value, json};

use crate::support::project::World;

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

fn recorded(world: &World, seq: u64) -> Value {
    world.stored("042", seq)["artifacts"].clone()
}

#[test]
fn a_file_is_recorded_under_its_path_or_its_name() {
    let world = World::new();
    world.write("docs/spec.md", "hello");
    world.run(&["save", "042", "--artifact", "docs/spec.md", "--artifact", "spec=docs/spec.md"]).succeeds();
    let entry = |name: &str| json!({"name": name, "path": "docs/spec.md", "size": 5, "sha256": HELLO});
    assert_eq!(recorded(&world, 1), json!([entry("docs/spec.md"), entry("spec")]));
}

#[test]
fn paths_start_where_the_command_was_typed() {
    let world = World::new();
    world.run(&["init"]).succeeds();
    world.write("docs/spec.md", "hello");
    world.write("top.md", "hello");
    world.ckpt(&["save", "042", "--artifact", "spec.md", "--artifact", "../top.md"]).dir("docs").run().succeeds();
    let paths: Vec<_> = recorded(&world, 1).as_array().unwrap().iter().map(|a| a["path"].clone()).collect();
    assert_eq!(paths, ["docs/spec.md", "top.md"]);
}

#[test]
fn recording_a_name_again_replaces_it() {
    let world = World::new();
    world.write("a.txt", "hello");
    world.write("b.txt", "");
    world.run(&["save", "042", "--artifact", "x=a.txt", "--artifact", "y=a.txt"]).succeeds();
    world.run(&["save", "042", "--artifact", "x=b.txt"]).succeeds();
    let now = recorded(&world, 2);
    assert_eq!((&now[0]["path"], &now[0]["size"]), (&json!("b.txt"), &json!(0)));
    assert_eq!((&now[1]["name"], &now[1]["path"]), (&json!("y"), &json!("a.txt")));
}

#[test]
fn a_path_may_contain_an_equals_sign() {
    let world = World::new();
    world.write("dir/a=b.txt", "hello");
    world.run(&["save", "042", "--artifact", "dir/a=b.txt", "--artifact", "n=dir/a=b.txt"]).succeeds();
    let names: Vec<_> = recorded(&world, 1).as_array().unwrap().iter().map(|a| a["name"].clone()).collect();
    assert_eq!(names, ["dir/a=b.txt", "n"]);
}

#[test]
fn a_link_inside_the_project_is_recorded_as_what_it_leads_to() {
    let world = World::new();
    world.write("real.txt", "hello");
    std::os::unix::fs::symlink("real.txt", world.project().join("link.txt")).unwrap();
    world.run(&["save", "042", "--artifact", "link.txt"]).succeeds();
    assert_eq!(recorded(&world, 1)[0]["path"], "real.txt");
}

#[test]
fn an_artifact_that_is_gone_can_be_forgotten() {
    let world = World::new();
    world.write("the spec.md", "x");
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--artifact", "the spec.md"]).succeeds();
    std::fs::remove_file(world.project().join("the spec.md")).unwrap();
    let answer = world.run(&["resume", "042", "--json"]).exits(7).document();
    let help: Vec<String> = serde_json::from_value(answer["findings"][0]["help"].clone()).unwrap();
    assert_eq!(help[1], "ckpt save 042 --forget-artifact 'the spec.md'");
    let words = shlex::split(&help[1]).unwrap();
    world.run(&words[1..]).succeeds();
    assert_eq!(world.stored("042", 2)["artifacts"], json!([]));
    world.run(&["resume", "042"]).succeeds();

    world.refuses(&["save", "042", "--forget-artifact", "x"], 2, "unknown_artifact");
    world.write("y", "");
    world.run(&["save", "042", "--artifact", "y"]).succeeds();
    let failure = world.refuses(&["save", "042", "--forget-artifact", "x"], 2, "unknown_artifact");
    assert_eq!(failure["context"]["artifacts"], json!(["y"]));
    let document = world.ckpt(&["save", "042", "--from", "-"]).stdin(r#"{"forget_artifacts": ["y"]}"#);
    assert_eq!(document.json()["created"], true);
    assert_eq!(world.stored("042", 4)["artifacts"], json!([]));
}
