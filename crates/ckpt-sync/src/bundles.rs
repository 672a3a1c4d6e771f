//! Entries that the janitor of a remote has emptied. Their content is in a bundle of the remote, and is read from there: an
//! exchange sees no difference.

use std::collections::BTreeSet;

use super::error::{Error, Result};
use super::exchange::Exchange;
use super::key::{Key, ObjectName};
use super::retry::{Fetched, Names, check};
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store::{BadBundle, Bundle, BundleName, Disk, MAX_BUNDLE_BYTES};

/// The bundles of a remote that were read, so that none is read twice.
#[derive(Default)]
pub(super) struct Bundles(Vec<RemoteBundle>);

struct RemoteBundle {
    name: BundleName,
    key: Key,
    bytes: Vec<u8>,
    /// The entries that were taken from it.
    taken: BTreeSet<u64>,
}

impl<D: Disk> Exchange<'_, D> {
    /// Reads and checks entries of a workflow, those that were emptied from the bundles that hold them.
    pub(super) fn fetch(
        &mut self,
        workflow: &WorkflowId,
        wanted: &[ObjectName],
        names: &Names,
        bundles: &mut Bundles,
    ) -> Result<Vec<(ObjectName, Fetched)>> {
        let mut fetched = self.remote.fetch(workflow, wanted)?;
        let mut emptied: BTreeSet<u64> = fetched.iter().filter_map(emptied).collect();
        if emptied.is_empty() {
            return Ok(fetched);
        }
        for archived in names.keys() {
            let ObjectName::Archive(text) = archived else { continue };
            let Some(name) = BundleName::parse(text) else { continue };
            if emptied.range(name.first..=name.last).next().is_none() {
                continue;
            }
            let Some(bundle) = self.bundle(&name, archived.key(workflow), bundles)? else { continue };
            let found = bundle.entries(workflow, &emptied).map_err(|why| bundle.damaged(why))?;
            for (seq, bytes) in found {
                let main = ObjectName::Main(seq);
                let key = main.key(workflow);
                let entry = check(workflow, &main, bytes).map_err(|why| Error::Damaged { key, why })?;
                // What stands beside the main line was never on it: there is a filler.
                if let Fetched::Entry(links, _) = &entry
                    && names.contains_key(&ObjectName::side(seq, &links.sha256))
                {
                    continue;
                }
                emptied.remove(&seq);
                bundle.taken.insert(seq);
                if let Some(place) = fetched.iter_mut().find(|(name, _)| *name == main) {
                    place.1 = entry;
                }
            }
        }
        Ok(fetched)
    }

    fn bundle<'b>(
        &mut self,
        name: &BundleName,
        key: Key,
        bundles: &'b mut Bundles,
    ) -> Result<Option<&'b mut RemoteBundle>> {
        let known = bundles.0.iter().position(|bundle| bundle.name == *name);
        let place = match known {
            Some(place) => place,
            None => {
                let Some(bytes) = self.remote.get(&key, MAX_BUNDLE_BYTES)? else { return Ok(None) };
                bundles.0.push(RemoteBundle { name: name.clone(), key, bytes, taken: BTreeSet::new() });
                bundles.0.len() - 1
            }
        };
        Ok(bundles.0.get_mut(place))
    }

    /// Adds the bundles to the archive of this store that entries were taken from, and archives these entries as they are on
    /// the remote. A bundle that holds something else than the main line of this store is not added: its entries stay live,
    /// or beside the main line.
    pub(super) fn adopt_bundles(&self, workflow: &WorkflowId, bundles: &Bundles) -> Result<()> {
        for RemoteBundle { name, key: _, bytes, taken } in bundles.0.iter().filter(|b| !b.taken.is_empty()) {
            self.store.adopt_bundle(workflow, name, bytes, taken, self.save_id)?;
        }
        Ok(())
    }
}

impl RemoteBundle {
    /// Reads the entries of these numbers, and checks all of the bundle: a remote is not trusted.
    fn entries(&self, workflow: &WorkflowId, wanted: &BTreeSet<u64>) -> Result<Vec<(u64, Vec<u8>)>, BadBundle> {
        let mut bundle = open(workflow, &self.name, &self.bytes)?;
        let mut found = Vec::new();
        while let Some((entry, bytes)) = bundle.next_file()? {
            if wanted.contains(&entry.seq) {
                found.push((entry.seq, bytes));
            }
        }
        Ok(found)
    }

    fn damaged(&self, why: BadBundle) -> Error {
        Error::DamagedBundle { key: self.key.clone(), why }
    }
}

/// Opens a bundle, which must be the one that its name says.
pub(super) fn open<'b>(workflow: &WorkflowId, name: &BundleName, bytes: &'b [u8]) -> Result<Bundle<'b>, BadBundle> {
    let bundle = Bundle::open(bytes)?;
    let manifest = bundle.manifest();
    if manifest.name() != *name || manifest.workflow != *workflow {
        let found = format!("{}/{}", manifest.workflow, manifest.name());
        return Err(BadBundle::Misplaced { found });
    }
    Ok(bundle)
}

fn emptied((name, fetched): &(ObjectName, Fetched)) -> Option<u64> {
    match (name, fetched) {
        (ObjectName::Main(seq), Fetched::Empty) => Some(*seq),
        _ => None,
    }
}
