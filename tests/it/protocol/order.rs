//! The newest checkpoint is the one with the highest number, whatever clocks and modification times say; and reading
//! changes nothing.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ckpt_model::change::{Change, Stamp};
use ckpt_model::{Config, Selector, Timestamp};
use ckpt_store::Store;
use ckpt_store::save::Save;

use crate::support::audit::{Ack, audit, handle, save, stamp, store_in, workflow};
use crate::support::files::memory_directory;

/// Saves a note at a time.
fn save_at(store: &Store, note: &str, now: &str) -> u64 {
    let change = Change { note: Some(note.to_owned()), ..Change::default() };
    let stamp = Stamp { now: Timestamp::parse(now).unwrap(), ..stamp(note) };
    let (workflow, config) = (workflow(), Config::default());
    Save::new(&workflow, &change, &stamp, &config).to(store).unwrap().seq().unwrap()
}

fn notes(store: &Store) -> Vec<String> {
    let numbers = store.numbers(&workflow()).unwrap();
    numbers.into_iter().map(|seq| store.load(&handle(seq)).unwrap().checkpoint.note.unwrap()).collect()
}

fn newest(store: &Store) -> u64 {
    let selector: Selector = "w".parse().unwrap();
    let newest = store.resolve(&selector).unwrap().seq;
    assert_eq!(store.scan().unwrap()[0].newest.seq, newest);
    newest
}

#[test]
fn five_saves_in_the_same_millisecond_are_five_checkpoints_in_order() {
    let base = memory_directory();
    let store = store_in(base.path());
    let saved: Vec<Ack> = (1..=5)
        .map(|number| {
            let saver = format!("saver {number}");
            Ack::of(&saver, &save(&store, &saver).unwrap())
        })
        .collect();
    assert_eq!(saved.iter().map(|ack| ack.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(audit(&store, &saved), [""; 0]);
    let times = (1..=5).map(|seq| store.load(&handle(seq)).unwrap().checkpoint.saved_at);
    assert_eq!(times.collect::<std::collections::HashSet<_>>().len(), 1);
}

#[test]
fn a_clock_that_jumps_does_not_change_the_order() {
    let base = memory_directory();
    let store = store_in(base.path());
    let times = ["2026-01-02T00:00:00Z", "2100-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z"];
    for (index, now) in times.iter().enumerate() {
        assert_eq!(save_at(&store, now, now), index as u64 + 1);
        assert_eq!(newest(&store), index as u64 + 1);
    }
    assert_eq!(notes(&store), times);
}

#[test]
fn modification_times_and_copies_do_not_change_the_order() {
    let base = memory_directory();
    let store = store_in(base.path());
    for note in ["one", "two", "three"] {
        save_at(&store, note, "2026-01-01T00:00:00Z");
    }
    // The oldest becomes the one that was modified last, by far.
    for (seq, time) in [(3, 0), (1, 4_000_000_000), (2, 1_000_000_000)] {
        let file = std::fs::File::open(store.checkpoint_path(&handle(seq))).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(time)).unwrap();
    }
    assert_eq!((newest(&store), notes(&store).join(" ")), (3, "one two three".to_owned()));

    // A copy has other inodes, made in another order.
    let elsewhere = memory_directory();
    copy_backwards(base.path(), elsewhere.path());
    let copy = store_in(elsewhere.path());
    assert_eq!((newest(&copy), notes(&copy).join(" ")), (3, "one two three".to_owned()));
    assert_eq!(save_at(&copy, "four", "1970-01-01T00:00:00Z"), 4);
    assert_eq!((newest(&copy), newest(&store)), (4, 3));
}

/// Copies a directory and what is in it, the last name first.
fn copy_backwards(from: &Path, to: &Path) {
    let mut entries: Vec<_> = std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries.into_iter().rev() {
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_backwards(&entry, &target);
        } else {
            std::fs::copy(&entry, &target).unwrap();
        }
    }
}

/// Content, inode, mode, and the times of the last change.
type Facts = (Vec<u8>, u64, u32, i64, i64, i64);

/// Everything that can be said about a directory without opening it for writing.
fn picture(dir: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut picture = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let about = std::fs::symlink_metadata(&path).unwrap();
        let bytes = if about.is_dir() { Vec::new() } else { std::fs::read(&path).unwrap() };
        if about.is_dir() {
            picture.extend(self::picture(&path));
        }
        let facts = (bytes, about.ino(), about.mode(), about.mtime(), about.mtime_nsec(), about.ctime_nsec());
        picture.insert(path, facts);
    }
    picture
}

#[test]
fn reading_changes_nothing() {
    let base = memory_directory();
    let store = store_in(base.path());
    for note in ["one", "two"] {
        save_at(&store, note, "2026-01-01T00:00:00Z");
    }
    let before = picture(base.path());
    assert!(before.len() > 4, "{before:?}");
    store.scan().unwrap();
    store.scan_checkpoints(&workflow()).unwrap();
    store.workflow_ids().unwrap();
    store.load(&handle(1)).unwrap();
    store.load(&handle(3)).unwrap_err();
    newest(&store);
    store.resolve_workflow(&"x".parse().unwrap()).unwrap_err();
    assert_eq!(picture(base.path()), before);

    // Looking for what is not there does not make it, either.
    let empty = memory_directory();
    let absent = store_in(empty.path());
    assert!(absent.scan().unwrap().is_empty());
    assert!(absent.load(&handle(1)).is_err());
    assert!(picture(empty.path()).is_empty());
}
