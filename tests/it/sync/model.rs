//! Every order of the steps of two stores and one remote, up to a depth: saves, saves that are claimed on the remote first,
//! syncs and merges, where each request may lose its answer, kill the client before or after it, or let the other store sync
//! in between. And random histories of three stores.
//!
//! The real plan and its execution run on disks in memory. After every step: nothing acknowledged is lost, one checkpoint
//! has one name on the remote, one save is one checkpoint, names never change. When all sync in peace afterwards: all stores
//! and the remote have the same checkpoints, the main line is dense, `verify` finds nothing, all see the same heads, and
//! merges make one head.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ckpt_model::change::{Change, Edit, Merge, Stamp};
use ckpt_model::checkpoint::{Content, Writer};
use ckpt_model::digest::Digest;
use ckpt_model::finding::Severity;
use ckpt_model::format::{self, Links};
use ckpt_model::merge::{Resolutions, Side};
use ckpt_model::{Config, Handle, Timestamp, WorkflowId};
use ckpt_store::Relation;
use ckpt_store::Store;
use ckpt_store::save::Save;
use ckpt_sync::{ClaimingDisk, Exchange, ObjectName, Retrying};
use proptest::prelude::*;
use serde_json::json;

use crate::support::memory::MemoryDisk;
use crate::support::proof::amount;
use crate::support::store::id;
use ckpt::remote::{Fault, Lie, MemoryRemote, Objects};

const STORES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone)]
struct World {
    disks: Vec<MemoryDisk>,
    objects: Objects,
    /// The saves so far, of each store.
    saves: Vec<u32>,
    /// The digests that each store has acknowledged.
    acknowledged: BTreeSet<String>,
    lie: Option<Lie>,
    mutant: Option<Mutant>,
    /// True if stores save online too, which makes many more orders of steps.
    online: bool,
}

/// A broken rule on whose an object is that is there already.
type Mutant = fn(&[u8], &[u8]) -> bool;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Save(usize),
    /// A save that is claimed on the remote first.
    Online(usize, Option<(Fault, usize)>),
    Merge(usize),
    Sync(usize, Option<(Fault, usize)>),
    /// The other store syncs between two requests of this one.
    SyncDuring(usize, usize),
}

impl World {
    fn new(stores: usize, lie: Option<Lie>, mutant: Option<Mutant>) -> Self {
        Self {
            disks: (0..stores).map(|_| MemoryDisk::new()).collect(),
            objects: Objects::new(),
            saves: vec![0; stores],
            acknowledged: BTreeSet::new(),
            lie,
            mutant,
            online: false,
        }
    }

    fn fork(&self) -> Self {
        Self { disks: self.disks.iter().map(MemoryDisk::fork).collect(), ..self.clone() }
    }

    fn places(&self) -> std::ops::Range<usize> {
        0..self.disks.len()
    }

    fn store(&self, place: usize) -> Store<MemoryDisk> {
        Store::on(self.disks[place].clone(), Path::new("/"), ".ckpt", Path::new("/"))
    }

    fn fingerprint(&self) -> (Vec<u64>, Objects) {
        (self.disks.iter().map(MemoryDisk::fingerprint).collect(), self.objects.clone())
    }

    fn stamp(&mut self, place: usize) -> Stamp {
        self.saves[place] += 1;
        Stamp {
            now: Timestamp::parse("2026-01-16T20:00:00Z").unwrap(),
            save_id: format!("{}{:031x}", STORES[place], self.saves[place]),
            writer: Writer::default(),
            git: None,
            watched: Vec::new(),
        }
    }

    fn save(&mut self, place: usize, change: &Change) {
        let stamp = self.stamp(place);
        let workflow = id("042");
        let config = Config::default();
        let outcome = Save::new(&workflow, change, &stamp, &config).to(&self.store(place)).unwrap();
        self.acknowledged.insert(outcome.written().unwrap().sha256.to_hex());
    }

