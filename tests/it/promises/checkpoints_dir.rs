//! The checkpoints directory: one file per workflow, its lifecycle, cleanup policy and error handling.
//!
//! | promise | test |
//! |---|---|
//! | recovery after a process was terminated, failed or was stopped by hand | `seamless_recovery_from_process_termination_errors_or_manual_stops` |
//! | the members of a file, with state, artifact registry and last error | `the_checkpoint_format_is_read_and_written` |
//! | the id: type, project and time in UTC | `the_checkpoint_id_has_workflow_type_project_name_and_timestamp` |
//! | active checkpoints, and failed ones in a directory of their own | `checkpoints_are_moved_to_failed` |
//! | created when a workflow starts or reaches a milestone | `checkpoints_are_created_and_updated` |
//! | updated when a phase completes, the state changes, progress is made | `checkpoints_are_created_and_updated` |
//! | a completed workflow has its final checkpoint here | `a_completed_workflow_keeps_its_final_checkpoint` |
//! | deleted when the user says so | `manual_cleanup_list_delete_specific_clean_all_and_archive` |
//! | deleted when older than a threshold | `age_based_cleanup_with_a_threshold` |
//! | written to `failed/` after an unrecoverable error, when abandoned, or by hand | `checkpoints_are_moved_to_failed` |
//! | failed ones are kept for 30 days | `failure_moved_to_failed_subdirectory_kept_for_30_days` |
//! | the same without a cleanup before | `a_failed_workflow_that_was_never_archived_goes_30_days_after_its_last_save` |
//! | list all, delete one, clean all, archive one | `manual_cleanup_list_delete_specific_clean_all_and_archive` |
//! | detection by the description of the workflow, partial matches are offered | `detection_of_a_checkpoint_matching_the_workflow_description` |
//! | the prompt with four choices: resume, start fresh, view details, delete | `interactive_prompt_offers_resume_start_fresh_view_delete` |
//! | the prompt says what it found, when it was made and how far it is | `interactive_prompt_offers_resume_start_fresh_view_delete` |
//! | after an answer, the next step or the undo is printed | `interactive_prompt_offers_resume_start_fresh_view_delete` |
//! | integrity is checked before resume | `validation_checkpoint_integrity_checked_before_resume` |
//! | the state is restored, and the work continues after the last completed phase | `restoration_and_continuation_from_last_completed_phase` |
//! | utilities: save type and state, load by type and project, list by type, clean up by age | `the_four_checkpoint_utilities` |
//! | a corrupted checkpoint: named with its path, can be set aside, the workflow starts fresh | `an_option_to_delete_the_corrupted_checkpoint_and_workflow_can_start_fresh` |
//! | missing state: a specific error, and the checkpoint is not used | `missing_state_data_fails_with_a_specific_error` |
//! | an incompatible version: detected, can be set aside | `if_checkpoint_format_version_is_incompatible_it_can_be_set_aside` |
//! | not detected: name, permissions, JSON are what to look at, and each is reported | `checkpoint_not_detected_says_why` |
//! | resume fails: files that are missing are named | `resume_fails_and_names_the_missing_file` |
//! | several checkpoints: the latest of a workflow, and clear names tell them apart | `multiple_checkpoints_latest_used` |
//! | failures can be reviewed | `failure_moved_to_failed_subdirectory_kept_for_30_days` |
//! | editing by hand risks corruption, and is noticed | `validation_checkpoint_integrity_checked_before_resume` |
//! | sensitive data: kept in the project, ignored by git, not readable by others, secrets replaced | `security_considerations` |
//! | compression, diff, versions, web pages | `future_enhancements_that_exist` |
//! | remote storage | `remote_checkpoint_storage` |
//!
//! | not held | why |
//! |---|---|
//! | by default, everything older than seven days is deleted | old open work is still work: it is compressed, and archived only with `abandon_idle`; `cleanup --max-age 7d --abandon-idle 7d` does what the document says |
//! | the file is deleted when the workflow completes | the store archives it; files that were exported are the user's |
//! | starting fresh deletes the checkpoint | it is archived, and the undo is printed |
//! | of several workflows of a type, the latest one is taken | they are offered as commands, never guessed; of one workflow it is the latest |
//! | a file that is not named `{type}_{project}_{timestamp}.json` is not detected | it is: the content decides, not the name |

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::project::{World, is_root};
use crate::support::terminal::Terminal;
use ckpt::{assert_says, document, export, finding, judged, names};

