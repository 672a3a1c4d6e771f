//! Errors of changes, of documents given with `--from`, and of pipelines.

use serde_json::{Value, json};

use super::{ErrorCode, Failure, USE_NEWER, quoted};
use crate::cli::words;
use ckpt_model::change::{ChangeError, DocumentError};
use ckpt_model::merge::{Conflict, MergeError};
use ckpt_model::pipeline::PipelineError;
use ckpt_model::text::shell_word;

/// How many conflicts of a merge are listed, and how much of each value; the JSON has all of it.
const MOST_CONFLICTS: usize = 50;
const MOST_CHARACTERS: usize = 120;

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        let message = error.to_string();
        let fail = |code| Self::new(code, &message);
        match error {
            ChangeError::Merge(error) => error.into(),
            ChangeError::UnknownPhase { given: _, legal } => {
                let help = match quoted(&legal) {
                    names if names.is_empty() => "it has none yet; `--phases` of `ckpt save` declares them".to_owned(),
                    names => format!("its phases are {}", words::and(&names)),
                };
                fail(ErrorCode::UnknownPhase).help(help).context("phases", json!(legal))
            }
            ChangeError::AmbiguousPhase { given: _, candidates } => fail(ErrorCode::Ambiguous)
                .help(format!("write one of {}", words::and(&quoted(&candidates))))
                .context("candidates", json!(candidates)),
            ChangeError::DropsPhase { phase } => fail(ErrorCode::DropsPhase)
                .help("keep it in the list; `--status skipped` marks what is not needed")
                .context("phase", phase.as_str()),
            ChangeError::CompleteWithError { phase } => fail(ErrorCode::Usage)
                .help("record a failure with `--status failed`, or leave `--error` out and use `--note`")
                .context("phase", phase.as_str()),
            ChangeError::FailedGate { phase, why: _ } => fail(ErrorCode::GateFailed)
                .help("record it with `ckpt fail`; once the gate is passed, say so with `--data`")
                .context("phase", phase.as_str()),
            ChangeError::NoPhase { what: _ } => fail(ErrorCode::NoPhase).help("name it with `--phase P`"),
            ChangeError::TaskCycle { task, through } => {
                let way = quoted(&through).join(", which waits for ");
                fail(ErrorCode::TaskCycle)
                    .help(format!("`{task}` waits for {way}; leave one of them out"))
                    .context("tasks", json!(through))
            }
            ChangeError::UnknownArtifact { given: _, known } if known.is_empty() => {
                fail(ErrorCode::UnknownArtifact).help("there is none to forget")
            }
            ChangeError::UnknownArtifact { given: _, known } => fail(ErrorCode::UnknownArtifact)
                .help(format!("they are called {}", words::and(&quoted(&known))))
                .context("artifacts", json!(known)),
            ChangeError::UnknownLabel { given: _, known } if known.is_empty() => {
                fail(ErrorCode::UnknownLabel).help("there is none to take away")
            }
            ChangeError::UnknownLabel { given: _, known } => fail(ErrorCode::UnknownLabel)
                .help(format!("the labels are {}", words::and(&quoted(&known))))
                .context("labels", json!(known)),
            ChangeError::UnknownFact { given: _, known } if known.is_empty() => {
                fail(ErrorCode::UnknownFact).help("there is none to forget")
            }
            ChangeError::UnknownFact { given: _, known } => fail(ErrorCode::UnknownFact)
                .help(format!("they are called {}", words::and(&quoted(&known))))
                .context("facts", json!(known)),
            ChangeError::NotAnArray { what: _, at: _ } => {
                fail(ErrorCode::NotAnArray).help("`--set key=JSON` replaces it")
            }
            ChangeError::NotAnObject { what: _, at: _ } => {
                fail(ErrorCode::NotAnObject).help("set a member of an object: `--set key=JSON` or `--set /a/b=JSON`")
            }
            ChangeError::MustBeObject { what } => {
                fail(ErrorCode::NotAnObject).help(format!("wrap it: `--{what} '{{\"value\": ...}}'`"))
            }
            ChangeError::Unreadable { what: _, source: _ } => fail(ErrorCode::TooDeep),
            ChangeError::ReplanLimit { phase, count: _ } => fail(ErrorCode::ReplanLimit)
                .help("`--force` reopens it all the same; `replan_limit` under `[resume]` is the limit")
                .context("phase", phase.as_str()),
            ChangeError::TooLong { what: _, limit: _ } => {
                fail(ErrorCode::TooLong).help("keep long text in a file and record it with `--artifact`")
            }
            ChangeError::Nul { what: _ } => fail(ErrorCode::InvalidText).help("leave the character out"),
            ChangeError::SecretName { what: _ } => {
                fail(ErrorCode::SecretInName).help("choose another name, or keep it with `--allow-secrets`")
            }
            ChangeError::Name(_) => fail(ErrorCode::InvalidName),
            ChangeError::TooMany { what: _, limit: _ } => fail(ErrorCode::TooMany),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        let message = error.to_string();
        match error {
            MergeError::Conflicts(conflicts) => {
                let mut message = message;
                for conflict in conflicts.iter().take(MOST_CONFLICTS) {
                    message.push_str(&format!("\n{}", conflict_line(conflict)));
                }
                if let Some(more) = words::left_out(conflicts.len(), MOST_CONFLICTS) {
                    message.push_str(&format!("\n... and {more} more"));
                }
                let place = conflicts.first().map_or("/title", |conflict| conflict.pointer.as_str());
                Self::new(ErrorCode::MergeConflict, message)
                    .help("`--ours` takes all of the first values, `--theirs` all of the second")
                    .help(format!("`{}` takes one of them", shell_word(format!("--theirs={place}"))))
                    .help(format!("`--set {}` takes another value", shell_word(format!("{place}=JSON"))))
                    .context("conflicts", json!(conflicts))
            }
            MergeError::NoConflict { pointer: _, conflicts } => {
                let help = match quoted(&conflicts) {
                    places if places.is_empty() => "leave it out: there is none to settle".to_owned(),
                    places => format!("there is one at {}", words::and(&places)),
                };
                Self::new(ErrorCode::NoConflict, message).help(help).context("conflicts", json!(conflicts))
            }
            MergeError::Invalid(_) => {
                Self::new(ErrorCode::InvalidMerge, message).help("check the values given with `--set`")
            }
        }
    }
}

