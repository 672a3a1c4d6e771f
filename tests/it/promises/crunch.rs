//! Checkpoints of an issue: triggers, retention, external changes.

use std::io::Read as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::project::World;

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich"]).succeeds();
    world
}

/// Sends a signal to a command once it has printed `up`, and returns its exit code.
fn interrupt(world: &World, args: &[&str], signal: Signal) -> i32 {
    let mut command = world.ckpt(args).env("PATH", "/usr/bin:/bin").command();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut up = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap().code().unwrap()
}

#[test]
fn user_interrupt_is_saved_on_ctrl_c_and_session_end_before_the_session_terminates() {
    for (signal, code, trigger) in [
        (Signal::INT, 130, "user_interrupt"),
        (Signal::TERM, 143, "session_end"),
        (Signal::HUP, 129, "session_end"),
    ] {
        for (args, seq) in [(&["run", "42", "--phase", "ready"][..], 3), (&["resume", "42"], 2)] {
            let world = begun();
            let args = [args, &["--", "/bin/sh", "-c", "echo up; exec sleep 60"]].concat();
            assert_eq!(interrupt(&world, &args, signal), code, "{signal:?} {args:?}");
            assert_eq!(world.stored("42", seq)["trigger"], trigger, "{signal:?} {args:?}");
        }
    }
}