const SOON: &str = "2026-02-01T00:00:00Z";
const AFTER_29_DAYS: &str = "2026-02-28T00:00:00Z";
const AFTER_31_DAYS: &str = "2026-03-04T00:00:00Z";
const DIRECTORY: &str = ".claude/checkpoints";
const ID: &str = "orchestrate_auth";
const QUESTION: &str = "(r)esume, (s)tart fresh, (v)iew details, (d)iscard, (q)uit";

/// A file of the other system.
fn foreign() -> Value {
    json!({"checkpoint_id": "orchestrate_auth_20260130_140000", "workflow_type": "orchestrate",
        "workflow_description": "Implement the login", "created_at": "2026-01-30T14:00:00Z",
        "updated_at": "2026-01-30T14:20:00Z", "status": "in_progress", "current_phase": 2, "total_phases": 5,
        "completed_phases": [1],
        "workflow_state": {"project_name": "auth", "artifact_registry": {"notes": "notes.md"},
            "research_results": ["a"], "plan_path": "specs/plans/022_auth.md"},
        "last_error": null})
}

/// A workflow that is in its second phase.
fn begun() -> World {
    let world = World::new();
    let save = ["save", ID, "--pipeline", "claude-dir", "--total", "5", "--phase", "1"];
    let state = ["--title", "Implement the login", "--set", "plan_path=\"specs/plans/022_auth.md\""];
    world.run(&[&save[..], &state].concat()).succeeds();
    world.run(&["start", ID, "--phase", "2"]).succeeds();
    world
}

#[test]
fn seamless_recovery_from_process_termination_errors_or_manual_stops() {
    let world = begun();
    let resume_point = |world: &World| judged(world, ID)["phase"].clone();
    assert_eq!(resume_point(&world), "2", "terminated");
    world.run(&["fail", ID, "--phase", "2", "--error", "no database"]).succeeds();
    assert_eq!(resume_point(&world), "2", "failed");
    world.run(&["save", ID, "--note", "stopped by hand", "--trigger", "user_interrupt"]).succeeds();
    assert_eq!(resume_point(&world), "2", "stopped");
    assert_eq!(judged(&world, ID)["done"], json!(["1"]));
}

#[test]
fn the_checkpoint_format_is_read_and_written() {
    let world = World::new();
    world.write("notes.md", "x");
    world.write("specs/plans/022_auth.md", "plan");
    let name = "orchestrate_auth_20260130_140000.json";
    world.write(&format!("{DIRECTORY}/{name}"), foreign().to_string());
    world.run(&["import", DIRECTORY]).succeeds();
    let answer = world.json(&["resume", ID]);
    assert_eq!((&answer["phase"], &answer["title"]), (&json!("2"), &json!("Implement the login")));
    assert_eq!(answer["artifacts"][0]["path"], "notes.md");
    world.run(&["export", ID, "--as", "claude-dir", "-o", "copy/"]).succeeds();
    assert_says(&document(&world, &format!("copy/{DIRECTORY}/{name}")), &foreign());
    // What is saved here has the same members.
    let native = begun();
    export(&native, ID, "claude-dir");
    let file = document(&native, &format!("{DIRECTORY}/{}", names(&native, DIRECTORY)[0]));
    for member in foreign().as_object().unwrap().keys() {
        assert!(file.get(member).is_some(), "{member}: {file}");
    }
    assert_eq!((&file["current_phase"], &file["completed_phases"]), (&json!(2), &json!([1])));
    native.run(&["fail", ID, "--phase", "2", "--error", "no database"]).succeeds();
    export(&native, ID, "claude-dir");
    let file = document(&native, &format!("{DIRECTORY}/{}", names(&native, DIRECTORY)[0]));
    assert_eq!(file["last_error"], "no database");
}

