//! Carrying out the plan: between one store and one remote, workflow by workflow.
//!
//! Whatever is interrupted continues the next time: an entry is added to a store or created on the remote whole or not at
//! all, in an order in which nothing comes before what it continues, and the ledger is written last.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::error::{Error, Result};
use super::key::ObjectName;
use super::plan::{LocalView, Node, Place, Pull, Push, RemoteView, Slot, plan_pull, plan_push};
use super::remote::NewObject;
use super::retry::{Creation, Fetched, Names, Patient};
use crate::core::digest::Digest;
use crate::core::format::{self, Links};
use crate::core::redact::find_secrets;
use crate::core::selector::Handle;
use crate::core::store::{self, Disk, Ledger, Store};
use crate::core::workflow_id::WorkflowId;

/// How often a plan is made again because a name was taken meanwhile.
const MAX_ATTEMPTS: u32 = 16;
/// The most entries, and bytes, that are read or created at a time.
const CHUNK: usize = 128;
const CHUNK_BYTES: u64 = 16 << 20;

/// One store and one remote.
pub struct Exchange<'a, D: Disk> {
    pub(super) store: &'a Store<D>,
    pub(super) remote: Patient<'a>,
    /// The digest of the URL of the remote.
    identity: Digest,
    /// Names the temporary files.
    pub(super) save_id: &'a str,
    /// Decide, and carry out nothing.
    dry_run: bool,
    /// Push secrets as they are.
    pub(super) allow_secrets: bool,
}

/// What a push did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The entries that were created on the main line.
    pub main: u64,
    /// The side checkpoints that were created.
    pub sides: u64,
    /// The checkpoints of the remote that this store was seen to lack.
    pub behind: u64,
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claimed {
    /// The remote has the entry.
    Ours,
    /// Another has its number; what the remote has was pulled.
    Taken,
    /// The entry does not continue the main line of the remote.
    Not,
}

/// What a pull did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulled {
    /// The entries that continue the main line of this store.
    pub main: u64,
    /// The side checkpoints that were added.
    pub sides: u64,
}

impl<'a, D: Disk> Exchange<'a, D> {
    /// Prepares an exchange. `identity` is the digest of the URL of the remote.
    pub fn new(store: &'a Store<D>, remote: Patient<'a>, identity: Digest, save_id: &'a str) -> Self {
        Self { store, remote, identity, save_id, dry_run: false, allow_secrets: false }
    }

    /// Decides only.
    #[must_use]
    pub fn dry_run(self, dry_run: bool) -> Self {
        Self { dry_run, ..self }
    }

    /// Pushes secrets as they are.
    #[must_use]
    pub fn allow_secrets(self, allow_secrets: bool) -> Self {
        Self { allow_secrets, ..self }
    }

    /// Lists the objects of one workflow, or of all.
    ///
    /// # Errors
    /// The remote cannot be listed.
    pub fn names(&mut self, workflow: Option<&WorkflowId>) -> Result<BTreeMap<WorkflowId, Names>> {
        self.remote.names(workflow)
    }

    /// Adds what the remote has of a workflow and this store lacks.
    ///
    /// # Errors
    /// The remote or the store fails, or an object is damaged. What was added before stays.
    pub fn pull(&mut self, workflow: &WorkflowId, names: &Names) -> Result<Pulled> {
        let mut ledger = self.ledger(workflow)?;
        let before = ledger.clone();
        let mut pulled = Pulled::default();
        for chunk in chunks(&ledger, names) {
            let fetched = self.remote.fetch(workflow, &chunk)?;
            self.place(workflow, &ledger, &fetched, &mut pulled)?;
            if self.dry_run {
                continue;
            }
            note_pulled(&mut ledger, &fetched);
            self.note_shared(workflow, &mut ledger, &fetched)?;
            self.store.write_ledger(workflow, &ledger, self.save_id);
        }
        ledger.behind = 0;
        if ledger != before && !self.dry_run {
            self.store.write_ledger(workflow, &ledger, self.save_id);
        }
        Ok(pulled)
    }

