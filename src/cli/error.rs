//! What went wrong, in words: the message, what to type next, a stable code, and the exit code.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::escape::inline;
use super::exit::Exit;
use super::words;
use crate::core::adopt::SourceProblem;
use crate::core::change::{ChangeError, DocumentError};
use crate::core::config::ConfigError;
use crate::core::error::Error;
use crate::core::export::ExportProblem;
use crate::core::files::FileProblem;
use crate::core::format::Unusable;
use crate::core::retention::PolicyError;
use crate::core::schema::Violation;
use crate::core::selector::SelectorError;
use crate::core::store::BadBundle;
use crate::core::text::shell_word;
use crate::core::workflow_id::{InvalidId, WorkflowId};

/// A failure, ready to be said. Serialises to `ckpt.error.v1`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Failure {
    format: &'static str,
    /// A stable word.
    pub(crate) code: &'static str,
    exit_code: u8,
    #[serde(skip)]
    pub(crate) exit: Exit,
    /// Lower case, no full stop.
    pub(crate) message: String,
    /// What to type or do.
    pub(crate) help: Vec<String>,
    /// Commands to try instead.
    retry_with: Vec<String>,
    /// Whether the same call may succeed later.
    retryable: bool,
    context: Map<String, Value>,
}

impl Failure {
    /// A failure without an exit code of its own.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self::with(Exit::Failure, code, message)
    }

    /// Bad arguments or input.
    pub(crate) fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::with(Exit::Usage, code, message)
    }

    pub(crate) fn with(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            format: "ckpt.error.v1",
            code,
            exit_code: exit.code(),
            exit,
            message: inline_lines(&message.into()),
            help: Vec::new(),
            retry_with: Vec::new(),
            retryable: false,
            context: Map::new(),
        }
    }

    /// Adds a line that says what to do.
    pub(crate) fn help(mut self, line: impl Into<String>) -> Self {
        self.help.push(inline(&line.into()).into_owned());
        self
    }

    fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Adds a fact for programs.
    pub(crate) fn context(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.context.insert(key.to_owned(), value.into());
        self
    }

    fn violations(mut self, violations: &[Violation]) -> Self {
        const MOST_LINES: usize = 20;
        for Violation { pointer, message } in violations.iter().take(MOST_LINES) {
            let place = if pointer.is_empty() { "the document" } else { pointer };
            self.message.push_str(&format!("\n{}: {}", inline(place), inline(message)));
        }
        if violations.len() > MOST_LINES {
            self.message.push_str(&format!("\n... and {} more", violations.len() - MOST_LINES));
        }
        self.context("violations", json!(violations))
    }
}

/// Our messages may have several lines; what is quoted in them may not add any.
fn inline_lines(text: &str) -> String {
    text.split('\n').map(inline).collect::<Vec<_>>().join("\n")
}

impl From<InvalidId> for Failure {
    fn from(error: InvalidId) -> Self {
        let shown: String = error.given.chars().take(80).collect();
        let cut = if shown.len() < error.given.len() { "..." } else { "" };
        let failure = Self::usage(
            "invalid_id",
            format!("`{}{cut}` is not a workflow id: {}", inline(&shown), error.reason),
        );
        // Somebody has named a checkpoint where a workflow is wanted.
        let (workflow, behind) = error.given.split_once(['/', '~']).unwrap_or_default();
        if workflow.parse::<WorkflowId>().is_ok() && behind.parse::<u64>().is_ok() {
            return failure.help(format!("it names a checkpoint; the workflow is `{workflow}`"));
        }
        match &error.suggestion {
            Some(suggestion) => failure
                .help(format!("the nearest legal id is `{suggestion}`"))
                .context("suggestion", suggestion.as_str()),
            None => failure.help("use letters, digits, `.`, `_` and `-`, such as `oauth-integration`"),
        }
    }
}

