//! An index is untrusted bytes: a damaged, stale or planted one is read past, and a store that cannot be written has none.

use std::io;
use std::time::UNIX_EPOCH;

use ckpt_model::digest::Digest;
use ckpt_store::{Disk, FileKind, Stat};

use crate::support::audit::store_on;
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};
use ckpt::{
    INDEX, LARGE, Summaries, id, large_store, read_index, remove_index, root, save, summaries, without_index,
    write_index,
};

/// A disk with a large store and its index.
fn indexed_store() -> MemoryDisk {
    let disk = large_store();
    summaries(&store_on(disk.clone()));
    assert!(read_index(&disk).is_some());
    disk
}

#[track_caller]
fn assert_ignored(disk: &MemoryDisk, expected: &Summaries, what: &str) {
    assert_eq!(expected.len(), LARGE, "{what}");
    assert_eq!(&summaries(&store_on(disk.clone())), expected, "{what}");
}

/// The bytes of a block with this content.
fn block(content: &str) -> String {
    format!("{} {:08}\n{content}", Digest::of(content.as_bytes()).to_hex(), content.len())
}

/// The content of the two blocks of an index: what it is about, and the lines.
fn blocks_of(index: &[u8]) -> [String; 2] {
    let index = std::str::from_utf8(index).unwrap();
    let length = |head: &str| head[65..73].parse::<usize>().unwrap();
    let (first, second) = index[74..].split_at(length(index));
    [first.to_owned(), second[74..].to_owned()]
}

#[test]
fn a_damaged_index_is_read_past() {
    let model = indexed_store();
    let index = read_index(&model).unwrap();
    let [first, lines] = blocks_of(&index);
    let mut flipped = index.clone();
    // A digit of a number in the middle, so that the line can still be parsed.
    let place = index.len() / 2 + index[index.len() / 2..].iter().position(u8::is_ascii_digit).unwrap();
    flipped[place] ^= 1;
    let with = |first: &str, lines: &str| (block(first) + &block(lines)).into_bytes();
    let without_last: String = lines.lines().take(LARGE - 1).map(|line| format!("{line}\n")).collect();
    let swapped: String = lines.lines().rev().map(|line| format!("{line}\n")).collect();
    // After a good block and before good ones.
    let mut small: Vec<String> = lines.split_inclusive('\n').map(block).collect();
    small[1] = small[1].replacen(" 1 false ", " 2 false ", 1);
    let broken = [
        ("empty", Vec::new()),
        ("only the first block", block(&first).into_bytes()),
        ("cut", index[..index.len() / 2].to_vec()),
        ("flipped bit", flipped),
        ("no text", vec![0xff; 4096]),
        ("another version", with(&first.replacen(" 4 ", " 3 ", 1), &lines)),
        ("lines of garbage", with(&first, &lines.replace('[', "{"))),
        ("lines without members", with(&first, &lines.replace(" [", "\n["))),
        ("numbers out of range", with(&first, &lines.replace(" 1 false ", " -1 false "))),
        ("carriage returns", with(&first, &lines.replace('\n', "\r\n"))),
        ("carriage returns and other letters", with(&first, &lines.replace('\n', "\u{e9}\r\n"))),
        ("a missing line", with(&first, &without_last)),
        ("another order", with(&first, &swapped)),
        ("every line twice", with(&first, &lines.repeat(2))),
        ("too long a block", with(&first, &lines.repeat(100))),
        ("a damaged block between others", (block(&first) + &small.concat()).into_bytes()),
    ];
    let expected = without_index(&model);
    for (what, bytes) in broken {
        let disk = model.fork();
        write_index(&disk, &bytes);
        assert_ignored(&disk, &expected, what);
        // The next reader finds a good one.
        let mended = String::from_utf8(read_index(&disk).unwrap()).unwrap();
        let lines = mended.lines().filter(|line| line.starts_with('w') && line.ends_with(']'));
        assert_eq!(lines.count(), LARGE, "{what}");
    }
}

#[test]
fn names_in_the_index_that_are_no_workflows_are_passed_over() {
    let disk = indexed_store();
    let [first, lines] = blocks_of(&read_index(&disk).unwrap());
    let count = format!("[{},", LARGE + 3);
    let first = first.replacen(&format!("[{LARGE},"), &count, 1);
    let planted = format!("../../etc 1 1 1 -\n.. \nUpper 1 1 1\n{lines}");
    let mut planted: Vec<&str> = planted.lines().collect();
    planted.sort_unstable();
    let planted: String = planted.iter().map(|line| format!("{line}\n")).collect();
    write_index(&disk, (block(&first) + &block(&planted)).as_bytes());
    assert_ignored(&disk, &without_index(&disk), "planted names");
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
    assert_ignored(&other, &without_index(&other), "copied");
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
    let expected = without_index(&disk);
    let read_only = |disk: &MemoryDisk| store_on(Tapped { disk: disk.clone(), tap: &ReadOnly });
    assert_eq!(summaries(&read_only(&disk)), expected);
    remove_index(&disk);
    assert_eq!(summaries(&read_only(&disk)), expected);
    assert!(read_index(&disk).is_none());
}

/// A file system whose directories keep one time whatever happens in them.
struct FrozenDirectories;

impl<D: Disk> Tap<D> for FrozenDirectories {
    fn stat(&self, disk: &D, dir: &D::Dir, name: &str) -> io::Result<Stat> {
        let stat = disk.stat(dir, name)?;
        let changed = if stat.kind == FileKind::Directory { Some(UNIX_EPOCH) } else { stat.changed };
        Ok(Stat { changed, ..stat })
    }
}

#[test]
fn without_times_of_directories_there_is_no_index() {
    let disk = large_store();
    let store = store_on(Tapped { disk: disk.clone(), tap: &FrozenDirectories });
    assert_eq!(summaries(&store).len(), LARGE);
    assert!(read_index(&disk).is_none());
    save(&store, LARGE, 0);
    assert_eq!(summaries(&store).len(), LARGE + 1);
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
        let expected = without_index(&disk);
        let tap = FailsAt(step);
        assert_eq!(summaries(&store_on(Tapped { disk: disk.clone(), tap: &tap })), expected);
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
    summaries(&store_on(disk.clone()));
    assert!(read_index(&disk).is_some());
}

#[test]
fn a_save_leaves_the_index_alone() {
    let disk = indexed_store();
    let index = read_index(&disk);
    save(&store_on(disk.clone()), 7, 1);
    assert_eq!(read_index(&disk), index);
    assert_eq!(summaries(&store_on(disk.clone()))[&id(7)].seq, 2);
    // One change is not worth another index.
    assert_eq!(read_index(&disk), index);
}

#[test]
fn a_small_store_has_no_index() {
    let disk = super::workflows(100);
    assert_eq!(summaries(&store_on(disk.clone())).len(), 100);
    assert!(read_index(&disk).is_none());
}

#[test]
fn verify_accepts_an_index() {
    let disk = indexed_store();
    assert!(store_on(disk).verify(&[], &mut |_| {}).unwrap().is_ok());
}
