//! Temporary files of running savers: a cleanup leaves them alone whatever its clock says, and a saver whose file is
//! removed nevertheless writes another one.

use std::cell::Cell;
use std::io;

use ckpt_model::Timestamp;
use ckpt_model::change::Stamp;
use ckpt_model::retention::{RetentionSettings, plan};
use ckpt_store::{Disk, OsDisk};
use ckpt_store::{Error, Store};

use crate::support::audit::{Ack, audit, save, stamp, store_in, store_on, workflow};
use crate::support::files::memory_directory;
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Tap, Tapped};

/// Removes the temporary file of a saver, as often as it is told, before the saver publishes it.
struct Remover(Cell<u32>);

impl Tap<MemoryDisk> for Remover {
    fn publish(&self, disk: &MemoryDisk, dir: &usize, staged: &str, name: &str) -> io::Result<()> {
        if self.0.get() > 0 {
            self.0.set(self.0.get() - 1);
            disk.remove(dir, staged)?;
        }
        disk.publish(dir, staged, name)
    }
}

#[test]
fn a_saver_whose_temporary_file_is_removed_writes_another_one() {
    for begun in [false, true] {
        let disk = MemoryDisk::new();
        let mut acked = Vec::new();
        if begun {
            acked.push(Ack::of("old", &save(&store_on(disk.clone()), "old").unwrap()));
        }
        let remover = Remover(Cell::new(3));
        let saved = save(&store_on(Tapped { disk: disk.clone(), tap: &remover }), "new").unwrap();
        acked.push(Ack::of("new", &saved));
        assert_eq!(saved.seq(), Some(1 + u64::from(begun)));
        assert_eq!(audit(&store_on(disk), &acked), [""; 0]);
    }
}

#[test]
fn a_saver_whose_temporary_file_is_removed_each_time_says_so() {
    let disk = MemoryDisk::new();
    save(&store_on(disk.clone()), "old").unwrap();
    let remover = Remover(Cell::new(u32::MAX));
    let result = save(&store_on(Tapped { disk: disk.clone(), tap: &remover }), "new");
    let Err(Error::StagedRemoved { directory, .. }) = result else { panic!("{result:?}") };
    assert!(directory.ends_with("workflows/w"), "{directory:?}");
    assert_eq!(store_on(disk).head_number(&workflow()).unwrap(), Some(1));
}

/// The temporary files that a cleanup takes for stale, and those that it removes, if its clock is years ahead.
fn sweep(store: &Store) -> (usize, usize) {
    let now = Timestamp::parse("2100-01-01T00:00:00Z").unwrap();
    let stamp = Stamp { now, ..stamp("cleanup") };
    let facts = store.cleanup_facts(&mut |_| {}).unwrap();
    let plan = plan(&facts, &RetentionSettings::default().policy(), now).unwrap();
    let cleaned = store.clean_up(&plan, &stamp, &mut |_| {});
    assert!(cleaned.failures.is_empty(), "{cleaned:?}");
    (plan.stale_files.len(), cleaned.stale_files.len())
}

/// Cleans up between the stage and the publish of a save.
struct Sweeper<'a> {
    store: &'a Store,
    swept: Cell<Option<(usize, usize)>>,
}

impl Tap<OsDisk> for Sweeper<'_> {
    fn publish(&self, disk: &OsDisk, dir: &<OsDisk as Disk>::Dir, staged: &str, name: &str) -> io::Result<()> {
        if self.swept.get().is_none() {
            self.swept.set(Some(sweep(self.store)));
        }
        disk.publish(dir, staged, name)
    }
}

#[test]
fn a_clock_that_is_ahead_does_not_sweep_the_temporary_file_of_a_saver_at_work() {
    let base = memory_directory();
    let store = store_in(base.path());
    let old = Ack::of("old", &save(&store, "old").unwrap());
    let sweeper = Sweeper { store: &store, swept: Cell::new(None) };
    let saving = store_on(Tapped { disk: OsDisk::new(base.path()), tap: &sweeper });
    let new = Ack::of("new", &save(&saving, "new").unwrap());
    assert_eq!(sweeper.swept.get(), Some((1, 0)), "it looks stale, but its writer has it locked");
    assert_eq!(audit(&store, &[old, new]), [""; 0]);
    // One that a killed process left has no writer.
    std::fs::write(store.workflow_dir(&workflow()).join(".tmp-killed-0"), "half a check").unwrap();
    assert_eq!(sweep(&store), (1, 1));
}
