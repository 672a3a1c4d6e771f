//! How many of a kind stay.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// How many of a kind stay, the newest first. It is never none: nothing is removed to the last by a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// So many.
    Newest(NonZeroU32),
    /// All of them.
    All,
}

impl Limit {
    /// The newest so many; none if that would be none at all.
    #[must_use]
    pub const fn newest(count: u32) -> Option<Self> {
        match NonZeroU32::new(count) {
            Some(count) => Some(Self::Newest(count)),
            None => None,
        }
    }

    /// Whether the one that has so many newer ones of its kind stays.
    #[must_use]
    pub fn admits(self, newer: usize) -> bool {
        match self {
            Self::Newest(count) => u32::try_from(newer).is_ok_and(|newer| newer < count.get()),
            Self::All => true,
        }
    }
}

/// Says how a limit is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLimit {
    /// It would keep nothing.
    #[error("0 would keep nothing; write 1 or more, or -1 to keep all")]
    Zero,
    /// It is no limit.
    #[error("`{}` is not a number to keep; write 1 or more, or -1 or `all` to keep all", .0.escape_debug())]
    NotANumber(String),
}

impl FromStr for Limit {
    type Err = InvalidLimit;

    fn from_str(given: &str) -> Result<Self, InvalidLimit> {
        let text = given.trim();
        if text == "-1" || text.eq_ignore_ascii_case("all") {
            return Ok(Self::All);
        }
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let count = plain.then(|| text.parse::<u32>().ok()).flatten();
        let count = count.ok_or_else(|| InvalidLimit::NotANumber(given.to_owned()))?;
        Self::newest(count).ok_or(InvalidLimit::Zero)
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

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of at least 1, or -1 or \"all\" to keep all")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Limit, E> {
                number.to_string().parse().map_err(E::custom)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Limit, E> {
                number.to_string().parse().map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(Either)
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
        assert_eq!(
            (0..5).map(|newer| three.admits(newer)).collect::<Vec<_>>(),
            [true, true, true, false, false]
        );
        assert!(Limit::All.admits(usize::MAX));
    }
}