#[test]
fn the_checkpoint_id_has_workflow_type_project_name_and_timestamp() {
    let world = begun();
    export(&world, ID, "claude-dir");
    assert_eq!(names(&world, DIRECTORY), ["orchestrate_auth_20260130_143000.json"]);
    let file = document(&world, &format!("{DIRECTORY}/orchestrate_auth_20260130_143000.json"));
    assert_eq!(
        (&file["checkpoint_id"], &file["workflow_type"]),
        (&json!("orchestrate_auth_20260130_143000"), &json!("orchestrate"))
    );
    // It finds the workflow, as soon as it was imported.
    let other = World::new();
    other.write("notes.md", "x");
    other.write("specs/plans/022_auth.md", "plan");
    other.write(&format!("{DIRECTORY}/orchestrate_auth_20260130_140000.json"), foreign().to_string());
    other.run(&["import", DIRECTORY]).succeeds();
    assert_eq!(other.json(&["resume", "orchestrate_auth_20260130_140000"])["workflow"], ID);
}

#[test]
fn checkpoints_are_created_and_updated() {
    let world = begun();
    let file = || {
        export(&world, ID, "claude-dir");
        document(&world, &format!("{DIRECTORY}/orchestrate_auth_20260130_143000.json"))
    };
    for (change, member, value) in [
        (&["--phase", "2"][..], "/completed_phases", json!([1, 2])),
        (&["--title", "Log in"], "/workflow_description", json!("Log in")),
        (&["--phase", "3", "--status", "in_progress"], "/current_phase", json!(3)),
    ] {
        let before = file();
        world.run(&[&["save", ID], change].concat()).succeeds();
        let after = file();
        assert_eq!(after.pointer(member), Some(&value), "{after}");
        assert_eq!(after["created_at"], before["created_at"]);
        assert_ne!(after["updated_at"], before["updated_at"]);
    }
    assert_eq!(names(&world, DIRECTORY).len(), 1, "one file per workflow");
}

#[test]
fn age_based_cleanup_with_a_threshold() {
    let world = begun();
    let clean = |now: &str| {
        world.ckpt(&["cleanup", "--max-age", "7d", "--abandon-idle", "7d"]).env("CKPT_NOW", now).run().succeeds();
        world.json(&["list"])["workflows"].as_array().unwrap().len()
    };
    assert_eq!((clean("2026-02-05T00:00:00Z"), clean("2026-02-08T00:00:00Z")), (1, 0));
}

#[test]
fn checkpoints_are_moved_to_failed() {
    let moves: [&[&str]; 3] = [
        &["save", ID, "--workflow-status", "failed"],
        &["save", ID, "--workflow-status", "abandoned"],
        &["archive", ID, "--as", "failed"],
    ];
    for command in moves {
        let world = begun();
        world.run(command).succeeds();
        export(&world, ID, "claude-dir");
        assert_eq!(names(&world, DIRECTORY), ["failed"], "{command:?}");
        assert_eq!(names(&world, ".claude/checkpoints/failed"), ["orchestrate_auth_20260130_143000.json"]);
    }
}

