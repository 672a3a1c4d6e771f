//! Appending a foreign checkpoint to the store.

use std::collections::HashMap;
use std::path::Path;

use super::opened::Opened;
use super::problem::{ImportError, SourceProblem};
use super::world::look;
use crate::core::change::{Stamp, successor};
use crate::core::checkpoint::{Checkpoint, Doubt, Imported, WorkflowStatus};
use crate::core::dialects::Dialect;
use crate::core::digest::Digest;
use crate::core::finding::{Code, Finding, Severity};
use crate::core::phase::Phase;
use crate::core::selector::Handle;
use crate::core::size::Size;
use crate::core::store::{self, Decision, Disk, Store};
use crate::core::workflow_id::WorkflowId;

/// From where, into which store, and by whom files are adopted.
#[derive(Debug, Clone, Copy)]
pub struct Adoption<'a, D: Disk> {
    /// The store.
    pub store: &'a Store<D>,
    /// The directory that recorded paths are relative to.
    pub project: &'a Path,
    /// The largest file that is hashed.
    pub max_file: Size,
    /// Who adopts, and when.
    pub stamp: &'a Stamp,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adopted {
    /// A checkpoint was made from it.
    Appended(Handle),
    /// One had been made from it before.
    Unchanged(Handle),
}

/// What a workflow has been made from so far.
#[derive(Debug, Clone, Default)]
pub struct Known {
    sources: HashMap<Digest, u64>,
}

