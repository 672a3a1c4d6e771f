//! How clap reads the values of `core` types that have a fixed set of words.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::core::dialects::Dialect;
use crate::core::{ArchiveReason, PhaseStatus, WorkflowStatus};

impl ValueEnum for PhaseStatus {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Complete, Self::InProgress, Self::Failed, Self::Skipped, Self::Pending]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.word());
        Some(match self {
            Self::Complete => value.aliases(["completed", "done"]),
            Self::InProgress => value.aliases(["in-progress", "running", "started"]),
            Self::Failed => value.alias("error"),
            Self::Skipped => value,
            Self::Pending => value.hide(true),
        })
    }
}

impl ValueEnum for WorkflowStatus {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.word());
        Some(match self {
            Self::InProgress => value.alias("in-progress"),
            Self::Complete => value.aliases(["completed", "done"]),
            Self::Failed | Self::Abandoned => value,
        })
    }
}

/// Only the reasons that a user may give.
impl ValueEnum for ArchiveReason {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Completed, Self::Failed, Self::Abandoned]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Completed => Some(PossibleValue::new("completed")),
            Self::Failed => Some(PossibleValue::new("failed")),
            Self::Abandoned => Some(PossibleValue::new("abandoned")),
            Self::Restarted | Self::Cleanup | Self::Other(_) => None,
        }
    }
}

/// Parses a dialect that a mirror can be kept in.
pub(crate) fn mirror_dialect(word: &str) -> Result<Dialect, String> {
    one_of(&Dialect::FOREIGN, word)
}

/// Parses a dialect that `export` writes.
pub(crate) fn export_dialect(word: &str) -> Result<Dialect, String> {
    one_of(&Dialect::WRITABLE, word)
}

fn one_of(dialects: &[Dialect], word: &str) -> Result<Dialect, String> {
    let words: Vec<&str> = dialects.iter().map(|dialect| dialect.word()).collect();
    let dialect = dialects.iter().find(|dialect| dialect.word() == word);
    dialect.copied().ok_or_else(|| format!("it is one of {}", words.join(", ")))
}

/// Parses the name of a file that holds a document, or `-`.
pub(crate) fn document_path(path: &str) -> Result<String, &'static str> {
    if is_document(path) {
        return Err("it is a document, and `-` reads one from stdin");
    }
    Ok(path.to_owned())
}

/// True if a text is a JSON document instead of the name of a file.
pub(crate) fn is_document(text: &str) -> bool {
    text.trim_start().starts_with('{')
}
