//! Files of other versions, each with a checksum that fits.

use serde_json::{Value, json};

use crate::support::project::World;

fn with_version(version: impl Into<Value>) -> World {
    let world = World::with_checkpoints(2);
    let version = version.into();
    world.forge("042", 2, |document| {
        document["version"] = version;
        document["invented_later"] = json!({"kept": true});
    });
    world
}

#[test]
fn a_newer_minor_version_is_read_with_its_new_fields_and_not_continued() {
    let world = with_version("1.9");
    assert_eq!(world.json(&["show", "042"])["checkpoint"]["invented_later"], json!({"kept": true}));
    assert_eq!(world.json(&["list"])["workflows"][0]["status"], "in_progress");
    let failure = world.refuses(&["save", "042"], 6, "format_newer");
    assert_eq!(failure["context"], json!({"handle": "042/2", "version": "1.9"}));
}

#[test]
fn a_newer_major_version_is_said_to_be_newer() {
    for version in ["2.0", "99.0", "2.17"] {
        let world = with_version(version);
        for args in [&["resume", "042"][..], &["save", "042"]] {
            let failure = world.refuses(args, 6, "format_newer");
            assert!(failure["message"].as_str().unwrap().contains(version), "{failure}");
            assert!(failure["help"].to_string().contains("newer"), "{failure}");
        }
        assert_eq!(world.json(&["list"])["workflows"][0]["phase"], "2", "listed as far as it is understood");
        let shown = world.json(&["show", "042"]);
        assert_eq!((&shown["valid"], &shown["checkpoint"]["version"]), (&json!(false), &json!(version)));
        assert!(shown["warnings"][0].as_str().unwrap().contains("newer than this program"), "{shown}");
        let raw = world.run(&["show", "042", "--raw"]).succeeds().stdout;
        assert_eq!(raw.as_bytes(), std::fs::read(world.checkpoint_file("042", 2)).unwrap());
        world.run(&["show", "042/1"]).succeeds();
    }
}

#[test]
fn a_newer_version_that_looks_quite_different_is_still_recognised() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, br#"{"digest":"elsewhere","version":"3.0"}"#);
    world.refuses(&["save", "042"], 6, "format_newer");
    assert_eq!(world.json(&["log", "042"])["damaged"][0]["code"], "format_newer");
    assert_eq!(world.json(&["show", "042"])["checkpoint"]["digest"], "elsewhere");
}

#[test]
fn a_version_that_cannot_be_read_is_damage() {
    for (version, reason) in [
        (json!("1"), "bad_version"),
        (json!("abc"), "bad_version"),
        (json!(""), "bad_version"),
        (json!("1.x"), "bad_version"),
        (json!("1.0.0"), "bad_version"),
        (json!("-1.0"), "bad_version"),
        (json!("9999999999.0"), "bad_version"),
        (json!(99), "no_checksum"),
        (json!(1.0), "no_checksum"),
        (json!(null), "no_checksum"),
    ] {
        let world = with_version(version.clone());
        for args in [&["show", "042"][..], &["save", "042"]] {
            let failure = world.refuses(args, 6, "damaged");
            assert_eq!(failure["context"]["reason"], reason, "{version}");
        }
    }
}

#[test]
fn a_missing_version_is_damage() {
    let world = World::with_checkpoints(2);
    world.forge("042", 2, |document| drop(document.as_object_mut().unwrap().shift_remove("version")));
    let failure = world.refuses(&["save", "042"], 6, "damaged");
    assert_eq!(failure["context"]["reason"], "no_checksum");
}

#[test]
fn unknown_fields_at_every_level_survive_a_save() {
    let world = World::with_checkpoints(1);
    world.forge("042", 1, |document| {
        for pointer in ["", "/phases/0", "/context", "/writer"] {
            document.pointer_mut(pointer).unwrap()["x_unknown"] = json!({"n": 1});
        }
    });
    world.run(&["save", "042", "--note", "n"]).succeeds();
    let stored = world.stored("042", 2);
    for pointer in ["", "/phases/0", "/context"] {
        assert_eq!(stored.pointer(pointer).unwrap()["x_unknown"], json!({"n": 1}), "{pointer}");
    }
    assert_eq!(stored["writer"].get("x_unknown"), None, "the writer is always the one who writes");
}

#[test]
fn a_later_format_is_not_called_damaged() {
    for version in ["2.0", "99"] {
        let world = with_version(json!(version));
        for args in
            [&["save", "042"][..], &["resume", "042"], &["status", "042"], &["export", "042", "--as", "kamiflow"]]
        {
            let failure = world.refuses(args, 6, "format_newer");
            let message = failure["message"].as_str().unwrap();
            assert!(
                message.contains("cannot be read") && !message.contains("damaged"),
                "{version} {args:?}: {message}"
            );
        }
        assert_eq!(world.json(&["show", "042"])["checkpoint"]["version"], version);
    }
}
