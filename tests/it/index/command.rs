//! The index as the commands use it, with real processes on a real file system.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ckpt_model::digest::Digest;
use serde_json::{Value, json};

use crate::support::project::{World, sealed};
use crate::support::strace::{calls, strace};

const WORKFLOWS: usize = 600;

/// A world with `042`, which is in progress, and 600 workflows that are complete.
fn world() -> World {
    let model = World::new();
    model.run(&["save", "042", "--phases", "plan,build", "--phase", "plan", "--title", "Work"]).succeeds();
    let world = model.copy();
    let document = world.stored("042", 1);
    for number in 0..WORKFLOWS {
        let workflow = format!("other-{number}");
        let changed = [
            ("workflow", json!(workflow)),
            ("title", json!(format!("Title {number}"))),
            ("status", json!("complete")),
            ("saved_at", json!(format!("2025-01-01T00:{:02}:{:02}Z", number / 60, number % 60))),
        ];
        let mut document = document.clone();
        changed.into_iter().for_each(|(member, value)| document[member] = value);
        fs::create_dir(world.workflow_dir(&workflow)).unwrap();
        fs::write(world.checkpoint_file(&workflow, 1), sealed(document)).unwrap();
    }
    wait_for_the_clock(&world.store().join("workflows"));
    world
}

/// Waits until the clock of the file system, which moves in ticks, is past the last change of any directory.
fn wait_for_the_clock(workflows: &Path) {
    let changed = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    let last = fs::read_dir(workflows).unwrap().map(|entry| changed(&entry.unwrap().path())).max().unwrap();
    let probe = workflows.parent().unwrap().join(".tmp-probe");
    loop {
        fs::write(&probe, "").unwrap();
        let now = changed(&probe);
        fs::remove_file(&probe).unwrap();
        if now > last {
            return;
        }
    }
}

fn index(world: &World) -> std::path::PathBuf {
    world.store().join("index")
}

#[test]
fn a_list_reads_the_checkpoints_it_shows_and_syncs_nothing() {
    let Some(strace) = strace() else { return };
    let world = world();
    let first = world.run(&["list", "-n", "5"]).succeeds();
    fs::remove_file(index(&world)).unwrap();
    let writing = calls(&strace, &world, &["list", "-n", "5"]);
    assert!(index(&world).exists());
    assert!(!writing.iter().any(|call| call.name.contains("sync")));
    let calls = calls(&strace, &world, &["list", "-n", "5"]);
    let read = calls.iter().filter(|call| call.name.starts_with("open") && call.line.contains(".json\""));
    assert_eq!(read.count(), 5);
    assert_eq!(world.run(&["list", "-n", "5"]).succeeds().stdout, first.stdout);
    assert!(first.stdout.contains("042/1") && first.stdout.contains("Title 599"), "{}", first.stdout);
}

#[test]
fn every_command_answers_with_an_index_as_without_one() {
    let world = world();
    let commands: [&[&str]; 9] = [
        &["list", "--json"],
        &["list", "--json", "--status", "complete", "-n", "700"],
        &["list", "--unfinished"],
        &["list", "-q"],
        &["list", "--phase", "plan", "--pipeline", "custom", "-n", "3"],
        &["stats", "--json"],
        &["brief"],
        &["resume"],
        &["status", "--json"],
    ];
    let answers = |expect_index: bool| {
        commands.map(|args| {
            if !expect_index {
                let _ = fs::remove_file(index(&world));
            }
            let outcome = world.ckpt(args).env("CKPT_NOW", "2026-02-01T00:00:00Z").run();
            (outcome.code(), outcome.stdout, outcome.stderr)
        })
    };
    let without = answers(false);
    assert!(index(&world).exists());
    for (args, (without, with)) in commands.iter().zip(without.into_iter().zip(answers(true))) {
        assert_eq!(without, with, "{args:?}");
    }
}

#[test]
fn the_answers_after_a_save_are_those_of_the_save() {
    let world = world();
    world.run(&["list"]).succeeds();
    world.run(&["save", "other-7", "--phase", "build", "--status", "in_progress"]).succeeds();
    let list = world.json(&["list", "--unfinished"]);
    let handles: Vec<_> = list["workflows"].as_array().unwrap().iter().map(|row| &row["handle"]).collect();
    assert_eq!(handles, [&json!("other-7/2"), &json!("042/1")]);
    world.refuses(&["resume"], 5, "ambiguous");
}

