//! Carrying out the plan: between one store and one remote, workflow by workflow.
//!
//! Whatever is interrupted continues the next time: an entry is added to a store or created on the remote whole or not at
//! all, in an order in which nothing comes before what it continues, and the ledger is written last.

use std::collections::{HashMap, HashSet};

use super::bundles::Bundles;
use super::error::{Error, Result};
use super::key::ObjectName;
use super::ledger::{chunks, known, lacking, note_pulled, note_pushed};
use super::plan::{FarAbove, Place, Pull, Push, RemoteView, Slot, plan_pull, plan_push};
use super::remote::NewObject;
use super::retry::{Creation, Fetched, Names, Retrying};
use ckpt_model::digest::Digest;
use ckpt_model::format::Links;
use ckpt_model::redact::find_secrets;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store as store;
use ckpt_store::{Disk, Ledger, MOST_FILLED, Store};

/// How often a plan is made again because a name was taken meanwhile.
const MAX_ATTEMPTS: u32 = 16;
/// The most entries, and bytes, that are read or created at a time.
pub(super) const CHUNK: usize = 128;
pub(super) const CHUNK_BYTES: u64 = 16 << 20;

/// One store and one remote.
pub struct Exchange<'a, D: Disk> {
    pub(super) store: &'a Store<D>,
    /// The remote.
    pub remote: Retrying<'a>,
    /// The digest of the URL of the remote.
    identity: Digest,
    /// Names the temporary files.
    pub(super) save_id: &'a str,
    /// Decide, and carry out nothing.
    pub dry_run: bool,
    /// Push secrets as they are.
    pub allow_secrets: bool,
}

/// The result of a push, done or planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pushed {
    /// The entries that were created on the main line.
    pub main: u64,
    /// The side checkpoints that were created.
    pub sides: u64,
    /// The checkpoints of the remote that this store was seen to lack.
    pub behind: u64,
}

/// The result of a pull, done or planned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulled {
    /// The entries that continue the main line of this store.
    pub main: u64,
    /// The side checkpoints that were added.
    pub sides: u64,
}

impl Pulled {
    fn count(&mut self, to: Place) {
        match to {
            Place::Main(_) => self.main += 1,
            Place::Side => self.sides += 1,
        }
    }
}

impl<'a, D: Disk> Exchange<'a, D> {
    /// Prepares an exchange. `identity` is the digest of the URL of the remote.
    pub fn new(store: &'a Store<D>, remote: Retrying<'a>, identity: Digest, save_id: &'a str) -> Self {
        Self { store, remote, identity, save_id, dry_run: false, allow_secrets: false }
    }

    /// Adds what the remote has of a workflow and this store lacks.
    ///
    /// # Errors
    /// The remote or the store fails, or an object is damaged. What was added before stays.
    pub fn pull(&mut self, workflow: &WorkflowId, names: &Names) -> Result<Pulled> {
        if self.dry_run {
            return self.plan_whole_pull(workflow, names);
        }
        let mut ledger = self.ledger(workflow)?;
        let before = ledger.clone();
        let mut pulled = Pulled::default();
        let mut bundles = Bundles::default();
        for chunk in chunks(&ledger, names) {
            let fetched = self.fetch(workflow, &chunk, names, &mut bundles)?;
            self.take(workflow, &mut ledger, &fetched, &mut pulled)?;
        }
        self.adopt_bundles(workflow, &bundles)?;
        ledger.behind = 0;
        if ledger != before {
            self.store.write_ledger(workflow, &ledger, self.save_id);
        }
        Ok(pulled)
    }

    /// Counts what a pull would add. Nothing is added, so no part of the remote can be planned on top of another: all of it is
    /// looked at first, and only how entries are linked is kept.
    fn plan_whole_pull(&mut self, workflow: &WorkflowId, names: &Names) -> Result<Pulled> {
        let ledger = self.ledger(workflow)?;
        let mut remote = known(&ledger);
        let mut unknown: HashSet<Digest> = HashSet::new();
        let mut bundles = Bundles::default();
        for chunk in chunks(&ledger, names) {
            for (name, fetched) in self.fetch(workflow, &chunk, names, &mut bundles)? {
                if let Fetched::Entry(links, _) = &fetched {
                    unknown.insert(links.sha256);
                }
                remote.add(&name, &fetched);
            }
        }
        let mut pulled = Pulled::default();
        for Pull { node, to } in self.plan_pull(workflow, &remote)? {
            if unknown.contains(&node.digest) {
                pulled.count(to);
            }
        }
        Ok(pulled)
    }

    /// Decides which entries of the remote are added to the store.
    fn plan_pull(&self, workflow: &WorkflowId, remote: &RemoteView) -> Result<Vec<Pull>> {
        let lowest = remote.nodes().map(|node| node.seq).min().unwrap_or(1);
        let local = self.gather_local(workflow, lowest, 0)?;
        plan_pull(&local, remote).map_err(|far| far_above(workflow, far))
    }

