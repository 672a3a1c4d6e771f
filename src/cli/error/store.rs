//! Errors of the store.

use std::io;

use serde_json::json;

use super::{ErrorCode, Failure, USE_NEWER, quoted};
use crate::cli::words;
use ckpt_model::format::Unusable;
use ckpt_model::text::shell_word;
use ckpt_store::{BadBundle, BadObject, Error};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let fail = |code| Self::new(code, &message);
        match error {
            Error::NoStore { searched } => fail(ErrorCode::NoStore)
                .help("`ckpt init` creates a store here, and so does the first save")
                .help("`--store DIR` or `CKPT_STORE` names one elsewhere")
                .context("searched", searched.display().to_string()),
            Error::NoSuchStore { path } => fail(ErrorCode::NoStore)
                .help(format!("`ckpt init --store {}` creates it", shell_word(path.display())))
                .context("searched", path.display().to_string()),
            Error::ForeignStore { path, owner } => fail(ErrorCode::ForeignStore)
                .help(format!("if you trust it, name it: `ckpt --store {} list`", path.display()))
                .at_path(&path)
                .context("owner", owner),
            Error::NotAStore { path, why: _ } => {
                fail(ErrorCode::NotAStore).help("name the real directory with `--store DIR`").at_path(&path)
            }
            Error::NoSuchWorkflow { id, similar } => {
                let help = match quoted(&similar) {
                    names if names.is_empty() => "`ckpt list` shows the workflows there are".to_owned(),
                    names => format!("similar names: {}", names.join(", ")),
                };
                fail(ErrorCode::NoSuchWorkflow)
                    .help(help)
                    .context("workflow", id.as_str())
                    .context("similar", json!(similar))
            }
            Error::NoUndoRecord { plan, plans: _ } => fail(ErrorCode::NoUndoRecord)
                .help(
                    "`ckpt archive --list` lists what is archived; \
                     `ckpt restore ID` brings a workflow back",
                )
                .context("plan", plan),
            Error::NotArchived { workflow } => fail(ErrorCode::NotArchived).context("workflow", workflow.as_str()),
            Error::Ambiguous { id: _, candidates } => fail(ErrorCode::Ambiguous)
                .help(format!("write it in full: {}", words::and(&quoted(&candidates))))
                .context("candidates", json!(candidates)),
            Error::AmbiguousNumber { asked: _, candidates } => fail(ErrorCode::Ambiguous)
                .help(format!("write one of {}", words::and(&quoted(&candidates))))
                .context("candidates", json!(candidates)),
            Error::NoSuchCheckpoint { asked: _, newest } => fail(ErrorCode::NoSuchCheckpoint)
                .help(format!("the newest one is `{newest}`; `ckpt log {}` shows all", newest.workflow))
                .context("newest", newest.to_string()),
            Error::Archived { handle, deleted: Some(reason) } => fail(ErrorCode::Archived)
                .help(format!("nothing brings it back; `ckpt log {}` shows what there is", handle.workflow))
                .about(&handle)
                .context("deleted", reason.word()),
            Error::Archived { handle, deleted: None } => fail(ErrorCode::Archived)
                .help("put the bundle back, if you have a copy of it")
                .help(format!(
                    "or go on without it: `ckpt verify {} --repair` records the loss \
                     and continues what is known",
                    handle.workflow
                ))
                .about(&handle),
            Error::DamagedBundle { path, why: BadBundle::Unreadable(_) } => fail(ErrorCode::StoreUnusable)
                .retryable()
                .help("nothing was changed; check the disk and the permissions of the file")
                .at_path(&path),
            Error::DamagedBundle { path, why } => fail(ErrorCode::DamagedBundle)
                .help("the file was left as it is; put a good copy of it in its place, if you have one")
                .at_path(&path)
                .context("reason", why.code()),
            Error::DamagedObject { path, why: BadObject::Unreadable(_) } => fail(ErrorCode::StoreUnusable)
                .retryable()
                .help("check the disk and the permissions of the file")
                .at_path(&path),
            Error::DamagedObject { path, why: _ } => fail(ErrorCode::DamagedObject)
                .help(
                    "`ckpt verify --repair` moves it to quarantine; \
                     a save with `--capture` stores it again",
                )
                .at_path(&path),
            Error::Damaged { handle, path, why, before } => {
                let failure = match (&why, &before) {
                    (Unusable::Newer(_), _) => fail(ErrorCode::FormatNewer)
                        .help(USE_NEWER)
                        .help(set_aside(&handle.workflow))
                        .help(start_over(&handle.workflow)),
                    (_, Some(before)) => fail(ErrorCode::Damaged)
                        .help(format!("the file was left as it is; `ckpt show {before}` shows the one before it"))
                        .help(repair(&handle.workflow)),
                    (_, None) => fail(ErrorCode::Damaged)
                        .help("the file was left as it is; no older checkpoint can be used")
                        .help(repair(&handle.workflow))
                        .help(start_over(&handle.workflow)),
                };
                failure
                    .about(&handle)
                    .at_path(&path)
                    .context("reason", why.code().word())
                    .context("before", before.as_ref().map(ToString::to_string))
            }
            Error::NewerFormat { handle, version } => fail(ErrorCode::FormatNewer)
                .help(USE_NEWER)
                .help(set_aside(&handle.workflow))
                .help(start_over(&handle.workflow))
                .about(&handle)
                .context("version", version.to_string()),
            Error::Change(error) => error.into(),
            Error::InvalidData { phase: _, pipeline, violations } => fail(ErrorCode::InvalidData)
                .violations(&violations)
                .help(format!("`ckpt pipeline show {} --json` has the schema", shell_word(&pipeline)))
                .help("data that lacks members yet is saved with `ckpt start`"),
            Error::Conflict { expected, newest } => {
                let help = match &newest {
                    Some(newest) => {
                        format!("look at it with `ckpt show {newest}`, then try again with `--expect {newest}`")
                    }
                    None => format!("nothing has been saved yet: `--expect {}/0`", expected.workflow),
                };
                fail(ErrorCode::Conflict)
                    .help(help)
                    .context("expected", expected.to_string())
                    .context("newest", newest.as_ref().map(ToString::to_string))
            }
            Error::KeyReused { key, handle } => {
                fail(ErrorCode::KeyReused).help("use a new key for a new save").context("key", key).about(&handle)
            }
            Error::TooLarge { bytes: _, limit: _ } => {
                fail(ErrorCode::TooLarge).help("keep large content in a file and record it with `--artifact`")
            }
            Error::LastNumber { handle, path } => fail(ErrorCode::Damaged)
                .help("no save gets that far: something else has put this file there")
                .help(format!("move it out of the store: `mv {} .`", shell_word(path.display())))
                .about(&handle)
                .at_path(&path),
            Error::FarAbove { handle } => fail(ErrorCode::TooMany)
                .help("nothing was written; no save gets that far above the others")
                .help("whoever keeps the place that it came from, such as the remote, has to look at it")
                .about(&handle),
            Error::NumberTaken { handle, path, attempts: _ } => fail(ErrorCode::StoreUnusable)
                .retryable()
                .help(format!("look at `{}`; nothing was changed", path.display()))
                .help(format!("`ckpt verify {}` checks the workflow", handle.workflow))
                .about(&handle)
                .at_path(&path),
            Error::StagedRemoved { directory, attempts: _ } => fail(ErrorCode::StoreUnusable)
                .retryable()
                .help("nothing was saved; find out what removes files whose names start with `.tmp-`")
                .at_path(&directory),
            Error::Io { doing: _, path, source } => {
                let help = match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space; nothing was changed",
                    io::ErrorKind::ReadOnlyFilesystem => {
                        "the file system is read-only; name another store with `--store DIR`"
                    }
                    io::ErrorKind::PermissionDenied => "check the owner and the permissions of the store",
                    _ => "nothing was changed; try again, or check the disk",
                };
                fail(ErrorCode::StoreUnusable).retryable().help(help).at_path(&path)
            }
            Error::UnsupportedFileSystem { path } => fail(ErrorCode::UnsupportedFileSystem)
                .help("put the store on another file system with `--store DIR`")
                .at_path(&path),
            Error::Unconfirmed { handle, path, why: _ } => fail(ErrorCode::Unconfirmed)
                .help(format!("`ckpt show {handle}` tells whether it is there"))
                .about(&handle)
                .at_path(&path),
        }
    }
}

/// Names the command that takes a workflow of a newer format out of the way.
fn set_aside(workflow: &ckpt_model::WorkflowId) -> String {
    format!("or set it aside: `ckpt archive {workflow} --as abandoned` keeps it as it is")
}

fn repair(workflow: &ckpt_model::WorkflowId) -> String {
    format!("`ckpt verify {workflow} --repair` moves it aside, and work can go on")
}

/// Names the command that leaves a workflow behind of which nothing can be used.
fn start_over(workflow: &ckpt_model::WorkflowId) -> String {
    format!("`ckpt resume {workflow} --fresh` starts over, and archives what there is")
}
