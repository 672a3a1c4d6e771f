//! A foreign checkpoint file: parsed, redacted, and read in its dialect.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::collect::{Companions, Source};
use super::error::SourceError;
use crate::dialects::{Dialect, DialectFiles, Document, MAX_SOURCE_DEPTH, Reading};
use ckpt_model::digest::Digest;
use ckpt_model::format;
use ckpt_model::json::depth;
use ckpt_model::redact::{redact_text, redact_value};
use ckpt_model::workflow_id::WorkflowId;

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The dialect to use instead of the detected one.
    pub dialect: Option<Dialect>,
    /// The JSON pointer of the list to take, in a file of no known system.
    pub list: Option<String>,
    /// True to keep secrets.
    pub allow_secrets: bool,
}

/// A foreign checkpoint file.
#[derive(Debug, Clone)]
pub struct ForeignFile {
    /// The name of the file, redacted.
    pub name: String,
    /// The path of the file.
    pub path: Option<PathBuf>,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// The path of the second file that belongs to it.
    pub companion: Option<PathBuf>,
    /// Its content as a draft.
    pub reading: Reading,
    /// Its content as the dialect has it, redacted.
    pub files: DialectFiles,
    /// The JSON pointers of the redacted values.
    pub redactions: Vec<String>,
}

impl ForeignFile {
    /// Reads a file, and the second file that belongs to it.
    ///
    /// # Errors
    /// It cannot be read, is damaged, or is not a checkpoint.
    pub fn open(source: &Source, options: &ReadOptions, companions: &mut Companions) -> Result<Self, SourceError> {
        let mut found = None;
        let companion = |dialect, main: &Value| {
            let companion = companions.find(source, dialect, main)?;
            let content = companion.content;
            found = Some((companion.path, companion.findings));
            content
        };
        let mut file = Self::parse(&source.name(), &source.read()?, options, companion)?;
        file.path = source.path().map(Path::to_owned);
        if let Some((path, findings)) = found {
            file.companion = Some(path);
            file.reading.findings.extend(findings);
        }
        Ok(file)
    }

    /// Parses the bytes of a file. `companion` returns the content of the second file that belongs to it.
    ///
    /// # Errors
    /// It is damaged, or is not a checkpoint.
    pub fn parse(
        name: &str,
        bytes: &[u8],
        options: &ReadOptions,
        companion: impl FnOnce(Dialect, &Value) -> Option<Value>,
    ) -> Result<Self, SourceError> {
        if bytes.starts_with(b"SQLite format 3\0") {
            return Err(SourceError::Sqlite);
        }
        let mut document = Document::parse(bytes)?;
        let chosen = options.dialect.or(options.list.as_ref().map(|_| Dialect::Generic));
        let dialect = chosen.unwrap_or_else(|| Dialect::detect(&document.value));
        if dialect == Dialect::Ckpt {
            format::check(bytes)?;
            // A seal closes a workflow and holds none of its content.
            if document.value.get("sealed").is_some() {
                return Err(SourceError::NotACheckpoint);
            }
        }
        let mut companion = companion(dialect, &document.value);
        // A file of our own is not nested into the state of a checkpoint, so its depth does not grow.
        let deepest = companion.iter().chain([&document.value]).map(depth).max();
        if dialect != Dialect::Ckpt && deepest > Some(MAX_SOURCE_DEPTH) {
            return Err(SourceError::TooDeep);
        }
        let mut redactions = Vec::new();
        if !options.allow_secrets {
            redact_value(&mut document.value, "", &mut redactions);
            if let Some(companion) = &mut companion {
                redact_value(companion, "", &mut redactions);
            }
        }
        let mut reading = match &options.list {
            Some(list) => Dialect::read_list(&document, list),
            None => dialect.read(&document, companion.as_ref()),
        };
        // Who names the dialect knows what it is, but not what a list is.
        if options.dialect.is_none() || options.list.is_some() {
            match reading.draft.undecided.take() {
                Some(undecided) if options.list.is_some() || reading.draft.mentions_work => {
                    return Err(SourceError::CannotTell(undecided));
                }
                Some(_) => return Err(SourceError::NotACheckpoint),
                None if !reading.is_about_work() => return Err(SourceError::NotACheckpoint),
                None => {}
            }
        }
        let files = DialectFiles { main: document.value, companion };
        let mut name = name.to_owned();
        if !options.allow_secrets
            && let Some(redacted) = redact_text(&name)
        {
            name = redacted;
            redactions.push("/imported/source".to_owned());
        }
        Ok(Self { name, path: None, sha256: Digest::of(bytes), companion: None, reading, files, redactions })
    }

    /// Returns true if it lies where its system keeps what is over.
    #[must_use]
    pub fn is_archived(&self) -> bool {
        let archive = self.reading.dialect.layout().and_then(|layout| layout.archive);
        let mut dirs = self.path.iter().flat_map(|path| path.components());
        archive.is_some_and(|archive| dirs.any(|dir| dir.as_os_str() == archive))
    }

    /// Returns the workflow it belongs to, from its content, its directory or its file name, in the nearest valid spelling.
    ///
    /// # Errors
    /// None of them can be turned into a workflow id.
    pub fn workflow(&self) -> Result<WorkflowId, SourceError> {
        let path = Path::new(&self.name);
        let directory = self.reading.dialect.name_by_directory(path);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
        for name in [self.reading.draft.workflow.as_deref(), directory.as_deref(), stem].into_iter().flatten() {
            let id = match name.parse::<WorkflowId>() {
                Ok(id) => Some(id),
                Err(invalid) => invalid.suggestion.and_then(|suggestion| suggestion.parse().ok()),
            };
            if let Some(id) = id {
                return Ok(id);
            }
        }
        Err(SourceError::NoName)
    }
}
