//! Files of many shapes, as the program shows them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::support::project::World;

/// The directory of the files.
pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dialects/generic")
}

/// File and place of the damage.
const DAMAGED: [(&str, u64, u64); 5] = [
    ("damaged-bytes.json", 1, 11),
    ("damaged-cut.json", 4, 1),
    ("damaged-empty.json", 1, 1),
    ("damaged-twice.json", 2, 1),
    ("damaged.yaml", 4, 2),
];

#[test]
fn judging_a_file_changes_nothing() {
    let world = World::new();
    for (name, code) in
        [("id-lists.json", 0), ("pointer-only.json", 7), ("counters-complete.json", 4), ("idle.json", 4)]
    {
        let file = fixtures().join(name);
        let before = (std::fs::read(&file).unwrap(), std::fs::metadata(&file).unwrap().mtime());
        let outcome = world.run(&["resume", "--file", file.to_str().unwrap(), "--json"]);
        assert_eq!(outcome.code(), code, "{outcome}");
        let after = (std::fs::read(&file).unwrap(), std::fs::metadata(&file).unwrap().mtime());
        assert!(before == after, "{name} stays as it is");
    }
    assert!(!world.store().exists(), "judging a file needs no store");
}

#[test]
fn both_commands_refuse_what_is_not_about_work() {
    let world = World::new();
    for name in ["settings.json", "dated-only.json", "definition.json", "prose.md"] {
        let file = fixtures().join(name);
        for args in [&["resume", "--file"][..], &["import"]] {
            world.refuses(&[args, &[file.to_str().unwrap()]].concat(), 6, "not_a_checkpoint");
        }
    }
    assert!(!world.store().exists());
}

#[test]
fn damage_is_named_with_its_file_and_place() {
    let world = World::new();
    for (name, line, column) in DAMAGED {
        let file = fixtures().join(name);
        for args in [&["resume", "--file"][..], &["import"]] {
            let failure = world.refuses(&[args, &[file.to_str().unwrap()]].concat(), 6, "damaged");
            let message = failure["message"].as_str().unwrap();
            assert!(message.contains(file.to_str().unwrap()), "{failure}");
            assert!(message.ends_with(&format!("at line {line} column {column}")), "{failure}");
        }
    }
    assert!(!world.store().exists());
}

#[test]
fn every_fact_is_shown_with_its_place() {
    let world = World::new();
    let file = fixtures().join("steps.checkpoint");
    let document = world.run(&["resume", "--file", file.to_str().unwrap(), "--json"]).document();
    let facts = document["recognised"].as_array().unwrap();
    let place = |fact: &str| facts.iter().find(|known| known["fact"] == fact).unwrap()["from"].clone();
    assert_eq!(place("workflow"), "line 2");
    assert_eq!(place("phases/4/status"), "line 11");
    assert_eq!(place("git branch"), "line 5");
    let explained = world.run(&["resume", "--file", file.to_str().unwrap(), "--explain"]).stdout;
    assert!(explained.contains("line 11"), "{explained}");
}