    /// Records the entries of this store that were found on the remote.
    fn note_shared(
        &self,
        workflow: &WorkflowId,
        ledger: &mut Ledger,
        fetched: &[(ObjectName, Fetched)],
    ) -> Result<()> {
        let digest = |(_, fetched): &(ObjectName, Fetched)| match fetched {
            Fetched::Entry(links, _) => Some(links.sha256),
            Fetched::Empty => None,
        };
        let shared: HashSet<Digest> = fetched.iter().filter_map(digest).collect();
        let local = self.local(workflow, ledger.pushed + 1, 0)?;
        while let Some(slot) = local.main.get(&(ledger.pushed + 1)) {
            if matches!(slot, Slot::Node(node) if !shared.contains(&node.digest)) {
                break;
            }
            ledger.pushed += 1;
        }
        Ok(())
    }

    /// Adds fetched entries to the store. Decides again if a save was faster.
    fn place(
        &mut self,
        workflow: &WorkflowId,
        ledger: &Ledger,
        fetched: &[(ObjectName, Fetched)],
        pulled: &mut Pulled,
    ) -> Result<()> {
        let mut remote = known(ledger);
        let mut content: HashMap<Digest, (&Links, &[u8])> = HashMap::new();
        for (name, fetched) in fetched {
            if let Fetched::Entry(links, bytes) = fetched {
                content.insert(links.sha256, (&**links, bytes.as_slice()));
            }
            remote.add(name, fetched);
        }
        'again: for _ in 0..MAX_ATTEMPTS {
            let lowest = remote.nodes().map(|node| node.seq).min().unwrap_or(1);
            let local = self.local(workflow, lowest, 0)?;
            for Pull { node, to } in plan_pull(&local, &remote) {
                let Some((links, bytes)) = content.get(&node.digest) else { continue };
                if !self.dry_run {
                    self.pull_contents(bytes)?;
                }
                match to {
                    _ if self.dry_run => {}
                    Place::Main(head) => {
                        if !self.store.adopt(workflow, node.seq, bytes, head, self.save_id)? {
                            continue 'again;
                        }
                    }
                    Place::Side => {
                        self.store.add_side(workflow, links, bytes, self.save_id)?;
                    }
                }
                match to {
                    Place::Main(_) => pulled.main += 1,
                    Place::Side => pulled.sides += 1,
                }
            }
            return Ok(());
        }
        Err(Error::Contended { workflow: workflow.clone(), attempts: MAX_ATTEMPTS })
    }

    /// Creates on the remote what this store has of a workflow and the remote lacks. With a ledger, the remote is not
    /// listed unless a name turns out to be taken.
    ///
    /// # Errors
    /// The remote or the store fails. What was created before stays.
    pub fn push(&mut self, workflow: &WorkflowId, names: Option<&Names>) -> Result<Pushed> {
        let mut ledger = self.ledger(workflow)?;
        let head = self.store.head_number(workflow)?.unwrap_or_default();
        if names.is_none() && ledger.pushed >= head {
            return Ok(Pushed { behind: ledger.behind, ..Pushed::default() });
        }
        let mut listed = names.cloned();
        // A number that this store and the remote have both used may be ours or another's.
        let is_cold = ledger.main == 0 || ledger.pushed < ledger.main;
        for _ in 0..MAX_ATTEMPTS {
            let local = self.local(workflow, ledger.pushed.max(1), ledger.pushed)?;
            if listed.is_none() && is_cold {
                listed = Some(self.names(Some(workflow))?.remove(workflow).unwrap_or_default());
            }
            let remote = match &listed {
                Some(names) => self.look(workflow, &local, &ledger, names)?,
                None => known(&ledger),
            };
            if let Some(names) = &listed {
                ledger.behind = lacking(&local, &ledger, names);
            }
            let plan = plan_push(&local, &remote);
            if self.dry_run || self.create(workflow, &plan)? == Creation::Done {
                if !self.dry_run {
                    note_pushed(&mut ledger, &local, &remote, &plan);
                    self.store.write_ledger(workflow, &ledger, self.save_id);
                }
                let count = |is_counted: fn(&Push) -> bool| {
                    plan.iter().filter(|push| is_counted(push)).count() as u64
                };
                return Ok(Pushed {
                    main: count(|push| push.from.is_some() && matches!(push.name, ObjectName::Main(_))),
                    sides: count(|push| matches!(push.name, ObjectName::Side(..))),
                    behind: ledger.behind,
                });
            }
            listed = Some(self.names(Some(workflow))?.remove(workflow).unwrap_or_default());
        }
        Err(Error::Contended { workflow: workflow.clone(), attempts: MAX_ATTEMPTS })
    }

    /// Makes the store and the remote agree on a workflow, unless they are known to.
    pub(super) fn agree(&mut self, workflow: &WorkflowId) -> Result<()> {
        let ledger = self.ledger(workflow)?;
        let head = self.store.head_number(workflow)?.unwrap_or_default();
        if ledger.main > 0 && ledger.pushed == head && ledger.behind == 0 {
            return Ok(());
        }
        self.pull_newest(workflow)?;
        if self.store.head_number(workflow)?.is_some() {
            self.push(workflow, None)?;
        }
        Ok(())
    }

    fn pull_newest(&mut self, workflow: &WorkflowId) -> Result<Pulled> {
        let names = self.names(Some(workflow))?.remove(workflow).unwrap_or_default();
        self.pull(workflow, &names)
    }

    /// Creates an entry on the remote that continues its main line, before it is published in the store.
    pub(super) fn claim(&mut self, workflow: &WorkflowId, links: &Links, bytes: &[u8]) -> Result<Claimed> {
        let ledger = self.ledger(workflow)?;
        let continues_top = match ledger.top {
            Some((_, digest)) => links.parents().any(|parent| parent == digest),
            None => links.seq == 1,
        };
        if !continues_top || ledger.main + 1 != links.seq || ledger.pushed + 1 != links.seq {
            return Ok(Claimed::Not);
        }
        self.push_contents(&Handle::new(workflow, links.seq), bytes)?;
        let object = NewObject { key: ObjectName::Main(links.seq).key(workflow), bytes: bytes.to_vec() };
        match self.remote.create(&[object])? {
            Creation::Done => Ok(Claimed::Ours),
            Creation::Taken => {
                self.pull_newest(workflow)?;
                Ok(Claimed::Taken)
            }
        }
    }

    /// Records an entry that was claimed, and is now in the store.
    pub(super) fn note_claimed(&mut self, workflow: &WorkflowId, links: &Links) {
        let Ok(mut ledger) = self.ledger(workflow) else { return };
        if ledger.main < links.seq {
            ledger.main = links.seq;
            ledger.top = Some((links.seq, links.sha256));
            ledger.pushed = links.seq;
            self.store.write_ledger(workflow, &ledger, self.save_id);
        }
    }

    /// Keeps an entry that the remote has, where its number was taken in the store meanwhile.
    pub(super) fn set_aside(&mut self, workflow: &WorkflowId, links: &Links, bytes: &[u8]) -> Result<bool> {
        Ok(self.store.add_side(workflow, links, bytes, self.save_id)?)
    }

    /// Reads the ledger. One that knows more than the store has is not used: the store was restored from a copy, or lost a
    /// name in a power failure.
    fn ledger(&self, workflow: &WorkflowId) -> Result<Ledger> {
        let ledger = self.store.ledger(workflow, self.identity);
        let head = self.store.head_number(workflow)?.unwrap_or_default();
        let is_valid = ledger.pushed <= head;
        Ok(if is_valid { ledger } else { Ledger { remote: Some(self.identity), ..Ledger::default() } })
    }

    /// Creates the objects of a plan.
    fn create(&mut self, workflow: &WorkflowId, plan: &[Push]) -> Result<Creation> {
        let mut objects: Vec<NewObject> = Vec::new();
        let mut size = 0;
        for (place, push) in plan.iter().enumerate() {
            let bytes = match push.from {
                Some(seq) => {
                    let handle = Handle::new(workflow, seq);
                    let bytes = self.load(&handle)?;
                    self.push_contents(&handle, &bytes)?;
                    bytes
                }
                None => Vec::new(),
            };
            size += bytes.len() as u64;
            objects.push(NewObject { key: push.name.key(workflow), bytes });
            if objects.len() == CHUNK || size >= CHUNK_BYTES || place + 1 == plan.len() {
                if self.remote.create(&objects)? == Creation::Taken {
                    return Ok(Creation::Taken);
                }
                objects.clear();
                size = 0;
            }
        }
        Ok(Creation::Done)
    }

    /// Reads an entry that is about to leave this machine.
    fn load(&self, handle: &Handle) -> Result<Vec<u8>> {
        let (bytes, _) = self.store.load_bytes(handle)?;
        if !self.allow_secrets
            && let Ok(value) = serde_json::from_slice(&bytes)
            && let Some((pointer, rule)) = find_secrets(&value).into_iter().next()
        {
            return Err(Error::Secret { handle: handle.clone(), pointer, rule });
        }
        Ok(bytes)
    }

    /// Looks at what the remote has where this store has something to push: whose it is, and the newest of the main line.
    fn look(
        &mut self,
        workflow: &WorkflowId,
        local: &LocalView,
        ledger: &Ledger,
        names: &Names,
    ) -> Result<RemoteView> {
        let mut remote = known(ledger);
        while names.contains_key(&ObjectName::Main(remote.taken + 1)) {
            remote.taken += 1;
        }
        let mut wanted: BTreeSet<ObjectName> = BTreeSet::new();
        let mut is_topped = false;
        for (name, size) in names.iter().rev() {
            let ObjectName::Main(seq) = name else { continue };
            let is_ours = *seq > local.pushed && local.main.contains_key(seq);
            let is_top = !is_topped && *size > 0 && *seq > remote.top().map_or(0, |top| top.seq);
            is_topped |= *size > 0;
            if *size == 0 {
                remote.main.insert(*seq, Slot::Empty);
            } else if is_ours || is_top || *seq > remote.taken {
                wanted.insert(name.clone());
            }
        }
        for slot in local.main.values() {
            if let Slot::Node(node) = slot {
                wanted.extend(
                    Some(ObjectName::side(node.seq, &node.digest)).filter(|side| names.contains_key(side)),
                );
            }
        }
        let wanted: Vec<ObjectName> = wanted.into_iter().collect();
        for chunk in wanted.chunks(CHUNK) {
            for (name, fetched) in self.remote.fetch(workflow, chunk)? {
                remote.add(&name, &fetched);
            }
        }
        Ok(remote)
    }

    /// Reads what this store has of a workflow, from a number upwards.
    fn local(&self, workflow: &WorkflowId, from: u64, pushed: u64) -> Result<LocalView> {
        let sides = self.store.sides(workflow)?;
        let head = self.store.head_number(workflow)?.unwrap_or_default();
        let mut main = BTreeMap::new();
        for seq in (1..=head).rev() {
            let slot = self.slot(workflow, seq)?;
            let is_node = matches!(slot, Slot::Node(_));
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
    fn add(&mut self, name: &ObjectName, fetched: &Fetched) {
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

/// Returns what the ledger says about the remote.
fn known(ledger: &Ledger) -> RemoteView {
    let mut remote = RemoteView { taken: ledger.main, ..RemoteView::default() };
    if let Some((seq, digest)) = ledger.top {
        remote.main.insert(seq, Slot::Node(Node { seq, digest, parents: Vec::new() }));
        remote.main.extend((seq + 1..=ledger.main).map(|empty| (empty, Slot::Empty)));
    }
    remote
}

/// Returns the name of a side checkpoint in a ledger.
fn side_name(name: &ObjectName) -> Option<String> {
    match name {
        ObjectName::Side(seq, digest) => Some(format!("{seq}@{digest}")),
        ObjectName::Main(_) | ObjectName::Archive(_) => None,
    }
}

fn is_known(ledger: &Ledger, name: &ObjectName) -> bool {
    match name {
        ObjectName::Main(seq) => *seq <= ledger.main,
        side @ ObjectName::Side(..) => side_name(side).is_some_and(|name| ledger.sides.contains(&name)),
        ObjectName::Archive(_) => true,
    }
}

/// Returns the names that the ledger does not know, from the lowest number upwards, in parts of a bounded size.
fn chunks(ledger: &Ledger, names: &Names) -> Vec<Vec<ObjectName>> {
    let number = |name: &ObjectName| match name {
        ObjectName::Main(seq) => (*seq, false),
        ObjectName::Side(seq, _) => (*seq, true),
        ObjectName::Archive(_) => (0, false),
    };
    let mut unknown: Vec<(&ObjectName, u64)> =
        names.iter().filter(|(name, _)| !is_known(ledger, name)).map(|(name, size)| (name, *size)).collect();
    unknown.sort_by_key(|(name, _)| number(name));
    let mut chunks: Vec<Vec<ObjectName>> = Vec::new();
    let mut bytes = 0;
    for (name, size) in unknown {
        if bytes == 0 || bytes + size > CHUNK_BYTES || chunks.last().is_none_or(|chunk| chunk.len() == CHUNK)
        {
            chunks.push(Vec::new());
            bytes = 0;
        }
        bytes += size.max(1);
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(name.clone());
        }
    }
    chunks
}

/// Counts the checkpoints of the remote that this store is not known to have.
fn lacking(local: &LocalView, ledger: &Ledger, names: &Names) -> u64 {
    let is_ours = |name: &ObjectName| match name {
        ObjectName::Side(seq, digest) => {
            let own = local.main.get(seq);
            local.sides.contains(&(*seq, *digest))
                || matches!(own, Some(Slot::Node(node)) if node.digest.short() == *digest)
        }
        ObjectName::Main(_) | ObjectName::Archive(_) => false,
    };
    let lacking = names.iter().filter(|(name, size)| **size > 0 && !is_known(ledger, name) && !is_ours(name));
    lacking.count() as u64
}

/// Records what was fetched and added to the store.
fn note_pulled(ledger: &mut Ledger, fetched: &[(ObjectName, Fetched)]) {
    ledger.sides.extend(fetched.iter().filter_map(|(name, _)| side_name(name)));
    let main: BTreeMap<u64, Option<Digest>> = fetched
        .iter()
        .filter_map(|(name, fetched)| match (name, fetched) {
            (ObjectName::Main(seq), Fetched::Entry(links, _)) => Some((*seq, Some(links.sha256))),
            (ObjectName::Main(seq), Fetched::Empty) => Some((*seq, None)),
            _ => None,
        })
        .collect();
    advance(ledger, &main);
}

/// Records what was created, and what was found to be there already.
fn note_pushed(ledger: &mut Ledger, local: &LocalView, remote: &RemoteView, plan: &[Push]) {
    let mut main: BTreeMap<u64, Option<Digest>> = BTreeMap::new();
    let digest = |seq: &u64| match local.main.get(seq) {
        Some(Slot::Node(node)) => Some(node.digest),
        _ => None,
    };
    for (seq, slot) in &remote.main {
        match slot {
            Slot::Empty => {
                main.insert(*seq, None);
            }
            Slot::Node(node) if digest(seq) == Some(node.digest) => {
                main.insert(*seq, Some(node.digest));
            }
            Slot::Node(_) => {}
        }
    }
    for push in plan {
        if let ObjectName::Main(seq) = push.name {
            main.insert(seq, push.from.as_ref().and_then(digest));
        }
        ledger.sides.extend(side_name(&push.name));
    }
    ledger.pushed = local.main.last_key_value().map_or(0, |(seq, _)| *seq);
    advance(ledger, &main);
}

/// Moves the end of what is known of the main line upwards, as far as there is no gap.
fn advance(ledger: &mut Ledger, main: &BTreeMap<u64, Option<Digest>>) {
    while let Some(digest) = main.get(&(ledger.main + 1)) {
        ledger.main += 1;
        if let Some(digest) = digest {
            ledger.top = Some((ledger.main, *digest));
        }
    }
}
