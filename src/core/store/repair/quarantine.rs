//! Where damaged files go.

use std::io;
use std::path::{Path, PathBuf};

use super::{Repair, RepairAction};
use crate::core::change::Stamp;
use crate::core::format::MAX_FILE_BYTES;
use crate::core::selector::Handle;
use crate::core::store::disk::{Access, Disk};
use crate::core::store::error::Result;
use crate::core::store::layout::{self, QUARANTINE};
use crate::core::store::open::Store;

/// How many files of one name are kept apart.
const MOST_OF_ONE_NAME: u32 = 10_000;

impl<D: Disk> Store<D> {
    /// Moves what is called `name` in `dir` to quarantine, in the directory `below` of it, under a name that nothing
    /// has there. It is durable there before this returns.
    #[expect(clippy::too_many_arguments, reason = "from where, to where, and whom to tell")]
    pub(super) fn quarantine(
        &self,
        dir: &D::Dir,
        path: &Path,
        name: &str,
        below: Option<&str>,
        new_name: &str,
        handle: Option<&Handle>,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        let (to, to_path) = self.open_quarantine(below)?;
        let Some(moved) = self.move_to_free_name(dir, &path.join(name), name, &to, new_name)? else {
            return Ok(());
        };
        for (dir, path) in [(&to, &to_path), (dir, &path.to_owned())] {
            self.disk().sync_dir(dir).map_err(|error| self.failed("sync", path, error))?;
        }
        done.push(Repair {
            action: RepairAction::Quarantined,
            path: path.join(name),
            to: Some(to_path.join(moved)),
            handle: handle.cloned(),
        });
        Ok(())
    }

    /// Puts a copy of a damaged file into quarantine, unless it is there already. It is durable there before this
    /// returns.
    pub(super) fn quarantine_copy(
        &self,
        handle: &Handle,
        bytes: &[u8],
        stamp: &Stamp,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        // An empty file has nothing to keep.
        if bytes.is_empty() {
            return Ok(());
        }
        let (to, to_path) = self.open_quarantine(Some(&handle.workflow.directory()))?;
        let failed = |error| self.failed("write", &to_path, error);
        let staged = layout::staged_file(&format!("{}-{}", stamp.save_id, handle.seq), 0);
        let name = layout::checkpoint_file(handle.seq);
        let copied = self.disk().stage(&to, &staged, bytes, Access::ReadOnly).and_then(|_| {
            free_name(&name, |free| match self.disk().publish(&to, &staged, free) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // Whoever was stopped before had put it there.
                    let there = self.disk().read(&to, free, MAX_FILE_BYTES);
                    if there.is_ok_and(|there| there == bytes) { Ok(()) } else { Err(error) }
                }
                other => other,
            })
        });
        let _ = self.disk().remove(&to, &staged);
        let copied = copied.map_err(failed)?;
        self.disk().sync_dir(&to).map_err(failed)?;
        done.push(Repair {
            action: RepairAction::Quarantined,
            path: self.checkpoint_path(handle),
            to: Some(to_path.join(copied)),
            handle: Some(handle.clone()),
        });
        Ok(())
    }

    /// Moves away what stands in the place of the quarantine itself. The next pass finds it there.
    pub(super) fn clear_the_place_of_quarantine(&self, root: &D::Dir, done: &mut Vec<Repair>) -> Result<()> {
        let path = self.root().join(QUARANTINE);
        let aside = format!("{QUARANTINE}-aside");
        let Some(moved) = self.move_to_free_name(root, &path, QUARANTINE, root, &aside)? else {
            return Ok(());
        };
        let to = Some(self.root().join(moved));
        done.push(Repair { action: RepairAction::Quarantined, path, to, handle: None });
        self.disk().sync_dir(root).map_err(|error| self.failed("sync", &self.root(), error))
    }

    /// The name it has now; none if it is not there any more.
    fn move_to_free_name(
        &self,
        dir: &D::Dir,
        path: &Path,
        name: &str,
        to: &D::Dir,
        new_name: &str,
    ) -> Result<Option<String>> {
        match free_name(new_name, |free| self.disk().move_aside(dir, name, to, free)) {
            Ok(moved) => Ok(Some(moved)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("move", path, error)),
        }
    }

    fn open_quarantine(&self, below: Option<&str>) -> Result<(D::Dir, PathBuf)> {
        let mut path = self.root();
        let mut dir = self.open_root()?;
        for name in [Some(QUARANTINE), below].into_iter().flatten() {
            let above = path.clone();
            path.push(name);
            self.make(&dir, name, &path)?;
            self.disk().sync_dir(&dir).map_err(|error| self.failed("sync", &above, error))?;
            dir = self.enter(&dir, name, &path)?;
        }
        Ok((dir, path))
    }
}

/// Tries `take` with a name, and with others like it where something else has that one. Returns the name it took.
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