/// Changes the lines of the index, which stay valid for their directories.
fn plant(world: &World, change: impl Fn(&str) -> String) {
    let text = fs::read_to_string(index(world)).unwrap();
    let block = |content: &str| format!("{} {:08}\n{content}", Digest::of(content.as_bytes()).to_hex(), content.len());
    let (first, second) = text[74..].split_at(text[65..73].parse().unwrap());
    let lines: String = second[74..].lines().map(|line| change(line) + "\n").collect();
    fs::write(index(world), block(first) + &block(&lines)).unwrap();
}

#[test]
fn a_planted_index_cannot_change_what_is_shown() {
    let world = world();
    let first = world.json(&["list", "-n", "700"]);
    plant(&world, |line| {
        let swap = [(" complete ", " in_progress "), (" in_progress ", " complete ")];
        let (from, to) = swap.into_iter().find(|(from, _)| line.contains(from)).unwrap();
        line.replace(from, to).replace("1735689", "1935689")
    });
    let planted = world.json(&["list", "-n", "700"]);
    let sorted = |list: &Value| {
        let mut rows: Vec<_> = list["workflows"].as_array().unwrap().iter().map(Value::to_string).collect();
        rows.sort();
        rows
    };
    assert_eq!(sorted(&planted), sorted(&first));
    // By the index 042 is complete and the others are not: whatever is picked is judged by its file.
    plant(
        &world,
        |line| {
            if line.starts_with("other-3 ") { line.to_owned() } else { line.replace("in_progress", "complete") }
        },
    );
    let brief = world.run(&["brief"]).succeeds().stdout;
    assert!(brief.starts_with("Unfinished work: other-3 \"Title 3\""), "{brief}");
    assert_eq!(world.json(&["list", "--unfinished"])["workflows"], json!([]));
}

#[test]
fn a_head_that_was_edited_in_place_is_reported_when_it_is_shown() {
    let world = world();
    world.run(&["list"]).succeeds();
    let file = world.checkpoint_file("other-599", 1);
    // The directory of the file does not change.
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("Title 599", "Title 000")).unwrap();
    let list = world.json(&["list"]);
    assert_eq!(list["damaged"][0]["handle"], json!("other-599/1"));
    assert_eq!(list["damaged"][0]["code"], json!("checksum"));
}

#[test]
fn a_directory_or_a_link_in_place_of_the_index_is_left_alone() {
    let world = world();
    let list = world.run(&["list"]).succeeds().stdout;
    fs::remove_file(index(&world)).unwrap();
    fs::create_dir(index(&world)).unwrap();
    assert_eq!(world.run(&["list"]).succeeds().stdout, list);
    assert!(index(&world).is_dir());
    fs::remove_dir(index(&world)).unwrap();
    let elsewhere = world.write("elsewhere", "kept");
    std::os::unix::fs::symlink(&elsewhere, index(&world)).unwrap();
    assert_eq!(world.run(&["list"]).succeeds().stdout, list);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "kept");
    assert_no_temporary_files(&world);
}

fn assert_no_temporary_files(world: &World) {
    for entry in fs::read_dir(world.store()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with(".tmp-"), "{name}");
    }
}

#[test]
fn readers_and_savers_at_once_disturb_nobody() {
    let world = world();
    let spawn = |args: &[&str]| world.ckpt(args).spawn();
    let lists: Vec<_> = (0..4).map(|_| spawn(&["list", "-q"])).collect();
    let savers: Vec<_> = (0..4).map(|n| spawn(&["save", &format!("other-{n}"), "--phase", "build"])).collect();
    for child in lists.into_iter().chain(savers) {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_no_temporary_files(&world);
    let with = world.json(&["list", "-n", "700"]);
    fs::remove_file(index(&world)).unwrap();
    assert_eq!(world.json(&["list", "-n", "700"]), with);
    world.run(&["verify"]).succeeds();
}
