//! A foreign file, opened: parsed, freed of secrets, recognised and read.

use std::path::Path;

use serde_json::Value;

use super::problem::SourceProblem;
use crate::core::dialects::{Dialect, Document, MAX_SOURCE_DEPTH, Papers, Reading};
use crate::core::digest::Digest;
use crate::core::format;
use crate::core::json::depth;
use crate::core::redact::{redact_text, redact_value};
use crate::core::workflow_id::WorkflowId;

/// How a file is to be taken.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// The dialect, whatever the content looks like.
    pub dialect: Option<Dialect>,
    /// Whether secrets stay in.
    pub allow_secrets: bool,
}

/// A foreign file and what it says.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The file, as it was named, without secrets.
    pub source: String,
    /// Its digest.
    pub sha256: Digest,
    /// What it says, in our words.
    pub reading: Reading,
    /// What it says, in its own.
    pub papers: Papers,
    /// The places where a secret was taken out.
    pub redactions: Vec<String>,
}

impl Opened {
    /// Opens a file. `beside` is asked for what the dialect keeps in a second one.
    ///
    /// # Errors
    /// It is damaged, or nothing that could be a checkpoint.
    pub fn read(
        source: &str,
        bytes: &[u8],
        terms: Terms,
        beside: impl FnOnce(Dialect, &Value) -> Option<Value>,
    ) -> Result<Self, SourceProblem> {
        let mut document = Document::parse(bytes)?;
        let dialect = terms.dialect.unwrap_or_else(|| Dialect::detect(&document.value));
        if dialect == Dialect::Ckpt {
            format::check(bytes)?;
            // A seal closes a workflow and holds none of its content.
            if document.value.get("sealed").is_some() {
                return Err(SourceProblem::NotACheckpoint);
            }
        }
        let mut beside = beside(dialect, &document.value);
        // Those of our own are not put into a state, they have one.
        let deepest = beside.iter().chain([&document.value]).map(depth).max();
        if dialect != Dialect::Ckpt && deepest > Some(MAX_SOURCE_DEPTH) {
            return Err(SourceProblem::TooDeep);
        }
        let mut redactions = Vec::new();
        if !terms.allow_secrets {
            redact_value(&mut document.value, "", &mut redactions);
            if let Some(beside) = &mut beside {
                redact_value(beside, "", &mut redactions);
            }
        }
        let reading = dialect.read(&document, beside.as_ref());
        if !document.value.is_object() && !reading.is_about_work() {
            return Err(SourceProblem::NotACheckpoint);
        }
        let papers = Papers { main: document.value, beside };
        let mut source = source.to_owned();
        if !terms.allow_secrets
            && let Some(clean) = redact_text(&source)
        {
            source = clean;
            redactions.push("/imported/source".to_owned());
        }
        Ok(Self { source, sha256: Digest::of(bytes), reading, papers, redactions })
    }

    /// Whether it is a checkpoint at all. One that somebody named may say as little as when it was saved; what merely
    /// lies in a directory must be about work.
    #[must_use]
    pub fn is_checkpoint(&self, named: bool) -> bool {
        self.reading.is_about_work() || (named && self.reading.draft.recorded_at.is_some())
    }

    /// The workflow it belongs to: what it says, or what its file is called, in the nearest legal spelling.
    ///
    /// # Errors
    /// Neither can name a workflow.
    pub fn workflow(&self) -> Result<WorkflowId, SourceProblem> {
        let stem = Path::new(&self.source).file_stem().and_then(|stem| stem.to_str());
        let stem = stem.filter(|stem| *stem != "-");
        let named = [self.reading.draft.workflow.as_deref(), stem];
        let id = named.into_iter().flatten().find_map(|name| match name.parse::<WorkflowId>() {
            Ok(id) => Some(id),
            Err(invalid) => invalid.suggestion.and_then(|near| near.parse().ok()),
        });
        id.ok_or(SourceProblem::NoName)
    }
}
