//! The quarantine: where damaged files go.

use std::io;
use std::path::{Path, PathBuf};

use super::{Repair, RepairAction};
use crate::disk::{Access, Disk};
use crate::error::Result;
use crate::layout::{self, QUARANTINE};
use crate::open::Store;
use crate::publish::NewFile;
use ckpt_model::change::Stamp;
use ckpt_model::format::MAX_FILE_BYTES;
use ckpt_model::selector::Handle;

/// How many files of one name are kept apart.
const MOST_OF_ONE_NAME: u32 = 10_000;

/// An entry that is moved to quarantine.
#[derive(Debug)]
pub(super) struct Quarantined<'a, Dir> {
    pub(super) dir: &'a Dir,
    /// The path of `dir`.
    pub(super) path: &'a Path,
    pub(super) name: &'a str,
    pub(super) handle: Option<&'a Handle>,
}

impl<D: Disk> Store<D> {
    /// Moves an entry to quarantine, into its directory `below`, as `new_name` or a similar name that is free. The move
    /// is durable when this returns.
    pub(super) fn quarantine(
        &self,
        from: &Quarantined<'_, D::Dir>,
        below: Option<&str>,
        new_name: &str,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        let (to, to_path) = self.open_quarantine(below)?;
        let path = from.path.join(from.name);
        let Some(moved) = self.move_to_free_name(from, &to, new_name)? else { return Ok(()) };
        self.sync(&to, &to_path)?;
        self.sync(from.dir, from.path)?;
        done.push(Repair {
            action: RepairAction::Quarantined,
            path,
            to: Some(to_path.join(moved)),
            handle: from.handle.cloned(),
        });
        Ok(())
    }

    /// Copies a damaged file to quarantine, unless the copy is there already. It is durable when this returns.
    pub(super) fn quarantine_copy(
        &self,
        handle: &Handle,
        bytes: &[u8],
        stamp: &Stamp,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        // An empty file has no content to keep.
        if bytes.is_empty() {
            return Ok(());
        }
        let (to, to_path) = self.open_quarantine(Some(&handle.workflow.directory()))?;
        let staged = &layout::staged_file(&format!("{}-{}", stamp.save_id, handle.seq), 0);
        let copied = free_name(&layout::checkpoint_file(handle.seq), |name| {
            let copy = NewFile { staged, name, bytes, access: Access::ReadOnly };
            if copy.publish(self.disk(), &to)? {
                return Ok(());
            }
            // A repair that was killed may have copied it.
            let existing = self.disk().read(&to, name, MAX_FILE_BYTES);
            let is_copy = existing.is_ok_and(|existing| existing == bytes);
            if is_copy { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
        });
        let copied = copied.map_err(|error| self.not_written(&to_path.join(staged), error))?;
        self.sync(&to, &to_path)?;
        done.push(Repair {
            action: RepairAction::Quarantined,
            path: self.checkpoint_path(handle),
            to: Some(to_path.join(copied)),
            handle: Some(handle.clone()),
        });
        Ok(())
    }

    /// Moves an entry that has the name of the quarantine itself aside. The next pass quarantines it.
    pub(super) fn clear_quarantine_name(&self, root: &D::Dir, done: &mut Vec<Repair>) -> Result<()> {
        let from = Quarantined { dir: root, path: &self.root(), name: QUARANTINE, handle: None };
        let aside = format!("{QUARANTINE}-aside");
        let Some(moved) = self.move_to_free_name(&from, root, &aside)? else { return Ok(()) };
        done.push(Repair {
            action: RepairAction::Quarantined,
            path: self.root().join(QUARANTINE),
            to: Some(self.root().join(moved)),
            handle: None,
        });
        self.sync(root, &self.root())
    }

    /// Moves an entry and returns its new name; none if there is no such entry any more.
    fn move_to_free_name(&self, from: &Quarantined<'_, D::Dir>, to: &D::Dir, new_name: &str) -> Result<Option<String>> {
        match free_name(new_name, |free| self.disk().move_aside(from.dir, from.name, to, free)) {
            Ok(moved) => Ok(Some(moved)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unsupported_or("move", &from.path.join(from.name), error)),
        }
    }

    fn open_quarantine(&self, below: Option<&str>) -> Result<(D::Dir, PathBuf)> {
        let mut path = self.root();
        let mut dir = self.open_root()?;
        for name in [Some(QUARANTINE), below].into_iter().flatten() {
            let above = path.clone();
            path.push(name);
            self.make(&dir, name, &path)?;
            self.sync(&dir, &above)?;
            dir = self.enter(&dir, name, &path)?;
        }
        Ok((dir, path))
    }
}

/// Calls `take` with a name, and with numbered variants of it while the name is taken. Returns the name that was free.
fn free_name(name: &str, mut take: impl FnMut(&str) -> io::Result<()>) -> io::Result<String> {
    for attempt in 0..MOST_OF_ONE_NAME {
        let free = match attempt {
            0 => name.to_owned(),
            _ => format!("{name}.{attempt}"),
        };
        match take(&free) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            taken => return taken.map(|()| free),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
