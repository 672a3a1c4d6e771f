//! Processes that save at once, or are killed.

use std::process::Child;

use ckpt::core::dialects::Dialect;
use serde_json::json;

use super::{files, mirroring, projected};
use crate::support::project::World;
use crate::support::proof::amount;

const SAVERS: usize = 8;

/// Runs saves of `ids` at once, and returns what they wrote to stderr.
fn save_at_once(world: &World, ids: &[&str]) -> String {
    let spawn = |number: usize| {
        let phase = format!("p{number}");
        world.ckpt(&["save", ids[number % ids.len()], "--phase", &phase, "-q"]).spawn()
    };
    let savers: Vec<Child> = (0..SAVERS).map(spawn).collect();
    let mut warnings = String::new();
    for saver in savers {
        let output = saver.wait_with_output().unwrap();
        let outcome = world.outcome(output.status, output.stdout, output.stderr).succeeds();
        warnings.push_str(&outcome.stderr);
    }
    warnings
}

#[test]
fn the_files_are_those_of_the_last_of_many_saves_at_once() {
    for dialect in Dialect::mirrored() {
        let world = mirroring(dialect);
        for _ in 0..3 {
            assert_eq!(save_at_once(&world, &["042"]), "", "{dialect}");
            assert_eq!(files(&world, dialect), projected(&world, dialect, &["042"]), "{dialect}");
        }
        assert_eq!(save_at_once(&world, &["042", "043", "044"]), "", "{dialect}");
        if !dialect.has_one_slot() {
            assert_eq!(
                files(&world, dialect),
                projected(&world, dialect, &["042", "043", "044"]),
                "{dialect}"
            );
        }
    }
}

#[test]
fn exports_at_once_lose_no_entry_of_an_index() {
    let world = World::new();
    for phase in 0..SAVERS {
        world
            .run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich", "--note", &phase.to_string()])
            .succeeds();
    }
    let export = ["export", "42", "--as", "crunch", "--force"];
    let exports: Vec<Child> = (0..SAVERS).map(|_| world.ckpt(&export).spawn()).collect();
    for export in exports {
        let output = export.wait_with_output().unwrap();
        world.outcome(output.status, output.stdout, output.stderr).succeeds();
    }
    let index =
        std::fs::read_to_string(world.project().join(".claude/crunch/42/checkpoints/index.yaml")).unwrap();
    assert!(index.contains(&format!("total_checkpoints: {SAVERS}")), "{index}");
}

/// A saver is killed at any moment; its successors find nothing that belongs to others.
#[test]
fn a_killed_saver_leaves_nothing_that_looks_like_an_edit() {
    for dialect in [Dialect::Crunch, Dialect::Dotagent, Dialect::Kamiflow] {
        let world = mirroring(dialect);
        let rounds = amount(20, 40) as u64;
        for round in 0..rounds {
            let begin = ["save", "042", "--pipeline", "kamiflow", "--phase", "0", "--status", "in_progress"];
            let mut saver = world.ckpt(&begin).spawn();
            std::thread::sleep(std::time::Duration::from_micros(16_000 * round / rounds));
            let _ = saver.kill();
            saver.wait().unwrap();
            let next =
                world.json(&["start", "042", "--phase", "0", "--state", &json!({ "n": round }).to_string()]);
            assert!(!next["warnings"].to_string().contains("copy"), "{dialect}, round {round}: {next}");
            let without_staged = |mut files: super::Files| {
                files.retain(|path, _| !path.contains("/.ckpt-"));
                files
            };
            assert_eq!(
                without_staged(files(&world, dialect)),
                projected(&world, dialect, &["042"]),
                "{dialect}"
            );
        }
    }
}
