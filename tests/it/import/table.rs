//! A file of every shape, and what a person who reads it would answer.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::project::World;

/// The directory of the files.
pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/import/fixtures")
}

/// File, dialect, verdict, phase (`?` if it cannot be told, empty if there is none), phases done, finding codes.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const ANSWERS: &[Row] = &[
    ("camel.json", "generic", "ready", "Paint", "Cut", &[]),
    ("checklist.yaml", "generic", "ready", "blanket", "bread cheese", &["time_assumed"]),
    (
        "contradicts.json",
        "generic",
        "confirm",
        "unload",
        "load cross",
        &["status_disagrees", "status_disagrees", "records_disagree", "records_disagree", "time_unreadable"],
    ),
    ("counters-complete.json", "generic", "complete", "", "1 2 3", &["time_unreadable"]),
    ("counters.json", "generic", "ready", "3", "1 2", &["status_unknown"]),
    ("failed-in-list.json", "generic", "ready", "span", "", &["phase_failed", "records_disagree"]),
    ("history.json", "generic", "ready", "knead", "weigh", &[]),
    ("id-lists.json", "generic", "ready", "water", "prune graft", &[]),
    ("idle.json", "generic", "complete", "", "", &["time_unreadable", "idle"]),
    ("index.json", "generic", "blocked", "?", "", &["phases_unknown", "records_disagree", "phases_unknown"]),
    ("kebab.yaml", "generic", "ready", "weft", "warp", &[]),
    ("list-without-total.json", "generic", "blocked", "?", "01 02 03", &["phases_unknown"]),
    ("nested-phases.json", "generic", "ready", "draw", "charter survey", &["next_disagrees"]),
    ("next-action.json", "generic", "blocked", "?", "", &["artifact_missing", "phases_unknown"]),
    ("numbered-gap.json", "generic", "ready", "3", "1 2 4", &["gap", "next_disagrees"]),
    ("phase-objects.json", "generic", "ready", "fire", "dig mix", &[]),
    ("phase-progress.json", "generic", "ready", "2", "", &[]),
    ("pointer-in-list.json", "generic", "ready", "plane", "saw", &["phases_implied"]),
    ("pointer-only.json", "generic", "blocked", "?", "", &["phases_unknown"]),
    ("stages.yaml", "generic", "ready", "panes", "frame", &["phase_failed", "time_assumed"]),
    ("status-unknown.json", "generic", "confirm", "sew", "cut", &["status_unknown", "status_unknown"]),
    (
        "steps.checkpoint",
        "generic",
        "ready",
        "4",
        "1 2 3",
        &["phase_failed", "records_disagree", "time_assumed"],
    ),
    ("todos.json", "generic", "ready", "2", "1", &[]),
    ("wrapped.json", "generic", "ready", "sort", "fetch", &["phase_failed"]),
];

/// File and place of the damage.
const DAMAGED: [(&str, u64, u64); 5] = [
    ("damaged-bytes.json", 1, 11),
    ("damaged-cut.json", 4, 1),
    ("damaged-empty.json", 1, 1),
    ("damaged-twice.json", 2, 1),
    ("damaged.yaml", 4, 2),
];

#[test]
fn every_file_is_answered_as_a_person_would() {
    let world = World::new();
    for (name, dialect, verdict, phase, done, findings) in ANSWERS {
        let file = fixtures().join(name);
        let before = (std::fs::read(&file).unwrap(), std::fs::metadata(&file).unwrap().mtime());
        let outcome = world.run(&["resume", "--file", file.to_str().unwrap(), "--json"]);
        let document = outcome.document();
        let ids = |key: &str| -> String {
            let ids = document[key].as_array().unwrap().iter().map(|id| id.as_str().unwrap());
            ids.collect::<Vec<_>>().join(" ")
        };
        let phase_said = match (&document["phase"], document["verdict"].as_str()) {
            (Value::String(phase), _) => phase.as_str(),
            (_, Some("complete")) => "",
            _ => "?",
        };
        let codes: Vec<&str> =
            document["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
        assert_eq!(
            (document["dialect"].as_str(), document["verdict"].as_str(), phase_said, &*ids("done"), &*codes),
            (Some(*dialect), Some(*verdict), *phase, *done, *findings),
            "{name}: {outcome}"
        );
        let exit = match *verdict {
            "ready" => 0,
            "complete" => 4,
            _ => 7,
        };
        assert_eq!(outcome.code(), exit, "{name}");
        let after = (std::fs::read(&file).unwrap(), std::fs::metadata(&file).unwrap().mtime());
        assert!(before == after, "{name} stays as it is");
    }
    assert!(!world.store().exists(), "judging a file needs no store");
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
fn every_file_of_the_directory_is_in_the_table() {
    let mut files: Vec<String> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut known: Vec<&str> =
        ANSWERS.iter().map(|row| row.0).chain(DAMAGED.iter().map(|row| row.0)).collect();
    known.sort_unstable();
    assert_eq!(files, known);
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
