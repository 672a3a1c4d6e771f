//! Claiming a number on the remote before it is taken in the store, so that stores that are online never fork.
//!
//! The save protocol stays as it is: this is a disk on which publishing an entry means to create it on the remote first. If
//! the number is taken there, what the remote has is pulled and the name counts as taken, so that the save begins again on
//! top of it. If the remote cannot be asked, the entry is published in the store alone, and the problem is kept for the
//! caller.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::time::Duration;

use super::error::{Error, Result};
use super::exchange::{Claimed, Exchange};
use crate::core::files::FileProblem;
use crate::core::format::{self, Links};
use crate::core::store::{Access, Disk, StagedFile, Stat, Store};
use crate::core::workflow_id::WorkflowId;

/// The longest wait between two attempts, for each attempt that was lost.
const SPREAD_MILLIS: u64 = 40;
const MAX_SPREAD: u64 = 8;

/// The disk of a store, where entries of one workflow are claimed on the remote first.
pub struct ClaimingDisk<'a, D: Disk> {
    store: &'a Store<D>,
    workflow: &'a WorkflowId,
    state: RefCell<State<'a, D>>,
}

struct State<'a, D: Disk> {
    exchange: Exchange<'a, D>,
    staged: HashMap<String, Vec<u8>>,
    /// The reason why the remote does not have what was saved.
    problem: Option<Error>,
    /// True if something was published that the remote does not have yet.
    is_unshared: bool,
    losses: u64,
    seed: u64,
}

impl<'a, D: Disk> ClaimingDisk<'a, D> {
    /// Prepares for saves to a workflow: the store and the remote agree on it afterwards, as far as the remote can be asked.
    pub fn new(
        store: &'a Store<D>,
        workflow: &'a WorkflowId,
        mut exchange: Exchange<'a, D>,
        seed: u64,
    ) -> Self {
        let problem = exchange.agree(workflow).err();
        let state = State { exchange, staged: HashMap::new(), problem, is_unshared: false, losses: 0, seed };
        Self { store, workflow, state: RefCell::new(state) }
    }

    /// Pushes what could not be claimed.
    ///
    /// # Errors
    /// The remote does not have what was saved.
    pub fn finish(self) -> Result<()> {
        let State { mut exchange, problem, is_unshared, .. } = self.state.into_inner();
        match problem {
            Some(problem) => Err(problem),
            None if is_unshared => exchange.push(self.workflow, None).map(drop),
            None => Ok(()),
        }
    }

    /// Claims an entry on the remote. Returns false if its number is taken there.
    fn claim(&self, links: &Links, bytes: &[u8]) -> bool {
        let mut state = self.state.borrow_mut();
        if state.problem.is_none() {
            match state.exchange.claim(self.workflow, links, bytes) {
                Ok(Claimed::Ours) => return true,
                Ok(Claimed::Taken) => {
                    state.losses += 1;
                    if state.losses > 1 {
                        // Those who wait differently long are in each other's way less.
                        state.seed =
                            state.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(state.losses);
                        let spread = SPREAD_MILLIS * state.losses.min(MAX_SPREAD);
                        self.store.disk().pause(Duration::from_millis((state.seed >> 33) % spread));
                    }
                    return false;
                }
                Ok(Claimed::Not) => {}
                Err(problem) => state.problem = Some(problem),
            }
        }
        state.is_unshared = true;
        true
    }
}

impl<D: Disk> Disk for ClaimingDisk<'_, D> {
    type Dir = D::Dir;
    type Lock = D::Lock;
    type File = D::File;

    fn publish(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()> {
        let bytes = self.state.borrow_mut().staged.remove(staged);
        let entry = bytes.and_then(|bytes| Some((format::decode_part::<Links>(&bytes).ok()?, bytes)));
        let Some((links, bytes)) = entry.filter(|(links, _)| links.workflow == *self.workflow) else {
            return self.store.disk().publish(dir, staged, name);
        };
        if !self.claim(&links, &bytes) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let state = &mut *self.state.borrow_mut();
        let is_shared = !state.is_unshared;
        match self.store.disk().publish(dir, staged, name) {
            // Another process of this store pulled it in the meantime, or saved something else without asking the remote.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_shared => {
                let is_ours =
                    self.store.disk().read(dir, name, bytes.len() as u64).is_ok_and(|found| found == bytes);
                if is_ours {
                    state.exchange.note_claimed(self.workflow, &links);
                    return Ok(());
                }
                let _ = state.exchange.set_aside(self.workflow, &links, &bytes);
                Err(error)
            }
            Ok(()) => {
                if is_shared {
                    state.exchange.note_claimed(self.workflow, &links);
                }
                Ok(())
            }
            published => published,
        }
    }

    fn stage(
        &self,
        dir: &Self::Dir,
        name: &str,
        bytes: &[u8],
        access: Access,
    ) -> io::Result<StagedFile<Self::Lock>> {
        self.state.borrow_mut().staged.insert(name.to_owned(), bytes.to_vec());
        self.store.disk().stage(dir, name, bytes, access)
    }

    fn base(&self) -> io::Result<Self::Dir> {
        self.store.disk().base()
    }

    fn enter(&self, dir: &Self::Dir, name: &str) -> io::Result<Self::Dir> {
        self.store.disk().enter(dir, name)
    }

    fn reach(&self, names: &[&str]) -> io::Result<Self::Dir> {
        self.store.disk().reach(names)
    }

    fn make_dir(&self, dir: &Self::Dir, name: &str) -> io::Result<()> {
        self.store.disk().make_dir(dir, name)
    }

    fn list(&self, dir: &Self::Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.store.disk().list(dir, visit)
    }

    fn is_short(&self, dir: &Self::Dir) -> io::Result<bool> {
        self.store.disk().is_short(dir)
    }

    fn read(&self, dir: &Self::Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        self.store.disk().read(dir, name, limit)
    }

    fn open(&self, dir: &Self::Dir, name: &str) -> Result<Self::File, FileProblem> {
        self.store.disk().open(dir, name)
    }

    fn stat(&self, dir: &Self::Dir, name: &str) -> io::Result<Stat> {
        self.store.disk().stat(dir, name)
    }

    fn lock(&self, dir: &Self::Dir, patience: Duration) -> Option<Self::Lock> {
        self.store.disk().lock(dir, patience)
    }

    fn create(&self, dir: &Self::Dir, name: &str, size: u64) -> io::Result<Self::File> {
        self.store.disk().create(dir, name, size)
    }

    fn stage_unsynced(&self, dir: &Self::Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.store.disk().stage_unsynced(dir, name, bytes)
    }

    fn replace(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()> {
        self.store.disk().replace(dir, staged, name)
    }

    fn move_aside(&self, dir: &Self::Dir, name: &str, to: &Self::Dir, new_name: &str) -> io::Result<()> {
        self.store.disk().move_aside(dir, name, to, new_name)
    }

    fn remove(&self, dir: &Self::Dir, name: &str) -> io::Result<()> {
        self.store.disk().remove(dir, name)
    }

    fn remove_stale(&self, dir: &Self::Dir, name: &str) -> io::Result<bool> {
        self.store.disk().remove_stale(dir, name)
    }

    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()> {
        self.store.disk().sync_dir(dir)
    }

    fn pause(&self, duration: Duration) {
        self.store.disk().pause(duration);
    }
}
