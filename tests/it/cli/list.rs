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
fn one_row_per_checkpoint_newest_first() {
    let world = several();
    world.run(&["save", "b", "--phase", "ship", "--pin"]).succeeds();
    let answer = world.json(&["list", "b"]);
    let handles: Vec<_> =
        answer["checkpoints"].as_array().unwrap().iter().map(|row| &row["handle"]).collect();
    assert_eq!(handles, ["b/2", "b/1"]);
    let size = std::fs::metadata(world.checkpoint_file("b", 2)).unwrap().len();
    assert_eq!(
        answer["checkpoints"][0],
        json!({
            "handle": "b/2", "phase": "ship", "trigger": "phase_transition", "status": "complete",
            "saved_at": "2026-01-30T14:35:00.000Z", "bytes": size, "archived": false, "deleted": null, "pinned": true,
            "done": 2, "note": null, "failed": [],
        })
    );
    let stdout = world.run(&["list", "b"]).succeeds().stdout;
    let mut lines = stdout.lines();
    assert_eq!(
        lines.next().unwrap().split_whitespace().collect::<Vec<_>>(),
        ["CHECKPOINT", "STATUS", "PHASE", "TRIGGER", "SIZE", "SAVED"]
    );
    assert!(lines.next().unwrap().starts_with("b/2"));
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
        let list =
            world.ckpt(&[&["list"][..], filter].concat()).env("CKPT_NOW", "2026-01-30T14:35:00Z").json();
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
    assert!(
        world.run(&["list", "a"]).stdout.contains("a/2         in progress  build failed  phase_transition ")
    );
    world.run(&["start", "a", "--phase", "test"]).succeeds();
    assert!(world.run(&["list"]).stdout.contains("  test (build failed)  "));
    world.run(&["fail", "a", "--phase", "test", "--error", "boom"]).succeeds();
    assert!(world.run(&["list"]).stdout.contains("  test (2 phases failed)  "));
    assert_eq!(world.json(&["list"])["workflows"][0]["failed"], json!(["build", "test"]));
    assert_eq!(world.json(&["list", "a"])["checkpoints"][2]["failed"], json!(["build"]));
}

#[test]
fn notes_are_shown_with_the_save_they_belong_to() {
    let world = several();
    assert!(!world.run(&["list"]).stdout.contains("NOTE"), "no column for nothing");
    world.run(&["save", "b", "--note", "half\nway"]).succeeds();
    let stdout = world.run(&["list"]).succeeds().stdout;
    assert!(stdout.lines().next().unwrap().ends_with("TITLE  NOTE"), "{stdout}");
    assert!(stdout.lines().nth(1).unwrap().ends_with("half\\nway"), "{stdout}");
    assert!(world.run(&["list", "b"]).stdout.contains("half\\nway"));
    world.run(&["save", "b"]).succeeds();
    assert_eq!(world.json(&["list", "b"])["checkpoints"][1]["note"], "half\nway");
    assert_eq!(world.json(&["list", "--pipeline", "release"])["workflows"][0]["note"], json!(null));
}

#[test]
fn a_trigger_says_which_command_wrote_a_checkpoint() {
    let world = World::with_checkpoints(2);
    world.run(&["rollback", "042/1"]).succeeds();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    let answer = world.json(&["list", "042"]);
    let rows = answer["checkpoints"].as_array().unwrap().iter();
    let triggers: Vec<_> = rows.map(|row| row["trigger"].as_str().unwrap()).collect();
    assert_eq!(triggers, ["restore", "archive", "rollback", "phase_transition", "phase_transition"]);
    // They are not for saves and settings.
    world.refuses(&["save", "042", "--trigger", "rollback"], 2, "unknown_trigger");
}

