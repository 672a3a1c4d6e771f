//! The agent's own plan becomes phases, whatever the agent does with it.

use serde_json::{Value, json};

use crate::support::project::World;
use ckpt::{SESSION, hook, payload, phases, silent, todos, tool, words, workflows};

fn write(world: &World, items: &[(&str, &str)]) {
    silent(world, "claude", "PostToolUse", &todos(world, SESSION, items));
}

#[test]
fn a_plan_becomes_phases_and_each_change_of_it_one_checkpoint() {
    let world = World::new();
    write(&world, &[("Plan it", "in_progress"), ("Build it", "pending"), ("Test it", "pending")]);
    assert_eq!(workflows(&world), ["plan-it"]);
    assert_eq!(phases(&world, "plan-it"), ["Plan it=in_progress", "Build it=pending", "Test it=pending"]);
    let stored = world.stored("plan-it", 1);
    assert_eq!((&stored["pipeline"], &stored["trigger"]), (&json!("agent-plan"), &json!("phase_transition")));
    assert_eq!((&stored["writer"]["agent"], &stored["writer"]["session"]), (&json!("claude-code"), &json!(SESSION)));
    assert_eq!(stored["title"], "Plan it; Build it; Test it");
    // The same again, also in other words for the same status, makes no checkpoint.
    write(&world, &[("Plan it", "in_progress"), ("Build it", "pending"), ("Test it", "pending")]);
    write(&world, &[("Plan it", "active"), ("Build it", "todo"), ("Test it", "pending")]);
    assert_eq!(world.numbers("plan-it"), [1]);
    write(&world, &[("Plan it", "completed"), ("Build it", "in_progress"), ("Test it", "pending")]);
    assert_eq!(phases(&world, "plan-it"), ["Plan it=complete", "Build it=in_progress", "Test it=pending"]);
    write(&world, &[("Plan it", "completed"), ("Build it", "completed"), ("Test it", "completed")]);
    assert_eq!(world.json(&["show", "plan-it"])["checkpoint"]["status"], "complete");
    // A list that was cleared says nothing about the work.
    write(&world, &[]);
    assert_eq!(workflows(&world), ["plan-it"]);
}

#[test]
fn a_plan_that_is_reordered_renamed_and_shortened_loses_nothing_that_was_begun() {
    let world = World::new();
    write(&world, &[("A", "completed"), ("B", "in_progress"), ("C", "pending"), ("D", "pending")]);
    write(&world, &[("D", "pending"), ("B2", "in_progress"), ("E, with a comma", "pending")]);
    assert_eq!(
        phases(&world, "a"),
        ["A=complete", "B=skipped", "D=pending", "B2=in_progress", "E with a comma=pending"]
    );
    let newest = *world.numbers("a").last().unwrap();
    assert_eq!(world.stored("a", newest)["phases"][4]["name"], "E, with a comma");
    write(&world, &[("B", "in_progress")]);
    assert_eq!(phases(&world, "a"), ["A=complete", "B2=skipped", "B=in_progress"]);
    let long = "word ".repeat(60);
    write(&world, &[("B", "completed"), ("X", "pending"), ("X", "pending"), (&long, "pending")]);
    let listed = phases(&world, "a");
    assert_eq!(listed[2..5], ["B=complete", "X=pending", "X (2)=pending"]);
    write(&world, &[("B", "completed"), ("X", "completed"), ("X", "in_progress"), (&long, "completed")]);
    let listed = phases(&world, "a");
    assert_eq!(listed[3..5], ["X=complete", "X (2)=in_progress"]);
    assert!(listed[5].ends_with("\u{2026}=complete"), "{listed:?}");
    assert_eq!(listed.len(), 6);
}

