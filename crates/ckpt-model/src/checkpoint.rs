//! The checkpoint: one immutable, numbered, self-contained snapshot of a workflow.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::digest::{Digest, ShortDigest};
use super::finding::{Code, Finding, Severity};
use super::json::Json;
use super::phase::{Phase, PhaseId};
use super::reason::{ArchiveReason, DeletionReason};
use super::record::record;
use super::selector::Handle;
use super::task::{Task, TaskId};
use super::time::Timestamp;
use super::trigger::Trigger;
use super::version::Version;
use super::workflow_id::WorkflowId;

/// The pipeline name of a phase list that was given with a save instead of a name.
pub const CUSTOM_PIPELINE: &str = "custom";

/// The status of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkflowStatus {
    /// There is work left.
    #[default]
    InProgress,
    /// All of it is done.
    Complete,
    /// It cannot be done.
    Failed,
    /// It was given up.
    Abandoned,
}

impl WorkflowStatus {
    /// All statuses, in the order of a workflow.
    pub const ALL: [Self; 4] = [Self::InProgress, Self::Complete, Self::Failed, Self::Abandoned];

    /// The word for it in files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Returns the reason to archive finished work; none if there is work left.
    #[must_use]
    pub fn archive_reason(self) -> Option<ArchiveReason> {
        match self {
            Self::InProgress => None,
            Self::Complete => Some(ArchiveReason::Completed),
            Self::Failed => Some(ArchiveReason::Failed),
            Self::Abandoned => Some(ArchiveReason::Abandoned),
        }
    }

    /// Returns the status of work that was archived for a reason; none if the reason does not determine it.
    #[must_use]
    pub fn archived_as(reason: &ArchiveReason) -> Option<Self> {
        match reason {
            ArchiveReason::Completed => Some(Self::Complete),
            ArchiveReason::Failed => Some(Self::Failed),
            ArchiveReason::Abandoned => Some(Self::Abandoned),
            ArchiveReason::Restarted | ArchiveReason::Cleanup | ArchiveReason::Other(_) => None,
        }
    }
}

record! {
    /// One snapshot of a workflow. The fields stand in the order of the file.
    ///
    /// `core::format` encodes it, and defines what the digest covers.
    pub struct Checkpoint {
        /// The version of the format.
        required version: Version,
        /// The digest of the file; zero until the checkpoint has been encoded.
        required sha256: Digest,
        /// The workflow it belongs to.
        required workflow: WorkflowId,
        /// Its number, counted from 1 without gaps.
        required seq: u64,
        /// The time of the save, by the clock of the machine that saved it. Never used for order.
        required saved_at: Timestamp,
        /// The reason why it was taken.
        required trigger: Trigger,
        /// A remark about this save.
        always note: Option<String>,
        ..content: Content,
        /// The surroundings in which it was saved.
        always context: Context,
        /// The author of the save.
        always writer: Writer,
        /// A random name of this save.
        required save_id: String,
        /// The checkpoint it continues.
        always parent: Option<CheckpointRef>,
        /// The number of the first checkpoint of its run; none in the first run, which begins with 1.
        optional run: Option<u64>,
        /// Set if no cleanup may touch it.
        optional pinned: bool,
        /// The earlier checkpoint whose content this one takes up again, after a rollback.
        optional copy_of: Option<CheckpointRef>,
        /// The second checkpoint that it continues, after a merge.
        optional merged: Option<CheckpointRef>,
        /// The checkpoint of another workflow that this run was forked from. Every checkpoint of the run says it.
        optional origin: Option<CheckpointRef>,
        /// The keys of recent saves, so that a repeated one is recognised.
        optional keys: Vec<SaveKey>,
        /// Marks a seal, which is no checkpoint: the workflow is archived, and here is where.
        optional sealed: Option<Sealed>,
        /// The source of the content, if this checkpoint was imported. Those that follow it do not say it again.
        optional imported: Option<Imported>,
    }
}

