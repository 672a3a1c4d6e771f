//! Appending foreign files to the store.

use std::path::Path;

use super::error::{ImportError, SourceError};
use super::files::inspect_files;
use super::foreign_file::ForeignFile;
use crate::dialects::{Dialect, FilePer};
use ckpt_model::change::{Stamp, next_checkpoint};
use ckpt_model::checkpoint::{Checkpoint, Doubt, Imported, WorkflowStatus};
use ckpt_model::digest::Digest;
use ckpt_model::finding::{Code, Finding, Severity};
use ckpt_model::phase::{Phase, PhaseStatus};
use ckpt_model::reason::ArchiveReason;
use ckpt_model::selector::Handle;
use ckpt_model::size::Size;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store as store;
use ckpt_store::{Decision, Disk, ImportedFiles, Store};

/// Appends foreign files to a store.
#[derive(Debug, Clone, Copy)]
pub struct Importer<'a, D: Disk> {
    /// The store.
    pub store: &'a Store<D>,
    /// The directory that recorded paths are relative to.
    pub project: &'a Path,
    /// The largest file that is hashed.
    pub max_file: Size,
    /// The stamp of the import; each file gets a save id of its own.
    pub stamp: &'a Stamp,
}

/// The result for one file.
#[derive(Debug, Clone)]
pub enum ImportOutcome {
    /// It became this checkpoint.
    Appended(Box<Checkpoint>),
    /// It had become this checkpoint before.
    Unchanged(Handle),
}

impl ImportOutcome {
    /// Returns the checkpoint that the file has become.
    #[must_use]
    pub fn handle(&self) -> Handle {
        match self {
            Self::Appended(checkpoint) => checkpoint.handle(),
            Self::Unchanged(handle) => handle.clone(),
        }
    }
}

impl<D: Disk> Importer<'_, D> {
    /// Appends the files of one workflow in order, and archives the workflow if the last one lies where its system keeps
    /// what is over. Returns true if it does. `each` hears the result for every file; an error of the store, which would
    /// repeat for the others, ends the import. With `dry_run`, nothing is written.
    ///
    /// # Errors
    /// The store cannot be read, or the workflow not archived.
    pub fn import(
        &self,
        workflow: &WorkflowId,
        files: &[ForeignFile],
        dry_run: bool,
        mut each: impl FnMut(&ForeignFile, Result<ImportOutcome, ImportError>),
    ) -> Result<bool, store::Error> {
        let mut imported = ImportedFiles::default();
        let continued = if dry_run { self.store.continued(workflow)? } else { None };
        let mut newest = continued.map(|(checkpoint, _)| checkpoint);
        let mut archive_as = None;
        for file in files {
            let outcome = if dry_run {
                self.preview(file, workflow, &mut imported, &mut newest)
            } else {
                self.append(file, workflow, &mut imported)
            };
            if let Ok(ImportOutcome::Appended(added)) = &outcome {
                let reason = added.content.status.archive_reason().unwrap_or(ArchiveReason::Restarted);
                archive_as = file.is_archived().then_some(reason);
            }
            let is_over = matches!(outcome, Err(ImportError::Config(_) | ImportError::Store(_)));
            each(file, outcome);
            if is_over {
                break;
            }
        }
        if let (Some(reason), false) = (&archive_as, dry_run) {
            self.store.archive(workflow, reason, self.stamp, &mut |_| {})?;
        }
        Ok(archive_as.is_some())
    }

    /// Appends a file to a workflow, unless the same file was imported into it before. `imported` has the files of the
    /// workflow as far as they were read.
    ///
    /// # Errors
    /// The workflow has another history, or the store cannot be written.
    pub fn append(
        &self,
        file: &ForeignFile,
        workflow: &WorkflowId,
        imported: &mut ImportedFiles,
    ) -> Result<ImportOutcome, ImportError> {
        // Durable: the append that read or wrote its checkpoint has synced the directory.
        if let Some(seq) = imported.find(&file.sha256) {
            return Ok(ImportOutcome::Unchanged(Handle::new(workflow, seq)));
        }
        let mut save_id = Digest::of(format!("{}/{}", self.stamp.save_id, file.sha256).as_bytes()).to_hex();
        save_id.truncate(32);
        let stamp = Stamp { save_id, ..self.stamp.clone() };
        let importer = Importer { stamp: &stamp, ..*self };
        // Another process may import the same files at the same time, so this decides about each head anew.
        let decision = self.store.append(workflow, &stamp.save_id, |newest, _| {
            if let Some(newest) = &newest {
                self.store.update_imported(workflow, newest.seq, imported)?;
                if let Some(seq) = imported.find(&file.sha256) {
                    return Ok(Decision::Keep(Ok(seq)));
                }
                if let Err(error) = check_history(file, newest) {
                    return Ok(Decision::Keep(Err(error)));
                }
            }
            Ok(Decision::Write(importer.checkpoint(file, workflow, newest)))
        })?;
        match decision {
            Decision::Write(checkpoint) => {
                imported.add(file.sha256, checkpoint.seq);
                Ok(ImportOutcome::Appended(checkpoint))
            }
            Decision::Keep(Ok(seq)) => Ok(ImportOutcome::Unchanged(Handle::new(workflow, seq))),
            Decision::Keep(Err(error)) => Err(error.of(&file.name)),
        }
    }

    /// Returns what [`append`](Self::append) would, and makes `newest` the checkpoint it would write.
    ///
    /// # Errors
    /// The workflow has another history, or the store cannot be read.
    pub fn preview(
        &self,
        file: &ForeignFile,
        workflow: &WorkflowId,
        imported: &mut ImportedFiles,
        newest: &mut Option<Box<Checkpoint>>,
    ) -> Result<ImportOutcome, ImportError> {
        if let Some(newest) = newest {
            self.store.update_imported(workflow, newest.seq, imported)?;
            if let Some(seq) = imported.find(&file.sha256) {
                return Ok(ImportOutcome::Unchanged(Handle::new(workflow, seq)));
            }
            check_history(file, newest).map_err(|error| error.of(&file.name))?;
        }
        let next = self.checkpoint(file, workflow, newest.take());
        imported.add(file.sha256, next.seq);
        *newest = Some(next.clone());
        Ok(ImportOutcome::Appended(next))
    }

    /// Returns the checkpoint that a file becomes on top of `newest`.
    #[must_use]
    pub fn checkpoint(
        &self,
        file: &ForeignFile,
        workflow: &WorkflowId,
        newest: Option<Box<Checkpoint>>,
    ) -> Box<Checkpoint> {
        let dialect = file.reading.dialect;
        let draft = &file.reading.draft;
        let stamp = Stamp { git: None, watched: Vec::new(), ..self.stamp.clone() };
        let earlier_phases = newest.as_ref().map(|newest| newest.content.phases.clone()).unwrap_or_default();
        let mut blank = next_checkpoint(workflow, newest, &stamp);
        blank.context = Default::default();
        let mut checkpoint = Box::new(draft.clone().assemble(*blank, self.project));
        if dialect != Dialect::Ckpt {
            checkpoint.content.state = dialect.imported_state(file.files.clone());
        }
        let layout = dialect.layout();
        let phases_recorded = layout.is_some_and(|layout| layout.per == FilePer::Phase)
            && carry_over_phases(&mut checkpoint, &earlier_phases);
        let mut findings = file.reading.findings.clone();
        if phases_recorded {
            findings.retain(|finding| finding.code != Code::PhasesImplied);
        }
        findings.extend(inspect_files(&mut checkpoint, draft, self.project, self.max_file));
        findings.extend(missing_data(&draft.content.phases));
        if draft.recorded_at.is_none() {
            let message = "the file does not say when it was saved; how old it is, is not known";
            findings.push(Finding::new(Severity::Confirm, Code::TimeUnreadable, message));
        }
        let failed = layout.and_then(|layout| layout.failed);
        let dir = Path::new(&file.name).parent();
        if failed.is_some_and(|failed| dir.is_some_and(|dir| dir.ends_with(failed)))
            && draft.content.status == WorkflowStatus::InProgress
        {
            let message = "the file lies where its system puts what has failed";
            findings.push(Finding::new(Severity::Confirm, Code::WorkflowFailed, message));
        }
        checkpoint.imported = Some(self.imported(file, &findings));
        checkpoint
    }

    fn imported(&self, file: &ForeignFile, findings: &[Finding]) -> Imported {
        Imported {
            dialect: file.reading.dialect.word().to_owned(),
            source: file.name.clone(),
            sha256: file.sha256,
            at: self.stamp.now,
            doubts: findings.iter().map(Doubt::from).collect(),
            extra: Default::default(),
        }
    }
}

