//! A store in a temporary directory, and a disk that fails, dies or is interrupted at a chosen step.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use ckpt_model::change::{Change, Edit, Stamp};
use ckpt_model::checkpoint::Writer;
use ckpt_model::digest::Digest;
use ckpt_model::finding::Severity;
use ckpt_model::{Checkpoint, Config, Handle, Timestamp, WorkflowId};
use ckpt_store::Store;
use ckpt_store::files::FileProblem;
use ckpt_store::save::{Outcome, Save};
use ckpt_store::{Access, Disk, Located, OsDisk, StagedFile, Stat};
use serde_json::{Value, json};

use ckpt::files::{copy_tree, memory_directory, state_of};
use ckpt::proof::{amount, figure};

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    count: AtomicU32,
}

pub(crate) fn id(text: &str) -> WorkflowId {
    text.parse().unwrap()
}

pub(crate) fn handle(seq: u64) -> Handle {
    Handle::new(&id("042"), seq)
}

impl World {
    pub(crate) fn new() -> Self {
        Self { dir: memory_directory(), count: AtomicU32::new(0) }
    }

    /// With `042/1` to `042/n`, whose states are `{"n": 1}` and so on.
    pub(crate) fn with(n: u64) -> Self {
        let world = Self::new();
        for n in 1..=n {
            world.save(json!({"n": n}));
        }
        world
    }

    /// Another world that is just like this one. To copy what took many saves is faster than to make it again.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::new();
        copy.count.store(self.count.load(Ordering::Relaxed), Ordering::Relaxed);
        copy_tree(self.dir.path(), copy.dir.path());
        copy
    }

    pub(crate) fn store(&self) -> Store {
        let project = self.dir.path().to_owned();
        Store::at(&Located { root: project.join(".ckpt"), project }).unwrap()
    }

    pub(crate) fn faulty(&self, disk: FaultyDisk) -> Store<FaultyDisk> {
        Store::on(disk, self.dir.path(), ".ckpt", self.dir.path())
    }

    /// Runs `act` on a copy of this world for each fault: every step fails once, and the process dies before every step
    /// that changes the disk. Between two changes the disk stays the same, so a death there leaves nothing new behind. In
    /// the short form, every third step that reads fails, and none that was taken twice since the last change.
    /// `check` looks at each copy afterwards, once for faults that end in the same way and leave the same state.
    /// Returns the number of steps.
    pub(crate) fn with_every_fault<T: Debug, E: Debug>(
        &self,
        act: impl Fn(&Store<FaultyDisk>, &Self) -> Result<T, E>,
        check: impl Fn(&Self, Result<T, E>, &str),
    ) -> usize {
        let run = |fault, at| {
            let world = self.copy();
            let store = world.faulty(FaultyDisk::new(&world, fault, at));
            let done = act(&store, &world);
            assert!(store.disk().reached(), "{fault:?} at step {at} was not reached");
            let log = store.disk().log();
            (world, done, log)
        };
        let (world, done, log) = run(Fault::None, 0);
        assert!(done.is_ok(), "without a fault: {done:?}");
        check(&world, done, "without a fault");
        let mut checked = BTreeSet::new();
        let mut taken = BTreeMap::<&str, usize>::new();
        for (at, step) in (1..).zip(&log) {
            let changes = CHANGES.iter().any(|change| step.starts_with(change));
            if changes {
                taken.clear();
            }
            let times = taken.entry(step).or_default();
            *times += 1;
            if !changes && (at % amount(3, 1) != 0 || *times > amount(2, usize::MAX)) {
                continue;
            }
            for fault in [Some(Fault::Fail), changes.then_some(Fault::Die)].into_iter().flatten() {
                let (world, done, _) = run(fault, at);
                if !checked.insert((world.state(), format!("{done:?}"))) {
                    continue;
                }
                let why = format!("{fault:?} at step {at}, {step}: {done:?}");
                check(&world, done, &why);
            }
        }
        figure(&format!("archive and repair: every failure and crash at {} steps of the `Disk` trait", log.len()));
        log.len()
    }

    /// A new stamp each time; a second passes between two of them.
    pub(crate) fn stamp(&self) -> Stamp {
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let now = format!("2026-01-16T20:{:02}:{:02}Z", count / 60 % 60, count % 60);
        Stamp {
            now: Timestamp::parse(&now).unwrap(),
            save_id: format!("{count:032x}"),
            writer: Writer::default(),
            git: None,
            watched: Vec::new(),
        }
    }

    pub(crate) fn save(&self, state: Value) -> Box<Checkpoint> {
        self.try_save(state).unwrap()
    }

    pub(crate) fn try_save(&self, state: Value) -> ckpt_store::Result<Box<Checkpoint>> {
        let change = Change { state: vec![Edit::Merge(state)], ..Change::default() };
        self.save_change(&change)
    }

    pub(crate) fn save_to<D: Disk>(&self, store: &Store<D>, state: Value) -> ckpt_store::Result<Box<Checkpoint>> {
        let change = Change { state: vec![Edit::Merge(state)], ..Change::default() };
        save(store, &change, &self.stamp())
    }

    pub(crate) fn save_change(&self, change: &Change) -> ckpt_store::Result<Box<Checkpoint>> {
        save(&self.store(), change, &self.stamp())
    }

    /// The file of a number in the live store.
    pub(crate) fn file(&self, seq: u64) -> PathBuf {
        self.store().checkpoint_path(&handle(seq))
    }

    pub(crate) fn bytes(&self, seq: u64) -> Vec<u8> {
        std::fs::read(self.file(seq)).unwrap()
    }

    /// Puts any bytes in the place of a checkpoint.
    pub(crate) fn damage(&self, seq: u64, bytes: &[u8]) {
        std::fs::remove_file(self.file(seq)).unwrap();
        std::fs::write(self.file(seq), bytes).unwrap();
    }

    /// Everything in the store: path and content.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut tree = BTreeMap::new();
        collect(&self.dir.path().join(".ckpt"), &mut tree);
        tree
    }

    /// The same for worlds in which the same is stored.
    pub(crate) fn state(&self) -> Digest {
        state_of(self.dir.path())
    }

    /// The findings of `verify` that need attention; the same state has the same findings, so each is verified once.
    pub(crate) fn findings(&self) -> Vec<String> {
        static KNOWN: Mutex<BTreeMap<Digest, Vec<String>>> = Mutex::new(BTreeMap::new());
        let state = self.state();
        if let Some(known) = KNOWN.lock().unwrap().get(&state) {
            return known.clone();
        }
        let found = self.store().verify(&[], &mut |_| {}).unwrap().findings.into_iter();
        let serious = found.filter(|finding| finding.severity > Severity::Info);
        let findings: Vec<_> = serious.map(|finding| format!("{:?}: {}", finding.path, finding.message)).collect();
        KNOWN.lock().unwrap().insert(state, findings.clone());
        findings
    }

    /// The only bundle.
    pub(crate) fn bundle(&self) -> PathBuf {
        let bundles = self.store().bundles(&id("042")).unwrap();
        assert_eq!(bundles.len(), 1, "{bundles:?}");
        self.store().bundle_path(&id("042"), &bundles[0])
    }
}

