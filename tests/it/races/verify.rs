//! `verify` and `verify --repair` beside others that work: no finding and no repair in a store that is sound, whatever
//! happens between any two of their steps.

use std::sync::Arc;

use ckpt_model::ArchiveReason;
use ckpt_model::finding::Severity;
use ckpt_model::retention::{KeepRules, Limit, Policy, RetentionSettings, Rules, RunRule, plan};
use ckpt_model::{Timestamp, span::Span};
use ckpt_store::{Disk, RestoreScope, Store};
use serde_json::json;

use crate::support::project;
use crate::support::proof::amount;
use crate::support::store::{FaultyDisk, World, id};
use ckpt::cleanup::Race;

/// Archives all but the newest checkpoint.
fn clean_up(world: &World, change: impl FnOnce(&mut Policy)) {
    let mut policy = RetentionSettings::default().policy();
    policy.rules = Rules::Everything;
    policy.keep = KeepRules { last: Limit::newest(1), ..KeepRules::default() };
    change(&mut policy);
    let now = Timestamp::parse("2026-01-16T22:00:00Z").unwrap();
    let plan = plan(&world.store().cleanup_facts(&mut |_| {}).unwrap(), &policy, now).unwrap();
    let cleaned = world.store().clean_up(&plan, &world.stamp(), &mut |_| {});
    assert!(cleaned.failures.is_empty(), "{:?}", cleaned.failures);
}

fn save(world: &World, count: u64) {
    for n in 1..=count {
        world.save(json!({"more": n}));
    }
}

fn archive(world: &World) {
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
}

fn restore(world: &World) {
    world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
}

