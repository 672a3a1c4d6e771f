//! Every order of the steps of two stores and one remote, up to a depth: saves, syncs and joins, where each request of a sync
//! may lose its answer, kill the client before or after it, or let the other store sync in between.
//!
//! The real plan and its execution run on disks in memory. After every step: nothing acknowledged is lost, one checkpoint
//! has one name on the remote, names never change. When all sync in peace afterwards: both stores and the remote have the
//! same checkpoints, the main line is dense, `verify` finds nothing, and one join makes one head.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::rc::Rc;

use ckpt::core::change::{Change, Edit, Merge, Stamp};
use ckpt::core::checkpoint::Writer;
use ckpt::core::digest::Digest;
use ckpt::core::finding::Severity;
use ckpt::core::format::{self, Links};
use ckpt::core::merge::{Resolutions, Side};
use ckpt::core::save::Save;
use ckpt::core::sync::{Exchange, ObjectName, Patient};
use ckpt::core::{Config, Handle, Store, Timestamp, WorkflowId};
use serde_json::json;

use super::remote::{Fault, Lie, MemoryRemote, Objects};
use crate::support::memory::MemoryDisk;
use crate::support::store::id;

const STORES: [&str; 2] = ["a", "b"];

#[derive(Clone)]
struct World {
    disks: [MemoryDisk; 2],
    objects: Objects,
    /// The saves so far, of each store.
    saves: [u32; 2],
    /// The digests that each store has acknowledged.
    acknowledged: BTreeSet<String>,
    lie: Option<Lie>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Save(usize),
    Join(usize),
    Sync(usize, Option<(Fault, usize)>),
    /// The other store syncs between two requests of this one.
    SyncDuring(usize, usize),
}

impl World {
    fn new(lie: Option<Lie>) -> Self {
        Self {
            disks: [MemoryDisk::new(), MemoryDisk::new()],
            objects: Objects::new(),
            saves: [0, 0],
            acknowledged: BTreeSet::new(),
            lie,
        }
    }

    fn fork(&self) -> Self {
        Self { disks: [self.disks[0].fork(), self.disks[1].fork()], ..self.clone() }
    }

    fn store(&self, place: usize) -> Store<MemoryDisk> {
        Store::on(self.disks[place].clone(), Path::new("/"), ".ckpt", Path::new("/"))
    }

