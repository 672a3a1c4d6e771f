//! Phases: which are done, which comes next, and when the workflow is complete.

use serde_json::json;

use crate::support::project::World;

#[test]
fn the_first_save_creates_the_store_and_says_so() {
    let world = World::new();
    let outcome = world.run(&["save", "042", "--phase", "plan"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Created the store $TMP/project/.ckpt
    warning: nothing says what comes next; `ckpt save 042 --next 'what comes next'` does, or `ckpt done 042` if all is done
    Saved 042/1, a new workflow: phase plan complete by default, 1 done.
    --- end
    ");
}

#[test]
fn a_save_prints_its_handle_and_where_the_work_stands() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "plan", "--phases", "plan,build,test"]).succeeds();
    let outcome = world.run(&["save", "042", "--phase", "build"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/2
    --- stderr
    Saved 042/2: phase build complete by default, 2 of 3 done. Next: test. Resume with: ckpt resume 042
    --- end
    ");
}

#[test]
fn the_answer_names_what_is_done_and_what_remains() {
    let world = World::new();
    let answer = world.json(&["save", "042", "--phase", "plan", "--phases", "plan, build,test"]);
    assert_eq!(answer["handle"], "042/1");
    assert_eq!((&answer["seq"], &answer["created"]), (&json!(1), &json!(true)));
    assert_eq!((&answer["done"], &answer["remaining"]), (&json!(["plan"]), &json!(["build", "test"])));
    assert_eq!(answer["next"], json!({"phase": "build", "action": null}));
    assert_eq!(answer["status"], "in_progress");
}

#[test]
fn a_total_declares_numbered_phases() {
    let world = World::new();
    let answer = world.json(&["save", "042", "--phase", "2", "--total", "3"]);
    assert_eq!((&answer["done"], &answer["remaining"]), (&json!(["2"]), &json!(["3"])));
    assert_eq!(answer["skipped_by_inference"], json!(["1"]));
}

#[test]
fn every_status_and_its_aliases_are_understood() {
    let cases = [
        ("complete", "complete", true),
        ("completed", "complete", true),
        ("done", "complete", true),
        ("in_progress", "in_progress", false),
        ("in-progress", "in_progress", false),
        ("running", "in_progress", false),
        ("started", "in_progress", false),
        ("failed", "failed", false),
        ("error", "failed", false),
        ("skipped", "skipped", true),
        ("pending", "pending", false),
    ];
    let world = World::new();
    for (index, (typed, stored, done)) in cases.into_iter().enumerate() {
        let id = format!("w{index}");
        let answer = world.json(&["save", &id, "--phase", "a", "--status", typed, "--phases", "a,b"]);
        assert_eq!(world.stored(&id, 1)["phases"][0]["status"], stored, "{typed}");
        assert_eq!(answer["done"].as_array().unwrap().len(), usize::from(done), "{typed}");
    }
    world.refuses(&["save", "042", "--phase", "a", "--status", "finished"], 2, "usage");
    world.refuses(&["save", "042", "--status", "failed"], 2, "usage");
}

#[test]
fn completing_the_last_phase_completes_the_workflow() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b"]).succeeds();
    let outcome = world.run(&["save", "042", "--phase", "b"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/2
    --- stderr
    Saved 042/2: phase b complete by default, 2 of 2 done. The workflow is complete.
    Archived 1 checkpoint of 042. Undo with: ckpt restore 042
    --- end
    ");
    let stored = world.stored("042", 2);
    assert_eq!((&stored["status"], &stored["next"]), (&json!("complete"), &json!(null)));
}

#[test]
fn phases_may_be_finished_in_any_order() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "c", "--phases", "a,b,c"]).succeeds();
    let answer = world.json(&["save", "042", "--phase", "a"]);
    assert_eq!((&answer["done"], &answer["remaining"]), (&json!(["a", "c"]), &json!(["b"])));
    assert_eq!(answer["next"]["phase"], "b");
    assert_eq!(world.json(&["save", "042", "--phase", "b"])["status"], "complete");
}

#[test]
fn a_failed_phase_never_counts_as_done() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b"]).succeeds();
    let answer = world.json(&["save", "042", "--phase", "b", "--status", "failed"]);
    assert_eq!((&answer["done"], &answer["remaining"]), (&json!(["a"]), &json!(["b"])));
    assert_eq!((&answer["status"], &answer["next"]["phase"]), (&json!("in_progress"), &json!("b")));
}

