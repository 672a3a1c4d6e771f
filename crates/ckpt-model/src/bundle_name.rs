//! The file name of a bundle: its range of numbers, its run, its time and its reason.

use std::fmt;

use chrono::NaiveDateTime;

use super::reason::ArchiveReason;
use super::time::Timestamp;

const SUFFIX: &str = ".jsonl.gz";
const RUN: &str = "run";
const TIME: &str = "%Y%m%dT%H%M%SZ";
/// The latest time that a name can have.
const LATEST: &str = "9999-12-31T23:59:59Z";
const EARLIEST: &str = "0000-01-01T00:00:00Z";
const LONGEST_REASON: usize = 32;

/// The name of a bundle: `00000001-00000006-20260116T201500Z-completed.jsonl.gz`, and in a later run
/// `00000008-00000012-run8-20260117T091500Z-failed.jsonl.gz`. All files inside belong to one run, so the names alone tell
/// which bundles expire together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleName {
    /// The lowest number inside.
    pub first: u64,
    /// The highest number inside.
    pub last: u64,
    /// The number of the first checkpoint of the run.
    pub run: u64,
    /// The time of the last save inside, in whole seconds; if archiving ended the run, the time of that.
    pub saved_at: Timestamp,
    /// Why it was archived.
    pub reason: ArchiveReason,
}

impl BundleName {
    /// Builds a name. A time out of range is clamped, and a reason that is not a word becomes `other`.
    #[must_use]
    pub fn new(run: u64, (first, last): (u64, u64), saved_at: Timestamp, reason: &ArchiveReason) -> Self {
        let at = match (Timestamp::parse(EARLIEST), Timestamp::parse(LATEST)) {
            (Some(earliest), Some(latest)) => saved_at.clamp(earliest, latest),
            _ => saved_at,
        };
        let reason = if is_word(reason.word()) { reason.clone() } else { ArchiveReason::Other("other".to_owned()) };
        let whole = at.to_chrono().timestamp();
        let saved_at = chrono::DateTime::from_timestamp(whole, 0).map_or(at, Timestamp::new);
        Self { first, last, run, saved_at, reason }
    }

    /// Parses a name. A bundle has exactly one spelling of its name; others are refused.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|b| b.is_ascii_digit());
            if is_number { digits.parse::<u64>().ok() } else { None }
        };
        let parts: Vec<&str> = name.strip_suffix(SUFFIX)?.split('-').collect();
        let (first, last, run, at, reason) = match parts.as_slice() {
            [first, last, at, reason] => (number(first)?, number(last)?, 1, at, reason),
            [first, last, run, at, reason] => {
                (number(first)?, number(last)?, number(run.strip_prefix(RUN)?)?, at, reason)
            }
            _ => return None,
        };
        let saved_at = Timestamp::new(NaiveDateTime::parse_from_str(at, TIME).ok()?.and_utc());
        if !is_word(reason) {
            return None;
        }
        let parsed = Self { first, last, run, saved_at, reason: (*reason).to_owned().into() };
        let sensible = run > 0 && run <= first && first <= last && last < u64::MAX;
        (sensible && parsed.to_string() == name).then_some(parsed)
    }

    /// Returns true if a bundle of this name can hold a number.
    #[must_use]
    pub fn covers(&self, seq: u64) -> bool {
        (self.first..=self.last).contains(&seq)
    }
}

impl fmt::Display for BundleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}-{:08}-", self.first, self.last)?;
        if self.run > 1 {
            write!(f, "{RUN}{}-", self.run)?;
        }
        write!(f, "{}-{}{SUFFIX}", self.saved_at.to_chrono().format(TIME), self.reason)
    }
}

fn is_word(word: &str) -> bool {
    (1..=LONGEST_REASON).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_one_thing() {
        let at = Timestamp::parse("2026-01-16T20:15:00.999Z").unwrap();
        let name = BundleName::new(1, (1, 6), at, &ArchiveReason::Completed);
        assert_eq!(name.to_string(), "00000001-00000006-20260116T201500Z-completed.jsonl.gz");
        assert_eq!(BundleName::parse(&name.to_string()), Some(name.clone()));
        assert!(name.covers(1) && name.covers(6) && !name.covers(7) && !name.covers(0));

        let large = BundleName::new(123_456_789, (123_456_789, u64::MAX - 1), at, &ArchiveReason::Cleanup);
        assert_eq!(BundleName::parse(&large.to_string()), Some(large));
        let odd = BundleName::new(1, (1, 1), at, &ArchiveReason::Other("../../x".to_owned()));
        assert_eq!(BundleName::parse(&odd.to_string()), Some(odd.clone()));
        assert!(odd.to_string().ends_with("-other.jsonl.gz"));

        let second = BundleName::new(8, (9, 12), at, &ArchiveReason::Failed);
        assert_eq!(second.to_string(), "00000009-00000012-run8-20260116T201500Z-failed.jsonl.gz");
        assert_eq!(BundleName::parse(&second.to_string()), Some(second));

        for foreign in [
            "00000001-00000006-run1-20260116T201500Z-completed.jsonl.gz",
            "00000001-00000006-run2-20260116T201500Z-completed.jsonl.gz",
            "00000009-00000012-run08-20260116T201500Z-completed.jsonl.gz",
            "00000009-00000012-8-20260116T201500Z-completed.jsonl.gz",
            "",
            "README",
            "1-6-20260116T201500Z-completed.jsonl.gz",
            "00000000-00000006-20260116T201500Z-completed.jsonl.gz",
            "00000007-00000006-20260116T201500Z-completed.jsonl.gz",
            "00000001-00000006-20261316T201500Z-completed.jsonl.gz",
            "00000001-00000006-20260116T201500-completed.jsonl.gz",
            "00000001-00000006-20260116T201500Z-.jsonl.gz",
            "00000001-00000006-20260116T201500Z-a/b.jsonl.gz",
            "00000001-00000006-20260116T201500Z-a-b.jsonl.gz",
            "00000001-00000006-20260116T201500Z-Done.jsonl.gz",
            "00000001-00000006-20260116T201500Z-completed.jsonl",
            "+0000001-00000006-20260116T201500Z-completed.jsonl.gz",
            ".tmp-00000001-00000006-20260116T201500Z-completed.jsonl.gz",
        ] {
            assert_eq!(BundleName::parse(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn any_time_has_a_name() {
        for time in ["1970-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"] {
            let at = Timestamp::parse(time).unwrap();
            let name = BundleName::new(1, (1, 6), at, &ArchiveReason::Failed);
            assert_eq!(BundleName::parse(&name.to_string()), Some(name), "{time}");
        }
        let beyond = Timestamp::new(chrono::DateTime::from_timestamp(400_000_000_000, 0).unwrap());
        let name = BundleName::new(1, (1, 6), beyond, &ArchiveReason::Failed);
        assert_eq!(BundleName::parse(&name.to_string()), Some(name));
    }
}
