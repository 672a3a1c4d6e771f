//! `import` as a user calls it: files, directories, stdin, names, dry runs, and the commands that read the result.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use super::table::fixtures;
use crate::support::project::World;

/// A file about a workflow whose first phase is done.
pub(super) fn state(workflow: &str, saved_at: &str) -> String {
    json!({
        "workflow_id": workflow,
        "timestamp": saved_at,
        "phases": [{"id": "dig", "status": "done"}, {"id": "plant", "status": "pending"}],
    })
    .to_string()
}

pub(super) fn handles(document: &Value, key: &str) -> Vec<String> {
    document[key].as_array().unwrap().iter().map(|line| line["handle"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_file_becomes_a_checkpoint_that_every_command_can_read() {
    let world = World::new();
    let file = world.write("state.json", state("garden", "2026-01-30T10:00:00Z"));
    let before = std::fs::read(&file).unwrap();
    let imported = world.run(&["import", "state.json"]).succeeds();
    assert_eq!(imported.stdout, "garden/1  generic  state.json\n");
    assert!(imported.stderr.ends_with("Imported 1 file into garden. Resume with: ckpt resume garden\n"));
    assert_eq!(std::fs::read(&file).unwrap(), before);

    let resume = world.json(&["resume", "garden"]);
    assert_eq!((&resume["phase"], &resume["verdict"]), (&json!("plant"), &json!("ready")));
    let stored = world.stored("garden", 1);
    assert_eq!(stored["saved_at"], "2026-01-30T10:00:00.000Z");
    assert_eq!(stored["imported"]["dialect"], "generic");
    assert_eq!(stored["imported"]["source"], "state.json");
    assert_eq!(stored["state"]["generic"]["workflow_id"], "garden", "nothing of the file is lost");
    assert!(world.run(&["list"]).succeeds().stdout.contains("garden/1"));
    assert!(world.run(&["show", "garden"]).succeeds().stdout.contains("plant"));
    world.run(&["verify"]).succeeds();
    world.run(&["save", "garden", "--phase", "plant"]).succeeds();
    assert_eq!(world.run(&["resume", "garden"]).code(), 4, "it goes on as any workflow does");
}

#[test]
fn a_directory_is_searched_for_files_that_are_called_like_checkpoints() {
    let world = World::new();
    for n in 0..40 {
        world.write(&format!("old/{}/s{n}.json", n % 4), state(&format!("w{n}"), "2026-01-30T10:00:00Z"));
    }
    world.write("old/readme.txt", state("text", "2026-01-30T10:00:00Z"));
    world.write("old/package.json", "{\"name\": \"x\", \"version\": \"1\"}");
    world.write("old/node_modules/s.json", state("theirs", "2026-01-30T10:00:00Z"));
    world.write("old/.git/s.json", state("git", "2026-01-30T10:00:00Z"));
    let document = world.json(&["import", "old"]);
    assert_eq!(document["imported"].as_array().unwrap().len(), 40);
    assert_eq!(document["passed_over"][0]["source"], "old/package.json");
    assert_eq!(document["passed_over"].as_array().unwrap().len(), 1);
    assert_eq!(world.json(&["list"])["workflows"].as_array().unwrap().len(), 40);
}

#[test]
fn links_in_a_directory_are_not_followed_and_a_named_link_is() {
    let world = World::new();
    let outside = world.temp().join("outside.json");
    std::fs::write(&outside, state("outside", "2026-01-30T10:00:00Z")).unwrap();
    std::fs::create_dir(world.project().join("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, world.project().join("dir/link.json")).unwrap();
    std::os::unix::fs::symlink(".", world.project().join("dir/round")).unwrap();
    world.write("dir/own.json", state("own", "2026-01-30T10:00:00Z"));
    assert_eq!(handles(&world.json(&["import", "dir"]), "imported"), ["own/1"]);
    assert_eq!(handles(&world.json(&["import", "dir/link.json"]), "imported"), ["outside/1"]);
}

#[test]
fn a_directory_without_a_checkpoint_is_no_success() {
    let world = World::new();
    std::fs::create_dir(world.project().join("empty")).unwrap();
    let empty = world.run(&["import", "empty"]).exits(4);
    assert!(empty.stderr.starts_with("error: there is no checkpoint to import: no file there"), "{empty}");
    world.write("full/package.json", "{\"name\": \"x\"}");
    let full = world.run(&["import", "full"]).exits(4);
    assert!(full.stderr.contains("1 file passed over\n       `full/package.json` is not a checkpoint"), "{full}");
    for (path, passed_over) in [("empty", 0), ("full", 1)] {
        let failure = world.refuses(&["import", path], 4, "nothing_to_import");
        assert_eq!(failure["context"]["passed_over"].as_array().unwrap().len(), passed_over, "{failure}");
    }
    assert!(!world.store().exists());
}

#[test]
fn what_is_passed_over_in_a_directory_is_named_with_the_reason() {
    let world = World::new();
    world.write("in/a.json", state("a", "2026-01-30T10:00:00Z"));
    world.write("in/idle.json", "{\"phase\": \"none\"}");
    world.write("in/session.json", "{\"session_id\": \"s\", \"saved_at\": \"2026-01-30T10:00:00Z\"}");
    world.write("in/package.json", "{\"name\": \"x\"}");
    std::os::unix::fs::symlink("a.json", world.project().join("in/link.json")).unwrap();
    let shown = world.run(&["import", "in", "--dry-run"]).succeeds();
    assert!(shown.stderr.contains("4 passed over (-v says which)."), "{shown}");
    let shown = world.run(&["import", "in", "-v"]).succeeds();
    for line in [
        "passed over: in/idle.json says that there is nothing to be done\n",
        "passed over: in/link.json is a link; named itself, it is followed\n",
        "passed over: in/package.json is not a checkpoint that can be recognised",
        "passed over: in/session.json is not a checkpoint that can be recognised",
    ] {
        assert!(shown.stderr.contains(line), "{line}: {shown}");
    }
    let document = world.json(&["import", "in"]);
    let files = document["passed_over"].as_array().unwrap();
    let codes: Vec<_> = files.iter().map(|file| file["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["nothing_to_import", "link", "not_a_checkpoint", "not_a_checkpoint"]);
    world.refuses(&["import", "in/session.json"], 6, "not_a_checkpoint");
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let world = World::new();
    let call = |args: &[&str], bytes: &str| world.ckpt(args).stdin(bytes).run();
    let named = call(&["import", "-"], &state("piped", "2026-01-30T10:00:00Z")).succeeds();
    assert_eq!(named.stdout, "piped/1  generic  -\n");
    let nameless = "{\"completed_phases\": [\"a\"], \"next_phase\": \"b\"}";
    let refused = call(&["import", "-"], nameless).exits(2);
    assert!(refused.stderr.contains("--into ID"), "{refused}");
    assert_eq!(call(&["import", "-", "--into", "mine"], nameless).succeeds().stdout, "mine/1  generic  -\n");
}

#[test]
fn standard_input_that_is_empty_is_said_to_be() {
    let world = World::new();
    for empty in ["", " \n"] {
        let refused = world.ckpt(&["import", "-"]).stdin(empty).run().exits(6);
        assert_eq!(
            refused.stderr,
            "error: nothing came in on standard input\n  help: pipe a checkpoint file into it: `ckpt import - < state.json`\n"
        );
    }
    world.ckpt(&["import", "-"]).stdin("").refused(6, "damaged");
    let piped = state("piped", "2026-01-30T10:00:00Z");
    let twice = world.ckpt(&["import", "-", "-", "--json"]).stdin(&piped).run().exits(3).document();
    assert_eq!(handles(&twice, "imported"), ["piped/1"], "the second one takes nothing from the first");
    assert_eq!(twice["failures"][0]["item"], "-");
}

#[test]
fn standard_input_is_judged_like_a_file() {
    let world = World::new();
    let judge = |bytes: &str| world.ckpt(&["resume", "--file", "-", "--json"]).stdin(bytes).run();
    let ready = judge(&state("piped", "2026-01-30T10:00:00Z")).succeeds().document();
    assert_eq!((&ready["workflow"], &ready["phase"]), (&json!("piped"), &json!("plant")));
    let empty = world.ckpt(&["resume", "--file", "-"]).stdin("").refused(6, "damaged");
    assert_eq!(empty["help"][0], "pipe a checkpoint file into it: `ckpt resume --file - < state.json`");
    assert!(!world.store().exists());
}

#[test]
fn a_title_that_is_too_long_ends_behind_a_word_and_says_that_it_was_cut() {
    let title = |given: &str| {
        let document = json!({"workflow_id": "w", "title": given, "completed_phases": ["a"], "next_phase": "b"});
        let world = World::new();
        world.write("s.json", document.to_string());
        world.run(&["import", "s.json"]).succeeds();
        world.stored("w", 1)["title"].as_str().unwrap().to_owned()
    };
    let fits = "x".repeat(200);
    assert_eq!(title(&fits), fits);
    let words = title(&"gardens ".repeat(40));
    assert_eq!(words, format!("{}...", ["gardens"; 24].join(" ")));
    assert_eq!(title(&"\u{5ead}".repeat(201)), format!("{}...", "\u{5ead}".repeat(197)));
}

#[test]
fn a_file_that_names_no_workflow_is_called_by_its_own_name() {
    let world = World::new();
    world.write("Night Shift.json", "{\"completed_phases\": [\"a\"], \"next_phase\": \"b\"}");
    let imported = world.json(&["import", "Night Shift.json"]);
    assert_eq!(imported["imported"][0]["workflow"], "Night-Shift");
}

#[test]
fn into_gives_another_name_and_refuses_several_workflows() {
    let world = World::new();
    world.write("a.json", state("a", "2026-01-30T10:00:00Z"));
    world.write("b.json", state("b", "2026-01-30T10:00:00Z"));
    assert_eq!(handles(&world.json(&["import", "a.json", "--into", "renamed"]), "imported"), ["renamed/1"]);
    world.refuses(&["import", "a.json", "b.json", "--into", "both"], 2, "several_workflows");
    world.refuses(&["import", "a.json", "--into", "../x"], 2, "invalid_id");
}

#[test]
fn a_dry_run_shows_where_each_fact_comes_from_and_writes_nothing() {
    let world = World::new();
    world.write("state.json", state("garden", "2026-01-30T10:00:00Z"));
    let before = world.tree();
    let shown = world.run(&["import", "state.json", "--dry-run"]).succeeds();
    assert!(shown.stdout.starts_with("would become garden/1  generic  state.json\n"), "{shown}");
    assert!(shown.stdout.contains("phases/dig/status: complete (\"done\")  (/phases/0/status)"), "{shown}");
    let file = fixtures().join("steps.checkpoint");
    let lines = world.run(&["import", file.to_str().unwrap(), "-n"]).succeeds();
    assert!(lines.stdout.contains("phases/4/status: failed (\"\u{274c}\")  (line 11)"), "{lines}");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    let document = world.json(&["import", "state.json", "--dry-run"]);
    assert_eq!(document["dry_run"], true);
    assert!(!document["imported"][0]["facts"].as_array().unwrap().is_empty());
    assert!(!world.store().exists());
}

#[test]
fn a_dry_run_foresees_what_the_import_does() {
    let world = World::new();
    for n in 1..=3 {
        world.write(&format!("s{n}.json"), state("garden", &format!("2026-01-30T1{n}:00:00Z")));
    }
    world.run(&["import", "s1.json"]).succeeds();
    let foreseen = world.json(&["import", ".", "--dry-run"]);
    let done = world.json(&["import", "."]);
    for key in ["imported", "unchanged"] {
        assert_eq!(handles(&foreseen, key), handles(&done, key), "{key}");
    }
}

/// The number above the seal, and as much of the history as the import itself sees.
#[test]
fn a_dry_run_on_an_archived_workflow_foresees_the_number_above_its_seal() {
    let world = World::new();
    for n in 1..=3 {
        world.write(&format!("s{n}.json"), state("garden", &format!("2026-01-30T1{n}:00:00Z")));
    }
    world.run(&["import", "s1.json"]).succeeds();
    world.run(&["archive", "garden", "--as", "completed"]).succeeds();
    let foreseen = world.json(&["import", ".", "--dry-run"]);
    assert_eq!(handles(&foreseen, "imported"), ["garden/3", "garden/4"]);
    let done = world.json(&["import", "."]);
    for key in ["imported", "unchanged"] {
        assert_eq!(handles(&foreseen, key), handles(&done, key), "{key}");
    }
}

#[test]
fn the_dialect_can_be_named() {
    let world = World::new();
    world.write("s.json", state("garden", "2026-01-30T10:00:00Z"));
    let document = world.json(&["import", "s.json", "--as-dialect", "generic"]);
    assert_eq!(document["imported"][0]["dialect"], "generic");
    let refused = world.run(&["import", "s.json", "--as-dialect", "nonsense"]).exits(2);
    assert!(refused.stderr.contains("claude-plan"), "{refused}");
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let world = World::new();
    world.write("in/a.json", state("a", "2026-01-30T10:00:00Z"));
    world.write("in/b.json", "{\"id\": ");
    world.write("in/c.json", state("c", "2026-01-30T10:00:00Z"));
    let mixed = world.run(&["import", "in", "--json"]).exits(3).document();
    assert_eq!(handles(&mixed, "imported"), ["a/1", "c/1"]);
    assert_eq!(mixed["failures"][0]["item"], "in/b.json");
    assert_eq!(mixed["failures"][0]["code"], "damaged");
    let shown = world.run(&["import", "in"]).exits(3);
    assert!(shown.stderr.contains("`in/b.json` is damaged"), "{shown}");
    assert!(shown.stderr.ends_with("Imported 0 files, 2 unchanged, 1 failed.\n"), "{shown}");
    world.run(&["import", "in/b.json"]).exits(6);
}

#[test]
fn files_of_the_project_are_hashed_and_others_are_not_touched() {
    let world = World::new();
    world.write("out/report.md", "done");
    let inside = world.project().join("out/report.md");
    let document = json!({
        "workflow_id": "paths",
        "completed_phases": ["a"],
        "next_phase": "b",
        "timestamp": "2026-01-30T10:00:00Z",
        "artifacts": [inside, "./out/report.md", "gone.md", "/etc/hostname", "C:\\work\\x.md", "~/notes.md"],
    });
    world.write("s.json", document.to_string());
    let imported = world.json(&["import", "s.json"]);
    let elsewhere: Vec<_> =
        imported["findings"].as_array().unwrap().iter().map(|f| f["message"].as_str().unwrap()).collect();
    assert_eq!(elsewhere.len(), 3, "{imported}");
    assert!(elsewhere[0].starts_with("/artifacts/4: this path is on another machine"), "{imported}");
    let stored = world.stored("paths", 1);
    let artifacts = stored["artifacts"].as_array().unwrap();
    let of = |path: &str| artifacts.iter().find(|artifact| artifact["path"] == path).unwrap();
    assert_eq!(of("out/report.md")["size"], 4);
    assert!(of("out/report.md")["sha256"].is_string());
    assert!(of("gone.md")["sha256"].is_null());
    assert!(of("/etc/hostname")["sha256"].is_null(), "nothing outside the project is opened");
    let resume = world.run(&["resume", "paths", "--json"]).exits(7).document();
    let codes: Vec<_> = resume["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"artifact_missing") && codes.contains(&"artifact_unreadable"), "{resume}");
}

#[test]
fn quietly_only_the_handles_are_said() {
    let world = World::new();
    for n in 0..60 {
        world.write(&format!("in/s{n}.json"), state(&format!("w{n}"), "2026-01-30T10:00:00Z"));
    }
    let quiet = world.run(&["import", "in", "-q"]).succeeds();
    assert_eq!(quiet.stdout.lines().count(), 60);
    assert_eq!(quiet.stderr, "");
}

/// Returns what an import writes to a terminal if its standard input comes after a delay.
fn on_a_terminal(world: &World, args: &[&str], stdin: &str, delay: Duration) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let device = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = world.ckpt(args).command();
    command.stdin(Stdio::piped());
    command.stdout(Stdio::from(OwnedFd::from(device.try_clone().unwrap())));
    command.stderr(Stdio::from(OwnedFd::from(device)));
    let mut child = command.spawn().unwrap();
    drop(command);
    std::thread::sleep(delay);
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let (mut terminal, mut text) = (std::fs::File::from(terminal), Vec::new());
    // A terminal whose other end is closed answers with an error instead of an end.
    let _ = terminal.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn on_a_terminal_an_import_that_takes_a_while_says_how_far_it_is() {
    let line = "\r\u{1b}[KLooking at file 1: in/s.json";
    let mut shown = String::new();
    // Work that is done sooner says nothing. On a busy machine the process starts late, so longer delays follow.
    for delay in [700, 2_000, 10_000].map(Duration::from_millis) {
        let world = World::new();
        world.write("in/s.json", state("w", "2026-01-30T10:00:00Z"));
        shown = on_a_terminal(&world, &["import", "-", "in"], &state("piped", "2026-01-30T10:00:00Z"), delay);
        if shown.contains(line) {
            break;
        }
    }
    let (_, rest) = shown.split_once(line).unwrap_or_else(|| panic!("{shown:?}"));
    assert!(rest.contains("\r\u{1b}[K"), "the line is removed again: {shown:?}");
    assert!(rest.contains("Imported 2 files into 2 workflows."), "{shown:?}");
}

#[test]
fn a_file_among_the_failed_ones_is_not_resumed_without_a_word() {
    let world = World::new();
    let document = serde_json::json!({
        "checkpoint_id": "implement_menu_20260129_101500", "workflow_type": "implement",
        "created_at": "2026-01-29T10:15:00Z", "updated_at": "2026-01-29T10:20:00Z", "status": "in_progress",
        "current_phase": 2, "total_phases": 3, "completed_phases": [1], "workflow_state": {}, "last_error": null
    });
    let path = ".claude/checkpoints/failed/implement_menu_20260129_101500.json";
    world.write(path, document.to_string());
    world.run(&["import", ".claude/checkpoints"]).succeeds();
    let resume = world.run(&["resume", "implement_menu", "--json"]).exits(7).document();
    assert_eq!((&resume["verdict"], &resume["phase"]), (&"confirm".into(), &"2".into()));
    assert_eq!(resume["findings"][0]["code"], "workflow_failed");
    let exported = world.run(&["export", "implement_menu", "--as", "claude-dir", "-o", "-"]).succeeds();
    let exported: serde_json::Value = serde_json::from_str(&exported.stdout).unwrap();
    assert_eq!(exported["checkpoint_id"], document["checkpoint_id"]);
    assert_eq!(exported["completed_phases"], document["completed_phases"]);
}
