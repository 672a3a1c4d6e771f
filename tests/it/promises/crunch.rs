//! crunch: checkpoints of an issue, their triggers and retention, and changes outside.
//!
//! | promise | test |
//! |---|---|
//! | the full structure of a checkpoint, kept by import and export | `the_full_checkpoint_structure_is_read_and_written` |
//! | the id: phase, time and hash | `checkpoints_are_stored_with_an_index_and_a_link_to_the_latest` |
//! | stored per issue, with an index and a link to the latest | `checkpoints_are_stored_with_an_index_and_a_link_to_the_latest` |
//! | the index: id, time, trigger, phase and whether it can be resumed, and the total | `checkpoints_are_stored_with_an_index_and_a_link_to_the_latest` |
//! | an index that names missing files or a wrong latest is noticed | `an_index_that_is_wrong_is_noticed` |
//! | the automatic and manual triggers | `checkpoint_triggers_are_recorded` |
//! | Ctrl-C and the end of a session are saved at once | `user_interrupt_is_saved_on_ctrl_c_and_session_end_before_the_session_terminates` |
//! | creation: saved, indexed, old ones cleaned up | `checkpoint_retention_per_type` |
//! | resume from the latest, or from one by its id | `resume_from_checkpoint_latest_or_by_id` |
//! | no checkpoint for an issue is an error | `resume_from_checkpoint_latest_or_by_id` |
//! | what cannot be resumed is blocked, with its warnings | `cannot_resume_is_blocked_with_its_warnings` |
//! | prerequisites are verified | `cannot_resume_is_blocked_with_its_warnings` |
//! | the resume point is the recorded one | `resume_from_checkpoint_latest_or_by_id` |
//! | the graph: status, result and times of each node, batches from what is pending | `restore_graph_state_and_create_batches_from_pending` |
//! | batches of all layers, however nodes and what they depend on are written | `batches_are_regenerated_whatever_form_the_nodes_have` |
//! | retention per type and phase | `checkpoint_retention_per_type` |
//! | milestones are kept for good, also when the work rests | `milestones_are_exported_when_idle_work_is_compressed` |
//! | the configuration file | `configuration_options_in_claude_checkpoint_config_yaml_are_taken_over` |
//! | its settings replace none of ours | `imported_settings_never_overwrite_what_is_set` |
//! | a trigger that is switched off saves nothing, and says so | `a_run_says_that_nothing_was_saved_when_checkpoint_triggers_phase_transition_is_false` |
//! | labels changed: continue with a warning | `issue_labels_changed_since_checkpoint_proceeds_with_warning` |
//! | the state follows the current label | `current_state_label_is_one_label_and_the_others_stay` |
//! | body changed: the person is asked | `issue_body_modified_since_checkpoint_prompts_the_user` |
//! | the snapshot of the issue in a file of that system is compared, and written | `the_issue_snapshot_is_compared_with_the_current_issue` |
//! | how heavy a change is can be set | `the_severity_of_a_changed_fact_is_configurable` |
//! | the snapshot of the issue stays until it is replaced | `facts_are_kept_until_they_are_replaced_or_forgotten` |
//! | secrets in it are not kept | `a_secret_in_a_fact_is_replaced_and_is_no_change` |
//! | the branch is gone: blocked, start fresh | `branch_no_longer_exists_cannot_resume` |
//! | files modified outside: shown, and the person is asked | `files_modified_externally_show_the_diff_and_ask_the_user_to_reconcile` |
//! | the same with a short diff, where the content was kept | `files_modified_externally_show_a_short_diff_of_what_was_kept` |
//! | a checkpoint before each batch, restored on retry, part of progress reports | `orchestrator_creates_checkpoints_before_each_batch_and_reports_progress` |
//! | pending and awaited messages are saved and named | `pending_messages_are_saved_for_retry_and_named_by_resume_and_brief` |
//! | the state of conflicts is captured | `conflict_state_is_captured_for_resolution_resume` |
//! | knowledge entries: injected, captured, no duplicates | `captured_entries_are_tracked_and_duplicate_captures_are_prevented` |
//!
//! | not held | why |
//! |---|---|
//! | the issue is fetched, and its labels are set | the program speaks to no server: `--fact issue=@FILE` brings the issue in, and the holder of the token changes it |
//! | a diff of every file that was modified outside | contents are kept only with `--capture` or `[artifacts] capture`; else `git diff` with the commit of the checkpoint shows it |

