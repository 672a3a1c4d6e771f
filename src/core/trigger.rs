//! Why a checkpoint was taken.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a checkpoint was taken. Retention rules go by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Trigger {
    /// A phase began, ended or failed.
    PhaseTransition,
    /// A batch of tasks was finished.
    BatchComplete,
    /// An agent delivered something.
    AgentComplete,
    /// Two agents disagree.
    ConflictStart,
    /// They agree again.
    ConflictResolved,
    /// Somebody pressed Ctrl-C.
    UserInterrupt,
    /// The session is about to end.
    SessionEnd,
    /// Somebody asked for it.
    Manual,
    /// A word written by a newer version.
    Other(String),
}

impl Trigger {
    /// The triggers this version knows.
    pub const KNOWN: [Self; 8] = [
        Self::PhaseTransition,
        Self::BatchComplete,
        Self::AgentComplete,
        Self::ConflictStart,
        Self::ConflictResolved,
        Self::UserInterrupt,
        Self::SessionEnd,
        Self::Manual,
    ];

    /// The word for it in files and on the command line.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::PhaseTransition => "phase_transition",
            Self::BatchComplete => "batch_complete",
            Self::AgentComplete => "agent_complete",
            Self::ConflictStart => "conflict_start",
            Self::ConflictResolved => "conflict_resolved",
            Self::UserInterrupt => "user_interrupt",
            Self::SessionEnd => "session_end",
            Self::Manual => "manual",
            Self::Other(word) => word,
        }
    }
}

/// Lists the words that would have been understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a trigger; it is one of {}", given.escape_debug(), Trigger::KNOWN.map(|t| t.to_string()).join(", "))]
pub struct UnknownTrigger {
    /// The word as given.
    pub given: String,
}

impl FromStr for Trigger {
    type Err = UnknownTrigger;

    /// Reads a word that somebody typed; unlike a word in a file it must be known.
    fn from_str(given: &str) -> Result<Self, UnknownTrigger> {
        match Self::from(given.replace('-', "_")) {
            Self::Other(_) => Err(UnknownTrigger { given: given.to_owned() }),
            known => Ok(known),
        }
    }
}

impl From<String> for Trigger {
    fn from(word: String) -> Self {
        Self::KNOWN.into_iter().find(|known| known.word() == word).unwrap_or(Self::Other(word))
    }
}

impl From<Trigger> for String {
    fn from(trigger: Trigger) -> Self {
        trigger.word().to_owned()
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_typos_are_refused() {
        for trigger in Trigger::KNOWN {
            assert_eq!(trigger.word().parse(), Ok(trigger.clone()));
            assert_eq!(Trigger::from(trigger.word().to_owned()), trigger);
        }
        assert_eq!("user-interrupt".parse(), Ok(Trigger::UserInterrupt));
        assert!("phase_transtion".parse::<Trigger>().unwrap_err().to_string().contains("phase_transition"));
        assert_eq!(Trigger::from("later".to_owned()).word(), "later");
    }
}
