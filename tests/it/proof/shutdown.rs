//! How honest a power cut of these tests is: plain writes with a sync each, without `ckpt`, while the power is cut.
//!
//! ext4 and xfs return success from some syncs that are under way while they are shut down, and lose the write; btrfs in
//! a file on such an ext4 passes that on. No power failure does this, because no process sees an answer after it. A
//! write whose sync returned before the shutdown began is always kept, and the storms count only those.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::proof::{amount, figure};
use ckpt::file_system::{FileSystem, Kind};

const WRITERS: u64 = 4;
const BLOCK: usize = 4096;
/// Blocks that a writer has for itself, more than it gets to.
const BLOCKS: u64 = 8192;

/// Numbers of blocks whose sync returned success.
#[derive(Default)]
struct Synced {
    before_cut: Vec<u64>,
    during_cut: Vec<u64>,
    is_cut: bool,
}

#[test]
#[ignore = "is run by `shutdowns_of_every_journal`, which gives it a mount namespace"]
fn of_every_journal() {
    for kind in Kind::WITH_JOURNAL {
        let system = FileSystem::with_power_switch(kind);
        let path = system.root().join("blocks");
        let cuts = amount(2, 40);
        let (mut kept, mut lost) = (0, 0);
        for cut in 0..cuts {
            let blocks = File::create(&path).unwrap();
            // On a busy machine the power may be cut before the first block is synced.
            File::open(system.root()).unwrap().sync_all().unwrap();
            let synced = write_until_cut(
                &blocks,
                || {
                    std::thread::sleep(Duration::from_millis(50 + cut as u64 * 37 % 200));
                },
                || system.cut_power(),
            );
            drop(blocks);
            system.switch_on();
            let file = File::open(&path).unwrap();
            for block in &synced.before_cut {
                assert!(holds(&file, *block), "{kind}: block {block} was synced before the power was cut");
            }
            kept += synced.before_cut.len();
            lost += synced.during_cut.iter().filter(|block| !holds(&file, **block)).count();
        }
        figure(&format!(
            "shutdowns of {kind}: {cuts}, {kept} writes synced before and none lost; {lost} lost whose sync succeeded during one"
        ));
    }
}

fn write_until_cut(file: &File, wait: impl Fn(), cut: impl Fn()) -> Synced {
    let synced = Mutex::new(Synced::default());
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let synced = &synced;
            scope.spawn(move || {
                // Every second block, so that each needs an extent of its own.
                for block in (writer * BLOCKS..(writer + 1) * BLOCKS).step_by(2) {
                    if file.write_all_at(&content(block), block * BLOCK as u64).is_err() || file.sync_all().is_err() {
                        break;
                    }
                    let mut synced = synced.lock().unwrap();
                    if synced.is_cut { synced.during_cut.push(block) } else { synced.before_cut.push(block) }
                }
            });
        }
        wait();
        synced.lock().unwrap().is_cut = true;
        cut();
    });
    synced.into_inner().unwrap()
}

fn content(block: u64) -> [u8; BLOCK] {
    let mut content = [1; BLOCK];
    content[..8].copy_from_slice(&block.to_le_bytes());
    content
}

fn holds(file: &File, block: u64) -> bool {
    let mut found = [0; BLOCK];
    file.read_exact_at(&mut found, block * BLOCK as u64).is_ok() && found == content(block)
}