use std::io::Read as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::project::World;
use ckpt::{assert_says, export, finding, judged, names};

const DIRECTORY: &str = ".claude/crunch/42/checkpoints";

/// A checkpoint of the other system.
fn foreign() -> Value {
    json!({"checkpoint_id": "CP-implementing-20260130-a3f2", "version": "1.0", "created_at": "2026-01-30T14:00:00Z",
        "issue_number": 42, "session_id": "s-1",
        "workflow_state": {"current_phase": "implementing", "current_state_label": "state:implementing",
            "phase_started_at": "2026-01-30T13:00:00Z", "phase_attempt": 1},
        "issue_snapshot": {"title": "Refresh tokens", "body": "Please", "labels": ["state:implementing", "type:feature"],
            "assignees": [], "branch": null},
        "team_state": {"team_id": "TEAM-1", "members": [{"agent": "orchestrator", "tasks_pending": 1}]},
        "execution_graph": {"graph_id": "GRAPH-1", "completed_batches": [1], "current_batch": 2, "node_states": {
            "spec": {"status": "completed", "result": "spec.md", "completed_at": "2026-01-30T13:30:00Z"},
            "code": {"status": "pending", "depends_on": ["spec"]},
            "tests": {"status": "pending", "depends_on": ["code"]},
            "docs": {"status": "pending", "dependencies": ["spec"]}}},
        "agent_outputs": {"architect": {"create_spec": {"completed_at": "2026-01-30T13:30:00Z",
            "output_summary": "A spec", "output_location": "spec.md"}}},
        "acp_state": {"pending_messages": ["MSG-1"], "awaiting_response": [], "conflicts_in_progress": ["CONF-1"]},
        "knowledge_context": {"injected_entries": ["KE-1"], "captured_entries": [], "pending_captures": []},
        "files_modified": [],
        "recovery_info": {"can_resume": true, "resume_from": "batch_2_task_1", "prerequisites_met": true, "warnings": []}})
}

fn judge_file(file: &Value) -> (World, Value) {
    let world = World::new();
    world.write("spec.md", "x");
    world.write("x.json", file.to_string());
    let answer = world.run(&["resume", "--file", "x.json", "--json"]).document();
    (world, answer)
}

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich"]).succeeds();
    world
}

/// Sends a signal to a command once it has printed `up`, and returns its exit code.
fn interrupt(world: &World, args: &[&str], signal: Signal) -> i32 {
    let mut command = world.ckpt(args).env("PATH", "/usr/bin:/bin").command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut up = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap().code().unwrap()
}

