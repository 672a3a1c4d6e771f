//! A file that was written for its system by a mirror.

use std::path::Path;

use super::foreign_file::ForeignFile;
use crate::core::dialects::{Dialect, DialectFiles};
use crate::core::digest::Digest;
use crate::core::export::{current_run, files};
use crate::core::files::locate_in_project;
use crate::core::selector::Handle;
use crate::core::store::{Disk, Store};
use crate::core::workflow_id::WorkflowId;

/// The record of a manifest about a foreign file.
pub(super) struct MirroredSource {
    /// The checkpoint that the file was made from.
    pub(super) source: Handle,
    /// The files as they were written.
    pub(super) base: DialectFiles,
    path: String,
    sha256: Vec<Digest>,
}

impl MirroredSource {
    /// Finds a file in the manifest of its workflow. Returns none if it was not written by a mirror, or the checkpoint that
    /// it was made from cannot be read any more.
    pub(super) fn find<D: Disk>(
        store: &Store<D>,
        project: &Path,
        file: &ForeignFile,
        workflow: &WorkflowId,
    ) -> Option<Self> {
        let dialect = file.reading.dialect;
        let path = file.path.as_ref()?;
        let mut manifest = store.manifest(dialect, workflow)?;
        let (_, path) = locate_in_project(project, Path::new(""), path).ok()?;
        let written = manifest.files.remove(&path).filter(|written| written.source.workflow == *workflow)?;
        let base = dialect.write(&*store.load_content(written.source.clone()).ok()?, project)?;
        Some(Self { source: written.source, base, path, sha256: written.sha256 })
    }

    /// True if the system has not changed the file.
    pub(super) fn is_unchanged(&self, file: &ForeignFile) -> bool {
        let is_recorded = self.sha256.contains(&file.sha256);
        let has_same_companion =
            file.files.companion.is_none() || self.base.companion == file.files.companion;
        has_same_companion && (is_recorded || self.base.main == file.files.main)
    }

    /// Returns the JSON pointers of what was changed by the system and here.
    pub(super) fn conflicts<D: Disk>(
        &self,
        store: &Store<D>,
        project: &Path,
        file: &ForeignFile,
    ) -> Vec<String> {
        let dialect = file.reading.dialect;
        match self.present_files(store, project, dialect) {
            Some(ours) => dialect.conflicts(&self.base, &ours, &file.files),
            None => Vec::new(),
        }
    }

    /// Returns the files as they would be written now.
    fn present_files<D: Disk>(
        &self,
        store: &Store<D>,
        project: &Path,
        dialect: Dialect,
    ) -> Option<DialectFiles> {
        let run = current_run(store, dialect, &self.source.workflow).ok()?;
        let export = files(dialect, &run.checkpoints, project).ok()?;
        let source = export.files.into_iter().find(|file| file.path == self.path)?.source;
        let checkpoint = run.checkpoints.iter().find(|checkpoint| checkpoint.seq == source.seq)?;
        dialect.write(checkpoint, project)
    }
}
