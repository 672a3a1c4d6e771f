//! Small bundles of single checkpoints become one, and nothing is lost on the way.

use std::convert::Infallible;
use std::sync::Arc;

use ckpt::core::change::{Change, Edit};
use ckpt::core::retention::{Limit, Policy, RetentionSettings, plan};
use ckpt::core::store::{Bundle, Store};
use ckpt::core::{ArchiveReason, Timestamp, Trigger};
use serde_json::json;

use crate::support::store::{Fault, FaultyDisk, World, handle, id, state};

fn batch(world: &World, n: u64) {
    let change = Change {
        trigger: Some(Trigger::BatchComplete),
        state: vec![Edit::Merge(json!({"n": n}))],
        ..Change::default()
    };
    world.save_change(&change).unwrap();
}

fn decide<D: ckpt::core::store::Disk<Dir: Sync> + Sync>(
    store: &Store<D>,
    policy: &Policy,
) -> ckpt::core::retention::CleanupPlan {
    let now = Timestamp::parse("2026-01-16T22:00:00Z").unwrap();
    plan(&store.cleanup_facts(&mut |_| {}).unwrap(), policy, now).unwrap()
}

fn standing() -> Policy {
    RetentionSettings::default().policy()
}

/// Archives what is too much, without touching the bundles that are there.
fn clean_without_merging(world: &World) {
    let mut due = decide(&world.store(), &standing());
    for workflow in &mut due.workflows {
        workflow.merge.clear();
        workflow.expired.clear();
    }
    assert!(world.store().clean_up(&due, &world.stamp()).failures.is_empty());
}

fn clean(world: &World) {
    let due = decide(&world.store(), &standing());
    let cleaned = world.store().clean_up(&due, &world.stamp());
    assert!(cleaned.failures.is_empty(), "{:?}", cleaned.failures);
}

/// An open workflow with this many bundles of a checkpoint each, and the files of all its checkpoints.
fn scattered(bundles: u64) -> (World, Vec<Vec<u8>>) {
    let world = World::new();
    (1..=3).for_each(|n| batch(&world, n));
    let mut files: Vec<_> = (1..=3).map(|seq| world.bytes(seq)).collect();
    for n in 4..4 + bundles {
        batch(&world, n);
        files.push(world.bytes(n));
        clean_without_merging(&world);
    }
    assert_eq!(names(&world).len() as u64, bundles);
    (world, files)
}

/// With five bundles, and a checkpoint too many: the sixth bundle is about to be made.
fn due_for_merging() -> (World, Vec<Vec<u8>>) {
    let (world, mut files) = scattered(5);
    batch(&world, 9);
    files.push(world.bytes(9));
    (world, files)
}

fn names(world: &World) -> Vec<String> {
    world.store().bundles(&id("042")).unwrap().iter().map(ToString::to_string).collect()
}

/// Everything can be read as it was, and the bundles are sound.
fn assert_kept(world: &World, files: &[Vec<u8>], why: &str) {
    for (seq, file) in (1..).zip(files) {
        let found = world.store().load(&handle(seq)).unwrap_or_else(|error| panic!("{why}: {seq}: {error}"));
        assert_eq!(found.bytes, *file, "{why}");
    }
    for name in world.store().bundles(&id("042")).unwrap() {
        let bytes = std::fs::read(world.store().bundle_path(&id("042"), &name)).unwrap();
        Bundle::open(&bytes).unwrap().verify(&mut || {}).unwrap();
    }
}

