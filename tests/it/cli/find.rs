//! Finding a workflow by words, in commands that read.

use serde_json::json;

use crate::support::offered::assert_understood;
use crate::support::project::World;

fn world() -> World {
    let world = World::new();
    world.run(&["save", "042", "--title", "OAuth login", "--phases", "a,b", "--phase", "a"]).succeeds();
    world.run(&["save", "043", "--title", "OAuth logout", "--label", "urgent", "--phase", "a"]).succeeds();
    world.run(&["save", "gate", "--pipeline", "kamiflow"]).succeeds();
    world
}

#[test]
fn one_exact_title_is_taken_whatever_its_case_and_spacing_and_named_on_stderr() {
    let world = world();
    for command in ["resume", "status", "show", "log", "brief"] {
        let outcome = world.run(&[command, "oauth  LOGIN"]).succeeds();
        assert_eq!(outcome.stderr, "Found 042 by \"oauth  LOGIN\"\n", "{command}");
        assert!(outcome.stdout.contains("042"), "{outcome}");
    }
    assert_eq!(world.json(&["resume", "OAuthLogin"])["workflow"], "042");
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    for line in ["diff", "list", "stats", "report -o -", "export --as ckpt -o -"] {
        let words: Vec<&str> = line.split(' ').chain(["oauth  LOGIN"]).collect();
        let outcome = world.run(&words).succeeds();
        assert_eq!(outcome.stderr.lines().next(), Some("Found 042 by \"oauth  LOGIN\""), "{line}");
        assert!(outcome.stdout.contains("042"), "{line}: {outcome}");
        // What is offered for a part of a title is the whole command.
        let offered = world.run(&[&words[..words.len() - 1], &["oauth"]].concat());
        assert_eq!(offered.status.code(), Some(5), "{line}: {offered}");
        assert_understood(&offered.stderr);
    }
}

#[test]
fn commands_that_write_take_ids_only() {
    let world = world();
    world.refuses(&["archive", "OAuth login"], 2, "invalid_id");
    world.refuses(&["approve", "OAuth login"], 2, "invalid_id");
    world.refuses(&["resume", "OAuth login", "--fresh"], 2, "invalid_selector");
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn partial_matches_are_offered_as_commands_and_never_guessed() {
    let world = world();
    for text in ["oauth", "04", "O A"] {
        let failure = world.refuses(&["resume", text], 5, "ambiguous");
        let mut candidates = failure["context"]["candidates"].as_array().unwrap().clone();
        candidates.sort_by_key(ToString::to_string);
        assert_eq!(candidates, [json!("042"), json!("043")], "{text}");
    }
    for (text, id) in [("urgent", "043"), ("logout", "043"), ("kamiflow", "gate"), ("oauth logou", "043")] {
        let failure = world.refuses(&["status", text], 4, "no_such_workflow");
        assert_eq!(failure["context"]["candidates"], json!([id]), "{text}");
        let help = failure["help"][0].as_str().unwrap();
        assert!(help.starts_with(&format!("ckpt status {id}")), "{help}");
        assert_understood(help);
    }
    world.refuses(&["show", "nothing like it"], 2, "invalid_selector");
    world.refuses(&["show", "nothing"], 4, "no_such_workflow");
}

#[test]
fn an_id_wins_over_a_title() {
    let world = world();
    world.run(&["save", "other", "--title", "042"]).succeeds();
    assert_eq!(world.json(&["show", "042"])["handle"], "042/1");
}

#[test]
fn a_list_is_filtered_by_the_same_words() {
    let world = world();
    let ids = |text: &str| {
        let mut ids: Vec<String> = world.json(&["list", "--match", text])["workflows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["workflow"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("oauth LOG"), ["042", "043"]);
    assert_eq!(ids("urgent"), ["043"]);
    assert_eq!(ids("gate"), ["gate"]);
    assert_eq!(ids("nothing"), [""; 0]);
    assert_eq!(world.json(&["list", "--phase", "A"])["workflows"].as_array().unwrap().len(), 2);
}

#[test]
fn the_id_of_an_imported_checkpoint_in_its_own_system_is_a_selector() {
    let world = World::new();
    for (name, completed) in [("20251003_184530", json!([1])), ("20251004_184530", json!([1, 2]))] {
        let id = format!("orchestrate_auth_system_{name}");
        let file = json!({"checkpoint_id": id, "schema_version": "1.0", "workflow_description": "Auth",
            "created_at": format!("{}-{}-{}T18:45:30Z", &name[..4], &name[4..6], &name[6..8]),
            "current_phase": 2, "total_phases": 3, "completed_phases": completed, "status": "in_progress"});
        world.write(&format!(".claude/checkpoints/{id}.json"), file.to_string());
        world.run(&["import", &format!(".claude/checkpoints/{id}.json")]).succeeds();
    }
    let shown = world.json(&["show", "orchestrate_auth_system_20251003_184530"]);
    assert!(shown["handle"].as_str().unwrap().ends_with("/1"), "{shown}");
    let shown = world.json(&["show", "orchestrate_auth_system_20251004_184530"]);
    assert!(shown["handle"].as_str().unwrap().ends_with("/2"), "{shown}");
    world.refuses(&["show", "orchestrate_auth_system_20251005_184530"], 4, "no_such_workflow");
}
