//! How clap reads the values of the model that have a fixed set of words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use ckpt_formats::dialects::Dialect;
use ckpt_model::config::PushMode;
use ckpt_model::digest::Digest;
use ckpt_model::{ArchiveReason, PhaseStatus, WorkflowStatus};

pub(crate) fn phase_status() -> impl TypedValueParser<Value = PhaseStatus> {
    use PhaseStatus::{Complete, Failed, InProgress, Pending, Skipped};
    let value = |status: PhaseStatus| PossibleValue::new(status.word());
    one_of(vec![
        (Complete, value(Complete).aliases(["completed", "done"])),
        (InProgress, value(InProgress).aliases(["in-progress", "running", "started"])),
        (Failed, value(Failed).alias("error")),
        (Skipped, value(Skipped)),
        (Pending, value(Pending).hide(true)),
    ])
}

pub(crate) fn push_mode() -> impl TypedValueParser<Value = PushMode> {
    let modes = [PushMode::Manual, PushMode::End, PushMode::Always];
    one_of(modes.map(|mode| (mode, PossibleValue::new(mode.word()))).into())
}

pub(crate) fn workflow_status() -> impl TypedValueParser<Value = WorkflowStatus> {
    let value = |status: WorkflowStatus| match status {
        WorkflowStatus::InProgress => PossibleValue::new(status.word()).alias("in-progress"),
        WorkflowStatus::Complete => PossibleValue::new(status.word()).aliases(["completed", "done"]),
        WorkflowStatus::Failed | WorkflowStatus::Abandoned => PossibleValue::new(status.word()),
    };
    one_of(WorkflowStatus::ALL.map(|status| (status, value(status))).into())
}

/// Reads the reasons that a user may give.
pub(crate) fn archive_reason() -> impl TypedValueParser<Value = ArchiveReason> {
    one_of(vec![
        (ArchiveReason::Completed, "completed".into()),
        (ArchiveReason::Failed, "failed".into()),
        (ArchiveReason::Abandoned, "abandoned".into()),
    ])
}

fn one_of<T: Clone + Send + Sync + 'static>(values: Vec<(T, PossibleValue)>) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(values.iter().map(|(_, value)| value.clone()));
    words.try_map(move |word| {
        let found = values.iter().find(|(_, value)| value.matches(&word, false));
        found.map(|(value, _)| value.clone()).ok_or("it is an unknown word")
    })
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
