//! Savers, cleanups and archivers as processes and threads at once: nothing acknowledged is lost, numbers stay dense.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ckpt::core::change::Stamp;
use ckpt::core::checkpoint::Writer;
use ckpt::core::retention::{RetentionSettings, plan};
use ckpt::core::store::Located;
use ckpt::core::{ArchiveReason, Error, Handle, Store, Timestamp, WorkflowId};

use crate::support::project::World;

const MUCH_LATER: &str = "2026-03-30T12:00:00Z";
const LASTS: Duration = Duration::from_secs(3);

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

#[test]
fn cleanups_against_savers_against_archivers() {
    let world = World::new();
    world.configure("[retention]\nbundles = -1\n");
    world.run(&["save", "042"]).succeeds();
    let acknowledged = Mutex::new(BTreeSet::new());
    let begun = Instant::now();
    let until_the_end = |act: &dyn Fn(u32)| (0..).take_while(|_| begun.elapsed() < LASTS).for_each(act);
    std::thread::scope(|scope| {
        for trigger in ["batch_complete", "user_interrupt", "manual"] {
            let (world, acknowledged) = (&world, &acknowledged);
            scope.spawn(move || {
                until_the_end(&|round| {
                    let member = format!("{trigger}{round}=1");
                    let saved =
                        world.run(&["save", "042", "-q", "--trigger", trigger, "--set", &member]).succeeds();
                    let new = acknowledged.lock().unwrap().insert(saved.stdout.trim().to_owned());
                    assert!(new, "{saved}");
                });
            });
        }
        for args in [&["cleanup"][..], &["cleanup", "--keep-last", "2"]] {
            let world = &world;
            scope.spawn(move || until_the_end(&|_| drop(world.run(args).succeeds())));
        }
        scope.spawn(|| {
            until_the_end(&|round| {
                archive(&world, round);
                std::thread::sleep(Duration::from_millis(150));
            });
        });
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    println!("{} saves", acknowledged.len());
    assert!(acknowledged.len() > 10, "{acknowledged:?}");
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
    // Whoever saves next has the work of all.
    let last = world.json(&["save", "042"])["handle"].as_str().unwrap().to_owned();
    let state =
        store(&world).load(&last.parse().unwrap()).unwrap().checkpoint.content.state.to_value().unwrap();
    assert_eq!(state.as_object().unwrap().len(), acknowledged.len());
}

/// A workflow is archived, cleaned up and saved to, over and over: every save goes on above the seal it found.
#[test]
fn archivers_against_savers_against_cleanups() {
    let world = World::new();
    world.configure("[retention]\nbundles = -1\n");
    world.run(&["save", "042"]).succeeds();
    let acknowledged = Mutex::new(BTreeSet::new());
    let begun = Instant::now();
    let until_the_end = |act: &dyn Fn(u32)| (0..).take_while(|_| begun.elapsed() < LASTS).for_each(act);
    std::thread::scope(|scope| {
        for saver in ["a", "b"] {
            let (world, acknowledged) = (&world, &acknowledged);
            scope.spawn(move || {
                until_the_end(&|round| {
                    let member = format!("{saver}{round}=1");
                    let saved = world.run(&["save", "042", "-q", "--set", &member]).succeeds();
                    let new = acknowledged.lock().unwrap().insert(saved.stdout.trim().to_owned());
                    assert!(new, "{saved}");
                    std::thread::sleep(Duration::from_millis(60));
                });
            });
        }
        scope.spawn(|| {
            until_the_end(&|_| drop(world.ckpt(&["cleanup"]).env("CKPT_NOW", MUCH_LATER).json()));
        });
        // One that is not slowed down by the start of a process.
        scope.spawn(|| {
            until_the_end(&|round| {
                let mut policy = RetentionSettings::default().policy();
                policy.bundles = None;
                let now = Timestamp::parse(MUCH_LATER).unwrap();
                let due = plan(&store(&world).cleanup_facts().unwrap(), &policy, now).unwrap();
                let done = store(&world).clean(&due, &stamp(round));
                assert!(done.failures.is_empty(), "{:?}", done.failures);
            });
        });
        scope.spawn(|| {
            until_the_end(&|round| {
                archive(&world, round);
                std::thread::sleep(Duration::from_millis(20));
            });
        });
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    let newest = store(&world).head_number(&"042".parse().unwrap()).unwrap().unwrap();
    for seq in 1..=newest {
        let loaded = store(&world).load(&Handle::new(&"042".parse().unwrap(), seq));
        assert!(loaded.is_ok(), "{seq}: {:?}", loaded.err());
    }
    world.run(&["verify"]).succeeds();
    let last = world.json(&["save", "042"])["handle"].as_str().unwrap().to_owned();
    let state =
        store(&world).load(&last.parse().unwrap()).unwrap().checkpoint.content.state.to_value().unwrap();
    assert_eq!(state.as_object().unwrap().len(), acknowledged.len(), "the work of all");
}
