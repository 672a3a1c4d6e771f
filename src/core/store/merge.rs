//! Making one bundle of many small ones.
//!
//! The new bundle is written and synced, and read back from the top, before any of the old ones goes. Until then the
//! old ones are what counts; from then on every file is in two bundles or in the new one.
//!
//! # Several cleanups at once
//!
//! A bundle is removed only in favour of one that holds all of it and was decided on later, by the time in its name.
//! So two cleanups never remove each other's: whatever goes, the last one of the chain stays, and it holds everything.
//! The name of the new bundle follows from those that it is made of, so whoever was stopped before the old ones were
//! gone, or makes the same bundle at the same time, finds it there.
//!
//! Readers that have listed a bundle which is gone when they open it list again.

use std::collections::BTreeMap;
use std::io;

use super::bundle::{BundleName, Manifest, ManifestEntry, Writer};
use super::clean::CleanedWorkflow;
use super::disk::Disk;
use super::error::{Error, Result};
use super::layout;
use super::open::Store;
use crate::core::reason::ArchiveReason;
use crate::core::retention::{CleanupEffect, WorkflowPlan};
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// Every file once, by its number, and the part to take it from.
type Union = BTreeMap<u64, (ManifestEntry, usize)>;

/// A bundle that becomes part of another one.
struct Part {
    name: BundleName,
    bytes: Vec<u8>,
    manifest: Manifest,
}

impl<D: Disk> Store<D> {
    /// Merges the bundles that a plan says, and the one that was made just now.
    pub(super) fn merge(&self, plan: &WorkflowPlan, save_id: &str, done: &mut CleanedWorkflow) -> Result<()> {
        if plan.merge.is_empty() {
            return Ok(());
        }
        let made = |name: &BundleName| {
            plan.effect == CleanupEffect::Checkpoints
                && done.bundles.contains(&self.bundle_path(&plan.workflow, name))
        };
        let names = self.bundles(&plan.workflow)?.into_iter();
        let names: Vec<BundleName> =
            names.filter(|name| plan.merge.contains(&name.to_string()) || made(name)).collect();
        let Some(parts) = self.parts(&plan.workflow, names)? else { return Ok(()) };
        let Some(union) = union(&parts).filter(|_| parts.len() > 1) else { return Ok(()) };
        let name = match latest_holds_all(&parts, &union) {
            Some(name) => name,
            None => match self.unite(&plan.workflow, &parts, &union, save_id)? {
                Some(name) => name,
                None => return Ok(()),
            },
        };
        let held = self.verify_bundle(&plan.workflow, &name)?;
        let holds =
            |entry: &ManifestEntry| held.as_ref().and_then(|held| held.entry(entry.seq)) == Some(entry);
        if !union.values().all(|(entry, _)| holds(entry)) {
            return Ok(());
        }
        // Whoever published it may have died before this, and a bundle that may vanish holds nothing.
        self.sync_archive(&plan.workflow)?;
        let Some(dir) = self.open_archive(&plan.workflow)? else { return Ok(()) };
        for part in parts.iter().filter(|part| part.name != name) {
            let path = self.bundle_path(&plan.workflow, &part.name);
            self.remove(&dir, &part.name.to_string(), &path)?;
            done.bundles.retain(|made| *made != path);
            done.merged.push(path);
        }
        let path = self.bundle_path(&plan.workflow, &name);
        if !done.bundles.contains(&path) {
            done.bundles.push(path);
        }
        self.disk()
            .sync_dir(&dir)
            .map_err(|error| self.failed("sync", &self.archive_dir(&plan.workflow), error))
    }