#[test]
fn a_phase_that_is_taken_up_again_reopens_the_workflow() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a"]).succeeds();
    let answer = world.json(&["save", "042", "--phase", "a", "--status", "in_progress"]);
    assert_eq!((&answer["status"], &answer["remaining"]), (&json!("in_progress"), &json!(["a"])));
}

#[test]
fn attempts_and_times_of_a_phase_are_recorded() {
    let world = World::new();
    for status in ["in_progress", "failed", "in_progress", "complete"] {
        world.run(&["save", "042", "--phase", "a", "--status", status]).succeeds();
    }
    let phase = &world.stored("042", 4)["phases"][0];
    assert_eq!(phase["attempts"], 2);
    assert_eq!(phase["started_at"], "2026-01-30T14:32:00.000Z");
    assert_eq!(phase["completed_at"], "2026-01-30T14:33:00.000Z");
}

#[test]
fn undeclared_phases_are_taken_as_they_come() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    let answer = world.json(&["save", "042", "--phase", "anything else"]);
    assert_eq!((&answer["done"], &answer["next"]), (&json!(["a", "anything else"]), &json!(null)));
    assert_eq!(answer["status"], "in_progress", "nobody knows whether more will come");
}

#[test]
fn declared_phases_leave_no_room_for_others() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b"]).succeeds();
    let failure = world.refuses(&["save", "042", "--phase", "c"], 2, "unknown_phase");
    assert_eq!(failure["context"]["phases"], json!(["a", "b"]));
    world.refuses(&["save", "042", "--phase", "b", "--next-phase", "c"], 2, "unknown_phase");
    world.refuses(&["save", "042", "--phases", "b,c"], 2, "drops_phase");
}

#[test]
fn phases_can_be_declared_later_and_extended() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    let answer = world.json(&["save", "042", "--phases", "a,b"]);
    assert_eq!((&answer["done"], &answer["remaining"]), (&json!(["a"]), &json!(["b"])));
    let answer = world.json(&["save", "042", "--phases", "x,a,b,c"]);
    assert_eq!(answer["remaining"], json!(["b", "c"]));
    assert_eq!(answer["skipped_by_inference"], json!(["x"]));
}

#[test]
fn lists_of_phases_that_are_none_are_refused() {
    let world = World::new();
    world.refuses(&["save", "042", "--phases", "a,a"], 2, "invalid_phases");
    world.refuses(&["save", "042", "--phases", ""], 2, "invalid_name");
    world.refuses(&["save", "042", "--phases", "a,,b"], 2, "invalid_name");
    world.refuses(&["save", "042", "--total", "0"], 2, "invalid_phases");
    world.refuses(&["save", "042", "--total", "10001"], 9, "too_many");
    world.refuses(&["save", "042", "--total", "4294967295"], 9, "too_many");
    world.refuses(&["save", "042", "--total", "x"], 2, "usage");
    world.refuses(&["save", "042", "--total", "3", "--phases", "a"], 2, "usage");
    world.refuses(&["save", "042", "--pipeline", "p", "--phases", "a"], 2, "usage");
}

#[test]
fn next_and_next_phase_say_how_to_continue() {
    let world = World::new();
    let declared = ["save", "042", "--phase", "a", "--phases", "a,b,c"];
    let answer = world.json(&[&declared[..], &["--next", "Ask Eve", "--next-phase", "c"]].concat());
    assert_eq!(answer["next"], json!({"phase": "c", "action": "Ask Eve", "explicit": true}));
    for save in [&["save", "042", "--note", "nothing moved"][..], &["save", "042", "--phase", "b"]] {
        assert_eq!(world.json(save)["next"]["phase"], "c", "it stays until it is done");
        assert_eq!(world.json(&["resume", "042"])["phase"], "c");
    }
    assert_eq!(world.json(&["revise", "042", "--from", "b"])["next"]["phase"], "b", "or is asked for again");
    let answer = world.json(&["save", "free", "--next", "Write the parser"]);
    assert_eq!(answer["next"], json!({"phase": null, "action": "Write the parser"}));
}

