//! Looking over a store for a cleanup. Nothing here writes.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::bundle::{BundleName, ManifestEntry};
use super::disk::Disk;
use super::error::{Error, Result};
use super::gone::PURGED;
use super::layout::EntryName;
use super::open::Store;
use super::read::Entry;
use crate::core::format::{Header, Unusable};
use crate::core::retention::{
    BundleFacts, CheckpointDetails, CheckpointFacts, HeadFacts, Snapshot, StoreDirectory, TemporaryFile,
    WorkflowFacts, is_small, may_merge,
};
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Looks at everything that retention goes by.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is listed as skipped.
    pub fn survey(&self) -> Result<Snapshot> {
        let mut ids = self.workflow_ids()?;
        ids.sort();
        let mut snapshot = Snapshot::default();
        if !ids.is_empty() {
            let root = self.root();
            self.find_leftovers(
                &self.open_root()?,
                &root,
                &StoreDirectory::Root,
                &mut snapshot.temporary_files,
            )?;
        }
        for id in ids {
            match self.survey_with_leftovers(&id, &mut snapshot.temporary_files) {
                Ok(facts) => snapshot.workflows.extend(facts),
                Err(error) => snapshot.skipped.push((self.workflow_dir(&id), error.to_string())),
            }
        }
        Ok(snapshot)
    }

    fn survey_with_leftovers(
        &self,
        id: &WorkflowId,
        found: &mut Vec<TemporaryFile>,
    ) -> Result<Option<WorkflowFacts>> {
        let facts = self.survey_workflow(id)?;
        if let Some(dir) = self.open_workflow(id)? {
            self.find_leftovers(&dir, &self.workflow_dir(id), &StoreDirectory::Workflow(id.clone()), found)?;
        }
        if let Some(dir) = self.open_archive(id)? {
            self.find_leftovers(&dir, &self.archive_dir(id), &StoreDirectory::Archive(id.clone()), found)?;
        }
        Ok(facts)
    }

    /// Looks at one workflow; none if nothing was ever saved there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn survey_workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowFacts>> {
        let bundles = self.survey_bundles(id)?;
        let mut facts = WorkflowFacts {
            workflow: id.clone(),
            newest: 0,
            head: HeadFacts::Unreadable,
            checkpoints: Vec::new(),
            bundles,
        };
        for row in self.scan_checkpoints(id)? {
            facts.newest = row.handle.seq;
            let details = match row.entry {
                Ok(Entry::Live(header)) => {
                    facts.head = HeadFacts::Checkpoint(header.status);
                    Some(details(header))
                }
                Ok(Entry::Sealed(header)) => {
                    facts.head = sealed(&header, &facts.bundles);
                    continue;
                }
                Ok(Entry::Tombstone) | Err(Unusable::Missing) => {
                    facts.head = HeadFacts::Unreadable;
                    continue;
                }
                // It may be as whole as ever: what is not known is not judged.
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(&row.handle, why)),
                Err(_) => {
                    facts.head = HeadFacts::Unreadable;
                    None
                }
            };
            facts.checkpoints.push(CheckpointFacts { seq: row.handle.seq, bytes: row.bytes, details });
        }
        Ok((facts.newest > 0).then_some(facts))
    }

    fn survey_bundles(&self, id: &WorkflowId) -> Result<Vec<BundleFacts>> {
        let Some(dir) = self.open_archive(id)? else { return Ok(Vec::new()) };
        let size =
            |name: &BundleName| self.disk().stat(&dir, &name.to_string()).map_or(0, |stat| stat.file_bytes());
        let names = self.bundles(id)?.into_iter();
        let mut bundles: Vec<BundleFacts> =
            names.map(|name| BundleFacts { bytes: size(&name), name, mergeable: false }).collect();
        // They are small, and are read only where it matters.
        if may_merge(&bundles) {
            let mut inside = BTreeMap::new();
            for facts in bundles.iter_mut().filter(|facts| is_small(facts)) {
                facts.mergeable = self.is_mergeable(id, &facts.name, &mut inside)?;
            }
        }
        Ok(bundles)
    }

    /// Whether a bundle can be read, holds no seal, and agrees with what is `inside` the others.
    fn is_mergeable(
        &self,
        id: &WorkflowId,
        name: &BundleName,
        inside: &mut BTreeMap<u64, ManifestEntry>,
    ) -> Result<bool> {
        let manifest = match self.with_bundle(id, name, &mut |bundle| Ok(bundle.manifest().clone())) {
            Ok(Some(manifest)) => manifest,
            Ok(None) | Err(Error::DamagedBundle { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let agrees = |entry: &ManifestEntry| inside.get(&entry.seq).is_none_or(|other| other == entry);
        let mergeable = manifest.entries.iter().all(|entry| entry.seq <= name.last && agrees(entry));
        if mergeable {
            inside.extend(manifest.entries.iter().map(|entry| (entry.seq, *entry)));
        }
        Ok(mergeable)
    }

    fn find_leftovers(
        &self,
        dir: &D::Dir,
        path: &Path,
        directory: &StoreDirectory,
        found: &mut Vec<TemporaryFile>,
    ) -> Result<()> {
        let mut names = Vec::new();
        let staged = &mut |name: &str| {
            if EntryName::parse(name) == EntryName::Staged {
                names.push(name.to_owned());
            }
        };
        self.disk().list(dir, staged).map_err(|error| self.failed("list", path, error))?;
        for name in names {
            match self.disk().stat(dir, &name) {
                Ok(stat) => {
                    let modified = Timestamp::from(stat.modified);
                    found.push(TemporaryFile { directory: directory.clone(), name, modified });
                }
                // Its writer has finished.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed("look at", &path.join(&name), error)),
            }
        }
        Ok(())
    }
}

fn details(header: Header) -> CheckpointDetails {
    CheckpointDetails {
        saved_at: header.saved_at,
        trigger: header.trigger,
        phase: header.phase,
        pinned: header.pinned,
    }
}

fn sealed(header: &Header, bundles: &[BundleFacts]) -> HeadFacts {
    let named = header.sealed.as_ref().map(|sealed| sealed.bundle.as_str()).unwrap_or_default();
    let is_there = bundles.iter().any(|bundle| bundle.name.to_string() == named);
    HeadFacts::Seal { status: header.status, bundle_missing: !is_there && named != PURGED }
}
