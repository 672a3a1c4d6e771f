//! A store that somebody else planted is not used unless it is named.

use std::os::unix::fs::chown;

use crate::support::project::{World, is_root, skip};

fn planted() -> Option<World> {
    if !is_root() {
        skip("only root can give a directory away");
        return None;
    }
    let world = World::with_checkpoints(1);
    chown(world.store(), Some(12345), None).unwrap();
    std::fs::create_dir_all(world.project().join("deep/below")).unwrap();
    Some(world)
}

#[test]
fn it_is_refused_from_anywhere_below() {
    let Some(world) = planted() else { return };
    for dir in [".", "deep/below"] {
        for args in [&["save", "042"][..], &["list"], &["show", "042"], &["init"]] {
            let failure = world.ckpt(args).dir(dir).refused(10, "foreign_store");
            assert_eq!(failure["context"]["owner"], 12345);
            let trust = format!("ckpt --store {} list", world.store().display());
            assert!(failure["help"].to_string().contains(&trust), "{failure}");
        }
    }
}

#[test]
fn naming_it_is_trusting_it() {
    let Some(world) = planted() else { return };
    let store = world.store();
    world.run(&["--store", store.to_str().unwrap(), "list"]).succeeds();
    world.ckpt(&["list"]).env("CKPT_STORE", &store).run().succeeds();
    let behind_sudo = world.ckpt(&["list"]).env("SUDO_UID", "12345");
    behind_sudo.run().succeeds();
    world.ckpt(&["list"]).env("SUDO_UID", "54321").run().exits(10);
}
