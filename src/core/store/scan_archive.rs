//! Looking over what the archive of a workflow holds.

use std::collections::BTreeMap;

use super::bundles::Visited;
use super::disk::Disk;
use super::error::{Error, Result};
use super::layout::ARCHIVE;
use super::open::Store;
use super::read::Entry;
use super::scan::{CheckpointRow, Live, WorkflowRow};
use crate::core::cause::Cause;
use crate::core::format::{self, Header, Unusable};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// The row of a workflow whose files were removed by hand, by what its archive holds; none if there is none.
    pub(super) fn scan_archived(&self, id: &WorkflowId) -> Option<WorkflowRow> {
        let newest = Handle::new(id, self.newest_known(None, id).ok()??);
        let header = self.archived_header(&newest).map_err(unusable);
        Some(WorkflowRow { newest, header, live: Some(Live::default()), archived: true })
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

    pub(super) fn archived_header(&self, handle: &Handle) -> Result<Header> {
        let (_, bytes) = self.find_archived(handle)?;
        format::decode_header(&bytes).map_err(|why| self.damaged(handle, why))
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
        other => Unusable::Unreadable(Cause::new(other)),
    }
}
