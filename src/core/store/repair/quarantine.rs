//! Where damaged files go.

use std::io;
use std::path::{Path, PathBuf};

use super::{Repair, RepairAction};
use crate::core::error::Result;
use crate::core::selector::Handle;
use crate::core::store::disk::Disk;
use crate::core::store::layout::QUARANTINE;
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
        for attempt in 0..MOST_OF_ONE_NAME {
            let free = match attempt {
                0 => new_name.to_owned(),
                _ => format!("{new_name}.{attempt}"),
            };
            match self.disk().move_aside(dir, name, to, &free) {
                Ok(()) => return Ok(Some(free)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(self.failed("move", path, error)),
            }
        }
        Err(self.failed("move", path, io::ErrorKind::AlreadyExists.into()))
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