#[test]
fn the_next_action_stands_until_the_work_moves_on() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b,c", "--next", "Ask Eve"]).succeeds();
    assert_eq!(world.json(&["save", "042", "--note", "still waiting"])["next"]["action"], "Ask Eve");
    assert_eq!(world.json(&["save", "042", "--phase", "b"])["next"]["action"], json!(null));
}

#[test]
fn without_a_phase_it_is_a_manual_checkpoint_of_the_present_state() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    let (first, second) = (world.stored("042", 1), world.stored("042", 2));
    assert_eq!(first["trigger"], "phase_transition");
    assert_eq!(second["trigger"], "manual");
    assert_eq!(first["phases"], second["phases"]);
    assert_eq!(second["parent"], json!({"seq": 1, "sha256": first["sha256"]}));
}

#[test]
fn the_status_of_the_workflow_can_be_said() {
    let world = World::new();
    for (typed, stored) in [
        ("failed", "failed"),
        ("abandoned", "abandoned"),
        ("complete", "complete"),
        ("done", "complete"),
        ("in_progress", "in_progress"),
        ("in-progress", "in_progress"),
    ] {
        let answer = world.json(&["save", "042", "--workflow-status", typed]);
        assert_eq!(answer["status"], stored, "{typed}");
    }
    world.refuses(&["save", "042", "--workflow-status", "damaged"], 2, "usage");
}

#[test]
fn the_workflow_comes_from_the_environment_if_it_is_not_typed() {
    let world = World::new();
    let answer = world.ckpt(&["save", "--phase", "a"]).env("CKPT_WORKFLOW", "from-env").json();
    assert_eq!(answer["handle"], "from-env/1");
    let answer = world.ckpt(&["save", "typed", "--phase", "a"]).env("CKPT_WORKFLOW", "from-env").json();
    assert_eq!(answer["handle"], "typed/1");
    world.refuses(&["save", "--phase", "a"], 2, "no_workflow");
    world.ckpt(&["save", "--phase", "a"]).env("CKPT_WORKFLOW", "../x").refused(2, "invalid_id");
}

#[test]
fn without_declared_phases_the_last_word_about_what_comes_next_stands_until_a_phase_is_reported() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--next-phase", "b", "--next", "do b"]).succeeds();
    let answer = world.json(&["save", "042", "--note", "nothing moved"]);
    assert_eq!(answer["next"], json!({"phase": "b", "action": "do b", "explicit": true}));
    assert_eq!(world.json(&["save", "042", "--phase", "b"])["next"], json!(null));
}

#[test]
fn one_document_moves_several_phases_and_tasks_in_one_checkpoint() {
    let world = World::new();
    let save = |document: serde_json::Value| {
        world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).run().succeeds();
    };
    save(serde_json::json!({
        "phases": [{"id": "plan", "status": "complete"}, {"id": "build", "status": "in_progress"}, "test"],
        "tasks": {"lexer": "complete", "parser": "running"},
    }));
    let stored = world.stored("042", 1);
    let statuses = |stored: &serde_json::Value| -> Vec<String> {
        let phases = stored["phases"].as_array().unwrap().iter();
        phases.map(|phase| format!("{}={}", phase["id"], phase["status"]).replace('"', "")).collect()
    };
    assert_eq!(statuses(&stored), ["plan=complete", "build=in_progress", "test=pending"]);
    assert_eq!((&stored["phase"], &stored["next"]["phase"]), (&"build".into(), &"build".into()));
    assert_eq!((&stored["trigger"], &stored["status"]), (&"phase_transition".into(), &"in_progress".into()));
    assert_eq!(stored["tasks"][1]["phase"], "build");

    save(serde_json::json!({"phases": {"build": "complete", "test": "skipped"}, "tasks": {"parser": "complete"}}));
    let stored = world.stored("042", 2);
    assert_eq!(statuses(&stored), ["plan=complete", "build=complete", "test=skipped"]);
    assert_eq!(stored["status"], "complete");

    let unknown = serde_json::json!({"phases": {"deploy": "complete"}}).to_string();
    let refused = world.ckpt(&["save", "042", "--from", "-"]).stdin(unknown).run();
    assert!(refused.to_string().contains("there is no phase `deploy`"), "{refused}");
    assert_eq!(world.numbers("042"), [1, 2]);
}
