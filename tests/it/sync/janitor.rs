//! `cleanup --remote`: checkpoints leave the remote only for a bundle that was read back there.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use ckpt_model::ArchiveReason;
use ckpt_model::digest::Digest;
use ckpt_model::finding::Severity;
use ckpt_store::Disk;
use ckpt_store::Store;
use ckpt_sync::{Error, Exchange, ObjectName, Remote, RemoteCleanup, Retrying};

use crate::support::project;
use crate::support::store::{World, handle, id};
use ckpt::commands::{machine, shared};
use ckpt::remote::{Fault, MemoryRemote, Objects};

/// Lets an exchange between a store and a remote happen.
fn exchange<D: Disk, T>(
    store: &Store<D>,
    remote: &mut dyn Remote,
    then: impl FnOnce(&mut Exchange<'_, D>) -> Result<T, Error>,
) -> Result<T, Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let unique = format!("sync{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let pause = |_| {};
    then(&mut Exchange::new(store, Retrying::new(remote, pause), Digest::of(b"remote"), &unique))
}

fn sync<D: Disk>(store: &Store<D>, remote: &mut dyn Remote) -> Result<(), Error> {
    store.create()?;
    exchange(store, remote, |exchange| {
        let names = exchange.remote.names_of(&id("042"))?;
        exchange.pull(&id("042"), &names)?;
        exchange.push(&id("042"), Some(&names)).map(drop)
    })
}

fn clean_up<D: Disk>(store: &Store<D>, remote: &mut dyn Remote) -> Result<usize, Error> {
    exchange(store, remote, |exchange| {
        let names = exchange.remote.names_of(&id("042"))?;
        let plan: Vec<RemoteCleanup> = exchange.plan_cleanup(&id("042"), &names)?;
        let mut emptied = 0;
        for part in &plan {
            emptied += exchange.clean_up(part)?.checkpoints.len();
        }
        Ok(emptied)
    })
}

/// A store with five archived checkpoints, a seal, and one that continues them; and a remote that has all of it.
fn archived() -> (World, Objects) {
    let world = World::with(5);
    world.store().archive(&id("042"), &ArchiveReason::Abandoned, &world.stamp(), &mut |_| {}).unwrap();
    world.save(serde_json::json!({"n": 7}));
    let objects = Rc::new(RefCell::new(Objects::new()));
    sync(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
    let objects = objects.borrow().clone();
    (world, objects)
}

/// The digests of all checkpoints that a new store gets from a remote alone.
fn pulled(objects: &Objects) -> BTreeSet<String> {
    let world = World::new();
    let objects = Rc::new(RefCell::new(objects.clone()));
    sync(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
    held(&world)
}

fn held(world: &World) -> BTreeSet<String> {
    check(&world.store());
    let head = world.store().head_number(&id("042")).unwrap().unwrap_or_default();
    (1..=head).map(|seq| Digest::of(&world.store().load_bytes(&handle(seq)).unwrap().0).to_hex()).collect()
}

/// Checks that nothing is lost or damaged. Temporary files may be left.
fn check(store: &Store) {
    let findings = store.verify(&[], &mut |_| {}).unwrap().findings;
    let bad: Vec<_> = findings.iter().filter(|finding| finding.severity > Severity::Advice).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

fn contents(objects: &Objects) -> usize {
    let main = |key| matches!(ObjectName::parse(key), Some((_, ObjectName::Main(_))));
    objects.iter().filter(|(key, bytes)| main(key) && !bytes.is_empty()).count()
}

#[test]
fn a_cleanup_that_is_interrupted_anywhere_loses_nothing() {
    let (world, before) = archived();
    let all = held(&world);
    assert_eq!((all.len(), contents(&before)), (7, 7));
    let run = |fault| {
        let objects = Rc::new(RefCell::new(before.clone()));
        let mut remote = MemoryRemote::new(&objects);
        remote.fault = fault;
        let done = clean_up(&world.store(), &mut remote);
        let requests = remote.requests;
        drop(remote);
        (done, requests, Rc::try_unwrap(objects).unwrap().into_inner())
    };
    let (done, requests, after) = run(None);
    assert_eq!((done.unwrap(), contents(&after)), (5, 2), "the seal and the newest one stay");
    assert_eq!(pulled(&after), all);
    assert!(requests >= 13, "only {requests} requests");
    for at in 0..requests {
        for fault in [Fault::LostAnswer, Fault::DeathBefore, Fault::DeathAfter] {
            let (_, _, after) = run(Some((fault, at)));
            assert_eq!(pulled(&after), all, "{fault:?} at request {at}");
            let objects = Rc::new(RefCell::new(after));
            clean_up(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
            assert_eq!(contents(&objects.borrow()), 2, "{fault:?} at request {at}: the next one goes on");
            assert_eq!(pulled(&objects.borrow()), all);
        }
    }
}

#[test]
fn a_bundle_that_the_remote_does_not_keep_empties_nothing() {
    let (world, before) = archived();
    /// A remote that damages bundles, or does not let anything be emptied.
    struct Bad<'a>(MemoryRemote<'a>, bool);
    impl Remote for Bad<'_> {
        fn create(&mut self, objects: &[ckpt_sync::NewObject]) -> Result<(), ckpt_sync::Incomplete> {
            let damage = |object: &ckpt_sync::NewObject| {
                let mut object = object.clone();
                let last = object.bytes.len() - 1;
                object.bytes[last] ^= u8::from(self.1);
                object
            };
            self.0.create(&objects.iter().map(damage).collect::<Vec<_>>())
        }
        fn list(
            &mut self,
            prefix: &str,
            visit: &mut dyn FnMut(ckpt_sync::Listed) -> std::ops::ControlFlow<()>,
        ) -> Result<(), ckpt_sync::Failure> {
            self.0.list(prefix, visit)
        }
        fn get(&mut self, key: &ckpt_sync::Key, limit: u64) -> Result<Option<Vec<u8>>, ckpt_sync::Failure> {
            self.0.get(key, limit)
        }
        fn empty(&mut self, _: &[ckpt_sync::Key]) -> Result<(), ckpt_sync::Failure> {
            Err(ckpt_sync::Failure::Refused("HTTP 403 (AccessDenied)".to_owned()))
        }
    }
    for damages in [true, false] {
        let objects = Rc::new(RefCell::new(before.clone()));
        let error = clean_up(&world.store(), &mut Bad(MemoryRemote::new(&objects), damages)).unwrap_err();
        match error {
            Error::DamagedBundle { .. } => assert!(damages),
            Error::NotAJanitor(why) => assert!(!damages && why.contains("403")),
            error => panic!("{error:?}"),
        }
        assert_eq!(contents(&objects.borrow()), 7, "nothing was emptied");
    }
}

#[test]
fn a_pull_of_a_bundle_that_the_disk_interrupts_anywhere_goes_on() {
    let (world, objects) = archived();
    let all = held(&world);
    let objects = Rc::new(RefCell::new(objects));
    clean_up(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
    let steps = World::new().with_every_fault(
        |store, _| sync(store, &mut MemoryRemote::new(&objects)),
        |world, done, why| {
            sync(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
            assert_eq!(held(world), all, "{why}");
            if done.is_ok() && why == "without a fault" {
                assert_eq!(world.store().bundles(&id("042")).unwrap().len(), 1);
                assert_eq!(fs::metadata(world.file(3)).unwrap().len(), 0, "it is in the bundle");
            }
        },
    );
    assert!(steps > 50, "only {steps} steps");
}

#[test]
fn a_store_that_went_its_own_way_meanwhile_gets_what_was_emptied_beside_its_own() {
    let (world, objects) = archived();
    let objects = Rc::new(RefCell::new(objects));
    // It has the first two, and goes on by itself.
    let other = World::new();
    let few: Objects = {
        let is_low = |key: &ckpt_sync::Key| matches!(ObjectName::parse(key), Some((_, ObjectName::Main(1 | 2))));
        objects.borrow().iter().filter(|(key, _)| is_low(key)).map(|(k, b)| (k.clone(), b.clone())).collect()
    };
    sync(&other.store(), &mut MemoryRemote::new(&Rc::new(RefCell::new(few)))).unwrap();
    // Another store has other save ids.
    (0..50).for_each(|_| drop(other.stamp()));
    other.save(serde_json::json!({"own": true}));
    clean_up(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
    sync(&other.store(), &mut MemoryRemote::new(&objects)).unwrap();
    let sides: Vec<u64> = other.store().sides(&id("042")).unwrap().into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(sides, [3, 4, 5, 6, 7], "what was emptied comes from the bundle");
    assert_eq!(other.store().bundles(&id("042")).unwrap(), [], "whose numbers are others here");
    check(&other.store());
    assert_eq!(other.store().other_heads(&id("042")).unwrap().len(), 1);
    // Nothing is pushed again under another name, not even by a store that knows nothing of the remote any more.
    let count = objects.borrow().len();
    fs::remove_dir_all(world.dir.path().join(".ckpt/remote")).unwrap();
    sync(&world.store(), &mut MemoryRemote::new(&objects)).unwrap();
    assert_eq!(objects.borrow().len(), count, "{:?}", objects.borrow().keys());
}

#[test]
fn the_janitor_plans_empties_and_an_empty_directory_pulls_all_of_it() {
    let (a, url) = shared();
    for n in 1..=3 {
        a.run(&["save", "042", "--set", &format!("n={n}")]).succeeds();
    }
    a.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let objects = a.temp().join("shared/wf/042");
    let sizes = || -> Vec<bool> {
        let mut names: Vec<_> = fs::read_dir(&objects).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.retain(|path| path.is_file());
        names.sort();
        names.iter().map(|path| fs::metadata(path).unwrap().len() > 0).collect()
    };
    a.run(&["remote", "remove"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    let unknown = a.json(&["cleanup", "--remote"]);
    assert_eq!(unknown["emptied"], 0, "it is not known what the remote has: {unknown}");
    assert!(unknown["warnings"].to_string().contains("ckpt push 042"), "{unknown}");
    a.run(&["push"]).succeeds();
    let planned = a.json(&["cleanup", "--remote", "--dry-run"]);
    assert_eq!((&planned["applied"], &planned["emptied"]), (&false.into(), &3.into()), "{planned}");
    assert_eq!(sizes(), [true; 4], "nothing was done");
    assert!(!objects.join("archive").exists());
    a.refuses(&["cleanup", "--remote", "--expect-plan", "x"], 8, "plan_changed");
    let plan = planned["plan"].as_str().unwrap();
    let done = a.json(&["cleanup", "--remote", "--expect-plan", plan]);
    let emptied = serde_json::json!(["042/1", "042/2", "042/3"]);
    assert_eq!((&done["applied"], &done["bundles"][0]["checkpoints"]), (&true.into(), &emptied), "{done}");
    assert_eq!(sizes(), [true, false, false, false], "the seal stays");
    let again = a.run(&["cleanup", "--remote"]).succeeds();
    assert!(again.stdout.contains("Nothing to clean up"), "{again}");
    assert_eq!(a.json(&["sync"])["workflows"].as_array().unwrap().len(), 0);

    let b = machine(&a, "b", &url);
    b.run(&["pull"]).succeeds();
    assert_eq!(b.json(&["verify"])["ok"], true);
    assert_eq!(b.json(&["show", "042/2"])["checkpoint"]["state"]["n"], 2);
    assert_eq!(b.json(&["list", "--archived"])["workflows"], a.json(&["list", "--archived"])["workflows"]);
    let bundle = |world: &project::World| {
        fs::read(fs::read_dir(world.store().join("archive/042")).unwrap().next().unwrap().unwrap().path())
    };
    assert_eq!(bundle(&a).unwrap(), bundle(&b).unwrap());
    b.run(&["restore", "042"]).succeeds();
    b.run(&["save", "042", "--set", "n=9"]).succeeds();
    b.run(&["sync"]).succeeds();
    a.run(&["sync"]).succeeds();
    assert_eq!(a.json(&["show", "042"])["checkpoint"]["state"]["n"], 9);
    for world in [&a, &b] {
        assert_eq!(world.json(&["verify"])["ok"], true);
        assert!(!world.store().join("sides").exists());
    }
}

#[test]
fn a_remote_that_only_a_cloned_store_names_is_not_cleaned_up() {
    let (world, url) = shared();
    world.run(&["save", "042", "--set", "n=1"]).succeeds();
    world.configure(&format!("[remote]\nurl = \"{url}\"\n"));
    let refused = world.refuses(&["cleanup", "--remote"], 9, "confirmation_needed");
    assert!(refused["help"].to_string().contains("ckpt remote add"), "{refused}");
    world.refuses(&["cleanup", "--remote", "--max-age", "1d"], 2, "usage");
}

#[test]
fn a_join_that_was_archived_and_emptied_is_still_one_head_elsewhere() {
    let (a, url) = shared();
    a.run(&["save", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let b = machine(&a, "b", &url);
    b.run(&["pull"]).succeeds();
    b.run(&["save", "042", "--set", "b=1"]).succeeds();
    b.run(&["push"]).succeeds();
    for n in 1..=2 {
        a.run(&["save", "042", "--set", &format!("a={n}")]).succeeds();
    }
    a.run(&["sync"]).succeeds();
    a.run(&["merge", "042"]).succeeds();
    a.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    a.run(&["sync"]).succeeds();
    a.run(&["cleanup", "--remote"]).succeeds();
    let c = machine(&a, "c", &url);
    let pulled = c.json(&["pull"]);
    assert_eq!(pulled["workflows"][0]["heads"], serde_json::json!([]), "{pulled}");
    assert_eq!(c.json(&["verify"])["ok"], true);
    c.run(&["restore", "042"]).succeeds();
    assert_eq!(c.json(&["show", "042"])["checkpoint"]["state"], serde_json::json!({"a": 2, "b": 1}));
}
