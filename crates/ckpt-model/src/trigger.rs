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
    /// The agent is about to compact its context, and will forget details.
    PreCompact,
    /// The session is about to end.
    SessionEnd,
    /// Somebody asked for it.
    Manual,
    /// An earlier checkpoint was rolled back to.
    Rollback,
    /// The workflow was forked from a checkpoint of another one.
    Fork,
    /// Another workflow was merged into it.
    Merge,
    /// An archived workflow was restored.
    Restore,
    /// The workflow was archived; the trigger of a seal.
    Archive,
    /// The workflow was started over.
    Restart,
    /// A damaged workflow was repaired.
    Repair,
    /// A word written by a newer version.
    Other(String),
}

impl Trigger {
    /// The triggers that a save can have.
    pub const OF_SAVES: [Self; 9] = [
        Self::PhaseTransition,
        Self::BatchComplete,
        Self::AgentComplete,
        Self::ConflictStart,
        Self::ConflictResolved,
        Self::UserInterrupt,
        Self::PreCompact,
        Self::SessionEnd,
        Self::Manual,
    ];

    /// The triggers of checkpoints that other commands write. Nobody names them in a save or a setting.
    pub const OF_COMMANDS: [Self; 7] =
        [Self::Rollback, Self::Fork, Self::Merge, Self::Restore, Self::Archive, Self::Restart, Self::Repair];

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
            Self::PreCompact => "pre_compact",
            Self::SessionEnd => "session_end",
            Self::Manual => "manual",
            Self::Rollback => "rollback",
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Restore => "restore",
            Self::Archive => "archive",
            Self::Restart => "restart",
            Self::Repair => "repair",
            Self::Other(word) => word,
        }
    }
}

/// Lists the words that would have been understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a trigger; it is one of {}", given.escape_debug(), Trigger::OF_SAVES.map(|t| t.to_string()).join(", "))]
pub struct UnknownTrigger {
    /// The word as given.
    pub given: String,
}

impl FromStr for Trigger {
    type Err = UnknownTrigger;

    /// Reads a word that somebody typed; unlike a word in a file it must be one for a save.
    fn from_str(given: &str) -> Result<Self, UnknownTrigger> {
        let word = given.replace('-', "_");
        let trigger = Self::OF_SAVES.into_iter().find(|trigger| trigger.word() == word);
        trigger.ok_or_else(|| UnknownTrigger { given: given.to_owned() })
    }
}

impl From<String> for Trigger {
    fn from(word: String) -> Self {
        let known = Self::OF_SAVES.into_iter().chain(Self::OF_COMMANDS).find(|known| known.word() == word);
        known.unwrap_or(Self::Other(word))
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
        for trigger in Trigger::OF_SAVES {
            assert_eq!(trigger.word().parse(), Ok(trigger.clone()));
            assert_eq!(Trigger::from(trigger.word().to_owned()), trigger);
        }
        for trigger in Trigger::OF_COMMANDS {
            assert!(trigger.word().parse::<Trigger>().is_err(), "{trigger} is not for saves");
            assert_eq!(Trigger::from(trigger.word().to_owned()), trigger);
        }
        assert_eq!("user-interrupt".parse(), Ok(Trigger::UserInterrupt));
        assert!("phase_transtion".parse::<Trigger>().unwrap_err().to_string().contains("phase_transition"));
        assert_eq!(Trigger::from("later".to_owned()).word(), "later");
    }
}
