//! `start`, `done` and `fail`: the everyday words for a save.

use serde_json::json;

use crate::support::project::World;

fn begun() -> World {
    let world = World::new();
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    world
}

#[test]
fn start_begins_a_phase_and_creates_the_store() {
    let world = World::new();
    let outcome = world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan", "--title", "Login"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Created the store $TMP/project/.ckpt
    Saved 042/1, a new workflow: phase plan in progress, 0 of 2 done. Next: plan. Resume with: ckpt resume 042
    --- end
    ");
    let stored = world.stored("042", 1);
    assert_eq!((&stored["phases"][0]["status"], &stored["title"]), (&json!("in_progress"), &json!("Login")));
    world.refuses(&["start", "042"], 2, "usage");
}

#[test]
fn done_completes_a_phase_or_the_whole_workflow() {
    let world = begun();
    let answer = world.json(&["done", "042", "--phase", "plan", "--next", "Write it"]);
    assert_eq!((&answer["done"], &answer["status"]), (&json!(["plan"]), &json!("in_progress")));
    assert_eq!(answer["next"], json!({"phase": "build", "action": "Write it"}));
    let answer = world.json(&["done", "042", "--phase", "build"]);
    assert_eq!((&answer["status"], &answer["warnings"]), (&json!("complete"), &json!([])));

    let undeclared = World::new();
    undeclared.run(&["done", "043", "--phase", "a", "--next", "continue"]).succeeds();
    let answer = undeclared.json(&["done", "043"]);
    assert_eq!((&answer["status"], &answer["warnings"]), (&json!("complete"), &json!([])));
    undeclared.run(&["resume", "043"]).exits(4);
}

#[test]
fn a_workflow_that_is_done_with_phases_left_is_warned_about_and_asked_about() {
    let world = begun();
    let outcome = world.run(&["done", "042"]).succeeds();
    let warning =
        "warning: 042 is complete, but not its phases plan, build; for a phase alone: `ckpt done 042 --phase plan`";
    assert!(outcome.stderr.contains(warning), "{outcome}");
    let outcome = world.run(&["resume", "042", "--json"]).exits(7);
    assert_eq!(outcome.document()["verdict"], "confirm");
}

#[test]
fn fail_records_the_error_of_a_phase_or_of_the_whole_workflow() {
    let world = begun();
    world.run(&["fail", "042", "--phase", "plan", "--error", "boom"]).succeeds();
    let stored = world.stored("042", 2);
    assert_eq!((&stored["phases"][0]["status"], &stored["phases"][0]["error"]), (&json!("failed"), &json!("boom")));
    world.run(&["resume", "042"]).succeeds();
    world.run(&["fail", "042", "--error", "no use"]).succeeds();
    assert_eq!(world.stored("042", 3)["status"], "failed");
    assert_eq!(world.stored("042", 3)["last_error"]["message"], "no use");
    world.run(&["resume", "042"]).exits(7);
}

#[test]
fn a_workflow_that_does_not_exist_is_not_finished_by_a_typing_error() {
    let world = begun();
    for command in ["done", "fail"] {
        world.refuses(&[command, "403"], 4, "no_such_workflow");
        World::new().refuses(&[command, "042"], 4, "no_store");
    }
}

#[test]
fn they_take_the_flags_of_a_save_and_the_workflow_of_the_environment() {
    let world = begun();
    world.write("spec.md", "spec");
    let flags = ["--artifact", "spec.md", "--data", "{\"n\": 1}", "--key", "k", "--expect", "042/1", "--label", "x"];
    let done = [&["done", "--phase", "plan"][..], &flags].concat();
    world.ckpt(&done).env("CKPT_WORKFLOW", "042").run().succeeds();
    let stored = world.stored("042", 2);
    assert_eq!((&stored["artifacts"][0]["path"], &stored["labels"]), (&json!("spec.md"), &json!(["x"])));
    assert_eq!(world.ckpt(&done).env("CKPT_WORKFLOW", "042").json()["created"], false, "the key holds");
    world.refuses(&["done", "042", "--phase", "build", "--expect", "042/1"], 8, "conflict");
}

#[test]
fn every_line_of_help_says_what_follows() {
    let help = World::new().run(&["save", "--help"]).succeeds().stdout;
    assert!(help.contains("if not given, `complete`, or `failed` with `--error`"), "{help}");
}

#[test]
fn the_first_save_says_that_the_workflow_is_new_and_names_a_near_miss() {
    let world = World::new();
    let first = world.run(&["save", "auth", "--phase", "plan"]).succeeds();
    assert!(first.stderr.contains("Saved auth/1, a new workflow: "), "{first}");
    let second = world.run(&["save", "auth", "--phase", "build"]).succeeds();
    assert!(!second.stderr.contains("new workflow"), "{second}");

    let slip = world.run(&["save", "auht", "--phase", "test"]).succeeds();
    assert!(slip.stderr.contains("there is a workflow auth"), "{slip}");
    world.run(&["archive", "auht", "--as", "abandoned"]).succeeds();
    let slip = world.json(&["save", "atuh", "--phase", "test"]);
    assert_eq!((&slip["new_workflow"], &slip["similar"]), (&true.into(), &"auth".into()));
    let other = world.json(&["save", "billing", "--phase", "test"]);
    assert_eq!((&other["new_workflow"], &other["similar"]), (&true.into(), &serde_json::Value::Null));
}

#[test]
fn the_end_of_a_workflow_is_said_whatever_it_is() {
    let world = World::new();
    for (id, end, word) in [
        ("a", &["done", "a"][..], "complete"),
        ("b", &["fail", "b", "--error", "no progress"], "failed"),
        ("c", &["save", "c", "--workflow-status", "abandoned"], "abandoned"),
    ] {
        world.run(&["start", id, "--phases", "plan,build", "--phase", "plan"]).succeeds();
        let ended = world.run(end).succeeds();
        assert!(ended.stderr.contains(&format!("The workflow is {word}.")), "{ended}");
        let status = world.run(&["status", id]);
        assert!(status.stdout.lines().next().unwrap().ends_with(word), "{status}");
    }
}

#[test]
fn a_command_for_a_workflow_that_does_not_exist_yet_says_how_to_declare_it() {
    let world = World::with_checkpoints(1);
    let refused = world.run(&["run", "nightly", "--phase", "test", "--", "true"]).exits(4);
    assert!(refused.stderr.contains("ckpt save nightly --phases"), "{refused}");
    world.run(&["save", "nightly", "--phases", "test"]).succeeds();
    let quiet = world.run(&["run", "nightly", "--quiet", "--phase", "test", "--", "true"]).succeeds();
    assert_eq!(quiet.stderr, "");
}
