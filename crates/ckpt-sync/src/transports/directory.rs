//! A remote that is a directory, on a disk that several machines share.
//!
//! An object is a file that is written under a temporary name and then given its own without replacing another, in the same
//! way as the entries of a store. Whoever may write in the directory may read it, so that several accounts can share it.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::{Failure, Incomplete, Key, Listed, NewObject, Remote};
use ckpt_store::files::FileProblem;
use ckpt_store::{Access, Disk, FileKind, OsDisk};

/// A directory.
#[derive(Debug)]
pub(super) struct Directory {
    disk: OsDisk,
    path: PathBuf,
    unique: String,
    staged: u64,
}

impl Directory {
    pub(super) fn new(path: &Path, unique: String) -> Self {
        Self { disk: OsDisk::new(path), path: path.to_owned(), unique, staged: 0 }
    }

    /// Writes one object; `replaces` puts it in the place of another.
    fn write(&mut self, key: &Key, bytes: &[u8], replaces: bool) -> Result<(), Failure> {
        let (dirs, name) = parts(key);
        let mut open = vec![self.disk.base().map_err(|error| self.not_reached(&error))?];
        for part in dirs.split_terminator('/') {
            let Some(dir) = open.last() else { break };
            let made = match self.disk.make_dir(dir, part) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                made => made.map(|()| true),
            };
            let entered = made.and_then(|is_new| {
                if is_new {
                    dir.share(part)?;
                    self.disk.sync_dir(dir)?;
                }
                self.disk.enter(dir, part)
            });
            open.push(entered.map_err(|error| refused(key, &error))?);
        }
        let Some(dir) = open.last() else { return Ok(()) };
        self.staged += 1;
        let staged = format!(".tmp-{}-{}", self.unique, self.staged);
        let file = self.disk.stage(dir, &staged, bytes, Access::ReadOnly);
        let file = file.and_then(|file| dir.share(&staged).map(|()| file));
        let file = file.map_err(|error| refused(key, &error))?;
        let written =
            if replaces { self.disk.replace(dir, &staged, name) } else { self.disk.publish(dir, &staged, name) };
        let _ = self.disk.remove(dir, &staged);
        drop(file);
        match written {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Failure::Exists),
            // A network file system may carry it out and lose the answer.
            Err(error) => return Err(Failure::Unknown(format!("`{key}`: {error}"))),
        }
        self.disk.sync_dir(dir).map_err(|error| Failure::Unknown(format!("`{key}`: {error}")))
    }

    /// Adds the objects below a directory to a list.
    fn collect(&self, dir: &<OsDisk as Disk>::Dir, prefix: &str, found: &mut Vec<Listed>) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::Unreachable(format!("`{prefix}`: {error}"));
        let mut names = Vec::new();
        self.disk.list(dir, &mut |name| names.push(name.to_owned())).map_err(failed)?;
        for name in names {
            let Some(key) = Key::parse(&format!("{prefix}{name}")) else { continue };
            let Ok(stat) = self.disk.stat(dir, &name) else { continue };
            match stat.kind {
                FileKind::File => found.push(Listed { key, size: stat.bytes }),
                FileKind::Directory => {
                    let below = self.disk.enter(dir, &name).map_err(failed)?;
                    self.collect(&below, &format!("{key}/"), found)?;
                }
                FileKind::Link | FileKind::Special => {}
            }
        }
        Ok(())
    }

    /// Opens a directory below that of the remote; none if there is none.
    fn enter(&self, dirs: &str) -> Result<Option<<OsDisk as Disk>::Dir>, Failure> {
        let mut dir = self.disk.base().map_err(|error| self.not_reached(&error))?;
        for part in dirs.split_terminator('/') {
            dir = match self.disk.enter(&dir, part) {
                Ok(dir) => dir,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(Failure::Unreachable(format!("`{dirs}`: {error}"))),
            };
        }
        Ok(Some(dir))
    }

    fn not_reached(&self, error: &io::Error) -> Failure {
        Failure::Unreachable(format!("the directory `{}` cannot be opened: {error}", self.path.display()))
    }
}

impl Remote for Directory {
    fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete> {
        for (created, NewObject { key, bytes }) in objects.iter().enumerate() {
            self.write(key, bytes, false).map_err(|failure| Incomplete { created, failure })?;
        }
        Ok(())
    }

    fn list(&mut self, prefix: &str, visit: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure> {
        let Some(dir) = self.enter(prefix)? else { return Ok(()) };
        let mut found = Vec::new();
        self.collect(&dir, prefix, &mut found)?;
        found.sort_by(|a, b| a.key.cmp(&b.key));
        for object in found {
            if visit(object).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &Key, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        let (dirs, name) = parts(key);
        let Some(dir) = self.enter(dirs)? else { return Ok(None) };
        match self.disk.read(&dir, name, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FileProblem::Missing) => Ok(None),
            Err(FileProblem::Io(error)) => Err(Failure::Unreachable(format!("`{key}`: {error}"))),
            Err(problem) => Err(Failure::Unusable(format!("`{key}` {problem}"))),
        }
    }

    fn empty(&mut self, keys: &[Key]) -> Result<(), Failure> {
        keys.iter().try_for_each(|key| self.write(key, &[], true))
    }
}

/// Splits a key into its directories and the name of the file.
fn parts(key: &Key) -> (&str, &str) {
    key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()))
}

fn refused(key: &Key, error: &io::Error) -> Failure {
    Failure::Refused(format!("`{key}` cannot be written: {error}"))
}
