//! Side checkpoints: those of other stores whose numbers this store had used for its own.
//!
//! They are in `.ckpt/sides/042/00000008@3fa9c2d1.json`, named by their number and the first digits of their digest, so
//! that they have the same name in every store. They are never changed and never removed. A store that was never forked
//! has no such directory.

use std::collections::BTreeSet;

use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::layout::{self, SIDES};
use super::open::Store;
use super::publish::NewFile;
use super::workflow::{Stored, belongs, unusable};
use ckpt_model::digest::ShortDigest;
use ckpt_model::format::{self, Links, MAX_FILE_BYTES, Unusable};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// Says which sides were found to be continued, so that they are not read again.
const SETTLED: &str = "settled";
const MAX_SETTLED_BYTES: u64 = 64;

/// Returns the file name of a side checkpoint.
pub(super) fn side_file(seq: u64, digest: ShortDigest) -> String {
    format!("{seq:08}@{digest}.json")
}

/// Parses the file name of a side checkpoint. One checkpoint has one name.
pub(super) fn parse(name: &str) -> Option<(u64, ShortDigest)> {
    let (seq, digest) = name.strip_suffix(".json")?.split_once('@')?;
    let parsed = (seq.parse().ok()?, digest.parse().ok()?);
    (parsed.0 > 0 && side_file(parsed.0, parsed.1) == name).then_some(parsed)
}

/// Returns true for the file that remembers which sides are continued.
pub(super) fn is_settled_mark(name: &str) -> bool {
    name == SETTLED
}

impl<D: Disk> Store<D> {
    /// Lists the side checkpoints of a workflow, in the order of their numbers.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn sides(&self, workflow: &WorkflowId) -> Result<BTreeSet<(u64, ShortDigest)>> {
        let mut sides = BTreeSet::new();
        let Some(dir) = self.open_sides(workflow)? else { return Ok(sides) };
        let listed = self.disk().list(&dir, &mut |name| sides.extend(parse(name)));
        listed.map_err(|error| self.failed("list", &self.sides_dir(workflow), error))?;
        Ok(sides)
    }

    /// Adds a side checkpoint. Returns false if it was there. It is durable when this returns.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn add_side(&self, workflow: &WorkflowId, links: &Links, bytes: &[u8], save_id: &str) -> Result<bool> {
        let [root, path] = [self.root(), self.sides_dir(workflow)];
        let store = self.open_root()?;
        let all = root.join(SIDES);
        self.make(&store, SIDES, &all)?;
        let sides = self.enter(&store, SIDES, &all)?;
        let is_new = self.make(&sides, &workflow.directory(), &path)?;
        let dir = self.enter(&sides, &workflow.directory(), &path)?;
        let name = &side_file(links.seq, links.sha256.short());
        let staged = &layout::staged_file(&format!("{save_id}-{name}"), 0);
        let file = NewFile { staged, name, bytes, access: Access::ReadOnly };
        let added = file.publish(self.disk(), &dir).map_err(|error| self.not_written(&path.join(name), error))?;
        self.sync(&dir, &path)?;
        if is_new {
            self.sync(&sides, &all)?;
            self.sync(&store, &root)?;
        }
        Ok(added)
    }

    /// Reads a side checkpoint.
    pub(super) fn load_side(&self, handle: &Handle, digest: ShortDigest) -> Result<Stored> {
        let bytes = self.side_bytes(handle, digest)?;
        let decoded = Stored::decode(&Handle { side: None, ..handle.clone() }, bytes);
        decoded.map_err(|why| self.damaged_side(handle, why))
    }

    pub(super) fn side_bytes(&self, handle: &Handle, digest: ShortDigest) -> Result<Vec<u8>> {
        let missing =
            || Error::NoSuchCheckpoint { asked: handle.to_string(), newest: Handle::new(&handle.workflow, handle.seq) };
        let dir = self.open_sides(&handle.workflow)?.ok_or_else(missing)?;
        let read = self.disk().read(&dir, &side_file(handle.seq, digest), MAX_FILE_BYTES);
        read.map_err(|problem| match unusable(problem) {
            Unusable::Missing => missing(),
            why => self.damaged_side(handle, why),
        })
    }

    /// Reads how a side checkpoint is linked to others.
    pub(super) fn side_links(&self, handle: &Handle, digest: ShortDigest) -> Result<Links> {
        let bytes = self.side_bytes(handle, digest)?;
        let links = format::decode_part::<Links>(&bytes).and_then(|links| {
            belongs(&Handle::new(&handle.workflow, handle.seq), &links.workflow, links.seq).map(|()| links)
        });
        links.map_err(|why| self.damaged_side(handle, why))
    }

    /// Returns true if all of these sides were found to be continued.
    pub(super) fn are_settled(&self, workflow: &WorkflowId, sides: &BTreeSet<(u64, ShortDigest)>) -> bool {
        let Ok(Some(dir)) = self.open_sides(workflow) else { return false };
        let read = self.disk().read(&dir, SETTLED, MAX_SETTLED_BYTES);
        read.is_ok_and(|count| count == sides.len().to_string().as_bytes())
    }

    /// Remembers that all of these sides are continued. Sides are never removed, so their number identifies them. A failure
    /// only costs time.
    pub(super) fn mark_settled(&self, workflow: &WorkflowId, sides: &BTreeSet<(u64, ShortDigest)>) {
        let Ok(Some(dir)) = self.open_sides(workflow) else { return };
        let staged = &layout::staged_file(&format!("{SETTLED}-{}", sides.len()), 0);
        if self.disk().stage_unsynced(&dir, staged, sides.len().to_string().as_bytes()).is_ok() {
            let replaced = self.disk().replace(&dir, staged, SETTLED);
            let _ = replaced.inspect_err(|_| drop(self.disk().remove(&dir, staged)));
        }
    }

    pub(super) fn open_sides(&self, workflow: &WorkflowId) -> Result<Option<D::Dir>> {
        self.open_below(&[self.name(), SIDES, &workflow.directory()])
    }

    fn damaged_side(&self, handle: &Handle, why: Unusable) -> Error {
        let path = self.checkpoint_path(handle);
        if let Unusable::Unreadable(cause) = why {
            return self.failed("read", &path, cause.into_io());
        }
        Error::Damaged { handle: handle.clone(), path, why, before: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_one_thing() {
        let digest = "3fa9c2d1".parse().unwrap();
        assert_eq!(parse("00000008@3fa9c2d1.json"), Some((8, digest)));
        assert_eq!(parse(&side_file(123_456_789, digest)), Some((123_456_789, digest)));
        for other in ["8@3fa9c2d1.json", "00000000@3fa9c2d1.json", "00000008@3fa9.json", "00000008.json", "settled"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
