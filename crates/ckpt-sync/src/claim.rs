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
use super::exchange::{CHUNK, Exchange, Pulled};
use super::key::ObjectName;
use super::remote::NewObject;
use super::retry::{Creation, Fetched, check};
use ckpt_model::format::{self, Links};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_store::files::FileProblem;
use ckpt_store::{Access, Disk, StagedFile, Stat, Store};

/// How long processes of one store queue up before they claim in each other's way.
const QUEUE: Duration = Duration::from_secs(20);
/// The longest wait after the second lost try, as a multiple of the time that one try takes. It doubles with each loss.
const FIRST_WAIT: u32 = 32;
/// The most that it becomes: of sixteen machines, about one tries at a time then.
const MAX_WAIT: u32 = 64;
/// The number of others' checkpoints after which a save does not wait any more.
const MAX_OTHERS: u32 = 128;
/// The bounds of the time of a try, whatever was measured.
const MIN_TRY: Duration = Duration::from_millis(5);
const MAX_TRY: Duration = Duration::from_millis(500);

/// The outcome of a claim.
#[derive(Debug, PartialEq, Eq)]
enum Claimed {
    /// The remote has the entry.
    Ours,
    /// The remote has another entry under its number, with this content.
    Taken(Vec<u8>),
    /// The entry does not continue the main line of the remote.
    Not,
}

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
    /// True if the store and the remote agree on the workflow, or cannot.
    has_agreed: bool,
    /// The time since some moment.
    clock: &'a dyn Fn() -> Duration,
    /// The time when this try began.
    begun: Duration,
    /// The checkpoints of others that were claimed first, since this save began.
    others: u64,
    losses: u32,
    seed: u64,
}

impl<'a, D: Disk> ClaimingDisk<'a, D> {
    /// Prepares for saves to a workflow. Before the head is read, the store and the remote agree on it, as far as the remote
    /// can be asked. `clock` returns the time since some moment; `seed` makes waits differ.
    pub fn new(
        store: &'a Store<D>,
        workflow: &'a WorkflowId,
        exchange: Exchange<'a, D>,
        clock: &'a dyn Fn() -> Duration,
        seed: u64,
    ) -> Self {
        let mut state = State {
            exchange,
            staged: HashMap::new(),
            problem: None,
            is_unshared: false,
            has_agreed: false,
            clock,
            begun: clock(),
            others: 0,
            losses: 0,
            seed,
        };
        // A workflow that is new here has no lock to wait for.
        if store.head_number(workflow).is_ok_and(|head| head.is_none()) {
            state.agree(workflow);
        }
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
        let state = &mut *self.state.borrow_mut();
        if state.problem.is_none() {
            match state.exchange.claim(self.workflow, links, bytes) {
                Ok(Claimed::Ours) => return true,
                Ok(Claimed::Taken(found)) => {
                    state.losses += 1;
                    // The first loss may only mean that others have saved since this store last looked.
                    if state.losses > 1 {
                        self.store.disk().pause(state.wait());
                    }
                    match state.exchange.catch_up(self.workflow, links.seq, found) {
                        Ok(others) => {
                            state.others += others;
                            state.begun = (state.clock)();
                            return false;
                        }
                        Err(problem) => state.problem = Some(problem),
                    }
                }
                Ok(Claimed::Not) => {}
                Err(problem) => state.problem = Some(problem),
            }
        }
        state.is_unshared = true;
        true
    }
}

impl<D: Disk> State<'_, D> {
    fn agree(&mut self, workflow: &WorkflowId) {
        if !self.has_agreed {
            self.has_agreed = true;
            self.problem = self.exchange.agree(workflow).err();
        }
    }

    /// Returns how long to wait after a loss.
    fn wait(&mut self) -> Duration {
        let one_try = (self.clock)().saturating_sub(self.begun);
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(self.losses.into());
        longest_wait(one_try, self.losses, self.others) * ((self.seed >> 44) as u32 % 1000) / 1000
    }
}

