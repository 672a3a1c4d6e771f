//! Thousands of damaged and distorted variants of the fixtures: no panic, bounded work, and correct answers.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ckpt_formats::import::{ForeignFile, Importer, ReadOptions, SourceError};
use ckpt_model::change::Stamp;
use ckpt_model::checkpoint::Writer;
use ckpt_model::resume::{Facts, Limits, Resume, Verdict, evaluate};
use ckpt_model::schema::{Steps, Validator};
use ckpt_model::size::Size;
use ckpt_model::{Checkpoint, Timestamp, format};
use ckpt_store::Store;
use ckpt_store::{Located, OsDisk};
use serde_json::{Map, Value};

use super::table::fixtures;
use crate::support::proof::amount;

/// Validation is slow: one checkpoint in this many is validated.
const VALIDATED: usize = 10;
const LARGEST: usize = 64 << 10;
/// No variant needs more: work that grows faster than the document, such as the expansion of aliases, would.
const ALLOCATIONS: u64 = 5_000;
const ALLOCATIONS_PER_BYTE: u64 = 4;

/// A generator of the same numbers in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit.max(1) as u64).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

const WORDS: [&str; 22] = [
    "done",
    "failed",
    "error",
    "\u{274c}",
    "\u{2705}",
    "pending",
    "in_progress",
    "skipped",
    "complete",
    "none",
    "shelved",
    "",
    " ",
    "\u{202e}gnirts\u{202c}",
    "a\u{0}b",
    "\u{1b}[31m",
    "3 of 7",
    "Phase 2",
    "2026-01-30T00:00:00Z",
    "18446744073709551616",
    "../../etc",
    "\u{1f980}\u{fe0f}\u{200d}",
];
const KEYS: [&str; 16] = [
    "phases",
    "status",
    "current_phase",
    "completed_phases",
    "failed_phases",
    "total_phases",
    "steps",
    "tasks",
    "id",
    "next_phase",
    "resume_from",
    "phase_history",
    "last_completed_step",
    "STEP_1_STATUS",
    "progress",
    "artifacts",
];

fn any_value(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => Value::Bool(dice.below(2) == 0),
        2 => Value::from(dice.below(12)),
        3 => Value::from(-1),
        4 => serde_json::from_str("1e400").unwrap_or(Value::from(u64::MAX)),
        5 => Value::from(2.5),
        6 => Value::Array(vec![any_word(dice), Value::Null]),
        7 => Value::Object(Map::from_iter([("status".to_owned(), any_word(dice))])),
        8 => Value::from("x".repeat(dice.below(4096))),
        9 => (0..dice.below(90)).fold(Value::from(1), |inner, _| Value::Array(vec![inner])),
        _ => any_word(dice),
    }
}

fn any_word(dice: &mut Dice) -> Value {
    Value::from(*dice.pick(&WORDS))
}

/// Changes something somewhere in a document.
fn distort(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = dice.pick(&keys).clone();
            match dice.below(8) {
                0 => drop(members.shift_remove(&key)),
                1 => {
                    let copy = members[&key].clone();
                    members.insert((*dice.pick(&KEYS)).to_owned(), copy);
                }
                2 => {
                    let moved = members.shift_remove(&key).unwrap();
                    members.insert((*dice.pick(&KEYS)).to_owned(), moved);
                }
                3 => drop(members.insert(key, any_value(dice))),
                _ => distort(&mut members[&key], dice),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = dice.below(items.len());
            match dice.below(8) {
                0 => drop(items.remove(index)),
                1 => {
                    let copy = items[index].clone();
                    items.push(copy);
                }
                2 => items[index] = any_value(dice),
                3 => items.push(any_value(dice)),
                _ => distort(&mut items[index], dice),
            }
        }
        other => *other = if dice.below(3) == 0 { any_value(dice) } else { any_word(dice) },
    }
}

/// Changes some bytes of a file.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        match dice.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, u8::try_from(dice.below(256)).unwrap()),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let (from, to) = (at.min(dice.below(bytes.len())), at);
                bytes.extend_from_within(from..to);
            }
            _ if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            _ => {}
        }
    }
    bytes.truncate(LARGEST);
}

/// The phases whose own record, in the list of phases at the top, says that they failed.
fn failed_by_their_own_record(document: &Value) -> BTreeSet<String> {
    let failed = |value: &Value| {
        let word = value.as_str().or_else(|| value.get("status").and_then(Value::as_str));
        matches!(word, Some("failed" | "error" | "\u{274c}"))
    };
    let mut ids = BTreeSet::new();
    for key in ["phases", "steps", "stages"] {
        match document.get(key) {
            Some(Value::Array(items)) => {
                // The last record of a phase counts.
                for item in items.iter().filter(|item| item.is_object()) {
                    let Some(id) = item.get("id").and_then(Value::as_str).map(str::trim) else { continue };
                    if failed(item) {
                        ids.insert(id.to_owned())
                    } else {
                        ids.remove(id)
                    };
                }
            }
            Some(Value::Object(members)) => {
                let entries = members.iter().filter(|(_, value)| value.is_object() && failed(value));
                ids.extend(entries.map(|(key, _)| key.clone()));
            }
            _ => {}
        }
    }
    ids.retain(|id| !id.is_empty());
    ids
}

