//! Findings: what a check noticed, in a form that programs can rely on.

use serde::{Serialize, Serializer};

use crate::core::checkpoint::Doubt;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Look at it before you rely on it.
    Advice,
    /// Somebody has to say yes.
    Confirm,
    /// Nothing can go on before it is mended.
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
}

macro_rules! codes {
    ($($(#[$doc:meta])* $Variant:ident => $word:literal,)*) => {
        /// What a finding is about. The words are a contract: they are added, never changed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $( $(#[$doc])* $Variant, )*
        }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$( Self::$Variant ),*];

            /// The word for it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $( Self::$Variant => $word, )*
                }
            }

            /// The one of that word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| code.word() == word)
            }
        }
    };
}

codes! {
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

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// One thing that a check noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// What was noticed, in a sentence.
    pub message: String,
    /// What to do: commands that exist.
    pub help: Vec<String>,
    /// The file it is about.
    pub path: Option<String>,
}

impl From<&Doubt> for Finding {
    /// What an imported file left doubtful. A word of a newer version weighs as much as it can.
    fn from(doubt: &Doubt) -> Self {
        let severity = Severity::ALL.into_iter().find(|severity| severity.word() == doubt.severity);
        let code = Code::from_word(&doubt.code).unwrap_or(Code::Imported);
        Self::new(severity.unwrap_or(Severity::Blocker), code, doubt.message.clone())
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

impl Finding {
    /// A finding without advice.
    #[must_use]
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), help: Vec::new(), path: None }
    }

    /// Adds a command that helps.
    #[must_use]
    pub fn help(mut self, command: impl Into<String>) -> Self {
        self.help.push(command.into());
        self
    }

    /// Names the file.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}
