//! Findings: the results of checks, in a form that programs can rely on.
//!
//! `resume` checks the work, `import` foreign files, and `verify` the store; all of them report findings.
//!
//! To add a finding, add its code to the list `WORK` or `STORE` below, document it in `docs/reference/findings.md`, and
//! report it from a check: in `resume/checks.rs`, in the reader of a dialect, or in `store/verify`.

use serde::{Serialize, Serializer};

use super::selector::Handle;

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; needs no reaction.
    Info,
    /// Worth a look before relying on it; nothing is lost.
    Advice,
    /// Needs a confirmation.
    Confirm,
    /// Damaged, lost or contradictory: must be repaired first.
    Blocker,
}

impl Severity {
    /// All severities, lightest first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Advice, Self::Confirm, Self::Blocker];

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Advice => "advice",
            Self::Confirm => "confirm",
            Self::Blocker => "blocker",
        }
    }

    /// Parses a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.word() == word)
    }
}

macro_rules! codes {
    ($( $(#[$list_doc:meta])* $LIST:ident { $($(#[$doc:meta])* $Variant:ident => $word:literal,)* } )*) => {
        /// The subject of a finding. The words are a contract: they are added, never changed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($( $(#[$doc])* $Variant, )*)*
        }

        impl Code {
            $( $(#[$list_doc])* pub const $LIST: &'static [Self] = &[$( Self::$Variant ),*]; )*

            /// Returns the word for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $($( Self::$Variant => $word, )*)*
                }
            }

            /// Parses a word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                [$( Self::$LIST ),*].into_iter().flatten().copied().find(|code| code.word() == word)
            }
        }
    };
}