    fn next_state(&self, place: usize) -> Change {
        let state = json!({ STORES[place]: self.saves[place] });
        Change { state: vec![Edit::Merge(state)], ..Change::default() }
    }

    /// Saves as with `push = "always"`; returns the number of requests.
    fn save_online(&mut self, place: usize, fault: Option<(Fault, usize)>) -> usize {
        let (change, stamp) = (self.next_state(place), self.stamp(place));
        let (workflow, config, store) = (id("042"), Config::default(), self.store(place));
        let objects = Rc::new(RefCell::new(self.objects.clone()));
        let mut remote = MemoryRemote::new(&objects);
        (remote.fault, remote.lie) = (fault, self.lie);
        let pause = |_| {};
        let retrying = retrying(&mut remote, &pause, self.mutant);
        let exchange = Exchange::new(&store, retrying, Digest::of(b"remote"), &stamp.save_id);
        let disk = ClaimingDisk::new(&store, &workflow, exchange, &|| Duration::ZERO, 1);
        let claiming = Store::on(disk, Path::new("/"), ".ckpt", Path::new("/"));
        let outcome = Save::new(&workflow, &change, &stamp, &config).to(&claiming).unwrap();
        self.acknowledged.insert(outcome.written().unwrap().sha256.to_hex());
        // That the remote does not have it is said, and no failure of the save.
        let _ = claiming.into_disk().finish();
        let requests = remote.requests;
        drop(remote);
        self.objects = objects.borrow().clone();
        requests
    }

    /// Returns false if there is nothing to merge.
    fn merge(&mut self, place: usize) -> bool {
        let (store, workflow) = (self.store(place), id("042"));
        let heads = store.other_heads(&workflow).unwrap();
        let Some(other) = heads.first() else { return false };
        let newest = store.head_number(&workflow).unwrap().unwrap();
        let theirs = store.load_content(other.clone()).unwrap();
        let origin = match store.relation(&Handle::new(&workflow, newest), other).unwrap() {
            Relation::Common(origin) => store.load_content(origin).unwrap().content,
            Relation::Unrelated => Content::default(),
            Relation::Continues => panic!("{other} is not a head"),
        };
        let resolutions = Resolutions { rest: Some(Side::Ours), ..Resolutions::default() };
        let merge = Some(Box::new(Merge { origin, theirs, resolutions }));
        self.save(place, &Change { merge, ..Change::default() });
        true
    }

    /// Syncs a store; returns the number of requests.
    fn sync(&mut self, place: usize, fault: Option<(Fault, usize)>, during: Option<usize>) -> usize {
        let objects = Rc::new(RefCell::new(self.objects.clone()));
        let other = self.store((place + 1) % self.disks.len());
        let (lie, mutant) = (self.lie, self.mutant);
        let event = || {
            let mut remote = MemoryRemote::new(&objects);
            remote.lie = lie;
            exchange(&other, &mut remote, mutant);
        };
        let mut remote = MemoryRemote::new(&objects);
        (remote.fault, remote.lie) = (fault, lie);
        remote.event = during.map(|at| (at, &event as &dyn Fn()));
        exchange(&self.store(place), &mut remote, mutant);
        let requests = remote.requests;
        self.objects = objects.borrow().clone();
        requests
    }

    /// Returns the checkpoints that a store has, byte for byte, by their digests.
    fn replica(&self, place: usize) -> BTreeMap<String, Vec<u8>> {
        let (store, workflow) = (self.store(place), id("042"));
        let head = store.head_number(&workflow).unwrap().unwrap_or_default();
        let main = (1..=head).filter_map(|seq| store.load(&Handle::new(&workflow, seq)).ok());
        let sides = store.sides(&workflow).unwrap().into_iter();
        let sides = sides.map(|(seq, digest)| store.load(&Handle::side(&workflow, seq, digest)).unwrap());
        main.chain(sides).map(|stored| (stored.checkpoint.sha256.to_hex(), stored.bytes)).collect()
    }

