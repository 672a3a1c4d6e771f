//! Why something left the live store.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why something was archived. It stands in the seal, in the bundle, and in the name of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ArchiveReason {
    /// The work is done.
    Completed,
    /// The work cannot be done.
    Failed,
    /// Nobody wants it any more.
    Abandoned,
    /// It begins again from the start.
    Restarted,
    /// A retention rule said so.
    Cleanup,
    /// A word written by a newer version.
    Other(String),
}

impl ArchiveReason {
    /// The reasons this version knows.
    pub const KNOWN: [Self; 5] = [Self::Completed, Self::Failed, Self::Abandoned, Self::Restarted, Self::Cleanup];

    /// The word for it in files and on the command line.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
            Self::Restarted => "restarted",
            Self::Cleanup => "cleanup",
            Self::Other(word) => word,
        }
    }
}

/// The reason why the content of a number is nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionReason {
    /// It was deleted on request, without an archive.
    Purged,
    /// Its run expired.
    Expired,
    /// It never had content here: a merge skipped it, or the content was deleted before it was shared.
    Absent,
    /// It was lost or damaged, and a repair continued without it.
    #[serde(other)]
    Lost,
}

impl DeletionReason {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Purged => "purged",
            Self::Expired => "expired",
            Self::Absent => "absent",
            Self::Lost => "lost",
        }
    }

    /// Returns a sentence part that follows the name of a checkpoint.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Purged => "was purged: it was deleted for good",
            Self::Expired => "has expired with its run: it was deleted for good",
            Self::Absent => "was never here: a merge skipped it, or it was deleted before it was shared",
            Self::Lost => "was lost or damaged, and the store was repaired without it",
        }
    }
}

/// Lists the words that would have been understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a reason to archive; it is one of {}", given.escape_debug(), ArchiveReason::KNOWN.map(|r| r.to_string()).join(", "))]
pub struct UnknownReason {
    /// The word as given.
    pub given: String,
}

impl FromStr for ArchiveReason {
    type Err = UnknownReason;

    /// Reads a word that somebody typed; unlike a word in a file it must be known.
    fn from_str(given: &str) -> Result<Self, UnknownReason> {
        match Self::from(given.to_owned()) {
            Self::Other(given) => Err(UnknownReason { given }),
            known => Ok(known),
        }
    }
}

impl From<String> for ArchiveReason {
    fn from(word: String) -> Self {
        Self::KNOWN.into_iter().find(|known| known.word() == word).unwrap_or(Self::Other(word))
    }
}

impl From<ArchiveReason> for String {
    fn from(reason: ArchiveReason) -> Self {
        reason.word().to_owned()
    }
}

impl fmt::Display for ArchiveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_typos_are_refused() {
        for reason in ArchiveReason::KNOWN {
            assert_eq!(reason.word().parse(), Ok(reason.clone()));
            assert_eq!(ArchiveReason::from(reason.word().to_owned()), reason);
        }
        assert!("complete".parse::<ArchiveReason>().unwrap_err().to_string().contains("completed"));
        assert_eq!(ArchiveReason::from("later".to_owned()).word(), "later");
    }
}