#[test]
fn five_small_bundles_stay_and_six_become_one() {
    let (world, _) = scattered(5);
    let before = world.tree();
    clean(&world);
    assert_eq!(world.tree(), before);

    let (world, files) = scattered(6);
    let due = decide(&world.store(), &standing());
    assert_eq!(due.workflows[0].merge, names(&world));
    assert!(due.workflows[0].expired.is_empty() && due.leaving().count() == 0);
    let cleaned = world.store().clean_up(&due, &world.stamp());
    assert_eq!(cleaned.workflows[0].merged.len(), 6);
    assert_eq!(names(&world).len(), 1);
    assert_kept(&world, &files, "");
    assert!(decide(&world.store(), &standing()).is_empty(), "once is enough");
    assert_eq!(world.findings(), [""; 0]);
    world.store().restore(&id("042"), None, &world.stamp()).unwrap();
    for (seq, file) in (1..).zip(&files) {
        assert_eq!(world.bytes(seq), *file, "{seq}");
    }
}

#[test]
fn the_bundle_that_is_made_now_becomes_part_of_it() {
    let (world, mut files) = scattered(5);
    batch(&world, 9);
    files.push(world.bytes(9));
    clean(&world);
    let name = world.store().bundles(&id("042")).unwrap().remove(0);
    assert_eq!((names(&world).len(), name.first, name.last), (1, 1, 6));
    assert_kept(&world, &files, "");
    assert_eq!(world.findings(), [""; 0]);
}

#[test]
fn cleaning_up_for_ever_keeps_few_bundles_and_the_whole_history() {
    let (world, mut files) = scattered(0);
    for n in 4..=40 {
        batch(&world, n);
        files.push(world.bytes(n));
        clean(&world);
        assert!(names(&world).len() <= 5, "{:?}", names(&world));
    }
    assert_kept(&world, &files, "");
    assert_eq!(world.findings(), [""; 0]);
}

#[test]
fn a_cleanup_that_follows_a_save_merges_too_and_lets_nothing_expire() {
    let (world, mut files) = scattered(0);
    let policy = RetentionSettings::default().policy_after_save();
    for n in 4..=20 {
        batch(&world, n);
        files.push(world.bytes(n));
        let due = decide(&world.store(), &policy);
        assert!(world.store().clean_up(&due, &world.stamp()).failures.is_empty());
        assert!(names(&world).len() <= 5, "{:?}", names(&world));
    }
    assert_kept(&world, &files, "");
}

#[test]
fn merging_comes_before_expiring() {
    let (world, files) = scattered(3);
    let policy = |bundles| {
        let mut policy = standing();
        policy.bundles = policy.bundles.map(|mut rule| {
            rule.newest = Limit::newest(bundles).unwrap();
            rule
        });
        policy
    };
    assert!(decide(&world.store(), &policy(3)).is_empty());
    let due = decide(&world.store(), &policy(2));
    assert_eq!((due.workflows[0].merge.len(), due.workflows[0].expired.len()), (3, 0));
    assert!(world.store().clean_up(&due, &world.stamp()).failures.is_empty());
    assert_kept(&world, &files, "");
    // What was archived as a whole is another matter, and goes first if it is older.
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    (8..=12).for_each(|n| batch(&world, n));
    clean_without_merging(&world);
    let due = decide(&world.store(), &policy(2));
    assert_eq!((due.workflows[0].merge.len(), due.workflows[0].expired.len()), (2, 0));
}

#[test]
fn a_number_that_two_bundles_hold_is_held_once() {
    let (world, files) = scattered(5);
    world.store().restore(&id("042"), Some(2), &world.stamp()).unwrap();
    clean(&world);
    let name = world.store().bundles(&id("042")).unwrap().remove(0);
    let bytes = std::fs::read(world.store().bundle_path(&id("042"), &name)).unwrap();
    let manifest = Bundle::open(&bytes).unwrap().verify(&mut || {}).unwrap();
    let held: Vec<u64> = manifest.entries.iter().map(|entry| entry.seq).collect();
    assert_eq!((names(&world).len(), held), (1, vec![5, 4, 3, 2, 1]));
    assert_kept(&world, &files, "");
}