    /// Returns the digests of the heads that a store sees.
    fn heads(&self, place: usize) -> BTreeSet<String> {
        let (store, workflow) = (self.store(place), id("042"));
        let mut heads = store.other_heads(&workflow).unwrap();
        heads.extend(store.head_number(&workflow).unwrap().map(|seq| Handle::new(&workflow, seq)));
        heads.iter().map(|head| store.load(head).unwrap().checkpoint.sha256.to_hex()).collect()
    }

    /// Checks what must hold at any time.
    fn check(&self, before: &Objects) -> Result<(), String> {
        self.check_step(before, &self.check_state()?)
    }

    /// Checks what must hold after a step to a state in which these checkpoints are held.
    fn check_step(&self, before: &Objects, held: &BTreeSet<String>) -> Result<(), String> {
        if let Some(lost) = self.acknowledged.iter().find(|digest| !held.contains(*digest)) {
            return Err(format!("an acknowledged save was lost: {lost}"));
        }
        if before.iter().any(|(key, bytes)| self.objects.get(key) != Some(bytes)) {
            return Err("an object of the remote changed".to_owned());
        }
        Ok(())
    }

    /// Checks what must hold in any state, and returns the digests of what the stores hold.
    fn check_state(&self) -> Result<BTreeSet<String>, String> {
        let mut held: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        self.places().for_each(|place| held.extend(self.replica(place)));
        let mut saves = BTreeSet::new();
        for bytes in held.values().chain(self.objects.values().filter(|bytes| !bytes.is_empty())) {
            let saved: serde_json::Value = serde_json::from_slice(bytes).map_err(|why| why.to_string())?;
            saves.insert((saved["save_id"].to_string(), saved["sha256"].to_string()));
        }
        if saves.iter().zip(saves.iter().skip(1)).any(|((save, _), (next, _))| save == next) {
            return Err("one save is two checkpoints".to_owned());
        }
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for bytes in self.objects.values().filter(|bytes| !bytes.is_empty()) {
            let links: Links = format::decode_part(bytes).map_err(|why| why.to_string())?;
            *names.entry(links.sha256.to_hex()).or_default() += 1;
        }
        if names.values().any(|count| *count > 1) {
            return Err("one checkpoint has two names on the remote".to_owned());
        }
        Ok(held.into_keys().collect())
    }

    /// Checks what must hold after all have synced in peace, and that one merge makes one head.
    fn check_peace(&self) -> Result<(), String> {
        let mut world = self.fork();
        world.settle();
        world.check_replicas()?;
        let mut merges = 0;
        while world.merge(0) {
            merges += 1;
            world.settle();
            world.check_replicas()?;
            if merges > world.acknowledged.len() {
                return Err("merges do not end".to_owned());
            }
        }
        for place in world.places() {
            let heads = world.heads(place);
            if heads.len() > 1 {
                return Err(format!("{merges} merges left heads in {}: {heads:?}", STORES[place]));
            }
        }
        Ok(())
    }

    /// Lets all sync in peace, twice: the first learns of the last only then.
    fn settle(&mut self) {
        for place in self.places().chain(self.places()) {
            self.sync(place, None, None);
        }
    }

