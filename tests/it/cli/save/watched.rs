//! Watched files: their content is remembered with every save.

use serde_json::json;

use crate::support::project::World;

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
    for path in ["../outside", "/etc/hostname", "/dev/zero", "~/x", "a/../../b"] {
        world.configure(&format!("[resume]\nwatch = [\"{path}\"]\n"));
        let failure = world.refuses(&["save", "042"], 2, "invalid_config");
        assert!(failure["message"].as_str().unwrap().contains("lies outside the project"), "{path}");
    }
    // What a link leads to can change with every save.
    world.configure("[resume]\nwatch = [\"link\"]\n");
    world.run(&["save", "042"]).succeeds();
    assert_eq!(world.stored("042", 1)["context"]["watched"], json!([{"path": "link", "sha256": null}]));
}