#[test]
fn tasks_of_claude_are_known_by_their_ids_and_a_new_session_counts_anew() {
    let world = World::new();
    let create = |session: &str, id: &str, subject: &str| {
        let response = json!({"task": {"id": id, "subject": subject}});
        let created = tool(&world, session, "TaskCreate", json!({"subject": subject}), response);
        silent(&world, "claude", "PostToolUse", &created);
    };
    let update = |session: &str, input: Value| {
        silent(&world, "claude", "PostToolUse", &tool(&world, session, "TaskUpdate", input, Value::Null));
    };
    create("one", "1", "Plan it");
    create("one", "2", "Build it");
    update("one", json!({"taskId": "1", "status": "in_progress"}));
    update("one", json!({"taskId": "1", "status": "completed"}));
    update("one", json!({"taskId": "2", "status": "in_progress", "subject": "Build all of it"}));
    assert_eq!(phases(&world, "plan-it"), ["Plan it=complete", "Build it=in_progress"]);
    assert_eq!(world.stored("plan-it", 5)["phases"][1]["name"], "Build all of it");
    // An id that nobody knows is nothing to go by.
    update("one", json!({"taskId": "99", "status": "completed"}));
    assert_eq!(world.numbers("plan-it"), [1, 2, 3, 4, 5]);
    silent(&world, "claude", "SessionEnd", &payload(&world, "one", json!({"reason": "other"})));

    create("two", "1", "Test it");
    update("two", json!({"taskId": "1", "status": "completed"}));
    create("two", "2", "Build it");
    update("two", json!({"taskId": "2", "status": "deleted"}));
    assert_eq!(workflows(&world), ["plan-it"]);
    assert_eq!(phases(&world, "plan-it"), ["Plan it=complete", "Build it=skipped", "Test it=complete"]);
}

#[test]
fn topics_and_goals_are_phases_too() {
    let world = World::new();
    let topic = |title: &str| {
        let input = json!({"title": title, "summary": "so far so good", "strategic_intent": "go"});
        silent(&world, "gemini", "AfterTool", &tool(&world, "g", "update_topic", input, Value::Null));
    };
    topic("Plan the lexer");
    topic("Build it");
    assert_eq!(phases(&world, "plan-the-lexer"), ["Plan the lexer=complete", "Build it=in_progress"]);
    assert_eq!(world.stored("plan-the-lexer", 2)["note"], "so far so good");

    let world = World::new();
    let codex = |name: &str, input: Value, response: Value| {
        silent(&world, "codex", "PostToolUse", &tool(&world, "c", name, input, response));
    };
    codex(
        "create_goal",
        json!({"objective": "Ship the lexer"}),
        json!({"goal": {"objective": "Ship the lexer", "status": "active"}}),
    );
    assert_eq!(phases(&world, "ship-the-lexer"), ["Ship the lexer=in_progress"]);
    codex("update_plan", json!({"plan": [{"step": "Read", "status": "in_progress"}]}), json!("Plan updated"));
    assert_eq!(phases(&world, "ship-the-lexer"), ["Read=in_progress"]);
    assert_eq!(world.stored("ship-the-lexer", 2)["title"], "Ship the lexer");
}

#[test]
fn in_a_workflow_with_declared_phases_the_plan_becomes_tasks() {
    let world = World::new();
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "build", "--task", "own=running"]).succeeds();
    write(&world, &[("Lexer", "in_progress"), ("Parser, all of it", "pending")]);
    write(&world, &[("Lexer", "completed"), ("Printer", "in_progress")]);
    assert_eq!(phases(&world, "042"), ["plan=pending", "build=in_progress"]);
    let newest = world.stored("042", 3);
    let tasks = ["own=running", "Lexer=complete", "Parser all of it=skipped", "Printer=running"];
    assert_eq!(words(&newest["tasks"]), tasks);
    assert_eq!(newest["tasks"][1]["phase"], "build");
}

