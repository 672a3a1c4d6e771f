//! Five phases with reports under `memory/`, and an approval of the design.

use serde_json::json;

use crate::support::project::World;

fn world() -> World {
    let world = World::new();
    world.write("memory/reports/demand.json", "{}");
    world.run(&["save", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    world.run(&["start", "w", "--phase", "ARCHITECTURE"]).succeeds();
    world
}

#[test]
fn interrupted_during_user_approval_re_presents_options_and_does_not_re_run_architects() {
    let world = world();
    world.write("memory/reports/designs/a.json", "{}");
    let answer = world.run(&["resume", "w", "--json"]).exits(7).document();
    assert_eq!(
        (&answer["phase"], &answer["awaiting_approval"]),
        (&json!("ARCHITECTURE"), &json!(["ARCHITECTURE"]))
    );
    assert!(answer["action"].as_str().unwrap().ends_with("do not redo it"), "{answer}");
}

#[test]
fn if_the_final_design_exists_advance_to_implementation() {
    for status in ["in_progress", "complete"] {
        let world = world();
        world.write("memory/reports/designs/a.json", "{}");
        world.write("memory/reports/final_design.json", "{}");
        world.run(&["save", "w", "--phase", "ARCHITECTURE", "--status", status]).succeeds();
        let answer = world.json(&["resume", "w"]);
        assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("IMPLEMENTATION"), &json!("ready")));
        assert_eq!(answer["findings"][0]["code"], "not_approved", "{answer}");
        world.run(&["approve", "w", "--phase", "architecture"]).succeeds();
        assert_eq!(world.json(&["resume", "w"])["findings"], json!([]));
    }
}
