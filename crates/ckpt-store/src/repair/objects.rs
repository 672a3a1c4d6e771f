//! Repairing the objects: damaged ones are quarantined, and those that are nowhere are recorded as lost.

use super::quarantine::Quarantined;
use super::{Repair, RepairAction};
use crate::disk::{Access, Disk};
use crate::error::Result;
use crate::layout::{self, OBJECTS};
use crate::objects::{lost_file, shard};
use crate::open::Store;
use crate::publish::NewFile;
use crate::verify::ObjectInspection;
use ckpt_model::change::Stamp;

/// The directory of the quarantine. No workflow has a directory of a name that begins like this.
const BELOW: &str = "+objects";

impl<D: Disk> Store<D> {
    pub(super) fn repair_objects(
        &self,
        inspection: &ObjectInspection,
        stamp: &Stamp,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        for (shard, name) in &inspection.bad {
            if let Some(dir) = self.open_shard(shard)? {
                let path = self.root().join(OBJECTS).join(shard);
                let from = Quarantined { dir: &dir, path: &path, name, handle: None };
                self.quarantine(&from, Some(BELOW), name, done)?;
            }
        }
        for sha256 in &inspection.missing {
            let shard = shard(sha256);
            let (objects_path, name) = (self.root().join(OBJECTS), lost_file(sha256));
            let shard_path = objects_path.join(&shard);
            let root = self.open_root()?;
            self.make(&root, OBJECTS, &objects_path)?;
            let objects = self.enter(&root, OBJECTS, &objects_path)?;
            self.make(&objects, &shard, &shard_path)?;
            let dir = self.enter(&objects, &shard, &shard_path)?;
            let staged = &layout::staged_file(&stamp.save_id, 0);
            let file = NewFile { staged, name: &name, bytes: b"", access: Access::ReadOnly };
            let published = file.publish(self.disk(), &dir);
            published.map_err(|error| self.not_written(&shard_path.join(&name), error))?;
            for (dir, path) in [(&dir, &shard_path), (&objects, &objects_path), (&root, &self.root())] {
                self.sync(dir, path)?;
            }
            done.push(Repair {
                action: RepairAction::Recorded,
                path: self.object_path(sha256),
                to: None,
                handle: None,
            });
        }
        Ok(())
    }
}
