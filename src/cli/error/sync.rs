//! Errors of remotes.

use super::{ErrorCode, Failure};
use ckpt_sync as sync;
use ckpt_sync::transports::BadUrl;

impl From<sync::Error> for Failure {
    fn from(error: sync::Error) -> Self {
        let message = error.to_string();
        match error {
            sync::Error::Store(error) => error.into(),
            sync::Error::Remote(failure) => failure.into(),
            sync::Error::Damaged { key, why: _ } => Self::new(ErrorCode::DamagedRemote, message)
                .help("nothing of it was used; whoever keeps the remote has to look at it")
                .context("key", key.as_str()),
            sync::Error::DamagedBundle { key, why: _ } => Self::new(ErrorCode::DamagedRemote, message)
                .help(
                    "nothing of it was used and nothing was emptied; \
                     whoever keeps the remote has to look at it",
                )
                .context("key", key.as_str()),
            sync::Error::OtherBundle { key } => Self::new(ErrorCode::RemoteContended, message)
                .help("nothing was emptied; the checkpoints stay as they are")
                .context("key", key.as_str()),
            sync::Error::NotAJanitor(_) => Self::new(ErrorCode::RemoteRefused, message)
                .help(
                    "only a janitor may: an account with the right to replace objects; \
                     see docs/guide/object-stores.md",
                )
                .help("nothing is lost: the bundle was added, and no checkpoint was emptied"),
            sync::Error::Layout { .. } => {
                Self::new(ErrorCode::FormatNewer, message).help("use a newer version of ckpt, or another prefix")
            }
            sync::Error::Contended { workflow, attempts: _ } => Self::new(ErrorCode::RemoteContended, message)
                .help("nothing is lost; try again")
                .context("workflow", workflow.as_str())
                .retryable(),
            sync::Error::Secret { handle, pointer, rule } => Self::new(ErrorCode::SecretToPush, message)
                .help("the value cannot be unsaved; change it where it is in use")
                .help("`ckpt push --allow-secrets` pushes it all the same")
                .context("handle", handle.to_string())
                .context("pointer", pointer)
                .context("rule", rule),
        }
    }
}

impl From<sync::Failure> for Failure {
    fn from(failure: sync::Failure) -> Self {
        let (code, message) = match &failure {
            sync::Failure::Exists => (ErrorCode::RemoteContended, "another store took the name".to_owned()),
            sync::Failure::Unknown(why) => {
                (ErrorCode::RemoteUnreachable, format!("the remote gave no clear answer: {why}"))
            }
            sync::Failure::Unreachable(why) => {
                (ErrorCode::RemoteUnreachable, format!("the remote was not reached: {why}"))
            }
            sync::Failure::Refused(why) => {
                return Self::new(ErrorCode::RemoteRefused, format!("the remote refuses: {why}"));
            }
            sync::Failure::Unusable(why) => {
                return Self::new(ErrorCode::DamagedRemote, format!("the remote gave an unusable answer: {why}"));
            }
        };
        Self::new(code, message).help("nothing is lost: what was saved is in the store; try again later").retryable()
    }
}

impl From<BadUrl> for Failure {
    fn from(error: BadUrl) -> Self {
        Self::new(ErrorCode::InvalidRemote, error.to_string())
            .help("such as `file:///srv/ckpt`, `git:origin` or `s3://bucket/prefix`")
    }
}