record! {
    /// The part of a checkpoint that describes the work; the rest describes the save.
    ///
    /// All of it goes on from one checkpoint to the next until a change replaces it, and only this is compared, copied
    /// by a rollback, or read from a document.
    #[derive(Default)]
    pub struct Content {
        /// The status of the workflow.
        required status: WorkflowStatus,
        /// The phase that was last reported.
        always phase: Option<PhaseId>,
        /// The phase and action to continue with.
        always next: Option<Next>,
        /// The subject of the workflow, in a line.
        always title: Option<String>,
        /// Words to find the workflow by.
        optional labels: Vec<String>,
        /// The name of the declared pipeline; none if phases are taken as they come.
        always pipeline: Option<String>,
        /// All phases, in declared order.
        always phases: Vec<Phase>,
        /// All tasks, in the order they were first mentioned.
        always tasks: Vec<Task>,
        /// The files the work has produced.
        always artifacts: Vec<Artifact>,
        /// Documents from outside that the work relies on, in the order they were first recorded.
        optional facts: Vec<Fact>,
        /// Each time that phases were reopened.
        always replans: Vec<Replan>,
        /// The last error that has not been put right.
        always last_error: Option<LastError>,
        /// Free-form memory of the work. It is most of a large file, and a list is read without it.
        last state: Json,
    }
}

impl Checkpoint {
    /// Its name.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(&self.workflow, self.seq)
    }

    /// The time of the save; `None` if it was imported from a file that does not say it.
    #[must_use]
    pub fn known_time(&self) -> Option<Timestamp> {
        let is_known = self.imported.as_ref().is_none_or(|imported| imported.at != self.saved_at);
        is_known.then_some(self.saved_at)
    }

    /// The number of the first checkpoint of its run.
    #[must_use]
    pub fn first_of_run(&self) -> u64 {
        self.run.unwrap_or(1)
    }

    /// The other checkpoint of its own workflow that it continues, if it merges two heads.
    #[must_use]
    pub fn other_head(&self) -> Option<&CheckpointRef> {
        let is_own =
            |merged: &&CheckpointRef| merged.workflow.as_ref().is_none_or(|workflow| *workflow == self.workflow);
        self.merged.as_ref().filter(is_own)
    }

    /// The number that it gets on top of a head: one more than the highest number that it continues.
    #[must_use]
    pub fn number_after(&self, head: u64) -> u64 {
        head.max(self.other_head().map_or(0, |other| other.seq)).saturating_add(1)
    }

    /// The checkpoints whose work it continues: none for a beginning, the origin for that of a fork, the earlier checkpoint
    /// for a rollback, both sides for a merge.
    #[must_use]
    pub fn parents(&self) -> Vec<Handle> {
        self.parents_beside(&BTreeSet::new())
    }

    /// As [`parents`](Self::parents), where `sides` are the side checkpoints of the workflow: a parent that is one of them has
    /// its name.
    #[must_use]
    pub fn parents_beside(&self, sides: &BTreeSet<(u64, ShortDigest)>) -> Vec<Handle> {
        let is_beginning = self.first_of_run() == self.seq;
        let first = match (&self.copy_of, &self.origin) {
            (Some(copied), _) => Some(copied),
            (None, origin) if is_beginning => origin.as_ref(),
            (None, _) => self.parent.as_ref(),
        };
        let named = |parent: &CheckpointRef| {
            let workflow = parent.workflow.as_ref().unwrap_or(&self.workflow);
            let digest = parent.sha256.short();
            if *workflow == self.workflow && sides.contains(&(parent.seq, digest)) {
                Handle::side(workflow, parent.seq, digest)
            } else {
                Handle::new(workflow, parent.seq)
            }
        };
        first.into_iter().chain(&self.merged).map(named).collect()
    }
}

impl Content {
    /// Returns true if the phases are a declared list, so that the next one can be computed.
    #[must_use]
    pub fn is_declared(&self) -> bool {
        self.pipeline.is_some()
    }

    /// The earliest time that the work on it is known to have begun.
    #[must_use]
    pub fn began_at(&self) -> Option<Timestamp> {
        let phases = self.phases.iter().filter_map(|phase| phase.started_at.or(phase.completed_at));
        phases.chain(self.tasks.iter().filter_map(|task| task.started_at)).min()
    }

    /// The phase of that id.
    #[must_use]
    pub fn find_phase(&self, id: &PhaseId) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.id == *id)
    }

    /// The phases that are done, in declared order.
    pub fn done(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(|phase| phase.status.is_done())
    }

    /// The phases that are not done, in declared order.
    pub fn remaining(&self) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(|phase| !phase.status.is_done())
    }

    /// The tasks that are not done, in order.
    pub fn open_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.status.is_done())
    }

    /// The task of that id.
    #[must_use]
    pub fn find_task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }
}

