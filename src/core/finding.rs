//! Findings: what a check noticed, in a form that programs can rely on.
//!
//! `resume` checks the work, `import` the files of other systems, `verify` the store. All of them report in this form.

use serde::{Serialize, Serializer};

use super::selector::Handle;

/// The weight of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Nothing is lost; look at it before you rely on it.
    Advice,
    /// Somebody has to say yes.
    Confirm,
    /// Damaged, lost or contradictory: nothing can rely on it before it is put right.
    Blocker,
}

impl Severity {
    /// All of them, the lightest first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Advice, Self::Confirm, Self::Blocker];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Advice => "advice",
            Self::Confirm => "confirm",
            Self::Blocker => "blocker",
        }
    }

    /// The severity of that word.
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

            /// The word for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $($( Self::$Variant => $word, )*)*
                }
            }

            /// The code of that word.
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
        /// The branch it was saved on is gone.
        BranchMissing => "branch_missing",
        /// Another branch is checked out.
        BranchDiffers => "branch_differs",
        /// A recorded file is gone.
        ArtifactMissing => "artifact_missing",
        /// A recorded file has another content.
        ArtifactChanged => "artifact_changed",
        /// A recorded file cannot be read.
        ArtifactUnreadable => "artifact_unreadable",
        /// A watched file has another content.
        WatchedChanged => "watched_changed",
        /// It is old.
        Stale => "stale",
        /// It is very old.
        VeryStale => "very_stale",
        /// It was saved in the future.
        FutureTime => "future_time",
        /// Somebody else saved a moment ago.
        RecentWriter => "recent_writer",
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
        /// Later phases are done already.
        Gap => "gap",
        /// The recorded next phase is not the one that follows from the phases.
        NextDisagrees => "next_disagrees",
        /// A person must agree first.
        AwaitingApproval => "awaiting_approval",
        /// The phase was tried and failed.
        PhaseFailed => "phase_failed",
        /// A promised file is not there.
        OutputMissing => "output_missing",
        /// A promised file is there and wrong.
        OutputInvalid => "output_invalid",
        /// The phase failed again after it was reopened as often as allowed.
        ReplanLimit => "replan_limit",
        /// Something went wrong and has not been put right.
        LastError => "last_error",
        /// A task was running and left nothing behind.
        TaskOrphaned => "task_orphaned",
        /// A task was finished, and nobody recorded it.
        TaskReconciled => "task_reconciled",
        /// A task was tried as often as allowed.
        TaskExhausted => "task_exhausted",
        /// A task waits for one that will not come.
        TaskBlocked => "task_blocked",
        /// The tests did not pass when it was saved.
        TestsFailing => "tests_failing",
        /// The plan that the work follows has changed, or is gone.
        PlanChanged => "plan_changed",
        /// The system that saved it said that it cannot be resumed.
        CannotResume => "cannot_resume",
        /// A recorded time names no zone, or no hour.
        TimeAssumed => "time_assumed",
        /// A recorded time cannot be read.
        TimeUnreadable => "time_unreadable",
        /// The name of a phase cannot be used.
        PhaseUnreadable => "phase_unreadable",
        /// Two records of the same thing do not agree.
        RecordsDisagree => "records_disagree",
        /// Phases are taken as done because later ones are, or because the record says where it stands.
        PhasesImplied => "phases_implied",
        /// The record was being written when it was left.
        IncompleteWrite => "incomplete_write",
        /// The record says that there is nothing to be done.
        Idle => "idle",
        /// Something an imported checkpoint brought with it that this version has no name for.
        Imported => "imported",
    }

    /// The codes of `verify`, which also knows [`FormatNewer`](Self::FormatNewer).
    STORE {
        /// A file is empty, and no checkpoint stands above it.
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
        /// A file says that it is another checkpoint.
        Misplaced => "misplaced",
        /// A file is larger than this program reads.
        TooLarge => "too_large",
        /// A link, a pipe or a directory stands where a file belongs.
        NotAFile => "not_a_file",
        /// A file or a directory cannot be read.
        Unreadable => "unreadable",
        /// A number is neither live nor archived.
        Missing => "missing",
        /// A checkpoint breaks its schema.
        Schema => "schema",
        /// A checkpoint is archived, and no bundle holds it.
        Lost => "lost",
        /// The content of some numbers was deleted, as a deletion record says.
        Gone => "gone",
        /// A checkpoint names another parent than the one below it.
        Parent => "parent",
        /// Two checkpoints have the same save id.
        DuplicateSaveId => "duplicate_save_id",
        /// A seal does not fit what it closes.
        Seal => "seal",
        /// A file was removed from the live store, and the archive holds its content.
        Removed => "removed",
        /// A save could not continue the workflow.
        NoBase => "no_base",
        /// A bundle cannot be used.
        DamagedBundle => "damaged_bundle",
        /// A checkpoint in a bundle was damaged when it was archived.
        ArchivedDamage => "archived_damage",
        /// The settings cannot be used.
        InvalidConfig => "invalid_config",
        /// A part of every store is missing.
        Incomplete => "incomplete",
        /// Something of the wrong kind stands where a part of the store belongs.
        Misfit => "misfit",
        /// Something lies in the store that does not belong to it.
        Foreign => "foreign",
        /// A temporary file.
        Leftover => "leftover",
        /// A directory is empty.
        EmptyDirectory => "empty_directory",
        /// A file or a directory has another mode than the one it was created with.
        Mode => "mode",
        /// The quarantine holds something.
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
    /// A sentence about the work; of `verify`, the end of one that begins with the path.
    pub message: String,
    /// Commands or steps that help.
    pub help: Vec<String>,
    /// The file it is about.
    pub path: Option<String>,
    /// The checkpoint it is about, if it is about one of the store.
    pub handle: Option<Handle>,
}

impl Finding {
    /// A finding without help.
    #[must_use]
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), help: Vec::new(), path: None, handle: None }
    }

    /// Adds a line that helps.
    #[must_use]
    pub fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(line.into());
        self
    }

    /// Names the file.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}