    fn check_replicas(&self) -> Result<(), String> {
        let stored = self.objects.values().filter(|bytes| !bytes.is_empty());
        let digest = |bytes: &Vec<u8>| format::decode_part::<Links>(bytes).unwrap().sha256.to_hex();
        let remote: BTreeMap<String, Vec<u8>> = stored.map(|bytes| (digest(bytes), bytes.clone())).collect();
        for place in self.places() {
            let held = self.replica(place);
            if held != remote {
                let names = |replica: &BTreeMap<String, Vec<u8>>| replica.keys().cloned().collect::<Vec<_>>();
                return Err(format!("{} has {:?}, the remote {:?}", STORES[place], names(&held), names(&remote)));
            }
            if self.heads(place) != self.heads(0) {
                return Err(format!("{} and {} see other heads", STORES[place], STORES[0]));
            }
            let verification = self.store(place).verify(&[], &mut |_| {}).unwrap();
            if let Some(found) = verification.findings.iter().find(|finding| finding.severity >= Severity::Blocker) {
                return Err(format!("verify of {}: {found:?}", STORES[place]));
            }
        }
        let numbers: BTreeSet<u64> = self
            .objects
            .keys()
            .filter_map(|key| match ObjectName::parse(key) {
                Some((_, ObjectName::Main(seq))) => Some(seq),
                _ => None,
            })
            .collect();
        if numbers.iter().copied().ne(1..=numbers.len() as u64) {
            return Err(format!("the main line is not dense: {numbers:?}"));
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> bool {
        match step {
            Step::Save(place) => self.save(place, &self.next_state(place)),
            Step::Online(place, fault) => drop(self.save_online(place, fault)),
            Step::Merge(place) => return self.merge(place),
            Step::Sync(place, fault) => drop(self.sync(place, fault, None)),
            Step::SyncDuring(place, at) => drop(self.sync(place, None, Some(at))),
        }
        true
    }
}

fn retrying<'a>(remote: &'a mut MemoryRemote<'_>, pause: &'a dyn Fn(Duration), mutant: Option<Mutant>) -> Retrying<'a> {
    let retrying = Retrying::new(remote, pause);
    match mutant {
        Some(mutant) => retrying.judging(mutant),
        None => retrying,
    }
}

fn exchange(store: &Store<MemoryDisk>, remote: &mut MemoryRemote<'_>, mutant: Option<Mutant>) {
    let workflow: WorkflowId = id("042");
    let pause = |_| {};
    store.create().unwrap();
    let mut exchange = Exchange::new(store, retrying(remote, &pause, mutant), Digest::of(b"remote"), "sync");
    let Ok(names) = exchange.remote.names_of(&workflow) else { return };
    if exchange.pull(&workflow, &names).is_ok() {
        let _ = exchange.push(&workflow, Some(&names));
    }
}

/// Tries every sequence of steps; returns the number of states, or the first violation with its steps.
///
/// A state is followed once, from where the fewest steps lead to it: nothing follows from it later that does not follow
/// then.
fn explore(start: World, depth: usize) -> Result<usize, String> {
    let mut seen = HashMap::from([(start.fingerprint(), BTreeSet::new())]);
    let mut waiting = VecDeque::from([(start, Vec::<Step>::new())]);
    while let Some((world, path)) = waiting.pop_front() {
        world.check_peace().map_err(|why| format!("{path:?}: {why}"))?;
        if path.len() == depth {
            continue;
        }
        for step in steps(&world) {
            let mut next = world.fork();
            if !next.take(step) {
                continue;
            }
            let mut path = path.clone();
            path.push(step);
            let wrong = |why| format!("{path:?}: {why}");
            let state = next.fingerprint();
            if let Some(held) = seen.get(&state) {
                next.check_step(&world.objects, held).map_err(wrong)?;
                continue;
            }
            let held = next.check_state().map_err(wrong)?;
            next.check_step(&world.objects, &held).map_err(wrong)?;
            seen.insert(state, held);
            waiting.push_back((next, path));
        }
    }
    Ok(seen.len())
}

fn steps(world: &World) -> Vec<Step> {
    let mut steps = Vec::new();
    for place in [0, 1] {
        if world.saves[place] < 2 {
            steps.push(Step::Save(place));
            steps.push(Step::Merge(place));
        }
        if world.saves[place] < 2 && world.online {
            steps.push(Step::Online(place, None));
            let requests = world.fork().save_online(place, None);
            for at in 0..requests {
                steps.extend(faults(place, at).map(|fault| Step::Online(place, Some((fault, at)))));
            }
        }
        steps.push(Step::Sync(place, None));
        let requests = world.fork().sync(place, None, None);
        for at in 0..requests {
            steps.extend(faults(place, at).map(|fault| Step::Sync(place, Some((fault, at)))));
            if world.saves[1 - place] > 0 {
                steps.push(Step::SyncDuring(place, at));
            }
        }
    }
    steps
}

