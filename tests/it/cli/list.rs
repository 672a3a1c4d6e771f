//! `ckpt list`

use serde_json::{Value, json};

use crate::support::project::World;

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
    NEWEST  STATUS       PHASE  DONE    SAVED                     TITLE
    b/2     in progress  plan   1 of 2  2026-01-30T14:35:00.000Z
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
            "done": 2,
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
            "pipeline": "release", "labels": ["x"],
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
    No workflows. `ckpt start demo --phases plan,build,test --phase plan` begins one.
    --- end
    ");
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
