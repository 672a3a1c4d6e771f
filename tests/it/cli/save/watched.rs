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
        json!([{"path": "CONTEXT.md", "sha256": HELLO, "seq": 1}, {"path": "docs/later.md", "sha256": null, "seq": 1}])
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
    assert_eq!(world.stored("042", 1)["context"]["watched"], json!([{"path": "link", "sha256": null, "seq": 1}]));
}

#[test]
fn a_watched_file_is_compared_with_the_save_that_said_it_was_read() {
    let world = World::new();
    world.write("plan.md", "one");
    world.run(&["save", "042", "--phases", "a,b", "--set", "plan_path=\"plan.md\""]).succeeds();
    assert_eq!(world.stored("042", 1)["context"]["watched"][0]["path"], "plan.md");
    world.write("plan.md", "two");
    world.run(&["start", "042", "--phase", "a"]).succeeds();
    let answer = world.json(&["resume", "042"]);
    let finding = &answer["findings"][0];
    assert_eq!(finding["message"], "plan.md changed since 042/1; read it again");
    world.shell(finding["help"][0].as_str().unwrap()).succeeds();
    assert_eq!(world.json(&["resume", "042"])["findings"], json!([]));
    std::fs::remove_file(world.project().join("plan.md")).unwrap();
    assert_eq!(world.json(&["resume", "042"])["findings"][0]["message"], "plan.md is gone since 042/3");
}
