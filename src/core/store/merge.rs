//! Merging small bundles into one.
//!
//! The new bundle is written, synced and read back before any of the old ones is removed. So every file is in an old
//! bundle or in the new one at any time.
//!
//! # Several cleanups at once
//!
//! A bundle is removed only in favour of one that holds all of it and has a later time in its name. So two cleanups
//! never remove each other's bundles: the latest one stays, and it holds everything. The name of the new bundle follows
//! from the names of the old ones, so a cleanup that was killed before it removed them, or that runs at the same time,
//! finds the same bundle.
//!
//! A reader that lists a bundle which is removed before it is opened lists the archive again.

use std::collections::BTreeMap;
use std::io;

use super::archive::Archive;
use super::bundle::{BundleName, BundleWriter, Manifest, ManifestEntry};
use super::cleanup::CleanedWorkflow;
use super::disk::Disk;
use super::error::{Error, Result};
use super::layout;
use super::open::Store;
use crate::core::reason::ArchiveReason;
use crate::core::retention::{CleanupEffect, WorkflowPlan};
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// Each file once, by its number, with the index of the part to read it from.
type Union = BTreeMap<u64, (ManifestEntry, usize)>;

/// A bundle that becomes part of another one.
struct BundlePart {
    name: BundleName,
    bytes: Vec<u8>,
    manifest: Manifest,
}

impl<D: Disk> Store<D> {
    /// Merges the bundles that a plan names, and the one that this cleanup wrote.
    pub(super) fn merge(&self, plan: &WorkflowPlan, save_id: &str, done: &mut CleanedWorkflow) -> Result<()> {
        if plan.merge.is_empty() {
            return Ok(());
        }
        let archive = self.archive_of(&plan.workflow)?;
        let Some(dir) = archive.dir() else { return Ok(()) };
        let mut names = archive.bundles()?;
        names.retain(|name| {
            let written = plan.effect == CleanupEffect::Checkpoints
                && done.bundles.contains(&archive.bundle_path(name));
            written || plan.merge.contains(&name.to_string())
        });
        let Some(parts) = archive.parts(names)? else { return Ok(()) };
        let Some(union) = union(&parts) else { return Ok(()) };
        if parts.len() < 2 {
            return Ok(());
        }
        let name = match latest_holds_all(&parts, &union) {
            Some(name) => name,
            None => match united_name(&parts) {
                Some(name) => {
                    archive.unite(&plan.workflow, &name, &parts, &union, save_id)?;
                    name
                }
                None => return Ok(()),
            },
        };
        let held = archive.verify(&name)?;
        let holds =
            |entry: &ManifestEntry| held.as_ref().and_then(|held| held.entry(entry.seq)) == Some(entry);
        if !union.values().all(|(entry, _)| holds(entry)) {
            return Ok(());
        }
        // Also if it existed: its writer may have been killed before the sync.
        archive.sync()?;
        for part in parts.iter().filter(|part| part.name != name) {
            archive.remove(&part.name)?;
            let path = archive.bundle_path(&part.name);
            done.bundles.retain(|written| *written != path);
            done.merged.push(path);
        }
        let path = archive.bundle_path(&name);
        if !done.bundles.contains(&path) {
            done.bundles.push(path);
        }
        self.sync(dir, &archive.path())
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Reads bundles to their ends. Returns none if one is missing, because another cleanup merges them, or holds a
    /// seal: a seal names its bundle, so that bundle has to stay.
    fn parts(&self, names: Vec<BundleName>) -> Result<Option<Vec<BundlePart>>> {
        let mut parts = Vec::new();
        for name in names {
            let bad = |why| self.damaged(&name, why);
            let Some(bytes) = self.read(&name).map_err(bad)? else { return Ok(None) };
            let checked = self.parse(&name, &bytes).and_then(|bundle| bundle.verify(&mut || {}));
            let manifest = checked.map_err(bad)?;
            if manifest.entries.iter().any(|entry| entry.seq > name.last) {
                return Ok(None);
            }
            parts.push(BundlePart { name, bytes, manifest });
        }
        Ok(Some(parts))
    }

    /// Publishes one bundle of all files in `parts`. The files of each part are read in their order.
    fn unite(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        parts: &[BundlePart],
        union: &Union,
        save_id: &str,
    ) -> Result<()> {
        let path = self.bundle_path(name);
        let failed = |error: io::Error| Error::Io { doing: "write", path: path.clone(), source: error };
        let entries = union.values().rev().map(|(entry, _)| *entry).collect();
        let manifest = Manifest::new(workflow, (name.first, name.last), &name.reason, name.at, entries);
        let mut readers = Vec::new();
        for part in parts {
            let reader = self.parse(&part.name, &part.bytes);
            readers.push(reader.map_err(|why| self.damaged(&part.name, why))?);
        }
        let mut writer = BundleWriter::new(&manifest).map_err(failed)?;
        for (entry, part) in union.values().rev() {
            let missing = || failed(io::ErrorKind::NotFound.into());
            let reader = readers.get_mut(*part).ok_or_else(missing)?;
            loop {
                let file = reader.next_file().map_err(|why| self.damaged(name, why))?;
                let (found, bytes) = file.ok_or_else(missing)?;
                if found == *entry {
                    writer.add(entry.seq, &bytes).map_err(failed)?;
                    break;
                }
            }
        }
        let bytes = writer.finish().map_err(failed)?;
        self.publish_bundle(name, &bytes, &layout::staged_file(&format!("{save_id}-merge"), 0))
    }
}

/// Returns the files of all parts; none if two parts have different files of one number.
fn union(parts: &[BundlePart]) -> Option<Union> {
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

/// Returns the latest part if it holds all files: then only the other parts are left to be removed.
fn latest_holds_all(parts: &[BundlePart], union: &Union) -> Option<BundleName> {
    let latest = parts.iter().max_by_key(|part| part.name.at)?;
    let alone = parts.iter().filter(|part| part.name.at == latest.name.at).count() == 1;
    (alone && latest.manifest.entries.len() == union.len()).then(|| latest.name.clone())
}

/// Returns the name of the merged bundle: a second later than the latest part.
fn united_name(parts: &[BundlePart]) -> Option<BundleName> {
    let first = parts.iter().map(|part| part.name.first).min()?;
    let last = parts.iter().map(|part| part.name.last).max()?;
    let latest = parts.iter().map(|part| part.name.at).max()?;
    let after = Timestamp::new(latest.to_chrono() + chrono::TimeDelta::seconds(1));
    let name = BundleName::new(first, last, after, &ArchiveReason::Cleanup);
    (name.at > latest).then_some(name)
}