const FAULTS: [Fault; 3] = [Fault::LostAnswer, Fault::DeathBefore, Fault::DeathAfter];

/// The faults that are tried at a request of a store; in the short form one of the three, by turns. The remotes and stores
/// without a protection are noticed with these too.
fn faults(place: usize, at: usize) -> impl Iterator<Item = Fault> {
    let is_tried = move |nth: &usize| amount(0, 1) == 1 || (nth + at + place).is_multiple_of(FAULTS.len());
    (0..FAULTS.len()).filter(is_tried).map(|nth| FAULTS[nth])
}

/// Tries every order of so many steps of two stores.
fn assert_sound(world: World, depth: usize) {
    let states = explore(world, depth).unwrap_or_else(|violation| panic!("{violation}"));
    assert!(states > 300, "only {states} states were tried");
}

#[test]
fn every_order_of_steps_keeps_the_promises() {
    assert_sound(World::new(2, None, None), 4);
}

#[test]
fn every_order_of_steps_of_stores_that_are_online_keeps_the_promises() {
    assert_sound(World { online: true, ..World::new(2, None, None) }, 3);
}

#[test]
fn a_remote_without_a_protection_is_noticed() {
    // One that forgets empty objects is one without fillers.
    for lie in [Lie::Overwrites, Lie::DropsEmpty, Lie::KeepsNothing] {
        assert!(explore(World::new(2, Some(lie), None), 4).is_err(), "{lie:?} was not noticed");
    }
}

#[test]
fn a_store_that_does_not_check_whose_an_object_is_is_noticed() {
    let never: Mutant = |_, _| false;
    let always: Mutant = |_, _| true;
    for (mutant, what) in [(never, "one save is two checkpoints"), (always, "has")] {
        let online = World { online: true, ..World::new(2, None, Some(mutant)) };
        let violation = explore(online, 3).unwrap_err();
        assert!(violation.contains(what), "{violation}");
    }
}

/// Plays a history of three stores, and returns the first violation.
fn play(steps: &[Step]) -> Result<(), String> {
    let mut world = World::new(3, None, None);
    for step in steps {
        let before = world.objects.clone();
        world.take(*step);
        world.check(&before).map_err(|why| format!("{step:?}: {why}"))?;
    }
    world.check_peace()
}

#[test]
fn a_save_takes_a_number_that_a_join_skips() {
    use Step::{Merge, Save, SyncDuring};
    let steps = [Save(1), Save(0), SyncDuring(0, 0), Save(0), Save(1), Merge(0), SyncDuring(0, 1)];
    play(&steps).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
fn a_remote_is_set_up_although_an_answer_is_lost() {
    for at in 0..4 {
        let objects = Rc::new(RefCell::new(Objects::new()));
        let mut remote = MemoryRemote::new(&objects);
        remote.fault = Some((Fault::LostAnswer, at));
        let pause = |_| {};
        assert!(Retrying::new(&mut remote, pause).claim_layout().unwrap(), "request {at}");
        assert!(!Retrying::new(&mut remote, pause).claim_layout().unwrap(), "request {at}");
    }
}

/// A step of a random history of three stores.
fn any_step() -> impl Strategy<Value = Step> {
    let fault = prop::option::weighted(0.3, (prop::sample::select(&FAULTS[..]), 0..6_usize));
    (0..3_usize, fault, 0..6_usize, 0..10_u8).prop_map(|(place, fault, at, kind)| match kind {
        0..=2 => Step::Save(place),
        3..=5 => Step::Online(place, fault),
        6..=7 => Step::Sync(place, fault),
        8 => Step::SyncDuring(place, at),
        _ => Step::Merge(place),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: u32::try_from(amount(60, 2_000)).unwrap(), max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn three_stores_that_are_online_and_offline_end_up_equal(steps in prop::collection::vec(any_step(), 1..14)) {
        play(&steps).map_err(TestCaseError::fail)?;
    }
}