#[test]
fn a_run_says_that_nothing_was_saved_when_checkpoint_triggers_phase_transition_is_false() {
    let world = begun();
    world.configure("[save.triggers]\nphase_transition = false\n");
    let outcome = world.run(&["run", "42", "--phase", "ready", "--", "/bin/true"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stderr
    Not saved: phase ready complete, exit code 0
    Nothing saved: the trigger phase_transition is switched off in the configuration
    --- end
    ");
    assert_eq!(world.numbers("42"), [1]);
}

fn newest(world: &World) -> serde_json::Value {
    world.stored("42", *world.numbers("42").last().unwrap())
}

#[test]
fn captured_entries_are_tracked_and_duplicate_captures_are_prevented() {
    let world = begun();
    let capture = |entry: &str| ["--add".to_owned(), format!("/knowledge_context/captured_entries={entry}")];
    for entries in [&["\"KE-1\"", "\"KE-2\""][..], &["\"KE-2\"", "\"KE-3\""]] {
        let flags: Vec<String> = entries.iter().flat_map(|entry| capture(entry)).collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        world.run(&[&["save", "42"][..], &flags].concat()).succeeds();
    }
    assert_eq!(
        newest(&world)["state"]["knowledge_context"]["captured_entries"],
        json!(["KE-1", "KE-2", "KE-3"])
    );
    world.run(&["save", "42", "--set", "n=1"]).succeeds();
    let before = world.numbers("42");
    world.refuses(&["save", "42", "--set", "n=2", "--add", "n=1"], 2, "not_an_array");
    assert_eq!(world.numbers("42"), before, "nothing of a refused save is saved");
    let document = r#"{"add": {"/knowledge_context/captured_entries": ["KE-3", "KE-4"]}}"#;
    world.ckpt(&["save", "42", "--from", "-"]).stdin(document).run().succeeds();
    assert_eq!(newest(&world)["state"]["knowledge_context"]["captured_entries"][3], "KE-4");
}

#[test]
fn pending_messages_are_saved_for_retry_and_named_by_resume_and_brief() {
    let world = begun();
    world.run(&["save", "42", "--add", "/acp_state/pending_messages=\"MSG-1\""]).succeeds();
    world.run(&["save", "42", "--add", "/acp_state/awaiting_response=\"MSG-2\""]).succeeds();
    let outcome = world.run(&["resume", "42"]).succeeds();
    assert!(
        outcome.stdout.contains("messages   1 pending: MSG-1; 1 awaiting response: MSG-2\n"),
        "{outcome}"
    );
    let report = world.json(&["resume", "42"]);
    assert_eq!(report["messages"], json!({"pending": ["MSG-1"], "awaiting_response": ["MSG-2"]}));
    let brief = world.run(&["brief", "42"]).succeeds();
    assert!(brief.stdout.contains("Messages to send again: MSG-1\n"), "{brief}");
    assert!(brief.stdout.contains("Messages that wait for an answer: MSG-2\n"), "{brief}");
}

#[test]
fn current_state_label_is_one_label_and_the_others_stay() {
    let world = begun();
    world.run(&["save", "42", "--label", "state:enrich", "--label", "type:feature"]).succeeds();
    world.run(&["save", "42", "--label", "state:ready"]).succeeds();
    assert_eq!(newest(&world)["labels"], json!(["type:feature", "state:ready"]));
    world.run(&["save", "42", "--unlabel", "type:feature"]).succeeds();
    assert_eq!(newest(&world)["labels"], json!(["state:ready"]));
    world.refuses(&["save", "42", "--unlabel", "type:feature"], 2, "unknown_label");
    // Only where the pipeline says so.
    world.run(&["save", "7", "--phases", "a,b", "--label", "state:x", "--label", "state:y"]).succeeds();
    assert_eq!(world.stored("7", 1)["labels"], json!(["state:x", "state:y"]));
    world.configure("[pipelines.mine]\nphases = [\"a\"]\nexclusive_labels = [\"is:\"]\n");
    world.run(&["save", "8", "--pipeline", "mine", "--label", "is:x", "--label", "is:y"]).succeeds();
    assert_eq!(world.stored("8", 1)["labels"], json!(["is:y"]));
}

const ISSUE: &str =
    r#"{"title": "JWT", "body": "First\nSecond", "labels": ["state:enrich", "type:feature"]}"#;

#[test]
fn issue_labels_changed_since_checkpoint_proceeds_with_warning() {
    let world = begun();
    world.write("issue.json", ISSUE);
    world.run(&["save", "42", "--fact", "issue=@issue.json"]).succeeds();
    let now = ISSUE.replace("state:enrich", "state:ready");
    let outcome = world.ckpt(&["resume", "42", "--fact", "issue=-"]).stdin(&now).run().succeeds();
    let message =
        "the fact issue changed since 42/2 at /labels: added \"state:ready\"; removed \"state:enrich\"";
    assert!(outcome.stdout.contains(&format!("warning    {message}\n")), "{outcome}");
    let unchanged = world.ckpt(&["resume", "42", "--fact", "issue=-"]).stdin(ISSUE).run().succeeds();
    assert!(!unchanged.stdout.contains("the fact issue"), "{unchanged}");
}

#[test]
fn issue_body_modified_since_checkpoint_prompts_the_user() {
    let world = begun();
    world.run(&["save", "42", "--fact", &format!("issue={ISSUE}")]).succeeds();
    let now = ISSUE.replace("Second", "Zweitens");
    let outcome = world.run(&["resume", "42", "--fact", &format!("issue={now}"), "--json"]).exits(7);
    let finding = &outcome.document()["findings"][0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("fact_changed"), &json!("confirm")));
    assert_eq!(
        finding["message"],
        "the fact issue changed since 42/2 at /body: line 2 was \"Second\" and is now \"Zweitens\""
    );
}

#[test]
fn the_severity_of_a_changed_fact_is_configurable() {
    let world = begun();
    world.run(&["save", "42", "--fact", &format!("issue={ISSUE}")]).succeeds();
    world.configure("[resume.facts]\n\"issue/body\" = \"ignore\"\n\"issue/title\" = \"blocker\"\n");
    let judge = |now: String| world.run(&["resume", "42", "--fact", &format!("issue={now}"), "--json"]);
    judge(ISSUE.replace("Second", "2")).succeeds();
    assert_eq!(judge(ISSUE.replace("JWT", "JWS")).exits(7).document()["verdict"], "blocked");
    world.configure("[resume.facts]\n\"issue\" = \"fatal\"\n");
    world.refuses(&["resume", "42"], 2, "invalid_config");
}

#[test]
fn facts_are_kept_until_they_are_replaced_or_forgotten() {
    let world = begun();
    world.run(&["save", "42", "--fact", "a={\"n\":1.0}", "--fact", "b=2"]).succeeds();
    world.run(&["save", "42", "--phase", "ready"]).succeeds();
    world.run(&["save", "42", "--fact", "a=3", "--forget-fact", "b"]).succeeds();
    assert_eq!(world.stored("42", 3)["facts"][0]["document"].to_string(), "{\"n\":1.0}");
    assert_eq!(newest(&world)["facts"], json!([{"name": "a", "document": 3}]));
    world.refuses(&["save", "42", "--forget-fact", "b"], 2, "unknown_fact");
    world.refuses(&["save", "42", "--fact", "a/b=1"], 2, "invalid_name");
    let shown = world.run(&["show", "42"]).succeeds();
    assert!(
        shown.stdout.contains("External facts\n  a: ckpt show 42/4 --pointer /facts/0/document\n"),
        "{shown}"
    );
    let unknown = world.run(&["resume", "42", "--fact", "other=1"]).succeeds();
    assert!(unknown.stdout.contains("the fact other was not recorded"), "{unknown}");
    assert!(
        unknown.stdout.contains("note       the fact a is as it was recorded; --fact compares it"),
        "{unknown}"
    );
    world.run(&["verify"]).succeeds();
}

#[test]
fn a_secret_in_a_fact_is_replaced_and_is_no_change() {
    let world = begun();
    let fact = "issue={\"token\": \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"}";
    let outcome = world.run(&["save", "42", "--fact", fact]).succeeds();
    assert!(outcome.stderr.contains("replaced what looks like secrets at /facts/issue/token"), "{outcome}");
    assert!(!newest(&world).to_string().contains("ghp_"));
    let judged = world.run(&["resume", "42", "--fact", fact]).succeeds();
    assert!(!judged.stdout.contains("fact issue changed"), "{judged}");
}

