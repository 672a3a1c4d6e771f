//! Checkpoint recovery: the phases of a plan, failures, retries and replanning.
//!
//! | promise | test |
//! |---|---|
//! | state is saved after each phase and restored from the last one | `resume_from_last_successful_phase_skips_completed_work` |
//! | the members of a file: plan, phases, metadata per phase, replans, paths, context | `the_checkpoint_structure_is_read_and_written` |
//! | metadata of a phase: status, artifacts, duration, time, a summary | `phase_completion_extracts_status_artifacts_duration_and_key_results` |
//! | completed phases and the current phase are updated | `phase_completion_extracts_status_artifacts_duration_and_key_results` |
//! | the file is written beside and moved into place, and verified: it exists, is JSON, has its members | `the_checkpoint_file_is_replaced_and_its_integrity_verified` |
//! | on start: an existing checkpoint is loaded, validated, checked for completion, offered | `check_for_existing_checkpoint_on_workflow_start` |
//! | a plan that is complete is not offered | `check_for_existing_checkpoint_on_workflow_start` |
//! | what resume loads: phase, artifact paths, context | `load_checkpoint_state_extracts_phase_paths_and_context` |
//! | declined: archived with its time, a fresh checkpoint, phase 1 | `user_declines_resume_archives_and_starts_from_phase_1` |
//! | resume says the phase, what is completed and skipped | `resume_from_last_successful_phase_skips_completed_work` |
//! | the id is the MD5 of the path of the plan | `workflow_id_of_the_plan_path_finds_the_checkpoint` |
//! | a phase that failed is recorded with its error | `ask_user_retry_phase_skip_phase_or_abort_workflow` |
//! | the person is asked: retry, skip or abort | `ask_user_retry_phase_skip_phase_or_abort_workflow` |
//! | retry until it works | `a_person_can_retry_until_it_works` |
//! | leaving the question | `control_c_at_the_question_ends_the_program` |
//! | the same question when a failed phase is resumed | `resume_of_a_failed_phase_asks_to_retry_skip_or_abort` |
//! | a checkpoint per phase, not per agent call and not only at the end | `one_checkpoint_after_each_phase` |
//! | replans are counted and remembered with their reason | `replan_tracking_prevents_infinite_loops` |
//! | at most two replans per phase | `replan_tracking_prevents_infinite_loops` |
//! | the higher of count and history holds | `replan_tracking_prevents_infinite_loops` |
//! | transient failures are tried again | `transient_failures_resume_automatically_and_each_attempt_is_recorded` |
//! | the exit code of the last attempt | `the_exit_code_is_that_of_the_last_attempt` |
//! | what cannot work is not tried again | `a_command_that_cannot_be_run_is_not_tried_again` |
//! | retries end | `retries_have_limits` |
//! | an interruption while waiting | `a_wait_between_attempts_can_be_interrupted` |
//! | a resumed agent is tried again too | `a_resumed_command_is_retried_with_what_it_has_saved_by_then` |
//! | finished work is not repeated | `a_resumed_command_that_finished_the_work_is_not_run_again` |
//! | user interruptions: resumed in the next session | `user_interruptions_resume_next_session` |
//! | an audit trail for debugging | `complete_audit_trail_for_debugging` |
//! | the example of the document: phase 5 of 8 fails, is replanned, and the rest completes | `the_example_of_plan_077` |
//! | artifacts and metadata are restored | `load_checkpoint_state_extracts_phase_paths_and_context` |
//!
//! | not held | why |
//! |---|---|
//! | hours saved | follows from resuming; not a property of the program |
//! | a new id is the MD5 of the path of the plan | ids are chosen by people; a file with such an id is read, and the path finds its workflow |

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::project::World;
use crate::support::terminal::Terminal;
use ckpt::{assert_says, document, export, finding, judged, names};

const QUESTION: &str = "(r)etry the phase, (s)kip it, (a)bort the workflow, (q)uit [q]: ";
const DIRECTORY: &str = ".claude/data/checkpoints";
const PLAN: &str = "implement_027_auth";

