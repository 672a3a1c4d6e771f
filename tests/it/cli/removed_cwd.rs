//! The working directory was removed: a store that is named by its full path still works.

use serde_json::json;

use crate::support::project::{Invocation, World};

/// Runs a command in a directory that no longer exists.
fn in_removed_directory<'a>(world: &'a World, args: &[&str]) -> Invocation<'a> {
    let removed = world.temp().join("removed");
    std::fs::create_dir_all(&removed).unwrap();
    world.ckpt(args).dir(&removed).in_shell("rmdir \"$PWD\" && exec \"$@\"")
}

#[test]
fn a_store_with_a_full_path_is_used() {
    let world = World::with_checkpoints(1);
    world.write("notes.md", "hello");
    let (store, notes) = (world.store(), world.project().join("notes.md"));
    let (store, notes) = (store.to_str().unwrap(), notes.to_str().unwrap());
    let target = world.temp().join("export.json");
    let commands: &[&[&str]] = &[
        &["list"],
        &["save", "042", "--artifact", notes],
        &["show", "042"],
        &["verify"],
        &["cleanup", "--dry-run"],
        &["export", "042", "--as", "kamiflow"],
        &["export", "042", "--as", "ckpt", "-o", target.to_str().unwrap()],
        &["brief", "042"],
    ];
    for args in commands {
        in_removed_directory(&world, &[&["--store", store], *args].concat()).run().succeeds();
        in_removed_directory(&world, args).env("CKPT_STORE", store).run().succeeds();
    }
    assert_eq!(world.stored("042", 2)["artifacts"][0]["path"], json!("notes.md"));
    assert!(world.project().join(".kamiflow").exists() && target.exists());
}

#[test]
fn relative_paths_are_not_found() {
    let world = World::with_checkpoints(1);
    world.write("notes.md", "hello");
    let store = world.store();
    let store = store.to_str().unwrap();
    let failure = in_removed_directory(&world, &["--store", store, "save", "042", "--artifact", "notes.md"]).run();
    assert!(failure.stderr.contains("notes.md") && failure.code() != 0, "{failure}");
    let relative = ["--store", store, "export", "042", "--as", "ckpt", "-o", "export.json"];
    assert_ne!(in_removed_directory(&world, &relative).run().code(), 0);
    for args in [&["list"][..], &["--store", "relative/.ckpt", "list"]] {
        let failure = in_removed_directory(&world, args).run().exits(1);
        assert!(failure.stderr.contains("working directory"), "{failure}");
    }
    assert_eq!(world.numbers("042"), [1]);
}
