//! Savers, cleanups and archivers as processes and threads at once: nothing acknowledged is lost, numbers stay dense.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex};

use ckpt_model::change::Stamp;
use ckpt_model::checkpoint::Writer;
use ckpt_model::retention::{RetentionSettings, plan};
use ckpt_model::{ArchiveReason, Handle, Timestamp, WorkflowId};
use ckpt_store::Located;
use ckpt_store::{Error, Store};

use crate::support::project::World;

const MUCH_LATER: &str = "2026-03-30T12:00:00Z";
/// How often each saver saves.
const SAVES: usize = 12;

fn store(world: &World) -> Store {
    Store::at(&Located { root: world.store(), project: world.project() }).unwrap()
}

fn stamp(round: u32) -> Stamp {
    Stamp {
        now: Timestamp::parse("2026-01-31T22:00:00Z").unwrap(),
        save_id: format!("archiver{round}"),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    }
}

fn archive(world: &World, round: u32) {
    let id: WorkflowId = "042".parse().unwrap();
    match store(world).archive(&id, &ArchiveReason::Completed, &stamp(round), &mut |_| {}) {
        Ok(_) => {}
        // Somebody else was at the same files all the time; the next one completes it.
        Err(Error::Io { source, .. }) => {
            assert_eq!(source.kind(), std::io::ErrorKind::ResourceBusy, "{source}");
        }
        Err(error) => panic!("{error}"),
    }
}

/// The saves of one race. Everything else runs as long as somebody saves, so that no clock decides how much happens.
pub(super) struct Race {
    state: Mutex<RaceState>,
    changed: Condvar,
}

#[derive(Default)]
struct RaceState {
    savers: usize,
    acknowledged: BTreeSet<String>,
}

impl Race {
    pub(super) fn with_savers(savers: usize) -> Self {
        let state = RaceState { savers, ..RaceState::default() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Saves many times; every save is acknowledged with a handle of its own.
    pub(super) fn save(&self, world: &World, name: &str, trigger: &str) {
        for round in 0..SAVES {
            let member = format!("{name}{round}=1");
            let saved = world.run(&["save", "042", "-q", "--trigger", trigger, "--set", &member]).succeeds();
            let new = self.state.lock().unwrap().acknowledged.insert(saved.stdout.trim().to_owned());
            self.changed.notify_all();
            assert!(new, "{saved}");
        }
        self.state.lock().unwrap().savers -= 1;
        self.changed.notify_all();
    }

    /// Acts over and over until the savers are done.
    pub(super) fn meanwhile(&self, act: impl Fn(u32)) {
        for round in 0.. {
            if self.state.lock().unwrap().savers == 0 {
                break;
            }
            act(round);
        }
    }

    /// Acts after each acknowledged save until the savers are done.
    pub(super) fn after_each_save(&self, act: impl Fn(u32)) {
        let mut seen = 0;
        for round in 0.. {
            let state = self.state.lock().unwrap();
            let waits = |state: &mut RaceState| state.savers > 0 && state.acknowledged.len() == seen;
            let state = self.changed.wait_while(state, waits).unwrap();
            if state.savers == 0 {
                break;
            }
            seen = state.acknowledged.len();
            drop(state);
            act(round);
        }
    }

    pub(super) fn acknowledged(self) -> BTreeSet<String> {
        self.state.into_inner().unwrap().acknowledged
    }
}

#[test]
fn cleanups_against_savers_against_archivers() {
    let world = World::on_disk().with_processes();
    world.run(&["save", "042"]).succeeds();
    let triggers = ["batch_complete", "user_interrupt", "manual"];
    let race = Race::with_savers(triggers.len());
    std::thread::scope(|scope| {
        for trigger in triggers {
            scope.spawn(|| race.save(&world, trigger, trigger));
        }
        for args in [&["cleanup"][..], &["cleanup", "--keep-last", "2"]] {
            scope.spawn(|| race.meanwhile(|_| drop(world.run(args).succeeds())));
        }
        scope.spawn(|| race.after_each_save(|round| archive(&world, round)));
    });
    let acknowledged = race.acknowledged();
    assert_eq!(acknowledged.len(), triggers.len() * SAVES);
    let numbers = world.numbers("042");
    assert_eq!(numbers, (1..=*numbers.last().unwrap()).collect::<Vec<_>>(), "dense");
    for handle in &acknowledged {
        let loaded = store(&world).load(&handle.parse::<Handle>().unwrap());
        assert!(loaded.is_ok(), "{handle}: {:?}", loaded.err());
    }
    for handle in acknowledged.iter().take(5) {
        assert_eq!(world.json(&["show", handle])["valid"], true, "{handle}");
    }
    world.run(&["verify"]).succeeds();
    // The next save has the work of all.
    let last = world.json(&["save", "042"])["handle"].as_str().unwrap().to_owned();
    let state = store(&world).load(&last.parse().unwrap()).unwrap().checkpoint.content.state.to_value().unwrap();
    assert_eq!(state.as_object().unwrap().len(), acknowledged.len());
}

/// A workflow is archived, cleaned up and saved to, over and over: every save continues above the seal it found.
#[test]
fn archivers_against_savers_against_cleanups() {
    let world = World::on_disk().with_processes();
    world.run(&["save", "042"]).succeeds();
    let race = Race::with_savers(2);
    std::thread::scope(|scope| {
        for saver in ["a", "b"] {
            scope.spawn(|| race.save(&world, saver, "manual"));
        }
        scope.spawn(|| {
            race.meanwhile(|_| drop(world.ckpt(&["cleanup"]).env("CKPT_NOW", MUCH_LATER).json()));
        });
        // One that is not slowed down by the start of a process.
        scope.spawn(|| {
            race.meanwhile(|round| {
                let policy = RetentionSettings::default().policy();
                let now = Timestamp::parse(MUCH_LATER).unwrap();
                let due = plan(&store(&world).cleanup_facts(&mut |_| {}).unwrap(), &policy, now).unwrap();
                let done = store(&world).clean_up(&due, &stamp(round), &mut |_| {});
                assert!(done.failures.is_empty(), "{:?}", done.failures);
            });
        });
        scope.spawn(|| race.after_each_save(|round| archive(&world, round)));
    });
    let acknowledged = race.acknowledged();
    assert_eq!(acknowledged.len(), 2 * SAVES);
    let newest = store(&world).head_number(&"042".parse().unwrap()).unwrap().unwrap();
    for seq in 1..=newest {
        let loaded = store(&world).load(&Handle::new(&"042".parse().unwrap(), seq));
        assert!(loaded.is_ok(), "{seq}: {:?}", loaded.err());
    }
    world.run(&["verify"]).succeeds();
    let last = world.json(&["save", "042"])["handle"].as_str().unwrap().to_owned();
    let state = store(&world).load(&last.parse().unwrap()).unwrap().checkpoint.content.state.to_value().unwrap();
    assert_eq!(state.as_object().unwrap().len(), acknowledged.len(), "the work of all");
}
