//! Runs the real code of several savers, one step of one of them at a time, in an order that is given.
//!
//! Each of them has a thread, and only the one whose turn it is runs. Who comes next is decided at the steps where
//! savers can meet; a run is a list of these decisions, so the same list gives the same run.
//!
//! A saver is deterministic, so the answers that it got from the disk determine what it does next. A run that comes to a
//! state of the disk and of all savers that another run was in ends there: what follows is the same.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};

use ckpt_store::Error;
use ckpt_store::{Disk, HeadMemory, STORE_NAME};

use crate::support::audit::{Ack, content, save, save_captured, store_on, sweep, sweep_at_once, try_archive, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// The name of a number that no scene reaches.
const FAR_NUMBER: &str = "00000005.json";

/// The task of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Saves a mark.
    Save,
    /// Saves two marks, one after the other, and remembers the head from one to the next.
    Serve,
    /// Saves a mark and a content.
    Capture,
    /// Archives the workflow.
    Archive,
    /// Removes the objects that nothing refers to.
    Sweep,
    /// The same, without a second look at what is referred to.
    SweepAtOnce,
}

impl Role {
    /// Returns the saves that were acknowledged.
    fn run<D: Disk + Clone>(self, disk: &D, name: &str) -> Result<Vec<Ack>, Error> {
        let store = store_on(disk.clone());
        let saved = match self {
            Self::Save => save(&store, name)?,
            Self::Serve => {
                let store = store.remembering(HeadMemory::default());
                let first = Ack::of(name, &save(&store, name)?);
                let again = format!("{name} again");
                return Ok(vec![first, Ack::of(&again, &save(&store, &again)?)]);
            }
            Self::Capture => save_captured(&store, name)?,
            Self::Archive => return try_archive(&store, name).map(|_| Vec::new()),
            Self::Sweep => return sweep(&store, name).map(|()| Vec::new()),
            Self::SweepAtOnce => return sweep_at_once(disk).map(|()| Vec::new()),
        };
        Ok(vec![Ack::of(name, &saved)])
    }
}

/// One decision.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) chosen: usize,
    /// Who could have been chosen.
    pub(super) live: Vec<usize>,
    /// The saver that would have continued; none if it was done.
    pub(super) running: Option<usize>,
}

/// The results of all runs of a scene.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// States of the disk and the savers, with the fewest preemptions that led to each.
    states: HashMap<State, usize>,
    /// Disks, with what was acknowledged.
    moments: HashSet<(u64, Vec<Ack>)>,
}

impl Seen {
    /// How many different states of the disk and the savers were seen.
    pub(super) fn states(&self) -> usize {
        self.states.len()
    }
}

/// All that the rest of a run depends on.
#[derive(Debug, PartialEq, Eq, Hash)]
struct State {
    disk: u64,
    /// The answers that each saver got, hashed.
    answers: Vec<u64>,
    running: Option<usize>,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Run {
    /// True if it ended in a state that another run was in.
    pub(super) merged: bool,
    pub(super) disk: MemoryDisk,
    pub(super) choices: Vec<Choice>,
    pub(super) acked: Vec<Ack>,
    pub(super) failed: Vec<String>,
    /// The disk as it was at decisions that were not made before.
    pub(super) moments: Vec<(MemoryDisk, Vec<Ack>)>,
}

struct Turns {
    turn: Option<usize>,
    live: Vec<usize>,
    choices: Vec<Choice>,
    acked: Vec<Ack>,
    failed: Vec<String>,
    moments: Vec<(MemoryDisk, Vec<Ack>)>,
    answers: Vec<u64>,
    preemptions: usize,
    merged: bool,
}

struct Scheduler<'a> {
    disk: MemoryDisk,
    prefix: &'a [usize],
    seen: &'a Mutex<Seen>,
    turns: Mutex<Turns>,
    wake: Vec<Condvar>,
}

impl Scheduler<'_> {
    /// Decides who is next. Without instructions, the running one continues.
    fn decide(&self, turns: &mut Turns, running: Option<usize>) {
        let default = running.or(turns.live.first().copied());
        let chosen = self.prefix.get(turns.choices.len()).copied().or(default);
        turns.turn = chosen;
        let Some(chosen) = chosen else { return };
        if turns.choices.len() >= self.prefix.len() && !self.look(turns, running) {
            turns.merged = true;
            self.wake.iter().for_each(Condvar::notify_one);
            return;
        }
        turns.preemptions += usize::from(running.is_some_and(|running| running != chosen));
        turns.choices.push(Choice { chosen, live: turns.live.clone(), running });
        if running != Some(chosen) {
            self.wake[chosen].notify_one();
        }
    }

    /// Records the state. Returns false if another run was in it, with as many preemptions left.
    fn look(&self, turns: &mut Turns, running: Option<usize>) -> bool {
        let mut seen = self.seen.lock().unwrap();
        let state = State { disk: self.disk.exact_fingerprint(), answers: turns.answers.clone(), running };
        let fewest = seen.states.entry(state).or_insert(usize::MAX);
        if *fewest <= turns.preemptions {
            return false;
        }
        *fewest = turns.preemptions;
        let mut acked = turns.acked.clone();
        acked.sort();
        if seen.moments.insert((self.disk.fingerprint(), acked)) {
            turns.moments.push((self.disk.fork(), turns.acked.clone()));
        }
        true
    }

    /// Returns true if the directory of the workflow has this name.
    fn is_taken(&self, name: &str) -> bool {
        self.is_there(&["workflows", &workflow().directory()], name)
    }

    fn is_there(&self, dir: &[&str], name: &str) -> bool {
        let dir = self.disk.reach(&[&[STORE_NAME], dir].concat());
        dir.is_ok_and(|dir| self.disk.stat(&dir, name).is_ok())
    }

    /// Waits for the turn of a saver, or ends it if the run has merged with another one.
    fn wait(&self, me: usize, turns: MutexGuard<'_, Turns>) {
        let turns = self.wake[me].wait_while(turns, |turns| turns.turn != Some(me) && !turns.merged).unwrap();
        let merged = turns.merged;
        drop(turns);
        if merged {
            resume_unwind(Box::new("merged"));
        }
    }

    fn finish(&self, me: usize, result: Result<Vec<Ack>, String>) {
        let mut turns = self.turns.lock().unwrap();
        if turns.merged {
            return;
        }
        turns.live.retain(|live| *live != me);
        match result {
            Ok(acked) => turns.acked.extend(acked),
            Err(why) => turns.failed.push(why),
        }
        self.decide(&mut turns, None);
    }
}

