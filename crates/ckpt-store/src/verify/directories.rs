//! Checking the directories of a store, from the top down to those of the workflows.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::finding::{LOOK, REPAIR, Walk, words};
use crate::disk::{Disk, FileKind, Stat};
use crate::error::{Error, Result};
use crate::files::FileProblem;
use crate::layout::{
    self, ARCHIVE, CONFIG, GITIGNORE, HOOK_LOG, INDEX, OBJECTS, QUARANTINE, REMOTE, SESSIONS, SIDES, UNDO, WORKFLOWS,
};
use crate::open::Store;
use crate::settings_file::{self, ConfigError};
use crate::{ledger, session_notes, sides, undo};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::format::Unusable;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// A directory of the store that has directories in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectoryPlace {
    Root,
    Workflows,
    Archive,
}

/// An entry of the wrong type, or one that does not belong to the store and could be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) place: DirectoryPlace,
    pub(crate) name: String,
    /// Its type; none if that is unknown.
    pub(crate) kind: Option<FileKind>,
}

/// The directories of a store.
#[derive(Debug, Default)]
pub(crate) struct Directories {
    /// All workflows, live or archived.
    pub(crate) ids: BTreeSet<WorkflowId>,
    /// The entries to be quarantined.
    pub(crate) misfits: Vec<Misfit>,
    /// True if no part of the store is missing.
    pub(crate) is_whole: bool,
}

