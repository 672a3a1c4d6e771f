//! Error codes: stable words for programs. They are a contract: codes are added, never changed.

use serde::{Serialize, Serializer};

use crate::cli::exit::Exit;

macro_rules! codes {
    ($( $Variant:ident $word:literal $Exit:ident $meaning:literal )*) => {
        /// The stable code of a failure, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ErrorCode {
            $( #[doc = $meaning] $Variant, )*
        }

        impl ErrorCode {
            /// All of them, in the order of `docs/error-codes.md`.
            pub const ALL: &'static [Self] = &[$( Self::$Variant ),*];

            /// The word in `ckpt.error.v1`.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $( Self::$Variant => $word, )*
                }
            }

            /// The exit code that goes with it.
            #[must_use]
            pub fn exit(self) -> Exit {
                match self {
                    $( Self::$Variant => Exit::$Exit, )*
                }
            }

            /// Its line in the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $( Self::$Variant => $meaning, )*
                }
            }
        }
    };
}

codes! {
    Command "command" Failure "the command to run cannot be started"
    Output "output" Failure "the answer cannot be written"
    NoWorkingDirectory "no_working_directory" Failure "the working directory is gone or cannot be read"
    NoRandomness "no_randomness" Failure "the system gives no random bytes"
    ArtifactUnreadable "artifact_unreadable" Failure "a file to record cannot be read"
    SourceUnreadable "source_unreadable" Failure "a file to import cannot be read"
    ExportFailed "export_failed" Failure "an exported file cannot be written"
    SetupFailed "setup_failed" Failure "a file of an agent cannot be read or written"
    NoHome "no_home" Failure "there is no home directory"

    Usage "usage" Usage "the arguments do not fit the command"
    BadTime "bad_time" Usage "`CKPT_NOW` is not an RFC 3339 time"
    InvalidConfig "invalid_config" Usage "a settings file cannot be used"
    InvalidId "invalid_id" Usage "the text is not a workflow id"
    InvalidSelector "invalid_selector" Usage "the text does not name a checkpoint"
    InvalidName "invalid_name" Usage "a phase, task, label or key has a name that cannot be used"
    NoWorkflow "no_workflow" Usage "no workflow was named"
    NoCheckpointNamed "no_checkpoint_named" Usage "no checkpoint was named"
    SeveralWorkflows "several_workflows" Usage "`--into` names one workflow for the files of several"
    SeveralFiles "several_files" Usage "one file is named for an export of several"
    StdinTwice "stdin_twice" Usage "two arguments want to read stdin"
    UnreadableInput "unreadable_input" Usage "a file given with `@` cannot be read"
    InvalidJson "invalid_json" Usage "an argument is not valid JSON"
    InvalidDocument "invalid_document" Usage "the document given with `--from` is not a valid save"
    UnknownTrigger "unknown_trigger" Usage "there is no such trigger"
    UnknownPipeline "unknown_pipeline" Usage "a save names a pipeline that does not exist"
    InvalidPhases "invalid_phases" Usage "the list of phases is empty, names a phase twice, or does not fit the pipeline"
    UnknownPhase "unknown_phase" Usage "the workflow has no such phase"
    DropsPhase "drops_phase" Usage "the new list of phases leaves out one that has been worked on"
    NoPhase "no_phase" Usage "the change belongs to a phase, and no phase was named"
    TaskCycle "task_cycle" Usage "a task would wait for itself"
    NotAnObject "not_an_object" Usage "a value that must be a JSON object is none"
    NotAnArray "not_an_array" Usage "only an array can be added to"
    TooLong "too_long" Usage "a text is too long"
    InvalidText "invalid_text" Usage "a text contains a NUL character"
    UnknownArtifact "unknown_artifact" Usage "no artifact has this name"
    UnknownLabel "unknown_label" Usage "the workflow has no such label"
    UnknownFact "unknown_fact" Usage "no external fact has this name"
    NoConflict "no_conflict" Usage "there is no conflict at the place that is to be settled"
    InvalidMerge "invalid_merge" Usage "a value that settles a conflict does not fit its place"
    ArtifactMissing "artifact_missing" Usage "a file to record does not exist"
    ArtifactOutside "artifact_outside" Usage "a file to record lies outside the project"
    ArtifactNotAFile "artifact_not_a_file" Usage "a file to record is not a regular file"
    ArtifactName "artifact_name" Usage "the path of a file to record is not UTF-8"
    SourceNotAFile "source_not_a_file" Usage "a file to import is not a regular file"
    NotExpressible "not_expressible" Usage "the dialect cannot express the checkpoint"
    InvalidRemote "invalid_remote" Usage "the text is not the address of a remote"
    EmptyPolicy "empty_policy" Usage "the retention policy has no rule"

    NoStore "no_store" NotFound "there is no store here or above, or not where it was named"
    NoRemote "no_remote" NotFound "no remote is set up"
    NoSuchWorkflow "no_such_workflow" NotFound "there is no such workflow"
    NoSuchCheckpoint "no_such_checkpoint" NotFound "there is no such checkpoint"
    NoUndoRecord "no_undo_record" NotFound "no record of what this plan archived, or records of several plans"
    Archived "archived" NotFound "the checkpoint left the live store, and no bundle holds it"
    NoData "no_data" NotFound "the phase has no data"
    NoValue "no_value" NotFound "there is nothing at this JSON pointer"
    NoSuchCommand "no_such_command" NotFound "there is no such command"
    NoSuchPipeline "no_such_pipeline" NotFound "there is no such pipeline to show"
    NoAgent "no_agent" NotFound "no agent to set up was found"
    NoSuchSchema "no_such_schema" NotFound "there is no such schema"
    NothingToResume "nothing_to_resume" NotFound "no workflow is unfinished"
    NothingToApprove "nothing_to_approve" NotFound "no phase waits for approval"
    NothingToImport "nothing_to_import" NotFound "there is no checkpoint to import"
    SourceMissing "source_missing" NotFound "a file to import does not exist"

    Ambiguous "ambiguous" Ambiguous "several workflows or phases match"

    Damaged "damaged" Invalid "a file cannot be used as a checkpoint"
    DamagedBundle "damaged_bundle" Invalid "a bundle of the archive cannot be used"
    DamagedObject "damaged_object" Invalid "the kept content of an artifact is damaged"
    DamagedRemote "damaged_remote" Invalid "an object of the remote is not what its name says; nothing of it was used"
    FormatNewer "format_newer" Invalid "a newer version of ckpt wrote it"
    InvalidData "invalid_data" Invalid "the data of a phase does not match the schema of its pipeline"
    TooDeep "too_deep" Invalid "a stored value is nested too deeply"
    SetupUnreadable "setup_unreadable" Invalid "a file of an agent is not valid in its format, and was left as it is"
    NotACheckpoint "not_a_checkpoint" Invalid "a file to import is not recognised as a checkpoint"

    Conflict "conflict" Conflict "another checkpoint is the newest one"
    KeyReused "key_reused" Conflict "the key was used for another save"
    PlanChanged "plan_changed" Conflict "a cleanup would do something else than was expected"
    MergeConflict "merge_conflict" Conflict "both sides of a merge have changed the same"
    WorkflowExists "workflow_exists" Conflict "the workflow to create exists already"
    SetupChanged "setup_changed" Conflict "a file of an agent changed while it was edited"
    NothingToMerge "nothing_to_merge" Conflict "the workflow has only one head"
    RemoteExists "remote_exists" Conflict "another remote is set up already"
    RemoteContended "remote_contended" Conflict "other stores took the names on the remote each time"
    Collision "collision" Conflict "the workflow of a file to import has another history"

    ConfirmationNeeded "confirmation_needed" Refused "a person has to confirm it"
    AlreadyLive "already_live" Refused "a checkpoint to restore was not archived"
    NotArchived "not_archived" Refused "a workflow to delete for good is not archived"
    NeedsReason "needs_reason" Refused "an unfinished workflow is archived only with a reason"
    GateFailed "gate_failed" Refused "a phase cannot be complete: its data says that its gate was not passed"
    ReplanLimit "replan_limit" Refused "the phase has been reopened as often as allowed"
    SecretInName "secret_in_name" Refused "a name looks like a secret"
    KeepMatchesNothing "keep_matches_nothing" Refused "a keep rule matches nothing, and checkpoints would go"
    RemoteRefused "remote_refused" Refused "the remote does not allow it, or cannot do what a remote must"
    SecretToPush "secret_to_push" Refused "a checkpoint that was to be pushed has a secret in it"
    TooLarge "too_large" Refused "the checkpoint would be too large"
    TooMany "too_many" Refused "there would be too many of something, or it is nested too deeply"
    ArtifactTooLarge "artifact_too_large" Refused "a file to record is too large"
    SourceTooLarge "source_too_large" Refused "a file to import is too large"
    ExportExists "export_exists" Refused "the exported file exists with another content"
    SetupOutside "setup_outside" Refused "a file of an agent is a link that leads out of the project"
    ExportBlocked "export_blocked" Refused "a link or something else stands where the export would be written"

    RemoteUnreachable "remote_unreachable" Failure "the remote cannot be reached, or gave no clear answer"

    StoreUnusable "store_unusable" StoreUnusable "the store cannot be read or written"
    NotAStore "not_a_store" StoreUnusable "something else stands where the store should be"
    ForeignStore "foreign_store" StoreUnusable "the store that was found belongs to another user"
    UnsupportedFileSystem "unsupported_file_system" StoreUnusable "the file system cannot publish a file without replacing another"

    NotLookedAt "not_looked_at" Partial "a cleanup could not look at this part of the store, and decided nothing about it"

    NotShared "not_shared" Unknown "saved in the store, but not on the remote, where every save was to be"
    Unconfirmed "unconfirmed" Unknown "written, but durability could not be confirmed"

    Bug "bug" Bug "a panic"
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}
