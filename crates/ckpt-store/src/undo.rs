//! Undo records: the checkpoints that one run of `cleanup` or `archive` took out of the live store.
//!
//! A run may concern any number of workflows, and of some of them only a part. The record lets one short command bring back
//! exactly that: `ckpt restore --plan` with the beginning of the plan's fingerprint. It is written after the run, in
//! `undo/20260116T201500Z-FINGERPRINT.json`. Nothing else depends on it, and the oldest records are removed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::deletion::{NumberSet, Range};
use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::layout::{self, UNDO};
use super::open::Store;
use super::publish::NewFile;
use crate::files::FileProblem;
use ckpt_model::change::Stamp;
use ckpt_model::digest::Digest;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;

const FORMAT: &str = "ckpt.undo.v1";
/// Older records than the newest ones of this number are removed.
const MOST_RECORDS: usize = 100;
/// More bytes than the record of a cleanup of a hundred thousand workflows has.
const MAX_RECORD_BYTES: u64 = 64 << 20;
const SUFFIX: &str = ".json";
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// The checkpoints of one workflow that a run took out of the live store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedPart {
    /// The workflow.
    pub workflow: WorkflowId,
    /// Their numbers, as ranges.
    ranges: Vec<Range>,
    /// True if the workflow was archived as a whole.
    pub whole: bool,
}

impl ArchivedPart {
    /// Describes checkpoints by their numbers.
    #[must_use]
    pub fn new(workflow: &WorkflowId, numbers: &BTreeSet<u64>, whole: bool) -> Self {
        Self { workflow: workflow.clone(), ranges: ranges(numbers), whole }
    }

    /// Returns the numbers of the checkpoints.
    #[must_use]
    pub fn numbers(&self) -> NumberSet {
        NumberSet::new(self.ranges.clone())
    }
}

#[derive(Serialize, Deserialize)]
struct UndoRecord {
    format: String,
    plan: String,
    at: Timestamp,
    workflows: Vec<ArchivedPart>,
}

/// Returns the runs of consecutive numbers.
pub(super) fn ranges(numbers: &BTreeSet<u64>) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for seq in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*seq) => *last = *seq,
            _ => ranges.push((*seq, *seq)),
        }
    }
    ranges
}

/// Returns the fingerprint in the name of a record.
pub(super) fn fingerprint(name: &str) -> Option<&str> {
    let (time, fingerprint) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let is_hex = fingerprint.len() == 64 && fingerprint.bytes().all(|b| b.is_ascii_hexdigit());
    (time.len() == "20260116T201500Z".len() && is_hex).then_some(fingerprint)
}

impl<D: Disk> Store<D> {
    /// Records what a plan took out of the live store.
    ///
    /// # Errors
    /// The disk refuses. The archived checkpoints are safe all the same.
    pub fn record_undo(&self, plan: &Digest, workflows: Vec<ArchivedPart>, stamp: &Stamp) -> Result<()> {
        let path = self.root().join(UNDO);
        let root = self.open_root()?;
        self.make(&root, UNDO, &path)?;
        let dir = self.enter(&root, UNDO, &path)?;
        let plan = plan.to_hex();
        let name = format!("{}-{plan}{SUFFIX}", stamp.now.to_chrono().format(TIME));
        let record = UndoRecord { format: FORMAT.to_owned(), plan, at: stamp.now, workflows };
        let failed = |error| self.not_written(&path.join(&name), error);
        let bytes = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        let staged = &layout::staged_file(&format!("{}-undo", stamp.save_id), 0);
        let file = NewFile { staged, name: &name, bytes: &bytes, access: Access::ReadOnly };
        file.replace(self.disk(), &dir).map_err(failed)?;
        let mut records = self.names(&dir, &path)?;
        records.retain(|name| fingerprint(name).is_some());
        for oldest in records.iter().take(records.len().saturating_sub(MOST_RECORDS)) {
            self.remove(&dir, oldest, &path.join(oldest))?;
        }
        self.sync(&dir, &path)?;
        self.sync(&root, &self.root())
    }

    /// Reads what a plan took out of the live store. `beginning` is the beginning of its fingerprint.
    ///
    /// # Errors
    /// No record matches, or records of several plans do; or the store cannot be read.
    pub fn undo_of(&self, beginning: &str) -> Result<Vec<ArchivedPart>> {
        let path = self.root().join(UNDO);
        let no_record = |plans| Error::NoUndoRecord { plan: beginning.to_owned(), plans };
        let Some(dir) = self.open_below(&[self.name(), UNDO])? else { return Err(no_record(0)) };
        let mut records = self.names(&dir, &path)?;
        records.retain(|name| fingerprint(name).is_some_and(|plan| plan.starts_with(beginning)));
        let plans: BTreeSet<_> = records.iter().filter_map(|name| fingerprint(name)).collect();
        let (Some(newest), 1) = (records.last(), plans.len()) else { return Err(no_record(plans.len())) };
        let bytes = match self.disk().read(&dir, newest, MAX_RECORD_BYTES) {
            Ok(bytes) => bytes,
            Err(FileProblem::Io(error)) => return Err(self.failed("read", &path.join(newest), error)),
            Err(_) => return Err(no_record(0)),
        };
        match serde_json::from_slice::<UndoRecord>(&bytes) {
            Ok(record) if record.format == FORMAT => Ok(record.workflows),
            _ => Err(no_record(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_as_ranges() {
        let numbers = BTreeSet::from([1, 2, 3, 7, 9, 10]);
        let part = ArchivedPart::new(&"042".parse().unwrap(), &numbers, false);
        assert_eq!(part.ranges, [(1, 3), (7, 7), (9, 10)]);
        let kept = part.numbers();
        assert!((0..12).all(|seq| kept.contains(seq) == numbers.contains(&seq)));
        assert!(kept.overlaps((4, 7)) && !kept.overlaps((4, 6)) && !kept.overlaps((11, u64::MAX)));
        assert_eq!((kept.find_outside(10), kept.find_outside(8), kept.find_outside(2)), (None, Some(9), Some(3)));
    }
}
