//! `ckpt list`

use serde_json::{Value, json};

use crate::support::project::World;
use crate::support::strace::{calls, strace};
use crate::support::terminal::Terminal;

/// Workflows in several conditions, each saved a minute after the one before it.
fn several() -> World {
    let world = World::new();
    world.configure("[pipelines.release]\nphases = [\"plan\", \"ship\"]\n");
    let saves: [&[&str]; 5] = [
        &["a", "--phase", "plan", "--title", "First", "--label", "x", "--label", "y"],
        &["b", "--phase", "plan", "--pipeline", "release", "--label", "x"],
        &["c", "--phase", "only", "--phases", "only"],
        &["d", "--workflow-status", "failed"],
        &["e", "--workflow-status", "abandoned"],
    ];
    for save in saves {
        world.run(&[&["save"][..], save].concat()).succeeds();
    }
    world
}

fn ids(list: &Value) -> Vec<&str> {
    list["workflows"].as_array().unwrap().iter().map(|row| row["workflow"].as_str().unwrap()).collect()
}

#[test]
fn one_row_per_workflow_newest_activity_first() {
    let world = several();
    world.run(&["save", "b", "--note", "again"]).succeeds();
    let outcome = world.run(&["list"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    NEWEST  STATUS       PHASE  DONE    SAVED                     TITLE  NOTE
    b/2     in progress  plan   1 of 2  2026-01-30T14:35:00.000Z         again
    e/1     abandoned    -      0       2026-01-30T14:34:00.000Z
    d/1     failed       -      0       2026-01-30T14:33:00.000Z
    c/1     complete     only   1 of 1  2026-01-30T14:32:00.000Z
    a/1     in progress  plan   1       2026-01-30T14:30:00.000Z  First
    --- end
    ");
    assert_eq!(world.run(&["ls"]).stdout, outcome.stdout);
}

#[test]
fn with_an_id_it_answers_as_log_does() {
    let world = several();
    for flags in [&["b"][..], &["b", "--json"], &["b", "-q", "-n", "1"], &["b/1"]] {
        let expected = world.run(&[&["log"][..], flags].concat()).succeeds();
        assert_eq!(world.run(&[&["list"][..], flags].concat()).to_string(), expected.to_string(), "{flags:?}");
    }
    world.refuses(&["list", "b", "--archived"], 2, "usage");
}

#[test]
fn a_row_for_programs_says_everything_a_person_sees() {
    let world = several();
    let row = world.json(&["list", "--pipeline", "release"])["workflows"][0].clone();
    let size = std::fs::metadata(world.checkpoint_file("b", 1)).unwrap().len();
    assert_eq!(
        row,
        json!({
            "archived": false, "deleted": null, "workflow": "b", "title": null, "status": "in_progress", "handle": "b/1", "phase": "plan", "done": 1,
            "total": 2, "saved_at": "2026-01-30T14:31:00.000Z", "checkpoints": 1, "bytes": size,
            "pipeline": "release", "labels": ["x"], "archived_bytes": null, "note": null, "failed": [],
        })
    );
}

#[test]
fn filters_choose_rows() {
    let world = several();
    let cases: [(&[&str], &[&str]); 14] = [
        (&[], &["e", "d", "c", "b", "a"]),
        (&["--status", "in_progress"], &["b", "a"]),
        (&["--status", "complete"], &["c"]),
        (&["--status", "failed", "--status", "abandoned"], &["e", "d"]),
        (&["--phase", "plan"], &["b", "a"]),
        (&["--phase", "nope"], &[]),
        (&["--label", "x"], &["b", "a"]),
        (&["--label", "x", "--label", "y"], &["a"]),
        (&["--pipeline", "release"], &["b"]),
        (&["--pipeline", "custom"], &["c"]),
        (&["--newer-than", "120s"], &["e", "d"]),
        (&["--older-than", "2min"], &["c", "b", "a"]),
        (&["--older-than", "2min", "--newer-than", "4min"], &["c", "b"]),
        (&["--status", "in_progress", "--label", "y", "--phase", "plan"], &["a"]),
    ];
    for (filter, expected) in cases {
        let list = world.ckpt(&[&["list"][..], filter].concat()).env("CKPT_NOW", "2026-01-30T14:35:00Z").json();
        assert_eq!(ids(&list), expected, "{filter:?}");
    }
}

#[test]
fn spans_that_could_mean_two_things_are_refused() {
    let world = several();
    for span in ["", "7", "5m", "-1d", "1.5h", "1month", "2y", "1d1d", "99999999999999999999d"] {
        world.refuses(&["list", &format!("--older-than={span}")], 2, "usage");
    }
}

#[test]
fn no_match_is_said_and_is_no_failure() {
    let outcome = several().run(&["list", "--label", "nope"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stderr
    No workflow matches; `ckpt list` shows 5 workflows.
    --- end
    ");
}

#[test]
fn nothing_yet_is_told_from_nothing_left() {
    let world = World::new();
    world.run(&["init"]).succeeds();
    let begin = "No workflows yet. `ckpt start demo --phases plan,build,test --phase plan` begins one.\n";
    let remarks = |args: &[&str]| world.run(args).succeeds().stderr;
    assert_eq!(remarks(&["list"]), begin);
    assert_eq!(remarks(&["list", "--label", "x"]), begin);
    assert_eq!(remarks(&["list", "--archived"]), "No archived workflows.\n");
    world.run(&["save", "a", "--workflow-status", "failed"]).succeeds();
    world.run(&["archive", "a"]).succeeds();
    let rest = "1 archived workflow not shown; `--archived` shows it.\n";
    assert_eq!(remarks(&["list"]), format!("No live workflows.\n{rest}"));
    assert_eq!(remarks(&["list", "--label", "x"]), format!("No live workflows.\n{rest}"));
    let no_match = "No workflow matches; `ckpt list --archived` shows 1 workflow.\n";
    assert_eq!(remarks(&["list", "--archived", "--label", "x"]), no_match);
}

#[test]
fn a_failed_phase_is_shown_as_failed() {
    let world = World::new();
    world.run(&["save", "a", "--phases", "plan,build,test", "--phase", "plan", "--note", "ready"]).succeeds();
    world.run(&["fail", "a", "--phase", "build", "--error", "boom"]).succeeds();
    assert!(world.run(&["list"]).stdout.contains("a/2     in progress  build failed  1 of 3 "));
    world.run(&["start", "a", "--phase", "test"]).succeeds();
    assert!(world.run(&["list"]).stdout.contains("  test (build failed)  "));
    world.run(&["fail", "a", "--phase", "test", "--error", "boom"]).succeeds();
    assert!(world.run(&["list"]).stdout.contains("  test (2 phases failed)  "));
    assert_eq!(world.json(&["list"])["workflows"][0]["failed"], json!(["build", "test"]));
}

#[test]
fn notes_are_shown_with_the_save_they_belong_to() {
    let world = several();
    assert!(!world.run(&["list"]).stdout.contains("NOTE"), "no column for nothing");
    world.run(&["save", "b", "--note", "half\nway"]).succeeds();
    let stdout = world.run(&["list"]).succeeds().stdout;
    assert!(stdout.lines().next().unwrap().ends_with("TITLE  NOTE"), "{stdout}");
    assert!(stdout.lines().nth(1).unwrap().ends_with("half\\nway"), "{stdout}");
    world.run(&["save", "b"]).succeeds();
    assert_eq!(world.json(&["list", "--pipeline", "release"])["workflows"][0]["note"], json!(null));
}

#[test]
fn archived_rows_have_their_sizes() {
    let world = World::with_checkpoints(3);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let bundles: u64 = std::fs::read_dir(world.store().join("archive/042"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["archived_bytes"], bundles);
    let text = world.run(&["list", "--archived"]).succeeds().stdout;
    assert!(text.lines().next().unwrap().contains("  SIZE"), "{text}");
}

#[test]
fn settings_that_cannot_be_used_are_reported() {
    let world = several();
    world.configure("[save\n");
    for args in [&["list"][..], &["log", "b"], &["list", "-q"]] {
        let outcome = world.run(args).succeeds();
        assert!(outcome.stderr.contains("warning: the settings cannot be used: "), "{outcome}");
        assert!(outcome.stderr.contains("config.toml"), "{outcome}");
    }
    let answer = world.json(&["list"]);
    assert_eq!((ids(&answer).len(), answer["warnings"].as_array().unwrap().len()), (5, 1));
}

#[test]
fn sixty_columns_are_enough() {
    let world = World::new();
    let title = "A title that is much too long for a terminal of sixty columns";
    let id = "auth-refactor-2026";
    world.run(&["save", id, "--phases", "requirements,build", "--phase", "requirements", "--title", title]).succeeds();
    world.run(&["fail", id, "--phase", "build", "--error", "boom", "--note", "a note that is long as well"]).succeeds();
    for args in [&["list"][..], &["log", id]] {
        let invocation = world.ckpt(args).env("CKPT_NOW", "2026-01-30T15:15:00Z").env("NO_COLOR", "1");
        let (code, screen) = Terminal::of_size(&invocation, 60, 24).exit();
        assert_eq!(code, 0, "{screen}");
        for line in screen.lines().map(str::trim_end) {
            assert!(line.chars().count() <= 60, "{screen}");
        }
        assert!(screen.contains("44 minutes ago") && screen.contains(&format!("{id}/2")), "{screen}");
    }
}

#[test]
fn without_a_store_there_is_nothing_to_list() {
    let outcome = World::new().run(&["list"]);
    insta::assert_snapshot!(outcome, @"
    exit 4
    --- stderr
    error: no store found in `$TMP/project` or above
      help: `ckpt init` creates a store here, and so does the first save
      help: `--store DIR` or `CKPT_STORE` names one elsewhere
    --- end
    ");
}

#[test]
fn fifty_rows_are_shown_and_the_cut_is_announced() {
    let world = World::new();
    for number in 1..=52 {
        world.run(&["save", &format!("w{number}")]).succeeds();
    }
    let outcome = world.run(&["list"]).succeeds();
    assert_eq!(outcome.stdout.lines().count(), 1 + 50);
    assert_eq!(outcome.stderr, "Showing 50 of 52 workflows; `--all` shows the rest.\n");
    let answer = world.json(&["list"]);
    assert_eq!((&answer["total"], &answer["truncated"]), (&json!(52), &json!(false)), "a program gets all");
    assert_eq!((ids(&answer).len(), ids(&answer)[0]), (52, "w52"));
    for (flags, rows, truncated) in
        [(&["--all"][..], 52, false), (&["-n", "3"], 3, true), (&["--limit", "52"], 52, false)]
    {
        let answer = world.json(&[&["list"][..], flags].concat());
        assert_eq!((ids(&answer).len(), &answer["truncated"]), (rows, &json!(truncated)), "{flags:?}");
    }
    world.refuses(&["list", "-n", "3", "--all"], 2, "usage");
    // A script that goes through the ids gets all of them, unless it says how many it wants.
    for (flags, rows) in [(&["-q"][..], 52), (&["-q", "-n", "3"], 3), (&["--quiet", "--all"], 52)] {
        let outcome = world.run(&[&["list"][..], flags].concat()).succeeds();
        assert_eq!((outcome.stdout.lines().count(), outcome.stderr.as_str()), (rows, ""), "{flags:?}");
    }
}

#[test]
fn damage_is_shown_first_and_never_hidden() {
    let world = several();
    world.replace_checkpoint("b", 1, b"not a checkpoint");
    let outcome = world.run(&["list"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    NEWEST  STATUS       PHASE  DONE    SAVED                     TITLE
    b/1     damaged      -      -       -
    e/1     abandoned    -      0       2026-01-30T14:34:00.000Z
    d/1     failed       -      0       2026-01-30T14:33:00.000Z
    c/1     complete     only   1 of 1  2026-01-30T14:32:00.000Z
    a/1     in progress  plan   1       2026-01-30T14:30:00.000Z  First
    --- stderr
    damaged: $TMP/project/.ckpt/workflows/b/00000001.json is not a checkpoint file: its checksum line is missing
    --- end
    ");
    let answer = world.json(&["list", "--status", "complete", "-n", "1"]);
    assert_eq!(ids(&answer), ["b"], "no filter and no limit hides it");
    assert_eq!(answer["workflows"][0]["status"], "damaged");
    assert_eq!(answer["damaged"][0]["code"], "no_checksum");
    assert_eq!(answer["damaged"][0]["path"], world.checkpoint_file("b", 1).to_str().unwrap());
}

#[test]
fn what_is_not_a_workflow_is_none() {
    let world = World::with_checkpoints(1);
    for name in [".hidden", "Upper", "a b", "con"] {
        std::fs::create_dir(world.store().join("workflows").join(name)).unwrap();
    }
    std::fs::create_dir(world.store().join("workflows/empty")).unwrap();
    world.write(".ckpt/workflows/042/7.json", "{}");
    world.write(".ckpt/workflows/042/notes.txt", "{}");
    let answer = world.json(&["list"]);
    assert_eq!((ids(&answer), &answer["damaged"]), (vec!["042"], &json!([])));
    assert_eq!(answer["workflows"][0]["checkpoints"], 1);
}

#[test]
fn a_small_store_is_listed_by_reading_every_head_once() {
    let Some(strace) = strace() else { return };
    let world = several();
    let opened = |args: &[&str]| {
        let is_head = |line: &str| line.contains("openat(") && line.contains("\"00000001.json\"");
        calls(&strace, &world, args).iter().filter(|call| is_head(&call.line)).count()
    };
    for command in ["list", "brief"] {
        assert_eq!(opened(&[command]), 5, "{command}");
    }
}
