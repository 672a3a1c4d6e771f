//! The dialects, by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The file format of another checkpoint system. All can be read, and most of them written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// `.kamiflow/checkpoints/042-checkpoint-phase2.json`, a file per phase.
    Kamiflow,
    /// `memory/state/phase.json` with its companion `execution.json`.
    Dotagent,
    /// `.claude/checkpoints/implement_auth_20251003_184530.json`.
    ClaudeDir,
    /// `.claude/data/checkpoints/implement_027_auth.json`.
    ClaudePlan,
    /// `.claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml` with an index.
    Crunch,
    /// A checkpoint of this program.
    Ckpt,
    /// Any other document, read by its shape. It cannot be written.
    Generic,
}

impl Dialect {
    /// All dialects, the most specific first.
    pub const ALL: [Self; 7] = [
        Self::Ckpt,
        Self::Kamiflow,
        Self::Dotagent,
        Self::Crunch,
        Self::ClaudeDir,
        Self::ClaudePlan,
        Self::Generic,
    ];

    /// The dialects of other systems that can be written.
    pub const FOREIGN: [Self; 5] =
        [Self::Kamiflow, Self::Dotagent, Self::ClaudeDir, Self::ClaudePlan, Self::Crunch];

    /// The dialects that can be written.
    pub const WRITABLE: [Self; 6] =
        [Self::Kamiflow, Self::Dotagent, Self::ClaudeDir, Self::ClaudePlan, Self::Crunch, Self::Ckpt];

    /// Returns the name in files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kamiflow => "kamiflow",
            Self::Dotagent => "dotagent",
            Self::ClaudeDir => "claude-dir",
            Self::ClaudePlan => "claude-plan",
            Self::Crunch => "crunch",
            Self::Ckpt => "ckpt",
            Self::Generic => "generic",
        }
    }

    /// True if the system has one place for the state of all workflows.
    #[must_use]
    pub fn has_one_slot(self) -> bool {
        self == Self::Dotagent
    }
}

/// The error for a word that is not a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a dialect; it is one of {}", word.escape_debug(), Dialect::ALL.map(Dialect::word).join(", "))]
pub struct UnknownDialect {
    /// The word that was parsed.
    pub word: String,
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(word: &str) -> Result<Self, UnknownDialect> {
        let unknown = || UnknownDialect { word: word.to_owned() };
        Self::ALL.into_iter().find(|dialect| dialect.word() == word).ok_or_else(unknown)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
