//! Runs the real save code of several savers, one step of one of them at a time, in an order that is given.
//!
//! Each saver has a thread, and only the one whose turn it is runs. Who comes next is decided at the steps where
//! savers can meet; a run is a list of these decisions, so the same list gives the same run.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};

use super::memory::MemoryDisk;
use super::tap::{Step, Tap, Tapped};
use super::world::{Ack, save, store_on, workflow};

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

    fn wait<'t>(&self, me: usize, turns: MutexGuard<'t, Turns>) -> MutexGuard<'t, Turns> {
        self.wake[me].wait_while(turns, |turns| turns.turn != Some(me)).unwrap()
    }

    fn finish(&self, me: usize, result: Result<Ack, String>) {
        let mut turns = self.turns.lock().unwrap();
        turns.live.retain(|live| *live != me);
        match result {
            Ok(ack) => turns.acked.push(ack),
            Err(why) => turns.failed.push(why),
        }
        self.decide(&mut turns, None);
    }
}

struct Turn<'a> {
    me: usize,
    /// Whether the directory of the workflow is still to be made.
    first: bool,
    scheduler: &'a Scheduler<'a>,
}

impl<D: ckpt::core::store::Disk> Tap<D> for Turn<'_> {
    fn before(&self, _: &D, step: Step, name: &str) -> io::Result<()> {
        let meets = match step {
            Step::MakeDir
            | Step::List
            | Step::Stage
            | Step::Publish
            | Step::Replace
            | Step::MoveAside
            | Step::Discard
            | Step::RemoveDir
            | Step::SyncDir => true,
            Step::Enter => self.first && name == workflow().directory(),
            // What these find cannot be changed by another saver.
            Step::Base
            | Step::Read
            | Step::Size
            | Step::Look
            | Step::Modified
            | Step::Lock
            | Step::LinkCount
            | Step::Identify => false,
        };
        if meets {
            let mut turns = self.scheduler.turns.lock().unwrap();
            self.scheduler.decide(&mut turns, Some(self.me));
            drop(self.scheduler.wait(self.me, turns));
        }
        Ok(())
    }
}

/// Runs `savers` savers on a copy of `start`, with `prefix` as the first decisions.
pub(super) fn run<T: Tap<MemoryDisk> + Sync>(
    (start, first): (&MemoryDisk, bool),
    savers: usize,
    mutant: &T,
    prefix: &[usize],
    seen: &Mutex<HashSet<(u64, Vec<Ack>)>>,
) -> Run {
    let turns = Turns {
        turn: None,
        live: (0..savers).collect(),
        choices: Vec::new(),
        acked: Vec::new(),
        failed: Vec::new(),
        moments: Vec::new(),
    };
    let wake = (0..savers).map(|_| Condvar::new()).collect();
    let scheduler = Scheduler { disk: start.fork(), prefix, seen, turns: Mutex::new(turns), wake };
    std::thread::scope(|scope| {
        for me in 0..savers {
            let scheduler = &scheduler;
            scope.spawn(move || {
                drop(scheduler.wait(me, scheduler.turns.lock().unwrap()));
                let turn = Turn { me, first, scheduler };
                let disk = Tapped { disk: scheduler.disk.clone(), tap: mutant };
                let saver = format!("saver {me}");
                let store = store_on(Tapped { disk, tap: &turn });
                // A saver that panics hands its turn on, or the others would wait for ever.
                let saved = catch_unwind(AssertUnwindSafe(|| save(&store, &saver)));
                let told = match saved {
                    Ok(Ok(saved)) => Ok(Ack::of(&saver, &saved)),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(_) => Err(format!("`{saver}` panicked")),
                };
                scheduler.finish(me, told);
            });
        }
        scheduler.decide(&mut scheduler.turns.lock().unwrap(), None);
    });
    let Turns { choices, acked, failed, moments, .. } = scheduler.turns.into_inner().unwrap();
    Run { disk: scheduler.disk, choices, acked, failed, moments }
}