impl From<SelectorError> for Failure {
    fn from(error: SelectorError) -> Self {
        match error {
            SelectorError::Id(invalid) => invalid.into(),
            SelectorError::NotAHandle(_) => Self::usage("invalid_selector", error.to_string())
                .help("write the id and the number of the checkpoint: `042/7`"),
            other => Self::usage("invalid_selector", other.to_string()).help(
                "write `042` for the newest, `042/7` for that one, `042~1` for the one before the newest",
            ),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let fail = |exit, code| Self::with(exit, code, message.clone());
        match error {
            Error::NoStore { searched } => fail(Exit::NotFound, "no_store")
                .help("`ckpt init` creates a store here, and so does the first `ckpt save`")
                .help("`--store DIR` or `CKPT_STORE` names one elsewhere")
                .context("searched", searched.display().to_string()),
            Error::NoSuchStore { path } => fail(Exit::NotFound, "no_store")
                .help(format!("`ckpt init --store {}` creates it", shell_word(path.display())))
                .context("searched", path.display().to_string()),
            Error::ForeignStore { path, owner } => fail(Exit::StoreUnusable, "foreign_store")
                .help(format!("if you trust it, name it: `ckpt --store {} list`", path.display()))
                .context("path", path.display().to_string())
                .context("owner", owner),
            Error::NotAStore { path, .. } => fail(Exit::StoreUnusable, "not_a_store")
                .help("name the real directory with `--store DIR`")
                .context("path", path.display().to_string()),
            Error::NoSuchWorkflow { given, similar } => {
                let failure = fail(Exit::NotFound, "no_such_workflow").context("workflow", given.as_str());
                let names: Vec<_> = similar.iter().map(|id| format!("`{id}`")).collect();
                let failure = failure.context("similar", json!(similar));
                match names.is_empty() {
                    true => failure.help("`ckpt list` shows the workflows there are"),
                    false => failure.help(format!("similar names: {}", names.join(", "))),
                }
            }
            Error::Ambiguous { candidates, .. } => {
                let names: Vec<_> = candidates.iter().map(|id| format!("`{id}`")).collect();
                fail(Exit::Ambiguous, "ambiguous")
                    .help(format!("write it in full: {}", words::and(&names)))
                    .context("candidates", json!(candidates))
            }
            Error::NoSuchCheckpoint { newest, .. } => fail(Exit::NotFound, "no_such_checkpoint")
                .help(format!("the newest one is `{newest}`; `ckpt list {}` shows all", newest.workflow))
                .context("newest", newest.to_string()),
            Error::Archived { handle, gone: Some(gone) } => fail(Exit::NotFound, "archived")
                .help(format!("nothing brings it back; `ckpt list {}` shows what there is", handle.workflow))
                .context("handle", handle.to_string())
                .context("gone", gone.word()),
            Error::Archived { handle, gone: None } => fail(Exit::NotFound, "archived")
                .help("put the bundle back, if you have a copy of it")
                .help(format!(
                    "or go on without it: `ckpt verify {} --repair` notes the loss and continues what is known",
                    handle.workflow
                ))
                .context("handle", handle.to_string()),
            Error::DamagedBundle { path, why: BadBundle::Unreadable(_) } => {
                fail(Exit::StoreUnusable, "store_unusable")
                    .retryable()
                    .help("nothing was changed; check the disk and the permissions of the file")
                    .context("path", path.display().to_string())
            }
            Error::DamagedBundle { path, why } => fail(Exit::Invalid, "damaged_bundle")
                .help("the file was left as it is; put a good copy of it in its place, if you have one")
                .context("path", path.display().to_string())
                .context("reason", why.code()),
            Error::Damaged { handle, path, why, before } => {
                let code = if matches!(why, Unusable::Newer(_)) { "format_newer" } else { "damaged" };
                let failure = fail(Exit::Invalid, code)
                    .context("handle", handle.to_string())
                    .context("path", path.display().to_string())
                    .context("reason", why.code().word())
                    .context("before", before.as_ref().map(ToString::to_string));
                match (why, before) {
                    (Unusable::Newer(_), _) => {
                        failure.help("use the version of ckpt that wrote it, or a newer one")
                    }
                    (_, before) => failure
                        .help(match before {
                            Some(before) => {
                                format!("the file was left as it is; `ckpt show {before}` shows the one before it")
                            }
                            None => "the file was left as it is; no older checkpoint can be used".to_owned(),
                        })
                        .help(format!("`ckpt verify {} --repair` moves it aside, and work can go on", handle.workflow)),
                }
            }
            Error::NewerFormat { handle, version } => fail(Exit::Invalid, "format_newer")
                .help("use the version of ckpt that wrote it, or a newer one")
                .context("handle", handle.to_string())
                .context("version", version.to_string()),
            Error::Change(error) => Self::from_change(error, &message),
            Error::Document(DocumentError::Invalid(violations)) => fail(Exit::Usage, "invalid_document")
                .violations(&violations)
                .help("`ckpt schema save-input` prints what a document looks like"),
            Error::Document(DocumentError::Newer(version)) => fail(Exit::Invalid, "format_newer")
                .help("use the version of ckpt that wrote it, or a newer one")
                .context("version", version),
            Error::Conflict { expected, newest } => {
                let failure = fail(Exit::Conflict, "conflict")
                    .context("expected", expected.to_string())
                    .context("newest", newest.as_ref().map(ToString::to_string));
                match newest {
                    Some(newest) => failure.help(format!(
                        "look at it with `ckpt show {newest}`, then try again with `--expect {newest}`"
                    )),
                    None => failure
                        .help(format!("nothing has been saved yet: `--expect {}/0`", expected.workflow)),
                }
            }
            Error::KeyReused { key, handle } => fail(Exit::Conflict, "key_reused")
                .help("use a new key for a new save")
                .context("key", key)
                .context("handle", handle.to_string()),
            Error::Config(ConfigError::File { path, problem: FileProblem::Io(source) }) => {
                Error::Store { doing: "read", path, source }.into()
            }
            Error::Config(_) => fail(Exit::Usage, "invalid_config").help("correct the file, or move it away"),
            Error::UnknownPipeline { known, .. } => {
                let failure = fail(Exit::Usage, "unknown_pipeline").context("known", json!(known));
                let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                match names.is_empty() {
                    true => failure
                        .help("declare it in `.ckpt/config.toml`, or list the phases with `--phases a,b,c`"),
                    false => failure.help(format!("there is {}", words::and(&names))),
                }
            }
            Error::Pipeline(_) => {
                fail(Exit::Usage, "invalid_phases").help("list each phase once: `--phases plan,build,test`")
            }
            Error::InvalidData { violations, pipeline, .. } => fail(Exit::Invalid, "invalid_data")
                .violations(&violations)
                .help(format!("`ckpt pipeline show {} --json` has the schema", shell_word(&pipeline))),
            Error::Artifact { path, problem } => {
                let (exit, code, help) = match problem {
                    FileProblem::Missing => (
                        Exit::Usage,
                        "artifact_missing",
                        "record it when it has been written; paths start at the present directory",
                    ),
                    FileProblem::Outside => (
                        Exit::Usage,
                        "artifact_outside",
                        "only files inside the project can be recorded; copy it there",
                    ),
                    FileProblem::TooLarge(_) => (
                        Exit::Refused,
                        "artifact_too_large",
                        "raise `max_artifact_size` under `[save]` in the configuration, or leave it out",
                    ),
                    FileProblem::NotAFile => (Exit::Usage, "artifact_not_a_file", "name a regular file"),
                    FileProblem::NotUtf8 => (Exit::Usage, "artifact_name", "rename the file"),
                    FileProblem::Io(_) => (Exit::Failure, "artifact_unreadable", "check its permissions"),
                };
                fail(exit, code).help(help).context("path", path.display().to_string())
            }
            Error::Source { source_name, problem } => {
                Self::from_source(&problem, &message).context("source", source_name)
            }
            Error::Export(problem) => match problem {
                ExportProblem::Exists(path) => fail(Exit::Refused, "export_exists")
                    .help("`--force` replaces it; `-o DIR` writes somewhere else")
                    .context("path", path),
                ExportProblem::NotExpressible(handle, dialect) => fail(Exit::Usage, "not_expressible")
                    .help("name a phase: that dialect keeps its checkpoints by phase")
                    .context("handle", handle.to_string())
                    .context("dialect", dialect.word()),
                ExportProblem::NotADirectory(path) | ExportProblem::NotAFile(path) => {
                    fail(Exit::Refused, "export_blocked")
                        .help("move it away, or write somewhere else with `-o DIR`")
                        .context("path", path)
                }
                ExportProblem::Io(path, _) => fail(Exit::Failure, "export_failed")
                    .help("check the permissions, or write somewhere else with `-o DIR`")
                    .context("path", path),
            },
            Error::TooLarge { .. } => fail(Exit::Refused, "too_large")
                .help("keep large content in a file and record it with `--artifact`"),
            Error::Policy(PolicyError::Empty) => fail(Exit::Usage, "empty_policy")
                .help("say what goes with `--max-age 7d`, or what stays with `--keep-last 3`"),
            Error::Policy(PolicyError::MatchesNothing { removed, .. }) => {
                fail(Exit::Refused, "keep_matches_nothing")
                    .help("leave the rule out, or choose one that matches something")
                    .help("`ckpt list ID` shows the checkpoints of a workflow, with their times and triggers")
                    .context("removed", removed)
            }
            Error::PlanChanged { found } => fail(Exit::Conflict, "plan_changed").context("plan", found),
            Error::Store { path, source, .. } => {
                let help = match source.raw_os_error() {
                    Some(28 | 122) => "free some space; nothing was changed",
                    Some(30) => "the file system is read-only; name another store with `--store DIR`",
                    Some(13 | 1) => "check the owner and the permissions of the store",
                    _ => "nothing was changed; try again, or check the disk",
                };
                fail(Exit::StoreUnusable, "store_unusable")
                    .retryable()
                    .help(help)
                    .context("path", path.display().to_string())
            }
            Error::UnsupportedFileSystem { path } => fail(Exit::StoreUnusable, "unsupported_file_system")
                .help("put the store on another file system with `--store DIR`")
                .context("path", path.display().to_string()),
            Error::Unconfirmed { handle, path, .. } => fail(Exit::Unknown, "unconfirmed")
                .help(format!("`ckpt show {handle}` tells whether it is there"))
                .context("handle", handle.to_string())
                .context("path", path.display().to_string()),
        }
    }
}

impl Failure {
    fn from_source(problem: &SourceProblem, message: &str) -> Self {
        let fail = |exit, code| Self::with(exit, code, message);
        match problem {
            SourceProblem::File(FileProblem::Missing) => {
                fail(Exit::NotFound, "source_missing").help("name a file or a directory that exists")
            }
            SourceProblem::File(FileProblem::TooLarge(_)) => fail(Exit::Refused, "source_too_large")
                .help("a checkpoint file is much smaller; name another"),
            SourceProblem::File(FileProblem::NotAFile) => fail(Exit::Usage, "source_not_a_file")
                .help("name a regular file; `ckpt import` takes directories too"),
            SourceProblem::File(_) => fail(Exit::Failure, "source_unreadable").help("check its permissions"),
            SourceProblem::Damaged(place) => fail(Exit::Invalid, "damaged")
                .help("the file was left as it is; mend it there, or restore it from where it came")
                .context("line", place.line)
                .context("column", place.column),
            SourceProblem::TooDeep => fail(Exit::Refused, "too_many").help(
                "a checkpoint file is much flatter; name another, or take out what is nested so deeply",
            ),
            SourceProblem::Unusable(Unusable::Newer(version)) => fail(Exit::Invalid, "format_newer")
                .help("use the version of ckpt that wrote it, or a newer one")
                .context("version", version.to_string()),
            SourceProblem::Unusable(why) => fail(Exit::Invalid, "damaged")
                .help("the file was left as it is; restore it from where it came")
                .context("reason", why.code().word()),
            SourceProblem::NotACheckpoint => fail(Exit::Invalid, "not_a_checkpoint")
                .help("if you know what it is, say it: `ckpt import --as-dialect NAME PATH`"),
            SourceProblem::Idle => {
                fail(Exit::NotFound, "nothing_to_import").help("there is nothing to do for it")
            }
            SourceProblem::NoName => {
                fail(Exit::Usage, "no_workflow").help("name the workflow with `--into ID`")
            }
            SourceProblem::Changed => {
                fail(Exit::Failure, "source_changed").retryable().help("import it again")
            }
            SourceProblem::Collision { workflow, .. } => fail(Exit::Conflict, "collision")
                .help(format!("import it under another name: `--into {workflow}-imported`"))
                .context("workflow", workflow.as_str()),
        }
    }

