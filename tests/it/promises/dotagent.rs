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

fn finding(answer: &serde_json::Value, code: &str) -> String {
    let findings = answer["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["code"] == code);
    let found = found.unwrap_or_else(|| panic!("no {code}: {answer}"));
    format!("{}: {}", found["severity"].as_str().unwrap(), found["message"].as_str().unwrap())
}

#[test]
fn check_all_referenced_output_files_exist() {
    let world = World::new();
    world.write("memory/reports/demand.json", "{}");
    world.run(&["save", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    world.write("out.json", "{}");
    world.run(&["save", "w", "--task", "task-001=complete,output=out.json"]).succeeds();
    world.run(&["resume", "w"]).succeeds();
    std::fs::remove_file(world.project().join("out.json")).unwrap();
    let answer = world.run(&["resume", "w", "--json"]).exits(7).document();
    let told = "confirm: task task-001 is complete, but its output out.json is missing";
    assert_eq!(finding(&answer, "output_missing"), told);
}

#[test]
fn check_timestamps_are_reasonable_phase_progression_is_valid_and_for_incomplete_writes() {
    let world = World::new();
    let state = json!({"workflow_id": "w", "started_at": "2026-01-01T00:00:00Z",
        "last_updated": "2026-01-02T00:00:00Z", "current_phase": "IMPLEMENTATION", "phase_status": "in_progress",
        "completed_phases": [
            {"phase": "REQUIREMENTS", "completed_at": "2026-01-01T01:00:00Z"},
            {"phase": "ARCHITECTURE", "completed_at": "2026-01-01T02:00:00Z"}],
        "user_checkpoints": [], "interruption_safe": true});
    for (key, value, code) in [
        ("last_updated", json!("2099-01-01T00:00:00Z"), "future_time"),
        ("started_at", json!("2026-01-03T00:00:00Z"), "records_disagree"),
        ("interruption_safe", json!(false), "incomplete_write"),
        ("interruption_safe", json!("False"), "incomplete_write"),
        (
            "completed_phases",
            json!([{"phase": "REQUIREMENTS", "completed_at": "2026-01-01T03:00:00Z"},
                {"phase": "ARCHITECTURE", "completed_at": "2026-01-01T02:00:00Z"}]),
            "records_disagree",
        ),
    ] {
        let mut state = state.clone();
        state[key] = value;
        world.write("phase.json", state.to_string());
        let answer = world.run(&["resume", "--file", "phase.json", "--json"]).exits(7).document();
        assert!(finding(&answer, code).starts_with("confirm: "), "{key}: {answer}");
    }
}

/// Ctrl-C during a subagent: detect the orphaned task, increment attempts.
#[test]
fn an_orphaned_task_that_another_session_begins_again_counts_one_more_attempt() {
    let world = world();
    let begin = |session: &str| {
        let save = ["save", "w", "--task", "task-001=running"];
        let agent = world.ckpt(&save).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        let handle = agent.json()["seq"].as_u64().unwrap();
        world.stored("w", handle)["tasks"][0]["attempts"].clone()
    };
    assert_eq!(begin("one"), json!(1));
    assert_eq!(begin("one"), json!(1), "the same session only says it again");
    assert_eq!(begin("two"), json!(2));
    assert_eq!(begin("three"), json!(3));
}