    /// Reads bundles to their ends; none if one of them is gone: then somebody else merges them.
    fn parts(&self, workflow: &WorkflowId, names: Vec<BundleName>) -> Result<Option<Vec<Part>>> {
        let mut parts = Vec::new();
        for name in names {
            let Some(bytes) = self.read_bundle(workflow, &name)? else { return Ok(None) };
            let bad = |why| Error::DamagedBundle { path: self.bundle_path(workflow, &name), why };
            let manifest = self.open_bundle(workflow, &name, &bytes)?.verify().map_err(bad)?;
            // A seal names its bundle, which has to stay.
            if manifest.entries.iter().any(|entry| entry.seq > name.last) {
                return Ok(None);
            }
            parts.push(Part { name, bytes, manifest });
        }
        Ok(Some(parts))
    }

    /// Writes one bundle of all that `parts` hold; none if its name is taken by another one.
    fn unite(
        &self,
        workflow: &WorkflowId,
        parts: &[Part],
        union: &Union,
        save_id: &str,
    ) -> Result<Option<BundleName>> {
        let Some(name) = united_name(parts) else { return Ok(None) };
        let entries = union.values().rev().map(|(entry, _)| *entry).collect();
        let manifest = Manifest::new(workflow, (name.first, name.last), &name.reason, name.at, entries);
        let bytes = self.rewrite(workflow, parts, &manifest, union)?;
        self.publish_bundle(workflow, &name, &bytes, &layout::staged_file(&format!("{save_id}-merge"), 0))?;
        Ok(Some(name))
    }

    /// The bytes of the new bundle. Every part is read once more, from its highest number down, as they are.
    fn rewrite(
        &self,
        workflow: &WorkflowId,
        parts: &[Part],
        manifest: &Manifest,
        union: &Union,
    ) -> Result<Vec<u8>> {
        let path = self.archive_dir(workflow);
        let failed = |error: io::Error| self.failed("write", &path, error);
        let mut readers = Vec::new();
        for part in parts {
            readers.push(self.open_bundle(workflow, &part.name, &part.bytes)?);
        }
        let mut writer = Writer::new(manifest).map_err(failed)?;
        for entry in &manifest.entries {
            let missing = || failed(io::ErrorKind::NotFound.into());
            let (_, part) = *union.get(&entry.seq).ok_or_else(missing)?;
            let (reader, name) = readers.get_mut(part).zip(parts.get(part)).ok_or_else(missing)?;
            let bad = |why| Error::DamagedBundle { path: self.bundle_path(workflow, &name.name), why };
            loop {
                let (found, bytes) = reader.next_file().map_err(bad)?.ok_or_else(missing)?;
                if found == *entry {
                    writer.add(entry.seq, &bytes).map_err(failed)?;
                    break;
                }
            }
        }
        writer.finish().map_err(failed)
    }
}

/// What the parts hold; none if two of them have different files of one number.
fn union(parts: &[Part]) -> Option<Union> {
    let mut union = Union::new();
    for (index, part) in parts.iter().enumerate() {
        for entry in &part.manifest.entries {
            let (same, _) = union.entry(entry.seq).or_insert((*entry, index));
            if same != entry {
                return None;
            }
        }
    }
    Some(union)
}

/// The part that was decided on last, if it holds all that the others do: then the work is done but for the rest.
fn latest_holds_all(parts: &[Part], union: &Union) -> Option<BundleName> {
    let latest = parts.iter().max_by_key(|part| part.name.at)?;
    let alone = parts.iter().filter(|part| part.name.at == latest.name.at).count() == 1;
    (alone && latest.manifest.entries.len() == union.len()).then(|| latest.name.clone())
}

/// The name of a bundle of all parts: a second later than the last of them.
fn united_name(parts: &[Part]) -> Option<BundleName> {
    let first = parts.iter().map(|part| part.name.first).min()?;
    let last = parts.iter().map(|part| part.name.last).max()?;
    let latest = parts.iter().map(|part| part.name.at).max()?;
    let after = Timestamp::new(latest.to_chrono() + chrono::TimeDelta::seconds(1));
    let name = BundleName::new(first, last, after, &ArchiveReason::Cleanup);
    (name.at > latest).then_some(name)
}