    fn from_change(error: ChangeError, message: &str) -> Self {
        let fail = |code| Self::usage(code, message);
        match error {
            ChangeError::UnknownPhase { legal, .. } if legal.is_empty() => fail("unknown_phase")
                .help("it has none yet; `ckpt save ID --phases a,b,c` declares them")
                .context("phases", json!(legal)),
            ChangeError::UnknownPhase { legal, .. } => {
                let names: Vec<_> = legal.iter().map(|id| format!("`{id}`")).collect();
                fail("unknown_phase")
                    .help(format!("its phases are {}", words::and(&names)))
                    .context("phases", json!(legal))
            }
            ChangeError::TaskCycle { task, through } => {
                let way: Vec<_> = through.iter().map(|id| format!("`{id}`")).collect();
                fail("task_cycle")
                    .help(format!(
                        "`{task}` waits for {}; leave one of them out",
                        way.join(", which waits for ")
                    ))
                    .context("tasks", json!(through))
            }
            ChangeError::UnknownArtifact { known, .. } if known.is_empty() => {
                fail("unknown_artifact").help("there is none to forget")
            }
            ChangeError::UnknownArtifact { known, .. } => {
                let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
                fail("unknown_artifact")
                    .help(format!("they are called {}", words::and(&names)))
                    .context("artifacts", json!(known))
            }
            ChangeError::DropsPhase { phase } => fail("drops_phase")
                .help("keep it in the list; `--status skipped` marks what is not needed")
                .context("phase", phase.as_str()),
            ChangeError::NoPhase { .. } => fail("no_phase").help("name it with `--phase P`"),
            ChangeError::NotAnObject { .. } => {
                fail("not_an_object").help("set a member of an object: `--set key=JSON` or `--set /a/b=JSON`")
            }
            ChangeError::MustBeObject { what } => {
                fail("not_an_object").help(format!("wrap it: `--{what} '{{\"value\": ...}}'`"))
            }
            ChangeError::Unreadable { .. } => Self::with(Exit::Invalid, "too_deep", message),
            ChangeError::ReplanLimit { phase, .. } => Self::with(Exit::Refused, "replan_limit", message)
                .help("`--force` reopens it all the same; `replan_limit` under `[resume]` is the limit")
                .context("phase", phase.as_str()),
            ChangeError::TooLong { .. } => {
                fail("too_long").help("keep long text in a file and record it with `--artifact`")
            }
            ChangeError::Name(_) => fail("invalid_name"),
            ChangeError::TooMany { .. } => Self::with(Exit::Refused, "too_many", message),
        }
    }
}
