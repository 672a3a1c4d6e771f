//! An index is untrusted bytes: a damaged, stale or planted one is read past, and a store that cannot be written has none.

use std::io;

use ckpt::core::digest::Digest;
use ckpt::core::store::{Disk, Extent};

use super::{
    INDEX, LARGE, id, large_store, read_index, remove_index, root, save, summaries, without_index,
    write_index,
};
use crate::support::audit::store_on;
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// A disk with a large store and its index.
fn indexed_store() -> MemoryDisk {
    let disk = large_store();
    summaries(&store_on(disk.clone()), Extent::Live);
    assert!(read_index(&disk).is_some());
    disk
}

#[track_caller]
fn assert_ignored(disk: &MemoryDisk, what: &str) {
    for extent in [Extent::Newest, Extent::Live] {
        let expected = without_index(disk, extent);
        assert_eq!(expected.len(), LARGE, "{what}");
        assert_eq!(summaries(&store_on(disk.clone()), extent), expected, "{what}");
    }
}

/// The bytes of an index with these lines.
fn with_digest(lines: &str) -> Vec<u8> {
    format!("ckpt-index 1 {}\n{lines}", Digest::of(lines.as_bytes()).to_hex()).into_bytes()
}

fn lines_of(index: &[u8]) -> String {
    String::from_utf8(index.to_vec()).unwrap().split_once('\n').unwrap().1.to_owned()
}

#[test]
fn a_damaged_index_is_read_past() {
    let model = indexed_store();
    let index = read_index(&model).unwrap();
    let mut flipped = index.clone();
    // A digit of a number in the middle, so that the line can still be parsed.
    let place = index.len() / 2 + index[index.len() / 2..].iter().position(u8::is_ascii_digit).unwrap();
    flipped[place] ^= 1;
    let lines = lines_of(&index);
    let broken = [
        ("empty", Vec::new()),
        ("cut", index[..index.len() / 2].to_vec()),
        ("flipped bit", flipped),
        ("longer", [&index[..], b"w0 []\n"].concat()),
        ("no text", vec![0xff; 4096]),
        ("another version", String::from_utf8(index.clone()).unwrap().replacen(" 1 ", " 2 ", 1).into_bytes()),
        ("lines of garbage", with_digest(&lines.replace('[', "{"))),
        ("lines without members", with_digest(&lines.replace(' ', "\n"))),
        ("numbers out of range", with_digest(&lines.replace(",1,false,", ",-1,false,"))),
        ("too large", with_digest(&lines.repeat(8))),
    ];
    for (what, bytes) in broken {
        let disk = model.fork();
        write_index(&disk, &bytes);
        assert_ignored(&disk, what);
        // The next reader finds a good one.
        assert_eq!(read_index(&disk).map(|bytes| bytes.len()), Some(index.len()), "{what}");
    }
}

#[test]
fn an_index_of_another_store_matches_nothing() {
    let disk = indexed_store();
    let index = read_index(&disk).unwrap();
    let other = large_store();
    // The same names and times, but saved once more: other inodes would do as well.
    (0..LARGE).for_each(|number| save(&store_on(other.clone()), number, 1));
    other.tick();
    write_index(&other, &index);
    assert_ignored(&other, "copied");
}

/// Refuses every write, as a read-only file system does.
struct ReadOnly;

impl<D: Disk> Tap<D> for ReadOnly {
    fn before(&self, _: &D, step: Step, _: &str) -> io::Result<()> {
        match step {
            Step::Stage | Step::Publish | Step::Replace | Step::Remove | Step::MakeDir | Step::MoveAside => {
                Err(io::ErrorKind::ReadOnlyFilesystem.into())
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn a_store_that_cannot_be_written_is_listed_with_and_without_an_index() {
    let disk = indexed_store();
    let expected = without_index(&disk, Extent::Newest);
    let read_only = |disk: &MemoryDisk| store_on(Tapped { disk: disk.clone(), tap: &ReadOnly });
    assert_eq!(summaries(&read_only(&disk), Extent::Newest), expected);
    remove_index(&disk);
    assert_eq!(summaries(&read_only(&disk), Extent::Newest), expected);
    assert!(read_index(&disk).is_none());
}

/// Lets the nth write fail.
struct FailsAt(Step);

impl<D: Disk> Tap<D> for FailsAt {
    fn before(&self, _: &D, step: Step, name: &str) -> io::Result<()> {
        let of_index = name.contains(INDEX);
        if step == self.0 && of_index { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_failed_write_of_the_index_fails_nothing() {
    for step in [Step::Stage, Step::Stat, Step::Replace, Step::Read] {
        let disk = large_store();
        let expected = without_index(&disk, Extent::Newest);
        let tap = FailsAt(step);
        assert_eq!(summaries(&store_on(Tapped { disk: disk.clone(), tap: &tap }), Extent::Newest), expected);
        let mut names = Vec::new();
        disk.list(&root(&disk), &mut |name| names.push(name.to_owned())).unwrap();
        assert!(!names.iter().any(|name| name.starts_with(".tmp-")), "{step:?}: {names:?}");
    }
}

#[test]
fn stale_temporary_files_do_not_prevent_an_index() {
    let disk = large_store();
    for attempt in 0..3 {
        disk.stage_unsynced(root(&disk), &format!(".tmp-index-{attempt}"), b"killed").unwrap();
    }
    summaries(&store_on(disk.clone()), Extent::Newest);
    assert!(read_index(&disk).is_some());
}

#[test]
fn a_save_leaves_the_index_alone() {
    let disk = indexed_store();
    let index = read_index(&disk);
    save(&store_on(disk.clone()), 7, 1);
    assert_eq!(read_index(&disk), index);
    assert_eq!(summaries(&store_on(disk.clone()), Extent::Newest)[&id(7)].newest.seq, 2);
    // One change is not worth another index.
    assert_eq!(read_index(&disk), index);
}

#[test]
fn a_small_store_has_no_index() {
    let disk = super::workflows(100);
    assert_eq!(summaries(&store_on(disk.clone()), Extent::Newest).len(), 100);
    assert!(read_index(&disk).is_none());
}

#[test]
fn verify_accepts_an_index() {
    let disk = indexed_store();
    assert!(store_on(disk).verify(&[], &mut |_| {}).unwrap().is_ok());
}
