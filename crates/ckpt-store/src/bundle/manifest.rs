//! The manifest of a bundle.

use serde::{Deserialize, Deserializer, Serialize};

use super::MAX_BUNDLE_FILES;
use ckpt_model::bundle_name::BundleName;
use ckpt_model::digest::Digest;
use ckpt_model::format::MAX_FILE_BYTES;
use ckpt_model::reason::ArchiveReason;
use ckpt_model::run_summary::RunSummary;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;

const FORMAT: &str = "ckpt.bundle.v1";

/// The first line of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    /// The workflow.
    pub workflow: WorkflowId,
    /// The number of the first checkpoint of the run that all files inside belong to.
    pub run: u64,
    /// The lowest number inside.
    pub first: u64,
    /// The highest number inside.
    pub last: u64,
    /// Why it was archived.
    pub reason: ArchiveReason,
    /// The time of the last save inside; if archiving ended the run, the time of that.
    pub saved_at: Timestamp,
    /// The events in the checkpoints inside, for statistics. None in a bundle of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "if_readable")]
    pub summary: Option<RunSummary>,
    /// The files inside, in the order of their lines: the highest number first.
    pub entries: Vec<ManifestEntry>,
}

/// Reads a summary. One that a newer version wrote in another way is no reason to refuse the bundle.
fn if_readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RunSummary>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// One file of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// The number of the checkpoint.
    pub seq: u64,
    /// The size of its file.
    pub bytes: u64,
    /// The SHA-256 of its file, which is not the digest inside the file.
    pub sha256: Digest,
}

impl ManifestEntry {
    /// Describes a file.
    #[must_use]
    pub fn of(seq: u64, bytes: &[u8]) -> Self {
        Self { seq, bytes: bytes.len() as u64, sha256: Digest::of(bytes) }
    }
}

impl Manifest {
    /// Builds the manifest of the bundle `name` with the files `entries`, the highest number first.
    #[must_use]
    pub fn new(workflow: &WorkflowId, name: &BundleName, entries: Vec<ManifestEntry>) -> Self {
        let BundleName { first, last, run, saved_at, reason } = name.clone();
        let (format, workflow) = (FORMAT.to_owned(), workflow.clone());
        Self { format, workflow, run, first, last, reason, saved_at, summary: None, entries }
    }

    /// Adds the summary.
    #[must_use]
    pub fn with_summary(self, summary: Option<RunSummary>) -> Self {
        Self { summary, ..self }
    }

    /// Returns the name of the bundle.
    #[must_use]
    pub fn name(&self) -> BundleName {
        BundleName::new(self.run, (self.first, self.last), self.saved_at, &self.reason)
    }

    /// Returns the entry of a number.
    #[must_use]
    pub fn entry(&self, seq: u64) -> Option<&ManifestEntry> {
        let place = self.entries.binary_search_by(|entry| seq.cmp(&entry.seq)).ok()?;
        self.entries.get(place)
    }

    /// Checks that it is consistent.
    pub(super) fn check(&self) -> Result<(), String> {
        let seqs = || self.entries.iter().map(|entry| entry.seq);
        if self.format != FORMAT {
            return Err(format!("its format is `{}`, not `{FORMAT}`", self.format.escape_debug()));
        }
        if self.first == 0 || self.first > self.last || self.last == u64::MAX {
            return Err(format!("its range is {} to {}", self.first, self.last));
        }
        if self.entries.is_empty() || self.entries.len() > MAX_BUNDLE_FILES {
            return Err(format!("it lists {} files", self.entries.len()));
        }
        if seqs().zip(seqs().skip(1)).any(|(newer, older)| newer <= older) {
            return Err("its numbers are not in order".to_owned());
        }
        if self.run == 0 || self.run > self.first {
            return Err(format!("its run begins with {}", self.run));
        }
        if seqs().any(|seq| !(self.first..=self.last).contains(&seq)) {
            return Err("it lists a number outside its range".to_owned());
        }
        // An empty file is a tombstone, which must never be archived in the place of its content.
        if self.entries.iter().any(|entry| !(1..=MAX_FILE_BYTES).contains(&entry.bytes)) {
            return Err("it lists a file of a size that no checkpoint has".to_owned());
        }
        Ok(())
    }
}
