//! `--json`: one document on stdout, its format first, valid by the schema of that name.

use serde_json::Value;

use crate::support::project::World;

/// A file of another system.
const FOREIGN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/dialects/generic/phase-objects.json");

/// At least one call of every command that answers.
const ANSWERS: &[(&[&str], &str)] = &[
    (&["init"], "ckpt.init.v1"),
    (&["list"], "ckpt.list.v1"),
    (&["save", "042", "--phase", "a", "--phases", "a,b"], "ckpt.save.v1"),
    (&["save", "042", "--if-changed"], "ckpt.save.v1"),
    (&["start", "042", "--phase", "b"], "ckpt.save.v1"),
    (&["fail", "042", "--phase", "b", "--error", "boom"], "ckpt.save.v1"),
    (&["start", "043", "--phase", "a"], "ckpt.save.v1"),
    (&["done", "043"], "ckpt.save.v1"),
    (&["list"], "ckpt.list.v1"),
    (&["list", "--label", "none"], "ckpt.list.v1"),
    (&["log", "042"], "ckpt.log.v1"),
    (&["show", "042"], "ckpt.show.v1"),
    (&["show", "042", "--state"], "ckpt.show.v1"),
    (&["show", "042", "--pointer", "/next"], "ckpt.show.v1"),
    (&["resume", "042"], "ckpt.resume.v1"),
    (&["resume", "042", "--context"], "ckpt.context.v1"),
    (&["status", "042"], "ckpt.status.v1"),
    (&["brief"], "ckpt.brief.v1"),
    (&["revise", "042", "--from", "a"], "ckpt.save.v1"),
    (&["diff", "042"], "ckpt.diff.v1"),
    (&["fork", "042/1", "--as", "fork"], "ckpt.fork.v1"),
    (&["merge", "fork", "042"], "ckpt.merge.v1"),
    (&["merge", "fork", "042"], "ckpt.merge.v1"),
    (&["log", "042", "--graph"], "ckpt.log.v1"),
    (&["rollback", "042/1"], "ckpt.rollback.v1"),
    (&["approve", "042", "--phase", "a"], "ckpt.save.v1"),
    (&["archive", "042", "--as", "abandoned"], "ckpt.archive.v1"),
    (&["archive", "--list"], "ckpt.archive.v1"),
    (&["list", "--archived"], "ckpt.list.v1"),
    (&["restore", "042"], "ckpt.restore.v1"),
    (&["verify"], "ckpt.verify.v1"),
    (&["cleanup", "--dry-run"], "ckpt.cleanup.v1"),
    (&["cleanup"], "ckpt.cleanup.v1"),
    (&["stats"], "ckpt.stats.v1"),
    (&["stats", "042"], "ckpt.stats.v1"),
    (&["report", "--force"], "ckpt.report.v1"),
    (&["resume", "--file", FOREIGN], "ckpt.resume.v1"),
    (&["import", FOREIGN, "--dry-run"], "ckpt.import.v1"),
    (&["import", FOREIGN], "ckpt.import.v1"),
    (&["import", FOREIGN], "ckpt.import.v1"),
    (&["export", "042", "--as", "claude-plan"], "ckpt.export.v1"),
    (&["export", "042", "--as", "claude-plan", "-o", "-"], "ckpt.text.v1"),
    (&["remote", "show"], "ckpt.remote.v1"),
    (&["pipeline", "list"], "ckpt.pipelines.v1"),
    (&["pipeline", "show", "dotagent"], "ckpt.pipeline.v1"),
    (&["schema"], "ckpt.schema.v1"),
    (&["schema", "--list"], "ckpt.schema.v1"),
    (&["setup", "claude"], "ckpt.setup.v1"),
    (&["setup", "claude", "--remove"], "ckpt.setup.v1"),
    (&["setup", "--check"], "ckpt.setup-check.v1"),
    (&["doctor"], "ckpt.doctor.v1"),
    (&["completions", "bash"], "ckpt.text.v1"),
    (&["man"], "ckpt.text.v1"),
    (&["man", "save"], "ckpt.text.v1"),
];

#[test]
fn every_answer_is_one_valid_document_and_stderr_is_silent() {
    let world = World::new();
    for (args, format) in ANSWERS {
        let outcome = world.run(&[*args, &["--json"]].concat()).succeeds();
        assert_eq!(outcome.document()["format"], *format, "{args:?}");
        assert_eq!(outcome.stderr, "", "{args:?}");
    }
}

#[test]
fn every_command_is_among_the_answers() {
    for command in ckpt::cli::command_tree().get_subcommands() {
        // The stdout of `run` belongs to the command that it runs, `mcp` and `hook` write to the agent, and `ui` does not
        // end. The others need a remote: `sync` has them.
        if ["run", "mcp", "hook", "ui", "push", "pull", "sync"].contains(&command.get_name()) {
            continue;
        }
        assert!(ANSWERS.iter().any(|(args, _)| args[0] == command.get_name()), "{}", command.get_name());
    }
}

#[test]
fn lists_are_arrays_and_never_null() {
    let world = World::new();
    for (args, _) in ANSWERS {
        let document = world.json(args);
        for key in [
            "warnings",
            "done",
            "remaining",
            "redactions",
            "workflows",
            "checkpoints",
            "damaged",
            "violations",
            "schemas",
            "archived",
            "failures",
            "bundles",
            "restored",
            "findings",
            "repaired",
            "imported",
            "unchanged",
            "passed_over",
            "recognised",
            "entries",
            "changes",
            "summary",
        ] {
            if let Some(value) = document.get(key) {
                assert!(value.is_array(), "{key} of {args:?} is {value}");
            }
        }
        assert!(document["warnings"].is_array(), "{args:?} has warnings");
    }
}

#[test]
fn keys_are_snake_case_and_times_are_utc() {
    let world = World::new();
    for (args, _) in ANSWERS.iter().filter(|(args, _)| !matches!(args[0], "schema" | "man" | "completions")) {
        walk(&world.json(args), &mut |key, value| {
            let snake = key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            assert!(snake, "{key} of {args:?}");
            if let Some(time) = value.as_str().filter(|_| key.ends_with("_at")) {
                assert!(time.starts_with("2026-01-30T") && time.ends_with('Z'), "{key} is {time}");
            }
        });
    }
}

fn walk(value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        Value::Object(members) => {
            for (key, member) in members {
                visit(key, member);
                walk(member, visit);
            }
        }
        _ => {}
    }
}

#[test]
fn the_same_flag_works_before_and_behind_the_command() {
    let world = World::with_checkpoints(1);
    let behind = world.run(&["show", "042", "--json"]).succeeds();
    let before = world.run(&["--json", "show", "042"]).succeeds();
    assert_eq!(before.stdout, behind.stdout);
    let store = world.store();
    let elsewhere = world.temp().to_owned();
    for args in [["--store", store.to_str().unwrap(), "list"], ["list", "--store", store.to_str().unwrap()]] {
        assert!(world.ckpt(&args).dir(&elsewhere).run().succeeds().stdout.contains("042/1"));
    }
    assert_eq!(world.run(&["-q", "list"]).stdout, world.run(&["list", "-q"]).stdout);
}