/// Fails unless `newest` was imported from an older file of the same dialect.
fn check_history(file: &ForeignFile, newest: &Checkpoint) -> Result<(), SourceError> {
    let dialect = file.reading.dialect;
    let why = match &newest.imported {
        None => format!("which has checkpoints of its own up to `{}`", newest.handle()),
        Some(imported) if imported.dialect != dialect.word() => {
            format!("which was imported from {} files", imported.dialect)
        }
        Some(_) if file.reading.draft.recorded_at.is_some_and(|at| at < newest.saved_at) => {
            format!("whose newest checkpoint `{}` was saved later", newest.handle())
        }
        Some(_) => return Ok(()),
    };
    Err(SourceError::Collision { workflow: newest.workflow.clone(), why })
}

/// Returns a finding for each complete phase whose data lacks something. A phase without any is known by its status only.
fn missing_data(phases: &[Phase]) -> impl Iterator<Item = Finding> {
    let reported = phases.iter().filter(|phase| phase.status == PhaseStatus::Complete && phase.data.is_some());
    reported.filter_map(|phase| {
        let missing = phase.missing_data();
        let message = format!("the data of phase {} lacks {}", phase.id, missing.join(", "));
        (!missing.is_empty()).then(|| Finding::advice(Code::DataInvalid, message))
    })
}

/// Replaces completed phases without data by those of the checkpoint before. Returns true if all were there.
fn carry_over_phases(checkpoint: &mut Checkpoint, earlier: &[Phase]) -> bool {
    let mut all = true;
    for phase in &mut checkpoint.content.phases {
        if phase.data.is_some() || !phase.status.is_done() {
            continue;
        }
        match earlier.iter().find(|earlier| earlier.id == phase.id && earlier.status.is_done()) {
            Some(earlier) => *phase = earlier.clone(),
            None => all = false,
        }
    }
    all
}