#[test]
fn user_interrupt_is_saved_on_ctrl_c_and_session_end_before_the_session_terminates() {
    for (signal, code, trigger) in
        [(Signal::INT, 130, "user_interrupt"), (Signal::TERM, 143, "session_end"), (Signal::HUP, 129, "session_end")]
    {
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
    assert_eq!(newest(&world)["state"]["knowledge_context"]["captured_entries"], json!(["KE-1", "KE-2", "KE-3"]));
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
    assert!(outcome.stdout.contains("messages   1 pending: MSG-1; 1 awaiting response: MSG-2\n"), "{outcome}");
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

const ISSUE: &str = r#"{"title": "JWT", "body": "First\nSecond", "labels": ["state:enrich", "type:feature"]}"#;

#[test]
fn issue_labels_changed_since_checkpoint_proceeds_with_warning() {
    let world = begun();
    world.write("issue.json", ISSUE);
    world.run(&["save", "42", "--fact", "issue=@issue.json"]).succeeds();
    let now = ISSUE.replace("state:enrich", "state:ready");
    let outcome = world.ckpt(&["resume", "42", "--fact", "issue=-"]).stdin(&now).run().succeeds();
    let message = "the fact issue changed since 42/2 at /labels: added \"state:ready\"; removed \"state:enrich\"";
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
    assert!(shown.stdout.contains("External facts\n  a: ckpt show 42/4 --pointer /facts/0/document\n"), "{shown}");
    let unknown = world.run(&["resume", "42", "--fact", "other=1"]).succeeds();
    assert!(unknown.stdout.contains("the fact other was not recorded"), "{unknown}");
    assert!(unknown.stdout.contains("note       the fact a is as it was recorded; --fact compares it"), "{unknown}");
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

#[test]
fn files_modified_externally_show_a_short_diff_of_what_was_kept() {
    let world = begun();
    world.write("src/tokens.py", "one\ntwo\nthree\n");
    world.run(&["save", "42", "--artifact", "src/tokens.py", "--capture"]).succeeds();
    world.write("src/tokens.py", "one\n2\nthree\n");
    let outcome = world.run(&["resume", "42"]).exits(7);
    let shown = "confirm    src/tokens.py changed since 42/2; look at it before you rely on it\n             @@ -1,3 +1,3 @@\n              one\n             -two\n             +2\n              three\n";
    assert!(outcome.stdout.contains(shown), "{outcome}");
    let answer = judged(&world, "42");
    assert_eq!(answer["findings"][0]["diff"], json!(["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]));
    // To reconcile is to take it as it is, or to bring back what was kept.
    world.run(&["resume", "42", "--restore-artifacts", "--force"]).succeeds();
    assert_eq!(std::fs::read(world.project().join("src/tokens.py")).unwrap(), b"one\ntwo\nthree\n");
}

#[test]
fn the_issue_snapshot_is_compared_with_the_current_issue() {
    let (world, _) = judge_file(&foreign());
    world.run(&["import", "x.json"]).succeeds();
    let judge = |issue: Value| world.run(&["resume", "42", "--fact", &format!("issue={issue}"), "--json"]);
    let now = json!({"title": "Refresh tokens", "body": "Please", "labels": ["state:implementing", "type:feature"],
        "assignees": []});
    assert!(!judge(now.clone()).document()["findings"].to_string().contains("\"fact_changed\""));
    let mut labels = now.clone();
    labels["labels"] = json!(["state:validation", "type:feature"]);
    assert!(
        finding(&judge(labels).document(), "fact_changed")
            .starts_with("advice: the fact issue changed since 42/1 at /labels")
    );
    let mut body = now;
    body["body"] = json!("Never mind");
    assert!(
        finding(&judge(body).exits(7).document(), "fact_changed")
            .starts_with("confirm: the fact issue changed since 42/1 at /body")
    );
    // What is saved here has it too.
    let native = saved();
    native.run(&["save", "42", "--fact", r#"issue={"title": "T", "body": "Please", "assignees": ["kim"]}"#]).succeeds();
    export(&native, "42", "crunch");
    let text = std::fs::read(native.project().join(DIRECTORY).join("latest")).unwrap();
    let snapshot = ckpt_formats::dialects::Document::parse(&text).unwrap().value["issue_snapshot"].clone();
    assert_eq!((&snapshot["title"], &snapshot["body"]), (&json!("Refresh tokens"), &json!("Please")));
    assert_eq!(snapshot["assignees"], json!(["kim"]));
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
    assert!(config.starts_with("[save.triggers] # mine\nagent_complete = true\n\n[retention]\n"), "{config}");
    let again = world.run(&["import", ".claude/checkpoint-config.yaml"]).succeeds();
    assert!(again.stderr.contains("is new to"), "{again}");
    assert_eq!(std::fs::read_to_string(world.store().join("config.toml")).unwrap(), config);
}

#[test]
fn the_full_checkpoint_structure_is_read_and_written() {
    let (world, _) = judge_file(&foreign());
    world.run(&["import", "x.json"]).succeeds();
    world.run(&["export", "42", "--as", "crunch", "-o", "copy/"]).succeeds();
    let text = std::fs::read(world.project().join("copy").join(DIRECTORY).join("latest")).unwrap();
    let mut written = ckpt_formats::dialects::Document::parse(&text).unwrap().value;
    // Every export of a checkpoint has an id of its own.
    written["checkpoint_id"] = foreign()["checkpoint_id"].clone();
    // The results of nodes are not kept apart.
    let mut original = foreign();
    for document in [&mut written, &mut original] {
        document["execution_graph"]["node_states"] = Value::Null;
    }
    assert_says(&written, &original);
    // What is saved here has the same parts, except those that only that system fills.
    let native = saved();
    native.run(&["save", "42", "--task", "a=pending"]).succeeds();
    export(&native, "42", "crunch");
    let newest = std::fs::read(native.project().join(DIRECTORY).join("latest")).unwrap();
    let newest = ckpt_formats::dialects::Document::parse(&newest).unwrap().value;
    for member in [
        "checkpoint_id",
        "version",
        "created_at",
        "issue_number",
        "session_id",
        "workflow_state",
        "issue_snapshot",
        "execution_graph",
        "agent_outputs",
        "files_modified",
        "recovery_info",
    ] {
        assert!(newest.get(member).is_some(), "{member}: {newest}");
    }
    assert_eq!(newest["recovery_info"]["can_resume"], true);
}

fn saved() -> World {
    let world = World::new();
    world.run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich", "--title", "Refresh tokens"]).succeeds();
    world
}

#[test]
fn checkpoints_are_stored_with_an_index_and_a_link_to_the_latest() {
    let world = saved();
    world.run(&["save", "42", "--trigger", "batch_complete"]).succeeds();
    export(&world, "42", "crunch");
    let files = names(&world, DIRECTORY);
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files[0].starts_with("CP-ready-20260130143") && files[0].ends_with(".yaml"), "{files:?}");
    assert_eq!(files[2..], ["index.yaml", "latest"]);
    let text = std::fs::read(world.project().join(DIRECTORY).join("index.yaml")).unwrap();
    let index = ckpt_formats::dialects::Document::parse(&text).unwrap().value;
    assert_eq!((&index["issue_number"], &index["total_checkpoints"]), (&json!(42), &json!(2)));
    let latest = index["latest"].as_str().unwrap();
    let link = std::fs::read_link(world.project().join(DIRECTORY).join("latest")).unwrap();
    assert_eq!(link.to_str().unwrap(), format!("{latest}.yaml"));
    let entry = &index["checkpoints"][1];
    assert_eq!((&entry["checkpoint_id"], &entry["trigger"]), (&json!(latest), &json!("batch_complete")));
    assert_eq!((&entry["phase"], &entry["can_resume"]), (&json!("ready"), &json!(true)));
    assert_eq!(entry["created_at"], "2026-01-30T14:31:00.000Z");
}

#[test]
fn an_index_that_is_wrong_is_noticed() {
    let world = World::new();
    world.write("spec.md", "x");
    let index = json!({"issue_number": 42, "latest": "CP-implementing-20260130-ffff", "total_checkpoints": 2,
        "checkpoints": [
            {"checkpoint_id": "CP-implementing-20260130-a3f2", "created_at": "2026-01-30T14:00:00Z",
                "trigger": "manual", "phase": "implementing", "can_resume": true},
            {"checkpoint_id": "CP-implementing-20260130-ffff", "created_at": "2026-01-30T14:10:00Z",
                "trigger": "manual", "phase": "implementing", "can_resume": true}]});
    world.write(&format!("{DIRECTORY}/index.yaml"), index.to_string());
    world.write(&format!("{DIRECTORY}/CP-implementing-20260130-a3f2.yaml"), foreign().to_string());
    world.run(&["import", DIRECTORY]).succeeds();
    let findings = judged(&world, "42")["findings"].to_string();
    assert!(findings.contains("CP-implementing-20260130-ffff"), "{findings}");
}

#[test]
fn checkpoint_triggers_are_recorded() {
    let world = begun();
    for trigger in [
        "phase_transition",
        "batch_complete",
        "agent_complete",
        "conflict_start",
        "conflict_resolved",
        "user_interrupt",
        "session_end",
        "manual",
    ] {
        world.run(&["save", "42", "--trigger", trigger]).succeeds();
        assert_eq!(newest(&world)["trigger"], trigger);
    }
    world.run(&["done", "42", "--phase", "ready"]).succeeds();
    assert_eq!(newest(&world)["trigger"], "phase_transition");
    world.run(&["save", "42", "--note", "x"]).succeeds();
    assert_eq!(newest(&world)["trigger"], "manual");
}

#[test]
fn resume_from_checkpoint_latest_or_by_id() {
    let world = World::new();
    world.write("spec.md", "x");
    let mut later = foreign();
    later["checkpoint_id"] = json!("CP-validation-20260130-b4c5");
    later["created_at"] = json!("2026-01-30T14:20:00Z");
    later["workflow_state"]["current_phase"] = json!("validation");
    for file in [foreign(), later] {
        let id = file["checkpoint_id"].as_str().unwrap().to_owned();
        world.write(&format!("{DIRECTORY}/{id}.yaml"), file.to_string());
    }
    world.run(&["import", DIRECTORY]).succeeds();
    assert_eq!(world.json(&["resume", "42"])["phase"], "validation");
    for selector in ["CP-implementing-20260130-a3f2", "42/1"] {
        let answer = world.run(&["resume", selector, "--json"]).document();
        assert_eq!((&answer["phase"], &answer["handle"]), (&json!("implementing"), &json!("42/1")), "{selector}");
    }
    assert_eq!(world.json(&["resume", "42"])["action"], "batch_2_task_1");
    world.refuses(&["resume", "43"], 4, "no_such_workflow");
}

#[test]
fn cannot_resume_is_blocked_with_its_warnings() {
    for (member, value) in [
        ("can_resume", json!(false)),
        ("can_resume", json!("no")),
        ("can_resume", json!("off")),
        ("can_resume", json!("false")),
        ("can_resume", json!(0)),
        ("can_resume", json!(null)),
        ("can_resume", json!("perhaps")),
        ("prerequisites_met", json!("false")),
        ("prerequisites_met", json!("no")),
        ("prerequisites_met", json!("off")),
        ("prerequisites_met", json!(0)),
        ("prerequisites_met", json!(null)),
    ] {
        let mut file = foreign();
        file["recovery_info"][member] = value.clone();
        file["recovery_info"]["warnings"] = json!(["The branch is gone"]);
        let (_, answer) = judge_file(&file);
        assert_eq!(answer["verdict"], "blocked", "{member} {value}: {answer}");
        assert!(answer["findings"].to_string().contains("The branch is gone"), "{answer}");
    }
}

#[test]
fn restore_graph_state_and_create_batches_from_pending() {
    let (world, answer) = judge_file(&foreign());
    let tasks = &answer["tasks"];
    assert_eq!((&tasks["done"], &tasks["ready"]), (&json!(["spec"]), &json!(["code", "docs"])));
    assert_eq!(tasks["batches"], json!([["code", "docs"], ["tests"]]));
    world.run(&["import", "x.json"]).succeeds();
    let task = world.stored("42", 1)["tasks"][0].clone();
    assert_eq!((&task["status"], &task["completed_at"]), (&json!("complete"), &json!("2026-01-30T13:30:00.000Z")));
    let graph = &world.json(&["show", "42", "--state"])["checkpoint"]["crunch"]["execution_graph"];
    assert_eq!((&graph["current_batch"], &graph["node_states"]["spec"]["result"]), (&json!(2), &json!("spec.md")));
}

#[test]
fn batches_are_regenerated_whatever_form_the_nodes_have() {
    let states = json!({"a": {"status": "completed"}, "b": {"status": "pending"}, "c": {"status": "pending"}});
    let graphs = [
        json!({"node_states": [{"id": "a", "status": "completed"}, {"node_id": "b", "status": "pending", "depends_on": "a"},
            {"name": "c", "status": "pending", "dependsOn": ["b"]}]}),
        json!({"nodes": [{"id": "a", "status": "completed"}, {"id": "b", "needs": ["a"]}, {"id": "c", "requires": ["b"]}]}),
        json!({"nodes": [{"id": "a"}, {"id": "b", "prerequisites": ["a"]}, {"id": "c", "blocked_by": ["b"]}],
            "node_states": states}),
        json!({"nodes": {"b": {"deps": "a"}, "c": {"after": "a, b"}}, "node_states": states}),
    ];
    for graph in graphs {
        let mut file = foreign();
        file["execution_graph"] = graph.clone();
        let (_, answer) = judge_file(&file);
        let tasks = &answer["tasks"];
        assert_eq!((&tasks["done"], &tasks["batches"]), (&json!(["a"]), &json!([["b"], ["c"]])), "{graph}");
    }
}

#[test]
fn checkpoint_retention_per_type() {
    let world = begun();
    for phase in ["ready", "implementing"] {
        world.run(&["start", "42", "--phase", phase]).succeeds();
        for trigger in ["batch_complete", "agent_complete", "user_interrupt", "manual", "conflict_resolved"] {
            for _ in 0..4 {
                world.run(&["save", "42", "--trigger", trigger]).succeeds();
            }
        }
    }
    world.run(&["cleanup"]).succeeds();
    let rows = world.json(&["log", "42"])["entries"].clone();
    let live = |trigger: &str, phase: &str| {
        let rows = rows.as_array().unwrap().iter();
        rows.filter(|row| row["trigger"] == trigger && row["phase"] == phase && row["archived"] != true).count()
    };
    for (trigger, kept) in [("batch_complete", 3), ("agent_complete", 1), ("manual", 4), ("conflict_resolved", 4)] {
        assert_eq!((live(trigger, "ready"), live(trigger, "implementing")), (kept, kept), "{trigger}: {rows}");
    }
    assert_eq!(live("user_interrupt", "ready") + live("user_interrupt", "implementing"), 1);
    assert_eq!(live("phase_transition", "enrich"), 1, "{rows}");
}

#[test]
fn branch_no_longer_exists_cannot_resume() {
    let world = World::new();
    let git = |args: &str| world.shell(&format!("git -c user.name=k -c user.email=k@x {args}")).succeeds();
    git("init -q -b main");
    git("commit -q --allow-empty -m one");
    git("checkout -q -b feature/42");
    world.run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich"]).succeeds();
    git("checkout -q main");
    let answer = world.json(&["resume", "42"]);
    assert!(finding(&answer, "branch_differs").starts_with("advice: "), "{answer}");
    git("branch -q -D feature/42");
    let answer = world.run(&["resume", "42", "--json"]).exits(7).document();
    assert_eq!(answer["verdict"], "blocked");
    assert!(finding(&answer, "branch_missing").starts_with("blocker: the branch feature/42"), "{answer}");
    let fresh = world.run(&["resume", "42", "--fresh"]).succeeds();
    assert!(fresh.stderr.contains("is a fresh start"), "{fresh}");
}

#[test]
fn orchestrator_creates_checkpoints_before_each_batch_and_reports_progress() {
    let world = begun();
    let tasks = ["--task", "a=pending", "--task", "b=pending", "--task", "c=pending,after=a+b"];
    world.run(&[&["start", "42", "--phase", "ready"], &tasks[..]].concat()).succeeds();
    assert_eq!(world.json(&["resume", "42"])["tasks"]["batches"], json!([["a", "b"], ["c"]]));
    let batch = ["save", "42", "--trigger", "batch_complete", "--task", "a=complete", "--task", "b=failed"];
    world.run(&batch).succeeds();
    let tasks = world.json(&["resume", "42"])["tasks"].clone();
    assert_eq!((&tasks["retry"], &tasks["waiting"]), (&json!(["b"]), &json!(["c"])));
    let status = world.run(&["status", "42"]).succeeds();
    assert!(status.stdout.contains("1 of 3 tasks") && status.stdout.contains("b  failed"), "{status}");
    // A retry begins from the checkpoint before the batch.
    world.run(&["rollback", "42/2"]).succeeds();
    assert_eq!(world.json(&["resume", "42"])["tasks"]["ready"], json!(["a", "b"]));
}

#[test]
fn conflict_state_is_captured_for_resolution_resume() {
    let world = begun();
    let conflict = ["--add", "/acp_state/conflicts_in_progress=\"CONF-1\"", "--trigger", "conflict_start"];
    world.run(&[&["save", "42"], &conflict[..]].concat()).succeeds();
    let context = world.json(&["resume", "42", "--context"]);
    assert_eq!(context["state"]["acp_state"]["conflicts_in_progress"], json!(["CONF-1"]));
}

#[test]
fn milestones_are_exported_when_idle_work_is_compressed() {
    let world = World::new();
    for phase in ["enrich", "ready", "implementing"] {
        world.run(&["save", "42", "--pipeline", "crunch", "--phase", phase]).succeeds();
    }
    export(&world, "42", "crunch");
    let before = names(&world, DIRECTORY);
    assert_eq!(before.len(), 5);
    let cleaned = world.ckpt(&["cleanup", "--yes"]).env("CKPT_NOW", "2026-06-30T00:00:00Z").run().succeeds();
    assert!(cleaned.stdout.contains("Archived 2 checkpoints"), "{cleaned}");
    std::fs::remove_dir_all(world.project().join(DIRECTORY)).unwrap();
    export(&world, "42", "crunch");
    assert_eq!(names(&world, DIRECTORY), before);
}
