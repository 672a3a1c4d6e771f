//! What is written after an import has what was done since, whatever the file says.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ckpt_formats::dialects::{Dialect, DialectFiles};
use ckpt_model::TaskStatus;
use ckpt_model::phase::PhaseStatus;
use ckpt_model::schema::{Steps, Validator};
use serde_json::{Value, json};

use crate::import::mutations::Dice;
use crate::support::proof;
use ckpt::cases::{Case, cases, updates};
use ckpt::mutations::mutate;
use ckpt::support::{enter_phase, imported, read, write};

/// Returns the dialect, the document and the companion of each case that can be written.
fn writable() -> Vec<(Case, Dialect, DialectFiles)> {
    let cases = cases().into_iter().filter_map(|case| {
        let file = case.open().ok()?;
        let dialect = file.reading.dialect;
        dialect.layout()?;
        Some((case, dialect, file.files))
    });
    cases.collect()
}

/// Checks an import, and the export of a later save.
fn check(dialect: Dialect, files: &DialectFiles) {
    let DialectFiles { main, companion } = files;
    let mut checkpoint = imported(dialect, main, companion.as_ref());
    let mut ids = HashSet::new();
    assert!(checkpoint.content.phases.iter().all(|phase| ids.insert(phase.id.to_string())), "no phase is twice");
    let mut ids = HashSet::new();
    assert!(checkpoint.content.tasks.iter().all(|task| ids.insert(task.id.to_string())), "no task is twice");
    let next = checkpoint.content.remaining().next().map(|phase| phase.id.clone());
    let Some(id) = next else { return };
    enter_phase(&mut checkpoint, &id, PhaseStatus::Complete);
    let now = checkpoint.saved_at;
    if let Some(task) = checkpoint.content.tasks.first_mut() {
        task.enter(TaskStatus::Complete, now);
    }
    let files = write(dialect, &checkpoint);
    let after = read(dialect, &files.main, files.companion.as_ref()).draft.content;
    let is_done = after.find_phase(&id).is_some_and(|phase| phase.status.is_done());
    assert!(is_done, "{id} is done since, and is not in {:#}", files.main);
}

#[test]
fn any_variant_takes_what_was_done_since() {
    let mut dice = Dice(0x70f1_1e5d);
    for (case, dialect, files) in writable() {
        for variant in 0..=proof::amount(1, 60) {
            let mut files = files.clone();
            for _ in 0..variant.min(1 + dice.below(3)) {
                match &mut files.companion {
                    Some(companion) if dice.below(4) == 0 => mutate(companion, &mut dice),
                    _ => mutate(&mut files.main, &mut dice),
                }
            }
            let checked = catch_unwind(AssertUnwindSafe(|| check(dialect, &files)));
            assert!(checked.is_ok(), "variant {variant} of {}: {}", case.name(), files.main);
        }
    }
}

#[test]
fn what_is_imported_has_the_form_of_a_checkpoint() {
    let validator = Validator::of_checkpoints().unwrap();
    for (case, dialect, files) in writable() {
        let checkpoint = imported(dialect, &files.main, files.companion.as_ref());
        let document = serde_json::to_value(checkpoint).unwrap();
        let violations = validator.violations(&document, &mut Steps::default()).unwrap();
        assert!(violations.is_empty(), "{}: {violations:?}", case.name());
    }
}

#[test]
fn the_file_after_the_next_phase_is_as_expected() {
    for (case, dialect, files) in writable() {
        let expected = case.beside("next.json");
        let Ok(text) = std::fs::read_to_string(&expected) else { continue };
        let mut checkpoint = imported(dialect, &files.main, files.companion.as_ref());
        let next = checkpoint.content.remaining().next().unwrap().id.clone();
        enter_phase(&mut checkpoint, &next, PhaseStatus::Complete);
        let DialectFiles { main, companion } = write(dialect, &checkpoint);
        let written = json!({"main": main, "companion": companion});
        if updates() {
            std::fs::write(&expected, format!("{written:#}\n")).unwrap();
        } else {
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), written, "{}", expected.display());
        }
    }
}
