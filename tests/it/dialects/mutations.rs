//! Variants of the files with one thing changed, ten thousand with `CKPT_PROOF=full`: no panic, and no `ready` without a
//! reason.
//!
//! A variant may be `ready` for a phase if the file was, or if the variant itself says that this phase is to be done: a
//! record of the phase has a status that is not done, the phase is in a list of what is left or in progress, or the file
//! lists or counts what is done, and the phase is not among it. Every other `ready` would be a guess.

use ckpt_formats::dialects::Document;
use serde_json::{Map, Value};

use super::cases::{cases, judge};
use crate::import::mutations::Dice;
use crate::support::proof;

const NAMES: [&str; 12] = [
    "phases",
    "status",
    "state",
    "current_phase",
    "completed",
    "pending",
    "total_steps",
    "next_phase",
    "id",
    "tasks",
    "notes",
    "x",
];

/// Changes one member somewhere: drops, renames, swaps or retypes it.
pub(super) fn mutate(value: &mut Value, dice: &mut Dice) {
    let inner: Vec<&mut Value> = match value {
        Value::Object(members) => members.values_mut().filter(|value| value.is_object() || value.is_array()).collect(),
        Value::Array(items) => items.iter_mut().filter(|value| value.is_object() || value.is_array()).collect(),
        _ => return,
    };
    if !inner.is_empty() && dice.below(3) > 0 {
        let index = dice.below(inner.len());
        if let Some(inner) = inner.into_iter().nth(index) {
            return mutate(inner, dice);
        }
    }
    match value {
        Value::Object(members) if !members.is_empty() => {
            let index = dice.below(members.len());
            let kind = dice.below(4);
            let other = dice.below(members.len());
            let mut entries: Vec<(String, Value)> = std::mem::take(members).into_iter().collect();
            match kind {
                0 => drop(entries.remove(index)),
                1 => (*dice.pick(&NAMES)).clone_into(&mut entries[index].0),
                2 => {
                    let value = entries[index].1.clone();
                    entries[index].1 = std::mem::replace(&mut entries[other].1, value);
                }
                _ => entries[index].1 = retyped(&entries[index].1, dice),
            }
            *members = entries.into_iter().collect::<Map<_, _>>();
        }
        Value::Array(items) if !items.is_empty() => {
            let (index, other) = (dice.below(items.len()), dice.below(items.len()));
            match dice.below(3) {
                0 => drop(items.remove(index)),
                1 => items.swap(index, other),
                _ => items[index] = retyped(&items[index], dice),
            }
        }
        _ => {}
    }
}

fn retyped(value: &Value, dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => Value::Null,
        1 => Value::from(dice.below(9)),
        2 => Value::Bool(dice.below(2) == 0),
        3 => Value::Array(vec![value.clone()]),
        4 => Value::Object(Map::from_iter([("value".to_owned(), value.clone())])),
        _ => Value::from(value.to_string()),
    }
}

/// True if a document says that a phase is to be done.
fn is_said(document: &Value, phase: &str) -> bool {
    let names_it = |value: &Value| match value {
        Value::String(text) => is_same(text, phase),
        Value::Number(number) => is_same(&number.to_string(), phase),
        _ => false,
    };
    let is_record = |value: &Value| {
        value.as_object().is_some_and(|members| members.values().any(names_it))
            && value.as_object().is_some_and(|members| members.values().any(is_open_status))
    };
    match document {
        // An entry without a name is named by its number.
        Value::Array(items)
            if phase
                .parse::<usize>()
                .is_ok_and(|number| items.get(number.wrapping_sub(1)).is_some_and(is_open_status)) =>
        {
            true
        }
        Value::Array(items) => items.iter().any(|item| {
            let is_box = item.as_str().is_some_and(|line| line.starts_with("[ ]") && line.contains(phase));
            is_box || is_record(item) || is_said(item, phase)
        }),
        Value::Object(members) => members.iter().any(|(key, value)| {
            let key = key.to_lowercase();
            let is_left =
                ["pending", "remaining", "progress", "active", "todo", "pool", "flight", "left", "failed", "next"];
            let is_done = ["complet", "done", "finished"];
            let lists_left = is_left.iter().any(|word| key.contains(word))
                && (names_it(value)
                    || value.is_number()
                    || value
                        .as_array()
                        .is_some_and(|items| items.iter().any(|item| names_it(item) || item.is_object())));
            let lists_done = is_done.iter().any(|word| key.contains(word)) && !value.is_boolean() && !value.is_null();
            let is_named = is_same(&key, &phase.to_lowercase()) || key.contains(&phase.to_lowercase());
            let is_open = is_named
                && (is_open_status(value)
                    || value.as_object().is_some_and(|members| members.values().any(is_open_status)));
            lists_left || lists_done || is_open || is_record(value) || is_said(value, phase)
        }),
        _ => false,
    }
}

fn is_same(text: &str, phase: &str) -> bool {
    text.trim().eq_ignore_ascii_case(phase) || text.contains(phase)
}

/// True if a value is, or contains, something that is not done.
fn is_open_status(value: &Value) -> bool {
    match value {
        Value::Bool(done) => !done,
        Value::String(text) => {
            let text = text.to_lowercase();
            !["complete", "done", "pass", "skip"].iter().any(|word| text.contains(word))
        }
        Value::Array(items) => items.iter().any(is_open_status),
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| is_open_status(value) || (key.contains("fail") && *value == Value::Bool(true))),
        _ => false,
    }
}

#[test]
fn no_variant_is_ready_without_a_reason() {
    let mut dice = Dice(0x0ddb_a115);
    let variants = proof::amount(1_000, 10_000);
    let cases: Vec<_> = cases().into_iter().filter(|case| case.format == "generic").collect();
    let originals: Vec<_> = cases.iter().map(|case| judge(&case.name(), &case.bytes)).collect();
    let mut ready = 0;
    for variant in 0..variants {
        let index = dice.below(cases.len());
        let (case, original) = (&cases[index], &originals[index]);
        let mut bytes = case.bytes.clone();
        match serde_json::from_slice::<Value>(&case.bytes) {
            Ok(mut document) if dice.below(8) > 0 => {
                mutate(&mut document, &mut dice);
                bytes = document.to_string().into_bytes();
            }
            _ => bytes.truncate(dice.below(case.bytes.len() + 1)),
        }
        let judged = judge(&case.name(), &bytes);
        if judged.verdict != "ready" || (original.verdict == "ready" && original.answer == judged.answer) {
            continue;
        }
        ready += 1;
        let document = Document::parse(&bytes).unwrap().value;
        let shown = String::from_utf8_lossy(&bytes);
        assert!(is_said(&document, &judged.answer), "variant {variant} of {}: {} {shown}", case.name(), judged.answer);
    }
    assert!(ready > variants / 500, "{ready} variants became ready: the test looks at some");
}

#[test]
fn no_file_that_was_cut_is_ready() {
    for case in cases().into_iter().filter(|case| case.format == "generic") {
        // A file in lines that was cut between two of them looks like a whole one.
        let cuts = (0..case.bytes.len()).filter(|cut| *cut == 0 || case.bytes[cut - 1] != b'\n');
        for cut in cuts.step_by(7) {
            let judged = judge(&case.name(), &case.bytes[..cut]);
            let is_whole = serde_json::from_slice::<Value>(&case.bytes[..cut]).is_ok();
            assert!(is_whole || judged.verdict != "ready", "{} cut at {cut}: {}", case.name(), judged.answer);
        }
    }
}
