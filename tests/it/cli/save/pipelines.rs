//! Pipelines of the configuration.

use serde_json::json;

use crate::support::project::World;

const SETTINGS: &str = r#"
[pipelines.release]
phases = ["plan", "build"]

[pipelines.careful]
phases = [
  "think",
  { id = "make", name = "Make it", action = "Write the code", approval = true, task_limit = 3,
    outputs = ["out.json", { path = "report.json", schema = { type = "object" } }],
    data_schema = { type = "object", required = ["files"], properties = { files = { type = "integer" } } } },
]
"#;

#[test]
fn the_short_form_declares_ids() {
    let world = World::new();
    world.configure(SETTINGS);
    let answer = world.json(&["save", "042", "--pipeline", "release", "--phase", "plan"]);
    assert_eq!((&answer["done"], &answer["remaining"]), (&json!(["plan"]), &json!(["build"])));
    assert_eq!(world.stored("042", 1)["pipeline"], "release");
}

#[test]
fn the_long_form_is_copied_into_the_checkpoint() {
    let world = World::new();
    world.configure(SETTINGS);
    let answer = world.json(&["save", "042", "--pipeline", "careful", "--phase", "think"]);
    assert_eq!(answer["next"], json!({"phase": "make", "action": "Write the code"}));
    let stored = world.stored("042", 1);
    assert_eq!(
        stored["phases"][1],
        json!({
            "id": "make", "name": "Make it", "status": "pending", "approval": {"required": true},
            "action": "Write the code",
            "outputs": [{"path": "out.json"}, {"path": "report.json", "schema": {"type": "object"}}],
            "task_limit": 3,
        })
    );
}

#[test]
fn the_name_of_a_phase_is_said_with_its_id() {
    let world = World::new();
    world.configure(SETTINGS);
    let outcome = world.run(&["save", "042", "--pipeline", "careful", "--phase", "make", "--data", r#"{"files":1}"#]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Saved 042/1, a new workflow: phase make (Make it) complete by default, 0 of 1 done, 1 skipped by inference. Phase make waits for approval. Approve with: ckpt approve 042
    --- end
    ");
}

#[test]
fn data_must_match_the_schema_of_its_phase() {
    let world = World::new();
    world.configure(SETTINGS);
    let save = ["save", "042", "--pipeline", "careful", "--phase", "make", "--data"];
    let failure = world.refuses(&[&save[..], &[r#"{"files":"twelve"}"#]].concat(), 6, "invalid_data");
    assert_eq!(failure["context"]["violations"][0]["pointer"], "/files");
    world.json(&[&save[..], &[r#"{"files":12}"#]].concat());
}

#[test]
fn a_pipeline_of_the_user_is_known_everywhere_and_the_store_wins() {
    let world = World::new();
    world.configure_user("[pipelines.mine]\nphases = [\"a\"]\n[pipelines.release]\nphases = [\"theirs\"]\n");
    assert_eq!(world.json(&["save", "1", "--pipeline", "mine"])["remaining"], json!(["a"]));
    world.configure(SETTINGS);
    assert_eq!(world.json(&["save", "2", "--pipeline", "release"])["remaining"], json!(["plan", "build"]));
}

#[test]
fn an_unknown_pipeline_is_refused_with_the_known_ones() {
    let world = World::new();
    let failure = world.refuses(&["save", "042", "--pipeline", "release"], 2, "unknown_pipeline");
    let builtin = ["kamiflow", "dotagent", "crunch", "claude-dir", "claude-plan"];
    assert_eq!(failure["context"]["known"], json!(builtin));
    world.configure(SETTINGS);
    let failure = world.refuses(&["save", "042", "--pipeline", "relaese"], 2, "unknown_pipeline");
    assert_eq!(failure["context"]["known"], json!([&["careful", "release"][..], &builtin].concat()));
}

#[test]
fn settings_that_cannot_be_used_are_named_with_their_place() {
    for (settings, words) in [
        ("[pipelines.x]\nphases = []\n", "at least one phase"),
        ("[pipelines.x]\nphases = [\"a\", \"a\"]\n", "listed twice"),
        ("[pipelines.x]\nphases = [3]\n", "line 2"),
        ("[pipelines.x]\nphases = [{ name = \"no id\" }]\n", "line 2"),
        ("[pipelines.custom]\nphases = [\"a\"]\n", "custom"),
        ("[save]\nmax_artifact_size = \"lots\"\n", "line 2"),
        ("[save.triggers]\nlunch = false\n", "lunch"),
        ("[unknown]\n", "unknown"),
        ("not toml", "line 1"),
    ] {
        let world = World::new();
        world.configure(settings);
        let failure = world.refuses(&["save", "042"], 2, "invalid_config");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains("config.toml") && message.contains(words), "{settings}: {message}");
    }
}
