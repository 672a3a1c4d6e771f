//! Judging what is there of a part.

use super::gather::Found;
use super::json_edit;
use super::parts::PartKind;

/// The condition of a part on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// As it would be written now.
    Present,
    /// Something of ours, but not what would be written now.
    Outdated,
    /// Nothing of ours.
    Absent,
    /// The file is not valid in its format.
    Unreadable,
}

impl Condition {
    /// Returns its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Outdated => "outdated",
            Self::Absent => "absent",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Judges a part.
#[must_use]
pub fn condition(found: &Found) -> Condition {
    let Some(text) = &found.text else { return Condition::Absent };
    match found.part.kind.added_to(Some(text)) {
        Err(_) => Condition::Unreadable,
        Ok(next) if next == *text => Condition::Present,
        Ok(_) => match &found.part.kind {
            PartKind::Hooks(_) | PartKind::ClaudeSettings { .. } => {
                let ours = json_edit::our_hooks(text).unwrap_or_default();
                if ours.is_empty() { Condition::Absent } else { Condition::Outdated }
            }
            PartKind::WholeFile(_) => Condition::Outdated,
            PartKind::CodexSettings | PartKind::Instructions => Condition::Absent,
        },
    }
}