fn collect(dir: &Path, tree: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, tree);
        } else {
            drop(tree.insert(path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

pub(crate) fn state(checkpoint: &Checkpoint) -> Value {
    checkpoint.content.state.to_value().unwrap()
}

/// How the steps that change the disk begin.
const CHANGES: [&str; 6] = ["make", "stage", "publish", "replace", "move", "remove"];

/// The fault at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// It fails, and the next ones work.
    Fail,
    /// The process dies before it: nothing works any more.
    Die,
}

/// Happens before each of the next listings.
struct Event {
    listings: usize,
    act: Box<dyn Fn() + Send>,
}

/// The real disk, with something happening at step `at`.
pub(crate) struct FaultyDisk {
    inner: OsDisk,
    fault: Fault,
    at: usize,
    steps: AtomicUsize,
    log: Mutex<Vec<String>>,
    interruption: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    event: Mutex<Option<Event>>,
    /// So many listings leave this name out, as they may if the file is replaced while they are read.
    unlisted: Mutex<Option<(String, usize)>>,
}

impl FaultyDisk {
    pub(crate) fn new(world: &World, fault: Fault, at: usize) -> Self {
        Self {
            inner: OsDisk::new(world.dir.path()),
            fault,
            at,
            steps: AtomicUsize::new(0),
            log: Mutex::default(),
            interruption: Mutex::default(),
            event: Mutex::default(),
            unlisted: Mutex::default(),
        }
    }

    /// Does something else just before each of the first listings.
    pub(crate) fn busy(world: &World, listings: usize, event: impl Fn() + Send + 'static) -> Self {
        let disk = Self::new(world, Fault::None, 0);
        *disk.event.lock().unwrap() = Some(Event { listings, act: Box::new(event) });
        disk
    }

    /// Leaves a name out of the first listings that would have it.
    pub(crate) fn without_listed(world: &World, name: String, listings: usize) -> Self {
        Self { unlisted: Mutex::new(Some((name, listings))), ..Self::new(world, Fault::None, 0) }
    }

    /// Does something else just before step `at`.
    pub(crate) fn interrupted(world: &World, at: usize, interruption: impl FnOnce() + Send + 'static) -> Self {
        let disk = Self::new(world, Fault::None, at);
        *disk.interruption.lock().unwrap() = Some(Box::new(interruption));
        disk
    }

    /// The steps so far.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// True if step `at` was reached.
    pub(crate) fn reached(&self) -> bool {
        self.steps.load(Ordering::Relaxed) >= self.at
    }

    fn step<T>(&self, what: String, run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        self.log.lock().unwrap().push(what);
        let interruption = if step == self.at { self.interruption.lock().unwrap().take() } else { None };
        if let Some(interruption) = interruption {
            interruption();
        }
        let broken = || Err(io::Error::from_raw_os_error(5));
        match self.fault {
            Fault::Fail if step == self.at => broken(),
            Fault::Die if step >= self.at => broken(),
            _ => run(),
        }
    }

    fn file_step<T>(&self, what: String, run: impl FnOnce() -> Result<T, FileProblem>) -> Result<T, FileProblem> {
        let mut problem = None;
        let done = self.step(what, || {
            run().map_err(|why| {
                problem = Some(why);
                io::Error::from_raw_os_error(5)
            })
        });
        done.map_err(|error| problem.unwrap_or(FileProblem::Io(error)))
    }
}

impl Disk for FaultyDisk {
    type Dir = <OsDisk as Disk>::Dir;
    type Lock = <OsDisk as Disk>::Lock;
    type File = <OsDisk as Disk>::File;

    fn base(&self) -> io::Result<Self::Dir> {
        self.step("base".into(), || self.inner.base())
    }
    fn enter(&self, dir: &Self::Dir, name: &str) -> io::Result<Self::Dir> {
        self.step(format!("enter {name}"), || self.inner.enter(dir, name))
    }
    fn make_dir(&self, dir: &Self::Dir, name: &str) -> io::Result<()> {
        self.step(format!("make {name}"), || self.inner.make_dir(dir, name))
    }
    fn list(&self, dir: &Self::Dir, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        if let Some(Event { listings: left @ 1.., act }) = self.event.lock().unwrap().as_mut() {
            *left -= 1;
            act();
        }
        self.step("list".into(), || {
            self.inner.list(dir, &mut |name| {
                if let Some((unlisted, left @ 1..)) = self.unlisted.lock().unwrap().as_mut()
                    && unlisted == name
                {
                    *left -= 1;
                    return;
                }
                visit(name);
            })
        })
    }
    fn is_short(&self, dir: &Self::Dir) -> io::Result<bool> {
        self.step("size of a directory".into(), || self.inner.is_short(dir))
    }
    fn read(&self, dir: &Self::Dir, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        self.file_step(format!("read {name}"), || self.inner.read(dir, name, limit))
    }
    fn open(&self, dir: &Self::Dir, name: &str) -> Result<Self::File, FileProblem> {
        self.file_step(format!("open {name}"), || self.inner.open(dir, name))
    }
    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat> {
        self.step("stat of a directory".into(), || self.inner.stat_dir(dir))
    }
    fn stat(&self, dir: &Self::Dir, name: &str) -> io::Result<Stat> {
        self.step(format!("stat {name}"), || self.inner.stat(dir, name))
    }
    /// Never: correctness does not depend on it, and an interrupting writer would wait for it.
    fn lock(&self, _dir: &Self::Dir, _patience: Duration) -> Option<Self::Lock> {
        None
    }
    fn stage(&self, dir: &Self::Dir, name: &str, bytes: &[u8], access: Access) -> io::Result<StagedFile<Self::Lock>> {
        self.step(format!("stage {} bytes", bytes.len()), || self.inner.stage(dir, name, bytes, access))
    }
    fn create(&self, dir: &Self::Dir, name: &str, size: u64) -> io::Result<Self::File> {
        self.step(format!("stage at most {size} bytes"), || self.inner.create(dir, name, size))
    }
    fn publish(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()> {
        self.step(format!("publish {name}"), || self.inner.publish(dir, staged, name))
    }
    fn replace(&self, dir: &Self::Dir, staged: &str, name: &str) -> io::Result<()> {
        self.step(format!("replace {name}"), || self.inner.replace(dir, staged, name))
    }
    fn move_aside(&self, dir: &Self::Dir, name: &str, to: &Self::Dir, new: &str) -> io::Result<()> {
        self.step(format!("move {name}"), || self.inner.move_aside(dir, name, to, new))
    }
    fn remove(&self, dir: &Self::Dir, name: &str) -> io::Result<()> {
        self.step("remove".into(), || self.inner.remove(dir, name))
    }
    fn remove_stale(&self, dir: &Self::Dir, name: &str) -> io::Result<bool> {
        self.step("remove stale".into(), || self.inner.remove_stale(dir, name))
    }
    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()> {
        self.step("sync".into(), || self.inner.sync_dir(dir))
    }
    fn pause(&self, _duration: Duration) {}
}

/// Thread 0 archives; the others each save a member of their own.
pub(crate) fn act(store: &Store, thread: u32, round: u32) {
    let stamp = Stamp {
        now: Timestamp::parse("2026-01-16T22:00:00Z").unwrap(),
        save_id: format!("thread{thread}round{round}"),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    };
    if thread == 0 {
        store.archive(&id("042"), &ckpt_model::ArchiveReason::Cleanup, &stamp, &mut |_| {}).unwrap();
        return;
    }
    let member = json!({format!("t{thread}r{round}"): 1});
    let change = Change { state: vec![Edit::Merge(member)], ..Change::default() };
    save(store, &change, &stamp).unwrap();
}

fn save<D: Disk>(store: &Store<D>, change: &Change, stamp: &Stamp) -> ckpt_store::Result<Box<Checkpoint>> {
    let (workflow, config) = (id("042"), Config::default());
    match Save::new(&workflow, change, stamp, &config).to(store)? {
        Outcome::Written(checkpoint) | Outcome::Reopened(checkpoint) => Ok(checkpoint),
        other => panic!("{other:?}"),
    }
}
