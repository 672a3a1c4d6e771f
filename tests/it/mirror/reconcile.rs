//! What the other system changes in its files is taken over by `import`, together with what was saved here since.

use ckpt::core::dialects::Dialect;
use serde_json::{Value, json};

use super::{document, files, mirroring, projected};
use crate::support::kamiflow::data;
use crate::support::project::World;

const PLAN: &str = ".claude/data/checkpoints/p.json";

/// A plan with everything that its system has no place for, after the first of four phases.
fn plan() -> World {
    let world = mirroring(Dialect::ClaudePlan);
    let save = ["save", "p", "--total", "4", "--phase", "1", "--label", "urgent", "--task", "t1=running"];
    world
        .run(&[&save[..], &["--state", r#"{"k": 1}"#, "--title", "Tags", "--next", "go on"]].concat())
        .succeeds();
    world
}

fn edit(world: &World, path: &str, edit: impl FnOnce(&mut Value)) {
    let mut changed = document(world, path);
    edit(&mut changed);
    world.write(path, changed.to_string());
}

/// The second phase as its system records it.
fn complete_second_phase(plan: &mut Value) {
    plan["completed_phases"] = json!([1, 2]);
    plan["current_phase"] = json!(3);
    plan["phase_metadata"]["2"] = json!({"status": "completed", "timestamp": "2026-01-30T14:45:00Z"});
    plan["mine"] = json!({"kept": true});
}

fn statuses(checkpoint: &Value) -> Vec<(&str, &str)> {
    let phases = checkpoint["phases"].as_array().unwrap().iter();
    phases.map(|phase| (phase["id"].as_str().unwrap(), phase["status"].as_str().unwrap())).collect()
}

fn import(world: &World, path: &str) -> Value {
    let report = world.json(&["import", path]);
    assert_eq!(report["failures"], json!([]), "{report}");
    report
}

#[test]
fn what_its_system_did_is_added_and_nothing_else_is_lost() {
    let world = plan();
    edit(&world, PLAN, complete_second_phase);
    let preview = world.json(&["import", PLAN, "--dry-run"]);
    assert_eq!(preview["imported"][0]["handle"], "p/2", "{preview}");
    let report = import(&world, PLAN);
    assert_eq!((&report["imported"][0]["handle"], &report["warnings"]), (&json!("p/2"), &json!([])));
    let merged = world.stored("p", 2);
    let pending = "pending";
    assert_eq!(statuses(&merged), [("1", "complete"), ("2", "complete"), ("3", pending), ("4", pending)]);
    assert_eq!((&merged["labels"], &merged["state"]["k"]), (&json!(["urgent"]), &json!(1)));
    assert_eq!((&merged["tasks"][0]["id"], &merged["title"]), (&json!("t1"), &json!("Tags")));
    assert_eq!(world.json(&["verify"])["findings"], json!([]));

    // The file is known again: it is written by the next save, with what its system has added.
    assert_eq!(world.json(&["import", PLAN])["imported"], json!([]));
    let saved = world.json(&["save", "p", "--phase", "3", "--next", "go on"]);
    assert_eq!(saved["warnings"], json!([]));
    let copy = document(&world, PLAN);
    assert_eq!((&copy["completed_phases"], &copy["mine"]), (&json!([1, 2, 3]), &json!({"kept": true})));
    assert_eq!(files(&world, Dialect::ClaudePlan), projected(&world, Dialect::ClaudePlan, &["p"]));
}

#[test]
fn what_was_saved_here_since_is_kept() {
    let world = plan();
    edit(&world, PLAN, complete_second_phase);
    world.run(&["save", "p", "--label", "late", "--state", r#"{"k": 2}"#, "--task", "t2=pending"]).succeeds();
    let report = import(&world, PLAN);
    assert_eq!(report["warnings"], json!([]), "they changed different things");
    let merged = world.stored("p", 3);
    assert_eq!(statuses(&merged)[1], ("2", "complete"));
    assert_eq!((&merged["labels"], &merged["state"]["k"]), (&json!(["urgent", "late"]), &json!(2)));
    assert_eq!(merged["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(document(&world, PLAN)["completed_phases"], json!([1, 2]));
    assert_eq!(files(&world, Dialect::ClaudePlan), projected(&world, Dialect::ClaudePlan, &["p"]));
}

#[test]
fn of_what_both_have_changed_the_file_counts_and_that_is_said() {
    let world = plan();
    edit(&world, PLAN, |plan| {
        complete_second_phase(plan);
        plan["current_phase"] = json!(4);
    });
    world.run(&["save", "p", "--phase", "2", "--next-phase", "3"]).succeeds();
    let report = import(&world, PLAN);
    let warning =
        format!("/current_phase of `{PLAN}` has changed in `p` too; the value of the file is taken");
    assert!(report["warnings"].as_array().unwrap().contains(&json!(warning)), "{report}");
    let merged = world.stored("p", 3);
    assert_eq!(merged["next"]["phase"], "4");
    let doubts = merged["imported"]["doubts"].to_string();
    assert!(doubts.contains("/current_phase was changed by the system and here"), "{doubts}");
}

#[test]
fn a_file_that_was_not_changed_is_no_news() {
    for dialect in Dialect::mirrored() {
        let world = mirroring(dialect);
        for phase in ["a", "b"] {
            world
                .run(&["save", "042", "--phases", "a,b,c", "--phase", phase, "--task", "t=pending"])
                .succeeds();
        }
        let directory = ckpt::core::export::directory(dialect);
        let report = world.json(&["import", directory]);
        assert_eq!(
            (&report["imported"], &report["failures"]),
            (&json!([]), &json!([])),
            "{dialect}: {report}"
        );
        assert!(!report["unchanged"].as_array().unwrap().is_empty(), "{dialect}");
        assert_eq!(world.numbers("042"), [1, 2], "{dialect}");
    }
}

#[test]
fn a_file_that_is_changed_back_is_a_change() {
    let world = plan();
    edit(&world, PLAN, complete_second_phase);
    let theirs = std::fs::read(world.project().join(PLAN)).unwrap();
    import(&world, PLAN);
    world.run(&["save", "p", "--phase", "3"]).succeeds();
    world.write(PLAN, theirs);
    import(&world, PLAN);
    let last = *world.numbers("p").last().unwrap();
    assert_eq!(last, 4);
    assert_eq!(statuses(&world.stored("p", last))[2], ("3", "pending"));
}

#[test]
fn kamiflow_changes_an_earlier_phase_while_the_work_goes_on() {
    let world = mirroring(Dialect::Kamiflow);
    for phase in ["0", "0.5", "1"] {
        let mut data = data(phase);
        data["n"] = json!(1);
        let data = data.to_string();
        world.run(&["save", "042", "--pipeline", "kamiflow", "--phase", phase, "--data", &data]).succeeds();
    }
    let path = ".kamiflow/checkpoints/042-checkpoint-phase0.5.json";
    edit(&world, path, |phase| phase["phaseData"]["n"] = json!(2));
    world.run(&["save", "042", "--phase", "2", "--status", "in_progress"]).succeeds();
    import(&world, path);
    let merged = world.stored("042", 5);
    assert_eq!((&merged["phase"], &merged["phases"][1]["data"]["n"]), (&json!("2"), &json!(2)));
    assert_eq!(statuses(&merged)[3], ("2", "in_progress"));
    assert_eq!(merged["phases"][2]["data"]["n"], 1);
}

#[test]
fn dotagent_goes_on_with_its_tasks() {
    let world = mirroring(Dialect::Dotagent);
    let tasks = ["--task", "t1=running", "--task", "t2=pending", "--label", "urgent"];
    let save =
        ["save", "w", "--pipeline", "dotagent", "--phase", "IMPLEMENTATION", "--status", "in_progress"];
    world.run(&[&save[..], &tasks].concat()).succeeds();
    edit(&world, "memory/state/execution.json", |execution| {
        execution["tasks"][0]["status"] = json!("complete");
        execution["tasks"][0]["output"] = json!("t1.md");
    });
    let report = import(&world, "memory/state");
    assert_eq!(report["imported"][0]["handle"], "w/2", "{report}");
    let merged = world.stored("w", 2);
    assert_eq!(
        (&merged["tasks"][0]["status"], &merged["tasks"][0]["output"]),
        (&json!("complete"), &json!("t1.md"))
    );
    assert_eq!((&merged["tasks"][1]["status"], &merged["labels"]), (&json!("pending"), &json!(["urgent"])));
    assert_eq!(world.json(&["save", "w", "--next", "x"])["warnings"], json!([]));
}

#[test]
fn crunch_changes_a_checkpoint_that_is_not_the_newest() {
    let world = mirroring(Dialect::Crunch);
    for phase in ["enrich", "ready"] {
        world.run(&["save", "42", "--pipeline", "crunch", "--phase", phase, "--label", "a"]).succeeds();
    }
    let oldest =
        files(&world, Dialect::Crunch).into_keys().find(|path| path.contains("20260130143000")).unwrap();
    let text = std::fs::read_to_string(world.project().join(&oldest)).unwrap();
    world.write(&oldest, text.replace("team_state", "x") + "team_state:\n  team_id: T1\n");
    let report = import(&world, &oldest);
    assert_eq!(report["imported"][0]["handle"], "42/3", "{report}");
    let merged = world.stored("42", 3);
    assert_eq!(merged["state"]["crunch"]["team_state"]["team_id"], "T1");
    assert_eq!(statuses(&merged)[1], ("ready", "complete"));
}
