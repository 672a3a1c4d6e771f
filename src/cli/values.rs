//! How clap reads the values of `core` types that have a fixed set of words.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use ckpt_formats::dialects::Dialect;
use ckpt_model::config::PushMode;
use ckpt_model::digest::Digest;
use ckpt_model::{ArchiveReason, PhaseStatus, WorkflowStatus};

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

impl ValueEnum for PushMode {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Manual, Self::End, Self::Always]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.word()))
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

/// The number of digits of a fingerprint that commands print. Any number from [`LEAST_DIGITS`] on is accepted.
const SHORT_DIGITS: usize = 12;
const LEAST_DIGITS: usize = 8;

/// The beginning of the fingerprint of a plan.
#[derive(Debug, Clone)]
pub(crate) struct PlanPrefix(String);

impl PlanPrefix {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for PlanPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex && (LEAST_DIGITS..=64).contains(&text.len()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(format!("it is the fingerprint of a plan, or at least its first {LEAST_DIGITS} digits"))
    }
}

/// Returns the beginning of a fingerprint that commands print.
pub(crate) fn short(fingerprint: &Digest) -> String {
    let mut digits = fingerprint.to_hex();
    digits.truncate(SHORT_DIGITS);
    digits
}

/// Parses a dialect that `export` writes.
pub(crate) fn export_dialect(word: &str) -> Result<Dialect, String> {
    let dialects = Dialect::writable();
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
