//! Deletion records: which numbers have no content any more, and why.
//!
//! A tombstone that no bundle covers is a loss, unless the content was deleted on purpose or given up by a repair. A
//! file beside the bundles records that: `archive/042/00000001-00000006.deleted`, with one word inside.

use std::collections::BTreeSet;

use super::archive::Archive;
use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::layout;
use super::open::Store;
use super::publish::NewFile;
use ckpt_model::reason::DeletionReason;
use ckpt_model::workflow_id::WorkflowId;

const SUFFIX: &str = ".deleted";
/// More bytes than any record has.
const MAX_RECORD_BYTES: u64 = 1 << 10;

/// A range of numbers, first and last.
pub(super) type Range = (u64, u64);

/// Reads the word of a record.
fn read_reason(text: &[u8]) -> DeletionReason {
    match text.trim_ascii_end() {
        b"purged" => DeletionReason::Purged,
        b"expired" => DeletionReason::Expired,
        b"absent" => DeletionReason::Absent,
        _ => DeletionReason::Lost,
    }
}

/// The deletion records of a workflow.
#[derive(Debug, Default)]
pub struct Deletions {
    records: Vec<(Range, DeletionReason)>,
    /// The numbers that a bundle holds in spite of a record: two bundles held them, and one expired.
    held: BTreeSet<u64>,
}

impl Deletions {
    /// Uses these records. The caller asks only for numbers that no bundle holds.
    pub(super) fn of_records(records: Vec<(Range, DeletionReason)>) -> Self {
        Self { records, held: BTreeSet::new() }
    }

    /// Returns why the content of a number is nowhere; none if a bundle holds it or there is no record of it.
    #[must_use]
    pub fn reason(&self, seq: u64) -> Option<DeletionReason> {
        if self.held.contains(&seq) {
            return None;
        }
        let records = self.records.iter().filter(|(range, _)| contains(range, seq));
        records.map(|(_, reason)| *reason).min()
    }
}

/// Returns true if a number is in a range.
pub(super) fn contains((first, last): &Range, seq: u64) -> bool {
    (*first..=*last).contains(&seq)
}