/// A file of the other system.
fn foreign() -> Value {
    let metadata = |log: &str, minutes: u64, time: &str| json!({"status": "completed", "artifacts": [log], "duration_minutes": minutes, "timestamp": time});
    json!({"workflow_id": PLAN, "plan_path": "specs/027_auth/plans/001.md", "current_phase": 3,
        "completed_phases": [1, 2],
        "phase_metadata": {"1": metadata("log1.md", 45, "2026-01-30T12:00:00Z"),
            "2": metadata("log2.md", 60, "2026-01-30T13:00:00Z")},
        "replan_history": [{"phase": 3, "reason": "complexity_exceeded", "timestamp": "2026-01-30T13:30:00Z"}],
        "replan_count": {"3": 1}, "artifact_paths": {"test_results": "specs/027_auth/test_results/"},
        "context_metadata": {"research_reports": ["001_oauth.md"], "plan_metadata": {"size": 3}}})
}

fn imported() -> World {
    let world = World::new();
    for log in ["log1.md", "log2.md"] {
        let file = std::fs::File::open(world.write(log, "x")).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    }
    world.write("specs/027_auth/plans/001.md", "plan");
    world.write(&format!("{DIRECTORY}/{PLAN}.json"), foreign().to_string());
    world.run(&["import", DIRECTORY]).succeeds();
    world
}

/// A plan of so many phases that begins here.
fn plan(total: &str) -> World {
    let world = World::new();
    let start = ["start", PLAN, "--pipeline", "claude-plan", "--total", total, "--phase", "1"];
    world.run(&[&start[..], &["--set", "plan_path=\"specs/027_auth/plans/001.md\""]].concat()).succeeds();
    world
}

fn copy(world: &World) -> Value {
    export(world, PLAN, "claude-plan");
    document(world, &format!("{DIRECTORY}/{PLAN}.json"))
}

#[test]
fn resume_from_last_successful_phase_skips_completed_work() {
    let world = imported();
    let answer = world.json(&["resume", PLAN]);
    assert_eq!((&answer["phase"], &answer["done"]), (&json!("3"), &json!(["1", "2"])));
    let shown = world.run(&["resume", PLAN]).succeeds().stdout;
    assert!(shown.contains("resume at 3") && shown.contains("done       1, 2\n"), "{shown}");
    // A completed phase stays so.
    world.run(&["save", PLAN, "--phase", "2"]).succeeds();
    assert_eq!(world.json(&["resume", PLAN])["phase"], "3");
}

#[test]
fn the_checkpoint_structure_is_read_and_written() {
    let world = imported();
    world.run(&["export", PLAN, "--as", "claude-plan", "-o", "copy/"]).succeeds();
    assert_says(&document(&world, &format!("copy/{DIRECTORY}/{PLAN}.json")), &foreign());
    let native = plan("3");
    let written = copy(&native);
    for member in foreign().as_object().unwrap().keys() {
        assert!(written.get(member).is_some(), "{member}: {written}");
    }
}

