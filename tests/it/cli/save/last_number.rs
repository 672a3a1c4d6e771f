//! A file with the highest number that there is: nothing can follow it, and the error comes at once.

use std::fs;

use serde_json::json;

use crate::support::project::{World, sealed};

/// `042` with two checkpoints, and a valid one that was put there under the highest number.
fn planted() -> World {
    let world = World::new();
    for phase in ["plan", "build"] {
        world.run(&["save", "042", "--phase", phase]).succeeds();
    }
    let mut document = world.stored("042", 2);
    document["seq"] = json!(u64::MAX);
    fs::write(world.checkpoint_file("042", u64::MAX), sealed(document)).unwrap();
    world
}

#[test]
fn a_save_names_the_file_and_what_to_do() {
    let world = planted();
    let path = world.checkpoint_file("042", u64::MAX);
    let commands: [&[&str]; 3] =
        [&["save", "042", "--phase", "test"], &["rollback", "042/1"], &["archive", "042", "--as", "abandoned"]];
    for args in commands {
        let failure = world.refuses(args, 6, "damaged");
        assert_eq!(failure["context"]["handle"], "042/18446744073709551615", "{args:?}: {failure}");
        let fix = format!("move it out of the store: `mv {} .`", path.display());
        assert_eq!(failure["help"][1], fix, "{args:?}: {failure}");
    }
    // What it says is true.
    fs::rename(path, world.project().join("moved.json")).unwrap();
    assert_eq!(world.json(&["save", "042", "--phase", "test"])["handle"], "042/3");
    world.run(&["verify"]).succeeds();
}

/// The highest number that a save may be followed by is an ordinary one.
#[test]
fn a_save_follows_any_other_number() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "plan"]).succeeds();
    let mut document = world.stored("042", 1);
    document["seq"] = json!(99_999_999);
    fs::write(world.checkpoint_file("042", 99_999_999), sealed(document)).unwrap();
    assert_eq!(world.json(&["save", "042", "--phase", "test"])["handle"], "042/100000000");
}
