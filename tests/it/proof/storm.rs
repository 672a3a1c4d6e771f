//! Savers, kills, cleanups, archivers and checks at once, on default settings.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ckpt_model::Handle;

use crate::support::project::World;
use crate::support::proof::{amount, figure};
use ckpt::file_system::{FileSystem, Kind};

pub(super) const SAVERS: usize = 6;
/// Every so many saves of a saver, one is killed.
const KILLED: usize = 5;

/// The other commands that run while the savers save, and the exit codes that it may end with.
const MEANWHILE: [(&[&str], &[i32]); 6] = [
    (&["cleanup"], &[0]),
    (&["cleanup", "--keep-last", "2", "--max-age", "1s"], &[0]),
    (&["archive", "042", "--as", "completed"], &[0]),
    (&["restore", "042"], &[0, 9]),
    (&["verify"], &[0]),
    (&["verify", "--repair"], &[0]),
];

/// Handles that were acknowledged, with the name of the saver and its count. Each saver counts in a member of its own.
pub(super) type Acknowledged = BTreeMap<String, (String, usize)>;

/// Many processes that work on workflow `042` at once.
pub(super) struct Storm<'a> {
    world: &'a World,
    acknowledged: Mutex<Acknowledged>,
    savers_at_work: AtomicUsize,
    power_is_cut: AtomicBool,
    killed: AtomicUsize,
}

impl<'a> Storm<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Self {
            world,
            acknowledged: Mutex::default(),
            savers_at_work: AtomicUsize::new(SAVERS),
            power_is_cut: AtomicBool::new(false),
            killed: AtomicUsize::new(0),
        }
    }

    /// Lets each saver count from `start` for so many saves. Calls `cut` once after so many acknowledged saves.
    pub(super) fn rage(&self, start: usize, saves: usize, power_cut: Option<(usize, &(dyn Fn() + Sync))>) {
        std::thread::scope(|scope| {
            for saver in 0..SAVERS {
                scope.spawn(move || self.save(&format!("saver{saver}"), start, saves));
            }
            for (args, exits) in MEANWHILE {
                scope.spawn(move || self.repeat(args, exits));
            }
            if let Some((acknowledged, cut)) = power_cut {
                while self.is_saving() && self.acknowledged.lock().unwrap().len() < acknowledged {
                    std::thread::sleep(Duration::from_millis(1));
                }
                self.stop_counting();
                cut();
            }
        });
    }

    pub(super) fn killed(&self) -> usize {
        self.killed.load(Ordering::SeqCst)
    }

    pub(super) fn acknowledged(self) -> Acknowledged {
        self.acknowledged.into_inner().unwrap()
    }

    fn is_saving(&self) -> bool {
        self.savers_at_work.load(Ordering::SeqCst) > 0
    }

    fn power_is_cut(&self) -> bool {
        self.power_is_cut.load(Ordering::SeqCst)
    }

    /// Ends the record of what was acknowledged. A file system that is being shut down may answer a sync with success
    /// and lose the write (`super::shutdown`), so only what was acknowledged before the cut begins is promised.
    fn stop_counting(&self) {
        let _acknowledged = self.acknowledged.lock().unwrap();
        self.power_is_cut.store(true, Ordering::SeqCst);
    }

    fn save(&self, name: &str, start: usize, saves: usize) {
        for count in start..start + saves {
            let member = format!("{name}={count}");
            let save = self.world.ckpt(&["save", "042", "-q", "--set", &member]);
            if count % KILLED == KILLED - 1 {
                let mut child = save.spawn();
                // A debug build takes a few milliseconds, so most kills hit it somewhere on its way.
                std::thread::sleep(Duration::from_micros((count * 977 % 4000) as u64));
                child.kill().unwrap();
                child.wait().unwrap();
                self.killed.fetch_add(1, Ordering::SeqCst);
                continue;
            }
            let outcome = save.run();
            let mut acknowledged = self.acknowledged.lock().unwrap();
            if self.power_is_cut() {
                break;
            }
            if !outcome.status.success() {
                self.savers_at_work.fetch_sub(1, Ordering::SeqCst);
                panic!("{outcome}");
            }
            let earlier = acknowledged.insert(outcome.stdout.trim().to_owned(), (name.to_owned(), count));
            assert_eq!(earlier, None, "a handle was given twice: {outcome}");
        }
        self.savers_at_work.fetch_sub(1, Ordering::SeqCst);
    }

    fn repeat(&self, args: &[&str], exits: &[i32]) {
        while self.is_saving() {
            let outcome = self.world.run(args);
            let documented = outcome.status.code().is_some_and(|code| exits.contains(&code));
            assert!(documented || self.power_is_cut(), "{args:?}: {outcome}");
        }
    }
}

/// Everything that was acknowledged is there with its content, and the next save has the work of all.
pub(super) fn assert_nothing_is_lost(world: &World, acknowledged: &Acknowledged) {
    let store = world.open_store();
    let mut newest = BTreeMap::<&str, usize>::new();
    for (handle, (saver, count)) in acknowledged {
        let loaded = store.load(&handle.parse::<Handle>().unwrap());
        let loaded = loaded.unwrap_or_else(|error| panic!("{handle} is lost: {error}"));
        let state = loaded.checkpoint.content.state.to_value().unwrap();
        assert_eq!(state[saver], *count, "{handle}: {state}");
        let highest = newest.entry(saver).or_default();
        *highest = (*count).max(*highest);
    }
    let numbers = world.numbers("042");
    assert_eq!(numbers, (1..=*numbers.last().unwrap()).collect::<Vec<_>>(), "dense");
    world.run(&["verify"]).succeeds();
    let next = world.run(&["save", "042", "-q"]).succeeds();
    let next = store.load(&next.stdout.trim().parse().unwrap()).unwrap();
    let state = next.checkpoint.content.state.to_value().unwrap();
    for (saver, count) in newest {
        assert!(state[saver].as_u64().unwrap() >= count as u64, "{saver} had reached {count}: {state}");
    }
}

#[test]
#[ignore = "is run by `storms_on_every_file_system`, which gives it a mount namespace"]
fn on_every_file_system() {
    for kind in Kind::ALL {
        let system = FileSystem::new(kind);
        let world = World::inside(&system.root()).with_processes();
        world.run(&["save", "042"]).succeeds();
        let storm = Storm::new(&world);
        storm.rage(0, amount(6, 200), None);
        let killed = storm.killed();
        let acknowledged = storm.acknowledged();
        assert_nothing_is_lost(&world, &acknowledged);
        figure(&format!(
            "storm on {kind}: {} acknowledged saves and {killed} killed ones of {SAVERS} savers, none lost",
            acknowledged.len()
        ));
    }
}