codes! {
    /// The codes of `resume` and `import`.
    WORK {
        /// The newest checkpoint cannot be used; an older one was judged.
        DamagedNewest => "damaged_newest",
        /// The workflow was archived.
        Archived => "archived",
        /// An older checkpoint than the newest was judged, as asked.
        NotNewest => "not_newest",
        /// A newer version wrote it.
        FormatNewer => "format_newer",
        /// The branch it was saved on no longer exists.
        BranchMissing => "branch_missing",
        /// Another branch is checked out.
        BranchDiffers => "branch_differs",
        /// An artifact is missing.
        ArtifactMissing => "artifact_missing",
        /// An artifact has changed.
        ArtifactChanged => "artifact_changed",
        /// An artifact cannot be read.
        ArtifactUnreadable => "artifact_unreadable",
        /// A watched file has changed.
        WatchedChanged => "watched_changed",
        /// Files that an agent edited have changed since.
        TouchedChanged => "touched_changed",
        /// An external fact has changed.
        FactChanged => "fact_changed",
        /// An external fact was not compared.
        FactNotCompared => "fact_not_compared",
        /// It is old.
        Stale => "stale",
        /// It is very old.
        VeryStale => "very_stale",
        /// It was saved in the future.
        FutureTime => "future_time",
        /// Another session saved a moment ago.
        RecentWriter => "recent_writer",
        /// Another session is noted as being at work.
        AtWork => "at_work",
        /// The workflow was continued in several places.
        Forked => "forked",
        /// The remote has checkpoints that this store lacks.
        Behind => "behind",
        /// The remote lacks checkpoints of this store.
        Unpushed => "unpushed",
        /// The remote was to be asked first, and could not be reached.
        RemoteUnreachable => "remote_unreachable",
        /// The workflow was given up as failed.
        WorkflowFailed => "workflow_failed",
        /// The workflow was abandoned.
        WorkflowAbandoned => "workflow_abandoned",
        /// The workflow is recorded as complete, but phases are left.
        StatusDisagrees => "status_disagrees",
        /// A status word that is not understood.
        StatusUnknown => "status_unknown",
        /// The phases were never declared.
        PhasesUnknown => "phases_unknown",
        /// A phase between done ones was never begun.
        Gap => "gap",
        /// Phases before the first one that was begun are not part of the run.
        PhasesSkipped => "phases_skipped",
        /// The recorded next phase is not the one that follows from the phases.
        NextDisagrees => "next_disagrees",
        /// A person must approve first.
        AwaitingApproval => "awaiting_approval",
        /// No approval was recorded, but the outputs that stand for it exist.
        NotApproved => "not_approved",
        /// The phase was tried and failed.
        PhaseFailed => "phase_failed",
        /// An output is missing.
        OutputMissing => "output_missing",
        /// An output is invalid.
        OutputInvalid => "output_invalid",
        /// The phase failed again after it was reopened as often as allowed.
        ReplanLimit => "replan_limit",
        /// A phase was reopened and is not done again.
        Reopened => "reopened",
        /// An error was recorded and not cleared.
        LastError => "last_error",
        /// A task was running and left no output.
        TaskOrphaned => "task_orphaned",
        /// A task was finished but not recorded as such.
        TaskReconciled => "task_reconciled",
        /// A task was tried as often as allowed.
        TaskExhausted => "task_exhausted",
        /// A task depends on one that can never be done.
        TaskBlocked => "task_blocked",
        /// All phases are done, and tasks are not.
        TasksOpen => "tasks_open",
        /// The tests did not pass when it was saved.
        TestsFailing => "tests_failing",
        /// The plan that the work follows has changed or is missing.
        PlanChanged => "plan_changed",
        /// The system that saved it marked it as not resumable.
        CannotResume => "cannot_resume",
        /// A recorded time names no zone, or no hour.
        TimeAssumed => "time_assumed",
        /// A recorded time cannot be read.
        TimeUnreadable => "time_unreadable",
        /// The name of a phase cannot be used.
        PhaseUnreadable => "phase_unreadable",
        /// Two records of the same thing do not agree.
        RecordsDisagree => "records_disagree",
        /// Phases count as done because later ones are, or because of the recorded position.
        PhasesImplied => "phases_implied",
        /// The record was not written completely.
        IncompleteWrite => "incomplete_write",
        /// The record states that there is no work.
        Idle => "idle",
        /// The data of an imported phase does not satisfy the schema of its pipeline.
        DataInvalid => "data_invalid",
        /// A finding of an imported checkpoint that this version does not know.
        Imported => "imported",
    }

    /// The codes of `verify`, which also knows [`FormatNewer`](Self::FormatNewer).
    STORE {
        /// A file is empty, without a checkpoint above it.
        Empty => "empty",
        /// A file does not match its checksum.
        Checksum => "checksum",
        /// A file has no checksum line, so it is not a checkpoint.
        NoChecksum => "no_checksum",
        /// The version of a file cannot be read.
        BadVersion => "bad_version",
        /// A file has an older format that cannot be converted.
        FormatOlder => "format_older",
        /// A file cannot be parsed.
        Syntax => "syntax",
        /// A file contains another checkpoint than its name states.
        Misplaced => "misplaced",
        /// A file is larger than this program reads.
        TooLarge => "too_large",
        /// A link, a pipe or a directory in place of a file.
        NotAFile => "not_a_file",
        /// A file or a directory cannot be read.
        Unreadable => "unreadable",
        /// A number is neither live nor archived.
        Missing => "missing",
        /// A checkpoint breaks its schema.
        Schema => "schema",
        /// A checkpoint is archived, and no bundle holds it.
        Lost => "lost",
        /// The content of some numbers was deleted, by a deletion record.
        Deleted => "deleted",
        /// A checkpoint names another parent than the one below it.
        Parent => "parent",
        /// Two checkpoints have the same save id.
        DuplicateSaveId => "duplicate_save_id",
        /// A seal contradicts the entries below it.
        Seal => "seal",
        /// A file was removed from the live store, and the archive holds its content.
        Removed => "removed",
        /// No save could continue the workflow.
        NotContinuable => "not_continuable",
        /// A bundle cannot be used.
        DamagedBundle => "damaged_bundle",
        /// A checkpoint in a bundle was damaged when it was archived.
        ArchivedDamage => "archived_damage",
        /// The kept content of an artifact is damaged.
        ObjectDamaged => "object_damaged",
        /// A checkpoint refers to the kept content of an artifact, and there is none.
        ObjectMissing => "object_missing",
        /// The settings cannot be used.
        InvalidConfig => "invalid_config",
        /// The note of a session cannot be used.
        SessionNote => "session_note",
        /// A part of every store is missing.
        Incomplete => "incomplete",
        /// A part of the store has the wrong file type.
        Misfit => "misfit",
        /// A file that does not belong to a store.
        UnknownFile => "unknown_file",
        /// A temporary file.
        Leftover => "leftover",
        /// A directory is empty.
        EmptyDirectory => "empty_directory",
        /// A file or a directory has another mode than the one it was created with.
        Mode => "mode",
        /// The quarantine is not empty.
        Quarantine => "quarantine",
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// One thing that a check noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its subject.
    pub code: Code,
    /// Its weight.
    pub severity: Severity,
    /// A sentence; the findings of `verify` leave out its subject, which is the path.
    pub message: String,
    /// Commands or steps that help.
    pub help: Vec<String>,
    /// The lines of a unified diff, if it is about a text that has changed and whose content was kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
    /// The file it is about.
    pub path: Option<String>,
    /// The stored checkpoint it is about.
    pub handle: Option<Handle>,
}

impl Finding {
    /// Makes a finding without help.
    #[must_use]
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        let (message, help, diff) = (message.into(), Vec::new(), Vec::new());
        Self { code, severity, message, help, diff, path: None, handle: None }
    }

    pub(crate) fn info(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, message)
    }

    pub(crate) fn advice(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Advice, code, message)
    }

    pub(crate) fn confirm(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Confirm, code, message)
    }

    pub(crate) fn blocker(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Blocker, code, message)
    }

    /// Adds a line of help.
    #[must_use]
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    /// Sets the lines of the diff.
    #[must_use]
    pub fn with_diff(mut self, lines: Vec<String>) -> Self {
        self.diff = lines;
        self
    }

    /// Sets the path.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}