fn check(checkpoint: &Checkpoint, resume: &Resume, document: &Value) {
    if let Some(phase) = &resume.phase {
        assert!(!resume.done.contains(phase), "{phase} is done, and to be resumed");
    }
    for failed in failed_by_their_own_record(document) {
        assert!(resume.done.iter().all(|done| done.as_str() != failed), "{failed} failed, and is done");
    }
    if resume.verdict == Verdict::Complete {
        assert!(resume.remaining.is_empty() && resume.phase.is_none());
    }
    let known = |id| checkpoint.content.find_phase(id).is_some();
    assert!(resume.done.iter().chain(&resume.remaining).all(known));
    let mut ids = BTreeSet::new();
    assert!(checkpoint.content.phases.iter().all(|phase| ids.insert(phase.id.as_str())), "no phase is there twice");
}

/// What came of reading a variant.
enum Readable {
    Yes,
    /// Refused, for a reason that is not damage.
    Refused,
    Damaged,
}

/// Reads a variant, judges it, and writes it as a checkpoint; fails if any of it is wrong.
fn examine(name: &str, bytes: &[u8], importer: &Importer<'_, OsDisk>, validator: Option<&Validator>) -> Readable {
    let file = match ForeignFile::parse(name, bytes, &ReadOptions::default(), |_, _| None) {
        Ok(file) => file,
        Err(SourceError::Damaged(problem)) => {
            assert!(problem.line >= 1 && problem.column >= 1, "{problem}");
            return Readable::Damaged;
        }
        Err(_) => return Readable::Refused,
    };
    let workflow = file.workflow().unwrap_or_else(|_| "w".parse().unwrap());
    let mut checkpoint = importer.checkpoint(&file, &workflow, None);
    let resume = evaluate(&checkpoint, &Facts::default(), &Limits::default(), importer.stamp.now);
    check(&checkpoint, &resume, &file.files.main);
    let encoded = format::encode(&mut checkpoint).unwrap();
    assert_eq!(format::decode(&encoded).unwrap(), checkpoint);
    if let Some(validator) = validator {
        let violations =
            validator.violations(&serde_json::from_slice(&encoded).unwrap(), &mut Steps::default()).unwrap();
        assert!(violations.is_empty(), "{violations:?}");
    }
    Readable::Yes
}

#[test]
fn no_variant_of_any_file_is_read_wrongly() {
    let mut dice = Dice(0x5eed_0f42);
    let originals: Vec<(String, Vec<u8>)> = std::fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
        .filter(|(name, bytes)| !bytes.is_empty() && !name.ends_with(".expected.json"))
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .collect();
    let temp = tempfile::tempdir().unwrap();
    let located = Located { root: temp.path().join(".ckpt"), project: temp.path().to_owned() };
    let store: Store<OsDisk> = Store::at(&located).unwrap();
    let now = Timestamp::parse("2026-01-30T14:30:00Z").unwrap();
    let stamp = Stamp { now, save_id: "0".repeat(32), writer: Writer::default(), git: None, watched: Vec::new() };
    let importer = Importer { store: &store, project: Path::new("/nowhere"), max_file: Size(1 << 20), stamp: &stamp };
    let validator = Validator::of_checkpoints().unwrap();
    let (mut read, mut damaged) = (0, 0);
    // The same first ones in both forms.
    let variants = amount(1_500, 4_000);
    for variant in 0..variants {
        let (name, original) = dice.pick(&originals).clone();
        let document = serde_json::from_slice::<Value>(&original).ok().filter(|_| dice.below(4) > 0);
        let bytes = match document {
            Some(mut document) => {
                (0..=dice.below(4)).for_each(|_| distort(&mut document, &mut dice));
                document.to_string().into_bytes()
            }
            None => {
                let mut bytes = original;
                damage(&mut bytes, &mut dice);
                bytes
            }
        };
        let mut outcome = Ok(Readable::Damaged);
        let validator = variant.is_multiple_of(VALIDATED).then_some(validator);
        let cost = allocation_counter::measure(|| {
            outcome = catch_unwind(AssertUnwindSafe(|| examine(&name, &bytes, &importer, validator)));
        });
        let (size, shown) = (bytes.len() as u64, String::from_utf8_lossy(&bytes));
        assert!(
            cost.count_total <= ALLOCATIONS + size * ALLOCATIONS_PER_BYTE,
            "variant {variant} of {name}: {} allocations for {size} bytes: {shown}",
            cost.count_total
        );
        match outcome {
            Ok(Readable::Yes) => read += 1,
            Ok(Readable::Damaged) => damaged += 1,
            Ok(Readable::Refused) => {}
            Err(_) => panic!("variant {variant} of {name}: {shown}"),
        }
    }
    assert!(read > variants / 5 && damaged > variants / 20, "{read} read, {damaged} damaged");
    assert!(!located.root.exists(), "nothing was written");
}