struct Turn<'a> {
    me: usize,
    /// True if the directory of the workflow may come or go.
    comes_and_goes: bool,
    /// True if somebody archives, so that files become tombstones.
    archives: bool,
    /// The name of the content that may be kept.
    object: String,
    scheduler: &'a Scheduler<'a>,
}

impl Turn<'_> {
    /// Adds an answer to those that this saver got.
    fn remember(&self, answer: &str) {
        let mut turns = self.scheduler.turns.lock().unwrap();
        let mut hasher = DefaultHasher::new();
        (turns.answers[self.me], answer).hash(&mut hasher);
        turns.answers[self.me] = hasher.finish();
    }
}

impl<D: Disk> Tap<D> for Turn<'_> {
    fn before(&self, _: &D, step: Step, name: &str) -> io::Result<()> {
        let meets = match step {
            Step::MakeDir
            | Step::List
            | Step::IsShort
            | Step::Stage
            | Step::Publish
            | Step::Replace
            | Step::MoveAside
            | Step::Remove
            | Step::RemoveStale
            | Step::SyncDir => true,
            Step::Enter if name == "objects" => !self.scheduler.is_there(&[], name),
            Step::Enter if self.object.starts_with(name) => !self.scheduler.is_there(&["objects"], name),
            Step::Enter => self.comes_and_goes && name == workflow().directory(),
            // Another saver may take one of the next numbers, but none that is taken or further away.
            Step::Stat => name.starts_with(&self.object) || name < FAR_NUMBER && !self.scheduler.is_taken(name),
            // What these find cannot be changed by another saver, except for temporary files.
            Step::Read => self.archives || name.starts_with(".tmp-"),
            Step::Base | Step::Lock => false,
        };
        if meets {
            let mut turns = self.scheduler.turns.lock().unwrap();
            self.scheduler.decide(&mut turns, Some(self.me));
            self.scheduler.wait(self.me, turns);
        }
        Ok(())
    }

    fn listed(&self, name: &str) {
        self.remember(name);
    }

    fn answered(&self, answer: &dyn Debug) {
        self.remember(&format!("{answer:?}"));
    }
}

/// Where a run begins, and who takes part.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) disk: MemoryDisk,
    /// True if the directory of the workflow may come or go.
    pub(super) comes_and_goes: bool,
    pub(super) roles: &'static [Role],
}

/// Runs a scene on a copy of its disk, with `prefix` as the first decisions.
pub(super) fn run<T: Tap<MemoryDisk> + Sync>(scene: &Scene, mutant: &T, prefix: &[usize], seen: &Mutex<Seen>) -> Run {
    let everybody = scene.roles.len();
    let turns = Turns {
        turn: None,
        live: (0..everybody).collect(),
        choices: Vec::new(),
        acked: Vec::new(),
        failed: Vec::new(),
        moments: Vec::new(),
        answers: vec![0; everybody],
        preemptions: 0,
        merged: false,
    };
    let wake = (0..everybody).map(|_| Condvar::new()).collect();
    let scheduler = Scheduler { disk: scene.disk.fork(), prefix, seen, turns: Mutex::new(turns), wake };
    std::thread::scope(|scope| {
        for me in 0..everybody {
            let scheduler = &scheduler;
            scope.spawn(move || {
                let (comes_and_goes, archives) = (scene.comes_and_goes, scene.roles.contains(&Role::Archive));
                let object = content().sha256().to_hex();
                let turn = Turn { me, comes_and_goes, archives, object, scheduler };
                let disk = Tapped { disk: scheduler.disk.clone(), tap: mutant };
                let disk = Tapped { disk, tap: &turn };
                // A thread that panics passes the turn on, or the others would wait for ever.
                let told = catch_unwind(AssertUnwindSafe(|| {
                    scheduler.wait(me, scheduler.turns.lock().unwrap());
                    scene.roles[me].run(&disk, &format!("saver {me}")).map_err(|error| error.to_string())
                }));
                scheduler.finish(me, told.unwrap_or_else(|_| Err(format!("{me} panicked"))));
            });
        }
        scheduler.decide(&mut scheduler.turns.lock().unwrap(), None);
    });
    let Turns { choices, acked, failed, moments, merged, .. } = scheduler.turns.into_inner().unwrap();
    Run { merged, disk: scheduler.disk, choices, acked, failed, moments }
}