/// Something that others do while a store is verified.
type Event = (&'static str, fn(&World));

const EXPIRY: &str = "fresh starts after which older runs expire";
const EVENTS: [Event; 6] = [
    ("saves and a cleanup", |world| {
        save(world, 3);
        clean_up(world, |_| {});
    }),
    ("saves and a purge", |world| {
        save(world, 3);
        clean_up(world, |policy| policy.purge = true);
    }),
    (EXPIRY, |world| {
        for _ in 0..2 {
            world.store().restart(&id("042"), &world.stamp()).unwrap();
            let previous_runs = Limit::newest(1).unwrap();
            clean_up(world, |policy| {
                policy.runs = Some(RunRule { previous_runs, failed_for: Span::from_days(30) });
            });
        }
    }),
    ("an archive", archive),
    ("a restore", restore),
    ("an archive, a restore and a save", |world| {
        archive(world);
        restore(world);
        save(world, 1);
    }),
];

/// Stores in which the events happen.
fn scenes() -> Vec<World> {
    let cleaned = World::with(3);
    clean_up(&cleaned, |_| {});
    save(&cleaned, 1);
    let sealed = World::with(2);
    archive(&sealed);
    vec![cleaned, sealed]
}

fn serious<D: Disk>(store: &Store<D>) -> Vec<String> {
    let findings = store.verify(&[], &mut |_| {}).unwrap().findings;
    let serious = findings.into_iter().filter(|finding| finding.severity > Severity::Info);
    serious.map(|finding| format!("{:?}: {}", finding.path, finding.message)).collect()
}

/// Returns the deletion records that say `lost`.
fn lost(world: &World) -> Vec<String> {
    let is_lost = |(path, bytes): &(_, Vec<u8>)| {
        let path: &std::path::PathBuf = path;
        path.extension().is_some_and(|extension| extension == "deleted") && bytes == b"lost\n"
    };
    world.tree().into_iter().filter(is_lost).map(|(path, _)| path.display().to_string()).collect()
}

/// Runs `act` with each event before each of its steps. In the short form, an event comes before every third step, and in
/// the second store before others than in the first.
fn with_events(act: impl Fn(&Store<FaultyDisk>, &World) -> Vec<String>) {
    for (index, scene) in scenes().iter().enumerate() {
        for (nth, (name, event)) in EVENTS.into_iter().enumerate() {
            let every = amount(3, 1);
            for at in (1 + (nth + index) % every..).step_by(every) {
                let world = Arc::new(scene.copy());
                let other = Arc::clone(&world);
                let store = world.faulty(FaultyDisk::interrupted(&world, at, move || event(&other)));
                let wrong = act(&store, &world);
                let when = format!("{name} before step {at} in store {index}");
                assert_eq!(wrong, [""; 0], "{when}: {:?}", store.disk().log());
                if !store.disk().reached() {
                    assert!(at > 10, "{when}");
                    break;
                }
                assert_eq!(lost(&world), [""; 0], "{when}");
                assert_eq!(world.findings(), [""; 0], "{when}");
            }
        }
    }
}

#[test]
fn verify_reports_nothing_that_others_did_meanwhile() {
    with_events(|store, _| serious(store));
}

#[test]
fn repair_does_nothing_about_what_others_did_meanwhile() {
    with_events(|store, world| {
        let done = store.repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        done.into_iter().map(|repair| format!("{repair:?}")).collect()
    });
}

#[test]
fn a_store_that_changes_before_many_listings_has_no_findings_and_needs_no_repair() {
    for (name, event) in EVENTS {
        for listings in [2, 5, 8, 12] {
            let busy = || {
                let world = Arc::new(World::with(3));
                let other = Arc::clone(&world);
                let disk = FaultyDisk::busy(&world, listings, move || event(&other));
                (world.faulty(disk), world)
            };
            let (store, _world) = busy();
            assert_eq!(serious(&store), [""; 0], "{name}, {listings} times");
            let (store, world) = busy();
            let done = store.repair(&[], &world.stamp(), &mut |_| {}).unwrap();
            assert!(done.is_empty(), "{name}, {listings} times: {done:?}");
            assert_eq!((lost(&world), world.findings()), (Vec::new(), Vec::new()), "{name}, {listings} times");
        }
    }
}

#[test]
fn a_number_that_a_listing_leaves_out_is_not_missing() {
    let world = World::with(1100);
    for seq in [1, 50, 1099] {
        let store = world.faulty(FaultyDisk::without_listed(&world, format!("{seq:08}.json"), usize::MAX));
        assert_eq!(serious(&store), [""; 0], "{seq}");
        let done = store.repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        assert!(done.is_empty(), "{seq}: {done:?}");
    }
}

/// While bundles are merged, a listing of the archive may miss both the new one and an old one.
#[test]
fn content_whose_bundle_a_listing_leaves_out_is_not_lost() {
    let scene = World::with(3);
    clean_up(&scene, |_| {});
    let bundle = scene.bundle().file_name().unwrap().to_str().unwrap().to_owned();
    for listings in 1..=3 {
        let world = scene.copy();
        let disk = || FaultyDisk::without_listed(&world, bundle.clone(), listings);
        assert_eq!(serious(&world.faulty(disk())), [""; 0], "{listings}");
        let done = world.faulty(disk()).repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        assert!(done.is_empty(), "{listings}: {done:?}");
        assert_eq!(lost(&world), [""; 0], "{listings}");
    }
}

/// A number that is lost for good is recorded, although others save, clean up, archive and restore all the time.
#[test]
fn a_real_loss_is_found_and_recorded_beside_others() {
    // The record of an expired bundle covers all numbers between its first and its last.
    for (name, event) in EVENTS.into_iter().filter(|(name, _)| *name != EXPIRY) {
        let world = Arc::new(World::with(5));
        std::fs::remove_file(world.file(2)).unwrap();
        let other = Arc::clone(&world);
        let store = world.faulty(FaultyDisk::busy(&world, 4, move || event(&other)));
        store.repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        let records = lost(&world);
        assert!(matches!(&records[..], [only] if only.ends_with("00000002-00000002.deleted")), "{name}: {records:?}");
        assert_eq!(world.findings(), [""; 0], "{name}");
    }
}

/// A backup is put back in place while a repair works.
#[test]
fn a_number_that_comes_back_is_not_recorded_as_lost() {
    let scene = World::with(5);
    let bytes = scene.bytes(2);
    std::fs::remove_file(scene.file(2)).unwrap();
    for at in 1.. {
        let world = Arc::new(scene.copy());
        let (path, copy) = (world.file(2), bytes.clone());
        let disk = FaultyDisk::interrupted(&world, at, move || {
            if !path.exists() {
                std::fs::write(&path, copy).unwrap();
            }
        });
        let store = world.faulty(disk);
        store.repair(&[], &world.stamp(), &mut |_| {}).unwrap();
        let (came_back, records) = (!world.bytes(2).is_empty(), lost(&world));
        assert_eq!(records.is_empty(), came_back, "step {at}: {records:?}");
        assert_eq!(world.findings(), [""; 0], "step {at}");
        if !store.disk().reached() {
            assert!(at > 20 && !came_back, "{at}");
            break;
        }
    }
}

#[test]
fn processes_that_verify_and_repair_beside_savers_and_cleanups_find_nothing() {
    let world = project::World::on_disk().with_processes();
    world.run(&["save", "042"]).succeeds();
    let triggers = ["batch_complete", "user_interrupt", "manual"];
    let race = Race::with_savers(triggers.len());
    let check = |args: &[&str]| {
        let report = world.json(args);
        let findings = report["findings"].as_array().unwrap();
        let serious: Vec<_> = findings.iter().filter(|finding| finding["severity"] != "info").collect();
        assert!(serious.is_empty(), "{args:?}: {serious:#?}");
        assert!(report["repaired"].as_array().is_none_or(Vec::is_empty), "{report:#}");
    };
    std::thread::scope(|scope| {
        for trigger in triggers {
            scope.spawn(|| race.save(&world, trigger, trigger));
        }
        scope.spawn(|| race.meanwhile(|_| drop(world.run(&["cleanup", "--keep-last", "2"]).succeeds())));
        scope.spawn(|| race.meanwhile(|_| drop(world.run(&["restore", "042"]))));
        scope.spawn(|| race.meanwhile(|_| check(&["verify"])));
        scope.spawn(|| race.meanwhile(|_| check(&["verify", "--repair"])));
    });
    check(&["verify"]);
    let records = std::fs::read_dir(world.store().join("archive/042")).unwrap();
    let mut records = records.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(records.all(|name| !name.ends_with(".deleted")));
}
