//! Timestamps as they are stored: UTC, milliseconds, RFC 3339.
//!
//! RFC 3339 has four digits for the year. A [`Timestamp`] is limited to them, since a later one could be written but not
//! read again.

use std::fmt;
use std::time::SystemTime;

use chrono::{DateTime, Datelike as _, SecondsFormat, SubsecRound, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The first and the last second of the years 0 to 9999.
const EARLIEST: i64 = -62_167_219_200;
const LATEST: i64 = 253_402_300_799;

/// A point in time with millisecond precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Truncates a time to milliseconds and clamps it to the years 0 to 9999.
    #[must_use]
    pub fn new(time: DateTime<Utc>) -> Self {
        let time = match time.timestamp() {
            EARLIEST..=LATEST => time,
            outside => DateTime::from_timestamp(outside.clamp(EARLIEST, LATEST), 0).unwrap_or(time),
        };
        Self(time.trunc_subsecs(3))
    }

    /// Parses RFC 3339 with any offset; `None` if the year in UTC is not between 0 and 9999.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&Utc);
        (0..=9999).contains(&time.year()).then(|| Self::new(time))
    }

    /// Returns the time as a `chrono` type.
    #[must_use]
    pub fn to_chrono(self) -> DateTime<Utc> {
        self.0
    }

    /// Returns the whole seconds from `earlier` to this time; negative if `earlier` is later.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> i64 {
        // Rounded down: a checkpoint from half a second ahead is in the future, not 0 seconds old.
        (self.0 - earlier.0).num_milliseconds().div_euclid(1000)
    }

    /// Returns the time so many seconds before this one; the year 0 if that is earlier.
    #[must_use]
    pub fn seconds_before(self, seconds: u64) -> Self {
        let seconds = self.0.timestamp().saturating_sub_unsigned(seconds).max(EARLIEST);
        DateTime::from_timestamp(seconds, self.0.timestamp_subsec_nanos()).map_or(self, Self::new)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Self::new(time.into())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(format_args!("`{text}` is not an RFC 3339 time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_milliseconds() {
        let cases = [
            ("2026-01-16T15:15:00-05:00", "2026-01-16T20:15:00.000Z"),
            ("2026-01-16T15:15:00.123456789Z", "2026-01-16T15:15:00.123Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ];
        for (given, stored) in cases {
            assert_eq!(Timestamp::parse(given).unwrap().to_string(), stored);
        }
        for bad in ["", "2026-01-16", "2026-01-16T15:15:00", "now", "2026-13-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for given in ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2026-06-30T23:59:60.5Z"] {
            let time = Timestamp::parse(given).unwrap();
            assert_eq!(Timestamp::parse(&time.to_string()), Some(time), "{given}");
        }
        // Four digits where they were written, and another year in UTC.
        for bad in ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
        for (beyond, nearest) in [
            (DateTime::<Utc>::MAX_UTC, "9999-12-31T23:59:59.000Z"),
            (DateTime::<Utc>::MIN_UTC, "0000-01-01T00:00:00.000Z"),
        ] {
            let time = Timestamp::new(beyond);
            assert_eq!(time.to_string(), nearest);
            assert_eq!(Timestamp::parse(nearest), Some(time));
        }
    }

    #[test]
    fn differences_round_towards_the_past() {
        let at = |text| Timestamp::parse(text).unwrap();
        assert_eq!(at("2026-01-01T00:00:01.999Z").seconds_since(at("2026-01-01T00:00:00Z")), 1);
        assert_eq!(at("2026-01-01T00:00:00Z").seconds_since(at("2026-01-01T00:00:00.001Z")), -1);
        assert_eq!(at("2026-01-01T00:00:01.5Z").seconds_before(2), at("2025-12-31T23:59:59.5Z"));
        assert_eq!(at("2026-01-01T00:00:00Z").seconds_before(u64::MAX), at("0000-01-01T00:00:00Z"));
    }
}