record! {
    /// The phase and action to continue with.
    #[derive(Default)]
    pub struct Next {
        /// The phase to continue with.
        always phase: Option<PhaseId>,
        /// The action, in words.
        always action: Option<String>,
        /// True if a save named the phase; false if it follows from the phases.
        optional explicit: bool,
    }
}

record! {
    /// A file the work has produced.
    pub struct Artifact {
        /// Its name, unique in the workflow.
        required name: String,
        /// Its path, relative to the project, with `/` between the parts.
        required path: String,
        /// Its size when it was recorded; none if it was missing then.
        always size: Option<u64>,
        /// The digest of its content when it was recorded; none if it was missing then.
        always sha256: Option<Digest>,
        /// The phase that recorded it.
        optional phase: Option<PhaseId>,
        /// Set if its content was kept as an object.
        optional captured: bool,
    }
}

impl Artifact {
    /// The digest of the object that has its content, if that was kept.
    #[must_use]
    pub fn object(&self) -> Option<Digest> {
        if self.captured { self.sha256 } else { None }
    }

    /// A file of which only the path is known.
    #[must_use]
    pub fn new(name: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
            size: None,
            sha256: None,
            phase: None,
            captured: false,
            extra: Default::default(),
        }
    }
}

record! {
    /// An external fact: a JSON document from outside, such as an issue, as it was when it was recorded.
    pub struct Fact {
        /// Its name, unique in the workflow.
        required name: String,
        /// The document.
        required document: Json,
    }
}

impl Fact {
    /// Makes a fact of a document.
    #[must_use]
    pub fn new(name: impl Into<String>, document: impl Into<Json>) -> Self {
        Self { name: name.into(), document: document.into(), extra: Default::default() }
    }
}

record! {
    /// One time a phase, and with it everything behind it, was reopened.
    pub struct Replan {
        /// The phase.
        required phase: PhaseId,
        /// The reason.
        optional reason: Option<String>,
        /// The time.
        required at: Timestamp,
    }
}

record! {
    /// The surroundings of a save, as the stamp observed them.
    #[derive(Default)]
    pub struct Context {
        /// The git checkout, if there is one.
        always git: Option<GitContext>,
        /// Files of the project that the work depends on without having made them.
        optional watched: Vec<WatchedFile>,
        /// Files that an agent has edited, as they were at the last save that recorded them.
        optional touched: Vec<WatchedFile>,
    }
}

record! {
    /// The state of the git checkout.
    pub struct GitContext {
        /// The branch; none when the head is detached.
        always branch: Option<String>,
        /// The commit; none when there is none yet.
        always commit: Option<String>,
    }
}

record! {
    /// A file the work depends on.
    pub struct WatchedFile {
        /// Its path, relative to the project.
        required path: String,
        /// The digest of its content; none if it is missing or cannot be read.
        always sha256: Option<Digest>,
        /// The number of the checkpoint that recorded it.
        optional seq: Option<u64>,
    }
}

record! {
    /// The last thing that went wrong.
    pub struct LastError {
        /// The error message.
        required message: String,
        /// The current phase at the time.
        always phase: Option<PhaseId>,
        /// The time of the report.
        required at: Timestamp,
    }
}

record! {
    /// The author of a save.
    #[derive(Default)]
    pub struct Writer {
        /// The agent or service: `claude-code`, `gemini-cli`, `codex`, `github-actions`.
        always agent: Option<String>,
        /// The session of that agent.
        always session: Option<String>,
        /// The machine.
        always host: Option<String>,
        /// The account on it.
        always user: Option<String>,
        /// The version of `ckpt`.
        always ckpt: String,
    }
}

record! {
    /// A reference to an earlier checkpoint.
    pub struct CheckpointRef {
        /// Its workflow, if that is another one.
        optional workflow: Option<WorkflowId>,
        /// Its number.
        required seq: u64,
        /// Its digest.
        required sha256: Digest,
    }
}

