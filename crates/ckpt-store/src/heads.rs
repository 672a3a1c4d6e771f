//! The heads of a workflow that was continued in several stores: the checkpoints that no other one continues.
//!
//! They follow from what checkpoints say they continue, never from clocks. The head of the main line is the newest entry;
//! the others are side checkpoints, or the rare entry of the main line that a merge has skipped.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::bundled_files::BundledFiles;
use super::disk::Disk;
use super::error::Result;
use super::layout::SIDES;
use super::lineage::Relation;
use super::open::Store;
use ckpt_model::digest::Digest;
use ckpt_model::format::{self, Links};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Returns the heads beside that of the main line, in the order of their numbers. Without side checkpoints this is one
    /// attempt to open a directory.
    ///
    /// # Errors
    /// The store cannot be read, or a side checkpoint is damaged.
    pub fn other_heads(&self, workflow: &WorkflowId) -> Result<Vec<Handle>> {
        let sides = self.sides(workflow)?;
        let Some((lowest, _)) = sides.first() else { return Ok(Vec::new()) };
        if self.are_settled(workflow, &sides) {
            return Ok(Vec::new());
        }
        let mut continued: HashSet<Digest> = HashSet::new();
        let mut candidates: Vec<(Handle, Digest)> = Vec::new();
        for (seq, digest) in &sides {
            let handle = Handle::side(workflow, *seq, *digest);
            let links = self.side_links(&handle, *digest)?;
            continued.extend(links.parents());
            candidates.push((handle, links.sha256));
        }
        for links in self.main_links(workflow, *lowest)? {
            continued.extend(links.parents());
            candidates.push((Handle::new(workflow, links.seq), links.sha256));
        }
        let head = self.head_number(workflow)?.unwrap_or_default();
        let taken: BTreeSet<u64> = candidates.iter().filter(|(h, _)| h.side.is_none()).map(|(h, _)| h.seq).collect();
        let is_head = |(handle, digest): &(Handle, Digest)| {
            // What continues an entry of the main line may have been archived, so only its neighbour tells.
            let is_main = handle.side.is_none();
            let passed_over = is_main && handle.seq < head && taken.contains(&(handle.seq + 1));
            !continued.contains(digest) && (!is_main || passed_over)
        };
        let heads: Vec<Handle> = candidates.into_iter().filter(is_head).map(|(handle, _)| handle).collect();
        if heads.is_empty() {
            self.mark_settled(workflow, &sides);
        }
        Ok(heads)
    }

    /// Returns the workflows that were continued in several places. Without side checkpoints this is one attempt to open a
    /// directory.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn forked(&self) -> Result<Vec<WorkflowId>> {
        let Some(dir) = self.open_below(&[self.name(), SIDES])? else { return Ok(Vec::new()) };
        let names = self.names(&dir, &self.root().join(SIDES))?;
        let mut forked = Vec::new();
        for workflow in names.iter().filter_map(|name| WorkflowId::from_directory(name)) {
            if !self.other_heads(&workflow)?.is_empty() {
                forked.push(workflow);
            }
        }
        Ok(forked)
    }

    /// Finds the newest checkpoint of a workflow that two of its checkpoints both continue.
    pub(super) fn relation_within(&self, ours: &Handle, theirs: &Handle) -> Result<Relation> {
        let workflow = &ours.workflow;
        let mut known: HashMap<Digest, (Handle, Vec<Digest>)> = HashMap::new();
        for (seq, digest) in self.sides(workflow)? {
            let handle = Handle::side(workflow, seq, digest);
            let links = self.side_links(&handle, digest)?;
            known.insert(links.sha256, (handle, links.parents().collect()));
        }
        for links in self.main_links(workflow, 1)? {
            known.insert(links.sha256, (Handle::new(workflow, links.seq), links.parents().collect()));
        }
        let ancestors = |from: &Handle| {
            let mut found = BTreeSet::new();
            let mut waiting: Vec<Digest> =
                known.iter().filter(|(_, (handle, _))| handle == from).map(|(digest, _)| *digest).collect();
            while let Some(digest) = waiting.pop() {
                if let Some((handle, parents)) = known.get(&digest)
                    && found.insert(handle)
                {
                    waiting.extend(parents);
                }
            }
            found
        };
        let ours = ancestors(ours);
        if ours.contains(theirs) {
            return Ok(Relation::Continues);
        }
        let common = ancestors(theirs).into_iter().filter(|handle| ours.contains(handle));
        let newest = common.max_by_key(|handle| (handle.seq, handle.side));
        Ok(newest.map_or(Relation::Unrelated, |origin| Relation::Common(origin.clone())))
    }

    /// Reads how the entries of the main line are linked, from a number upwards, also those in bundles: a merge may be archived.
    /// Checkpoints that cannot be read are left out.
    fn main_links(&self, workflow: &WorkflowId, from: u64) -> Result<Vec<Links>> {
        let entries = self.workflow(workflow)?;
        let numbers = entries.numbers()?;
        let mut bundled = BundledFiles::new(entries.archive()?);
        let mut read = |seq: &u64| {
            let live = entries.read_bytes(*seq).ok()?;
            let bytes = if live.is_empty() { bundled.take(*seq, numbers.len()).ok()?.1 } else { live };
            format::decode_part::<Links>(&bytes).ok()
        };
        let mut links: Vec<Links> = numbers.range(from..).rev().filter_map(&mut read).collect();
        links.reverse();
        Ok(links)
    }
}
