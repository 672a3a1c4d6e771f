//! Numbers whose content is in no bundle any more, and where that is no surprise.
//!
//! A tombstone that no bundle covers is a loss, unless somebody decided on it: a bundle expired, a cleanup was told to
//! keep nothing, or a damaged file was moved to quarantine. Then a file beside the bundles says so:
//! `archive/042/00000001-00000006.gone`.

use std::collections::BTreeSet;
use std::io;

use serde::Serialize;

use super::disk::{Access, Disk};
use super::error::Result;
use super::layout;
use super::open::Store;
use crate::core::checkpoint::Sealed;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

const SUFFIX: &str = ".gone";

/// What a note says, and what stands in a seal in the place of a bundle, where a cleanup was told to keep nothing.
pub(super) const PURGED: &str = "purged";
/// What a note says where a bundle expired.
pub(super) const EXPIRED: &str = "expired";

/// More than any note says.
const MAX_NOTE_BYTES: u64 = 1 << 10;

/// A range of numbers, first and last.
pub(super) type Range = (u64, u64);

/// Why the content of a number is in no bundle any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// A cleanup was told to keep nothing of it.
    Purged,
    /// The bundle that held it was too old, or one too many.
    Expired,
    /// It was lost or damaged, and a repair went on without it.
    Lost,
}

impl Gone {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Purged => PURGED,
            Self::Expired => EXPIRED,
            Self::Lost => "lost",
        }
    }

    /// What became of the content, in words that follow the name of a checkpoint.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Purged => "was purged: it was removed without an archive",
            Self::Expired => "has expired with the bundle that held it",
            Self::Lost => "was lost or damaged, and the store was repaired without it",
        }
    }

    fn understand(note: &[u8]) -> Self {
        match note.trim_ascii_end() {
            note if note == PURGED.as_bytes() => Self::Purged,
            note if note == EXPIRED.as_bytes() => Self::Expired,
            _ => Self::Lost,
        }
    }
}

/// What is known about the numbers of a workflow that no bundle holds.
#[derive(Debug, Default)]
pub struct GoneNotes {
    notes: Vec<(Range, Gone)>,
    /// What a bundle holds all the same, because two of them held it.
    held: BTreeSet<u64>,
}

impl GoneNotes {
    /// Why the content of a number is in no bundle; none if it is in one, or nobody knows.
    #[must_use]
    pub fn of(&self, seq: u64) -> Option<Gone> {
        let about = |(first, last): &Range| (*first..=*last).contains(&seq);
        let notes = self.notes.iter().filter(|(range, _)| about(range)).map(|(_, gone)| *gone);
        notes.min().filter(|_| !self.held.contains(&seq))
    }
}

/// Reads the name of such a file.
pub(super) fn parse(name: &str) -> Option<Range> {
    let (first, last) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let range = (first.parse().ok()?, last.parse().ok()?);
    (range.0 > 0 && range.0 <= range.1 && file(range) == name).then_some(range)
}

fn file((first, last): Range) -> String {
    format!("{first:08}-{last:08}{SUFFIX}")
}

impl Sealed {
    /// Whether what is below it was purged.
    #[must_use]
    pub fn is_purged(&self) -> bool {
        self.bundle == PURGED
    }
}

impl<D: Disk> Store<D> {
    /// What is known about the numbers of a workflow that no bundle holds.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn gone_notes(&self, workflow: &WorkflowId) -> Result<GoneNotes> {
        let notes = self.read_notes(workflow)?;
        if notes.is_empty() {
            return Ok(GoneNotes::default());
        }
        let rows = self.scan_manifests(workflow)?;
        let held = rows.into_iter().filter(|(_, row)| row.entry.is_ok()).map(|(seq, _)| seq).collect();
        Ok(GoneNotes { notes, held })
    }

    /// Why the content of a number is in no bundle, which the caller knows it is not; none if nobody knows.
    pub(super) fn why_gone(&self, handle: &Handle) -> Option<Gone> {
        let notes = self.read_notes(&handle.workflow).unwrap_or_default();
        GoneNotes { notes, held: BTreeSet::new() }.of(handle.seq)
    }

    fn read_notes(&self, workflow: &WorkflowId) -> Result<Vec<(Range, Gone)>> {
        let ranges = self.gone_ranges(workflow)?;
        let Some(dir) = self.open_archive(workflow)?.filter(|_| !ranges.is_empty()) else {
            return Ok(Vec::new());
        };
        let why = |range| match self.disk().read(&dir, &file(range), MAX_NOTE_BYTES) {
            Ok(note) => Gone::understand(&note),
            Err(_) => Gone::Lost,
        };
        Ok(ranges.into_iter().map(|range| (range, why(range))).collect())
    }

    /// Notes that the content of these numbers, first to last, is in no bundle any more, and why. It is durable when
    /// this returns; to be called before the content goes.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn note_gone(
        &self,
        workflow: &WorkflowId,
        range: (u64, u64),
        why: &str,
        save_id: &str,
    ) -> Result<()> {
        let (dir, path) = (self.make_archive(workflow)?, self.archive_dir(workflow));
        let name = file(range);
        let staged = layout::staged_file(&format!("{save_id}-gone-{}", range.0), 0);
        let published = self
            .disk()
            .stage(&dir, &staged, format!("{why}\n").as_bytes(), Access::ReadOnly)
            .and_then(|_| self.disk().publish(&dir, &staged, &name));
        let _ = self.disk().remove(&dir, &staged);
        match published {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(self.failed("write", &path.join(&name), error))
            }
            _ => self.sync_archive(workflow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_understood_and_the_most_certain_one_counts() {
        assert_eq!(Gone::understand(b"purged\n"), Gone::Purged);
        assert_eq!(Gone::understand(b"expired\n"), Gone::Expired);
        assert_eq!(Gone::understand(b"lost or damaged when the store was repaired"), Gone::Lost);
        let notes = vec![((1, 4), Gone::Lost), ((3, 6), Gone::Expired), ((4, 4), Gone::Purged)];
        let notes = GoneNotes { notes, held: BTreeSet::from([5]) };
        let of: Vec<_> = (0..8).map(|seq| notes.of(seq).map(Gone::word)).collect();
        let expected =
            [None, Some("lost"), Some("lost"), Some("expired"), Some("purged"), None, Some("expired"), None];
        assert_eq!(of, expected);
    }

    #[test]
    fn names_mean_one_thing() {
        assert_eq!(parse(&file((1, 6))), Some((1, 6)));
        assert_eq!(parse(&file((7, 123_456_789))), Some((7, 123_456_789)));
        for other in ["1-6.gone", "00000006-00000001.gone", "00000000-00000001.gone", "x.gone", ".gone"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
