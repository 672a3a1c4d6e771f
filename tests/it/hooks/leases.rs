//! Notes of who is working: advice for others that never blocks them.

use serde_json::json;

use crate::support::project::World;
use ckpt::{SESSION, payload, silent, todos};

fn findings(world: &World, codes: &[&str]) -> Vec<String> {
    let report = world.json(&["resume", "042"]);
    let all = report["findings"].as_array().unwrap().iter();
    let wanted = all.filter(|finding| codes.contains(&finding["code"].as_str().unwrap()));
    wanted
        .map(|finding| format!("{}: {}", finding["severity"].as_str().unwrap(), finding["message"].as_str().unwrap()))
        .collect()
}

fn notes(world: &World) -> Vec<serde_json::Value> {
    let Ok(entries) = std::fs::read_dir(world.store().join("sessions")) else { return Vec::new() };
    entries.map(|entry| serde_json::from_slice(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap()).collect()
}

fn started() -> World {
    let world = World::new();
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    world
}

#[test]
fn a_session_is_noted_at_its_start_and_others_see_it_until_it_ends() {
    let world = started();
    let start = world.ckpt(&["hook", "claude", "SessionStart"]);
    start.stdin(payload(&world, SESSION, json!({"source": "startup"})).to_string()).run().succeeds();
    let before = world.tree();
    let seen = findings(&world, &["at_work", "recent_writer"]);
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with(&format!("advice: claude-code (session {SESSION})")), "{seen:?}");
    assert!(seen[0].contains("is noted as being at work on it since 1m 00s, seen 1m 00s ago"), "{seen:?}");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "a resume only reads");
    let own = world.ckpt(&["resume", "042"]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", SESSION).json();
    assert_eq!(own["findings"], json!([]));
    silent(&world, "claude", "SessionEnd", &payload(&world, SESSION, json!({})));
    assert_eq!(findings(&world, &["at_work", "recent_writer"]), Vec::<String>::new());
}

#[test]
fn taking_the_work_over_is_noted_for_both() {
    let world = started();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "pending")]));
    let taken = world.ckpt(&["resume", "042", "--take"]).env("CODEX_THREAD_ID", "thread-1").run();
    assert_eq!(taken.status.code(), Some(0), "{taken}");
    assert!(taken.stderr.contains(&format!("Took 042 over from claude-code (session {SESSION})")), "{taken}");
    let seen = findings(&world, &["at_work"]);
    assert!(seen.len() == 1 && seen[0].contains("codex (session thread-1)"), "{seen:?}");
    let of_claude = notes(&world).into_iter().find(|note| note["agent"] == "claude-code").unwrap();
    assert!(of_claude["taken_by"].as_str().unwrap().starts_with("codex (session thread-1)"), "{of_claude}");
    // It continues anyway, and is working again.
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "completed")]));
    assert_eq!(findings(&world, &["at_work"]).len(), 2);
}

#[test]
fn a_person_who_has_taken_the_work_over_is_told_of_nobody_and_others_of_the_person() {
    let world = started();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "pending")]));
    let resume = |user: &str, flags: &[&str]| {
        world.ckpt(&[&["resume", "042"], flags].concat()).env("USER", user).run().succeeds()
    };
    let taken = resume("kim", &["--take"]);
    assert!(taken.stderr.contains("Took 042 over from claude-code"), "{taken}");
    assert!(!taken.stdout.contains("at work"), "{taken}");
    assert!(!resume("kim", &[]).stdout.contains("at work"));
    assert!(resume("lee", &[]).stdout.contains("kim on "));
    // What is started by the same person is another matter.
    let look = "unset CKPT_HANDLE; exec \"$0\" resume 042";
    let inner = resume("kim", &["--yes", "--", "/bin/sh", "-c", look, &crate::support::program::CKPT]);
    assert!(inner.stdout.contains("kim on ") && inner.stdout.contains("at work"), "{inner}");
}

#[test]
fn a_command_is_noted_while_it_runs_and_not_afterwards() {
    let world = started();
    let look = ["/bin/sh", "-c", "cat .ckpt/sessions/*.json"];
    for line in [&["run", "042", "--phase", "build", "--"][..], &["resume", "042", "--yes", "--"][..]] {
        let outcome = world.run(&[line, &look[..]].concat());
        assert_eq!(outcome.status.code(), Some(0), "{outcome}");
        assert!(outcome.stdout.contains("\"workflow\":\"042\""), "{outcome}");
        assert_eq!(notes(&world), Vec::<serde_json::Value>::new());
    }
}

#[test]
fn an_old_note_is_only_information_and_a_damaged_one_is_no_obstacle() {
    let world = started();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "pending")]));
    let resume = world.ckpt(&["resume", "042"]).env("CKPT_NOW", "2026-02-03T00:00:00Z").json();
    let at_work = resume["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "at_work").unwrap();
    assert_eq!(at_work["severity"], "info");
    assert_eq!(resume["verdict"], "ready");

    let sessions = world.store().join("sessions");
    let note = std::fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&note, "{").unwrap();
    std::fs::write(sessions.join("stray"), "").unwrap();
    let verified = world.json(&["verify"]);
    let codes: Vec<_> = verified["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["session_note", "unknown_file"], "{verified}");
    world.run(&["resume", "042"]).succeeds();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "completed")]));
    assert_eq!(notes_in(&sessions), 2);
    std::fs::remove_dir_all(&sessions).unwrap();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "completed"), ("B", "pending")]));
    world.run(&["verify"]).succeeds();
}

fn notes_in(sessions: &std::path::Path) -> usize {
    std::fs::read_dir(sessions).unwrap().count()
}

#[test]
fn the_number_of_notes_is_bounded() {
    let world = started();
    for number in 0..80 {
        silent(&world, "claude", "PostToolUse", &todos(&world, &format!("s{number}"), &[("A", "pending")]));
    }
    let count = notes_in(&world.store().join("sessions"));
    assert!((60..=64).contains(&count), "{count}");
}