/// Returns the longest wait after a lost try: by the time that a try takes, the number of tries that were lost, and the number
/// of others that went first.
///
/// Of writers that try at the same time, all but one try in vain, so they wait differently long, and longer while they lose.
/// Who has waited for more others waits less, so that the one who has waited longest is the most likely next.
fn longest_wait(one_try: Duration, losses: u32, others: u64) -> Duration {
    let tries = FIRST_WAIT.saturating_mul(1 << losses.saturating_sub(2).min(8)).min(MAX_WAIT);
    let left = MAX_OTHERS.saturating_sub(u32::try_from(others).unwrap_or(u32::MAX));
    let one_try = one_try.clamp(MIN_TRY, MAX_TRY);
    (one_try * tries * left / MAX_OTHERS).max(one_try)
}

impl<D: Disk> Exchange<'_, D> {
    /// Makes the store and the remote agree on a workflow, unless they are known to.
    fn agree(&mut self, workflow: &WorkflowId) -> Result<()> {
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

    fn pull_newest(&mut self, workflow: &WorkflowId) -> Result<()> {
        let names = self.remote.names_of(workflow)?;
        self.pull(workflow, &names).map(drop)
    }

    /// Creates an entry on the remote that continues its main line, before it is published in the store.
    fn claim(&mut self, workflow: &WorkflowId, links: &Links, bytes: &[u8]) -> Result<Claimed> {
        let ledger = self.ledger(workflow)?;
        let continues_top = match ledger.top {
            Some((_, digest)) => links.parents().any(|parent| parent == digest),
            None => links.seq == 1,
        };
        if !continues_top || ledger.main + 1 != links.seq || ledger.pushed + 1 != links.seq {
            return Ok(Claimed::Not);
        }
        let handle = Handle::new(workflow, links.seq);
        self.refuse_secret(&handle, bytes)?;
        self.push_contents(&handle, bytes)?;
        let object = NewObject { key: ObjectName::Main(links.seq).key(workflow), bytes: bytes.to_vec() };
        match self.remote.create(&[object])? {
            Creation::Done => Ok(Claimed::Ours),
            Creation::Taken(found) => Ok(Claimed::Taken(found)),
        }
    }

    /// Adds what others have put on the main line: the entry whose number was taken, which was read already, and those above
    /// it, one after the other until there is none. Each is read once, and nothing is listed. Returns their number.
    fn catch_up(&mut self, workflow: &WorkflowId, seq: u64, bytes: Vec<u8>) -> Result<u64> {
        let mut name = ObjectName::Main(seq);
        let key = name.key(workflow);
        let first = check(workflow, &name, bytes).map_err(|why| Error::Damaged { key, why })?;
        let mut fetched = vec![(name, first)];
        // More than that are fetched after the next try.
        for next in seq.saturating_add(1)..seq.saturating_add(CHUNK as u64) {
            name = ObjectName::Main(next);
            let Some(found) = self.remote.fetch(workflow, std::slice::from_ref(&name))?.pop() else { break };
            fetched.push(found);
        }
        // A filler or a tombstone: only a list says more about it.
        if fetched.iter().any(|(_, fetched)| matches!(fetched, Fetched::Empty)) {
            self.pull_newest(workflow)?;
        } else {
            let mut ledger = self.ledger(workflow)?;
            self.take(workflow, &mut ledger, &fetched, &mut Pulled::default())?;
        }
        Ok(fetched.len() as u64)
    }

    /// Records an entry that was claimed, and is now in the store.
    fn note_claimed(&mut self, workflow: &WorkflowId, links: &Links) {
        let Ok(mut ledger) = self.ledger(workflow) else { return };
        if ledger.main < links.seq {
            ledger.main = links.seq;
            ledger.top = Some((links.seq, links.sha256));
            ledger.pushed = links.seq;
            self.store.write_ledger(workflow, &ledger, self.save_id);
        }
    }
}

