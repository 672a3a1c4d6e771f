//! `ckpt hook`: what hosts send, what they are answered, and what is in the store afterwards.

mod edits;
mod leases;
mod mutations;
mod plans;
mod sessions;
mod shapes;
mod waiting;

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::project::{Outcome, World};

/// The session of a payload that names no other.
const SESSION: &str = "0b5e55ed-1a2b-4c3d-8e4f-a1b2c3d4e5f6";

/// Runs a hook with a payload.
fn hook(world: &World, host: &str, event: &str, payload: &Value) -> Outcome {
    world.ckpt(&["hook", host, event]).stdin(payload.to_string()).run()
}

/// Runs a hook that must be silent.
fn silent(world: &World, host: &str, event: &str, payload: &Value) {
    assert_silent(&hook(world, host, event, payload), &format!("{host} {event}: {payload}"));
}

/// Asserts that a hook succeeded and printed nothing.
fn assert_silent(outcome: &Outcome, context: &str) {
    let said = (outcome.status.code(), outcome.stdout.as_str(), outcome.stderr.as_str());
    assert_eq!(said, (Some(0), "", ""), "{context}");
}

/// A payload of a session in the project of a world, with more members.
fn payload(world: &World, session: &str, members: Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": world.project()});
    if let Value::Object(members) = members {
        members.into_iter().for_each(|(name, value)| payload[name] = value);
    }
    payload
}

/// The use of a tool.
fn tool(world: &World, session: &str, name: &str, input: Value, response: Value) -> Value {
    let mut members = json!({ "tool_name": name });
    (members["tool_input"], members["tool_response"]) = (input, response);
    payload(world, session, members)
}

/// A whole plan in the words of Claude's `TodoWrite`.
fn todos(world: &World, session: &str, items: &[(&str, &str)]) -> Value {
    let item = |(text, status): &(&str, &str)| json!({"content": text, "status": status, "activeForm": text});
    let todos: Vec<Value> = items.iter().map(item).collect();
    tool(world, session, "TodoWrite", json!({ "todos": todos }), Value::Null)
}

/// The phases of the newest checkpoint of a workflow: `plan=complete`.
fn phases(world: &World, workflow: &str) -> Vec<String> {
    let newest = *world.numbers(workflow).last().expect("the workflow has checkpoints");
    words(&world.stored(workflow, newest)["phases"])
}

fn words(list: &Value) -> Vec<String> {
    let word = |entry: &Value| format!("{}={}", entry["id"].as_str().unwrap(), entry["status"].as_str().unwrap());
    list.as_array().unwrap().iter().map(word).collect()
}

/// The directories of all workflows.
fn workflows(world: &World) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(world.store().join("workflows")) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts a hook and does not wait for it.
fn start(world: &World, host: &str, event: &str, payload: &Value) -> std::process::Child {
    use std::io::Write as _;
    let mut child = std::process::Command::new(crate::support::program::CKPT.as_str())
        .args(["hook", host, event])
        .env_clear()
        .env("HOME", world.home())
        .current_dir(world.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook that was killed does not read.
    let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
    child
}
