//! The two sides of a plan: what this store has of a workflow, and what the remote has.

use std::collections::{BTreeMap, BTreeSet};

use super::bundles::Bundles;
use super::error::{Error, Result};
use super::exchange::{CHUNK, Exchange};
use super::key::ObjectName;
use super::ledger::known;
use super::plan::{LocalView, Node, RemoteView, Slot};
use super::retry::{Fetched, Names};
use ckpt_model::format::{self, Links};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store as store;
use ckpt_store::{Disk, Ledger};

impl<D: Disk> Exchange<'_, D> {
    /// Looks at what the remote has where this store has something to push: whose it is, and the newest of the main line.
    pub(super) fn gather_remote(
        &mut self,
        workflow: &WorkflowId,
        local: &LocalView,
        ledger: &Ledger,
        names: &Names,
    ) -> Result<RemoteView> {
        let mut remote = known(ledger);
        while let Some(next) = remote.taken.checked_add(1)
            && names.contains_key(&ObjectName::Main(next))
        {
            remote.taken = next;
        }
        let mut wanted: BTreeSet<ObjectName> = BTreeSet::new();
        let mut is_topped = false;
        for (name, size) in names.iter().rev() {
            let ObjectName::Main(seq) = name else { continue };
            let is_ours = *seq > local.pushed && local.main.contains_key(seq);
            let is_top = !is_topped && *size > 0 && *seq > remote.top().map_or(0, |top| top.seq);
            is_topped |= *size > 0;
            if *size == 0 && !is_ours {
                remote.main.insert(*seq, Slot::Empty);
            } else if is_ours || is_top || *seq > remote.taken {
                wanted.insert(name.clone());
            }
        }
        for slot in local.main.values() {
            if let Slot::Node(node) = slot {
                wanted.extend(Some(ObjectName::side(node.seq, &node.digest)).filter(|side| names.contains_key(side)));
            }
        }
        let wanted: Vec<ObjectName> = wanted.into_iter().collect();
        let mut bundles = Bundles::default();
        for chunk in wanted.chunks(CHUNK) {
            for (name, fetched) in self.fetch(workflow, chunk, names, &mut bundles)? {
                remote.add(&name, &fetched);
            }
        }
        Ok(remote)
    }

    /// Reads what this store has of a workflow, from a number upwards. If numbers below a merge of heads were not filled, does that
    /// first.
    pub(super) fn gather_local(&self, workflow: &WorkflowId, from: u64, pushed: u64) -> Result<LocalView> {
        let local = self.read_local(workflow, from, pushed);
        let is_missing = matches!(local, Err(Error::Store(store::Error::Archived { deleted: None, .. })));
        if is_missing && !self.dry_run && self.store.fill_below_merges(workflow, self.save_id)? {
            return self.read_local(workflow, from, pushed);
        }
        local
    }

    fn read_local(&self, workflow: &WorkflowId, from: u64, pushed: u64) -> Result<LocalView> {
        let sides = self.store.sides(workflow)?;
        let head = self.store.head_number(workflow)?.unwrap_or_default();
        let mut main = BTreeMap::new();
        let mut has_empty = false;
        for seq in (1..=head).rev() {
            let slot = self.slot(workflow, seq)?;
            let is_node = matches!(slot, Slot::Node(_));
            if !is_node && !has_empty {
                has_empty = true;
                self.store.check_free_below(&Handle::new(workflow, head))?;
            }
            main.insert(seq, slot);
            if seq <= from && is_node {
                break;
            }
        }
        Ok(LocalView { main, sides, pushed })
    }

    fn slot(&self, workflow: &WorkflowId, seq: u64) -> Result<Slot> {
        let handle = Handle::new(workflow, seq);
        let bytes = match self.store.load_bytes(&handle) {
            Ok((bytes, _)) => bytes,
            Err(store::Error::Archived { deleted: Some(_), .. }) => return Ok(Slot::Empty),
            Err(error) => return Err(error.into()),
        };
        match format::decode_part::<Links>(&bytes) {
            Ok(links) => Ok(Slot::Node(Node::from(&links))),
            Err(why) => {
                let path = self.store.checkpoint_path(&handle);
                Err(store::Error::Damaged { handle, path, why, before: None }.into())
            }
        }
    }
}

impl RemoteView {
    pub(super) fn add(&mut self, name: &ObjectName, fetched: &Fetched) {
        match (name, fetched) {
            (ObjectName::Main(seq), Fetched::Empty) => drop(self.main.insert(*seq, Slot::Empty)),
            (ObjectName::Main(seq), Fetched::Entry(links, _)) => {
                self.main.insert(*seq, Slot::Node(Node::from(&**links)));
            }
            (ObjectName::Side(..), Fetched::Entry(links, _)) => self.sides.push(Node::from(&**links)),
            _ => {}
        }
    }
}
