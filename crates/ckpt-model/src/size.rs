//! Sizes in bytes: `50MB`, `1 GiB`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 10] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("bytes", 1),
    ("b", 1),
];

/// A text that is not a size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a size; write a whole number and a unit, such as `50MB` or `1GiB`", .0.escape_debug())]
pub struct InvalidSize(pub String);

impl FromStr for Size {
    type Err = InvalidSize;

    fn from_str(given: &str) -> Result<Self, InvalidSize> {
        let invalid = || InvalidSize(given.to_owned());
        let text = given.trim().to_ascii_lowercase();
        let (unit, factor) = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit)).ok_or_else(invalid)?;
        let digits = text[..text.len() - unit.len()].trim_end();
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let number: u64 = plain.then(|| digits.parse().ok()).flatten().ok_or_else(invalid)?;
        number.checked_mul(factor).map(Self).ok_or_else(invalid)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for Size {
    /// Writes three significant digits in decimal units: `512 B`, `10.2 kB`, `1.50 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) = match self.0 {
            0..1_000 => return f.pad(&format!("{} B", self.0)),
            1_000..1_000_000 => ("kB", 1_000),
            1_000_000..1_000_000_000 => ("MB", 1_000_000),
            _ => ("GB", 1_000_000_000),
        };
        let (whole, hundredths) = (self.0 / factor, self.0 % factor * 100 / factor);
        f.pad(&match whole {
            0..10 => format!("{whole}.{hundredths:02} {unit}"),
            10..100 => format!("{whole}.{} {unit}", hundredths / 10),
            _ => format!("{whole} {unit}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, bytes) in [("0b", 0), ("50MB", 50_000_000), ("1 GiB", 1 << 30), ("12 bytes", 12)] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
        for bad in ["", "5", "MB", "-1MB", "1.5GB", "1e3kb", "99999999999999999999b", "20000000tb"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
        for (bytes, text) in
            [(0, "0 B"), (999, "999 B"), (10_240, "10.2 kB"), (1_500_000_000, "1.50 GB"), (123_456, "123 kB")]
        {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
