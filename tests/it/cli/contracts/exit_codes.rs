//! Exit codes are a contract: each error code has one, and the table below is the documented one.

use std::collections::BTreeMap;

use ckpt::cli::ErrorCode;
use serde_json::Value;

use crate::support::project::{World, is_root};

/// Number and name of every exit code.
const DOCUMENTED: [(u8, &str); 13] = [
    (0, "ok"),
    (1, "failure"),
    (2, "usage"),
    (3, "partial"),
    (4, "not found"),
    (5, "ambiguous"),
    (6, "invalid"),
    (7, "not resumable"),
    (8, "conflict"),
    (9, "refused"),
    (10, "store unusable"),
    (11, "unknown"),
    (101, "bug"),
];

#[test]
fn numbers_and_names_are_the_documented_ones() {
    let known: Vec<_> = ckpt::cli::Exit::ALL.iter().map(|exit| (exit.code(), exit.name())).collect();
    assert_eq!(known, DOCUMENTED);
}

/// The exit code of every error code that these commands can answer with and that a test can bring about.
const EXPECTED: &[(&str, u8)] = &[
    ("ambiguous", 5),
    ("archived", 4),
    ("artifact_missing", 2),
    ("artifact_not_a_file", 2),
    ("artifact_outside", 2),
    ("artifact_too_large", 9),
    ("bad_time", 2),
    ("confirmation_needed", 9),
    ("conflict", 8),
    ("damaged", 6),
    ("drops_phase", 2),
    ("foreign_store", 10),
    ("format_newer", 6),
    ("invalid_config", 2),
    ("invalid_data", 6),
    ("invalid_document", 2),
    ("invalid_id", 2),
    ("invalid_json", 2),
    ("invalid_name", 2),
    ("invalid_phases", 2),
    ("invalid_selector", 2),
    ("keep_matches_nothing", 9),
    ("key_reused", 8),
    ("needs_reason", 9),
    ("no_data", 4),
    ("no_phase", 2),
    ("no_store", 4),
    ("no_such_checkpoint", 4),
    ("no_such_command", 4),
    ("no_such_pipeline", 4),
    ("no_such_schema", 4),
    ("no_such_workflow", 4),
    ("no_value", 4),
    ("no_workflow", 2),
    ("not_a_checkpoint", 6),
    ("not_a_store", 10),
    ("not_an_object", 2),
    ("output", 1),
    ("plan_changed", 8),
    ("several_workflows", 2),
    ("source_missing", 4),
    ("source_not_a_file", 2),
    ("source_too_large", 9),
    ("stdin_twice", 2),
    ("store_unusable", 10),
    ("too_long", 2),
    ("too_many", 9),
    ("unknown_phase", 2),
    ("unknown_pipeline", 2),
    ("unknown_trigger", 2),
    ("unreadable_input", 2),
    ("usage", 2),
];

#[test]
fn the_documentation_lists_every_error_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/error-codes.md");
    let text = std::fs::read_to_string(path).unwrap();
    let documented: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |code: &ErrorCode| format!("| `{}` | {} | {} |", code.word(), code.exit().code(), code.meaning());
    assert_eq!(documented, ErrorCode::ALL.iter().map(row).collect::<Vec<_>>());
}

fn observe(seen: &mut BTreeMap<String, u8>, failure: &Value) {
    let code = failure["code"].as_str().unwrap().to_owned();
    let exit = u8::try_from(failure["exit_code"].as_u64().unwrap()).unwrap();
    assert_eq!(*seen.entry(code).or_insert(exit), exit, "one error code has one exit code: {failure}");
}

