//! The file name of a bundle: its range of numbers, its time and its reason.

use std::fmt;

use chrono::NaiveDateTime;

use super::reason::ArchiveReason;
use super::time::Timestamp;

const SUFFIX: &str = ".jsonl.gz";
const TIME: &str = "%Y%m%dT%H%M%SZ";
/// The latest time that a name can have.
const LATEST: &str = "9999-12-31T23:59:59Z";
const EARLIEST: &str = "0000-01-01T00:00:00Z";
const LONGEST_REASON: usize = 32;

/// The name of a bundle: `00000001-00000006-20260116T201500Z-completed.jsonl.gz`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleName {
    /// The lowest number inside.
    pub first: u64,
    /// The highest number inside, except for the seal, which is the next one.
    pub last: u64,
    /// When the decision to archive was made, in whole seconds.
    pub at: Timestamp,
    /// Why it was archived.
    pub reason: ArchiveReason,
}

impl BundleName {
    /// Builds a name. A time out of range is clamped, and a reason that is not a word becomes `other`.
    #[must_use]
    pub fn new(first: u64, last: u64, at: Timestamp, reason: &ArchiveReason) -> Self {
        let at = match (Timestamp::parse(EARLIEST), Timestamp::parse(LATEST)) {
            (Some(earliest), Some(latest)) => at.clamp(earliest, latest),
            _ => at,
        };
        let reason =
            if is_word(reason.word()) { reason.clone() } else { ArchiveReason::Other("other".to_owned()) };
        let whole = at.to_chrono().timestamp();
        let at = chrono::DateTime::from_timestamp(whole, 0).map_or(at, Timestamp::new);
        Self { first, last, at, reason }
    }

    /// Parses a name. A bundle has exactly one spelling of its name; others are refused.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(SUFFIX)?.splitn(4, '-');
        let mut number = || {
            let digits = parts.next().filter(|part| part.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<u64>().ok())
        };
        let (first, last) = (number()?, number()?);
        let at = NaiveDateTime::parse_from_str(parts.next()?, TIME).ok()?.and_utc();
        let reason = parts.next().filter(|word| is_word(word))?.to_owned();
        let parsed = Self { first, last, at: Timestamp::new(at), reason: reason.into() };
        let sensible = first > 0 && first <= last && last < u64::MAX;
        (sensible && parsed.to_string() == name).then_some(parsed)
    }

    /// Returns true if a bundle of this name can hold a number.
    #[must_use]
    pub fn covers(&self, seq: u64) -> bool {
        (self.first..=self.last.saturating_add(1)).contains(&seq)
    }
}

impl fmt::Display for BundleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.to_chrono().format(TIME);
        write!(f, "{:08}-{:08}-{at}-{}{SUFFIX}", self.first, self.last, self.reason)
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
        let name = BundleName::new(1, 6, at, &ArchiveReason::Completed);
        assert_eq!(name.to_string(), "00000001-00000006-20260116T201500Z-completed.jsonl.gz");
        assert_eq!(BundleName::parse(&name.to_string()), Some(name.clone()));
        assert!(name.covers(1) && name.covers(7) && !name.covers(8) && !name.covers(0));

        let large = BundleName::new(123_456_789, u64::MAX - 1, at, &ArchiveReason::Cleanup);
        assert_eq!(BundleName::parse(&large.to_string()), Some(large));
        let odd = BundleName::new(1, 1, at, &ArchiveReason::Other("../../x".to_owned()));
        assert_eq!(BundleName::parse(&odd.to_string()), Some(odd.clone()));
        assert!(odd.to_string().ends_with("-other.jsonl.gz"));

        for foreign in [
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
            let name = BundleName::new(1, 6, at, &ArchiveReason::Failed);
            assert_eq!(BundleName::parse(&name.to_string()), Some(name), "{time}");
        }
        let beyond = Timestamp::new(chrono::DateTime::from_timestamp(400_000_000_000, 0).unwrap());
        let name = BundleName::new(1, 6, beyond, &ArchiveReason::Failed);
        assert_eq!(BundleName::parse(&name.to_string()), Some(name));
    }
}