#[test]
fn phase_completion_extracts_status_artifacts_duration_and_key_results() {
    let world = plan("3");
    world.write("log1.md", "x");
    let done = ["done", PLAN, "--phase", "1", "--artifact", "log1.md", "--data", r#"{"summary": "Tokens work"}"#];
    world.ckpt(&done).env("CKPT_NOW", "2026-01-30T15:15:00Z").run().succeeds();
    world.write("log2.md", "x");
    world.run(&["done", PLAN, "--phase", "2", "--artifact", "log2.md"]).succeeds();
    let file = copy(&world);
    assert_eq!((&file["completed_phases"], &file["current_phase"]), (&json!([1, 2]), &json!(3)));
    let first = &file["phase_metadata"]["1"];
    assert_eq!((&first["status"], &first["artifacts"]), (&json!("completed"), &json!(["log1.md"])));
    assert_eq!((&first["duration_minutes"], &first["summary"]), (&json!(45), &json!("Tokens work")));
    assert_eq!(file["phase_metadata"]["2"]["artifacts"], json!(["log2.md"]), "each phase has its own");
}

#[test]
fn the_checkpoint_file_is_replaced_and_its_integrity_verified() {
    let world = plan("2");
    copy(&world);
    assert_eq!(names(&world, DIRECTORY), [format!("{PLAN}.json")], "nothing temporary is left");
    let verified = world.json(&["verify"]);
    assert_eq!(verified["findings"], json!([]), "{verified}");
    assert_eq!(world.json(&["show", PLAN])["valid"], true);
}

#[test]
fn check_for_existing_checkpoint_on_workflow_start() {
    let world = plan("2");
    assert_eq!(world.json(&["resume"])["workflow"], PLAN);
    for phase in ["1", "2"] {
        world.run(&["done", PLAN, "--phase", phase]).succeeds();
    }
    world.refuses(&["resume"], 4, "nothing_to_resume");
    // Plans of the other system that are complete, by their word or by their number of phases.
    for (member, value) in [("status", json!("completed")), ("total_phases", json!(2))] {
        let mut file = foreign();
        (file["completed_phases"], file["phase_metadata"], file["replan_history"], file["replan_count"]) =
            (json!([1, 2]), json!({}), json!([]), json!({}));
        file[member] = value;
        world.write("x.json", file.to_string());
        let answer = world.run(&["resume", "--file", "x.json", "--json"]).exits(4).document();
        assert_eq!(answer["verdict"], "complete", "{member}");
    }
}

#[test]
fn load_checkpoint_state_extracts_phase_paths_and_context() {
    let world = imported();
    let context = world.json(&["resume", PLAN, "--context"]);
    let file = &context["state"]["claude-plan"];
    assert_eq!(context["phase"], "3");
    assert_eq!(file["artifact_paths"]["test_results"], "specs/027_auth/test_results/");
    assert_eq!(file["context_metadata"]["research_reports"], json!(["001_oauth.md"]));
    assert_eq!((&context["artifacts"][0]["path"], &context["artifacts"][0]["phase"]), (&json!("log1.md"), &json!("1")));
    let stats = world.json(&["stats", PLAN]);
    assert_eq!(stats["workflow"]["phases"][0]["seconds"], 45 * 60);
}

#[test]
fn user_declines_resume_archives_and_starts_from_phase_1() {
    let world = plan("3");
    world.run(&["done", PLAN, "--phase", "1"]).succeeds();
    let fresh = world.run(&["resume", PLAN, "--fresh"]).succeeds();
    assert!(fresh.stderr.contains(&format!("Undo with: ckpt rollback {PLAN}/2")), "{fresh}");
    let answer = judged(&world, PLAN);
    assert_eq!((&answer["phase"], &answer["done"]), (&json!("1"), &json!([])));
    let bundles = world.json(&["archive", "--list"])["bundles"].clone();
    assert_eq!(bundles[0]["reason"], "restarted");
    world.run(&["rollback", &format!("{PLAN}/2")]).succeeds();
    assert_eq!(judged(&world, PLAN)["done"], json!(["1"]));
}

#[test]
fn workflow_id_of_the_plan_path_finds_the_checkpoint() {
    let world = World::new();
    for log in ["log1.md", "log2.md"] {
        world.write(log, "x");
    }
    world.write("specs/027_auth/plans/001.md", "plan");
    let mut file = foreign();
    file["workflow_id"] = json!("5f2a8e9c0d1b4a7e8c3f6d5b2a1e0f9c");
    world.write(&format!("{DIRECTORY}/5f2a8e9c0d1b4a7e8c3f6d5b2a1e0f9c.json"), file.to_string());
    world.run(&["import", DIRECTORY]).succeeds();
    assert_eq!(world.json(&["resume", "5f2a8e9c0d1b4a7e8c3f6d5b2a1e0f9c"])["phase"], "3");
    let listed = world.json(&["list", "--match", "027_auth/plans"])["workflows"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    // The same for a plan that was saved here.
    let native = plan("3");
    let listed = native.json(&["list", "--match", "027_auth/plans"])["workflows"].clone();
    assert_eq!(listed[0]["workflow"], PLAN);
}

#[test]
fn one_checkpoint_after_each_phase() {
    let world = World::new();
    for phase in 1..=8 {
        let total = ["--pipeline", "claude-plan", "--total", "8"];
        let save = ["save", PLAN, "--phase", &phase.to_string()].map(str::to_owned);
        let save: Vec<&str> = save.iter().map(String::as_str).chain(total).collect();
        world.run(&save).succeeds();
        assert_eq!(world.numbers(PLAN).len(), phase);
    }
}

#[test]
fn replan_tracking_prevents_infinite_loops() {
    let world = plan("3");
    world.run(&["done", PLAN, "--phase", "1"]).succeeds();
    world.run(&["done", PLAN, "--phase", "2"]).succeeds();
    for count in 1..=2 {
        world.run(&["start", PLAN, "--phase", "3"]).succeeds();
        world.run(&["revise", PLAN, "--from", "3", "--reason", "complexity_exceeded"]).succeeds();
        assert_eq!(copy(&world)["replan_count"]["3"], count);
    }
    world.run(&["start", PLAN, "--phase", "3"]).succeeds();
    world.refuses(&["revise", PLAN, "--from", "3", "--reason", "again"], 9, "replan_limit");
    let file = copy(&world);
    assert_eq!((&file["replan_count"]["3"], file["replan_history"].as_array().unwrap().len()), (&json!(2), 2));
    assert_eq!(file["replan_history"][0]["reason"], "complexity_exceeded");
    world.run(&["fail", PLAN, "--phase", "3", "--error", "still too much"]).succeeds();
    let answer = world.run(&["resume", PLAN, "--json"]).exits(7).document();
    assert!(
        finding(&answer, "replan_limit").starts_with("blocker: phase 3 failed again after it was reopened 2 times"),
        "{answer}"
    );
    // A file whose count is ahead of its history.
    let other = World::new();
    for log in ["log1.md", "log2.md"] {
        other.write(log, "x");
    }
    let mut file = foreign();
    (file["replan_count"], file["replan_history"]) = (json!({"3": 2}), json!([]));
    other.write(&format!("{DIRECTORY}/{PLAN}.json"), file.to_string());
    other.run(&["import", DIRECTORY]).succeeds();
    other.refuses(&["revise", PLAN, "--from", "3", "--reason", "again"], 9, "replan_limit");
}

#[test]
fn user_interruptions_resume_next_session() {
    let world = plan("3");
    let agent = |session: &str, args: &[&str]| {
        world.ckpt(args).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session).json()
    };
    agent("one", &["save", PLAN, "--trigger", "user_interrupt", "--set", "at=\"line 12\""]);
    let context = agent("two", &["resume", PLAN, "--context"]);
    assert_eq!((&context["phase"], &context["state"]["at"]), (&json!("1"), &json!("line 12")));
}

#[test]
fn complete_audit_trail_for_debugging() {
    let world = plan("2");
    world.run(&["fail", PLAN, "--phase", "1", "--error", "no network"]).succeeds();
    world.run(&["revise", PLAN, "--from", "1", "--reason", "smaller steps"]).succeeds();
    world.run(&["done", PLAN, "--phase", "1"]).succeeds();
    let shown = world.run(&["log", PLAN]).succeeds().stdout;
    assert!(shown.contains("1 failed: no network") && shown.contains("reopened from 1"), "{shown}");
    let reason = world.run(&["diff", &format!("{PLAN}/2"), &format!("{PLAN}/3")]).succeeds().stdout;
    assert!(reason.contains("smaller steps"), "{reason}");
    assert_eq!(world.json(&["show", &format!("{PLAN}/2")])["checkpoint"]["last_error"]["message"], "no network");
}

/// Phase 5 of 8 fails, is replanned once, and the rest completes; phases 1 to 4 are not repeated.
#[test]
fn the_example_of_plan_077() {
    let world = plan("8");
    for phase in ["1", "2", "3", "4"] {
        world.run(&["done", PLAN, "--phase", phase]).succeeds();
    }
    world.run(&["start", PLAN, "--phase", "5"]).succeeds();
    world.run(&["fail", PLAN, "--phase", "5", "--error", "3 tests fail"]).succeeds();
    assert_eq!(world.json(&["resume", PLAN])["done"], json!(["1", "2", "3", "4"]));
    world.run(&["revise", PLAN, "--from", "5", "--reason", "test failures"]).succeeds();
    let answer = world.json(&["resume", PLAN]);
    assert_eq!((&answer["phase"], &answer["done"]), (&json!("5"), &json!(["1", "2", "3", "4"])));
    assert!(answer["findings"].to_string().contains("3 tests fail"), "the replan knows the error: {answer}");
    for phase in ["5", "6", "7", "8"] {
        world.run(&["done", PLAN, "--phase", phase]).succeeds();
    }
    let file = copy(&world);
    assert_eq!((&file["replan_count"]["5"], file["completed_phases"].as_array().unwrap().len()), (&json!(1), 8));
    assert_eq!(world.run(&["resume", PLAN, "--json"]).exits(4).document()["verdict"], "complete");
}

/// Fails with exit code 3 until it has been run three times.
const FLAKY: &str = "echo x >> tries; [ \"$(wc -l < tries)\" -ge 3 ] || exit 3";

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build,test", "--phase", "plan"]).succeeds();
    world
}

