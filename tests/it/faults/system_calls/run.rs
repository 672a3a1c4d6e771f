//! `ckpt run`: however it ends, what it recorded is whole, and the next run works.

use ckpt_model::{Handle, WorkflowId};

use crate::support::project::World;
use crate::support::strace::strace;
use ckpt::injection::{failures, kills, sample, try_all};

const RUN: [&str; 6] = ["run", "042", "--phase", "3", "--", "true"];

#[test]
fn faults_at_its_system_calls() {
    let Some(strace) = strace() else { return };
    let model = World::with_checkpoints(2);
    let mut faults = kills(&strace, &model.copy(), &RUN);
    faults.extend(failures(&strace, &model.copy(), &RUN));
    try_all(
        &strace,
        &RUN,
        &sample(faults),
        || model.copy(),
        |world, outcome, fault| {
            let numbers = world.numbers("042");
            assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{fault}: dense\n{outcome}");
            assert!((2..=4).contains(&numbers.len()), "{fault}: {numbers:?}\n{outcome}");
            if outcome.status.success() {
                assert_eq!(numbers.len(), 4, "{fault}: the begin and the end are recorded\n{outcome}");
            }
            let id: WorkflowId = "042".parse().unwrap();
            for seq in numbers {
                let loaded = world.open_store().load(&Handle::new(&id, seq));
                assert!(loaded.is_ok(), "{fault}: 042/{seq}: {:?}\n{outcome}", loaded.err());
            }
            let again = world.run(&RUN);
            assert!(again.status.success(), "{fault}\n{outcome}\nthen once more {again}");
        },
    );
}
