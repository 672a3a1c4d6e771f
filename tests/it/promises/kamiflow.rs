//! A workflow of seven phases with a gate, and one file per finished phase.

use serde_json::{Value, json};

use crate::support::project::World;

const OPTIONS: &str = r#"{"options": [{"id": "A"}, {"id": "B"}], "selectedOption": null}"#;

fn live(world: &World, workflow: &str) -> Vec<u64> {
    let has_content = |seq: &u64| std::fs::metadata(world.checkpoint_file(workflow, *seq)).unwrap().len() > 0;
    world.numbers(workflow).into_iter().filter(has_content).collect()
}

/// The same checkpoint integration in `lazy`: after phase 1, after phase 2, and on to phase 4.
#[test]
fn a_lazy_run_begins_at_phase_1_and_continues_with_checkpoints_through_phase_4() {
    let world = World::new();
    world.run(&["save", "042", "--pipeline", "kamiflow", "--phase", "1"]).succeeds();
    let answer = world.json(&["resume", "042"]);
    assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("2"), &json!("ready")));
    assert_eq!(answer["skipped_by_inference"], json!(["0", "0.5"]));
    assert_eq!(world.json(&["status", "042"])["total"], 5);
    let selected = r#"{"selectedOption": "B"}"#;
    assert_eq!(world.json(&["save", "042", "--phase", "2", "--data", selected])["next"]["phase"], "3A");
    for phase in ["3A", "3B"] {
        world.run(&["save", "042", "--phase", phase]).succeeds();
    }
    let outcome = world.run(&["save", "042", "--phase", "4"]).succeeds();
    let line = "Saved 042/5: phase 4 (Strategic Exit) complete by default, 5 of 5 done, 2 skipped by inference. \
                The workflow is complete.";
    assert_eq!(outcome.stderr.lines().next(), Some(line), "{outcome}");
    assert_eq!(live(&world, "042"), [5], "after phase 4, the final checkpoint only");
}

#[test]
fn jump_to_checkpoint_next_phase() {
    let world = World::new();
    world.run(&["save", "042", "--pipeline", "kamiflow", "--phase", "1", "--next-phase", "3A"]).succeeds();
    assert_eq!(world.json(&["resume", "042"])["phase"], "3A");
}

#[test]
fn the_gate_stop_and_wait_for_the_choice() {
    let world = World::new();
    let gate = ["save", "042", "--pipeline", "kamiflow", "--phase", "2", "--data", OPTIONS];
    for status in ["in_progress", "complete"] {
        let answer = world.json(&[&gate[..], &["--status", status]].concat());
        assert_eq!(answer["next"]["phase"], "2", "save and resume agree");
        let answer = world.run(&["resume", "042", "--json"]).exits(7).document();
        assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("2"), &json!("confirm")));
        assert_eq!(answer["awaiting_approval"], json!(["2"]));
        let action = answer["action"].as_str().unwrap();
        assert_eq!(action, "Present the options of 2 (Strategic Synthesis); do not generate new ones");
    }
    world.run(&["save", "042", "--phase", "2", "--data", r#"{"selectedOption": "B"}"#]).succeeds();
    let answer = world.json(&["resume", "042"]);
    assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("3A"), &json!("ready")));
    assert_eq!(answer["awaiting_approval"], json!([]));
}

#[test]
fn a_gate_without_options_is_approved_by_a_person() {
    let world = World::new();
    world.run(&["save", "042", "--pipeline", "kamiflow", "--phase", "2"]).succeeds();
    world.run(&["resume", "042"]).exits(7);
    world.run(&["approve", "042"]).succeeds();
    assert_eq!(world.json(&["resume", "042"])["phase"], Value::from("3A"));
}

