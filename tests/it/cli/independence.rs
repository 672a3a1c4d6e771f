//! The cost of a save depends neither on the number of other workflows nor on features that it does not use.

use std::collections::BTreeMap;

use crate::support::project::World;
use crate::support::strace::{Call, calls, strace};

/// A store with `042` and this many other workflows.
fn crowded(others: usize) -> World {
    let world = World::with_checkpoints(2).copy();
    let file = world.checkpoint_file("042", 1);
    for number in 0..others {
        let directory = world.workflow_dir(&format!("other{number}"));
        std::fs::create_dir(&directory).unwrap();
        std::fs::hard_link(&file, directory.join("00000001.json")).unwrap();
    }
    world
}

fn counts(calls: &[Call]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for call in calls {
        *counts.entry(call.name.as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn a_save_makes_the_same_system_calls_among_ten_and_two_thousand_workflows() {
    let Some(strace) = strace() else { return };
    let (few, many) = (crowded(10), crowded(2_000));
    for save in [&["save", "042", "--phase", "x"][..], &["save", "42"], &["save", "new"], &["show", "042"]] {
        let (few, many) = (calls(&strace, &few, save), calls(&strace, &many, save));
        let few = counts(&few);
        // Fewer are possible: a long directory is not listed to its end.
        let more = counts(&many).into_iter().filter(|(name, count)| *count > few.get(name).copied().unwrap_or(0));
        assert_eq!(more.collect::<Vec<_>>(), [], "{save:?}: more than {few:?}");
        assert!(many.iter().all(|call| !call.line.contains("other")), "{save:?} looked at another workflow");
    }
}

#[test]
fn a_plain_save_looks_at_nothing_but_the_settings_the_workflow_and_its_archive() {
    let Some(strace) = strace() else { return };
    let world = World::with_checkpoints(2);
    let calls = calls(&strace, &world, &["save", "042", "--note", "x"]);
    let counts = counts(&calls);
    let count = |names: &[&str]| names.iter().filter_map(|name| counts.get(name)).sum::<usize>();
    let shown: Vec<&str> = calls.iter().map(|call| call.line.as_str()).collect();
    // The workflow four times (twice by its path after that was checked, once to lock it), its archive, the head and the
    // temporary file.
    assert_eq!(count(&["open", "openat", "openat2"]), 7, "{shown:#?}");
    assert_eq!(count(&["fsync", "fdatasync"]), 2, "{shown:#?}");
    assert_eq!(count(&["link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat"]), 2, "{shown:#?}");
    for unused in ["objects", "sides", "remote", "sessions"] {
        assert!(shown.iter().all(|line| !line.contains(&format!(".ckpt/{unused}"))), "{shown:#?}");
    }
}

#[test]
fn a_save_about_a_phase_also_reads_when_the_store_was_cleaned_up() {
    let Some(strace) = strace() else { return };
    let world = World::with_checkpoints(2);
    let opened = |args: &[&str]| {
        let calls = calls(&strace, &world, args);
        let opens = calls.into_iter().filter(|call| call.name.starts_with("open"));
        opens.map(|call| call.line).collect::<Vec<_>>()
    };
    let plain = opened(&["save", "042", "--note", "x"]);
    let about_a_phase = opened(&["save", "042", "--phase", "x"]);
    assert_eq!(about_a_phase.len(), plain.len() + 3, "{about_a_phase:#?}");
    assert!(about_a_phase.last().unwrap().contains("\"cleaned\""), "{about_a_phase:#?}");
}
