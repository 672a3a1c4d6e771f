//! Gathering the facts that a cleanup is planned by. Nothing here writes.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use super::archive::Archive;
use super::batches::{ScanProgress, in_batches};
use super::disk::Disk;
use super::error::Result;
use super::layout::{self, ARCHIVE, EntryName, OBJECTS, UNDO, WORKFLOWS};
use super::open::Store;
use super::workflow::{Entry, Workflow};
use ckpt_model::format::{Header, Unusable};
use ckpt_model::retention::{
    BundleFacts, CheckpointDetails, CheckpointFacts, HeadFacts, Snapshot, StoreDirectory, TemporaryFile, WorkflowFacts,
};
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Gathers the facts about every workflow, and the temporary files. All of them are read from the files of the
    /// workflows, never from the index: content is removed by them.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is listed as skipped.
    pub fn cleanup_facts(&self, progress: &mut dyn FnMut(&ScanProgress)) -> Result<Snapshot> {
        let mut ids = self.workflow_ids()?;
        ids.sort();
        let mut snapshot = Snapshot::default();
        if !ids.is_empty() {
            self.find_temporary(&StoreDirectory::Root, &mut snapshot.temporary_files)?;
            // Nothing depends on the undo records, and `verify` reports what is wrong with them.
            let _ = self.find_temporary(&StoreDirectory::Undo, &mut snapshot.temporary_files);
            self.find_temporary(&StoreDirectory::Objects, &mut snapshot.temporary_files)?;
            for shard in self.shards()? {
                self.find_temporary(&StoreDirectory::Shard(shard), &mut snapshot.temporary_files)?;
            }
        }
        let [workflows, archives] = [self.open_workflows()?, self.open_below(&[self.name(), ARCHIVE])?];
        let gather = |id: &WorkflowId| -> Result<_> {
            let mut temporary_files = Vec::new();
            let archive = self.archive_in(archives.as_ref(), id)?;
            let bundles = archive.bundle_facts()?;
            if archive.dir().is_some() {
                self.find_temporary(&StoreDirectory::Archive(id.clone()), &mut temporary_files)?;
            }
            let workflow = self.workflow_in(workflows.as_ref(), id)?;
            let (mut numbers, mut staged) = (BTreeSet::new(), BTreeSet::new());
            workflow.list(|name| match EntryName::parse(name) {
                EntryName::Number(seq) => drop(numbers.insert(seq)),
                EntryName::Staged => drop(staged.insert(name.to_owned())),
                EntryName::KeyMarker | EntryName::Unknown => {}
            })?;
            if let Some(dir) = workflow.dir() {
                let directory = StoreDirectory::Workflow(id.clone());
                self.stat_temporary(dir, &directory, staged, &mut temporary_files)?;
            }
            Ok((workflow.facts(numbers, bundles)?, temporary_files))
        };
        let mut scanned = ScanProgress { done: 0, total: ids.len() };
        in_batches(&ids, gather, |id, gathered| {
            scanned.done += 1;
            progress(&scanned);
            match gathered {
                Ok((facts, temporary_files)) => {
                    snapshot.workflows.extend(facts);
                    snapshot.temporary_files.extend(temporary_files);
                }
                Err(error) => snapshot.skipped.push((self.workflow_dir(id), error.to_string())),
            }
        });
        Ok(snapshot)
    }
}

