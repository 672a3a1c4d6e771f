//! Importing and exporting a long history takes linear time.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ckpt_formats::dialects::Dialect;
use ckpt_formats::export::files;
use ckpt_formats::import::{Companions, ForeignFile, Importer, ReadOptions, Source};
use ckpt_model::change::Change;
use ckpt_model::size::Size;
use ckpt_model::{Checkpoint, Timestamp};
use ckpt_store::ImportedFiles;
use ckpt_store::Store;
use serde_json::json;

use super::cpu::assert_linear;
use super::disk::{Counter, steps};
use crate::support::audit::{archive, stamp, store_on, workflow};
use crate::support::memory::MemoryDisk;
use crate::support::tap::Tapped;

/// Checkpoints that were saved a minute apart.
fn checkpoints(count: usize) -> Vec<Checkpoint> {
    let change = Change { phase: Some("build".parse().unwrap()), ..Change::default() };
    let checkpoint = change.apply(&workflow(), None, &stamp("save")).unwrap();
    (1..=count as u64)
        .map(|seq| {
            let mut checkpoint = checkpoint.clone();
            checkpoint.seq = seq;
            checkpoint.saved_at = Timestamp::from(UNIX_EPOCH + Duration::from_secs(60 * seq));
            *checkpoint
        })
        .collect()
}

#[test]
fn the_newest_of_many_checkpoints_of_a_phase() {
    assert_linear("files", (4_000, 64_000), checkpoints, |checkpoints| {
        let export = files(Dialect::Kamiflow, &checkpoints, Path::new("/nowhere")).unwrap();
        assert_eq!(export.files.len(), 1);
    });
}

/// The index of the dialect crunch has an entry for every checkpoint. Writing a checkpoint takes so much longer than
/// finding its entry that the allocations show it better than the time.
#[test]
fn an_index_of_many_checkpoints() {
    let [few, more, many] = [100, 200, 400].map(|count| {
        let checkpoints = checkpoints(count);
        let cost = allocation_counter::measure(|| {
            let export = files(Dialect::Crunch, &checkpoints, Path::new("/nowhere")).unwrap();
            assert_eq!(export.files.len(), count + 2);
        });
        cost.count_total
    });
    let (first, second) = (more - few, many - more);
    assert!(second * 20 <= first * 41, "{few} allocations for 100, {more} for 200, {many} for 400");
}

#[test]
fn the_entries_of_a_large_index() {
    let index = |count: usize| {
        let directory = tempfile::tempdir().unwrap();
        let entry = |number: usize| json!({"checkpoint_id": format!("CP-{number}"), "phase": "build"});
        let index = json!({"checkpoints": (0..count).map(entry).collect::<Vec<_>>()});
        std::fs::write(directory.path().join("index.json"), index.to_string()).unwrap();
        (directory, count)
    };
    assert_linear("entries", (500, 8_000), index, |(directory, count)| {
        let mut companions = Companions::default();
        for number in 0..count {
            let source = Source::Named(directory.path().join(format!("{number}.yaml")));
            let main = json!({"checkpoint_id": format!("CP-{number}")});
            let entry = companions.find(&source, Dialect::Crunch, &main).unwrap().content.unwrap();
            assert_eq!(entry["checkpoint_id"], main["checkpoint_id"]);
        }
    });
}

fn import(store: &Store<Tapped<'_, MemoryDisk, Counter>>, count: usize) {
    let stamp = stamp("import");
    let importer = Importer { store, project: Path::new("/nowhere"), max_file: Size(1), stamp: &stamp };
    let mut imported = ImportedFiles::default();
    for number in 0..count {
        let text = json!({"workflow_id": "w", "phases": ["a", "b"], "current_phase": "a", "number": number});
        let bytes = text.to_string();
        let file = ForeignFile::parse("w.json", bytes.as_bytes(), &ReadOptions::default(), |_, _| None);
        importer.append(&file.unwrap(), &workflow(), &mut imported).unwrap();
    }
}

#[test]
fn importing_into_one_workflow_takes_linear_steps() {
    let counted = |count: usize| {
        let disk = MemoryDisk::new();
        let first = steps(&disk, |store| import(store, count));
        let again = steps(&disk, |store| import(store, count));
        assert_eq!(store_on(disk).head_number(&workflow()).unwrap(), Some(count as u64));
        (first, again)
    };
    let (few, many) = (counted(50), counted(200));
    assert!(many.0 <= 5 * few.0, "{few:?} steps for 50, {many:?} for 200");
    assert!(many.1 <= 5 * few.1, "{few:?} steps for 50, {many:?} for 200");
}

#[test]
fn reading_a_long_history_takes_linear_time() {
    let live = |count: usize| {
        let disk = MemoryDisk::new();
        steps(&disk, |store| import(store, count));
        (disk, count)
    };
    let archived = |count: usize| {
        let (disk, count) = live(count);
        archive(&store_on(disk.clone()));
        (disk, count)
    };
    let read = |(disk, count): (MemoryDisk, usize)| {
        let history = store_on(disk).load_history(&workflow()).unwrap();
        assert!(history.iter().map(|stored| stored.checkpoint.seq).eq(1..=count as u64));
    };
    assert_linear("live", (50, 200), live, read);
    assert_linear("archived", (50, 200), archived, read);
}