#[test]
fn what_contradicts_another_bundle_is_left_alone() {
    let (world, files) = scattered(6);
    let other = World::new();
    other.stamp();
    (1..=5).for_each(|n| batch(&other, n * 100));
    clean_without_merging(&other);
    // Two contents of one number: nobody can tell which is right, so both stay.
    let contradicts = std::fs::read(other.bundle()).unwrap();
    let place = world.store().archive_dir(&id("042")).join(other.bundle().file_name().unwrap());
    std::fs::write(&place, &contradicts).unwrap();
    clean(&world);
    assert_eq!((names(&world).len(), std::fs::read(&place).unwrap()), (2, contradicts));
    assert!(decide(&world.store(), &standing()).is_empty());
    for (seq, file) in (3..).zip(&files[2..]) {
        assert_eq!(world.store().load(&handle(seq)).unwrap().bytes, *file, "{seq}");
    }
}

#[test]
fn what_is_damaged_or_holds_a_seal_is_left_alone() {
    let (world, files) = scattered(7);
    let oldest = world.store().bundles(&id("042")).unwrap().pop().unwrap();
    let path = world.store().bundle_path(&id("042"), &oldest);
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    clean(&world);
    assert_eq!((names(&world).len(), std::fs::read(&path).unwrap()), (2, bytes));
    for (seq, file) in (2..).zip(&files[1..]) {
        assert_eq!(world.store().load(&handle(seq)).unwrap().bytes, *file, "{seq}");
    }

    let (world, files) = scattered(6);
    world.store().archive(&id("042"), &ArchiveReason::Cleanup, &world.stamp(), &mut |_| {}).unwrap();
    clean(&world);
    let left = world.store().bundles(&id("042")).unwrap();
    assert_eq!((left.len(), left[0].last), (2, 9), "the one that the seal names, and one of the six");
    assert_kept(&world, &files, "");
    assert_eq!(world.save(json!({})).handle(), handle(11));
    assert_eq!(world.findings(), [""; 0]);
}

#[test]
fn a_failure_or_death_at_any_step_loses_nothing_and_doing_it_again_completes_it() {
    let (model, files) = due_for_merging();
    let merge = |store: &Store<FaultyDisk>, world: &World| {
        let due = decide(&world.store(), &standing());
        Ok::<_, Infallible>(store.clean_up(&due, &world.stamp()))
    };
    let steps = model.with_every_fault(merge, |world, _, why| {
        assert_kept(world, &files, why);
        assert_eq!(world.findings(), [""; 0], "{why}");
        clean(world);
        assert!(names(world).len() <= 5, "{why}: {:?}", names(world));
        assert!(decide(&world.store(), &standing()).is_empty(), "{why}");
        assert_kept(world, &files, why);
    });
    assert!(steps > 60, "{steps}");
    clean(&model);
    assert_eq!(names(&model).len(), 1);
}

#[test]
fn whoever_was_stopped_before_the_old_ones_went_makes_no_second_one() {
    let (world, files) = scattered(6);
    let old: Vec<_> = world
        .tree()
        .into_iter()
        .filter(|(path, _)| path.starts_with(world.store().archive_dir(&id("042"))))
        .collect();
    clean(&world);
    let merged = names(&world);
    for (path, bytes) in &old {
        std::fs::write(path, bytes).unwrap();
    }
    clean(&world);
    assert_eq!(names(&world), merged);
    assert_kept(&world, &files, "");
}

#[test]
fn nothing_goes_before_the_new_bundle_is_durable_and_read_back() {
    let (world, _) = scattered(6);
    let due = decide(&world.store(), &standing());
    let store = world.faulty(FaultyDisk::new(&world, Fault::None, 0));
    store.clean_up(&due, &world.stamp());
    let log = store.disk().log();
    let published = log.iter().position(|step| step.starts_with("publish")).unwrap();
    // The private name of the new one goes at once, then nothing until the old ones.
    let removals: Vec<usize> = (published..log.len()).filter(|step| log[*step] == "remove").collect();
    let before = &log[published..removals[1]];
    assert_eq!(removals.len(), 7);
    assert!(before.iter().any(|step| step.starts_with("read") && step.ends_with("gz")), "{before:?}");
    assert!(before.iter().filter(|step| *step == "sync").count() >= 3, "{before:?}");
    assert_eq!(log.last().unwrap(), "sync");
}