#[test]
fn archived_rows_have_their_sizes() {
    let world = World::with_checkpoints(3);
    let live = world.json(&["list", "042"]);
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let bundles: u64 = std::fs::read_dir(world.store().join("archive/042"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["archived_bytes"], bundles);
    let text = world.run(&["list", "--archived"]).succeeds().stdout;
    assert!(text.lines().next().unwrap().contains("  SIZE"), "{text}");
    let archived = world.json(&["list", "042"]);
    for (row, before) in
        archived["checkpoints"].as_array().unwrap()[1..].iter().zip(live["checkpoints"].as_array().unwrap())
    {
        assert_eq!((&row["archived"], &row["status"]), (&json!(true), &json!(null)));
        for member in ["handle", "bytes", "saved_at", "trigger", "phase"] {
            assert_eq!(row[member], before[member], "{member}");
        }
    }
}

#[test]
fn settings_that_cannot_be_used_are_reported() {
    let world = several();
    world.configure("[save\n");
    for args in [&["list"][..], &["list", "b"], &["list", "-q"]] {
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
    world
        .run(&["save", id, "--phases", "requirements,build", "--phase", "requirements", "--title", title])
        .succeeds();
    world
        .run(&["fail", id, "--phase", "build", "--error", "boom", "--note", "a note that is long as well"])
        .succeeds();
    for args in [&["list"][..], &["list", id]] {
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
fn checkpoints_are_cut_at_fifty_too() {
    let world = World::with_checkpoints(51);
    let outcome = world.run(&["list", "042"]).succeeds();
    assert_eq!(outcome.stdout.lines().count(), 1 + 50);
    assert_eq!(outcome.stderr, "Showing 50 of 51 checkpoints; `--all` shows the rest.\n");
    assert_eq!(world.run(&["list", "042", "-q"]).succeeds().stdout.lines().count(), 51);
    assert_eq!(world.json(&["list", "042"])["checkpoints"].as_array().unwrap().len(), 51);
    assert_eq!(world.json(&["list", "042", "-n", "2"])["checkpoints"].as_array().unwrap().len(), 2);
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
fn damaged_and_missing_checkpoints_have_their_rows() {
    let world = World::with_checkpoints(6);
    world.replace_checkpoint("042", 2, b"x");
    for seq in [3, 4, 5] {
        std::fs::remove_file(world.checkpoint_file("042", seq)).unwrap();
    }
    let answer = world.json(&["list", "042"]);
    let rows: Vec<_> = answer["checkpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["handle"].as_str().unwrap(), row["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            ("042/6", "in_progress"),
            ("042/5", "damaged"),
            ("042/3", "damaged"),
            ("042/2", "damaged"),
            ("042/1", "in_progress")
        ]
    );
    let codes: Vec<_> =
        answer["damaged"].as_array().unwrap().iter().map(|d| d["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["missing", "missing", "no_checksum"]);
}

#[test]
fn only_the_newest_checkpoints_are_read_if_no_more_are_shown() {
    let world = World::with_checkpoints(6);
    world.replace_checkpoint("042", 2, b"x");
    let answer = world.json(&["list", "042", "-n", "3"]);
    let rows: Vec<_> = answer["checkpoints"].as_array().unwrap().iter().map(|row| &row["handle"]).collect();
    assert_eq!(rows, ["042/6", "042/5", "042/4"]);
    assert_eq!((&answer["total"], &answer["truncated"]), (&json!(6), &json!(true)));
    assert_eq!(answer["damaged"], json!([]), "`ckpt verify` looks at the others");
    let text = world.run(&["list", "042", "-n", "3"]).succeeds();
    assert!(text.stderr.contains("Showing 3 of 6 checkpoints; `--all` shows the rest."), "{text}");
    // If a number is missing, what there is has to be counted.
    std::fs::remove_file(world.checkpoint_file("042", 5)).unwrap();
    let answer = world.json(&["list", "042", "-n", "3"]);
    let rows: Vec<_> = answer["checkpoints"].as_array().unwrap().iter().map(|row| &row["handle"]).collect();
    assert_eq!(rows, ["042/6", "042/5", "042/4"]);
    assert_eq!(answer["total"], 6);
}

#[test]
fn an_archived_number_is_said_to_be_archived() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 1, b"");
    let answer = world.json(&["list", "042"]);
    assert_eq!((&answer["checkpoints"][1]["archived"], &answer["damaged"]), (&json!(true), &json!([])));
    world.refuses(&["show", "042/1"], 4, "archived");
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
