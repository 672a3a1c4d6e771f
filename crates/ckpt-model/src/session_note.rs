//! The note about a session: who is working, on what, and since when. It is advice; see `store/session_notes.rs`.

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::selector::Handle;
use super::time::Timestamp;
use super::workflow_id::WorkflowId;

/// The note about a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionNote {
    /// The agent; none for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The account on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowId>,
    /// When it was first noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When it was last noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Who took the work over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<String>,
    /// True once the session has saved to the workflow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bound: bool,
    /// The digest of the last report of its plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Digest>,
    /// The files that it touched since its last save, relative to the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The phases that the gate has asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// The checkpoint that it last asked to resume from, if tasks were found there that nobody was at work on any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_orphans: Option<Handle>,
    /// The checkpoint that was saved before the last compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<Handle>,
}

impl SessionNote {
    /// Returns who it is, for people.
    #[must_use]
    pub fn name(&self) -> String {
        let who = self.agent.as_deref().or(self.user.as_deref()).unwrap_or("somebody");
        let session = self.session.as_ref().map(|session| format!(" (session {session})"));
        let machine = self.machine.as_ref().map(|machine| format!(" on {machine}"));
        format!("{who}{}{}", session.unwrap_or_default(), machine.unwrap_or_default())
    }

    /// Returns true if the session is at work on a workflow, as far as is known.
    #[must_use]
    pub fn is_at_work_on(&self, workflow: &WorkflowId) -> bool {
        self.workflow.as_ref() == Some(workflow) && self.ended.is_none() && self.taken_by.is_none()
    }
}
