//! Phases are found in many spellings, and nothing is guessed.

use serde_json::json;

use crate::support::kamiflow::data;
use crate::support::project::World;

#[test]
fn case_the_word_phase_and_the_name_find_the_declared_phase() {
    let world = World::new();
    world.run(&["save", "042", "--pipeline", "kamiflow"]).succeeds();
    for (written, id) in
        [("phase0", "0"), ("Phase 0.5", "0.5"), ("Strategic Synthesis", "2"), ("3a", "3A"), ("phase3b", "3B")]
    {
        let data = data(id).to_string();
        let save = ["save", "042", "--phase", written, "--data", &data];
        assert_eq!(world.json(&save)["phase"], id, "{written}");
    }
    assert_eq!(world.stored("042", 6)["phases"].as_array().unwrap().len(), 7);
    let document = json!({"phase": "diagnostic interview", "next_phase": "phase 4", "data": data("1")});
    world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).run().succeeds();
    let stored = world.stored("042", 7);
    assert_eq!((&stored["phase"], &stored["next"]["phase"]), (&json!("1"), &json!("4")));
    world.run(&["approve", "042", "--phase", "strategic synthesis"]).succeeds();
    let answer = world.json(&["revise", "042", "--from", "PHASE-3B"]);
    assert_eq!(answer["remaining"], json!(["3B", "4"]));
    assert_eq!(world.stored("042", 9)["replans"][0]["phase"], "3B");
}

#[test]
fn what_fits_several_phases_names_them_and_changes_nothing() {
    let world = World::new();
    world.run(&["save", "042", "--pipeline", "kamiflow"]).succeeds();
    let failure = world.refuses(&["save", "042", "--phase", "3"], 5, "ambiguous");
    assert_eq!(failure["context"]["candidates"], json!(["3A", "3B"]));
    world.refuses(&["save", "042", "--next-phase", "phase 3"], 5, "ambiguous");
    world.refuses(&["save", "042", "--phase", "8"], 2, "unknown_phase");
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn without_declared_phases_every_spelling_is_a_phase_of_its_own() {
    let world = World::new();
    for phase in ["build", "Build"] {
        world.run(&["save", "042", "--phase", phase]).succeeds();
    }
    assert_eq!(world.stored("042", 2)["phases"].as_array().unwrap().len(), 2);
}

#[test]
fn in_imported_files_a_number_never_becomes_another_phase() {
    for (written, message) in [
        (json!("3"), "phase 3 may be 3A or 3B; nothing is concluded from it"),
        (json!(8), "there is no phase 8; nothing is concluded from it"),
    ] {
        let world = World::new();
        let file = json!({"taskId": "042", "slug": "x", "phase": written, "status": "complete", "phaseData": {}});
        world.write("042.json", file.to_string());
        let answer = world.run(&["resume", "--file", "042.json", "--json"]).exits(7).document();
        let findings = answer["findings"].as_array().unwrap();
        let told = findings.iter().find(|finding| finding["code"] == "phase_unreadable").unwrap();
        assert_eq!(told["severity"], "confirm");
        assert!(told["message"].as_str().unwrap().contains(message), "{told}");
        assert_eq!(answer["remaining"].as_array().unwrap().len(), 7);
    }
    let world = World::new();
    let file = json!({"taskId": "042", "slug": "x", "phase": "Strategic Synthesis", "status": "complete",
        "phaseData": {"selectedOption": "B"}});
    world.write("042.json", file.to_string());
    let answer = world.run(&["resume", "--file", "042.json", "--json"]).exits(7).document();
    assert_eq!(answer["phase"], "3A");
    let file = json!({"workflow_id": "w", "current_phase": 2, "phase_status": "in_progress",
        "completed_phases": [{"phase": "Requirements Phase"}], "interruption_safe": true});
    world.write("phase.json", file.to_string());
    let answer = world.run(&["resume", "--file", "phase.json", "--json"]).exits(7).document();
    assert_eq!((&answer["done"], &answer["phase"]), (&json!(["REQUIREMENTS"]), &json!("ARCHITECTURE")));
    assert_eq!(answer["remaining"].as_array().unwrap().len(), 4);
}