    fn fingerprint(&self) -> (u64, u64, Objects) {
        (self.disks[0].fingerprint(), self.disks[1].fingerprint(), self.objects.clone())
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

    /// Returns false if there is nothing to join.
    fn join(&mut self, place: usize) -> bool {
        let (store, workflow) = (self.store(place), id("042"));
        let heads = store.other_heads(&workflow).unwrap();
        let Some(other) = heads.first() else { return false };
        let newest = store.head_number(&workflow).unwrap().unwrap();
        let ours = store.load_content(Handle::new(&workflow, newest)).unwrap();
        let theirs = store.load_content(other.clone()).unwrap();
        let origin = store.common_origin(&workflow, &ours, &theirs).unwrap();
        let origin = origin.map(|origin| store.load_content(origin).unwrap().content).unwrap_or_default();
        let resolutions = Resolutions { rest: Some(Side::Ours), ..Resolutions::default() };
        let merge = Some(Box::new(Merge { origin, theirs, resolutions }));
        self.save(place, &Change { merge, ..Change::default() });
        true
    }

    /// Syncs a store; returns the number of requests.
    fn sync(&mut self, place: usize, fault: Option<(Fault, usize)>, during: Option<usize>) -> usize {
        let objects = Rc::new(RefCell::new(self.objects.clone()));
        let other = self.store(1 - place);
        let lie = self.lie;
        let event = || {
            let mut remote = MemoryRemote::new(&objects);
            remote.lie = lie;
            exchange(&other, &mut remote);
        };
        let mut remote = MemoryRemote::new(&objects);
        (remote.fault, remote.lie) = (fault, lie);
        remote.event = during.map(|at| (at, &event as &dyn Fn()));
        exchange(&self.store(place), &mut remote);
        let requests = remote.requests;
        self.objects = objects.borrow().clone();
        requests
    }

    /// Returns the digests that a store has.
    fn held(&self, place: usize) -> BTreeSet<String> {
        let (store, workflow) = (self.store(place), id("042"));
        let head = store.head_number(&workflow).unwrap().unwrap_or_default();
        let main = (1..=head).filter_map(|seq| store.load(&Handle::new(&workflow, seq)).ok());
        let sides = store.sides(&workflow).unwrap().into_iter();
        let sides = sides.map(|(seq, digest)| store.load(&Handle::side(&workflow, seq, digest)).unwrap());
        main.chain(sides).map(|stored| stored.checkpoint.sha256.to_hex()).collect()
    }

    /// Checks what must hold at any time.
    fn check(&self, before: &Objects) -> Result<(), String> {
        let held: BTreeSet<String> = self.held(0).union(&self.held(1)).cloned().collect();
        if let Some(lost) = self.acknowledged.difference(&held).next() {
            return Err(format!("an acknowledged save was lost: {lost}"));
        }
        if before.iter().any(|(key, bytes)| self.objects.get(key) != Some(bytes)) {
            return Err("an object of the remote changed".to_owned());
        }
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for bytes in self.objects.values().filter(|bytes| !bytes.is_empty()) {
            let links: Links = format::decode_part(bytes).map_err(|why| why.to_string())?;
            *names.entry(links.sha256.to_hex()).or_default() += 1;
        }
        if names.values().any(|count| *count > 1) {
            return Err("one checkpoint has two names on the remote".to_owned());
        }
        Ok(())
    }

    /// Checks what must hold after all have synced in peace, and that one join makes one head.
    fn check_peace(&self) -> Result<(), String> {
        let mut world = self.fork();
        world.settle();
        world.check_replicas()?;
        if world.join(0) {
            world.settle();
            world.check_replicas()?;
            for place in [0, 1] {
                let heads = world.store(place).other_heads(&id("042")).map_err(|error| error.to_string())?;
                if !heads.is_empty() {
                    return Err(format!("a join left heads in {}: {heads:?}", STORES[place]));
                }
            }
        }
        Ok(())
    }

    fn settle(&mut self) {
        for place in [0, 1, 0, 1] {
            self.sync(place, None, None);
        }
    }

    fn check_replicas(&self) -> Result<(), String> {
        let stored = self.objects.values().filter(|bytes| !bytes.is_empty());
        let remote: BTreeSet<String> =
            stored.map(|bytes| format::decode_part::<Links>(bytes).unwrap().sha256.to_hex()).collect();
        for place in [0, 1] {
            let held = self.held(place);
            if held != remote {
                return Err(format!("{} has {held:?}, the remote {remote:?}", STORES[place]));
            }
            let verification = self.store(place).verify(&[], &mut |_| {}).unwrap();
            if let Some(found) =
                verification.findings.iter().find(|finding| finding.severity >= Severity::Blocker)
            {
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
            Step::Save(place) => {
                let state = json!({ STORES[place]: self.saves[place] });
                self.save(place, &Change { state: vec![Edit::Merge(state)], ..Change::default() });
            }
            Step::Join(place) => return self.join(place),
            Step::Sync(place, fault) => drop(self.sync(place, fault, None)),
            Step::SyncDuring(place, at) => drop(self.sync(place, None, Some(at))),
        }
        true
    }
}

fn exchange(store: &Store<MemoryDisk>, remote: &mut MemoryRemote<'_>) {
    let workflow: WorkflowId = id("042");
    let pause = |_| {};
    store.create().unwrap();
    let mut exchange = Exchange::new(store, Patient::new(remote, &pause), Digest::of(b"remote"), "sync");
    let Ok(mut names) = exchange.names(Some(&workflow)) else { return };
    let names = names.remove(&workflow).unwrap_or_default();
    if exchange.pull(&workflow, &names).is_ok() {
        let _ = exchange.push(&workflow, Some(&names));
    }
}

/// Tries every sequence of steps; returns the number of states, or the first violation with its steps.
fn explore(lie: Option<Lie>, depth: usize) -> Result<usize, String> {
    let mut seen = HashSet::new();
    let mut waiting = vec![(World::new(lie), Vec::<Step>::new())];
    let mut states = 0;
    while let Some((world, path)) = waiting.pop() {
        states += 1;
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
            next.check(&world.objects).map_err(|why| format!("{path:?}: {why}"))?;
            if seen.insert((next.fingerprint(), path.len())) {
                waiting.push((next, path));
            }
        }
    }
    Ok(states)
}

fn steps(world: &World) -> Vec<Step> {
    let mut steps = Vec::new();
    for place in [0, 1] {
        if world.saves[place] < 2 {
            steps.push(Step::Save(place));
            steps.push(Step::Join(place));
        }
        steps.push(Step::Sync(place, None));
        let requests = world.fork().sync(place, None, None);
        for at in 0..requests {
            steps.extend(
                [Fault::LostAnswer, Fault::DeathBefore, Fault::DeathAfter]
                    .map(|fault| Step::Sync(place, Some((fault, at)))),
            );
            if world.saves[1 - place] > 0 {
                steps.push(Step::SyncDuring(place, at));
            }
        }
    }
    steps
}

#[test]
fn every_order_of_steps_keeps_the_promises() {
    let states = explore(None, 4).unwrap_or_else(|violation| panic!("{violation}"));
    assert!(states > 300, "only {states} states were tried");
}

#[test]
fn a_remote_without_a_protection_is_noticed() {
    for lie in [Lie::Overwrites, Lie::DropsEmpty, Lie::KeepsNothing] {
        assert!(explore(Some(lie), 4).is_err(), "{lie:?} was not noticed");
    }
}
