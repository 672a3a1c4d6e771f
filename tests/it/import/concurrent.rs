//! The same files imported by several processes at once: each becomes one checkpoint, and none is refused.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ckpt_formats::import::{ForeignFile, ImportOutcome, Importer, ReadOptions};
use ckpt_model::size::Size;
use ckpt_store::Store;
use ckpt_store::{Disk, ImportedFiles};
use serde_json::Value;

use super::command::{handles, state};
use crate::support::audit::{handle, stamp, store_on, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::project::World;
use crate::support::tap::{Step, Tap, Tapped};

const FILES: usize = 3;

/// Imports the files in order, as one process does.
fn import<D: Disk>(store: &Store<D>, process: &str, files: &[ForeignFile]) -> Vec<ImportOutcome> {
    let stamp = stamp(process);
    let importer = Importer { store, project: Path::new("/nowhere"), max_file: Size(1), stamp: &stamp };
    let mut imported = ImportedFiles::default();
    let append = |file| importer.append(file, &workflow(), &mut imported).unwrap();
    files.iter().map(append).collect()
}

/// Lets another process import all files before the step of this index.
struct Interrupted<'a> {
    files: &'a [ForeignFile],
    at: usize,
    steps: AtomicUsize,
}

impl Tap<MemoryDisk> for Interrupted<'_> {
    fn before(&self, disk: &MemoryDisk, _: Step, _: &str) -> io::Result<()> {
        if self.steps.fetch_add(1, Ordering::Relaxed) == self.at {
            import(&store_on(disk.clone()), "other", self.files);
        }
        Ok(())
    }
}

/// Files with and without a time: the first kind was refused as older than the head, the second kind appended again.
fn files(dated: bool) -> Vec<ForeignFile> {
    let file = |number: usize| {
        let mut document: Value = serde_json::from_str(&state("w", &format!("2026-01-30T1{number}:00:00Z"))).unwrap();
        if !dated {
            document.as_object_mut().unwrap().remove("timestamp");
            document["attempt"] = number.into();
        }
        let (name, bytes) = (format!("s{number}.json"), document.to_string());
        ForeignFile::parse(&name, bytes.as_bytes(), &ReadOptions::default(), |_, _| None).unwrap()
    };
    (0..FILES).map(file).collect()
}

#[test]
fn another_import_of_the_same_files_may_come_at_any_step() {
    for dated in [true, false] {
        let files = files(dated);
        for at in 0.. {
            let disk = MemoryDisk::new();
            let tap = Interrupted { files: &files, at, steps: AtomicUsize::new(0) };
            let outcomes = import(&store_on(Tapped { disk: disk.clone(), tap: &tap }), "one", &files);
            for (outcome, seq) in outcomes.iter().zip(1..) {
                assert_eq!(outcome.handle(), handle(seq), "step {at}");
            }
            assert_eq!(store_on(disk).head_number(&workflow()).unwrap(), Some(FILES as u64), "step {at}");
            if tap.steps.into_inner() <= at {
                assert!(at > 10, "only {at} steps");
                break;
            }
        }
    }
}

#[test]
fn of_many_imports_of_the_same_files_each_file_is_imported_once() {
    let world = World::new();
    for number in 0..16 {
        world.write(&format!("in/s{number}.json"), state("w", &format!("2026-01-30T10:00:{number:02}Z")));
    }
    let children: Vec<_> = (0..8).map(|_| world.ckpt(&["import", "in", "--json"]).spawn()).collect();
    let mut appended = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let document = world.outcome(output.status, output.stdout, output.stderr).succeeds().document();
        let (new, old) = (handles(&document, "imported"), handles(&document, "unchanged"));
        assert_eq!(new.len() + old.len(), 16);
        appended.extend(new);
    }
    assert_eq!(appended.len(), 16, "{appended:?}");
    let digests: BTreeSet<String> =
        (1..=16).map(|seq| world.stored("w", seq)["imported"]["sha256"].to_string()).collect();
    assert_eq!(digests.len(), 16);
    assert_eq!(world.numbers("w").len(), 16);
}
