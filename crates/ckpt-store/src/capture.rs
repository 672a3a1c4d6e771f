//! Keeping the contents of artifacts with a save.
//!
//! A file is kept byte for byte or not at all, because its digest is part of the record: so a text with a secret in it is
//! not kept, unless the caller allows secrets. A file that is not kept is recorded all the same, and the caller is told.

use std::collections::BTreeSet;
use std::fmt;

use super::files::{FileAt, FileProblem};
use crate as store;
use crate::{Disk, MAX_OBJECT_BYTES, ObjectContent, SeenFiles, Store};
use ckpt_model::checkpoint::Artifact;
use ckpt_model::config::CaptureLimits;
use ckpt_model::digest::Digest;
use ckpt_model::redact::find_secret;
use ckpt_model::size::Size;

/// The contents that a save keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The contents.
    pub contents: Vec<ObjectContent>,
    /// The files that are recorded without their content.
    pub left_out: Vec<LeftOut>,
    /// The digests of the files, to be written after the save.
    pub seen: SeenFiles,
}

/// A file that is recorded without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path, relative to the project.
    pub path: String,
    /// The reason.
    pub why: NotKept,
}

/// The reason why a content is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotKept {
    /// The file is larger than this.
    FileTooLarge(Size),
    /// All objects together would be larger than this.
    StoreFull(Size),
    /// The file contains a secret, which this rule recognises.
    Secret(&'static str),
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the content of {} was not kept: ", self.path)?;
        match self.why {
            NotKept::FileTooLarge(limit) => write!(f, "it is larger than {limit} (`artifacts.max_file`)"),
            NotKept::StoreFull(limit) => write!(
                f,
                "all objects would be larger than {limit} (`artifacts.max_store`); `ckpt cleanup` removes those that \
                 nothing refers to"
            ),
            NotKept::Secret(rule) => {
                write!(f, "it has a secret in it ({rule}); `--allow-secrets` keeps it as it is")
            }
        }
    }
}

/// A capture in progress.
#[derive(Debug)]
pub(super) struct Capture<'a, D: Disk> {
    store: &'a Store<D>,
    limits: CaptureLimits,
    allow_secrets: bool,
    captured: Captured,
    /// The contents that are not in the store yet, and their size.
    new: BTreeSet<Digest>,
    new_size: u64,
}

/// A file whose content cannot be kept because it cannot be read, or the store cannot.
#[derive(Debug)]
pub(super) enum CaptureError {
    File(FileProblem),
    Store(store::Error),
}

impl<'a, D: Disk> Capture<'a, D> {
    pub(super) fn new(store: &'a Store<D>, limits: CaptureLimits, allow_secrets: bool) -> Self {
        let captured = Captured { seen: store.seen_files(), ..Captured::default() };
        Self { store, limits, allow_secrets, captured, new: BTreeSet::new(), new_size: 0 }
    }

    pub(super) fn finish(self) -> Captured {
        self.captured
    }

    /// Keeps the content of a file if it may be kept. The artifact records exactly what was read, now or, if the file has
    /// not changed since, by an earlier save.
    pub(super) fn take(&mut self, file: &FileAt, artifact: &mut Artifact) -> Result<bool, CaptureError> {
        let max_file = self.limits.max_file.min(Size(MAX_OBJECT_BYTES));
        if let Some(content) = self.unchanged(file, artifact).map_err(CaptureError::Store)?
            && content.size() <= max_file.0
        {
            self.keep(artifact, content);
            return Ok(true);
        }
        let (stat, bytes) = match file.read_with_stat(max_file.0) {
            Ok(read) => read,
            Err(FileProblem::TooLarge(_)) => {
                self.leave_out(artifact, NotKept::FileTooLarge(max_file));
                return Ok(false);
            }
            Err(problem) => return Err(CaptureError::File(problem)),
        };
        let sha256 = Digest::of(&bytes);
        if let Some(why) = self.admit(&bytes, sha256).map_err(CaptureError::Store)? {
            self.leave_out(artifact, why);
            return Ok(false);
        }
        self.captured.seen.note(&artifact.path, &stat, sha256);
        self.keep(artifact, ObjectContent::with_digest(bytes, sha256));
        Ok(true)
    }

    /// Returns the content of a file that was kept by an earlier save and has not changed since, without reading it.
    fn unchanged(&self, file: &FileAt, artifact: &Artifact) -> store::Result<Option<ObjectContent>> {
        let Ok(stat) = file.stat() else { return Ok(None) };
        let Some(sha256) = self.captured.seen.digest(&artifact.path, &stat) else { return Ok(None) };
        let is_there = self.store.has_object(&sha256)?;
        Ok(is_there.then(|| ObjectContent::unread(&artifact.path, stat.bytes, sha256)))
    }

    fn keep(&mut self, artifact: &mut Artifact, content: ObjectContent) {
        (artifact.size, artifact.sha256) = (Some(content.size()), Some(content.sha256()));
        artifact.captured = true;
        self.captured.contents.push(content);
    }

    /// Counts a content that is to be kept, or returns the reason not to keep it. One that is kept already costs nothing.
    fn admit(&mut self, bytes: &[u8], sha256: Digest) -> store::Result<Option<NotKept>> {
        if self.new.contains(&sha256) || self.store.has_object(&sha256)? {
            return Ok(None);
        }
        if !self.allow_secrets
            && let Some(rule) = std::str::from_utf8(bytes).ok().and_then(find_secret)
        {
            return Ok(Some(NotKept::Secret(rule)));
        }
        let new_size = self.new_size.saturating_add(bytes.len() as u64);
        let limit = self.limits.max_store;
        if self.store.objects_size()?.saturating_add(new_size) > limit.0 {
            return Ok(Some(NotKept::StoreFull(limit)));
        }
        self.new.insert(sha256);
        self.new_size = new_size;
        Ok(None)
    }

    fn leave_out(&mut self, artifact: &Artifact, why: NotKept) {
        self.captured.left_out.push(LeftOut { path: artifact.path.clone(), why });
    }
}