#[test]
fn for_long_term_storage_gzip_checkpoints_reduces_storage_by_70_percent() {
    let world = World::new();
    world
        .run(&["save", "042", "--pipeline", "kamiflow", "--phase", "0", "--status", "in_progress"])
        .succeeds();
    for number in 0..30 {
        world.run(&["save", "042", "--set", &format!("step{number}={number}")]).succeeds();
    }
    let size = |directory: &str| {
        let files = std::fs::read_dir(world.store().join(directory).join("042")).into_iter().flatten();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    let before = size("workflows");
    let cleanup = |now: &str| world.ckpt(&["cleanup"]).env("CKPT_NOW", now).run().succeeds();
    cleanup("2026-02-28T00:00:00Z");
    assert_eq!(size("workflows"), before, "it was idle for less than 30 days");
    let outcome = cleanup("2026-03-04T00:00:00Z");
    assert!(outcome.stdout.contains("open and idle for more than 30d, so compressed"), "{outcome}");
    let after = size("workflows") + size("archive");
    assert!(after * 10 <= before * 3, "{before} bytes became {after}");
    // They stay readable, and a save goes on.
    assert_eq!(world.json(&["show", "042/7"])["checkpoint"]["state"]["step5"], 5);
    assert_eq!(world.json(&["resume", "042"])["handle"], "042/31");
    world.run(&["save", "042", "--note", "on top"]).succeeds();
    world.run(&["rollback", "042/3"]).succeeds();
    assert_eq!(world.stored("042", 33)["state"]["step1"], 1);
    world.run(&["verify"]).succeeds();
    // Deleting is not compressing.
    let purged = world.ckpt(&["cleanup", "--purge", "--yes"]).env("CKPT_NOW", "2026-05-04T00:00:00Z").run();
    assert!(!purged.stdout.contains("042/32"), "{purged}");
    assert_eq!(world.stored("042", 32)["note"], "on top");
}

/// Error recovery can reference checkpoint data: revise continues with the error context.
#[test]
fn revise_keeps_the_error_context_until_the_phase_is_done_again() {
    let world = World::new();
    let selected = r#"{"selectedOption": "B"}"#;
    world.run(&["save", "042", "--pipeline", "kamiflow", "--phase", "2", "--data", selected]).succeeds();
    world.run(&["fail", "042", "--phase", "3A", "--error", "the template is gone"]).succeeds();
    world.run(&["revise", "042", "--from", "3A", "--reason", "another template"]).succeeds();
    let answer = world.json(&["resume", "042"]);
    assert_eq!(answer["phase"], "3A");
    let messages = answer["findings"].to_string();
    assert!(messages.contains("phase 3A was reopened: another template"), "{messages}");
    assert!(messages.contains("the last error in phase 3A was: the template is gone"), "{messages}");
    assert_eq!(world.json(&["resume", "042", "--context"])["last_error"], "the template is gone");
    let brief = world.run(&["brief", "042"]).stdout;
    assert!(brief.contains("another template") && brief.contains("the template is gone"), "{brief}");
    assert!(world.run(&["show", "042"]).stdout.contains("the template is gone"));
    world.run(&["save", "042", "--phase", "3A"]).succeeds();
    let findings = world.json(&["resume", "042"])["findings"].to_string();
    assert!(!findings.contains("template"), "{findings}");
}

/// Read PROJECT_CONTEXT.md and compare.
#[test]
fn a_watched_file_that_was_deleted_is_gone_and_not_changed() {
    let world = World::new();
    world.configure("[resume]\nwatch = [\"PROJECT_CONTEXT.md\"]\n");
    world.write("PROJECT_CONTEXT.md", "one");
    world.run(&["save", "042", "--pipeline", "kamiflow", "--phase", "0"]).succeeds();
    std::fs::remove_file(world.project().join("PROJECT_CONTEXT.md")).unwrap();
    let findings = world.json(&["resume", "042"])["findings"].to_string();
    assert!(findings.contains("PROJECT_CONTEXT.md is gone since 042/1"), "{findings}");
    let context = world.json(&["resume", "042", "--context"]);
    assert_eq!(context["watched"][0]["gone"], true);
}

/// The same members in the spelling of another language.
#[test]
fn a_status_beside_a_phase_is_the_status_of_that_phase() {
    let world = World::new();
    let file = json!({"task_id": "042", "phase": "2", "phaseName": "Strategic Synthesis", "status": "complete",
        "nextPhase": "3A"});
    world.write("x.json", file.to_string());
    let answer = world.json(&["resume", "--file", "x.json"]);
    assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("3A"), &json!("ready")));
    assert_eq!(answer["done"], json!(["2"]));
}