impl<D: Disk> Store<D> {
    pub(crate) fn inspect_directories(&self, walk: &mut Walk<'_>) -> Result<Directories> {
        let mut found = Directories::default();
        let root = self.open_root()?;
        let names = self.names(&root, &self.root())?;
        for name in [GITIGNORE, WORKFLOWS].into_iter().filter(|name| !names.contains(*name)) {
            let path = self.root().join(name);
            walk.add(Severity::Advice, Code::Incomplete, path, "is missing", Some("`ckpt init` creates it"));
        }
        found.is_whole = names.contains(GITIGNORE) && names.contains(WORKFLOWS);
        for name in &names {
            let path = self.root().join(name);
            let expected = match name.as_str() {
                CONFIG | GITIGNORE | INDEX | HOOK_LOG => Some(FileKind::File),
                WORKFLOWS | ARCHIVE | OBJECTS | QUARANTINE | SESSIONS | UNDO | SIDES | REMOTE => {
                    Some(FileKind::Directory)
                }
                _ => None,
            };
            if !self.fits(&root, (DirectoryPlace::Root, name, path), expected, walk, &mut found) {
                continue;
            }
            if name == CONFIG {
                self.inspect_config(walk);
            }
            if expected == Some(FileKind::Directory) && name != OBJECTS {
                self.inspect_directory(&root, name, walk, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Checks the settings, without which most commands refuse to work.
    fn inspect_config(&self, walk: &mut Walk<'_>) {
        let message = match settings_file::load(&self.config_file()) {
            Ok(_) => return,
            Err(ConfigError::File { problem, .. }) => problem.to_string(),
            Err(ConfigError::Invalid { message, .. }) => format!("cannot be understood: {message}"),
        };
        let help = "correct the file, or move it away";
        walk.add(Severity::Blocker, Code::InvalidConfig, self.config_file(), message, Some(help));
    }

    fn inspect_directory(&self, root: &D::Dir, name: &str, walk: &mut Walk<'_>, found: &mut Directories) -> Result<()> {
        let path = self.root().join(name);
        let dir = match self.disk().enter(root, name) {
            Ok(dir) => dir,
            Err(error) => {
                walk.add(Severity::Blocker, Code::Unreadable, path, format!("cannot be opened: {error}"), None);
                return Ok(());
            }
        };
        let names = self.names(&dir, &path)?;
        let place = match name {
            WORKFLOWS => DirectoryPlace::Workflows,
            ARCHIVE => DirectoryPlace::Archive,
            UNDO => {
                for name in names.iter().filter(|name| undo::fingerprint(name).is_none()) {
                    if layout::is_staged(name) {
                        walk.temporary(path.join(name));
                    } else {
                        walk.unknown(path.join(name), None, "is not an undo record");
                    }
                }
                return Ok(());
            }
            REMOTE => {
                for name in names.iter().filter(|name| !ledger::is_ledger(name)) {
                    if layout::is_staged(name) {
                        walk.temporary(path.join(name));
                    } else {
                        walk.unknown(path.join(name), None, "is no ledger of a remote");
                    }
                }
                return Ok(());
            }
            SIDES => return self.inspect_sides(&dir, names, walk),
            SESSIONS => {
                self.inspect_notes(&dir, names, walk);
                return Ok(());
            }
            _ => {
                let many = names.len();
                if many > 0 {
                    let message = format!("holds what was damaged; entries: {many}");
                    walk.add(Severity::Info, Code::Quarantine, path, message, Some(LOOK));
                }
                return Ok(());
            }
        };
        for name in names {
            let id = WorkflowId::from_directory(&name);
            let expected = id.as_ref().map(|_| FileKind::Directory);
            let here = (place, name.as_str(), path.join(&name));
            if self.fits(&dir, here, expected, walk, found) {
                found.ids.extend(id);
            }
        }
        Ok(())
    }

    /// Checks the side checkpoints of all workflows.
    fn inspect_sides(&self, sides: &D::Dir, names: BTreeSet<String>, walk: &mut Walk<'_>) -> Result<()> {
        for directory in names {
            let path = self.root().join(SIDES).join(&directory);
            let id = WorkflowId::from_directory(&directory);
            let opened = id.and_then(|id| Some((id, self.disk().enter(sides, &directory).ok()?)));
            let Some((id, dir)) = opened else {
                walk.unknown(path, None, "holds no side checkpoints of a workflow");
                continue;
            };
            for name in self.names(&dir, &path)? {
                let path = path.join(&name);
                if layout::is_staged(&name) {
                    walk.temporary(path);
                } else if let Some((seq, digest)) = sides::parse(&name) {
                    let handle = Handle::side(&id, seq, digest);
                    match self.load_side(&handle, digest) {
                        Ok(stored) if stored.checkpoint.sha256.short() == digest => {}
                        Ok(_) => {
                            let message = "does not have the digest that its name says";
                            walk.about(Severity::Blocker, Code::Misplaced, (&handle, path), message, Some(LOOK));
                        }
                        Err(Error::Damaged { why: Unusable::Newer(_), .. }) => {}
                        Err(Error::Damaged { why, .. }) => {
                            let help = "move it away; `ckpt pull` brings it again";
                            walk.about(Severity::Blocker, why.code(), (&handle, path), why.to_string(), Some(help));
                        }
                        Err(error) => return Err(error),
                    }
                } else if !sides::is_settled_mark(&name) {
                    walk.unknown(path, None, "is no side checkpoint");
                }
            }
        }
        Ok(())
    }

    /// Checks the notes of sessions. Nothing depends on them.
    fn inspect_notes(&self, dir: &D::Dir, names: BTreeSet<String>, walk: &mut Walk<'_>) {
        for name in names {
            let path = self.root().join(SESSIONS).join(&name);
            if layout::is_staged(&name) {
                walk.temporary(path);
            } else if !session_notes::is_note(&name) {
                walk.unknown(path, None, "is no note of a session");
            } else if let Err(problem) = self.read_note(dir, &name)
                && !matches!(problem, FileProblem::Missing)
            {
                let help = "delete it: the session is noted again at its next event";
                let message = format!("cannot be used: {problem}");
                walk.add(Severity::Advice, Code::SessionNote, path, message, Some(help));
            }
        }
    }

    /// Returns true if an entry has the expected type. Without an expected type it does not belong to the store.
    fn fits(
        &self,
        dir: &D::Dir,
        (place, name, path): (DirectoryPlace, &str, PathBuf),
        expected: Option<FileKind>,
        walk: &mut Walk<'_>,
        found: &mut Directories,
    ) -> bool {
        let stat = self.disk().stat(dir, name);
        let misfit = Misfit { place, name: name.to_owned(), kind: stat.as_ref().ok().map(|stat| stat.kind) };
        match (expected, stat) {
            // Moved by a repair after it was listed.
            (_, Err(error)) if error.kind() == io::ErrorKind::NotFound && name.is_ascii() => false,
            (Some(expected), Ok(Stat { kind, mode, .. })) if kind == expected => {
                if kind == FileKind::Directory {
                    walk.check_mode(path, None, mode, 0o700);
                }
                true
            }
            (Some(expected), Ok(Stat { kind, .. })) => {
                let message = format!("is {}, not {}", words(kind), words(expected));
                walk.add(Severity::Blocker, Code::Misfit, path, message, Some(REPAIR));
                found.misfits.push(misfit);
                false
            }
            (None, _) if layout::is_staged(name) => {
                walk.temporary(path);
                false
            }
            (None, stat) => {
                if walk.unknown(path, stat.ok(), "is nothing of a store") {
                    found.misfits.push(misfit);
                }
                false
            }
            (Some(_), Err(error)) => {
                let message = format!("cannot be looked at: {error}");
                walk.add(Severity::Blocker, Code::Unreadable, path, message, None);
                false
            }
        }
    }
}
