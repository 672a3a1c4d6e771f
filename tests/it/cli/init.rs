//! `ckpt init`, and the store that it and the first save make.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::support::project::World;

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn it_makes_a_store_with_commented_settings() {
    let world = World::new();
    let outcome = world.run(&["init"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    $TMP/project/.ckpt
    --- stderr
    Created the store. `ckpt start demo --phases plan,build,test --phase plan` begins a workflow.
    --- end
    ");
    let settings = std::fs::read_to_string(world.store().join("config.toml")).unwrap();
    assert!(settings.lines().all(|line| line.is_empty() || line.starts_with('#')), "{settings}");
    let uncommented: String = settings
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| !line.ends_with('.'))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(world.store().join("config.toml"), uncommented).unwrap();
    let answer = world.json(&["save", "042", "--pipeline", "careful", "--phase", "think"]);
    assert_eq!(answer["remaining"], json!(["make"]), "the examples in it are valid settings");
}

#[test]
fn a_second_time_changes_nothing() {
    let world = World::new();
    world.run(&["init"]).succeeds();
    world.configure("# mine\n");
    let before = world.tree();
    let outcome = world.run(&["init"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    $TMP/project/.ckpt
    --- stderr
    The store was there already; nothing changed.
    --- end
    ");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}

#[test]
fn it_completes_a_store_that_a_save_has_made() {
    let world = World::with_checkpoints(1);
    let answer = world.json(&["init"]);
    assert_eq!((&answer["created"], &answer["config_created"]), (&json!(false), &json!(true)));
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn only_the_settings_are_for_version_control() {
    for command in [&["init"][..], &["save", "042"]] {
        let world = World::new();
        world.run(command).succeeds();
        let ignored = std::fs::read_to_string(world.store().join(".gitignore")).unwrap();
        assert_eq!(ignored, "*\n!.gitignore\n!config.toml\n");
    }
}

#[test]
fn only_the_owner_can_look_inside_and_nobody_can_change_a_checkpoint() {
    let world = World::with_checkpoints(1);
    world.run(&["init"]).succeeds();
    for directory in [world.store(), world.store().join("workflows"), world.workflow_dir("042")] {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
    }
    assert_eq!(mode(&world.checkpoint_file("042", 1)), 0o400);
    assert_eq!(mode(&world.store().join("config.toml")), 0o600);
}

#[test]
fn nothing_is_left_behind_by_a_save() {
    let world = World::with_checkpoints(2);
    let names = |directory: &Path| {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&world.store()), [".gitignore", "cleaned", "workflows"]);
    assert_eq!(names(&world.workflow_dir("042")), ["00000001.json", "00000002.json"]);
}

#[test]
fn a_store_can_be_named_by_flag_or_environment() {
    let world = World::new();
    world.run(&["init", "--store", "../elsewhere/.ckpt"]).exits(10);
    std::fs::create_dir(world.temp().join("elsewhere")).unwrap();
    world.run(&["init", "--store", "../elsewhere/.ckpt"]).succeeds();
    world.ckpt(&["save", "a"]).env("CKPT_STORE", world.temp().join("elsewhere/.ckpt")).run().succeeds();
    world.ckpt(&["save", "b", "--store", "other"]).env("CKPT_STORE", "../elsewhere/.ckpt").run().succeeds();
    assert!(world.temp().join("elsewhere/.ckpt/workflows/a").is_dir());
    assert!(world.project().join("other/workflows/b").is_dir(), "the flag wins");
    assert!(!world.store().exists());
}

#[test]
fn a_store_whose_maker_was_killed_is_completed() {
    let world = World::new();
    world.write(".ckpt/.tmp-.gitignore-0", "*\n!.giti");
    world.write(".ckpt/.tmp-config.toml-0", "# Sett");
    world.run(&["save", "042"]).succeeds();
    let ignored = std::fs::read_to_string(world.store().join(".gitignore")).unwrap();
    assert_eq!(ignored, "*\n!.gitignore\n!config.toml\n");
    assert_eq!(world.json(&["init"])["config_created"], true);
}
