//! The files of one import: which of them are checkpoints, and of which workflows.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::collect::{Companions, Found, Source, collect};
use super::error::SourceError;
use super::foreign_file::{ForeignFile, ReadOptions};
use super::order::{Candidate, Ordered, order};
use crate::foreign_settings;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store::files::FileProblem;

/// Files that were read to be imported together.
#[derive(Debug, Default)]
pub struct Batch {
    options: ReadOptions,
    /// The workflow that all of them are imported into, whatever they name.
    into: Option<WorkflowId>,
    companions: Companions,
    candidates: Vec<Candidate>,
    /// The second files of candidates.
    beside: HashSet<PathBuf>,
    /// The workflows that the files name.
    workflows: BTreeSet<WorkflowId>,
    settings: Vec<PathBuf>,
    refused: Vec<Refused>,
}

/// A file that is not imported.
#[derive(Debug)]
pub struct Refused {
    /// Its name.
    pub name: String,
    /// The reason.
    pub why: Refusal,
}

/// The reason why a file is not imported.
#[derive(Debug)]
pub enum Refusal {
    /// It is a link in a directory.
    Link,
    /// It is in a directory, where other files are expected beside checkpoints.
    PassedOver(SourceError),
    /// It cannot be imported.
    Failed(SourceError),
}

/// The files of a batch, sorted.
#[derive(Debug)]
pub struct Sorted {
    /// The files of each workflow, the oldest first.
    pub workflows: Ordered,
    /// The settings files of other systems.
    pub settings: Vec<PathBuf>,
    /// The files that are not imported.
    pub refused: Vec<Refused>,
}

impl Batch {
    /// Returns an empty batch.
    #[must_use]
    pub fn new(options: ReadOptions, into: Option<WorkflowId>) -> Self {
        Self { options, into, ..Self::default() }
    }

    /// Reads a file, or the files below a directory. `tell` hears about each before it is read.
    pub fn add_path(&mut self, path: &Path, tell: &mut dyn FnMut(&Path)) {
        for (path, found) in collect(path) {
            tell(&path);
            match found {
                Found::File(_) if path.file_name() == Some(foreign_settings::FILE_NAME.as_ref()) => {
                    self.settings.push(path);
                }
                Found::File(source) => self.add(&source),
                Found::Link => self.refuse(path.display().to_string(), Refusal::Link),
                Found::Unreadable(error) => self.refuse(path.display().to_string(), Refusal::Failed(error)),
            }
        }
    }

    /// Reads one file.
    pub fn add(&mut self, source: &Source) {
        if let Err(error) = self.read(source) {
            let is_other_file = matches!(
                error,
                SourceError::NotACheckpoint
                    | SourceError::CannotTell(_)
                    | SourceError::Sqlite
                    | SourceError::Idle
                    | SourceError::File(FileProblem::NotAFile | FileProblem::TooLarge(_))
            );
            let is_passed_over = is_other_file && matches!(source, Source::Listed { .. });
            let refusal = if is_passed_over { Refusal::PassedOver } else { Refusal::Failed };
            self.refuse(source.name(), refusal(error));
        }
    }

    fn read(&mut self, source: &Source) -> Result<(), SourceError> {
        let file = ForeignFile::open(source, &self.options, &mut self.companions)?;
        self.beside.extend(file.companion.clone());
        if file.reading.draft.idle {
            return Err(SourceError::Idle);
        }
        let own = file.workflow();
        self.workflows.extend(own.as_ref().ok().cloned());
        let workflow = self.into.clone().map_or(own, Ok)?;
        self.candidates.push(Candidate { workflow, file });
        Ok(())
    }

    fn refuse(&mut self, name: String, why: Refusal) {
        self.refused.push(Refused { name, why });
    }

    /// Groups the files by workflow. A second file is part of its checkpoint, and not a checkpoint on its own.
    ///
    /// # Errors
    /// The files name this number of workflows, and are to be imported into one.
    pub fn sort(mut self) -> Result<Sorted, usize> {
        if self.into.is_some() && self.workflows.len() > 1 {
            return Err(self.workflows.len());
        }
        let beside = &self.beside;
        self.candidates.retain(|candidate| !candidate.file.path.as_ref().is_some_and(|path| beside.contains(path)));
        self.refused.retain(|refused| {
            !matches!(refused.why, Refusal::PassedOver(_)) || !beside.contains(Path::new(&refused.name))
        });
        let (workflows, rejected) = order(self.candidates);
        let rejected =
            rejected.into_iter().map(|(file, error)| Refused { name: file.name, why: Refusal::Failed(error) });
        self.refused.extend(rejected);
        Ok(Sorted { workflows, settings: self.settings, refused: self.refused })
    }
}