#[test]
fn files_modified_externally_show_the_diff_and_ask_the_user_to_reconcile() {
    let world = begun();
    world.write("src/tokens.py", "one\n");
    world.run(&["save", "42", "--artifact", "src/tokens.py"]).succeeds();
    assert_eq!(newest(&world)["artifacts"][0]["phase"], "enrich", "an artifact remembers its phase");
    world.write("src/tokens.py", "two\n");
    let outcome = world.run(&["resume", "42"]).exits(7);
    assert!(outcome.stdout.contains("confirm    src/tokens.py changed since 42/2"), "{outcome}");
    world.configure("[resume]\nchanged_artifacts = \"advice\"\n");
    world.run(&["resume", "42"]).succeeds();
}

const SETTINGS: &str = "checkpoint:
  enabled: true
  auto_checkpoint: true
  checkpoint_triggers:
    phase_transition: true
    agent_complete: false
  retention:
    batch_complete: 5
    manual: -1
  storage:
    location: \".claude/crunch/{issue}/checkpoints\"
    compress: false
    max_size_mb: 50
";

#[test]
fn configuration_options_in_claude_checkpoint_config_yaml_are_taken_over() {
    let world = World::new();
    world.write(".claude/checkpoint-config.yaml", SETTINGS);
    let preview = world.run(&["import", ".claude/checkpoint-config.yaml", "--dry-run"]).succeeds();
    assert!(preview.stderr.contains("Would add to "), "{preview}");
    assert!(!world.store().exists());
    let outcome = world.run(&["import", ".claude/checkpoint-config.yaml"]).succeeds();
    assert!(outcome.stderr.contains("  save.triggers.agent_complete = false\n"), "{outcome}");
    let saved = world.run(&["save", "42", "--trigger", "agent_complete"]).succeeds();
    assert!(saved.stderr.contains("Nothing saved: the trigger agent_complete is switched off"), "{saved}");
    world.run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich"]).succeeds();
    assert!(world.project().join(".claude/crunch/42/checkpoints").is_dir(), "storage.location");
    let policy = world.json(&["cleanup", "-n"])["policy"].clone();
    assert_eq!(
        (&policy["max_size_bytes"], &policy["trigger_limits"]["batch_complete"]),
        (&json!(50_000_000), &json!(5))
    );
}

#[test]
fn imported_settings_never_overwrite_what_is_set() {
    let world = World::new();
    world.write(".claude/checkpoint-config.yaml", SETTINGS);
    world.configure("[save.triggers] # mine\nagent_complete = true\n");
    let report = world.json(&["import", ".claude/checkpoint-config.yaml"]);
    assert_eq!(report["settings"][0]["kept"], json!(["save.triggers.agent_complete"]), "{report}");
    let config = std::fs::read_to_string(world.store().join("config.toml")).unwrap();
    assert!(config.starts_with("[save.triggers] # mine\nagent_complete = true\n\n[save]\n"), "{config}");
    let again = world.run(&["import", ".claude/checkpoint-config.yaml"]).succeeds();
    assert!(again.stderr.contains("is new to"), "{again}");
    assert_eq!(std::fs::read_to_string(world.store().join("config.toml")).unwrap(), config);
}