/// Implements methods of [`Disk`] by those of the disk of the store.
macro_rules! forwarded {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $name(&self, $($argument: $type),*) $(-> $result)? {
            self.store.disk().$name($($argument),*)
        })*
    };
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
                let is_ours = self.store.disk().read(dir, name, bytes.len() as u64).is_ok_and(|found| found == bytes);
                if is_ours {
                    state.exchange.note_claimed(self.workflow, &links);
                    return Ok(());
                }
                let _ = self.store.add_side(self.workflow, &links, &bytes, state.exchange.save_id);
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

    fn stage(&self, dir: &Self::Dir, name: &str, bytes: &[u8], access: Access) -> io::Result<StagedFile<Self::Lock>> {
        self.state.borrow_mut().staged.insert(name.to_owned(), bytes.to_vec());
        self.store.disk().stage(dir, name, bytes, access)
    }

    fn lock(&self, dir: &Self::Dir, patience: Duration) -> Option<Self::Lock> {
        let lock = self.store.disk().lock(dir, patience.max(QUEUE));
        let state = &mut *self.state.borrow_mut();
        state.agree(self.workflow);
        state.begun = (state.clock)();
        lock
    }

    forwarded! {
        fn base() -> io::Result<Self::Dir>;
        fn enter(dir: &Self::Dir, name: &str) -> io::Result<Self::Dir>;
        fn reach(names: &[&str]) -> io::Result<Self::Dir>;
        fn make_dir(dir: &Self::Dir, name: &str) -> io::Result<()>;
        fn list(dir: &Self::Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()>;
        fn is_short(dir: &Self::Dir) -> io::Result<bool>;
        fn read(dir: &Self::Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem>;
        fn open(dir: &Self::Dir, name: &str) -> Result<Self::File, FileProblem>;
        fn stat_dir(dir: &Self::Dir) -> io::Result<Stat>;
        fn stat(dir: &Self::Dir, name: &str) -> io::Result<Stat>;
        fn create(dir: &Self::Dir, name: &str, size: u64) -> io::Result<Self::File>;
        fn stage_unsynced(dir: &Self::Dir, name: &str, bytes: &[u8]) -> io::Result<()>;
        fn replace(dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()>;
        fn move_aside(dir: &Self::Dir, name: &str, to: &Self::Dir, new_name: &str) -> io::Result<()>;
        fn remove(dir: &Self::Dir, name: &str) -> io::Result<()>;
        fn remove_stale(dir: &Self::Dir, name: &str) -> io::Result<bool>;
        fn sync_dir(dir: &Self::Dir) -> io::Result<()>;
        fn pause(duration: Duration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRY: Duration = Duration::from_millis(40);

    #[test]
    fn waits_grow_with_losses_up_to_a_limit() {
        let waits = [2, 3, 4, 5, u32::MAX].map(|losses| longest_wait(TRY, losses, 0) / 40);
        assert_eq!(waits.map(|wait| wait.as_millis()), [32, 64, 64, 64, 64]);
    }

    #[test]
    fn who_has_waited_for_more_others_waits_less() {
        let waits: Vec<Duration> = (0..=MAX_OTHERS).map(|others| longest_wait(TRY, 9, others.into())).collect();
        assert!(waits.is_sorted_by(|before, after| before >= after));
        assert_eq!((waits[0], waits[MAX_OTHERS as usize / 2]), (TRY * 64, TRY * 32));
        assert_eq!(longest_wait(TRY, 9, u64::MAX), TRY);
    }

    #[test]
    fn a_time_that_was_measured_wrong_is_bounded() {
        assert_eq!(longest_wait(Duration::ZERO, 9, 0), MIN_TRY * MAX_WAIT);
        assert_eq!(longest_wait(Duration::MAX, 9, 0), MAX_TRY * MAX_WAIT);
    }
}
