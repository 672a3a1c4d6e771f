//! The size of all objects: a cache, so that a save that stores one more does not list them all.
//!
//! Two saves at once may count one object too few; a cleanup counts them again. The limit that it serves is no promise
//! to the byte.

use crate::disk::Disk;
use crate::error::Result;
use crate::layout::{self, OBJECTS};
use crate::open::Store;

/// The name of the cache.
pub(crate) const SIZE: &str = "size";
const MAX_DIGITS: u64 = 20;

impl<D: Disk> Store<D> {
    /// Returns the size of all objects, as far as it is known without listing them; counted if it is not.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn objects_size(&self) -> Result<u64> {
        let Some(objects) = self.open_below(&[self.name(), OBJECTS])? else { return Ok(0) };
        match self.cached_objects_size(&objects) {
            Some(size) => Ok(size),
            None => Ok(self.object_totals()?.bytes),
        }
    }

    fn cached_objects_size(&self, objects: &D::Dir) -> Option<u64> {
        let bytes = self.disk().read(objects, SIZE, MAX_DIGITS).ok()?;
        std::str::from_utf8(&bytes).ok()?.parse().ok()
    }

    /// Notes that objects of this size were stored. A failure is none of the save.
    pub(super) fn add_to_objects_size(&self, objects: &D::Dir, written: u64, id: &str) {
        let size = match self.cached_objects_size(objects) {
            Some(before) => before.saturating_add(written),
            None => match self.object_totals() {
                Ok(totals) => totals.bytes,
                Err(_) => return,
            },
        };
        self.note_objects_size(objects, size, id);
    }

    pub(super) fn note_objects_size(&self, objects: &D::Dir, size: u64, id: &str) {
        self.replace_cache(objects, SIZE, size.to_string().as_bytes(), id);
    }

    /// Replaces a cache beside the objects. A failure is ignored: the cache stays as it was.
    pub(super) fn replace_cache(&self, objects: &D::Dir, name: &str, bytes: &[u8], id: &str) {
        let staged = layout::staged_file(id, 0);
        let disk = self.disk();
        let replaced = disk.stage_unsynced(objects, &staged, bytes).and_then(|()| disk.replace(objects, &staged, name));
        if replaced.is_err() {
            let _ = disk.remove(objects, &staged);
        }
    }
}
