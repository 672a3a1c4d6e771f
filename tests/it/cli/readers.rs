//! Commands that read leave every byte, mode and time of the store alone, and need no right to write.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use crate::support::project::{World, can_mount, skip};

const READERS: [&[&str]; 21] = [
    &["list"],
    &["list", "--all", "--json"],
    &["log", "042"],
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
    &["diff", "042"],
    &["diff", "gone/1", "042/2", "--json"],
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

/// On a file system that keeps no times of access there is nothing to see; on others, what is older than the last
/// change is noted with the first look.
#[test]
fn neither_reading_nor_saving_is_noted_as_access() {
    let world = world();
    let dir = world.workflow_dir("042");
    let looked_at = || {
        let files = (1..=3).map(|seq| world.checkpoint_file("042", seq)).chain([dir.clone()]);
        files.map(|path| path.metadata().unwrap().accessed().unwrap()).collect::<Vec<_>>()
    };
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for path in (1..=3).map(|seq| world.checkpoint_file("042", seq)).chain([dir.clone()]) {
        File::open(path).unwrap().set_times(FileTimes::new().set_accessed(long_ago)).unwrap();
    }
    for args in [&["show", "042"][..], &["list"], &["log", "042"], &["resume", "042"], &["save", "042"]] {
        world.run(args);
        assert_eq!(looked_at(), [long_ago; 4], "{args:?}");
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