impl<D: Disk> Store<D> {
    /// Gathers the facts about one workflow; none if nothing was ever saved there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn workflow_facts(&self, id: &WorkflowId) -> Result<Option<WorkflowFacts>> {
        let bundles = self.archive_of(id)?.bundle_facts()?;
        let workflow = self.workflow(id)?;
        workflow.facts(workflow.numbers()?, bundles)
    }

    /// Opens a directory that may have temporary files in it.
    pub(super) fn open_directory(&self, directory: &StoreDirectory) -> Result<Option<D::Dir>> {
        match directory {
            StoreDirectory::Root => self.open_below(&[self.name()]),
            StoreDirectory::Undo => self.open_below(&[self.name(), UNDO]),
            StoreDirectory::Workflow(id) => self.open_below(&[self.name(), WORKFLOWS, &id.directory()]),
            StoreDirectory::Archive(id) => self.open_below(&[self.name(), ARCHIVE, &id.directory()]),
            StoreDirectory::Objects => self.open_below(&[self.name(), OBJECTS]),
            StoreDirectory::Shard(shard) => self.open_shard(shard),
        }
    }

    pub(super) fn directory_path(&self, directory: &StoreDirectory) -> PathBuf {
        match directory {
            StoreDirectory::Root => self.root(),
            StoreDirectory::Undo => self.root().join(UNDO),
            StoreDirectory::Workflow(id) => self.workflow_dir(id),
            StoreDirectory::Archive(id) => self.archive_dir(id),
            StoreDirectory::Objects => self.root().join(OBJECTS),
            StoreDirectory::Shard(shard) => self.root().join(OBJECTS).join(shard),
        }
    }

    /// Finds the temporary files in a directory.
    fn find_temporary(&self, directory: &StoreDirectory, found: &mut Vec<TemporaryFile>) -> Result<()> {
        let Some(dir) = self.open_directory(directory)? else { return Ok(()) };
        let path = self.directory_path(directory);
        let mut names = BTreeSet::new();
        let listed = self.disk().list(&dir, &mut |name| {
            if layout::is_staged(name) {
                names.insert(name.to_owned());
            }
        });
        listed.map_err(|error| self.failed("list", &path, error))?;
        self.stat_temporary(&dir, directory, names, found)
    }

    /// Adds the temporary files that have these names in a directory.
    fn stat_temporary(
        &self,
        dir: &D::Dir,
        directory: &StoreDirectory,
        names: BTreeSet<String>,
        found: &mut Vec<TemporaryFile>,
    ) -> Result<()> {
        for name in names {
            match self.disk().stat(dir, &name) {
                Ok(stat) => {
                    let modified = Timestamp::from(stat.modified);
                    found.push(TemporaryFile { directory: directory.clone(), name, modified });
                }
                // Its writer has finished.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(self.failed("look at", &self.directory_path(directory).join(&name), error));
                }
            }
        }
        Ok(())
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Gathers the facts, where `numbers` are those in a list of the directory; none if nothing was ever saved there.
    fn facts(&self, numbers: BTreeSet<u64>, bundles: Vec<BundleFacts>) -> Result<Option<WorkflowFacts>> {
        let archived = bundles.first().map(|bundle| bundle.name.last);
        let Some(head) = numbers.last().copied().max(archived) else { return Ok(None) };
        let rows = self.scan_entries(numbers, head)?;
        let mut facts = WorkflowFacts {
            workflow: self.id.clone(),
            newest: 0,
            head: HeadFacts::Unreadable,
            run: 1,
            // The facts of all workflows are in memory at once.
            checkpoints: Vec::with_capacity(rows.len()),
            bundles,
        };
        for row in rows {
            facts.newest = row.handle.seq;
            let details = match row.entry {
                Ok(Entry::Checkpoint(header)) => {
                    facts.run = header.first_of_run();
                    facts.head = HeadFacts::Checkpoint(header.status);
                    Some(details(header))
                }
                Ok(Entry::Seal(header)) => {
                    facts.run = header.first_of_run();
                    facts.head = HeadFacts::Seal(header.status, header.saved_at);
                    continue;
                }
                Ok(Entry::Tombstone) | Err(Unusable::Missing) => {
                    facts.head = HeadFacts::Unreadable;
                    continue;
                }
                // It may be undamaged: without its content no rule can be applied.
                Err(why @ Unusable::Unreadable(_)) => return Err(self.damaged(row.handle.seq, why)),
                Err(_) => {
                    facts.head = HeadFacts::Unreadable;
                    None
                }
            };
            facts.checkpoints.push(CheckpointFacts { seq: row.handle.seq, bytes: row.bytes, details });
        }
        Ok((facts.newest > 0).then_some(facts))
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Returns the bundles, the highest numbers first.
    fn bundle_facts(&self) -> Result<Vec<BundleFacts>> {
        let mut bundles = Vec::new();
        for name in self.bundles()? {
            let bytes = self.stat(&name.to_string()).map_or(0, |stat| stat.file_bytes());
            bundles.push(BundleFacts { bytes, name });
        }
        Ok(bundles)
    }
}

fn details(header: Header) -> CheckpointDetails {
    CheckpointDetails {
        run: header.first_of_run(),
        saved_at: header.saved_at,
        trigger: header.trigger,
        phase: header.phase,
        pinned: header.pinned,
    }
}
