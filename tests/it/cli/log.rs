//! `ckpt log`

use serde_json::{Value, json};

use crate::support::project::World;
use crate::support::terminal::Terminal;

/// A workflow with a failure, a rollback and a note, each a minute after the one before.
fn world() -> World {
    let world = World::new();
    let saves: [&[&str]; 6] = [
        &["start", "042", "--phases", "plan,build,test", "--phase", "plan", "--title", "Login"],
        &["done", "042", "--phase", "plan", "--note", "The plan is written", "--set", "n=1"],
        &["start", "042", "--phase", "build", "--task", "a=running", "--task", "b=pending"],
        &["fail", "042", "--phase", "build", "--error", "boom"],
        &["rollback", "042/2", "--note", "Another approach"],
        &["start", "042", "--phase", "build"],
    ];
    for save in saves {
        world.run(save).succeeds();
    }
    world
}

fn entries(answer: &Value, member: &str) -> Vec<Value> {
    answer["entries"].as_array().unwrap().iter().map(|entry| entry[member].clone()).collect()
}

#[test]
fn a_line_per_save_says_what_it_changed() {
    insta::assert_snapshot!(world().run(&["log", "042"]), @r#"
    exit 0
    --- stdout
    CHECKPOINT  SAVED                     AFTER    CHANGED
    042/6       2026-01-30T14:35:00.000Z  +1m 00s  build started
    042/5       2026-01-30T14:34:00.000Z  +1m 00s  rolled back to 042/2  "Another approach"
    042/4       2026-01-30T14:33:00.000Z  +1m 00s  build failed: boom
    042/3       2026-01-30T14:32:00.000Z  +1m 00s  build started, task a started, task b added
    042/2       2026-01-30T14:31:00.000Z  +1m 00s  plan done in 1m 00s, state  "The plan is written"
    042/1       2026-01-30T14:30:00.000Z  -        3 phases, plan started, title
    --- end
    "#);
}

#[test]
fn the_graph_shows_what_a_rollback_left_behind() {
    let world = world();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    insta::assert_snapshot!(world.run(&["log", "042", "--graph"]), @r#"
    exit 0
    --- stdout
         CHECKPOINT  SAVED                     AFTER    CHANGED
    *    042/8       2026-01-30T14:37:00.000Z  +1m 00s  restored
    #    042/7       2026-01-30T14:36:00.000Z  +1m 00s  archived as abandoned
    *    042/6       2026-01-30T14:35:00.000Z  +1m 00s  build started
    *    042/5       2026-01-30T14:34:00.000Z  +1m 00s  rolled back to 042/2  "Another approach"
    | *  042/4       2026-01-30T14:33:00.000Z  +1m 00s  build failed: boom
    | *  042/3       2026-01-30T14:32:00.000Z  +1m 00s  build started, task a started, task b added
    |/
    *    042/2       2026-01-30T14:31:00.000Z  +1m 00s  plan done in 1m 00s, state  "The plan is written"
    *    042/1       2026-01-30T14:30:00.000Z  -        3 phases, plan started, title
    --- end
    "#);
}

#[test]
fn a_program_gets_the_parents_and_the_changes() {
    let answer = world().json(&["log", "042"]);
    assert_eq!(
        entries(&answer, "parents"),
        [json!(["042/5"]), json!(["042/2"]), json!(["042/3"]), json!(["042/2"]), json!(["042/1"]), json!([])]
    );
    assert_eq!(entries(&answer, "trigger")[..2], ["phase_transition", "rollback"]);
    assert_eq!(answer["entries"][1]["copy_of"], "042/2");
    let failed = &answer["entries"][2];
    assert_eq!((&failed["error"], &failed["elapsed_seconds"]), (&json!("boom"), &json!(60)));
    let phase = failed["changes"].as_array().unwrap().iter().find(|change| change["field"] == "phases").unwrap();
    assert_eq!(
        *phase,
        json!({"field": "phases", "name": "build", "change": "changed", "status": "failed", "duration_seconds": null})
    );
    assert_eq!(entries(&answer, "error")[..2], [json!(null), json!(null)], "an error belongs to one save");
}

#[test]
fn archived_checkpoints_are_read_from_their_bundles() {
    let world = world();
    let live = world.json(&["log", "042"]);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let archived = world.json(&["log", "042"]);
    assert_eq!(archived["entries"][0]["kind"], "seal");
    assert_eq!(archived["entries"][0]["archived_as"], "completed");
    assert_eq!(entries(&archived, "changes")[1..], entries(&live, "changes"));
    assert_eq!(entries(&archived, "note")[1..], entries(&live, "note"));
    assert_eq!(entries(&archived, "archived"), [false, true, true, true, true, true, true].map(Value::from));
}

#[test]
fn a_fresh_start_continues_nothing() {
    let world = world();
    let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
    terminal.expect("[r]: ", 1);
    terminal.answer("s\n");
    assert_eq!(terminal.exit().0, 0);
    let answer = world.json(&["log", "042", "-n", "2"]);
    assert_eq!(entries(&answer, "trigger"), ["restart", "archive"]);
    assert_eq!((&answer["entries"][0]["parents"], &answer["entries"][0]["run"]), (&json!([]), &json!(8)));
    assert!(world.run(&["log", "042"]).stdout.contains("started over"));
}

#[test]
fn it_begins_where_it_is_told_and_says_what_is_left_out() {
    let world = world();
    assert_eq!(world.run(&["log", "042/3", "-q"]).succeeds().stdout, "042/3\n042/2\n042/1\n");
    assert_eq!(world.run(&["log", "42~4", "-q", "-n", "1"]).succeeds().stdout, "042/2\n");
    let outcome = world.run(&["log", "042", "-n", "2"]).succeeds();
    assert_eq!(outcome.stderr, "Showing 2 of 6 checkpoints; `--all` shows the rest.\n");
    let answer = world.json(&["log", "042", "-n", "2"]);
    assert_eq!((&answer["truncated"], &answer["total"]), (&json!(true), &json!(6)));
    assert_eq!(entries(&answer, "changes"), entries(&world.json(&["log", "042"]), "changes")[..2]);
    assert_eq!(world.json(&["log", "042", "-n", "6"])["truncated"], false);
    // Without an id, the only unfinished one.
    assert_eq!(world.json(&["log"])["workflow"], "042");
    world.run(&["save", "043"]).succeeds();
    world.refuses(&["log"], 5, "ambiguous");
    world.refuses(&["log", "nothing"], 4, "no_such_workflow");
    world.refuses(&["log", "042/9"], 4, "no_such_checkpoint");
}

#[test]
fn a_trigger_says_which_command_wrote_a_checkpoint() {
    let world = World::with_checkpoints(2);
    world.run(&["rollback", "042/1"]).succeeds();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    let answer = world.json(&["log", "042"]);
    assert_eq!(entries(&answer, "trigger"), ["restore", "archive", "rollback", "phase_transition", "phase_transition"]);
    // They are not for saves and settings.
    world.refuses(&["save", "042", "--trigger", "rollback"], 2, "unknown_trigger");
}

#[test]
fn a_pinned_checkpoint_is_marked() {
    let world = World::with_checkpoints(1);
    world.run(&["save", "042", "--pin"]).succeeds();
    assert!(world.run(&["log", "042"]).stdout.lines().nth(1).unwrap().ends_with("pinned"));
    assert_eq!(entries(&world.json(&["log", "042"]), "pinned"), [true, false].map(Value::from));
}

#[test]
fn an_archived_number_without_a_bundle_is_not_damage() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 1, b"");
    let answer = world.json(&["log", "042"]);
    assert_eq!((&answer["entries"][1]["kind"], &answer["damaged"]), (&json!("deleted"), &json!([])));
    world.refuses(&["show", "042/1"], 4, "archived");
}

