//! Points in time as they are stored: UTC, milliseconds, RFC 3339.

use std::fmt;
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time with millisecond precision. The core never asks for the present one: it is a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// Cuts a time to whole milliseconds.
    #[must_use]
    pub fn new(time: DateTime<Utc>) -> Self {
        Self(time.trunc_subsecs(3))
    }

    /// Reads RFC 3339 with any offset.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|time| Self::new(time.with_timezone(&Utc)))
    }

    /// The time as `chrono` knows it.
    #[must_use]
    pub fn to_chrono(self) -> DateTime<Utc> {
        self.0
    }

    /// Whole seconds from `earlier` to this time; negative if it is later.
    #[must_use]
    pub fn seconds_since(self, earlier: Self) -> i64 {
        // Rounded towards the past: a checkpoint of the next second is in the future, not "0 seconds old".
        (self.0 - earlier.0).num_milliseconds().div_euclid(1000)
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
    fn differences_round_towards_the_past() {
        let at = |text| Timestamp::parse(text).unwrap();
        assert_eq!(at("2026-01-01T00:00:01.999Z").seconds_since(at("2026-01-01T00:00:00Z")), 1);
        assert_eq!(at("2026-01-01T00:00:00Z").seconds_since(at("2026-01-01T00:00:00.001Z")), -1);
    }
}
