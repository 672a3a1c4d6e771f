//! Limits: how many of the newest stay.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// The number of newest checkpoints or bundles that stay. It is never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "LimitEntry")]
pub enum Limit {
    /// This many.
    Newest(NonZeroU32),
    /// All of them.
    All,
}

impl Limit {
    /// Returns the limit of `count`; `None` for zero.
    #[must_use]
    pub const fn newest(count: u32) -> Option<Self> {
        match NonZeroU32::new(count) {
            Some(count) => Some(Self::Newest(count)),
            None => None,
        }
    }

    /// Returns true if something with this many newer ones stays.
    #[must_use]
    pub fn admits(self, newer: usize) -> bool {
        match self {
            Self::Newest(count) => u32::try_from(newer).is_ok_and(|newer| newer < count.get()),
            Self::All => true,
        }
    }
}

/// The reason why a text is not a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimit {
    /// Zero.
    #[error("0 would keep nothing; write 1 or more, or -1 to keep all")]
    Zero,
    /// Not a number.
    #[error("`{}` is not a number to keep; write 1 or more, or -1 or `all` to keep all", .0.escape_debug())]
    NotANumber(String),
}

impl FromStr for Limit {
    type Err = InvalidLimit;

    fn from_str(text: &str) -> Result<Self, InvalidLimit> {
        let trimmed = text.trim();
        if trimmed == "-1" || trimmed.eq_ignore_ascii_case("all") {
            return Ok(Self::All);
        }
        match trimmed.parse() {
            Ok(count) if !trimmed.starts_with('+') => Self::newest(count).ok_or(InvalidLimit::Zero),
            _ => Err(InvalidLimit::NotANumber(text.to_owned())),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest(count) => write!(f, "{count}"),
            Self::All => f.write_str("all"),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Newest(count) => serializer.serialize_u32(count.get()),
            Self::All => serializer.serialize_i32(-1),
        }
    }
}

/// A limit in a settings file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of at least 1, or -1 or \"all\" to keep all")]
enum LimitEntry {
    Number(i64),
    Text(String),
}

impl TryFrom<LimitEntry> for Limit {
    type Error = InvalidLimit;

    fn try_from(entry: LimitEntry) -> Result<Self, InvalidLimit> {
        match entry {
            LimitEntry::Number(number) => number.to_string().parse(),
            LimitEntry::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_positive_or_all() {
        assert_eq!("3".parse(), Ok(Limit::newest(3).unwrap()));
        for all in ["-1", "all", "ALL"] {
            assert_eq!(all.parse(), Ok(Limit::All), "{all}");
        }
        assert_eq!("0".parse::<Limit>(), Err(InvalidLimit::Zero));
        assert_eq!("00".parse::<Limit>(), Err(InvalidLimit::Zero));
        for bad in ["", "-2", "+3", "1.5", "many", "4294967296"] {
            assert!(matches!(bad.parse::<Limit>(), Err(InvalidLimit::NotANumber(_))), "{bad}");
        }
    }

    #[test]
    fn the_newest_are_admitted() {
        let three = Limit::newest(3).unwrap();
        assert_eq!((0..5).map(|newer| three.admits(newer)).collect::<Vec<_>>(), [true, true, true, false, false]);
        assert!(Limit::All.admits(usize::MAX));
    }
}
