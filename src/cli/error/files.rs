//! Errors of files that are recorded, imported or exported.

use serde_json::json;

use super::{ErrorCode, Failure, USE_NEWER};
use crate::cli::words::verb;
use ckpt_agents::setup::SetupError;
use ckpt_formats::dialects::{ListCandidate, Undecided};
use ckpt_formats::export::ExportError;
use ckpt_formats::import::{ImportError, SourceError};
use ckpt_model::format::Unusable;
use ckpt_model::text::shell_word;
use ckpt_store::artifact::ArtifactError;
use ckpt_store::files::FileProblem;
use ckpt_store::place::PlaceError;
use ckpt_store::restore_artifacts::RestoreError;

/// How many lists a failure offers.
const MOST_LISTS: usize = 5;

impl From<ArtifactError> for Failure {
    fn from(error: ArtifactError) -> Self {
        let (code, help) = match &error.problem {
            FileProblem::Missing => {
                (ErrorCode::ArtifactMissing, "record it when it has been written; paths start at the present directory")
            }
            FileProblem::Outside => {
                (ErrorCode::ArtifactOutside, "only files inside the project can be recorded; copy it there")
            }
            FileProblem::TooLarge(_) => (
                ErrorCode::ArtifactTooLarge,
                "raise `max_artifact_size` under `[save]` in the configuration, or leave it out",
            ),
            FileProblem::NotAFile => (ErrorCode::ArtifactNotAFile, "name a regular file"),
            FileProblem::NotUtf8 => (ErrorCode::ArtifactName, "rename the file"),
            FileProblem::Io(_) => (ErrorCode::ArtifactUnreadable, "check its permissions"),
        };
        Self::new(code, error.to_string()).help(help).at_path(&error.path)
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let message = error.to_string();
        match error {
            ImportError::Store(error) => error.into(),
            ImportError::Config(error) => error.into(),
            ImportError::Source { name, error } => from_source(&error, &message, &name).context("source", name),
        }
    }
}

fn from_source(error: &SourceError, message: &str, name: &str) -> Failure {
    let fail = |code| Failure::new(code, message);
    match error {
        SourceError::File(FileProblem::Missing) => {
            fail(ErrorCode::SourceMissing).help("name a file or a directory that exists")
        }
        SourceError::File(FileProblem::TooLarge(_)) => {
            fail(ErrorCode::SourceTooLarge).help("a checkpoint file is much smaller; name another")
        }
        SourceError::File(FileProblem::NotAFile) => {
            fail(ErrorCode::SourceNotAFile).help("name a regular file; `ckpt import` takes directories too")
        }
        SourceError::File(FileProblem::Outside | FileProblem::NotUtf8 | FileProblem::Io(_)) => {
            fail(ErrorCode::SourceUnreadable).help("check its permissions")
        }
        SourceError::Damaged(place) => fail(ErrorCode::Damaged)
            .help("the file was left as it is; mend it there, or restore it from where it came")
            .context("line", place.line)
            .context("column", place.column),
        SourceError::TooDeep => fail(ErrorCode::TooMany)
            .help("a checkpoint file is much flatter; name another, or take out what is nested so deeply"),
        SourceError::Unusable(Unusable::Newer(version)) => {
            fail(ErrorCode::FormatNewer).help(USE_NEWER).context("version", version.to_string())
        }
        SourceError::Unusable(why) => fail(ErrorCode::Damaged)
            .help("the file was left as it is; restore it from where it came")
            .context("reason", why.code().word()),
        SourceError::NotACheckpoint => fail(ErrorCode::NotACheckpoint)
            .help("if you know what it is, import it, and name its system with `--as-dialect`"),
        SourceError::CannotTell(Undecided { lists, .. }) => {
            let mut failure = fail(ErrorCode::NotACheckpoint).context("lists", json!(lists));
            for ListCandidate { place, entries, why } in lists.iter().take(MOST_LISTS) {
                let noun = verb(*entries, "entry", "entries");
                let command = format!("ckpt import {} --list {}", shell_word(name), shell_word(place));
                failure = failure.help(format!("`{command}` takes that list ({entries} {noun}; {why})"));
            }
            if lists.is_empty() { failure.help("read it, and begin with `ckpt start`") } else { failure }
        }
        SourceError::Sqlite => fail(ErrorCode::NotACheckpoint).help("export what it has as JSON, and import that"),
        SourceError::Idle => fail(ErrorCode::NothingToImport).help("there is nothing to do for it"),
        SourceError::NoName => fail(ErrorCode::NoWorkflow).help("name the workflow with `--into ID`"),
        SourceError::Collision { workflow, why: _ } => fail(ErrorCode::Collision)
            .help(format!("import it under another name: `--into {workflow}-imported`"))
            .context("workflow", workflow.as_str()),
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let fail = |code| Failure::new(code, error.to_string()).at_path(error.path());
        match &error {
            SetupError::Unreadable { .. } => {
                fail(ErrorCode::SetupUnreadable).help("mend it, or move it away; nothing was written")
            }
            SetupError::Outside { .. } => {
                fail(ErrorCode::SetupOutside).help("replace the link by a file, or set up the agent with `--user`")
            }
            SetupError::Changed { .. } => fail(ErrorCode::SetupChanged).help("run the same command again"),
            SetupError::Io { .. } => fail(ErrorCode::SetupFailed).help("check the permissions"),
        }
    }
}

impl From<RestoreError> for Failure {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Store(error) => error.into(),
            RestoreError::File(error) => {
                let fail = |code| Self::new(code, error.to_string());
                let Some(path) = error.path() else { return error.into() };
                let code = match &error {
                    PlaceError::Exist(_) => ErrorCode::ExportExists,
                    PlaceError::Io(..) => ErrorCode::ExportFailed,
                    _ => ErrorCode::ExportBlocked,
                };
                fail(code)
                    .help("the files before it were brought back; fix it, and repeat the command")
                    .context("path", path)
            }
        }
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        let message = error.to_string();
        match error {
            ExportError::NotExpressible(handle, dialect) => Self::new(ErrorCode::NotExpressible, message)
                .help("name a phase: that dialect keeps its checkpoints by phase")
                .about(&handle)
                .context("dialect", dialect.word()),
            ExportError::File(error) => error.into(),
        }
    }
}

impl From<PlaceError> for Failure {
    fn from(problem: PlaceError) -> Self {
        let message = problem.to_string();
        let fail = |code| Self::new(code, &message);
        match problem {
            PlaceError::Exist(paths) => {
                let them = if paths.len() == 1 { "it" } else { "them" };
                let failure = fail(ErrorCode::ExportExists)
                    .help(format!("`--force` replaces {them}; `-o DIR` writes somewhere else"));
                failure.context("path", paths.first().map(String::as_str).unwrap_or_default())
            }
            PlaceError::NotADirectory(path) | PlaceError::NotAFile(path) => fail(ErrorCode::ExportBlocked)
                .help("move it away, or write somewhere else with `-o DIR`")
                .context("path", path),
            PlaceError::Io(path, _) => fail(ErrorCode::ExportFailed)
                .help("check the permissions, or write somewhere else with `-o DIR`")
                .context("path", path),
        }
    }
}