/// Returns the same numbers in as few ranges as possible.
pub(super) fn joined(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable();
    let mut joined: Vec<Range> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// A set of numbers. It is kept as ranges: these may be data of others, and must not decide on how much memory is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberSet(Vec<Range>);

impl NumberSet {
    pub(super) fn new(mut ranges: Vec<Range>) -> Self {
        ranges.retain(|(first, last)| first <= last);
        Self(joined(ranges))
    }

    pub(super) fn contains(&self, seq: u64) -> bool {
        self.overlaps((seq, seq))
    }

    /// Returns true if a number of the range is in the set.
    pub(super) fn overlaps(&self, (first, last): Range) -> bool {
        let next = self.0.partition_point(|(_, end)| *end < first);
        self.0.get(next).is_some_and(|(begin, _)| *begin <= last)
    }

    /// Returns a number in the set that is not one of 1 to `head`.
    pub(super) fn find_outside(&self, head: u64) -> Option<u64> {
        let (first, last) = (self.0.first()?.0, self.0.last()?.1);
        if first == 0 {
            return Some(0);
        }
        if last > head { Some(first.max(head.saturating_add(1))) } else { None }
    }
}

/// Counts the numbers in some ranges, each once. None of them is 0.
pub(super) fn count(ranges: Vec<Range>) -> u64 {
    joined(ranges).iter().fold(0, |sum: u64, (first, last)| sum.saturating_add((last - first).saturating_add(1)))
}

/// Parses the name of a record.
pub(super) fn parse(name: &str) -> Option<Range> {
    let (first, last) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    let range = (first.parse().ok()?, last.parse().ok()?);
    (range.0 > 0 && range.0 <= range.1 && file(range) == name).then_some(range)
}

fn file((first, last): Range) -> String {
    format!("{first:08}-{last:08}{SUFFIX}")
}

impl<D: Disk> Store<D> {
    /// Reads the deletion records of a workflow.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn deletions(&self, workflow: &WorkflowId) -> Result<Deletions> {
        let archive = self.archive_of(workflow)?;
        let records = archive.deletion_records()?;
        if records.is_empty() {
            return Ok(Deletions::default());
        }
        let mut held = BTreeSet::new();
        archive.each_bundle(|_, bundle| {
            if let Ok(bundle) = bundle {
                held.extend(bundle.manifest().entries.iter().map(|entry| entry.seq));
            }
            Ok(())
        })?;
        Ok(Deletions { records, held })
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Reads all deletion records. One whose file cannot be read counts as lost.
    pub(super) fn deletion_records(&self) -> Result<Vec<(Range, DeletionReason)>> {
        let mut ranges = Vec::new();
        self.list(|name| ranges.extend(parse(name)))?;
        let reason = |range| match self.read_file(&file(range), MAX_RECORD_BYTES) {
            Ok(text) => read_reason(&text),
            Err(_) => DeletionReason::Lost,
        };
        Ok(ranges.into_iter().map(|range| (range, reason(range))).collect())
    }

    /// Returns why the content of a number is nowhere, if a record says so. The caller knows that no bundle holds it.
    pub(super) fn deletion_reason(&self, seq: u64) -> Result<Option<DeletionReason>> {
        Ok(Deletions::of_records(self.deletion_records()?).reason(seq))
    }

    /// The error about content that no bundle holds.
    pub(super) fn not_archived(&self, seq: u64) -> Error {
        let deleted = self.deletion_reason(seq).unwrap_or_default();
        Error::Archived { handle: self.handle(seq), deleted }
    }
}

impl<D: Disk> Store<D> {
    /// Records that the content of a range of numbers is nowhere. The record is durable when this returns; to be
    /// called before the content is deleted.
    pub(super) fn record_deletion(
        &self,
        workflow: &WorkflowId,
        range: Range,
        reason: DeletionReason,
        save_id: &str,
    ) -> Result<()> {
        let archive = self.create_archive(workflow)?;
        let text = format!("{}\n", reason.word());
        archive.publish_file(&NewFile {
            staged: &layout::staged_file(&format!("{save_id}-deleted-{}", range.0), 0),
            name: &file(range),
            bytes: text.as_bytes(),
            access: Access::ReadOnly,
        })?;
        archive.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_certain_reason_of_several_records_counts() {
        assert_eq!(read_reason(b"purged\n"), DeletionReason::Purged);
        assert_eq!(read_reason(b"expired\n"), DeletionReason::Expired);
        assert_eq!(read_reason(b"lost\n"), DeletionReason::Lost);
        assert_eq!(read_reason(b"anything else"), DeletionReason::Lost);
        let records =
            vec![((1, 4), DeletionReason::Lost), ((3, 6), DeletionReason::Expired), ((4, 4), DeletionReason::Purged)];
        let deletions = Deletions { records, held: BTreeSet::from([5]) };
        let reasons: Vec<_> = (0..8).map(|seq| deletions.reason(seq).map(DeletionReason::word)).collect();
        let expected = [None, Some("lost"), Some("lost"), Some("expired"), Some("purged"), None, Some("expired"), None];
        assert_eq!(reasons, expected);
    }

    #[test]
    fn numbers_in_several_ranges_count_once() {
        assert_eq!(count(vec![(3, 6), (1, 4), (9, 9)]), 7);
        assert_eq!(count(vec![(2, u64::MAX), (1, u64::MAX)]), u64::MAX);
        assert_eq!(count(Vec::new()), 0);
    }

    #[test]
    fn every_range_has_one_file_name() {
        assert_eq!(parse(&file((1, 6))), Some((1, 6)));
        assert_eq!(parse(&file((7, 123_456_789))), Some((7, 123_456_789)));
        for other in ["1-6.deleted", "00000006-00000001.deleted", "00000000-00000001.deleted", "x.deleted", ".deleted"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