    /// Adds fetched entries to the store, and records that the remote has them.
    pub(super) fn take(
        &mut self,
        workflow: &WorkflowId,
        ledger: &mut Ledger,
        fetched: &[(ObjectName, Fetched)],
        pulled: &mut Pulled,
    ) -> Result<()> {
        self.place(workflow, ledger, fetched, pulled)?;
        note_pulled(ledger, fetched);
        self.note_shared(workflow, ledger, fetched)?;
        self.store.write_ledger(workflow, ledger, self.save_id);
        Ok(())
    }

    /// Records the entries of this store that were found on the remote.
    fn note_shared(&self, workflow: &WorkflowId, ledger: &mut Ledger, fetched: &[(ObjectName, Fetched)]) -> Result<()> {
        let digest = |(_, fetched): &(ObjectName, Fetched)| match fetched {
            Fetched::Entry(links, _) => Some(links.sha256),
            Fetched::Empty => None,
        };
        let shared: HashSet<Digest> = fetched.iter().filter_map(digest).collect();
        let local = self.gather_local(workflow, ledger.pushed.saturating_add(1), 0)?;
        while let Some(next) = ledger.pushed.checked_add(1)
            && let Some(slot) = local.main.get(&next)
        {
            if matches!(slot, Slot::Node(node) if !shared.contains(&node.digest)) {
                break;
            }
            ledger.pushed = next;
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
            for Pull { node, to } in self.plan_pull(workflow, &remote)? {
                let Some((links, bytes)) = content.get(&node.digest) else { continue };
                self.pull_contents(bytes)?;
                match to {
                    Place::Main(head) => {
                        if !self.store.adopt(workflow, node.seq, bytes, head, self.save_id)? {
                            continue 'again;
                        }
                    }
                    Place::Side => {
                        self.store.add_side(workflow, links, bytes, self.save_id)?;
                    }
                }
                pulled.count(to);
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
            let local = self.gather_local(workflow, ledger.pushed.max(1), ledger.pushed)?;
            if listed.is_none() && is_cold {
                listed = Some(self.remote.names_of(workflow)?);
            }
            let remote = match &listed {
                Some(names) => self.gather_remote(workflow, &local, &ledger, names)?,
                None => known(&ledger),
            };
            if let Some(names) = &listed {
                ledger.behind = lacking(&local, &remote, &ledger, names);
            }
            let plan = plan_push(&local, &remote).map_err(|far| far_above(workflow, far))?;
            if self.dry_run || self.create(workflow, &plan)? {
                if !self.dry_run {
                    note_pushed(&mut ledger, &local, &remote, &plan);
                    self.store.write_ledger(workflow, &ledger, self.save_id);
                }
                let count = |is_counted: fn(&Push) -> bool| plan.iter().filter(|push| is_counted(push)).count() as u64;
                return Ok(Pushed {
                    main: count(|push| push.from.is_some() && matches!(push.name, ObjectName::Main(_))),
                    sides: count(|push| matches!(push.name, ObjectName::Side(..))),
                    behind: ledger.behind,
                });
            }
            listed = Some(self.remote.names_of(workflow)?);
        }
        Err(Error::Contended { workflow: workflow.clone(), attempts: MAX_ATTEMPTS })
    }

    /// Reads the ledger. One that knows more than the store has is not used: the store was restored from a copy, or lost a
    /// name in a power failure. Neither is one with numbers that no exchange has written.
    pub(super) fn ledger(&self, workflow: &WorkflowId) -> Result<Ledger> {
        let ledger = self.store.ledger(workflow, self.identity);
        let head = self.store.head_number(workflow)?.unwrap_or_default();
        let top = ledger.top.map_or(0, |(seq, _)| seq);
        let is_sensible = top <= ledger.main && ledger.main - top <= MOST_FILLED && ledger.main < u64::MAX;
        let is_valid = is_sensible && ledger.pushed <= head;
        Ok(if is_valid { ledger } else { Ledger { remote: Some(self.identity), ..Ledger::default() } })
    }

    /// Creates the objects of a plan. Returns false if a name is taken by another object.
    fn create(&mut self, workflow: &WorkflowId, plan: &[Push]) -> Result<bool> {
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
                if self.remote.create(&objects)? != Creation::Done {
                    return Ok(false);
                }
                objects.clear();
                size = 0;
            }
        }
        Ok(true)
    }

    /// Reads an entry that is about to leave this machine.
    fn load(&self, handle: &Handle) -> Result<Vec<u8>> {
        let (bytes, _) = self.store.load_bytes(handle)?;
        self.refuse_secret(handle, &bytes)?;
        Ok(bytes)
    }

    /// Refuses an entry with a secret in it that is about to leave this machine.
    pub(super) fn refuse_secret(&self, handle: &Handle, bytes: &[u8]) -> Result<()> {
        if !self.allow_secrets
            && let Ok(value) = serde_json::from_slice(bytes)
            && let Some((pointer, rule)) = find_secrets(&value).into_iter().next()
        {
            return Err(Error::Secret { handle: handle.clone(), pointer, rule });
        }
        Ok(())
    }
}

fn far_above(workflow: &WorkflowId, FarAbove { seq }: FarAbove) -> Error {
    store::Error::FarAbove { handle: Handle::new(workflow, seq) }.into()
}