impl From<&Checkpoint> for CheckpointRef {
    /// Refers to it from its own workflow.
    fn from(checkpoint: &Checkpoint) -> Self {
        Self { workflow: None, seq: checkpoint.seq, sha256: checkpoint.sha256, extra: Default::default() }
    }
}

impl CheckpointRef {
    /// Refers to a checkpoint from any workflow.
    #[must_use]
    pub fn from_workflow(workflow: &WorkflowId, checkpoint: &Checkpoint) -> Self {
        let is_other = checkpoint.workflow != *workflow;
        Self { workflow: is_other.then(|| checkpoint.workflow.clone()), ..Self::from(checkpoint) }
    }
}

record! {
    /// Remembers that a save was made under a key.
    pub struct SaveKey {
        /// The key.
        required key: String,
        /// The checkpoint it made.
        required seq: u64,
        /// The digest of what was asked, to tell a repetition from another save under the same key.
        required request: Digest,
    }
}

record! {
    /// Closes a workflow: everything below this number is in the archive, or deleted.
    pub struct Sealed {
        /// The number below the seal.
        required last: u64,
        /// The reason why the workflow was archived.
        required reason: ArchiveReason,
        /// The reason why the content below was deleted instead of archived.
        optional deleted: Option<DeletionReason>,
    }
}

record! {
    /// The source of an imported checkpoint.
    pub struct Imported {
        /// The dialect it was written in.
        required dialect: String,
        /// The file, as it was named.
        required source: String,
        /// The digest of that file, by which a second import is recognised.
        required sha256: Digest,
        /// The time of the import.
        required at: Timestamp,
        /// Doubts about the file.
        optional doubts: Vec<Doubt>,
    }
}

record! {
    /// Something doubtful about an imported file. It weighs on the judgement until the next save.
    pub struct Doubt {
        /// The code of the finding.
        required code: String,
        /// The severity of the finding.
        required severity: String,
        /// The message of the finding.
        required message: String,
    }
}

impl From<&Doubt> for Finding {
    /// A word of a newer version weighs as much as it can.
    fn from(doubt: &Doubt) -> Self {
        let severity = Severity::from_word(&doubt.severity).unwrap_or(Severity::Blocker);
        let code = Code::from_word(&doubt.code).unwrap_or(Code::Imported);
        Self::new(severity, code, doubt.message.clone())
    }
}

impl From<&Finding> for Doubt {
    fn from(finding: &Finding) -> Self {
        Self {
            code: finding.code.word().to_owned(),
            severity: finding.severity.word().to_owned(),
            message: finding.message.clone(),
            extra: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#""version": "1.0", "sha256": "0000000000000000000000000000000000000000000000000000000000000000",
        "workflow": "w", "seq": 1, "saved_at": "2026-01-30T14:30:00.000Z", "trigger": "manual""#;

    fn read(members: &str) -> Result<Checkpoint, String> {
        serde_json::from_str(&format!("{{{members}}}")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_content_stands_inline_and_keeps_what_is_unknown() {
        let given = format!(r#""x": 1.0, "state": {{"a":1e400}}, {HEAD}, "save_id": "s", "status": "failed", "y": 0"#);
        let checkpoint = read(&given).unwrap();
        assert_eq!(checkpoint.content.status, WorkflowStatus::Failed);
        assert_eq!(checkpoint.content.extra.get("x"), Some("1.0"));
        let written = serde_json::to_string(&checkpoint).unwrap();
        assert!(written.contains(r#""note":null,"status":"failed","phase":null"#), "{written}");
        assert!(written.ends_with(r#""parent":null,"state":{"a":1e400},"x":1.0,"y":0}"#), "{written}");
    }

    #[test]
    fn a_missing_or_repeated_member_is_named_wherever_it_belongs() {
        for (more, why) in [
            (r#""save_id": "s""#, "missing field `status`"),
            (r#""status": "failed""#, "missing field `save_id`"),
            (r#""save_id": "s", "save_id": "s""#, "duplicate field `save_id`"),
            (r#""status": "failed", "status": "failed""#, "duplicate field `status`"),
            (r#""x": 1, "x": 1"#, "duplicate field `x`"),
        ] {
            let error = read(&format!("{HEAD}, {more}")).unwrap_err();
            assert!(error.starts_with(why), "{more}: {error}");
        }
    }
}
