//! The janitor of a remote: checkpoints that a bundle of the same remote holds are emptied.
//!
//! Only this needs the right to replace objects. The order makes sure that nothing is lost, whatever fails in between:
//!
//! 1. The checkpoints of the remote are read and compared with those in a bundle of this store. Others stay.
//! 2. The bundle is created beside them, unless it is there.
//! 3. It is read back to its end, and every file in it is hashed.
//! 4. Each checkpoint becomes an empty object, so that its number stays taken.
//!
//! The newest checkpoint of the main line always stays. So do side checkpoints: an archive holds the main line of its store, and
//! no bundle what others saved beside it. Only a bundle whose checkpoints the remote has all had is used: what is in it and not
//! beside the main line was on it, so that an empty object can be told from a filler.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::bundles::open;
use super::error::{Error, Result};
use super::exchange::{CHUNK, Exchange};
use super::key::ObjectName;
use super::remote::NewObject;
use super::retry::{Creation, Names};
use ckpt_model::format::MAX_FILE_BYTES;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store::{BundleName, Disk, MAX_BUNDLE_BYTES, ManifestEntry};

/// A bundle of this store, and the checkpoints of the remote that it can stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemoteCleanup {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The name of the bundle.
    pub bundle: String,
    /// True if the remote does not have the bundle yet.
    pub is_new: bool,
    /// The checkpoints whose content would leave the remote.
    pub checkpoints: Vec<Handle>,
    /// Their size in bytes.
    pub bytes: u64,
}

/// The result of a cleanup of a remote for one bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Emptied {
    /// The checkpoints that are empty now.
    pub checkpoints: Vec<Handle>,
    /// Their size in bytes before.
    pub bytes: u64,
    /// The checkpoints that were left: the remote has others under these numbers, or they are empty already.
    pub left: Vec<Handle>,
}

impl<D: Disk> Exchange<'_, D> {
    /// Plans to empty the checkpoints of a workflow that the archive of this store holds, by their names and sizes.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn plan_cleanup(&self, workflow: &WorkflowId, names: &Names) -> Result<Vec<RemoteCleanup>> {
        let main = names.iter().filter_map(|(name, size)| match name {
            ObjectName::Main(seq) if *size > 0 => Some((*seq, *size)),
            _ => None,
        });
        let mut left: BTreeMap<u64, u64> = main.collect();
        // The newest one tells where the main line goes on.
        left.pop_last();
        let mut plan = Vec::new();
        let pushed = self.ledger(workflow)?.pushed;
        for name in self.store.bundles(workflow)?.into_iter().filter(|name| name.last <= pushed) {
            if left.range(name.first..=name.last).next().is_none() {
                continue;
            }
            let Some((_, manifest)) = self.store.read_bundle(workflow, &name)? else { continue };
            let mut entries: Vec<&ManifestEntry> = manifest.entries.iter().collect();
            entries.retain(|entry| left.get(&entry.seq) == Some(&entry.bytes));
            entries.sort_by_key(|entry| entry.seq);
            if entries.is_empty() {
                continue;
            }
            for entry in &entries {
                left.remove(&entry.seq);
            }
            plan.push(RemoteCleanup {
                workflow: workflow.clone(),
                bundle: name.to_string(),
                is_new: !names.contains_key(&ObjectName::Archive(name.to_string())),
                checkpoints: entries.iter().map(|entry| Handle::new(workflow, entry.seq)).collect(),
                bytes: entries.iter().map(|entry| entry.bytes).sum(),
            });
        }
        Ok(plan)
    }

    /// Returns true if the archive of a workflow holds checkpoints that the remote is not known to have: they are to be pushed
    /// before anything is emptied for them.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn has_unpushed_bundle(&self, workflow: &WorkflowId) -> Result<bool> {
        let pushed = self.ledger(workflow)?.pushed;
        Ok(self.store.bundles(workflow)?.iter().any(|name| name.last > pushed))
    }

    /// Carries out a part of the plan; see the module for the order of the steps.
    ///
    /// # Errors
    /// The remote or the store fails. What is empty then is in a bundle of the remote.
    pub fn clean_up(&mut self, part: &RemoteCleanup) -> Result<Emptied> {
        let mut emptied = Emptied::default();
        let workflow = &part.workflow;
        let Some(name) = BundleName::parse(&part.bundle) else { return Ok(emptied) };
        let Some((bytes, manifest)) = self.store.read_bundle(workflow, &name)? else { return Ok(emptied) };
        let mut equal: Vec<&ManifestEntry> = Vec::new();
        for handle in &part.checkpoints {
            let found = self.remote.get(&ObjectName::Main(handle.seq).key(workflow), MAX_FILE_BYTES)?;
            let entry = manifest.entry(handle.seq);
            match entry.filter(|entry| found.is_some_and(|found| ManifestEntry::of(handle.seq, &found) == **entry)) {
                Some(entry) => equal.push(entry),
                None => emptied.left.push(handle.clone()),
            }
        }
        if equal.is_empty() {
            return Ok(emptied);
        }
        let archived = ObjectName::Archive(part.bundle.clone());
        let key = archived.key(workflow);
        if part.is_new {
            self.refuse_secrets(workflow, &name, &bytes, &equal)?;
            let object = NewObject { key: key.clone(), bytes };
            if let Creation::Taken(_) = self.remote.create(&[object])? {
                return Err(Error::OtherBundle { key });
            }
        }
        let damaged = |why| Error::DamagedBundle { key: key.clone(), why };
        let found = self.remote.get(&key, MAX_BUNDLE_BYTES)?.unwrap_or_default();
        let on_remote = open(workflow, &name, &found).and_then(|bundle| bundle.verify(&mut || {}));
        let on_remote = on_remote.map_err(damaged)?;
        let (held, other): (Vec<&ManifestEntry>, Vec<&ManifestEntry>) =
            equal.into_iter().partition(|entry| on_remote.entry(entry.seq) == Some(*entry));
        emptied.left.extend(other.iter().map(|entry| Handle::new(workflow, entry.seq)));
        for chunk in held.chunks(CHUNK) {
            let keys: Vec<_> = chunk.iter().map(|entry| ObjectName::Main(entry.seq).key(workflow)).collect();
            self.remote.empty(&keys)?;
            emptied.checkpoints.extend(chunk.iter().map(|entry| Handle::new(workflow, entry.seq)));
            emptied.bytes += chunk.iter().map(|entry| entry.bytes).sum::<u64>();
        }
        Ok(emptied)
    }

    /// Refuses a bundle with a secret in a checkpoint that the remote does not have.
    fn refuse_secrets(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        bytes: &[u8],
        on_remote: &[&ManifestEntry],
    ) -> Result<()> {
        let known: BTreeSet<u64> = on_remote.iter().map(|entry| entry.seq).collect();
        let damaged = |why| Error::DamagedBundle { key: ObjectName::Archive(name.to_string()).key(workflow), why };
        let mut bundle = open(workflow, name, bytes).map_err(damaged)?;
        while let Some((entry, file)) = bundle.next_file().map_err(damaged)? {
            if !known.contains(&entry.seq) {
                self.refuse_secret(&Handle::new(workflow, entry.seq), &file)?;
            }
        }
        Ok(())
    }
}