#[test]
fn manual_cleanup_list_delete_specific_clean_all_and_archive() {
    let world = begun();
    world.run(&["save", "implement_dark_mode", "--phases", "a,b", "--phase", "a"]).succeeds();
    assert_eq!(world.json(&["list"])["workflows"].as_array().unwrap().len(), 2);
    world.run(&["archive", ID, "--as", "abandoned"]).succeeds();
    world.refuses(&["archive", ID, "--delete"], 9, "confirmation_needed");
    world.run(&["archive", ID, "--delete", "--yes"]).succeeds();
    assert_eq!(world.json(&["list"])["workflows"][0]["workflow"], "implement_dark_mode");
    world.run(&["done", "implement_dark_mode"]).succeeds();
    world.ckpt(&["cleanup", "--max-age", "0s", "--purge", "--yes"]).env("CKPT_NOW", SOON).run().succeeds();
    assert_eq!(world.json(&["list"])["workflows"], json!([]));
}

#[test]
fn detection_of_a_checkpoint_matching_the_workflow_description() {
    let world = begun();
    let outcome = world.run(&["resume", "implement  THE login"]).succeeds();
    assert!(outcome.stderr.contains("Found orchestrate_auth by"), "{outcome}");
    for command in ["show", "status", "brief", "log", "list", "stats", "diff"] {
        let outcome = world.run(&[command, "Implement the login"]).succeeds();
        assert!(outcome.stderr.contains("Found orchestrate_auth by"), "{command}: {outcome}");
    }
    world.run(&["export", "Implement the login", "--as", "claude-dir", "-o", "copy/"]).succeeds();
    // A part of it is offered, never guessed; so is a label, or a part of the path of the plan.
    world.run(&["save", ID, "--label", "sprint:9"]).succeeds();
    for part in ["the login", "022_auth", "specs/plans/022_auth", "sprint:9", "claude-dir"] {
        let refused = world.run(&["resume", part]).exits(4);
        assert!(refused.stderr.contains("ckpt resume orchestrate_auth  # Implement the login"), "{part}: {refused}");
    }
    let listed = world.json(&["list", "--match", "specs/plans/022"])["workflows"].clone();
    assert_eq!(listed[0]["workflow"], ID);
    world.run(&["resume", "no/such"]).exits(2);
    // Only commands that read do this.
    world.run(&["save", "Implement the login", "--phase", "2"]).exits(2);
    world.run(&["save", "other", "--title", "Implement the login"]).succeeds();
    world.refuses(&["resume", "Implement the login"], 5, "ambiguous");
}

#[test]
fn interactive_prompt_offers_resume_start_fresh_view_delete() {
    for (answers, code, live) in [("r\n", 0, true), ("s\n", 0, true), ("v\nr\n", 0, true), ("d\n", 4, false)] {
        let world = begun();
        let mut terminal = Terminal::open(&world, &["resume", ID], &[]);
        terminal.expect(QUESTION, 1);
        terminal.answer(answers);
        let (ended, screen) = terminal.exit();
        assert_eq!(ended, code, "{answers:?}: {screen}");
        assert!(screen.contains(" Implement the login: resume at 2 (2 of 5)"), "{screen}");
        assert!(screen.contains("from       orchestrate_auth/2, saved 1 minute ago"), "{screen}");
        assert_eq!(world.json(&["list"])["workflows"] != json!([]), live, "{answers:?}");
        match answers {
            "r\n" => {
                assert!(screen.contains("When it is done: ckpt done orchestrate_auth --phase 2"), "{screen}");
            }
            "v\nr\n" => assert!(screen.contains("\"plan_path\": \"specs/plans/022_auth.md\""), "{screen}"),
            "d\n" => assert!(screen.contains("Undo with: ckpt restore orchestrate_auth"), "{screen}"),
            "s\n" => {
                assert!(screen.contains("Undo with: ckpt rollback orchestrate_auth/2"), "{screen}");
                assert!(screen.contains("Begin it with: ckpt start orchestrate_auth --phase 1"), "{screen}");
                assert_eq!(judged(&world, ID)["phase"], "1");
            }
            _ => {}
        }
    }
}

