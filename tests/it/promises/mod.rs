//! The promises of the five systems that people move from, one file per document.
//!
//! The documentation of each file is a table of everything that its document promises, in our words, with the test that
//! holds it; the names of the tests quote the promise. A second table has what does not hold, with the reason. The
//! question whether `ckpt` does what one of these systems does is answered there.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::project::World;

mod checkpoint_recovery;
mod checkpoints_dir;
mod crunch;
mod dotagent;
mod kamiflow;

/// The severity and the message of the first finding with a code.
#[track_caller]
fn finding(answer: &Value, code: &str) -> String {
    let findings = answer["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == code);
    let found = found.unwrap_or_else(|| panic!("no {code}: {answer}"));
    format!("{}: {}", found["severity"].as_str().unwrap(), found["message"].as_str().unwrap())
}

/// The judgement of a workflow, whatever the verdict.
fn judged(world: &World, workflow: &str) -> Value {
    world.run(&["resume", workflow, "--json"]).document()
}

/// Writes the files that another system would have of a workflow, over the files of an earlier export.
#[track_caller]
fn export(world: &World, workflow: &str, dialect: &str) {
    world.run(&["export", workflow, "--as", dialect, "--force"]).succeeds();
}

/// Checks that a file has every member of another, with the same values but for the spelling of times.
#[track_caller]
fn assert_says(written: &Value, original: &Value) {
    match (written, original) {
        (Value::Object(written), Value::Object(original)) => {
            for (key, value) in original {
                assert!(written.contains_key(key), "{key} is missing: {written:?}");
                assert_says(&written[key], value);
            }
        }
        (Value::String(written), Value::String(original)) => {
            assert_eq!(written.replace(".000Z", "Z"), original.replace(".000Z", "Z"));
        }
        (Value::Array(written), Value::Array(original)) => {
            assert_eq!(written.len(), original.len(), "{written:?} {original:?}");
            written.iter().zip(original).for_each(|(written, original)| assert_says(written, original));
        }
        _ => assert_eq!(written, original),
    }
}

/// The names of the files in a directory of the project, in order.
fn names(world: &World, directory: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(world.project().join(directory)) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A document of the project.
fn document(world: &World, path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(world.project().join(path)).unwrap()).unwrap()
}

#[test]
fn every_promise_names_a_test_and_every_test_holds_a_promise() {
    for (file, source) in [
        ("checkpoint_recovery", include_str!("checkpoint_recovery.rs")),
        ("checkpoints_dir", include_str!("checkpoints_dir.rs")),
        ("crunch", include_str!("crunch.rs")),
        ("dotagent", include_str!("dotagent.rs")),
        ("kamiflow", include_str!("kamiflow.rs")),
    ] {
        let rows = source.lines().filter_map(|line| line.strip_prefix("//! | "));
        let cells = rows.map(|row| row.trim_end_matches(" |").rsplit(" | ").next().unwrap());
        let named: BTreeSet<&str> = cells.filter_map(|cell| cell.strip_prefix('`')?.strip_suffix('`')).collect();
        let tests = source.split("#[test]\nfn ").skip(1).map(|test| test.split('(').next().unwrap());
        let tests: BTreeSet<&str> = tests.collect();
        assert!(tests.len() > 10, "{file}: {tests:?}");
        let unheld: Vec<_> = named.difference(&tests).collect();
        let unlisted: Vec<_> = tests.difference(&named).collect();
        assert!(unheld.is_empty() && unlisted.is_empty(), "{file}: no test {unheld:?}; not in the table {unlisted:?}");
    }
}
