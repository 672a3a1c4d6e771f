//! How files of older and newer formats are told apart from damage.

use serde_json::{Value, json};

use crate::support::project::{World, sealed};

/// Writes the checkpoint of `042` as a file of another format, with a correct checksum.
fn plant(world: &World, workflow: &str, version: &str) -> Vec<u8> {
    let mut document: Value = world.stored("042", 1);
    document["version"] = json!(version);
    document["workflow"] = json!(workflow);
    let bytes = sealed(document);
    std::fs::create_dir_all(world.workflow_dir(workflow)).unwrap();
    std::fs::write(world.checkpoint_file(workflow, 1), &bytes).unwrap();
    bytes
}

#[test]
fn a_newer_format_is_told_apart_from_a_damaged_file_and_from_one_that_is_too_old() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--title", "Search"]).succeeds();
    plant(&world, "newer", "2.0");
    plant(&world, "ancient", "0.1");
    let mut torn = plant(&world, "torn", "1.0");
    torn.truncate(torn.len() / 2);
    std::fs::write(world.checkpoint_file("torn", 1), &torn).unwrap();
    for (workflow, code) in [("newer", "format_newer"), ("ancient", "damaged"), ("torn", "damaged")] {
        world.refuses(&["resume", workflow], 6, code);
    }
    let report = world.run(&["verify", "ancient", "--json"]).document();
    assert!(report.to_string().contains("has format 0.1, which this program cannot read"), "{report}");
}