#[test]
fn each_error_code_has_the_documented_exit_code() {
    let mut seen = BTreeMap::new();
    let world = World::with_checkpoints(2);
    world.configure("[save]\nmax_artifact_size = \"3B\"\n[pipelines.p]\nphases = [{ id = \"a\", data_schema = { required = [\"x\"] } }]\n");
    world.run(&["save", "keyed", "--key", "k"]).succeeds();
    world.run(&["save", "declared", "--phase", "a", "--phases", "a"]).succeeds();
    world.run(&["save", "broken"]).succeeds();
    world.replace_checkpoint("broken", 1, b"x");
    world.run(&["save", "newer"]).succeeds();
    world.forge("newer", 1, |document| document["version"] = "2.0".into());
    world.run(&["save", "tomb"]).succeeds();
    world.run(&["save", "tomb"]).succeeds();
    world.replace_checkpoint("tomb", 1, b"");
    std::fs::create_dir(world.workflow_dir("0042")).unwrap();
    std::fs::copy(world.checkpoint_file("042", 1), world.workflow_dir("0042").join("00000001.json")).unwrap();
    world.write("large.txt", "large");
    world.write("list.json", "[1, 2]");
    world.write("cut.json", "{\"id\": ");
    world.write("a.json", "{\"id\": \"a\", \"next_step\": \"x\"}");
    world.write("b.json", "{\"id\": \"b\", \"next_step\": \"x\"}");
    let huge = std::fs::File::create(world.project().join("huge.json")).unwrap();
    huge.set_len(ckpt_formats::dialects::MAX_SOURCE_BYTES + 1).unwrap();
    let long = "x".repeat(65);
    let calls: &[&[&str]] = &[
        &["show", "42"],
        &["show", "tomb/1"],
        &["save", "042", "--artifact", "nowhere"],
        &["save", "042", "--artifact", "."],
        &["save", "042", "--artifact", "/etc/passwd"],
        &["save", "042", "--artifact", "large.txt"],
        &["save", "042", "--expect", "042/1"],
        &["show", "broken"],
        &["save", "declared", "--phases", "b"],
        &["save", "newer"],
        &["save", "new", "--pipeline", "p", "--phase", "a", "--data", "{}"],
        &["save", "../x"],
        &["save", "042", "--state", "{"],
        &["save", "042", "--label", &long],
        &["save", "042", "--phases", "a,a"],
        &["show", "042~x"],
        &["save", "keyed", "--key", "k", "--note", "n"],
        &["show", "042", "--data"],
        &["save", "new", "--data", "{}"],
        &["show", "042/9"],
        &["archive", "042"],
        &["man", "nothing"],
        &["pipeline", "show", "nothing"],
        &["schema", "nothing"],
        &["show", "nothing"],
        &["show", "042", "--pointer", "/nothing"],
        &["save"],
        &["save", "042", "--state", "[]"],
        &["save", "042", "--state", "@nowhere"],
        &["save", "declared", "--phase", "b"],
        &["save", "042", "--pipeline", "nothing"],
        &["save", "042", "--trigger", "nothing"],
        &["save", "042", "--title", &"x".repeat(1025)],
        &["save", "042", "--total", "10001"],
        &["cleanup", "--purge"],
        &["cleanup", "--expect-plan", "x"],
        &["cleanup", "--keep-trigger", "user_interrupt=1"],
        &["resume", "--file", "nowhere"],
        &["resume", "--file", "."],
        &["resume", "--file", "huge.json"],
        &["resume", "--file", "list.json"],
        &["resume", "--file", "cut.json"],
        &["import", "a.json", "b.json", "--into", "one"],
        &["nonsense"],
    ];
    for args in calls {
        observe(&mut seen, &world.run(&[*args, &["--json"]].concat()).failure());
    }
    let document = world.ckpt(&["save", "042", "--from", "-", "--json"]).stdin("[]");
    observe(&mut seen, &document.run().failure());
    let twice = world.ckpt(&["save", "042", "--state", "-", "--data", "-", "--json"]).stdin("{}");
    observe(&mut seen, &twice.run().failure());
    let lost = world.ckpt(&["list", "--json"]).in_shell("\"$@\" > /dev/full");
    observe(&mut seen, &lost.run().failure());
    observe(&mut seen, &world.ckpt(&["list", "--json"]).env("CKPT_NOW", "x").run().failure());
    observe(&mut seen, &world.ckpt(&["list", "--json"]).dir(world.home()).run().failure());
    observe(&mut seen, &world.ckpt(&["list", "--store", "large.txt", "--json"]).run().failure());
    let nowhere = world.ckpt(&["init", "--store", "a/b/c", "--json"]);
    observe(&mut seen, &nowhere.run().failure());
    world.configure("nonsense");
    observe(&mut seen, &world.run(&["save", "042", "--json"]).failure());
    if is_root() {
        std::os::unix::fs::chown(world.store(), Some(12345), None).unwrap();
        observe(&mut seen, &world.run(&["list", "--json"]).failure());
    } else {
        seen.insert("foreign_store".to_owned(), 10);
    }
    let expected: BTreeMap<_, _> = EXPECTED.iter().map(|(code, exit)| ((*code).to_owned(), *exit)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn every_exit_code_of_an_error_is_documented() {
    for (code, exit) in EXPECTED {
        assert!(DOCUMENTED.iter().any(|(number, _)| number == exit), "{code}");
    }
}

/// The message of `import` for a file that it cannot take, and the exit code if there is no other file.
#[test]
fn each_reason_to_refuse_a_file_has_the_documented_exit_code() {
    let world = World::with_checkpoints(1);
    let work = |id: &str| format!("{{\"id\": \"{id}\", \"completed_steps\": [\"x\"], \"next_step\": \"y\"}}");
    world.write("own.json", work("042"));
    world.write("cut.json", "{");
    world.write("other.json", "{\"name\": \"x\"}");
    world.write("idle.json", "{\"phase\": \"none\"}");
    std::fs::create_dir(world.project().join("empty")).unwrap();
    for (path, exit, code) in [
        ("own.json", 8, "collision"),
        ("cut.json", 6, "damaged"),
        ("other.json", 6, "not_a_checkpoint"),
        ("idle.json", 4, "nothing_to_import"),
        ("nowhere", 4, "source_missing"),
        ("/dev/null", 2, "source_not_a_file"),
    ] {
        world.refuses(&["import", path], exit, code);
    }
    world.ckpt(&["import", "-"]).stdin("{\"next_step\": \"y\"}").refused(2, "no_workflow");
    let both = world.run(&["import", "own.json", "cut.json", "--json"]).exits(3).document();
    assert_eq!(both["failures"][1]["code"], "collision", "{both}");
    world.run(&["import", "empty"]).exits(4);
    world.run(&["import", "own.json", "cut.json"]).exits(3);
}