impl<D: Disk> Adoption<'_, D> {
    /// Looks up what a workflow has been made from, archived checkpoints included.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn known(&self, workflow: &WorkflowId) -> store::Result<Known> {
        Ok(Known { sources: self.store.sources(workflow)? })
    }

    /// The checkpoint that a file becomes on top of `newest`, with what was noticed on the way.
    #[must_use]
    pub fn checkpoint(
        &self,
        opened: &Opened,
        workflow: &WorkflowId,
        newest: Option<Box<Checkpoint>>,
    ) -> Box<Checkpoint> {
        let dialect = opened.reading.dialect;
        let stamp = Stamp { git: None, watched: Vec::new(), ..self.stamp.clone() };
        let before = newest.as_ref().map(|newest| newest.content.phases.clone()).unwrap_or_default();
        let draft = &opened.reading.draft;
        let mut blank = successor(workflow, newest, &stamp);
        blank.context = Default::default();
        let mut checkpoint = Box::new(draft.clone().assemble(*blank, self.project));
        if dialect != Dialect::Ckpt {
            checkpoint.content.state = dialect.keep(opened.papers.clone(), &draft.content.state);
        }
        let told = match dialect {
            Dialect::Kamiflow => carry_over(&mut checkpoint, &before),
            _ => false,
        };
        let mut noticed = look(&mut checkpoint, draft, self.project, self.max_file);
        if draft.recorded_at.is_none() {
            let message = "the file does not say when it was saved; how old it is, is not known";
            noticed.push(Finding::new(Severity::Advice, Code::TimeUnreadable, message));
        }
        let among_failed = Path::new(&opened.source).parent().is_some_and(|dir| dir.ends_with("failed"));
        if dialect == Dialect::ClaudeDir && among_failed && draft.content.status == WorkflowStatus::InProgress
        {
            let message = "the file lies where its system puts what has failed";
            noticed.push(Finding::new(Severity::Confirm, Code::WorkflowFailed, message));
        }
        // What earlier files told has not been taken for granted.
        let implied = |finding: &&Finding| finding.code != Code::PhasesImplied || !told;
        let doubts = opened.reading.findings.iter().filter(implied).chain(&noticed).map(Doubt::from);
        checkpoint.imported = Some(Imported {
            dialect: dialect.word().to_owned(),
            source: opened.source.clone(),
            sha256: opened.sha256,
            at: self.stamp.now,
            doubts: doubts.collect(),
            extra: Default::default(),
        });
        checkpoint
    }

    /// Appends a file to its workflow, unless that has been done before.
    ///
    /// # Errors
    /// The workflow has another history, or the store refuses.
    pub fn append(
        &self,
        opened: &Opened,
        workflow: &WorkflowId,
        known: &mut Known,
    ) -> Result<Adopted, ImportError> {
        if let Some(seq) = known.sources.get(&opened.sha256) {
            return Ok(Adopted::Unchanged(Handle::new(workflow, *seq)));
        }
        let mut save_id = Digest::of(format!("{}/{}", self.stamp.save_id, opened.sha256).as_bytes()).to_hex();
        save_id.truncate(32);
        let stamp = Stamp { save_id, ..self.stamp.clone() };
        let own = Adoption { stamp: &stamp, ..*self };
        let appended = self.store.append(workflow, &stamp.save_id, |newest, content_seq| {
            if let Some(newest) = &newest {
                if newest.imported.as_ref().is_some_and(|imported| imported.sha256 == opened.sha256) {
                    return Ok(Decision::Keep(Ok(content_seq)));
                }
                if let Err(problem) = self.fits(opened, workflow, newest) {
                    return Ok(Decision::Keep(Err(problem)));
                }
            }
            Ok(Decision::Write(own.checkpoint(opened, workflow, newest)))
        })?;
        let (seq, adopted) = match appended {
            Decision::Write(checkpoint) => (checkpoint.seq, Adopted::Appended(checkpoint.handle())),
            Decision::Keep(Ok(seq)) => (seq, Adopted::Unchanged(Handle::new(workflow, seq))),
            Decision::Keep(Err(problem)) => return Err(problem.of(&opened.source)),
        };
        known.sources.insert(opened.sha256, seq);
        Ok(adopted)
    }

    /// Says what would become of a file: the number it would get is the next one behind `newest`.
    ///
    /// # Errors
    /// The workflow has another history.
    pub fn foresee(
        &self,
        opened: &Opened,
        workflow: &WorkflowId,
        known: &mut Known,
        newest: &mut Option<Box<Checkpoint>>,
    ) -> Result<Adopted, ImportError> {
        if let Some(seq) = known.sources.get(&opened.sha256) {
            return Ok(Adopted::Unchanged(Handle::new(workflow, *seq)));
        }
        if let Some(newest) = newest {
            self.fits(opened, workflow, newest).map_err(|problem| problem.of(&opened.source))?;
        }
        let next = self.checkpoint(opened, workflow, newest.take());
        let handle = next.handle();
        known.sources.insert(opened.sha256, next.seq);
        *newest = Some(next);
        Ok(Adopted::Appended(handle))
    }

    /// A file continues only what was imported in its own dialect, and nothing that is newer than itself.
    fn fits(&self, opened: &Opened, workflow: &WorkflowId, newest: &Checkpoint) -> Result<(), SourceProblem> {
        let dialect = opened.reading.dialect;
        let why = match &newest.imported {
            None => format!("which has checkpoints of its own up to `{}`", newest.handle()),
            Some(imported) if imported.dialect != dialect.word() => {
                format!("which was imported from {} files", imported.dialect)
            }
            Some(_) if opened.reading.draft.recorded_at.is_some_and(|at| at < newest.saved_at) => {
                format!("whose newest checkpoint `{}` was saved later", newest.handle())
            }
            Some(_) => return Ok(()),
        };
        Err(SourceProblem::Collision { workflow: workflow.clone(), why })
    }
}

/// Fills in what earlier files of a workflow told about phases of which this one says only that they are done. Returns
/// whether all of them were told.
fn carry_over(checkpoint: &mut Checkpoint, before: &[Phase]) -> bool {
    let mut all = true;
    for phase in
        checkpoint.content.phases.iter_mut().filter(|phase| phase.data.is_none() && phase.status.is_done())
    {
        match before.iter().find(|known| known.id == phase.id && known.status.is_done()) {
            Some(known) => *phase = known.clone(),
            None => all = false,
        }
    }
    all
}
