//! `ckpt import`

use crate::support::project::World;
use ckpt::injection::sample;
use ckpt::reversible::try_faults;

#[test]
fn faults_at_its_system_calls() {
    let world = World::new();
    for workflow in ["a", "b"] {
        let document =
            format!(r#"{{"task_id":"{workflow}","phase":"2","status":"in_progress","completed_phases":["1"]}}"#);
        world.write(&format!("files/{workflow}.json"), document);
    }
    try_faults(&world, &["import", "files"], &[3, 6, 10, 11], sample);
}
