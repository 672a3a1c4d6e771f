//! Which store a command uses when none is named.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::project::{Invocation, World, can_mount, skip};

/// A store in `around`, a directory of the world, with one checkpoint of `042`.
fn plant(world: &World, around: &str) {
    let directory = world.temp().join(around);
    std::fs::create_dir_all(&directory).unwrap();
    let store = directory.join(".ckpt");
    world.run(&["save", "042", "--phase", "other", "--store", store.to_str().unwrap()]).succeeds();
}

/// A command that searches all of the world, and not only its project.
fn unbounded<'a>(world: &'a World, args: &[&str]) -> Invocation<'a> {
    world.ckpt(args).env("CKPT_CEILING_DIRECTORIES", world.temp().parent().unwrap())
}

fn store_of(world: &World, call: Invocation<'_>) -> String {
    let saved = call.json();
    let file = saved["path"].as_str().unwrap().to_owned();
    let store = Path::new(&file).ancestors().nth(3).unwrap();
    store.strip_prefix(world.temp()).unwrap().display().to_string()
}

#[test]
fn a_git_checkout_is_not_captured_by_a_store_above_it() {
    let world = World::new();
    plant(&world, "");
    std::fs::create_dir_all(world.project().join(".git")).unwrap();
    std::fs::create_dir_all(world.project().join("src/deep")).unwrap();
    let saved = unbounded(&world, &["save", "042", "--phase", "own"]).dir("src/deep").run().succeeds();
    assert_eq!(world.numbers("042"), [1], "{saved}");
}

#[test]
fn the_store_in_the_root_of_the_checkout_is_used_from_below_without_a_word() {
    let world = World::with_checkpoints(1);
    std::fs::create_dir_all(world.project().join(".git")).unwrap();
    std::fs::create_dir_all(world.project().join("src/deep")).unwrap();
    let saved = unbounded(&world, &["save", "042", "--phase", "2"]).dir("src/deep").run().succeeds();
    assert_eq!(world.numbers("042"), [1, 2]);
    assert!(!saved.stderr.contains("Using the store"), "{saved}");
}

#[test]
fn a_store_in_a_directory_above_is_named_first() {
    let world = World::with_checkpoints(1);
    std::fs::create_dir_all(world.project().join("src")).unwrap();
    for args in [&["list"][..], &["resume", "042"], &["brief"], &["save", "042"]] {
        let outcome = world.ckpt(args).dir("src").run();
        let first = format!("Using the store {}", world.store().display());
        assert_eq!(outcome.stderr.lines().next(), Some(&*first), "{outcome}");
        assert_eq!(outcome.stderr.matches("Using the store").count(), 1, "{outcome}");
    }
    let quiet = world.ckpt(&["save", "042", "-q"]).dir("src").run().succeeds();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn outside_a_checkout_the_search_ends_below_the_home_directory() {
    let world = World::new();
    plant(&world, "home");
    let below = world.home().join("work");
    std::fs::create_dir_all(&below).unwrap();
    unbounded(&world, &["list"]).dir(&below).refused(4, "no_store");
    assert_eq!(store_of(&world, unbounded(&world, &["save", "042"]).dir(&below)), "home/work/.ckpt");
    // Someone who stands in it means it.
    assert_eq!(store_of(&world, unbounded(&world, &["save", "042"]).dir(world.home())), "home/.ckpt");
}

#[test]
fn the_search_does_not_enter_a_directory_that_everybody_may_write_to() {
    let world = World::new();
    plant(&world, "shared");
    let shared = world.temp().join("shared");
    let below = shared.join("work/deep");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    unbounded(&world, &["list"]).dir(&below).refused(4, "no_store");
    unbounded(&world, &["list"]).dir(&shared).run().succeeds();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
    unbounded(&world, &["list"]).dir(&below).run().succeeds();
}

#[test]
fn the_search_ends_at_a_file_system_boundary() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = World::with_checkpoints(1);
    std::fs::create_dir_all(world.project().join("mounted")).unwrap();
    let script = "mount -t tmpfs tmpfs mounted && mkdir mounted/below && cd mounted/below && exec \"$@\"";
    let list = world.ckpt(&["list"]).under(&["unshare", "-m", "/bin/sh", "-c", script, "sh"]);
    let list = list.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run().exits(4);
    assert!(list.stderr.contains("no store"), "{list}");
}

#[test]
fn ceilings_end_the_search_for_the_store_and_for_the_checkout() {
    let world = World::with_checkpoints(1);
    let below = world.project().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir_all(world.project().join(".git")).unwrap();
    let link = world.temp().join("link");
    std::os::unix::fs::symlink(&below, &link).unwrap();
    let list = |ceilings: &str| {
        let ceilings = ceilings.replace('$', world.temp().to_str().unwrap());
        world.ckpt(&["list"]).dir(below.join("c")).env("CKPT_CEILING_DIRECTORIES", ceilings).run().code()
    };
    std::fs::create_dir_all(below.join("c")).unwrap();
    for (ceilings, exit) in [
        ("/nowhere:relative", 0),
        ("$", 0),
        // The directory of the store itself is not entered, nor one below it.
        ("$/project", 4),
        ("/nowhere:$/project/a", 4),
        // A link is resolved, unless an empty entry stands before it. The current directory is never left out.
        ("$/link", 4),
        (":$/link", 0),
        ("$/project/a/b/c", 0),
    ] {
        assert_eq!(list(ceilings), exit, "{ceilings}");
    }
}
