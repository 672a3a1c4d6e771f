//! dotagent: five phases with reports under `memory/`, and an approval of the design.
//!
//! | promise | test |
//! |---|---|
//! | state is in files that survive a crash: phase, tasks, reports | `session_crash_state_files_persist_on_disk` |
//! | the phase file: id, times, current phase and status, completed phases with outputs, approvals, the flag of a safe write | `the_phase_checkpoint_has_its_members` |
//! | the execution file: status of each task, times, output paths | `the_execution_checkpoint_tracks_tasks_timestamps_and_outputs` |
//! | an interrupted workflow is detected when one starts, and without one it is a fresh start | `detect_resume_scenario_or_fresh_start` |
//! | a workflow between two phases is resumed too | `detect_resume_scenario_or_fresh_start` |
//! | referenced output files exist | `check_all_referenced_output_files_exist` |
//! | times are reasonable, the phases in order, no write was interrupted | `check_timestamps_are_reasonable_phase_progression_is_valid_and_for_incomplete_writes` |
//! | a state that appears corrupted: asked whether to start fresh, and archived | `state_appears_corrupted_start_fresh_archives_it` |
//! | REQUIREMENTS: with a valid demand.json on to ARCHITECTURE, else again | `requirements_advance_if_demand_json_exists_and_is_valid` |
//! | ARCHITECTURE: with final_design.json on to IMPLEMENTATION | `if_the_final_design_exists_advance_to_implementation` |
//! | ARCHITECTURE: with designs only, the person is asked again, and nothing is designed again | `interrupted_during_user_approval_re_presents_options_and_does_not_re_run_architects` |
//! | ARCHITECTURE: after the approval the final design is made from the approved draft | `interrupted_during_user_approval_re_presents_options_and_does_not_re_run_architects` |
//! | ARCHITECTURE: without designs again | `if_no_designs_the_architects_are_spawned_again` |
//! | IMPLEMENTATION: the tasks are recovered, and the work continues | `implementation_reads_execution_json_and_continues_the_execution_loop` |
//! | VERIFICATION: with verification.json on to REFLECTION, else again | `verification_advances_if_verification_json_exists` |
//! | REFLECTION: with a reflection file the workflow is complete, else again | `reflection_completes_if_a_reflection_file_exists` |
//! | the person is told the workflow, the phase, the last activity and what is complete | `inform_user_and_continue` |
//! | a save names the phase that resume continues with, whatever files are there | `save_and_resume_advance_to_the_same_phase` |
//! | where an approval is due, it is asked for again | `inform_user_and_continue` |
//! | updates are atomic | `a_checkpoint_is_updated_atomically` |
//! | outputs are written first, and guarded afterwards | `the_outputs_of_a_phase_are_written_first_and_guarded_afterwards` |
//! | only the demand.json of this work counts | `an_old_demand_json_is_no_evidence_for_new_work` |
//! | the designs are presented, one is approved, and a new round begins without it | `a_draft_is_selected_and_the_selection_is_withdrawn_with_the_approval` |
//! | Ctrl-C during a subagent: orphaned, counted, begun again | `an_orphaned_task_that_another_session_begins_again_counts_one_more_attempt` |
//! | the limit of attempts holds, also within one session | `a_task_that_is_begun_after_it_was_found_orphaned_counts_one_more_attempt` |
//! | a crash after the output was written: its status is read from there, and the state follows | `crash_after_write_before_state_update_reads_status_from_output` |
//! | an ancient state: a warning, and the offer to start fresh | `ancient_state_file_warns_and_offers_a_fresh_start` |
//! | a checkpoint after a phase, an approval, a change of a task, before an expensive agent | `update_checkpoint_after_each_of_the_four_events` |
//! | an archive that is imported is archived, never open work | `archives_are_never_taken_as_open_work` |
//! | two files of different workflows are not mixed | `a_pair_of_files_of_different_workflows_is_never_mixed` |
//! | before a workflow starts: the prompt to resume, with yes as default; no archives and starts fresh | `resume_workflow_from_phase_y_n` |
//! | on completion of a phase: its output, the list, the next phase, a line that it was saved | `on_completion_the_phase_is_added_and_the_current_phase_advanced` |
//! | state on disk, validated, told, written atomically, archived instead of deleted | `the_walk_through_of_the_document` |
//!
//! | not held | why |
//! |---|---|
//! | `interruption_safe` is set to false while a file is written, and to true after | a file is replaced in one step, so no reader ever sees it false; it is read anyway |
//! | old states are archived beside the current one, and the last five are kept | the store keeps all of them; an export writes one workflow |
//! | agents are spawned again | the program says what to do next; `ckpt resume ID -- COMMAND` starts one |

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{assert_says, document, export, finding, judged, names};
use crate::support::project::World;
use crate::support::terminal::Terminal;