fn run(world: &World, flags: &[&str], script: &str) -> crate::support::project::Outcome {
    let command = [&["run", "042", "--phase", "build"], flags, &["--", "/bin/sh", "-c", script]].concat();
    world.ckpt(&command).env("PATH", "/usr/bin:/bin").run()
}

#[test]
fn transient_failures_resume_automatically_and_each_attempt_is_recorded() {
    let world = begun();
    let outcome = run(&world, &["--retries", "4", "--backoff", "0s"], FLAKY).succeeds();
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stderr
    Saved 042/3: phase build failed, exit code 3
    Attempt 2 of 5 in 0s.
    Saved 042/5: phase build failed, exit code 3
    Attempt 3 of 5 in 0s.
    Saved 042/7: phase build complete, exit code 0
    --- end
    ");
    let phase = world.stored("042", 7)["phases"][1].clone();
    assert_eq!((&phase["status"], &phase["attempts"]), (&json!("complete"), &json!(3)));
    assert_eq!(phase["data"]["run"]["exit_codes"], json!([3, 3, 0]));
    let failed = world.stored("042", 3)["phases"][1].clone();
    assert_eq!((&failed["status"], &failed["data"]["run"]["exit_code"]), (&json!("failed"), &json!(3)));
}

#[test]
fn the_exit_code_is_that_of_the_last_attempt() {
    let world = begun();
    run(&world, &["--retries", "1", "--backoff", "0s"], "echo x >> tries; exit $(wc -l < tries)").exits(2);
    let phase = world.stored("042", 5)["phases"][1].clone();
    assert_eq!((&phase["status"], &phase["attempts"]), (&json!("failed"), &json!(2)));
    assert_eq!(phase["error"], "the command ended with exit code 2");
}

