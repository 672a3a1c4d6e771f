//! Something else where the store, a directory of it, or a checkpoint should be. Nothing is followed, nothing hangs.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::support::project::{World, is_root};

/// The obstacle in a place, and how it is put there.
type Obstacle = (&'static str, fn(&Path));

const OBSTACLES: [Obstacle; 5] = [
    ("a link to a directory", |path| {
        let real = path.with_file_name("real-directory");
        std::fs::create_dir_all(&real).unwrap();
        symlink(&real, path).unwrap();
    }),
    ("a dangling link", |path| symlink("/nowhere/at/all", path).unwrap()),
    ("a link to itself", |path| symlink(path, path).unwrap()),
    ("a pipe", |path| make_special(path, &["p"])),
    ("a file", |path| std::fs::write(path, "something").unwrap()),
];

fn make_special(path: &Path, kind: &[&str]) {
    let made = Command::new("mknod").arg(path).args(kind).status().unwrap();
    assert!(made.success(), "mknod {kind:?}");
}

fn make_device(path: &Path) {
    // Reading from it would never end.
    make_special(path, &["c", "1", "5"]);
}

fn obstacles() -> Vec<Obstacle> {
    let mut obstacles = OBSTACLES.to_vec();
    if is_root() {
        obstacles.push(("a device", make_device));
    }
    obstacles
}

#[test]
fn in_the_place_of_the_store() {
    for (what, make) in obstacles() {
        let world = World::new();
        make(&world.store());
        for args in [&["save", "042"][..], &["list"], &["show", "042"], &["init"]] {
            let failure = world.refuses(args, 10, "not_a_store");
            assert!(failure["message"].as_str().unwrap().contains("/project/.ckpt`"), "{what}: {failure}");
        }
    }
}

#[test]
fn in_the_place_of_the_workflows() {
    for (what, make) in obstacles() {
        let world = World::new();
        std::fs::create_dir(world.store()).unwrap();
        make(&world.store().join("workflows"));
        for args in [&["save", "042"][..], &["list"], &["show", "042"]] {
            let failure = world.refuses(args, 10, "not_a_store");
            assert!(failure["message"].as_str().unwrap().contains("/.ckpt/workflows`"), "{what}: {failure}");
        }
    }
}

#[test]
fn in_the_place_of_a_workflow() {
    for (what, make) in obstacles() {
        let world = World::with_checkpoints(1);
        make(&world.workflow_dir("taken"));
        for args in [&["save", "taken"][..], &["show", "taken"], &["log", "taken"]] {
            let failure = world.refuses(args, 10, "not_a_store");
            assert!(failure["message"].as_str().unwrap().contains("/workflows/taken`"), "{what}: {failure}");
        }
        let list = world.json(&["list"]);
        assert_eq!(list["damaged"][0]["code"], "not_a_file", "{what}: {list}");
        assert_eq!(list["damaged"][0]["path"], world.workflow_dir("taken").to_str().unwrap(), "{what}");
        assert!(list["workflows"].to_string().contains("042/1"), "{what}: the others are listed");
        world.run(&["save", "042"]).succeeds();
    }
}

#[test]
fn in_the_place_of_the_newest_checkpoint() {
    let directory: Obstacle = ("a directory", |path| std::fs::create_dir(path).unwrap());
    for (what, make) in obstacles().into_iter().filter(|(what, _)| *what != "a file").chain([directory]) {
        let world = World::with_checkpoints(2);
        std::fs::remove_file(world.checkpoint_file("042", 2)).unwrap();
        make(&world.checkpoint_file("042", 2));
        for args in [&["save", "042"][..], &["show", "042"], &["show", "042/2", "--raw"]] {
            if args.contains(&"--raw") {
                world.run(args).exits(6);
                continue;
            }
            let failure = world.refuses(args, 6, "damaged");
            assert_eq!(failure["context"]["reason"], "not_a_file", "{what}: {failure}");
            assert_eq!(failure["context"]["before"], "042/1", "{what}: {failure}");
            assert!(failure["message"].as_str().unwrap().contains("00000002.json"), "{what}: {failure}");
        }
        let list = world.json(&["log", "042"]);
        assert_eq!(list["damaged"][0]["code"], "not_a_file", "{what}: {list}");
        world.run(&["show", "042/1"]).succeeds();
    }
}

#[test]
fn a_link_to_a_good_checkpoint_is_no_checkpoint() {
    let world = World::with_checkpoints(2);
    let (file, away) = (world.checkpoint_file("042", 2), world.temp().join("away.json"));
    std::fs::rename(&file, &away).unwrap();
    symlink(&away, &file).unwrap();
    world.refuses(&["show", "042"], 6, "damaged");
}

#[test]
fn settings_that_are_no_file_are_refused_and_not_waited_for() {
    for (what, make) in obstacles().into_iter().filter(|(what, _)| *what != "a file") {
        let world = World::with_checkpoints(1);
        make(&world.store().join("config.toml"));
        let failure = world.refuses(&["save", "042"], 2, "invalid_config");
        assert!(failure["message"].as_str().unwrap().contains("config.toml"), "{what}: {failure}");
    }
}

#[test]
fn a_link_above_the_store_is_the_users_own() {
    let world = World::with_checkpoints(1);
    let link = world.temp().join("shortcut");
    symlink(world.project(), &link).unwrap();
    assert_eq!(world.ckpt(&["save", "042"]).dir(&link).json()["handle"], "042/2");
    assert_eq!(world.ckpt(&["show", "042", "--store", "../shortcut/.ckpt"]).json()["handle"], "042/2");
}

/// The settings of the user, installed as dotfile managers do it: the file is a link, or a directory above it.
#[test]
fn the_settings_of_the_user_may_be_a_link() {
    let linked_file = |world: &World, target: &Path| {
        std::fs::create_dir_all(world.home().join(".config/ckpt")).unwrap();
        symlink(target.join("config.toml"), world.home().join(".config/ckpt/config.toml")).unwrap();
    };
    let linked_directory = |world: &World, target: &Path| {
        std::fs::create_dir_all(world.home().join(".config")).unwrap();
        symlink(target, world.home().join(".config/ckpt")).unwrap();
    };
    let installs: [fn(&World, &Path); 2] = [linked_file, linked_directory];
    for install in installs {
        let world = World::new();
        let dotfiles = world.temp().join("dotfiles");
        std::fs::create_dir(&dotfiles).unwrap();
        install(&world, &dotfiles);
        let file = dotfiles.join("config.toml");

        // The link leads nowhere yet: there are no settings.
        world.run(&["save", "042", "--phase", "a"]).succeeds();
        std::fs::write(&file, "[save.triggers]\nphase_transition = false\n").unwrap();
        assert_eq!(world.json(&["save", "042", "--phase", "a"])["created"], false);

        std::fs::write(&file, "#".repeat((1 << 20) + 1)).unwrap();
        let failure = world.refuses(&["save", "042"], 2, "invalid_config");
        assert!(failure["message"].as_str().unwrap().contains(".config/ckpt/config.toml"), "{failure}");
        for (what, make) in obstacles().into_iter().filter(|(what, _)| *what != "a dangling link") {
            std::fs::remove_file(&file).unwrap();
            make(&file);
            let failure = world.refuses(&["save", "042"], 2, "invalid_config");
            assert_eq!(failure["code"], "invalid_config", "{what}");
        }
    }
}