const QUESTION: &str = "(r)esume, (s)tart fresh, (v)iew details, (d)iscard, (q)uit";

fn world() -> World {
    let world = World::new();
    world.write("memory/reports/demand.json", "{}");
    let done = ["save", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS", "--approved-by", "kim"];
    world.run(&done).succeeds();
    world.run(&["start", "w", "--phase", "ARCHITECTURE"]).succeeds();
    world
}

/// Records that the work does without these phases.
fn skip(world: &World, phases: &[&str]) {
    for phase in phases {
        let skip = ["save", "w", "--pipeline", "dotagent", "--phase", phase, "--status", "skipped"];
        world.run(&skip).succeeds();
    }
}

/// A world with the report of the first phase.
fn reported() -> World {
    let world = World::new();
    world.write("memory/reports/demand.json", "{}");
    world
}

/// A project in which `phase` was interrupted.
fn interrupted_in(phase: &str) -> World {
    let world = World::new();
    let phases = ["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "REFLECTION"];
    let before = phases.iter().position(|known| *known == phase).unwrap();
    skip(&world, &phases[..before]);
    world.run(&["start", "w", "--pipeline", "dotagent", "--phase", phase]).succeeds();
    world
}

/// Writes the report of earlier work.
fn set_old(world: &World, text: &str) {
    let path = world.write("memory/reports/demand.json", text);
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
}

/// A state of the other system.
fn state() -> Value {
    json!({"workflow_id": "w", "started_at": "2026-01-29T00:00:00Z", "last_updated": "2026-01-30T14:00:00Z",
        "current_phase": "IMPLEMENTATION", "phase_status": "in_progress",
        "completed_phases": [
            {"phase": "REQUIREMENTS", "completed_at": "2026-01-29T01:00:00Z", "output": "memory/reports/demand.json"},
            {"phase": "ARCHITECTURE", "completed_at": "2026-01-29T02:00:00Z",
                "output": "memory/reports/final_design.json"}],
        "user_checkpoints": [{"phase": "ARCHITECTURE", "approved_at": "2026-01-29T01:30:00Z"}],
        "interruption_safe": true})
}

/// A project with the files that the state refers to.
fn foreign(state: &Value) -> World {
    let world = World::new();
    for report in ["demand", "final_design"] {
        world.write(&format!("memory/reports/{report}.json"), "{}");
    }
    world.write("memory/state/phase.json", state.to_string());
    world
}

#[test]
fn session_crash_state_files_persist_on_disk() {
    let world = reported();
    skip(&world, &["REQUIREMENTS", "ARCHITECTURE"]);
    world.run(&["start", "w", "--phase", "IMPLEMENTATION", "--task", "t1=running"]).succeeds();
    export(&world, "w", "dotagent");
    assert_eq!(names(&world, "memory/state"), ["execution.json", "phase.json"]);
    // Another copy of the files is enough to continue.
    let other = World::new();
    for file in ["phase.json", "execution.json"] {
        let path = format!("memory/state/{file}");
        other.write(&path, std::fs::read(world.project().join(&path)).unwrap());
    }
    other.run(&["import", "memory/state"]).succeeds();
    let answer = judged(&other, "w");
    assert_eq!((&answer["phase"], &answer["tasks"]["orphaned"]), (&json!("IMPLEMENTATION"), &json!(["t1"])));
}

#[test]
fn the_phase_checkpoint_has_its_members() {
    let world = foreign(&state());
    world.run(&["import", "memory/state"]).succeeds();
    world.run(&["export", "w", "--as", "dotagent", "-o", "copy/"]).succeeds();
    assert_says(&document(&world, "copy/memory/state/phase.json"), &state());
    let native = reported();
    native.run(&["save", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    export(&native, "w", "dotagent");
    let file = document(&native, "memory/state/phase.json");
    let members: Vec<&String> = file.as_object().unwrap().keys().collect();
    let expected = state();
    assert_eq!(members, expected.as_object().unwrap().keys().collect::<Vec<_>>());
    assert_eq!(file["completed_phases"][0]["output"], "memory/reports/demand.json");
}

#[test]
fn the_execution_checkpoint_tracks_tasks_timestamps_and_outputs() {
    let world = reported();
    let save = |args: &[&str]| world.run(&[&["save", "w"], args].concat()).succeeds();
    let begin = ["--pipeline", "dotagent", "--phase", "IMPLEMENTATION", "--status", "in_progress"];
    save(&[&begin[..], &["--task", "t1=running,output=out/1.json", "--task", "t2=pending,after=t1"]].concat());
    world.write("out/1.json", "{}");
    save(&["--task", "t1=complete"]);
    export(&world, "w", "dotagent");
    let tasks = document(&world, "memory/state/execution.json")["tasks"].clone();
    assert_eq!((&tasks[0]["status"], &tasks[0]["output"]), (&json!("complete"), &json!("out/1.json")));
    assert_eq!(
        (&tasks[0]["started_at"], &tasks[0]["completed_at"]),
        (&json!("2026-01-30T14:30:00.000Z"), &json!("2026-01-30T14:31:00.000Z"))
    );
    assert_eq!((&tasks[1]["status"], &tasks[1]["depends_on"]), (&json!("pending"), &json!(["t1"])));
}

#[test]
fn detect_resume_scenario_or_fresh_start() {
    let world = World::new();
    world.refuses(&["resume"], 4, "no_store");
    world.run(&["start", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    assert_eq!(world.json(&["resume"])["workflow"], "w");
    world.write("memory/reports/demand.json", "{}");
    world.run(&["done", "w", "--phase", "REQUIREMENTS"]).succeeds();
    let answer = world.run(&["resume", "--json"]).exits(7).document();
    let told = "confirm: nobody has approved phase REQUIREMENTS: memory/reports/demand.json";
    assert_eq!((&answer["phase"], finding(&answer, "not_approved")), (&json!("ARCHITECTURE"), told.to_owned()));
    world.run(&["approve", "w"]).succeeds();
    assert_eq!(world.json(&["resume"])["phase"], "ARCHITECTURE", "between two phases");
    world.run(&["done", "w"]).succeeds();
    world.refuses(&["resume"], 4, "nothing_to_resume");
}

#[test]
fn interrupted_during_user_approval_re_presents_options_and_does_not_re_run_architects() {
    let world = world();
    world.write("memory/reports/designs/a.json", "{}");
    let answer = world.run(&["resume", "w", "--json"]).exits(7).document();
    assert_eq!((&answer["phase"], &answer["awaiting_approval"]), (&json!("ARCHITECTURE"), &json!(["ARCHITECTURE"])));
    assert!(answer["action"].as_str().unwrap().ends_with("do not redo it"), "{answer}");
    world.run(&["approve", "w", "--by", "kim"]).succeeds();
    let answer = world.json(&["resume", "w"]);
    let action = "Write memory/reports/final_design.json from the draft in memory/reports/designs/ that was approved; \
                  do not make new ones";
    assert_eq!((&answer["phase"], &answer["action"]), (&json!("ARCHITECTURE"), &json!(action)));
}

#[test]
fn if_the_final_design_exists_advance_to_implementation() {
    for status in ["in_progress", "complete"] {
        let world = world();
        world.write("memory/reports/designs/a.json", "{}");
        world.write("memory/reports/final_design.json", "{}");
        world.run(&["save", "w", "--phase", "ARCHITECTURE", "--status", status]).succeeds();
        let answer = world.run(&["resume", "w", "--json"]).exits(7).document();
        assert_eq!((&answer["phase"], &answer["verdict"]), (&json!("IMPLEMENTATION"), &json!("confirm")));
        assert_eq!(answer["findings"][0]["code"], "not_approved", "{answer}");
        world.run(&["approve", "w", "--phase", "architecture"]).succeeds();
        assert_eq!(world.json(&["resume", "w"])["findings"], json!([]));
    }
}

#[test]
fn check_all_referenced_output_files_exist() {
    let world = World::new();
    world.write("memory/reports/demand.json", "{}");
    skip(&world, &["REQUIREMENTS", "ARCHITECTURE"]);
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
        ("completed_phases", json!(["REQUIREMENTS", "ARCHITECTURE", "VERIFICATION"]), "records_disagree"),
        ("completed_phases", json!(["ARCHITECTURE", {"phase": "requirements"}]), "records_disagree"),
    ] {
        let mut state = state.clone();
        state[key] = value;
        world.write("phase.json", state.to_string());
        let answer = world.run(&["resume", "--file", "phase.json", "--json"]).exits(7).document();
        assert!(finding(&answer, code).starts_with("confirm: "), "{key}: {answer}");
    }
}

#[test]
fn state_appears_corrupted_start_fresh_archives_it() {
    let mut corrupted = state();
    corrupted["interruption_safe"] = json!(false);
    let world = foreign(&corrupted);
    world.run(&["import", "memory/state"]).succeeds();
    let mut terminal = Terminal::open(&world, &["resume", "w"], &[]);
    terminal.expect(QUESTION, 1);
    // There is no default.
    terminal.answer("\n");
    terminal.expect(QUESTION, 2);
    terminal.answer("s\n");
    let (code, screen) = terminal.exit();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(judged(&world, "w")["phase"], "REQUIREMENTS");
    assert_eq!(world.json(&["archive", "--list"])["bundles"][0]["reason"], "restarted");
}

#[test]
fn requirements_advance_if_demand_json_exists_and_is_valid() {
    let world = interrupted_in("REQUIREMENTS");
    assert_eq!(world.json(&["resume", "w"])["phase"], "REQUIREMENTS");
    for invalid in ["", "{\"a\":"] {
        world.write("memory/reports/demand.json", invalid);
        assert_eq!(world.json(&["resume", "w"])["phase"], "REQUIREMENTS", "{invalid}");
    }
    world.write("memory/reports/demand.json", "{}");
    let answer = judged(&world, "w");
    assert_eq!((&answer["phase"], &answer["inferred"]), (&json!("ARCHITECTURE"), &json!(["REQUIREMENTS"])));
    assert_eq!(answer["verdict"], "confirm", "nobody has approved it");
}

#[test]
fn an_old_demand_json_is_no_evidence_for_new_work() {
    let world = World::new();
    set_old(&world, r#"{"old": 1}"#);
    let start = ["start", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"];
    for fresh in [&[][..], &["--fresh"]] {
        let saved = world.json(&[&start[..], fresh].concat());
        assert_eq!((&saved["done"], &saved["next"]["phase"]), (&json!([]), &json!("REQUIREMENTS")));
        let answer = world.run(&["resume", "w", "--json"]).exits(7).document();
        assert_eq!((&answer["phase"], &answer["done"]), (&json!("REQUIREMENTS"), &json!([])));
        let told = "confirm: memory/reports/demand.json is older than the work on phase REQUIREMENTS, so it does not \
                    count as its result";
        assert_eq!(finding(&answer, "output_old"), told);
    }
    // What counts is the content, whatever the time of the file; or else the time.
    set_old(&world, r#"{"new": 1}"#);
    assert_eq!(judged(&world, "w")["inferred"], json!(["REQUIREMENTS"]));
    world.write("memory/reports/demand.json", r#"{"old": 1}"#);
    assert_eq!(judged(&world, "w")["inferred"], json!(["REQUIREMENTS"]), "it was written again");
    set_old(&world, r#"{"old": 1}"#);
    world.run(&["done", "w", "--phase", "REQUIREMENTS", "--approved-by", "kim"]).succeeds();
    assert_eq!(world.json(&["resume", "w"])["phase"], "ARCHITECTURE", "a person accepts it");
}

#[test]
fn a_draft_is_selected_and_the_selection_is_withdrawn_with_the_approval() {
    let world = world();
    for design in ["a", "b"] {
        world.write(&format!("memory/reports/designs/{design}.json"), "{}");
    }
    let offered = json!(["memory/reports/designs/a.json", "memory/reports/designs/b.json"]);
    let answer = judged(&world, "w");
    let ids: Vec<&Value> = answer["options"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(json!(ids), offered);
    world.refuses(&["approve", "w", "--option", "c"], 9, "option_needed");
    world.run(&["approve", "w", "--option", "b"]).succeeds();
    let action = "Write memory/reports/final_design.json from memory/reports/designs/b.json, which was approved; \
                  do not make new ones";
    assert_eq!(world.json(&["resume", "w"])["action"], action);
    world.run(&["revise", "w", "--from", "ARCHITECTURE"]).succeeds();
    let newest = *world.numbers("w").last().unwrap();
    let approval = world.stored("w", newest)["phases"][1]["approval"].clone();
    assert_eq!((&approval["option"], &approval["approved_at"]), (&Value::Null, &Value::Null));
}

#[test]
fn if_no_designs_the_architects_are_spawned_again() {
    let world = world();
    let answer = world.json(&["resume", "w"]);
    assert_eq!((&answer["phase"], &answer["awaiting_approval"]), (&json!("ARCHITECTURE"), &json!([])));
}

#[test]
fn implementation_reads_execution_json_and_continues_the_execution_loop() {
    let world = foreign(&state());
    let tasks = json!({"tasks": [
        {"id": "t1", "status": "complete", "output": "out/1.json"},
        {"id": "t2", "status": "running", "attempts": 1, "output": "out/2.json", "depends_on": ["t1"]},
        {"id": "t3", "status": "running", "attempts": 1, "output": "out/3.json"},
        {"id": "t4", "status": "pending", "depends_on": ["t2", "t3"]},
        {"id": "t5", "status": "failed", "attempts": 1}]});
    world.write("memory/state/execution.json", tasks.to_string());
    world.write("out/1.json", "{}");
    world.write("out/3.json", r#"{"status": "complete"}"#);
    world.run(&["import", "memory/state"]).succeeds();
    let answer = judged(&world, "w");
    assert_eq!(answer["phase"], "IMPLEMENTATION");
    let tasks = &answer["tasks"];
    assert_eq!((&tasks["done"], &tasks["reconciled"]), (&json!(["t1", "t3"]), &json!(["t3"])));
    assert_eq!(
        (&tasks["ready"], &tasks["orphaned"], &tasks["retry"]),
        (&json!(["t2"]), &json!(["t2"]), &json!(["t5"]))
    );
    assert_eq!((&tasks["waiting"], &tasks["batches"]), (&json!(["t4"]), &json!([["t2", "t5"], ["t4"]])));
}

#[test]
fn verification_advances_if_verification_json_exists() {
    let world = interrupted_in("VERIFICATION");
    assert_eq!(world.json(&["resume", "w"])["phase"], "VERIFICATION");
    world.write("memory/reports/verification.json", "{}");
    assert_eq!(world.json(&["resume", "w"])["phase"], "REFLECTION");
}

#[test]
fn reflection_completes_if_a_reflection_file_exists() {
    for file in ["memory/reports/reflection.json", "memory/reports/reflection.md", "memory/reflections/2026.md"] {
        let world = interrupted_in("REFLECTION");
        assert_eq!(world.json(&["resume", "w"])["phase"], "REFLECTION");
        world.write(file, "{}");
        assert_eq!(world.run(&["resume", "w", "--json"]).exits(4).document()["verdict"], "complete", "{file}");
    }
}

#[test]
fn inform_user_and_continue() {
    let world = world();
    world.write("memory/reports/designs/a.json", "{}");
    let outcome = world.run(&["resume", "w"]).exits(7);
    for part in [
        "w: resume at ARCHITECTURE Architecture (2 of 5)\n",
        "  from       w/2, saved at 2026-01-30T14:31:00.000Z\n",
        "  done       REQUIREMENTS Requirements\n",
        "  confirm    phase ARCHITECTURE waits for a person's choice: memory/reports/designs/a.json\n               \
         ckpt approve w --phase ARCHITECTURE --option memory/reports/designs/a.json\n",
    ] {
        assert!(outcome.stdout.contains(part), "{part}: {outcome}");
    }
}

#[test]
fn a_checkpoint_is_updated_atomically() {
    let world = reported();
    world.run(&["save", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    let inode = |world: &World| {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(world.project().join("memory/state/phase.json")).unwrap().ino()
    };
    export(&world, "w", "dotagent");
    let before = inode(&world);
    world.run(&["start", "w", "--phase", "ARCHITECTURE"]).succeeds();
    export(&world, "w", "dotagent");
    assert_ne!(inode(&world), before, "a new file takes the place of the old one");
    assert_eq!(names(&world, "memory/state"), ["execution.json", "phase.json"], "nothing temporary is left");
    // The file that a killed writer left is not a checkpoint.
    world.write("memory/state/phase.json.tmp", "{\"workflow_id\":");
    world.run(&["save", "w", "--note", "x"]).succeeds();
    export(&world, "w", "dotagent");
    assert_eq!(document(&world, "memory/state/phase.json")["interruption_safe"], true);
}

/// Ctrl-C during a subagent: detect the orphaned task, increment attempts, reset to pending, re-spawn.
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
    let answer = world.json(&["resume", "w"]);
    assert_eq!((&answer["tasks"]["orphaned"], &answer["tasks"]["ready"]), (&json!(["task-001"]), &json!(["task-001"])));
    assert_eq!(begin("three"), json!(3));
    let answer = world.run(&["resume", "w", "--json"]).exits(7).document();
    assert!(finding(&answer, "task_exhausted").starts_with("blocker: task task-001 was tried 3 times"), "{answer}");
    // Without sessions: a command that was resumed knows that the session which began the task is gone.
    let other = world_with_running_task();
    let begin = format!("{} save w --task task-001=running -q", *crate::support::program::CKPT);
    let resume = ["resume", "w", "--", "/bin/sh", "-c", &begin];
    other.run(&resume).succeeds();
    assert_eq!(other.stored("w", 4)["tasks"][0]["attempts"], 2);
}

/// Detect orphaned task, increment attempts: the save that begins it again does, and `resume` only reads.
#[test]
fn a_task_that_is_begun_after_it_was_found_orphaned_counts_one_more_attempt() {
    let world = world();
    let attempts = || {
        world.run(&["save", "w", "--task", "task-001=running"]).succeeds();
        world.stored("w", *world.numbers("w").last().unwrap())["tasks"][0]["attempts"].clone()
    };
    assert_eq!(attempts(), json!(1));
    let before = world.tree();
    world.run(&["resume", "w"]).succeeds();
    assert_eq!(world.tree(), before, "a pure read");
    // A phase that begins again has no running tasks.
    world.run(&["start", "w", "--phase", "ARCHITECTURE"]).succeeds();
    assert_eq!(world.stored("w", 4)["tasks"][0]["status"], "pending");
    assert_eq!((attempts(), attempts()), (json!(2), json!(3)));
    world.run(&["resume", "w"]).exits(7);
}

fn world_with_running_task() -> World {
    let world = world();
    world.run(&["save", "w", "--task", "task-001=running,output=out/1.json"]).succeeds();
    world
}

#[test]
fn crash_after_write_before_state_update_reads_status_from_output() {
    for (output, status) in
        [("{}", "complete"), (r#"{"status": "failed"}"#, "failed"), (r#"{"status": "running"}"#, "running")]
    {
        let world = world_with_running_task();
        world.write("out/1.json", output);
        let tasks = world.json(&["resume", "w"])["tasks"].clone();
        assert_eq!(tasks["reconciled"], json!(["task-001"]), "{output}");
        // The next save writes it down.
        world.run(&["save", "w", "--note", "next"]).succeeds();
        assert_eq!(world.stored("w", 4)["tasks"][0]["status"], status, "{output}");
    }
    // While the session that began it continues, nothing is concluded.
    let world = world();
    let agent = |args: &[&str]| world.ckpt(args).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "one").json();
    agent(&["save", "w", "--task", "task-001=running,output=out/1.json"]);
    world.write("out/1.json", "{}");
    agent(&["save", "w", "--note", "next"]);
    assert_eq!(world.stored("w", 4)["tasks"][0]["status"], "running");
}

#[test]
fn ancient_state_file_warns_and_offers_a_fresh_start() {
    let world = world();
    let later = [("CKPT_NOW", "2026-02-08T00:00:00Z")];
    let mut terminal = Terminal::open(&world, &["resume", "w"], &later);
    terminal.expect(QUESTION, 1);
    terminal.answer("r\n");
    let (code, screen) = terminal.exit();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("8d 09h old; check that its context still holds"), "{screen}");
    world.ckpt(&["resume", "w", "--fresh"]).env("CKPT_NOW", later[0].1).run().succeeds();
    assert_eq!(world.json(&["archive", "--list"])["bundles"][0]["reason"], "restarted");
}

#[test]
fn update_checkpoint_after_each_of_the_four_events() {
    let world = world();
    world.write("memory/reports/designs/a.json", "{}");
    for (event, trigger) in [
        (&["approve", "w", "--phase", "ARCHITECTURE"][..], "manual"),
        (&["save", "w", "--task", "t1=running"], "manual"),
        (&["save", "w", "--task", "t1=complete"], "manual"),
        (&["save", "w", "--note", "before an expensive agent"], "manual"),
        (&["done", "w", "--phase", "ARCHITECTURE"], "phase_transition"),
    ] {
        let before = world.numbers("w").len();
        world.run(event).succeeds();
        let numbers = world.numbers("w");
        assert_eq!(numbers.len(), before + 1, "{event:?}");
        assert_eq!(world.stored("w", *numbers.last().unwrap())["trigger"], trigger, "{event:?}");
    }
}

#[test]
fn archives_are_never_taken_as_open_work() {
    let world = foreign(&state());
    let mut old = state();
    old["workflow_id"] = json!("old");
    world.write("memory/state/.archive/old_20260129_000000/phase.json", old.to_string());
    world.run(&["import", "memory/state"]).succeeds();
    assert_eq!(judged(&world, "w")["workflow"], "w");
    let archived = world.json(&["list", "--archived"])["workflows"].clone();
    assert_eq!(archived[0]["workflow"], "old", "{archived}");
}

#[test]
fn a_pair_of_files_of_different_workflows_is_never_mixed() {
    let world = foreign(&state());
    let tasks = json!({"workflow_id": "another", "tasks": [{"id": "t1", "status": "running"}]});
    world.write("memory/state/execution.json", tasks.to_string());
    let answer = world.run(&["resume", "--file", "memory/state/phase.json", "--json"]).exits(7).document();
    assert_eq!(answer["tasks"]["orphaned"], json!([]), "{answer}");
    assert!(answer["findings"].to_string().contains("another"), "{answer}");
}

#[test]
fn resume_workflow_from_phase_y_n() {
    for (answer, code, phase) in
        [("\n", 0, "ARCHITECTURE"), ("y\n", 0, "ARCHITECTURE"), ("n\n", 7, "ARCHITECTURE"), ("s\n", 0, "REQUIREMENTS")]
    {
        let world = world();
        let mut terminal = Terminal::open(&world, &["resume", "w"], &[]);
        terminal.expect(&format!("{QUESTION} [r]: "), 1);
        terminal.answer(answer);
        let (ended, screen) = terminal.exit();
        assert_eq!((ended, &judged(&world, "w")["phase"]), (code, &json!(phase)), "{answer:?}: {screen}");
    }
}

#[test]
fn on_completion_the_phase_is_added_and_the_current_phase_advanced() {
    let world = reported();
    world.run(&["start", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    let outcome = world.run(&["done", "w", "--phase", "REQUIREMENTS"]).succeeds();
    assert!(
        outcome.stderr.contains("Saved w/2: phase REQUIREMENTS (Requirements) complete, 1 of 5 done."),
        "{outcome}"
    );
    export(&world, "w", "dotagent");
    let file = document(&world, "memory/state/phase.json");
    assert_eq!((&file["current_phase"], &file["phase_status"]), (&json!("ARCHITECTURE"), &json!("complete")));
    let completed = &file["completed_phases"][0];
    assert_eq!(
        (&completed["phase"], &completed["completed_at"]),
        (&json!("REQUIREMENTS"), &json!("2026-01-30T14:31:00.000Z"))
    );
}

#[test]
fn the_outputs_of_a_phase_are_written_first_and_guarded_afterwards() {
    let world = World::new();
    world.run(&["start", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]).succeeds();
    let done = ["done", "w", "--phase", "REQUIREMENTS", "--approved-by", "kim"];
    let early = world.run(&done).succeeds();
    let told = "warning: phase REQUIREMENTS is complete, but its output memory/reports/demand.json is missing";
    assert!(early.stderr.contains(told), "{early}");
    world.run(&["start", "w", "--phase", "REQUIREMENTS"]).succeeds();
    world.write("memory/reports/demand.json", "{}");
    assert!(!world.run(&done).succeeds().stderr.contains("warning"));
    let artifact = world.stored("w", 4)["artifacts"][0].clone();
    assert_eq!((&artifact["path"], &artifact["phase"]), (&json!("memory/reports/demand.json"), &json!("REQUIREMENTS")));
    assert_eq!(world.json(&["resume", "w"])["findings"], json!([]));
    world.write("memory/reports/demand.json", "[]");
    let changed = "advice: memory/reports/demand.json changed since w/4; look at it before you rely on it";
    assert_eq!(finding(&world.json(&["resume", "w"]), "artifact_changed"), changed);
}

#[test]
fn save_and_resume_advance_to_the_same_phase() {
    let world = World::new();
    let agree = |saved: &Value, phase: &str| {
        let answer = judged(&world, "w");
        assert_eq!((&saved["next"]["phase"], &answer["phase"]), (&json!(phase), &json!(phase)), "{answer}");
        assert_eq!(saved["done"], answer["done"]);
        assert_eq!(saved["awaiting_approval"], answer["awaiting_approval"]);
        assert!(!answer["findings"].to_string().contains("the last save named"), "{answer}");
    };
    // The report of a phase that begins is there already, from other work.
    set_old(&world, "{}");
    let saved = world.json(&["start", "w", "--pipeline", "dotagent", "--phase", "REQUIREMENTS"]);
    agree(&saved, "REQUIREMENTS");
    world.write("memory/reports/demand.json", r#"{"new": 1}"#);
    agree(&world.json(&["save", "w", "--note", "written"]), "ARCHITECTURE");
    // The file calls a phase complete, but there are only designs.
    world.write("memory/reports/designs/a.json", "{}");
    agree(&world.json(&["save", "w", "--phase", "ARCHITECTURE"]), "ARCHITECTURE");
    let outcome = world.run(&["save", "w", "--note", "x"]).succeeds();
    assert!(outcome.stderr.contains("Phase ARCHITECTURE waits for approval."), "{outcome}");
    world.write("memory/reports/final_design.json", "{}");
    agree(&world.json(&["save", "w", "--note", "y"]), "IMPLEMENTATION");
    // An action stays with the phase that it was named for.
    let saved = world.json(&["start", "w", "--phase", "IMPLEMENTATION", "--next", "Write the parser"]);
    agree(&saved, "IMPLEMENTATION");
    assert_eq!(judged(&world, "w")["action"], "Write the parser");
}

/// From the first phase to the archive, with an interruption in each phase.
#[test]
fn the_walk_through_of_the_document() {
    let world = reported();
    let reports = ["demand", "final_design", "", "verification", "reflection"];
    let phases = ["REQUIREMENTS", "ARCHITECTURE", "IMPLEMENTATION", "VERIFICATION", "REFLECTION"];
    for (phase, report) in phases.iter().zip(reports) {
        world.run(&["start", "w", "--pipeline", "dotagent", "--phase", phase]).succeeds();
        if *phase != "REQUIREMENTS" {
            assert_eq!(judged(&world, "w")["phase"], *phase, "interrupted");
        }
        if *phase == "ARCHITECTURE" {
            world.write("memory/reports/designs/a.json", "{}");
            world.run(&["resume", "w"]).exits(7);
            world.run(&["approve", "w", "--by", "kim"]).succeeds();
            let shown = world.run(&["show", "w"]).succeeds();
            assert!(shown.stdout.contains("approved by kim"), "{shown}");
        }
        if !report.is_empty() {
            world.write(&format!("memory/reports/{report}.json"), "{}");
        }
        world.run(&["done", "w", "--phase", phase]).succeeds();
    }
    assert_eq!(world.run(&["resume", "w", "--json"]).exits(4).document()["verdict"], "complete");
    export(&world, "w", "dotagent");
    let file = document(&world, "memory/state/phase.json");
    assert_eq!(file["completed_phases"].as_array().unwrap().len(), 5);
    assert_eq!(file["user_checkpoints"][0]["approved_by"], "kim");
}