#[test]
fn a_command_that_cannot_be_run_is_not_tried_again() {
    let world = begun();
    world.run(&["run", "042", "--phase", "build", "--retries", "3", "--", "/no/such"]).exits(1);
    assert_eq!(world.stored("042", 3)["phases"][1]["attempts"], 1);
    assert_eq!(world.numbers("042"), [1, 2, 3]);
}

#[test]
fn retries_have_limits() {
    let world = begun();
    for flags in [&["--retries", "101"][..], &["--retries", "1", "--backoff", "2d"], &["--backoff", "1s"]] {
        run(&world, flags, "exit 0").exits(2);
    }
    world.run(&["resume", "042", "--retries", "2"]).exits(2);
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn a_wait_between_attempts_can_be_interrupted() {
    let world = begun();
    let args = ["run", "042", "--phase", "build", "--retries", "1", "--backoff", "1h", "--", "/bin/false"];
    let mut command = world.ckpt(&args).command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("Attempt 2 of 2 in 1h") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0);
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let stored = world.stored("042", 4);
    assert_eq!((&stored["trigger"], &stored["phases"][1]["status"]), (&json!("session_end"), &json!("failed")));
}

#[test]
fn a_resumed_command_is_retried_with_what_it_has_saved_by_then() {
    let world = begun();
    let script = "head -1; echo x >> tries; [ $(wc -l < tries) -ge 2 ] || exit 3";
    let outcome = world
        .ckpt(&["resume", "042", "--retries", "2", "--backoff", "0s", "--", "/bin/sh", "-c", script])
        .env("PATH", "/usr/bin:/bin")
        .run()
        .succeeds();
    let handles: Vec<&str> = outcome.stdout.lines().map(|line| line.split(' ').nth(4).unwrap()).collect();
    assert_eq!(handles, ["042/1", "042/3"], "{outcome}");
    let (failed, begun) = (world.stored("042", 2), world.stored("042", 3));
    assert_eq!(failed["phases"][1]["data"]["run"]["exit_code"], 3);
    assert_eq!((&begun["phases"][1]["status"], &begun["phases"][1]["attempts"]), (&json!("in_progress"), &json!(2)));
}