#[test]
fn validation_checkpoint_integrity_checked_before_resume() {
    let world = begun();
    let text = std::fs::read_to_string(world.checkpoint_file(ID, 2)).unwrap();
    let edited = text.replace("in_progress", "complete");
    assert_ne!(edited, text);
    world.replace_checkpoint(ID, 2, edited.as_bytes());
    let answer = world.run(&["resume", ID, "--json"]).exits(7).document();
    assert!(
        finding(&answer, "damaged_newest").starts_with("confirm: the newest checkpoint orchestrate_auth/2 is damaged"),
        "{answer}"
    );
    assert_eq!(answer["handle"], "orchestrate_auth/1");
}

#[test]
fn restoration_and_continuation_from_last_completed_phase() {
    let world = begun();
    let context = world.json(&["resume", ID, "--context"]);
    assert_eq!(context["state"]["plan_path"], "specs/plans/022_auth.md");
    world.run(&["done", ID, "--phase", "2"]).succeeds();
    let answer = world.json(&["resume", ID]);
    assert_eq!(
        (&answer["done"], &answer["phase"], &answer["remaining"]),
        (&json!(["1", "2"]), &json!("3"), &json!(["3", "4", "5"]))
    );
}

#[test]
fn the_four_checkpoint_utilities() {
    let world = World::new();
    let state = r#"{"title": "Dark mode", "state": {"project_name": "dark_mode"}, "pipeline": "claude-dir", "total": 3, "phase": "1"}"#;
    world.ckpt(&["save", "implement_dark_mode", "--from", "-"]).stdin(state).run().succeeds();
    world.run(&["save", "orchestrate_auth", "--phases", "a", "--phase", "a", "--status", "in_progress"]).succeeds();
    let listed = world.json(&["list", "--match", "implement"])["workflows"].clone();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["workflow"]), (1, &json!("implement_dark_mode")));
    assert_eq!(world.json(&["show", "implement_dark_mode", "--state"])["checkpoint"]["project_name"], "dark_mode");
    world.run(&["done", "implement_dark_mode"]).succeeds();
    world.ckpt(&["cleanup", "--max-age", "7d"]).env("CKPT_NOW", "2026-02-20T00:00:00Z").run().succeeds();
    assert_eq!(world.json(&["list", "--match", "implement"])["workflows"], json!([]));
}

#[test]
fn missing_state_data_fails_with_a_specific_error() {
    let world = World::new();
    let mut file = foreign();
    for member in ["current_phase", "completed_phases", "total_phases", "status"] {
        file.as_object_mut().unwrap().remove(member);
    }
    world.write("x.json", file.to_string());
    let answer = world.run(&["resume", "--file", "x.json", "--json"]).exits(7).document();
    assert_eq!(answer["verdict"], "blocked", "{answer}");
    assert!(finding(&answer, "phases_unknown").contains("cannot tell what comes next"), "{answer}");
    world.write("y.json", "{\"hello\": 1}");
    world.refuses(&["resume", "--file", "y.json"], 6, "not_a_checkpoint");
}

#[test]
fn checkpoint_not_detected_says_why() {
    let world = World::new();
    world.write(&format!("{DIRECTORY}/orchestrate_a_20260130_140000.json"), "{\"checkpoint_id\":");
    let outcome = world.run(&["import", DIRECTORY]);
    assert!(outcome.code() != 0 && outcome.stderr.contains("orchestrate_a_20260130_140000.json"), "{outcome}");
    // Any name will do.
    world.write("notes.md", "x");
    world.write("anything.json", foreign().to_string());
    assert_eq!(world.run(&["resume", "--file", "anything.json", "--json"]).document()["workflow"], ID);
    if !is_root() {
        let file = world.project().join("anything.json");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
        let outcome = world.run(&["resume", "--file", "anything.json"]);
        assert!(outcome.stderr.contains("ermission"), "{outcome}");
    }
}

