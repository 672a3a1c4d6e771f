//! Numbers are without gaps, and the newest is found by that. If files were removed or put there by hand, the newest is
//! still found, or at least nothing is overwritten and a verification reports the gap.

use std::io;

use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::format;
use ckpt_store::{Access, Disk};
use ckpt_store::{Error, Store};

use crate::support::audit::{Ack, audit, handle, has_mark, save, stamp, store_on, without_gaps, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Tap, Tapped};

fn file(seq: u64) -> String {
    format!("{seq:08}.json")
}

/// A workflow with checkpoints up to `last`, and its directory.
fn history(last: u64) -> (MemoryDisk, usize) {
    let disk = MemoryDisk::new();
    for seq in 1..=last {
        save(&store_on(disk.clone()), &format!("saver {seq}")).unwrap();
    }
    let dir = [".ckpt", "workflows", "w"].iter().fold(0, |dir, name| disk.enter(&dir, name).unwrap());
    (disk, dir)
}

/// Puts a valid checkpoint under a number of its own.
fn plant(disk: &MemoryDisk, dir: usize, seq: u64) {
    let mut planted: Checkpoint = *store_on(disk.clone()).load(&handle(1)).unwrap().checkpoint;
    planted.seq = seq;
    planted.save_id = format!("planted {seq}");
    let bytes = format::encode(&mut planted).unwrap();
    disk.stage(&dir, &file(seq), &bytes, Access::ReadOnly).unwrap();
}

fn newest(store: &Store<MemoryDisk>) -> u64 {
    store.head_number(&workflow()).unwrap().unwrap()
}

#[test]
fn the_newest_is_found_at_every_length() {
    for last in 1..=70 {
        let (disk, _) = history(last);
        assert_eq!(newest(&store_on(disk)), last);
    }
}

/// A gap of up to seven numbers, as a power failure may leave it, wherever it is and however little is above it.
#[test]
fn the_newest_is_found_above_any_short_gap() {
    const LAST: u64 = 40;
    let (disk, dir) = history(LAST);
    for first in 1..LAST {
        for end in first + 1..=LAST.min(first + 7) {
            let disk = disk.fork();
            (first..end).for_each(|seq| disk.remove(&dir, &file(seq)).unwrap());
            let store = store_on(disk);
            assert_eq!(newest(&store), LAST, "without {first}..{end}");
            let saved = Ack::of("next", &save(&store, "next").unwrap());
            assert_eq!(saved.seq, LAST + 1);
            assert_eq!(without_gaps(audit(&store, &[saved])), [""; 0], "without {first}..{end}");
        }
    }
}

/// Old files that were removed to make room: the newest stay, be it only one.
#[test]
fn the_newest_is_found_if_the_oldest_are_missing() {
    const LAST: u64 = 40;
    let (disk, dir) = history(LAST);
    for seq in 1..LAST {
        disk.remove(&dir, &file(seq)).unwrap();
        assert_eq!(newest(&store_on(disk.clone())), LAST, "without any up to {seq}");
    }
}

#[test]
fn the_newest_is_found_among_other_names() {
    let (disk, dir) = history(20);
    for name in [".a", ".b", ".c", "0.json", "00000099.json.bak"] {
        disk.stage(&dir, name, b"", Access::ReadOnly).unwrap();
        assert_eq!(newest(&store_on(disk.clone())), 20, "{name}");
    }
}

/// The last number of a range without content is never the head, so the numbers above it are looked for in a list.
#[test]
fn a_number_far_above_tombstones_is_the_newest() {
    let (disk, dir) = history(10);
    plant(&disk, dir, 99_999_999);
    for seq in 5..=10 {
        disk.stage(&dir, "staged", b"", Access::ReadOnly).unwrap();
        disk.replace(&dir, "staged", &file(seq)).unwrap();
    }
    assert_eq!(newest(&store_on(disk)), 99_999_999);
}

/// A repair records the whole range below a number that was put far above, and leaves one tombstone, by which saves find
/// that number.
#[test]
fn a_repair_below_a_far_number_adds_one_file_to_the_workflow() {
    let (disk, dir) = history(10);
    plant(&disk, dir, 99_999_999);
    let store = store_on(disk.clone());
    store.repair(&[], &stamp("repair"), &mut |_| {}).unwrap();
    let mut names = Vec::new();
    disk.list(&dir, &mut |name| names.push(name.to_owned())).unwrap();
    assert_eq!(names, (1..=11).chain([99_999_999]).map(file).collect::<Vec<_>>());
    let verified = store.verify(&[], &mut |_| {}).unwrap();
    assert!(verified.is_ok(), "{:?}", verified.findings);
    assert_eq!(newest(&store), 99_999_999);
    assert_eq!(Ack::of("next", &save(&store, "next").unwrap()).seq, 100_000_000);
}

/// Files that were put far above the others, so that no number close by gives them away. Saves continue what is below
/// until they get there; then the highest number is the newest, as always. Nothing is overwritten, and a verification
/// reports the gap while there is one, and the break in the history afterwards.
#[test]
fn saves_below_a_wide_gap_overwrite_nothing() {
    let (disk, dir) = history(10);
    // Distances of 51 and 52.
    plant(&disk, dir, 61);
    plant(&disk, dir, 62);
    let store = store_on(disk);
    let planted = [61, 62].map(|seq| store.load(&handle(seq)).unwrap().bytes);
    let mut numbers = Vec::new();
    for index in 0..52 {
        assert!(!store.verify(&[], &mut |_| {}).unwrap().is_ok(), "{index}");
        numbers.push(Ack::of("any", &save(&store, &format!("after {index}")).unwrap()).seq);
    }
    // The last one is looked for when 61 turns out to be taken, unless a number close by was seen before.
    assert_eq!(numbers.first(), Some(&11));
    assert_eq!(numbers.last(), Some(&(store.head_number(&workflow()).unwrap().unwrap())));
    assert!(numbers.is_sorted() && numbers.last() > Some(&62), "{numbers:?}");
    assert_eq!([61, 62].map(|seq| store.load(&handle(seq)).unwrap().bytes), planted);
    for (index, seq) in numbers.iter().enumerate() {
        let checkpoint = store.load(&handle(*seq)).unwrap().checkpoint;
        assert!(has_mark(&checkpoint, &format!("after {index}")), "{seq}");
    }
}

#[test]
fn nothing_follows_the_highest_number() {
    let (disk, dir) = history(2);
    plant(&disk, dir, u64::MAX);
    disk.remove(&dir, &file(2)).unwrap();
    match save(&store_on(disk), "next") {
        Err(Error::LastNumber { handle, path }) => {
            assert_eq!(handle.seq, u64::MAX);
            assert!(path.ends_with("w/18446744073709551615.json"), "{path:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// Reports every name as taken.
struct AlwaysTaken;

impl Tap<MemoryDisk> for AlwaysTaken {
    fn publish(&self, _: &MemoryDisk, _: &usize, _: &str, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

#[test]
fn a_save_gives_up_if_the_number_is_taken_each_time() {
    let (disk, dir) = history(3);
    let result = save(&store_on(Tapped { disk: disk.clone(), tap: &AlwaysTaken }), "next");
    let Err(Error::NumberTaken { handle, path, .. }) = result else { panic!("{result:?}") };
    assert_eq!(handle.seq, 4);
    assert!(path.ends_with("w/00000004.json"), "{path:?}");
    let mut names = Vec::new();
    disk.list(&dir, &mut |name| names.push(name.to_owned())).unwrap();
    assert_eq!(names, [1, 2, 3].map(file));
}
