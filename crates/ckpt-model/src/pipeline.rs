//! Pipelines: declared, ordered lists of phases that workflows follow.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::CUSTOM_PIPELINE;
use super::external::{ChangeSeverity, FactSeverities};
use super::json::Json;
use super::phase::{Approval, Output, Phase, PhaseId};

/// A declared list of phases.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// Its phases, in order.
    pub phases: Vec<PhaseSpec>,
    /// The prefixes of labels of which a workflow has only one, such as `state:`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclusive_labels: Vec<String>,
    /// The severities of changes of external facts, by place.
    #[serde(rename = "facts", skip_serializing_if = "FactSeverities::is_empty")]
    pub fact_severities: FactSeverities,
    /// The severity of a change of an artifact, if it is not advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_artifacts: Option<ChangeSeverity>,
    /// Files of the project that the work depends on, which each save looks at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<String>,
}

/// One phase as a pipeline declares it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "PhaseEntry")]
pub struct PhaseSpec {
    /// Its id.
    pub id: PhaseId,
    /// Its title for people.
    pub name: Option<String>,
    /// The action of the phase, in words.
    pub action: Option<String>,
    /// True if a person must approve its result.
    pub approval: bool,
    /// The path of the drafts to choose from, if the result is made after the approval.
    pub approval_evidence: Option<String>,
    /// The member of the data that has the options to select from.
    pub approval_options: Option<String>,
    /// The member of the data that has the selected option, which stands for the approval.
    pub approval_selection: Option<String>,
    /// Its outputs.
    pub outputs: Vec<OutputSpec>,
    /// The JSON Schema of its data.
    pub data_schema: Option<Value>,
    /// The members that its data has when it is complete.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_data: Vec<String>,
    /// The member of the data that says whether the phase has passed its gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// How often a task of it may fail before it blocks.
    pub task_limit: Option<u32>,
}

/// One output as a pipeline declares it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputSpec {
    /// Its path.
    pub path: String,
    /// Other paths, any of which will do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<String>,
    /// The JSON Schema of its content.
    pub schema: Option<Value>,
}

/// The reason why there is no such pipeline, or why a list of phases is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// There is no pipeline of that name.
    #[error("there is no pipeline `{given}`")]
    Unknown {
        /// The requested name.
        given: String,
        /// The names of all pipelines.
        known: Vec<String>,
    },
    /// No phases.
    #[error("a pipeline has at least one phase")]
    Empty,
    /// A numbered pipeline without the number of its phases.
    #[error("pipeline `{0}` has numbered phases, and their number was not given")]
    NeedsTotal(String),
    /// A number of phases for a pipeline that is not numbered.
    #[error("pipeline `{0}` has its own phases, so their number cannot be given")]
    HasItsOwn(String),
    /// An id that occurs twice.
    #[error("phase `{0}` is listed twice")]
    Duplicate(PhaseId),
    /// An action that no environment variable can hold.
    #[error("the action of phase `{0}` contains a NUL character")]
    Nul(PhaseId),
}

impl Pipeline {
    /// Makes a pipeline of phases with different ids.
    ///
    /// # Errors
    /// The list is empty, contains an id twice, or has an action with a NUL.
    pub fn new(name: String, phases: Vec<PhaseSpec>) -> Result<Self, PipelineError> {
        if phases.is_empty() {
            return Err(PipelineError::Empty);
        }
        let mut seen = HashSet::new();
        for phase in &phases {
            if !seen.insert(&phase.id) {
                return Err(PipelineError::Duplicate(phase.id.clone()));
            }
            if phase.action.as_ref().is_some_and(|action| action.contains('\0')) {
                return Err(PipelineError::Nul(phase.id.clone()));
            }
        }
        Ok(Self { name, phases, ..Self::default() })
    }

    /// Makes a pipeline without a name of its own.
    ///
    /// # Errors
    /// The list is empty or contains an id twice.
    pub fn custom(ids: impl IntoIterator<Item = PhaseId>) -> Result<Self, PipelineError> {
        Self::new(CUSTOM_PIPELINE.to_owned(), ids.into_iter().map(PhaseSpec::bare).collect())
    }

    /// Returns the phase with that id.
    #[must_use]
    pub fn phase(&self, id: &PhaseId) -> Option<&PhaseSpec> {
        self.phases.iter().find(|phase| phase.id == *id)
    }
}

