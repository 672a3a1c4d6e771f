//! `--from`: a save as one JSON document.

use serde_json::{Value, json};

use crate::support::project::{Outcome, World};

fn save_from(world: &World, document: &Value) -> Outcome {
    world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).run()
}

#[test]
fn everything_that_flags_can_say_can_be_said_in_a_document() {
    let world = World::new();
    world.write("spec.md", "hello");
    world
        .run(&[
            "save",
            "flags",
            "--phase",
            "b",
            "--status",
            "failed",
            "--phases",
            "a,b",
            "--title",
            "T",
            "--next",
            "N",
            "--next-phase",
            "a",
            "--data",
            r#"{"x":1}"#,
            "--state",
            r#"{"y":2}"#,
            "--artifact",
            "spec=spec.md",
            "--task",
            "t=running,output=o,after=u+v",
            "--error",
            "E",
            "--note",
            "O",
            "--label",
            "l",
            "--trigger",
            "session_end",
            "--workflow-status",
            "failed",
            "--pin",
        ])
        .succeeds();
    let document = json!({
        "phase": "b", "status": "failed", "phases": ["a", "b"], "title": "T",
        "next": {"phase": "a", "action": "N"}, "data": {"x": 1}, "state": {"y": 2},
        "artifacts": [{"name": "spec", "path": "spec.md"}],
        "tasks": [{"id": "t", "status": "running", "output": "o", "after": ["u", "v"]}],
        "error": "E", "note": "O", "labels": ["l"], "trigger": "session_end", "workflow_status": "failed", "pin": true,
    });
    let at_the_same_time = "2026-01-30T14:30:00Z";
    let from = world.ckpt(&["save", "document", "--from", "-"]).stdin(document.to_string());
    from.env("CKPT_NOW", at_the_same_time).run().succeeds();
    let (mut by_flags, mut by_document) = (world.stored("flags", 1), world.stored("document", 1));
    for stamp in ["workflow", "sha256", "save_id"] {
        by_flags[stamp] = Value::Null;
        by_document[stamp] = Value::Null;
    }
    assert_eq!(by_flags, by_document);
}

#[test]
fn short_forms_are_understood() {
    let world = World::new();
    world.write("a.md", "hello");
    let document = json!({
        "phase": 2, "total": 3, "next": "Continue", "next_phase": 3,
        "artifacts": {"a": "a.md"}, "tasks": {"t": "complete", "u": {"status": "running", "depends_on": ["t"]}},
    });
    save_from(&world, &document).succeeds();
    let stored = world.stored("042", 1);
    assert_eq!(
        (&stored["phase"], &stored["next"]),
        (&json!("2"), &json!({"phase": "3", "action": "Continue", "explicit": true}))
    );
    assert_eq!((&stored["artifacts"][0]["name"], &stored["tasks"][1]["depends_on"]), (&json!("a"), &json!(["t"])));
}

