//! Looking over workflows of which nothing is left but their bundles.

use std::collections::{BTreeMap, BTreeSet};

use super::bundles::Visited;
use super::disk::Disk;
use super::layout::ARCHIVE;
use super::open::Store;
use super::read::Entry;
use super::scan::{CheckpointRow, Live, WorkflowRow};
use crate::core::error::{Error, Result};
use crate::core::format::{self, Header, Unusable};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Looks at the workflows that are only in the archive. [`scan`](Self::scan) leaves them out, because each takes
    /// the reading of a bundle.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a row that says so.
    pub fn scan_archive(&self) -> Result<Vec<WorkflowRow>> {
        let mut rows = Vec::new();
        for id in self.archived_ids()? {
            let live = match self.open_workflow(&id)? {
                Some(dir) => self.newest_live(&dir, &id).unwrap_or_default(),
                None => None,
            };
            if let (None, Some(seq)) = (live, self.newest_archived(&id)?) {
                let newest = Handle::new(&id, seq);
                let header = self.archived_header(&newest).map_err(unusable);
                rows.push(WorkflowRow { newest, header, live: Some(Live::default()), archived: true });
            }
        }
        Ok(rows)
    }

    /// The ids of the workflows that are only in the archive, as far as that can be told without reading a bundle.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn compacted_workflows(&self) -> Result<Vec<WorkflowId>> {
        let mut ids = self.archived_ids()?;
        if ids.is_empty() {
            return Ok(ids);
        }
        let live: BTreeSet<WorkflowId> = self.workflow_ids()?.into_iter().collect();
        ids.retain(|id| !live.contains(id));
        Ok(ids)
    }

    /// Every number that the bundles of a workflow hold, oldest first. What cannot be read is a row that says so.
    pub(super) fn scan_bundles(&self, workflow: &WorkflowId) -> Result<Vec<CheckpointRow>> {
        let mut rows = self.scan_manifests(workflow)?;
        if let Some(mut last) = rows.last_entry()
            && last.get().entry.is_ok()
            && let Ok(header) = self.archived_header(&last.get().handle)
            && header.sealed.is_some()
        {
            last.get_mut().entry = Ok(Entry::Sealed(header));
        }
        Ok(rows.into_values().collect())
    }

    /// The numbers that the bundles of a workflow list.
    pub(super) fn scan_manifests(&self, workflow: &WorkflowId) -> Result<BTreeMap<u64, CheckpointRow>> {
        let mut rows = BTreeMap::new();
        self.each_bundle(workflow, &|_| true, &mut |name| {
            let listed = self.with_bundle(workflow, name, &mut |bundle| Ok(bundle.manifest().clone()));
            let (numbers, entry) = match listed {
                Ok(Some(manifest)) => (manifest.entries.iter().map(|entry| entry.seq).collect(), None),
                Ok(None) => return Ok(Visited::Vanished),
                Err(error @ Error::DamagedBundle { .. }) => (vec![name.last], Some(unusable(error))),
                Err(error) => return Err(error),
            };
            for seq in numbers {
                let entry = entry.clone().map_or(Ok(Entry::Tombstone), Err);
                let row = CheckpointRow { handle: Handle::new(workflow, seq), entry, bytes: 0 };
                rows.entry(seq).or_insert(row);
            }
            Ok(Visited::Read)
        })?;
        Ok(rows)
    }

    /// What a list shows of an archived workflow: what its seal says, or, without a seal, its last checkpoint.
    fn archived_header(&self, newest: &Handle) -> Result<Header> {
        let bytes = match self.find_archived(newest) {
            Err(Error::Archived { .. }) => {
                self.find_archived(&Handle::new(&newest.workflow, newest.seq.saturating_sub(1)))?.1
            }
            found => found?.1,
        };
        format::decode_header(&bytes).map_err(|why| self.damaged(newest, why))
    }

    pub(super) fn archived_ids(&self) -> Result<Vec<WorkflowId>> {
        match self.open_archives()? {
            Some(archives) => self.ids_in(&archives, ARCHIVE),
            None => Ok(Vec::new()),
        }
    }
}

fn unusable(error: Error) -> Unusable {
    match error {
        Error::Damaged { why, .. } => why,
        other => Unusable::Unreadable(other.to_string()),
    }
}