impl PhaseSpec {
    /// Makes a phase of which only the id is known.
    #[must_use]
    pub fn bare(id: PhaseId) -> Self {
        Self {
            id,
            name: None,
            action: None,
            approval: false,
            approval_evidence: None,
            approval_options: None,
            approval_selection: None,
            outputs: Vec::new(),
            data_schema: None,
            required_data: Vec::new(),
            gate: None,
            task_limit: None,
        }
    }

    /// Copies the declaration into a recorded phase, so that the checkpoint alone is enough to resume.
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
                evidence: self.approval_evidence.clone(),
                options: self.approval_options.clone(),
                selection: self.approval_selection.clone(),
                ..Approval::default()
            });
        }
        if !self.outputs.is_empty() {
            let output = |OutputSpec { path, or, schema }: &OutputSpec| Output {
                path: path.clone(),
                or: or.clone(),
                schema: schema.clone().map(Json::Given),
                extra: Default::default(),
            };
            phase.outputs = self.outputs.iter().map(output).collect();
        }
        if self.task_limit.is_some() {
            phase.task_limit = self.task_limit;
        }
        if !self.required_data.is_empty() {
            phase.required_data.clone_from(&self.required_data);
        }
        if self.gate.is_some() {
            phase.gate.clone_from(&self.gate);
        }
    }
}

/// The table `[pipelines.NAME]` of a settings file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PipelineTable {
    phases: Vec<PhaseSpec>,
    #[serde(default)]
    exclusive_labels: Vec<String>,
    #[serde(default)]
    facts: FactSeverities,
    changed_artifacts: Option<ChangeSeverity>,
    #[serde(default)]
    watch: Vec<String>,
}

impl PipelineTable {
    pub(super) fn into_pipeline(self, name: String) -> Result<Pipeline, PipelineError> {
        let pipeline = Pipeline::new(name, self.phases)?;
        Ok(Pipeline {
            exclusive_labels: self.exclusive_labels,
            fact_severities: self.facts,
            changed_artifacts: self.changed_artifacts,
            watch: self.watch,
            ..pipeline
        })
    }
}

/// A phase in a settings file: its id, or a table.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected the id of a phase, or a table with `id`, `name`, `action`, `approval`, `outputs`, `data_schema`, `required_data`, `gate`, `task_limit`"
)]
enum PhaseEntry {
    Short(PhaseId),
    Long(Box<PhaseTable>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseTable {
    id: PhaseId,
    name: Option<String>,
    action: Option<String>,
    approval: Option<ApprovalEntry>,
    #[serde(default)]
    outputs: Vec<OutputEntry>,
    data_schema: Option<Value>,
    #[serde(default)]
    required_data: Vec<String>,
    gate: Option<String>,
    task_limit: Option<u32>,
}

/// True if a person must approve, or what the person chooses from: drafts at a path, or options in the data.
#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected true, false, a table with `evidence`, or one with `options` and `selection`"
)]
enum ApprovalEntry {
    Required(bool),
    Drafts { evidence: String },
    Options { options: String, selection: String },
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a path, or a table with `path`, `or` and `schema`")]
enum OutputEntry {
    Path(String),
    Table {
        path: String,
        #[serde(default)]
        or: Vec<String>,
        schema: Option<Value>,
    },
}

impl From<PhaseEntry> for PhaseSpec {
    fn from(entry: PhaseEntry) -> Self {
        let table = match entry {
            PhaseEntry::Short(id) => return Self::bare(id),
            PhaseEntry::Long(table) => *table,
        };
        let output = |entry| match entry {
            OutputEntry::Path(path) => OutputSpec { path, or: Vec::new(), schema: None },
            OutputEntry::Table { path, or, schema } => OutputSpec { path, or, schema },
        };
        let mut spec = Self {
            name: table.name,
            action: table.action,
            outputs: table.outputs.into_iter().map(output).collect(),
            data_schema: table.data_schema,
            required_data: table.required_data,
            gate: table.gate,
            task_limit: table.task_limit,
            ..Self::bare(table.id)
        };
        match table.approval {
            Some(ApprovalEntry::Required(required)) => spec.approval = required,
            Some(ApprovalEntry::Drafts { evidence }) => {
                (spec.approval, spec.approval_evidence) = (true, Some(evidence));
            }
            Some(ApprovalEntry::Options { options, selection }) => {
                spec.approval = true;
                (spec.approval_options, spec.approval_selection) = (Some(options), Some(selection));
            }
            None => {}
        }
        spec
    }
}
