//! Pipelines: declared, ordered lists of phases that workflows follow.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use super::checkpoint::CUSTOM_PIPELINE;
use super::json::Json;
use super::phase::{Approval, Output, Phase, PhaseId};

/// A declared list of phases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// Its phases, in order.
    pub phases: Vec<PhaseSpec>,
}

/// One phase as a pipeline declares it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseSpec {
    /// Its id.
    pub id: PhaseId,
    /// What people call it.
    pub name: Option<String>,
    /// What to do in it, in words.
    pub action: Option<String>,
    /// Whether a person must agree to its result.
    pub approval: bool,
    /// Where the drafts are that the person chooses from, if the result is made after the choice.
    pub approval_evidence: Option<String>,
    /// The outputs it promises.
    pub outputs: Vec<OutputSpec>,
    /// The JSON Schema of its data.
    pub data_schema: Option<Value>,
    /// How often a task of it may fail before it blocks.
    pub task_limit: Option<u32>,
}

/// One output as a pipeline declares it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputSpec {
    /// Its path.
    pub path: String,
    /// The JSON Schema of its content.
    pub schema: Option<Value>,
}

/// Says why there is no pipeline of that name, or why a list of phases is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// There is no pipeline of that name.
    #[error("there is no pipeline `{given}`")]
    Unknown {
        /// The name asked for.
        given: String,
        /// The pipelines there are.
        known: Vec<String>,
    },
    /// There is nothing in it.
    #[error("a pipeline has at least one phase")]
    Empty,
    /// It has as many phases as somebody says, and nobody said.
    #[error("pipeline `{0}` has numbered phases, and their number was not given")]
    NeedsTotal(String),
    /// A number of phases was given for a pipeline that has its own.
    #[error("pipeline `{0}` has its own phases, so their number cannot be given")]
    HasItsOwn(String),
    /// An id stands in it twice.
    #[error("phase `{0}` is listed twice")]
    Duplicate(PhaseId),
}

impl Pipeline {
    /// Checks that there are phases and that their ids differ.
    ///
    /// # Errors
    /// Says what is wrong with the list.
    pub fn new(name: String, phases: Vec<PhaseSpec>) -> Result<Self, PipelineError> {
        let mut seen = HashSet::new();
        match phases.iter().find(|phase| !seen.insert(&phase.id)) {
            Some(twice) => Err(PipelineError::Duplicate(twice.id.clone())),
            None if phases.is_empty() => Err(PipelineError::Empty),
            None => Ok(Self { name, phases }),
        }
    }

    /// A pipeline without a name of its own, given as a bare list.
    ///
    /// # Errors
    /// Says what is wrong with the list.
    pub fn custom(ids: impl IntoIterator<Item = PhaseId>) -> Result<Self, PipelineError> {
        Self::new(CUSTOM_PIPELINE.to_owned(), ids.into_iter().map(PhaseSpec::bare).collect())
    }

    /// The phase of that id.
    #[must_use]
    pub fn phase(&self, id: &PhaseId) -> Option<&PhaseSpec> {
        self.phases.iter().find(|phase| phase.id == *id)
    }
}

impl PhaseSpec {
    /// A phase of which only the id is known.
    #[must_use]
    pub fn bare(id: PhaseId) -> Self {
        Self {
            id,
            name: None,
            action: None,
            approval: false,
            approval_evidence: None,
            outputs: Vec::new(),
            data_schema: None,
            task_limit: None,
        }
    }

    /// Puts what is declared into a recorded phase, so that the checkpoint alone is enough to resume.
    pub(crate) fn describe(&self, phase: &mut Phase) {
        if self.name.is_some() {
            phase.name.clone_from(&self.name);
        }
        if self.action.is_some() {
            phase.action.clone_from(&self.action);
        }
        if self.approval && phase.approval.is_none() {
            phase.approval = Some(Approval {
                required: true,
                approved_at: None,
                approved_by: None,
                evidence: self.approval_evidence.clone(),
                extra: Default::default(),
            });
        }
        if !self.outputs.is_empty() {
            let output = |OutputSpec { path, schema }: &OutputSpec| Output {
                path: path.clone(),
                schema: schema.clone().map(Json::Given),
                extra: Default::default(),
            };
            phase.outputs = self.outputs.iter().map(output).collect();
        }
        if self.task_limit.is_some() {
            phase.task_limit = self.task_limit;
        }
    }
}
