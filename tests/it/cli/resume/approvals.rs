//! Decisions of people: approve, ask for it again, abandon.

use serde_json::json;

use crate::support::project::World;

#[test]
fn a_result_that_waits_for_approval_is_presented_again_until_somebody_approves() {
    let world = World::new();
    world.configure(
        "[pipelines.p]\nphases = [{ id = \"design\", approval = true, outputs = [\"design.md\"] }, \"build\"]\n",
    );
    world.run(&["save", "042", "--pipeline", "p", "--phase", "design", "--status", "in_progress"]).succeeds();
    assert_eq!(world.json(&["resume", "042"])["phase"], "design");
    world.refuses(&["approve", "042"], 4, "nothing_to_approve");
    world.write("design.md", "one");
    let answer = world.run(&["resume", "042", "--json"]).exits(7).document();
    assert_eq!((&answer["phase"], &answer["findings"][0]["code"]), (&json!("design"), &json!("awaiting_approval")));
    world.ckpt(&["approve", "042", "--note", "Option B"]).env("USER", "kim").run().succeeds();
    assert_eq!(world.stored("042", 2)["phases"][0]["approval"]["approved_by"], "kim");
    let answer = world.json(&["resume", "042"]);
    assert_eq!((&answer["phase"], &answer["inferred"]), (&json!("build"), &json!(["design"])));
}

#[test]
fn a_complete_phase_waits_for_approval_and_is_not_redone() {
    let world = World::new();
    world.configure("[pipelines.p]\nphases = [{ id = \"design\", approval = true }, \"build\"]\n");
    let outcome = world.run(&["save", "042", "--pipeline", "p", "--phase", "design"]).succeeds();
    assert!(outcome.stderr.ends_with("Phase design waits for approval. Approve with: ckpt approve 042\n"));
    let answer = world.run(&["resume", "042", "--json"]).exits(7).document();
    assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("design"), &json!("confirm")));
    assert_eq!(answer["action"], "Present the result of design for approval; do not redo it");
    assert_eq!(answer["findings"][0]["help"][0], "ckpt approve 042 --phase design");
    // The last phase of all is not enough.
    assert_eq!(world.json(&["save", "042", "--phase", "build"])["status"], "in_progress");
    assert_eq!(world.json(&["approve", "042"])["status"], "complete");
}

#[test]
fn an_agent_that_was_told_yes_records_who_said_it() {
    let world = World::new();
    world.configure("[pipelines.p]\nphases = [{ id = \"design\", approval = true }, \"build\"]\n");
    let save = ["save", "042", "--pipeline", "p", "--phase", "design", "--approved-by", "Kim"];
    let answer = world.ckpt(&save).env("CLAUDECODE", "1").json();
    assert_eq!(answer["next"]["phase"], "build");
    let approval = &world.stored("042", 1)["phases"][0]["approval"];
    assert_eq!((&approval["approved_by"], &approval["recorded_by"]), (&json!("Kim"), &json!("claude-code")));
    assert_eq!(world.json(&["resume", "042"])["verdict"], "ready");

    let document = r#"{"phase": "build", "approved_by": "Kim"}"#;
    world.ckpt(&["save", "042", "--from", "-"]).stdin(document).run().succeeds();
    assert_eq!(world.stored("042", 2)["phases"][1]["approval"]["approved_by"], "Kim");
    world.refuses(&["save", "042", "--approved-by", "Kim"], 2, "no_phase");
}

#[test]
fn revise_reopens_a_phase_and_everything_behind_it_twice() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b,c", "--phase", "a", "--data", r#"{"kept": 1}"#]).succeeds();
    world.run(&["save", "042", "--phase", "b", "--task", "t=failed"]).succeeds();
    let answer = world.json(&["revise", "042", "--from", "a", "--reason", "changed"]);
    assert_eq!(answer["remaining"], json!(["a", "b", "c"]));
    let stored = world.stored("042", 3);
    assert_eq!(stored["replans"][0]["reason"], "changed");
    assert_eq!(stored["phases"][0]["data"], json!({"kept": 1}));
    assert_eq!(stored["tasks"][0]["status"], "pending");
    assert_eq!(world.json(&["resume", "042"])["phase"], "a");
    world.run(&["revise", "042", "--from", "a"]).succeeds();
    world.refuses(&["revise", "042", "--from", "a"], 9, "replan_limit");
    world.run(&["revise", "042", "--from", "b"]).succeeds();
    world.run(&["revise", "042", "--from", "a", "--force"]).succeeds();
    world.refuses(&["revise", "042", "--from", "x"], 2, "unknown_phase");
}

#[test]
fn the_replan_limit_is_configurable_from_1_to_5() {
    let world = World::new();
    world.configure("[resume]\nreplan_limit = 1\n");
    world.run(&["save", "042", "--phases", "a", "--phase", "a"]).succeeds();
    world.run(&["revise", "042", "--from", "a"]).succeeds();
    world.refuses(&["revise", "042", "--from", "a"], 9, "replan_limit");
    world.configure("[resume]\nreplan_limit = 0\n");
    world.refuses(&["revise", "042", "--from", "a"], 2, "invalid_config");
}

#[test]
fn after_a_failure_retry_skip_and_abandon_are_offered_and_work() {
    let failed = || {
        let world = World::new();
        world
            .run(&["save", "042", "--phases", "a,b", "--phase", "a", "--status", "failed", "--error", "boom"])
            .succeeds();
        world
    };
    let help = failed().json(&["resume", "042"])["findings"][0]["help"].clone();
    let ways: Vec<String> = serde_json::from_value(help).unwrap();
    assert_eq!(ways.len(), 3);
    let after = |way: &str| {
        let world = failed();
        let words: Vec<&str> = way.split(' ').skip(1).collect();
        world.run(&words).succeeds();
        let answer = world.run(&["resume", "042", "--json"]).document();
        (answer["phase"].clone(), answer["verdict"].clone())
    };
    assert_eq!(after(&ways[0]), (json!("a"), json!("ready")), "retry");
    assert_eq!(after(&ways[1]), (json!("b"), json!("ready")), "skip");
    assert_eq!(after(&ways[2]), (json!("a"), json!("confirm")), "abandon");
}

#[test]
fn built_in_pipelines_can_be_followed_at_once() {
    let world = World::new();
    for (name, first) in [("kamiflow", "0"), ("dotagent", "REQUIREMENTS"), ("crunch", "enrich")] {
        let answer = world.json(&["save", name, "--pipeline", name]);
        assert_eq!(answer["next"]["phase"], first);
    }
    for name in ["claude-dir", "claude-plan"] {
        world.refuses(&["save", name, "--pipeline", name], 2, "invalid_phases");
        let answer = world.json(&["save", name, "--pipeline", name, "--total", "3"]);
        assert_eq!(answer["remaining"], json!(["1", "2", "3"]));
        assert_eq!(world.stored(name, 1)["pipeline"], name);
    }
    let wrong = ["save", "kamiflow", "--phase", "2", "--data", r#"{"options": "many"}"#];
    let failure = world.refuses(&wrong, 6, "invalid_data");
    assert_eq!(failure["context"]["violations"][0]["pointer"], "/options");
    world.refuses(&["save", "kamiflow", "--phase", "5"], 2, "unknown_phase");
}