/// Merges with an interruption at step 1, 2, ... until there are no more steps.
fn interrupted_at_every_step(other: impl Fn(&World) + Copy + Send + 'static, check: impl Fn(&World, &str)) {
    let (before, files) = due_for_merging();
    for at in 1.. {
        let world = Arc::new(before.copy());
        let shared = Arc::clone(&world);
        let due = decide(&world.store(), &standing());
        let store = world.faulty(FaultyDisk::interrupted(&world, at, move || other(&shared)));
        let cleaned = store.clean_up(&due, &world.stamp());
        let why = format!("step {at}");
        assert!(cleaned.failures.is_empty(), "{why}: {:?}", cleaned.failures);
        if !store.disk().reached() {
            assert!(at > 60, "{at}");
            break;
        }
        assert_kept(&world, &files, &why);
        check(&world, &why);
    }
}

#[test]
fn another_cleanup_at_any_moment_loses_nothing() {
    interrupted_at_every_step(clean, |world, why| {
        clean(world);
        assert!(names(world).len() <= 5, "{why}: {:?}", names(world));
        assert_eq!(world.findings(), [""; 0], "{why}");
    });
}

#[test]
fn a_save_and_an_archive_at_any_moment_lose_nothing() {
    interrupted_at_every_step(
        |world| {
            batch(world, 10);
            world
                .store()
                .archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {})
                .unwrap();
        },
        |world, why| {
            assert_eq!(
                state(&world.store().load(&handle(10)).unwrap().checkpoint),
                json!({"n": 10}),
                "{why}"
            );
            assert_eq!(world.save(json!({})).handle(), handle(12), "{why}");
            assert_eq!(world.findings(), [""; 0], "{why}");
        },
    );
}

/// Runs `act` with a whole merge between any two of its steps.
fn merged_at_every_step<T>(
    steps: usize,
    act: impl Fn(&Store<FaultyDisk>, &World) -> T,
    check: impl Fn(&World, T, &[Vec<u8>], &str),
) {
    let (before, files) = scattered(6);
    for at in 1.. {
        let world = Arc::new(before.copy());
        let shared = Arc::clone(&world);
        let due = decide(&world.store(), &standing());
        let merge = move || drop(shared.store().clean_up(&due, &shared.stamp()));
        let store = world.faulty(FaultyDisk::interrupted(&world, at, merge));
        let done = act(&store, &world);
        if !store.disk().reached() {
            assert!(at > steps, "{at}");
            break;
        }
        check(&world, done, &files, &format!("step {at}"));
    }
}

#[test]
fn a_reader_that_is_overtaken_by_a_merge_finds_everything() {
    merged_at_every_step(
        5,
        |store, _| store.load(&handle(1)).unwrap(),
        |_, found, files, why| assert_eq!(found.bytes, files[0], "{why}"),
    );
    merged_at_every_step(
        20,
        |store, world| store.restore(&id("042"), None, &world.stamp()).unwrap(),
        |world, restored, files, why| {
            assert!(restored.lost.is_empty() && restored.damaged.is_empty(), "{why}: {restored:?}");
            for (seq, file) in (1..).zip(files) {
                assert_eq!(world.bytes(seq), *file, "{why}");
            }
        },
    );
    merged_at_every_step(
        20,
        |store, _| store.verify(&[], &mut |_| {}).unwrap(),
        |_, found, _, why| assert!(found.is_ok(), "{why}: {:?}", found.findings),
    );
    merged_at_every_step(
        5,
        |store, _| {
            let mut seen = std::collections::BTreeSet::new();
            store.visit_archived(&id("042"), &mut |checkpoint| seen.extend([checkpoint.seq])).unwrap();
            seen
        },
        |_, seen, _, why| assert_eq!(seen, (1..=6).collect(), "{why}"),
    );
}