#[test]
fn the_workflow_is_the_named_one_the_bound_one_or_the_open_one_of_the_branch() {
    let world = World::new();
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    let plan = todos(&world, "s1", &[("Own", "in_progress")]);
    let named = world.ckpt(&["hook", "claude", "PostToolUse"]).env("CKPT_WORKFLOW", "other");
    named.stdin(plan.to_string()).run().succeeds();
    assert_eq!(workflows(&world), ["042", "other"]);
    // Two are open now, so an unnamed plan begins its own, and the session stays with it.
    silent(&world, "claude", "PostToolUse", &todos(&world, "s2", &[("Third", "in_progress")]));
    world.run(&["done", "042"]).succeeds();
    world.run(&["done", "other"]).succeeds();
    silent(&world, "claude", "PostToolUse", &todos(&world, "s2", &[("Third", "completed"), ("More", "pending")]));
    assert_eq!(workflows(&world), ["042", "other", "third"]);
    // A plan that has nothing to do with a finished one is another workflow.
    silent(&world, "claude", "PostToolUse", &todos(&world, "s2", &[("Third", "completed"), ("More", "completed")]));
    silent(&world, "claude", "PostToolUse", &todos(&world, "s2", &[("Fourth", "pending")]));
    assert_eq!(workflows(&world), ["042", "fourth", "other", "third"]);
    // A name that is taken gets a number.
    silent(&world, "claude", "PostToolUse", &todos(&world, "s2", &[("Fourth", "completed")]));
    silent(&world, "claude", "PostToolUse", &todos(&world, "s3", &[("Other", "pending")]));
    assert_eq!(workflows(&world), ["042", "fourth", "other", "other-2", "third"]);
}

#[test]
fn only_the_open_workflow_of_this_branch_is_joined() {
    let world = World::new();
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    world.write(".git/HEAD", "ref: refs/heads/feature\n");
    world.run(&["start", "043", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    write(&world, &[("Read", "in_progress")]);
    assert_eq!((world.numbers("042").len(), world.numbers("043").len()), (1, 2));
    assert_eq!(workflows(&world), ["042", "043"]);
}

#[test]
fn the_store_is_made_at_the_root_of_the_project_by_a_plan_and_by_nothing_else() {
    let world = World::new();
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    world.write("src/lib/a.rs", "");
    let before = world.tree();
    for event in ["SessionStart", "Stop", "PreCompact", "SessionEnd"] {
        silent(&world, "claude", event, &payload(&world, SESSION, json!({"cwd": world.project().join("src/lib")})));
    }
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    let mut plan = todos(&world, SESSION, &[("A", "pending")]);
    plan["cwd"] = json!(world.project().join("src/lib"));
    silent(&world, "claude", "PostToolUse", &plan);
    assert_eq!(workflows(&world), ["a"]);
    let world = World::new();
    world.configure_user("[save.triggers]\nphase_transition = false\n");
    write(&world, &[("A", "pending")]);
    assert!(!world.store().exists());
}

#[test]
fn the_plan_of_a_subagent_is_its_own_and_secrets_are_replaced() {
    let world = World::new();
    write(&world, &[("A", "in_progress")]);
    let mut plan = todos(&world, SESSION, &[("B", "in_progress")]);
    plan["agent_id"] = json!("a-7");
    silent(&world, "claude", "PostToolUse", &plan);
    assert_eq!(phases(&world, "a"), ["A=in_progress"]);
    let secret = format!("Use ghp_{}", "a1B2".repeat(9));
    write(&world, &[("A", "completed"), (&secret, "pending")]);
    let listed = phases(&world, "a");
    assert!(listed[1].starts_with("Use [REDACTED:") && !listed[1].contains("ghp_a1B2"), "{listed:?}");
}

#[test]
fn a_brief_for_an_agent_whose_plan_is_kept_offers_no_command_for_it() {
    let world = World::new();
    write(&world, &[("A", "completed"), ("B", "in_progress"), ("C", "pending")]);
    let start = payload(&world, "next", json!({"source": "startup"}));
    let answer: Value = serde_json::from_str(&hook(&world, "codex", "SessionStart", &start).stdout).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(
        text.contains("It continues with phase B\n") && text.contains("Done: A\n") && text.contains("Then: C\n"),
        "{text}"
    );
    assert!(!text.contains("ckpt done"), "{text}");
}

#[test]
fn a_brief_that_nobody_asked_for_states_facts_and_commands_nothing() {
    let world = World::new();
    world.run(&["start", "042", "--phases", "plan,build", "--phase", "plan", "--next", "Read it"]).succeeds();
    let start = payload(&world, "next", json!({"source": "startup"}));
    let answer: Value = serde_json::from_str(&hook(&world, "claude", "SessionStart", &start).stdout).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("\nIt continues with phase plan: \"Read it\"\n"), "{text}");
    assert!(text.contains("\nThat it is done is recorded by: ckpt done 042 --phase plan\n"), "{text}");
    assert!(!text.contains("\nContinue") && !text.contains("When done"), "{text}");
}
