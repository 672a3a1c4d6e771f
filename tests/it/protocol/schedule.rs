//! Runs the real code of several savers, one step of one of them at a time, in an order that is given.
//!
//! Each of them has a thread, and only the one whose turn it is runs. Who comes next is decided at the steps where
//! savers can meet; a run is a list of these decisions, so the same list gives the same run.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};

use ckpt::core::store::{Disk, STORE_NAME};

use crate::support::audit::{Ack, save, store_on, try_archive, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// The name of a number that no scene reaches.
const FAR_NUMBER: &str = "00000005.json";

/// One decision.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) chosen: usize,
    /// Who could have been chosen.
    pub(super) live: Vec<usize>,
    /// Who would have gone on; none if that saver was done.
    pub(super) running: Option<usize>,
}

/// What came of a run.
#[derive(Debug)]
pub(super) struct Run {
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
}

struct Scheduler<'a> {
    disk: MemoryDisk,
    prefix: &'a [usize],
    seen: &'a Mutex<HashSet<(u64, Vec<Ack>)>>,
    turns: Mutex<Turns>,
    wake: Vec<Condvar>,
}

impl Scheduler<'_> {
    /// Decides who is next. Without instructions, whoever is running goes on.
    fn decide(&self, turns: &mut Turns, running: Option<usize>) {
        let default = running.or(turns.live.first().copied());
        let chosen = self.prefix.get(turns.choices.len()).copied().or(default);
        turns.turn = chosen;
        let Some(chosen) = chosen else { return };
        if turns.choices.len() >= self.prefix.len() {
            let mut acked = turns.acked.clone();
            acked.sort();
            if self.seen.lock().unwrap().insert((self.disk.fingerprint(), acked)) {
                turns.moments.push((self.disk.fork(), turns.acked.clone()));
            }
        }
        turns.choices.push(Choice { chosen, live: turns.live.clone(), running });
        if running != Some(chosen) {
            self.wake[chosen].notify_one();
        }
    }

    /// Returns true if the directory of the workflow has this name.
    fn is_taken(&self, name: &str) -> bool {
        let dir = self.disk.reach(&[STORE_NAME, "workflows", &workflow().directory()]);
        dir.is_ok_and(|dir| self.disk.stat(&dir, name).is_ok())
    }

    fn wait<'t>(&self, me: usize, turns: MutexGuard<'t, Turns>) -> MutexGuard<'t, Turns> {
        self.wake[me].wait_while(turns, |turns| turns.turn != Some(me)).unwrap()
    }

    fn finish(&self, me: usize, result: Result<Option<Ack>, String>) {
        let mut turns = self.turns.lock().unwrap();
        turns.live.retain(|live| *live != me);
        match result {
            Ok(ack) => turns.acked.extend(ack),
            Err(why) => turns.failed.push(why),
        }
        self.decide(&mut turns, None);
    }
}

struct Turn<'a> {
    me: usize,
    /// Whether the directory of the workflow may come or go.
    comes_and_goes: bool,
    /// Whether somebody archives, so that files become tombstones.
    archives: bool,
    scheduler: &'a Scheduler<'a>,
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
            Step::Enter => self.comes_and_goes && name == workflow().directory(),
            // Another saver may take one of the next numbers, but none that is taken or further away.
            Step::Stat => name < FAR_NUMBER && !self.scheduler.is_taken(name),
            // What these find cannot be changed by another saver.
            Step::Read => self.archives,
            Step::Base | Step::Lock => false,
        };
        if meets {
            let mut turns = self.scheduler.turns.lock().unwrap();
            self.scheduler.decide(&mut turns, Some(self.me));
            drop(self.scheduler.wait(self.me, turns));
        }
        Ok(())
    }
}

/// Where a run begins, and who takes part.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) disk: MemoryDisk,
    /// Whether the directory of the workflow may come or go.
    pub(super) comes_and_goes: bool,
    pub(super) savers: usize,
    pub(super) archivers: usize,
}

/// Runs a scene on a copy of its disk, with `prefix` as the first decisions.
pub(super) fn run<T: Tap<MemoryDisk> + Sync>(
    scene: &Scene,
    mutant: &T,
    prefix: &[usize],
    seen: &Mutex<HashSet<(u64, Vec<Ack>)>>,
) -> Run {
    let everybody = scene.savers + scene.archivers;
    let turns = Turns {
        turn: None,
        live: (0..everybody).collect(),
        choices: Vec::new(),
        acked: Vec::new(),
        failed: Vec::new(),
        moments: Vec::new(),
    };
    let wake = (0..everybody).map(|_| Condvar::new()).collect();
    let scheduler = Scheduler { disk: scene.disk.fork(), prefix, seen, turns: Mutex::new(turns), wake };
    std::thread::scope(|scope| {
        for me in 0..everybody {
            let scheduler = &scheduler;
            scope.spawn(move || {
                drop(scheduler.wait(me, scheduler.turns.lock().unwrap()));
                let (comes_and_goes, archives) = (scene.comes_and_goes, scene.archivers > 0);
                let turn = Turn { me, comes_and_goes, archives, scheduler };
                let disk = Tapped { disk: scheduler.disk.clone(), tap: mutant };
                let store = store_on(Tapped { disk, tap: &turn });
                // Whoever panics hands the turn on, or the others would wait for ever.
                let saver = format!("saver {me}");
                let told = catch_unwind(AssertUnwindSafe(|| {
                    if me >= scene.savers {
                        let archived = try_archive(&store, &saver);
                        return archived.map(|_| None).map_err(|error| error.to_string());
                    }
                    match save(&store, &saver) {
                        Ok(saved) => Ok(Some(Ack::of(&saver, &saved))),
                        Err(error) => Err(error.to_string()),
                    }
                }));
                scheduler.finish(me, told.unwrap_or_else(|_| Err(format!("{me} panicked"))));
            });
        }
        scheduler.decide(&mut scheduler.turns.lock().unwrap(), None);
    });
    let Turns { choices, acked, failed, moments, .. } = scheduler.turns.into_inner().unwrap();
    Run { disk: scheduler.disk, choices, acked, failed, moments }
}
