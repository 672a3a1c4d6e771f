//! The cost of a hook for the agent, in a store with 1,000 open workflows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs::Programs;
use crate::race::{Entrant, Race};
use crate::world::Project;
use crate::{Outcome, report};

const WORKFLOWS: usize = 1_000;
/// The workflow that the plan below begins.
const WORKFLOW: &str = "read-the-grammar";
/// The slowest of a hundred runs takes many runs to tell: so many times more than a median.
const MORE_RUNS: usize = 5;
const HOOK: [&str; 3] = ["hook", "claude", "PostToolUse"];
/// The save that has the same effect as the plan below.
const SAME_SAVE: [&str; 4] = ["save", WORKFLOW, "--phase", "Read the grammar"];
/// The most milliseconds that a hook may take longer than the save that it makes.
const MORE_THAN_A_SAVE: f64 = 0.3;

pub(crate) fn measure(programs: &Programs, data: &Path, rounds: usize) -> Outcome {
    let project = Project::with_others(&data.join(format!("hooks-{WORKFLOWS}")), &programs.ckpt, WORKFLOWS)?;
    let begun = payload(&project, "begun.json", "TodoWrite", &plan("in_progress"))?;
    let done = payload(&project, "done.json", "TodoWrite", &plan("completed"))?;
    let edit = payload(&project, "edit.json", "Write", &json!({"file_path": project.path().join("a.rs")}))?;
    let other = payload(&project, "other.json", "Bash", &json!({"command": "make"}))?;
    for file in [&begun, &edit] {
        let stdin = Stdio::from(fs::File::open(file)?);
        Command::new(&programs.ckpt).args(HOOK).current_dir(project.path()).stdin(stdin).status()?;
    }
    let hook = |file: &Path| Entrant::new(&programs.ckpt, &HOOK, project.path()).stdin(file);
    let empty = || Entrant::new(&programs.empty, &[] as &[&str], project.path());
    for (name, file) in [("the same plan", &begun), ("the same file", &edit), ("another tool", &other)] {
        let race = Race::of_slowest(hook(file), empty(), rounds * MORE_RUNS)?;
        report(&format!("hook, {name}, p99"), &race, Some(2.0));
    }
    let stop = Entrant::new(&programs.ckpt, &["hook", "claude", "Stop"], project.path()).stdin(&other);
    let race = Race::of_slowest(stop, empty(), rounds * MORE_RUNS)?;
    report("hook, the end of a turn, p99", &race, Some(2.0));
    // It is once per session, and tells of all that is open.
    let start = Entrant::new(&programs.ckpt, &["hook", "codex", "SessionStart"], project.path());
    report("hook, the start of a session", &Race::between(start, empty(), rounds)?, None);

    let workflow = project.path().join(".ckpt/workflows").join(WORKFLOW);
    let note = only_note(&project)?;
    let before = (newest(&workflow)?, fs::read(&note)?);
    let remove_newest = || {
        fs::remove_file(newest(&workflow)?)?;
        if newest(&workflow)? == before.0 { Ok(()) } else { Err("more than one save".into()) }
    };
    let changed = hook(&done).undo(|| {
        fs::remove_file(only_note(&project)?)?;
        fs::write(&note, &before.1)?;
        remove_newest()
    });
    let save = Entrant::new(&programs.ckpt, &SAME_SAVE, project.path()).undo(remove_newest);
    let race = Race::between(changed, save, rounds)?;
    report("hook, a changed plan : save", &race, None);
    let more = race.difference();
    let verdict = if more <= MORE_THAN_A_SAVE { "met" } else { "missed" };
    println!("{:<44} {more:>+6.2} ms {:>18}  {MORE_THAN_A_SAVE:<5} {verdict}", "hook, a changed plan - save", "");
    Ok(())
}

fn plan(first: &str) -> Value {
    let item = |text: &str, status: &str| json!({"content": text, "status": status, "activeForm": text});
    json!({"todos": [item("Read the grammar", first), item("Write the lexer", "pending"), item("Test it", "pending")]})
}

fn payload(project: &Project, name: &str, tool: &str, input: &Value) -> Outcome<PathBuf> {
    let payload = json!({
        "session_id": "0b5e55ed-1a2b-4c3d-8e4f-a1b2c3d4e5f6", "cwd": project.path(), "hook_event_name": "PostToolUse",
        "tool_name": tool, "tool_input": input, "tool_response": null,
    });
    let path = project.path().join(name);
    fs::write(&path, payload.to_string())?;
    Ok(path)
}

fn newest(workflow: &Path) -> Outcome<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(workflow)?.map(|entry| Ok(entry?.path())).collect::<Outcome<_>>()?;
    files.sort();
    files.pop().ok_or_else(|| "the plan began no workflow".into())
}

fn only_note(project: &Project) -> Outcome<PathBuf> {
    let entry = fs::read_dir(project.path().join(".ckpt/sessions"))?.next().ok_or("the session was not noted")?;
    Ok(entry?.path())
}
