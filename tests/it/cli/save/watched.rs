//! Watched files: their content is remembered with every save.

use serde_json::json;

use crate::world::World;

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

#[test]
fn watched_files_are_hashed_and_missing_ones_recorded_as_missing() {
    let world = World::new();
    world.configure("[resume]\nwatch = [\"CONTEXT.md\", \"docs/later.md\"]\n");
    world.write("CONTEXT.md", "hello");
    world.ckpt(&["save", "042"]).dir(".ckpt").run().succeeds();
    assert_eq!(
        world.stored("042", 1)["context"]["watched"],
        json!([{"path": "CONTEXT.md", "sha256": HELLO}, {"path": "docs/later.md", "sha256": null}])
    );
}

#[test]
fn nothing_outside_the_project_is_watched() {
    let world = World::new();
    std::fs::write(world.temp().join("outside"), "hello").unwrap();
    std::os::unix::fs::symlink("../outside", world.project().join("link")).unwrap();
    world.configure("[resume]\nwatch = [\"../outside\", \"link\", \"/etc/hostname\", \"/dev/zero\"]\n");
    world.run(&["save", "042"]).succeeds();
    for watched in world.stored("042", 1)["context"]["watched"].as_array().unwrap() {
        assert_eq!(watched["sha256"], json!(null), "{watched}");
    }
}