#[test]
fn fifty_lines_are_shown_to_a_person() {
    let world = World::with_checkpoints(52);
    let outcome = world.run(&["log", "042"]).succeeds();
    assert_eq!(outcome.stdout.lines().count(), 1 + 50);
    assert_eq!(outcome.stderr, "Showing 50 of 52 checkpoints; `--all` shows the rest.\n");
    assert_eq!(world.run(&["log", "042", "-q"]).succeeds().stdout.lines().count(), 52);
    assert_eq!(world.run(&["log", "042", "--all"]).succeeds().stdout.lines().count(), 1 + 52);
}

#[test]
fn damaged_and_missing_numbers_have_their_lines() {
    let world = World::with_checkpoints(9);
    world.replace_checkpoint("042", 8, b"x");
    for seq in [3, 4, 5] {
        std::fs::remove_file(world.checkpoint_file("042", seq)).unwrap();
    }
    let answer = world.json(&["log", "042"]);
    let lines: Vec<_> = entries(&answer, "handle").into_iter().zip(entries(&answer, "kind")).collect();
    let expected = [
        ("042/9", "checkpoint"),
        ("042/8", "damaged"),
        ("042/7", "checkpoint"),
        ("042/6", "checkpoint"),
        ("042/5", "damaged"),
        ("042/3", "damaged"),
        ("042/2", "checkpoint"),
        ("042/1", "checkpoint"),
    ];
    assert_eq!(lines, expected.map(|(handle, kind)| (json!(handle), json!(kind))));
    assert_eq!(answer["entries"][0]["changes"], json!(null), "what it changed is unknown");
    let codes: Vec<_> = answer["damaged"].as_array().unwrap().iter().map(|file| file["code"].clone()).collect();
    assert_eq!(codes, ["no_checksum", "missing", "missing"]);
    let text = world.run(&["log", "042", "--graph"]).succeeds();
    assert!(text.stdout.contains("!  042/8 ") && text.stdout.contains("\n*  042/1 "), "{text}");
    assert!(text.stdout.contains("!  042/8 ") && text.stderr.contains("damaged: "), "{text}");
}

