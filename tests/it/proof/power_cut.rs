//! The power fails in the middle of a storm. What was acknowledged before is there when the file system is mounted again.

use crate::support::project::World;
use crate::support::proof::{amount, figure};
use ckpt::file_system::{FileSystem, Kind};
use ckpt::storm::{Acknowledged, Storm, assert_nothing_is_lost};

/// More saves than a storm gets to before its power is cut.
const SAVES: usize = 1000;

#[test]
#[ignore = "is run by `power_cuts_on_every_journal`, which gives it a mount namespace"]
fn on_every_journal() {
    for kind in Kind::WITH_JOURNAL {
        let system = FileSystem::with_power_switch(kind);
        let world = World::inside(&system.root()).with_processes();
        world.run(&["save", "042"]).succeeds();
        let mut acknowledged = Acknowledged::new();
        let cuts = amount(2, 12);
        for cut in 0..cuts {
            let storm = Storm::new(&world);
            storm.rage(cut * SAVES, SAVES, Some((5 + cut * 7 % 40, &|| system.cut_power())));
            system.switch_on();
            acknowledged.extend(storm.acknowledged());
            assert_nothing_is_lost(&world, &acknowledged);
        }
        figure(&format!("power on {kind}: {cuts} cuts, {} acknowledged saves, none lost", acknowledged.len()));
    }
}
