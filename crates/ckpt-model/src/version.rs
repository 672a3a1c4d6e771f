//! The version of the checkpoint format.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The version this program writes.
///
/// - 1.0: the first one.
pub const CURRENT: Version = Version { major: 1, minor: 0 };

/// The version of a file's format. Within a major version, files only gain fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Counts incompatible changes.
    pub major: u32,
    /// Counts additions.
    pub minor: u32,
}

impl Version {
    /// Parses `1.0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        Some(Self { major: number(major)?, minor: number(minor)? })
    }

    /// Parses `2`, in case a later major version has no minor one.
    pub(crate) fn of_later_major(text: &str) -> Option<Self> {
        Self::parse(&format!("{text}.0")).filter(|version| version.major > CURRENT.major)
    }

    /// Returns true if this program can continue a workflow whose newest checkpoint has this version.
    #[must_use]
    pub fn is_writable(self) -> bool {
        self <= CURRENT
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(format_args!("`{text}` is not a format version")))
    }
}
