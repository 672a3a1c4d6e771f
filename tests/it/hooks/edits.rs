//! Edited files: a hundred edits are not a hundred checkpoints, and a resume says what changed since.

use serde_json::{Value, json};

use crate::support::project::World;
use ckpt::{SESSION, payload, silent, todos, tool, workflows};

fn edit(world: &World, path: &str) {
    world.write(path, format!("content of {path}"));
    let input = json!({"file_path": world.project().join(path), "content": "x"});
    silent(world, "claude", "PostToolUse", &tool(world, SESSION, "Write", input, Value::Null));
}

fn touched(world: &World, workflow: &str) -> Vec<String> {
    let newest = *world.numbers(workflow).last().unwrap();
    let stored = world.stored(workflow, newest);
    let Some(files) = stored["context"]["touched"].as_array() else { return Vec::new() };
    files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn edited_files_are_recorded_with_the_next_save_and_compared_by_a_resume() {
    let world = World::new();
    edit(&world, "early.rs");
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "in_progress"), ("B", "pending")]));
    edit(&world, "src/a.rs");
    edit(&world, "src/b.rs");
    edit(&world, "src/a.rs");
    assert_eq!((world.numbers("a"), touched(&world, "a")), (vec![1], vec![]));
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "completed"), ("B", "in_progress")]));
    assert_eq!(touched(&world, "a"), ["src/a.rs", "src/b.rs"]);
    edit(&world, "src/c.rs");
    silent(&world, "claude", "SessionEnd", &payload(&world, SESSION, json!({"reason": "other"})));
    assert_eq!((world.numbers("a").len(), touched(&world, "a").len()), (3, 3));
    assert_eq!(world.json(&["resume", "a"])["findings"], json!([]));
    world.write("src/b.rs", "another");
    std::fs::remove_file(world.project().join("src/c.rs")).unwrap();
    let findings = world.json(&["resume", "a"])["findings"].clone();
    assert_eq!(findings.as_array().unwrap().len(), 1, "{findings}");
    assert_eq!((&findings[0]["code"], &findings[0]["severity"]), (&json!("touched_changed"), &json!("advice")));
    assert!(findings[0]["message"].as_str().unwrap().ends_with("look at them: src/b.rs, src/c.rs"), "{findings}");
}

#[test]
fn a_hundred_edits_are_two_checkpoints() {
    let world = World::new();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "in_progress")]));
    for number in 0..100 {
        edit(&world, &format!("src/{number}.rs"));
    }
    assert_eq!(world.numbers("a"), [1, 2, 3]);
    assert_eq!(touched(&world, "a").len(), 100);
}

#[test]
fn files_outside_of_the_project_and_of_no_workflow_are_not_remembered() {
    let world = World::new();
    edit(&world, "a.rs");
    assert!(!world.store().exists());
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "in_progress")]));
    for path in ["/etc/hosts", "../outside", ".ckpt/config.toml", ".git/config"] {
        let input = json!({"file_path": path});
        silent(&world, "claude", "PostToolUse", &tool(&world, SESSION, "Edit", input, Value::Null));
    }
    silent(&world, "claude", "SessionEnd", &payload(&world, SESSION, json!({})));
    assert_eq!(touched(&world, "a"), Vec::<String>::new());
}

#[test]
fn files_that_no_trigger_records_wait_for_the_next_save() {
    let world = World::new();
    world.configure("[save.triggers]\nagent_complete = false\n");
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "in_progress")]));
    for number in 0..60 {
        edit(&world, &format!("src/{number}.rs"));
    }
    assert_eq!(world.numbers("a"), [1]);
    silent(&world, "claude", "SessionEnd", &payload(&world, SESSION, json!({"reason": "other"})));
    assert_eq!((world.numbers("a").len(), touched(&world, "a").len()), (2, 60));
}

#[test]
fn edits_after_the_end_of_a_workflow_do_not_make_the_session_forget_it() {
    let world = World::new();
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "completed")]));
    for number in 0..100 {
        let path = format!("{}{number}.rs", "directory/".repeat(350));
        let input = json!({ "file_path": path });
        silent(&world, "claude", "PostToolUse", &tool(&world, SESSION, "Edit", input, Value::Null));
    }
    let plan = todos(&world, SESSION, &[("A", "completed"), ("B", "in_progress")]);
    silent(&world, "claude", "PostToolUse", &plan);
    assert_eq!(workflows(&world), ["a"]);
    let files = touched(&world, "a");
    assert!(files.last().is_some_and(|file| file.ends_with("/99.rs")), "the newest stay: {}", files.len());
}
