//! Commands that read leave every byte, mode and time of the store alone, and need no right to write.

use crate::world::{World, can_mount, skip};

const READERS: [&[&str]; 19] = [
    &["list"],
    &["list", "--all", "--json"],
    &["list", "042"],
    &["list", "--status", "complete"],
    &["show", "042"],
    &["show", "042/1", "--json"],
    &["show", "42~1", "--raw"],
    &["show", "042", "--state"],
    &["show", "nothing"],
    &["show", "damaged"],
    &["list", "--archived"],
    &["archive", "--list"],
    &["show", "gone/1"],
    &["verify"],
    &["stats"],
    &["stats", "gone"],
    &["verify", "042", "--json"],
    &["schema"],
    &["man"],
];

fn world() -> World {
    let world = World::with_checkpoints(3);
    world.run(&["save", "damaged"]).succeeds();
    world.replace_checkpoint("damaged", 1, b"x");
    world.run(&["save", "gone"]).succeeds();
    world.run(&["archive", "gone", "--as", "failed"]).succeeds();
    world
}

#[test]
fn reading_changes_nothing() {
    let world = world();
    let before = world.tree();
    for args in READERS {
        world.run(args);
        assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "{args:?}");
    }
}

#[test]
fn reading_never_moves_the_newest() {
    let world = world();
    for args in READERS {
        world.run(args);
    }
    assert_eq!(world.json(&["show", "042"])["handle"], "042/3");
}

#[test]
fn reading_works_on_a_read_only_file_system() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = world();
    let mount = "mount --bind .ckpt .ckpt && mount -o remount,bind,ro .ckpt && exec \"$@\"";
    for args in READERS {
        let expected = world.run(args);
        let found = world
            .ckpt(args)
            .under(&["unshare", "-m", "/bin/sh", "-c", mount, "sh"])
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .run();
        assert_eq!(found.to_string(), expected.to_string(), "{args:?}");
    }
}

#[test]
fn a_store_that_is_whole_can_be_initialised_on_a_read_only_file_system() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = world();
    world.run(&["init"]).succeeds();
    let mount = "mount --bind .ckpt .ckpt && mount -o remount,bind,ro .ckpt && exec \"$@\"";
    let init = world.ckpt(&["init"]).under(&["unshare", "-m", "/bin/sh", "-c", mount, "sh"]);
    init.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run().succeeds();
}