#[test]
fn resume_fails_and_names_the_missing_file() {
    let world = begun();
    world.write("notes.md", "x");
    world.run(&["save", ID, "--artifact", "notes=notes.md"]).succeeds();
    std::fs::remove_file(world.project().join("notes.md")).unwrap();
    let answer = world.run(&["resume", ID, "--json"]).exits(7).document();
    assert!(finding(&answer, "artifact_missing").starts_with("blocker: notes.md is missing"), "{answer}");
}

#[test]
fn multiple_checkpoints_latest_used() {
    let world = World::new();
    world.write("notes.md", "x");
    world.write("specs/plans/022_auth.md", "plan");
    let mut later = foreign();
    later["checkpoint_id"] = json!("orchestrate_auth_20260130_141000");
    later["updated_at"] = json!("2026-01-30T14:25:00Z");
    (later["completed_phases"], later["current_phase"]) = (json!([1, 2]), json!(3));
    world.write(&format!("{DIRECTORY}/orchestrate_auth_20260130_141000.json"), later.to_string());
    world.write(&format!("{DIRECTORY}/orchestrate_auth_20260130_140000.json"), foreign().to_string());
    world.run(&["import", DIRECTORY]).succeeds();
    assert_eq!(world.json(&["resume", ID])["phase"], "3");
    world.run(&["save", "implement_dark_mode", "--phases", "a,b", "--phase", "a"]).succeeds();
    let refused = world.run(&["resume"]).exits(5);
    assert!(refused.stderr.contains("ckpt resume orchestrate_auth  # Implement the login"), "{refused}");
}

#[test]
fn security_considerations() {
    let world = begun();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
    assert_eq!(mode(&world.checkpoint_file(ID, 1)), 0, "nobody else reads it");
    assert!(world.store().join(".gitignore").exists());
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    world.run(&["save", ID, "--set", &format!("token=\"{token}\"")]).succeeds();
    let file = std::fs::read_to_string(world.checkpoint_file(ID, 3)).unwrap();
    export(&world, ID, "claude-dir");
    let copy = document(&world, &format!("{DIRECTORY}/{}", names(&world, DIRECTORY)[0])).to_string();
    assert!(!file.contains(token) && !copy.contains(token), "{file}");
}

#[test]
fn future_enhancements_that_exist() {
    let world = begun();
    let outcome = world.run(&["diff", &format!("{ID}/1"), &format!("{ID}/2")]).succeeds();
    assert!(outcome.stdout.contains("2 status: pending -> in_progress"), "{outcome}");
    world.run(&["archive", ID, "--as", "abandoned"]).succeeds();
    let bundle = world.json(&["archive", "--list"])["bundles"][0]["path"].as_str().unwrap().to_owned();
    assert!(bundle.ends_with(".jsonl.gz"), "{bundle}");
    let html = world.run(&["report", ID, "-o", "-"]).succeeds().stdout;
    assert!(html.contains("Implement the login"), "{html}");
}

#[test]
fn remote_checkpoint_storage() {
    let world = begun();
    std::fs::create_dir(world.temp().join("shared")).unwrap();
    let url = format!("file://{}/shared", world.temp().display());
    world.run(&["remote", "add", &url]).succeeds();
    world.run(&["push"]).succeeds();
    let parent = world.temp().join("other");
    std::fs::create_dir(&parent).unwrap();
    let other = World::inside(&parent);
    other.run(&["remote", "add", &url]).succeeds();
    other.run(&["pull"]).succeeds();
    assert_eq!(judged(&other, ID)["phase"], "2");
}

fn workflow_with_status(status: &str) -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--title", "Login"]).succeeds();
    world.run(&["save", "042", "--phase", "b", "--error", "no", "--workflow-status", status]).succeeds();
    world
}

fn cleanup(world: &World, now: &str) -> serde_json::Value {
    world.ckpt(&["cleanup"]).env("CKPT_NOW", now).json()
}