#[test]
fn a_deleted_range_is_one_line() {
    let world = world();
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    world.run(&["cleanup", "--workflow", "042", "--purge", "--yes"]).succeeds();
    let outcome = world.run(&["log", "042", "--graph"]).succeeds();
    let lines: Vec<_> = outcome.stdout.lines().skip(1).collect();
    assert_eq!(lines.len(), 2, "{outcome}");
    assert!(lines[1].starts_with("~  042/7 ") && lines[1].ends_with("purged, down to 042/1"), "{outcome}");
    let answer = world.json(&["log", "042"]);
    assert_eq!(entries(&answer, "deleted")[1..], vec![json!("purged"); 7]);
}

#[test]
fn a_damaged_bundle_is_reported_for_each_number_in_it() {
    let world = world();
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let bundles = std::fs::read_dir(world.store().join("archive/042")).unwrap();
    for bundle in bundles {
        std::fs::write(bundle.unwrap().path(), "x").unwrap();
    }
    let answer = world.json(&["log", "042", "-n", "3"]);
    assert_eq!(entries(&answer, "kind"), ["seal", "damaged", "damaged"]);
    assert_eq!(answer["damaged"][0]["code"], "not_a_bundle");
}

#[test]
fn hostile_text_is_escaped() {
    let world = World::new();
    let note = "\u{1b}[2J\u{202e}\nfake 042/9";
    world.run(&["save", "042", "--phase", "a\" b", "--note", note]).succeeds();
    let outcome = world.run(&["log", "042", "--graph"]).succeeds();
    assert_eq!(outcome.stdout.lines().count(), 2, "{outcome}");
    assert!(outcome.stdout.contains(r#""\u{1b}[2J\u{202e}\nfake 042/9""#), "{outcome}");
    assert!(!outcome.stdout.contains('\u{1b}'), "{outcome}");
}

#[test]
fn lines_fit_a_narrow_terminal() {
    let world = world();
    for (columns, has_after) in [(60, false), (100, true)] {
        let invocation = world.ckpt(&["log", "042", "--graph"]).env("NO_COLOR", "1");
        let (code, screen) = Terminal::of_size(&invocation, columns, 24).exit();
        assert_eq!(code, 0, "{screen}");
        let longest = screen.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
        assert!(longest <= usize::from(columns), "{longest}:\n{screen}");
        assert_eq!(screen.contains("AFTER"), has_after, "{screen}");
        assert!(screen.contains("minute ago") || screen.contains("minutes ago"), "{screen}");
    }
}
