//! Errors of settings and retention policies.

use super::{ErrorCode, Failure};
use ckpt_model::retention::PolicyError;
use ckpt_store::Error;
use ckpt_store::files::FileProblem;
use ckpt_store::settings_file::ConfigError;

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::File { path, problem: FileProblem::Io(source) } => {
                Error::Io { doing: "read", path, source }.into()
            }
            error @ (ConfigError::File { .. } | ConfigError::Invalid { .. }) => {
                Self::new(ErrorCode::InvalidConfig, error.to_string()).help("correct the file, or move it away")
            }
        }
    }
}

impl From<PolicyError> for Failure {
    fn from(error: PolicyError) -> Self {
        let message = error.to_string();
        match error {
            PolicyError::Empty => Self::new(ErrorCode::EmptyPolicy, message)
                .help("say what goes with `--max-age 7d`, or what stays with `--keep-last 3`"),
            PolicyError::MatchesNothing { rule: _, leaving } => Self::new(ErrorCode::KeepMatchesNothing, message)
                .help("leave the rule out, or choose one that matches something")
                .help("`ckpt list` with the id of a workflow shows its checkpoints, with their times and triggers")
                .context("removed", leaving),
        }
    }
}