/// `/state/port: 8080 or 9090`
fn conflict_line(Conflict { pointer, ours, theirs, .. }: &Conflict) -> String {
    let shown = |value: &Option<Value>| {
        let text = value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
        match text.char_indices().nth(MOST_CHARACTERS) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    };
    format!("{pointer}: {} or {}", shown(ours), shown(theirs))
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        let message = error.to_string();
        match error {
            DocumentError::Invalid(violations) => Self::new(ErrorCode::InvalidDocument, message)
                .violations(&violations)
                .help("`ckpt schema save-input` prints what a document looks like"),
            DocumentError::Phases(error) => error.into(),
            DocumentError::Newer(version) => {
                Self::new(ErrorCode::FormatNewer, message).help(USE_NEWER).context("version", version)
            }
        }
    }
}

impl From<PipelineError> for Failure {
    fn from(error: PipelineError) -> Self {
        let message = error.to_string();
        match error {
            PipelineError::Unknown { given: _, known } => {
                let help = match quoted(&known) {
                    names if names.is_empty() => {
                        "declare it in `.ckpt/config.toml`, or list the phases with `--phases a,b,c`".to_owned()
                    }
                    names => format!("there is {}", words::and(&names)),
                };
                Self::new(ErrorCode::UnknownPipeline, message).help(help).context("known", json!(known))
            }
            PipelineError::Nul(_) => Self::new(ErrorCode::InvalidText, message).help("leave the character out"),
            PipelineError::Empty => Self::new(ErrorCode::InvalidPhases, message)
                .help("name at least one: `--phases plan,build,test`, or `--total 3`"),
            PipelineError::NeedsTotal(_) => {
                Self::new(ErrorCode::InvalidPhases, message).help("say how many with `--total 5`")
            }
            PipelineError::HasItsOwn(_) => Self::new(ErrorCode::InvalidPhases, message).help("leave `--total` out"),
            PipelineError::Duplicate(_) => {
                Self::new(ErrorCode::InvalidPhases, message).help("list each phase once: `--phases plan,build,test`")
            }
        }
    }
}
