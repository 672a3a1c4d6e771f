//! Compactions, ends, crashes, the gate, and two sessions at once.

use serde_json::{Value, json};

use crate::support::project::World;
use ckpt::{SESSION, assert_silent, hook, payload, phases, silent, start, todos, tool, workflows};

fn begin(world: &World, session: &str, items: &[(&str, &str)]) {
    silent(world, "claude", "PostToolUse", &todos(world, session, items));
}

fn context(world: &World, session: &str, source: &str) -> String {
    let answer = hook(world, "claude", "SessionStart", &payload(world, session, json!({ "source": source }))).stdout;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_compaction_is_preceded_by_a_save_and_followed_by_the_brief_that_names_it() {
    let world = World::new();
    begin(&world, SESSION, &[("A", "in_progress"), ("B", "pending")]);
    silent(&world, "claude", "PreCompact", &payload(&world, SESSION, json!({"trigger": "auto"})));
    silent(&world, "claude", "PreCompact", &payload(&world, SESSION, json!({"trigger": "auto"})));
    assert_eq!(world.numbers("a"), [1, 2], "nothing is new before the second one");
    let stored = world.stored("a", 2);
    assert_eq!((&stored["trigger"], &stored["note"]), (&json!("pre_compact"), &json!("before a compaction (auto)")));
    let text = context(&world, SESSION, "compact");
    assert!(text.starts_with("The context was compacted; a/2 was saved before that.\n"), "{text}");
    assert!(!context(&world, SESSION, "resume").contains("compacted"));
    let summary = "<analysis>hm</analysis><summary>Half of it is done.</summary>";
    silent(
        &world,
        "claude",
        "PostCompact",
        &payload(&world, SESSION, json!({"trigger": "auto", "compact_summary": summary})),
    );
    assert_eq!(world.stored("a", 3)["state"]["compaction"]["summary"], "Half of it is done.");
}

#[test]
fn an_end_is_saved_once_with_its_reason_by_the_session_that_did_the_work() {
    let world = World::new();
    begin(&world, SESSION, &[("A", "in_progress")]);
    silent(&world, "claude", "SessionEnd", &payload(&world, "a visitor", json!({"reason": "other"})));
    assert_eq!(world.numbers("a"), [1], "a session that only looked has nothing to save");
    silent(&world, "claude", "StopFailure", &payload(&world, SESSION, json!({"error": "rate_limit"})));
    silent(&world, "claude", "SessionEnd", &payload(&world, SESSION, json!({"reason": "other"})));
    assert_eq!(world.numbers("a"), [1, 2]);
    let stored = world.stored("a", 2);
    assert_eq!(stored["note"], "the turn ended with an error (rate_limit)");
    assert_eq!(stored["trigger"], "user_interrupt");
    begin(&world, SESSION, &[("A", "completed")]);
    silent(&world, "claude", "SessionEnd", &payload(&world, SESSION, json!({"reason": "other"})));
    assert_eq!(world.numbers("a").len(), 3, "nothing is open");
}

#[test]
fn what_the_agent_saved_by_itself_is_ended_too() {
    for (host, variables) in [
        ("claude", &[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", SESSION)][..]),
        ("codex", &[("CODEX_THREAD_ID", SESSION)][..]),
        ("gemini", &[("GEMINI_CLI", "1")][..]),
    ] {
        let world = World::new();
        let mut saved = world.ckpt(&["start", "042", "--phases", "plan,build", "--phase", "plan"]);
        for (name, value) in variables {
            saved = saved.env(name, value);
        }
        saved.run().succeeds();
        silent(&world, host, "SessionEnd", &payload(&world, SESSION, json!({"reason": "exit"})));
        assert_eq!(world.stored("042", 2)["trigger"], "session_end", "{host}");
        assert_eq!(world.stored("042", 2)["writer"]["session"], SESSION, "{host}");
    }
}

#[test]
fn after_a_crash_the_next_session_gets_the_brief_and_continues_the_same_workflow() {
    let world = World::new();
    begin(&world, "crashed", &[("A", "completed"), ("B", "in_progress"), ("C", "pending")]);
    let text = context(&world, "next", "startup");
    assert!(text.contains("It continues with phase B\n"), "{text}");
    assert!(text.contains("claude-code (session crashed)"), "the other session is named: {text}");
    begin(&world, "next", &[("B", "in_progress"), ("C", "pending")]);
    begin(&world, "next", &[("B", "completed"), ("C", "in_progress")]);
    assert_eq!(workflows(&world), ["a"]);
    assert_eq!(phases(&world, "a"), ["A=complete", "B=complete", "C=in_progress"]);
}

#[test]
fn what_an_earlier_session_planned_is_never_lost_to_the_plan_of_another() {
    let world = World::new();
    begin(&world, "one", &[("A", "completed"), ("B", "in_progress"), ("C", "pending")]);
    silent(&world, "claude", "SessionEnd", &payload(&world, "one", json!({"reason": "other"})));
    begin(&world, "two", &[("X", "in_progress")]);
    assert_eq!(phases(&world, "a"), ["A=complete", "B=skipped", "C=skipped", "X=in_progress"]);
    begin(&world, "two", &[("X", "completed")]);
    assert_eq!(world.json(&["show", "a"])["checkpoint"]["status"], "complete");
}

#[test]
fn two_sessions_at_once_with_different_plans_have_two_workflows() {
    let world = World::new();
    begin(&world, "one", &[("A", "in_progress"), ("B", "pending")]);
    context(&world, "two", "startup");
    begin(&world, "two", &[("X", "in_progress"), ("Y", "pending")]);
    begin(&world, "one", &[("A", "completed"), ("B", "in_progress")]);
    begin(&world, "two", &[("X", "completed"), ("Y", "in_progress")]);
    assert_eq!(phases(&world, "a"), ["A=complete", "B=in_progress"]);
    assert_eq!(phases(&world, "x"), ["X=complete", "Y=in_progress"]);
}

#[test]
fn tasks_that_are_created_at_the_same_time_are_in_one_workflow() {
    let world = World::new();
    let created = |number: usize| {
        let (id, subject) = (number.to_string(), format!("Step {number}"));
        let response = json!({"task": {"id": id, "subject": subject}});
        tool(&world, SESSION, "TaskCreate", json!({"subject": subject}), response)
    };
    let children: Vec<_> = (1..=8).map(|number| start(&world, "claude", "PostToolUse", &created(number))).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    }
    let all = workflows(&world);
    assert_eq!(all.len(), 1, "{all:?}");
    let mut listed = phases(&world, &all[0]);
    listed.sort();
    assert_eq!(listed, (1..=8).map(|number| format!("Step {number}=pending")).collect::<Vec<_>>());
}

#[test]
fn hooks_that_are_killed_at_any_moment_lose_nothing_that_was_there() {
    let world = World::new();
    begin(&world, SESSION, &[("A", "completed"), ("B", "in_progress")]);
    for round in 0..40_u64 {
        let plan =
            todos(&world, SESSION, &[("A", "completed"), ("B", "in_progress"), (&format!("C{round}"), "pending")]);
        let mut child = start(&world, "claude", "PostToolUse", &plan);
        // Of whatever length the start of a process is, some are killed before the save and some after it.
        let spins = round * 20_000;
        std::hint::black_box((0..spins).fold(0_u64, |sum, number| sum ^ number.wrapping_mul(31)));
        let _ = child.kill();
        child.wait().unwrap();
        let listed = phases(&world, "a");
        assert_eq!(listed[..2], ["A=complete", "B=in_progress"], "{round}");
    }
    world.run(&["verify"]).succeeds();
    begin(&world, SESSION, &[("A", "completed"), ("B", "completed")]);
    assert!(phases(&world, "a").starts_with(&["A=complete".to_owned(), "B=complete".to_owned()]));
}

#[test]
fn the_gate_asks_once_about_an_open_phase_and_never_in_a_circle() {
    for (host, event, word) in
        [("claude", "Stop", "block"), ("codex", "Stop", "block"), ("gemini", "AfterAgent", "deny")]
    {
        let world = World::new();
        let plan = |items: &[(&str, &str)]| {
            let steps: Vec<Value> = items
                .iter()
                .map(|(text, status)| json!({"step": text, "description": text, "content": text, "status": status}))
                .collect();
            let (name, event) = match host {
                "claude" => ("TodoWrite", "PostToolUse"),
                "codex" => ("update_plan", "PostToolUse"),
                _ => ("write_todos", "AfterTool"),
            };
            let input = json!({"todos": steps, "plan": steps});
            silent(&world, host, event, &tool(&world, SESSION, name, input, Value::Null));
        };
        let stop = payload(&world, SESSION, json!({"stop_hook_active": false}));
        plan(&[("A", "in_progress"), ("B", "pending")]);
        silent(&world, host, event, &stop);
        world.configure("[agents]\ngate = true\n");
        silent(&world, host, event, &payload(&world, SESSION, json!({"stop_hook_active": true})));
        let asked = hook(&world, host, event, &stop);
        let answer: Value = serde_json::from_str(&asked.stdout).unwrap();
        assert_eq!((asked.status.code(), &answer["decision"]), (Some(0), &json!(word)), "{host}");
        assert!(
            answer["reason"].as_str().unwrap().starts_with("Phase \"A\" of a is recorded as in progress."),
            "{answer}"
        );
        for _ in 0..3 {
            silent(&world, host, event, &stop);
        }
        silent(&world, host, event, &payload(&world, "another", json!({})));
        plan(&[("A", "completed"), ("B", "in_progress")]);
        assert!(hook(&world, host, event, &stop).stdout.contains("Phase \\\"B\\\" of a"), "{host}");
        assert_silent(&hook(&world, host, event, &stop), host);
        // Where it cannot be noted that it was asked, it is not asked.
        let world = World::new();
        world.configure("[agents]\ngate = true\n");
        silent(&world, host, event, &stop);
    }
}