#[test]
fn flags_win_over_the_document() {
    let world = World::new();
    let both = world.ckpt(&["save", "042", "--from", "-", "--phase", "b", "--state", r#"{"x":2}"#]);
    both.stdin(r#"{"phase":"a","title":"T","state":{"x":1,"y":1}}"#).run().succeeds();
    let stored = world.stored("042", 1);
    assert_eq!((&stored["phase"], &stored["title"]), (&json!("b"), &json!("T")));
    assert_eq!(stored["state"], json!({"x": 2, "y": 1}));
}

#[test]
fn a_document_comes_from_a_file_too() {
    let world = World::new();
    world.write("save.json", r#"{"workflow":"inside","phase":"a"}"#);
    assert_eq!(world.json(&["save", "--from", "save.json"])["handle"], "inside/1");
    world.refuses(&["save", "other", "--from", "save.json"], 2, "usage");
    world.refuses(&["save", "--from", "nowhere.json"], 2, "unreadable_input");
}

#[test]
fn falsy_members_of_a_document_are_values() {
    let world = World::new();
    let state = json!({"f": false, "z": 0, "e": "", "n": null});
    save_from(&world, &json!({"phase": "a", "state": state, "data": state})).succeeds();
    let stored = world.stored("042", 1);
    assert_eq!(stored["state"].to_string(), r#"{"f":false,"z":0,"e":"","n":null}"#);
    assert_eq!(stored["phases"][0]["data"], stored["state"]);
}

#[test]
fn what_only_ckpt_may_say_is_ignored_and_said_so() {
    let world = World::new();
    let document = json!({
        "phase": "a", "seq": 99, "saved_at": "1999-01-01T00:00:00Z", "save_id": "mine", "sha256": "0".repeat(64),
        "parent": {"seq": 98}, "writer": {"agent": "forged"},
    });
    let outcome = save_from(&world, &document);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Created the store $TMP/project/.ckpt
    warning: ignored what only ckpt may say: seq, saved_at, save_id, sha256, parent, writer
    warning: nothing says what comes next; `ckpt save 042 --next 'what comes next'` does, or `ckpt done 042` if all is done
    Saved 042/1, a new workflow: phase a complete by default, 1 done.
    --- end
    ");
    let stored = world.stored("042", 1);
    assert_eq!((&stored["seq"], &stored["saved_at"]), (&json!(1), &json!("2026-01-30T14:30:00.000Z")));
    assert_eq!((&stored["parent"], &stored["writer"]["agent"]), (&json!(null), &json!(null)));
    assert_ne!(stored["save_id"], "mine");
}

#[test]
fn unknown_fields_are_kept_through_later_saves() {
    let world = World::new();
    let outcome = save_from(&world, &json!({"phase": "a", "ticket": {"id": 1e2, "x": null}, "zzz": 1}));
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Created the store $TMP/project/.ckpt
    warning: kept fields that ckpt has no use for: ticket, zzz
    warning: nothing says what comes next; `ckpt save 042 --next 'what comes next'` does, or `ckpt done 042` if all is done
    Saved 042/1, a new workflow: phase a complete by default, 1 done.
    --- end
    ");
    save_from(&world, &json!({"zzz": 2})).succeeds();
    let stored = world.stored("042", 2);
    assert_eq!((&stored["zzz"], &stored["ticket"]["x"]), (&json!(2), &json!(null)));
}

#[test]
fn a_whole_checkpoint_goes_round() {
    let world = World::new();
    let flags = ["--phases", "a,b", "--state", r#"{"n":9007199254740993}"#, "--label", "l", "--task", "t=done"];
    world.run(&[&["save", "042", "--phase", "a", "--title", "T"][..], &flags].concat()).succeeds();
    world.run(&["save", "042", "--phase", "b", "--set", "late=true"]).succeeds();
    let raw = world.run(&["show", "042/1", "--raw"]).succeeds().stdout;
    world.ckpt(&["save", "042", "--from", "-"]).stdin(&raw).run().succeeds();
    let (first, third): (Value, Value) = (serde_json::from_str(&raw).unwrap(), world.stored("042", 3));
    for field in ["status", "phase", "next", "title", "pipeline", "phases", "tasks", "artifacts", "state", "trigger"] {
        assert_eq!(first[field], third[field], "{field}");
    }
    assert_eq!(first["labels"], third["labels"]);
    assert_eq!((&third["seq"], &third["parent"]["seq"]), (&json!(3), &json!(2)));
}

#[test]
fn a_whole_checkpoint_can_begin_another_workflow() {
    let world = World::with_checkpoints(1);
    let raw = world.run(&["show", "042", "--raw"]).succeeds().stdout;
    let answer = world.ckpt(&["save", "copy", "--from", "-"]).stdin(&raw).json();
    assert_eq!(answer["handle"], "copy/1");
    assert_eq!(world.ckpt(&["save", "--from", "-"]).stdin(&raw).json()["handle"], "042/2");
}

#[test]
fn everything_that_is_wrong_with_a_document_is_named() {
    let world = World::new();
    let document = json!({
        "phase": ["a"], "status": "great", "next": 7, "trigger": "lunch", "labels": "x", "pin": "yes",
        "tasks": [{"id": "t"}, {"status": "done"}], "artifacts": [{}], "total": 3, "phases": ["a"],
    });
    let refused = world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string());
    let failure = refused.refused(2, "invalid_document");
    let violations = failure["context"]["violations"].as_array().unwrap();
    let pointers: Vec<_> = violations.iter().map(|violation| violation["pointer"].as_str().unwrap()).collect();
    for expected in [
        "/phase",
        "/status",
        "/next",
        "/trigger",
        "/labels",
        "/pin",
        "/tasks/0/status",
        "/artifacts/0/path",
        "/pipeline",
    ] {
        assert!(pointers.contains(&expected), "{expected} in {pointers:?}");
    }
}

#[test]
fn a_document_that_is_no_object_is_refused() {
    for given in ["null", "false", "0", "\"\"", "[]"] {
        let world = World::new();
        world.ckpt(&["save", "042", "--from", "-"]).stdin(given).refused(2, "invalid_document");
    }
}

#[test]
fn a_whole_checkpoint_of_a_newer_format_is_refused() {
    let world = World::with_checkpoints(1);
    let mut document = world.stored("042", 1);
    for version in ["1.1", "2.0", "99.0"] {
        document["version"] = version.into();
        let refused = world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string());
        assert_eq!(refused.refused(6, "format_newer")["context"]["version"], version);
    }
    document["version"] = "abc".into();
    world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).refused(2, "invalid_document");
}