#[test]
fn a_resumed_command_that_finished_the_work_is_not_run_again() {
    let world = begun();
    let script = format!("echo x >> tries; {} done 042 -q > /dev/null; exit 3", *crate::support::program::CKPT);
    world
        .ckpt(&["resume", "042", "--retries", "2", "--backoff", "0s", "--", "/bin/sh", "-c", &script])
        .env("PATH", "/usr/bin:/bin")
        .run()
        .exits(3);
    assert_eq!(std::fs::read_to_string(world.project().join("tries")).unwrap(), "x\n");
}

#[test]
fn ask_user_retry_phase_skip_phase_or_abort_workflow() {
    let cases =
        [("s\n", 0, "skipped", "in_progress"), ("a\n", 3, "failed", "abandoned"), ("\n", 3, "failed", "in_progress")];
    for (answer, code, phase, workflow) in cases {
        let world = begun();
        let args = ["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "exit 3"];
        let mut terminal = Terminal::open(&world, &args, &[]);
        terminal.expect(QUESTION, 1);
        terminal.answer(answer);
        let (ended, screen) = terminal.exit();
        assert_eq!(ended, code, "{screen}");
        let newest = *world.numbers("042").last().unwrap();
        let stored = world.stored("042", newest);
        assert_eq!((&stored["phases"][1]["status"], &stored["status"]), (&json!(phase), &json!(workflow)), "{screen}");
    }
}

#[test]
fn a_person_can_retry_until_it_works() {
    let world = begun();
    let invocation =
        world.ckpt(&["run", "042", "--phase", "build", "--", "/bin/sh", "-c", FLAKY]).env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::of(&invocation);
    for times in 1..=2 {
        terminal.expect(QUESTION, times);
        terminal.answer("r\n");
    }
    let (code, screen) = terminal.exit();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(world.stored("042", 7)["phases"][1]["attempts"], 3);
}

#[test]
fn control_c_at_the_question_ends_the_program() {
    let world = begun();
    let args = ["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "exit 3"];
    let mut terminal = Terminal::open(&world, &args, &[]);
    terminal.expect(QUESTION, 1);
    terminal.answer("\u{3}");
    assert_eq!(terminal.signal(), Some(2));
    assert_eq!(world.stored("042", 3)["phases"][1]["status"], "failed");
}

#[test]
fn resume_of_a_failed_phase_asks_to_retry_skip_or_abort() {
    let question = QUESTION.replace(", (q)uit", ", (o)ther choices, (q)uit");
    let cases = [
        ("r\n", 0, "failed", "in_progress"),
        ("s\n", 0, "skipped", "in_progress"),
        ("a\n", 4, "failed", "abandoned"),
        ("\n", 7, "failed", "in_progress"),
        ("o\nr\n", 0, "failed", "in_progress"),
    ];
    for (answer, code, phase, workflow) in cases {
        let world = begun();
        world.run(&["fail", "042", "--phase", "build", "--error", "no"]).succeeds();
        let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
        terminal.expect(&question, 1);
        terminal.answer(answer);
        let (ended, screen) = terminal.exit();
        assert_eq!(ended, code, "{answer:?}: {screen}");
        let stored = world.stored("042", *world.numbers("042").last().unwrap());
        assert_eq!(
            (&stored["phases"][1]["status"], &stored["status"]),
            (&json!(phase), &json!(workflow)),
            "{answer:?}: {screen}"
        );
    }
}
