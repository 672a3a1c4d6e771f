//! Files that were flipped, cut, edited, copied or removed: found before their content is used, older ones stay usable.

use serde_json::json;

use crate::support::project::World;

/// Damages 042/3, and says how it is found.
type Damage = fn(&World);

const DAMAGES: [(&str, Damage, &str); 9] = [
    ("a flipped bit in the state", |world| edit(world, |bytes| *bytes.last_mut().unwrap() ^= 1, 4), "checksum"),
    ("a flipped bit in the checksum", |world| edit(world, |bytes| bytes[40] ^= 1, 0), "checksum"),
    ("the first half", |world| cut(world, 2), "checksum"),
    ("the first byte", |world| cut(world, usize::MAX), "no_checksum"),
    ("nothing at all", |world| world.replace_checkpoint("042", 3, b""), "empty"),
    (
        "another title",
        |world| {
            let text = std::fs::read_to_string(world.checkpoint_file("042", 3)).unwrap();
            world.replace_checkpoint("042", 3, text.replace("\"title\": null", "\"title\": \"x\"").as_bytes());
        },
        "checksum",
    ),
    (
        "checkpoint 1",
        |world| {
            let bytes = std::fs::read(world.checkpoint_file("042", 1)).unwrap();
            world.replace_checkpoint("042", 3, &bytes);
        },
        "misplaced",
    ),
    (
        "a checkpoint of another workflow",
        |world| {
            world.forge("042", 3, |document| document["workflow"] = json!("other"));
        },
        "misplaced",
    ),
    (
        "a valid sum over something else",
        |world| {
            world.forge("042", 3, |document| document["phases"] = json!("none"));
        },
        "syntax",
    ),
];

fn edit(world: &World, change: fn(&mut Vec<u8>), keep_back: usize) {
    let mut bytes = std::fs::read(world.checkpoint_file("042", 3)).unwrap();
    let tail = bytes.split_off(bytes.len() - keep_back);
    change(&mut bytes);
    bytes.extend(tail);
    world.replace_checkpoint("042", 3, &bytes);
}

fn cut(world: &World, part: usize) {
    let bytes = std::fs::read(world.checkpoint_file("042", 3)).unwrap();
    world.replace_checkpoint("042", 3, &bytes[..(bytes.len() / part).max(1)]);
}

#[test]
fn a_damaged_newest_is_named_and_left_as_it_is() {
    for (what, damage, reason) in DAMAGES {
        let world = World::with_checkpoints(3);
        damage(&world);
        for args in [&["show", "042"][..], &["show", "042/3", "--state"], &["save", "042", "--phase", "x"]] {
            let failure = world.refuses(args, 6, "damaged");
            let context = &failure["context"];
            assert_eq!((&context["reason"], &context["before"]), (&json!(reason), &json!("042/2")), "{what}");
            assert_eq!(context["path"], world.checkpoint_file("042", 3).to_str().unwrap(), "{what}");
            assert!(failure["help"].to_string().contains("ckpt show 042/2"), "{what}: {failure}");
        }
        world.run(&["show", "042", "--raw"]).exits(6);
    }
}

#[test]
fn older_ones_stay_usable() {
    for (what, damage, reason) in DAMAGES {
        let world = World::with_checkpoints(3);
        damage(&world);
        assert_eq!(world.json(&["show", "042~1"])["handle"], "042/2", "{what}");
        let list = world.json(&["log", "042"]);
        assert_eq!(list["damaged"][0]["code"], reason, "{what}");
        assert_eq!(list["entries"].as_array().unwrap().len(), 3, "{what}");
        assert_eq!(world.json(&["list"])["workflows"][0]["status"], "damaged", "{what}");
        world.run(&["save", "another"]).succeeds();
    }
}

#[test]
fn a_person_is_told_what_to_do() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"{\n  \"version\": \"1.0\"\n}\n");
    let outcome = world.run(&["save", "042"]);
    insta::assert_snapshot!(outcome, @"
    exit 6
    --- stderr
    error: checkpoint `042/2` is damaged: `$TMP/project/.ckpt/workflows/042/00000002.json` is not a checkpoint file: its checksum line is missing
      help: the file was left as it is; `ckpt show 042/1` shows the one before it
      help: `ckpt verify 042 --repair` moves it aside, and work can go on
    --- end
    ");
}

#[test]
fn damage_in_the_middle_does_not_stop_the_work() {
    let world = World::with_checkpoints(3);
    world.replace_checkpoint("042", 2, b"x");
    world.refuses(&["show", "042/2"], 6, "damaged");
    assert_eq!(world.json(&["save", "042"])["handle"], "042/4");
}

#[test]
fn a_number_that_was_removed_is_missed() {
    let world = World::with_checkpoints(3);
    std::fs::remove_file(world.checkpoint_file("042", 2)).unwrap();
    let failure = world.refuses(&["show", "042/2"], 6, "damaged");
    assert_eq!(failure["context"]["reason"], "missing");
    assert_eq!(world.json(&["log", "042"])["damaged"][0]["handle"], "042/2");
    assert_eq!(world.json(&["save", "042"])["handle"], "042/4", "its number is not given out again");
}

#[test]
fn a_copy_under_a_higher_number_is_found() {
    let world = World::with_checkpoints(2);
    let copy = world.checkpoint_file("042", 4);
    std::fs::copy(world.checkpoint_file("042", 2), copy).unwrap();
    let failure = world.refuses(&["show", "042"], 6, "damaged");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("says it is `042/2`, not `042/4`"), "{message}");
    assert_eq!(failure["context"]["before"], "042/2");
}

#[test]
fn every_single_flipped_byte_is_found() {
    let world = World::with_checkpoints(1);
    let good = std::fs::read(world.checkpoint_file("042", 1)).unwrap();
    // A process per byte would take minutes; the library is the same code.
    for index in 0..good.len() {
        let mut bad = good.clone();
        bad[index] ^= 0x01;
        assert!(ckpt_model::format::decode(&bad).is_err(), "byte {index}");
    }
    for index in (0..good.len()).step_by(good.len() / 16) {
        let mut bad = good.clone();
        bad[index] ^= 0x40;
        world.replace_checkpoint("042", 1, &bad);
        world.run(&["show", "042"]).exits(6);
    }
}

/// A command that answers from an older checkpoint says so, also with `--quiet`.
#[test]
fn nobody_falls_back_without_a_word() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"x");
    for args in [&["status", "042"][..], &["stats", "042"]] {
        let warning = world.json(args)["warnings"][0].as_str().unwrap().to_owned();
        assert!(warning.starts_with("the newest checkpoint 042/2 is damaged"), "{warning}");
        let quiet = world.run(&[args, &["-q"]].concat()).succeeds();
        assert!(quiet.stderr.starts_with("warning: the newest checkpoint 042/2 is damaged"), "{quiet}");
    }
}