#[test]
fn failure_moved_to_failed_subdirectory_kept_for_30_days() {
    for status in ["failed", "abandoned"] {
        let world = workflow_with_status(status);
        cleanup(&world, SOON);
        assert_eq!(world.json(&["list"])["workflows"], json!([]), "it left the live store");
        let bundles = world.json(&["archive", "--list"]);
        assert_eq!(bundles["bundles"][0]["reason"], status, "{bundles}");
        assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["title"], "Login");
        assert_eq!(world.json(&["show", "042/1"])["checkpoint"]["phases"][0]["status"], "complete");
        cleanup(&world, AFTER_29_DAYS);
        let restored = world.copy();
        restored.run(&["restore", "042"]).succeeds();
        assert_eq!(restored.stored("042", 2)["phases"][1]["error"], "no");
        // Also when it is the only one.
        let report = cleanup(&world, AFTER_31_DAYS);
        assert_eq!(world.json(&["archive", "--list"])["bundles"], json!([]), "{report}");
        world.refuses(&["show", "042/1"], 4, "archived");
        world.run(&["verify"]).succeeds();
    }
}

#[test]
fn a_failed_workflow_that_was_never_archived_goes_30_days_after_its_last_save() {
    let world = workflow_with_status("failed");
    cleanup(&world, AFTER_31_DAYS);
    assert_eq!(world.json(&["archive", "--list"])["bundles"], json!([]));
    world.refuses(&["show", "042/1"], 4, "archived");
}

#[test]
fn a_completed_workflow_keeps_its_final_checkpoint() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    cleanup(&world, "2027-01-01T00:00:00Z");
    assert_eq!(world.stored("042", 2)["status"], "complete");
    assert_eq!(world.json(&["show", "042/1"])["checkpoint"]["phases"][0]["status"], "complete");
}

#[test]
fn if_checkpoint_format_version_is_incompatible_it_can_be_set_aside() {
    for version in ["2.0", "1.9"] {
        let world = World::new();
        world.run(&["save", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
        world.forge("042", 1, |document| document["version"] = json!(version));
        let file = world.checkpoint_file("042", 1);
        let bytes = std::fs::read(&file).unwrap();
        let refused = world.run(&["save", "042", "--phase", "b"]).exits(6);
        assert!(refused.stderr.contains("ckpt archive 042 --as abandoned"), "{refused}");
        // A cleanup leaves it alone: only a person decides about it.
        cleanup(&world, "2027-01-01T00:00:00Z");
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
        assert_eq!(std::fs::metadata(&file).unwrap().len(), 0, "{version}");
        assert_eq!(world.json(&["list"])["workflows"], json!([]));
        world.run(&["verify"]).succeeds();
        world.run(&["restore", "042/1"]).succeeds();
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "{version}");
    }
}

#[test]
fn an_option_to_delete_the_corrupted_checkpoint_and_workflow_can_start_fresh() {
    let world = World::with_checkpoints(1);
    world.replace_checkpoint("042", 1, b"garbage\n");
    world.run(&["resume", "042"]).exits(6);
    let fresh = world.copy();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    assert_eq!(world.json(&["list"])["workflows"], json!([]));
    fresh.run(&["save", "042", "--fresh", "--phases", "a,b", "--phase", "a"]).succeeds();
    assert_eq!(fresh.json(&["resume", "042"])["phase"], "b");
    // The same from the other command, for a format that cannot be read too; what comes next is then to be said.
    for version in [None, Some("9.0")] {
        let over = World::with_checkpoints(1);
        match version {
            Some(version) => over.forge("042", 1, |document| document["version"] = json!(version)),
            None => over.replace_checkpoint("042", 1, b"garbage\n"),
        }
        let refused = over.run(&["resume", "042"]).exits(6);
        assert!(refused.stderr.contains("`ckpt resume 042 --fresh` starts over"), "{refused}");
        let outcome = over.run(&["resume", "042", "--fresh"]).exits(7);
        assert!(outcome.stderr.contains("Archived what there was; 042/3 is a fresh start."), "{outcome}");
    }
}
