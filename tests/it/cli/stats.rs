//! `ckpt stats`

use serde_json::json;

use crate::support::project::World;
use crate::support::strace::{calls, strace};

fn world() -> World {
    let world = World::new();
    let phase = |args: &[&str]| drop(world.run(&[&["save", "042", "--phase"], args].concat()).succeeds());
    phase(&["plan", "--phases", "plan,build,test", "--status", "in_progress"]);
    phase(&["plan"]);
    phase(&["build", "--status", "in_progress"]);
    phase(&["build", "--status", "failed", "--error", "e"]);
    phase(&["build", "--status", "in_progress"]);
    phase(&["build"]);
    world.run(&["revise", "042", "--from", "build"]).succeeds();
    world
}

#[test]
fn a_workflow_in_numbers() {
    let world = world();
    let answer = world.json(&["stats", "42"]);
    let stats = &answer["workflow"];
    assert_eq!(answer["store"], json!(null));
    assert_eq!((&stats["handle"], &stats["checkpoints"]), (&json!("042/7"), &json!(7)));
    assert_eq!((&stats["failures"], &stats["replans"]), (&json!(1), &json!(1)));
    assert_eq!(stats["phases"][0]["seconds"], 60);
    assert_eq!(stats["phases"][1]["failures"], 1);
    assert_eq!(stats["longest"], "plan");
    let total: u64 = stats["triggers"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(total, 7);
    // The same from the archive, except for the room.
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    let archived = world.json(&["stats", "042"]);
    for key in ["phases", "failures", "replans", "triggers", "handle", "first_saved_at"] {
        assert_eq!(archived["workflow"][key], stats[key], "{key}");
    }
    world.refuses(&["stats", "nothing"], 4, "no_such_workflow");
}

#[test]
fn a_store_in_numbers() {
    let world = world();
    for (id, status) in [("a", "complete"), ("b", "failed"), ("c", "abandoned"), ("d", "complete")] {
        world.run(&["save", id, "--workflow-status", status]).succeeds();
    }
    world.run(&["save", "broken"]).succeeds();
    world.replace_checkpoint("broken", 1, b"x");
    world.run(&["archive", "d"]).succeeds();
    let answer = world.json(&["stats"]);
    let stats = &answer["store"];
    let counts = json!({"in_progress": 1, "complete": 1, "failed": 1, "abandoned": 1, "damaged": 1});
    assert_eq!(stats["workflows"], counts);
    assert_eq!((&stats["archived_workflows"], &stats["bundles"]), (&json!(1), &json!(1)));
    assert_eq!((&stats["archived_checkpoints"], &stats["checkpoints"]), (&json!(1), &json!(11)));
    assert!(stats["oldest"].as_str() < stats["newest"].as_str());
    let live: u64 = ["042", "a", "b", "c", "d", "broken"]
        .iter()
        .flat_map(|id| std::fs::read_dir(world.workflow_dir(id)).unwrap())
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(stats["live_bytes"], live);
    std::fs::remove_dir_all(world.workflow_dir("d")).unwrap();
    assert_eq!(world.json(&["stats"])["store"]["archived_workflows"], 1);
}

#[test]
fn they_are_said_for_people() {
    let world = World::new();
    world.run(&["init"]).succeeds();
    insta::assert_snapshot!(world.run(&["stats"]), @"
    exit 0
    --- stdout
    workflows  0
    live       0 checkpoints in 0 B
    archive    0 bundles in 0 B
    --- end
    ");
    let world = self::world();
    insta::assert_snapshot!(world.run(&["stats", "042"]), @"
    exit 0
    --- stdout
    042/7: 3 attempts, 1 failure, 1 replan

    PHASE  STATUS  TOOK    ATTEMPTS  FAILURES  REPLANS
    plan   done    1m 00s         1         0        0
    build  to do        -         2         1        1
    test   to do        -         0         0        0

    Checkpoints: 1 manual, 6 phase_transition
    Longest: plan
    --- end
    ");
}

#[test]
fn the_oldest_is_the_oldest_of_all_live_checkpoints() {
    let world = World::new();
    let save = |id: &str, at: &str| {
        world.ckpt(&["save", id]).env("CKPT_NOW", at).run().succeeds();
    };
    save("a", "2026-02-01T00:00:00Z");
    save("b", "2026-01-01T00:00:00Z");
    save("b", "2026-01-02T00:00:00Z");
    save("b", "2026-03-01T00:00:00Z");
    let times = || {
        let stats = world.json(&["stats"])["store"].clone();
        [stats["oldest"].as_str().unwrap()[..10].to_owned(), stats["newest"].as_str().unwrap()[..10].to_owned()]
    };
    assert_eq!(times(), ["2026-01-01", "2026-03-01"]);
    let text = world.run(&["stats"]).succeeds().stdout;
    assert!(text.contains("oldest     2026-01-01T00:00:00.000Z\nnewest     2026-03-01"), "{text}");
    // What cannot be read, and what is in the archive, is not what is meant.
    world.replace_checkpoint("b", 1, b"x");
    assert_eq!(times()[0], "2026-01-02");
    let archive = world.ckpt(&["archive", "b", "--as", "failed"]).env("CKPT_NOW", "2026-03-02T00:00:00Z");
    archive.run().succeeds();
    assert_eq!(times(), ["2026-02-01", "2026-03-02"]);
    let text = world.run(&["stats"]).succeeds().stdout;
    assert!(text.contains("oldest     2026-02-01T00:00:00.000Z, of what is live\n"), "{text}");
    world.run(&["restore", "b/2"]).succeeds();
    assert_eq!(times()[0], "2026-01-02", "one that came back alone");
}

/// Two complete runs of three phases, one archived, with a failure, and one run in progress.
fn runs() -> World {
    let world = World::new();
    let save = |id: &str, args: &[&str]| drop(world.run(&[&["save", id, "--phase"], args].concat()).succeeds());
    for id in ["a", "b", "c"] {
        save(id, &["plan", "--phases", "plan,build,test", "--status", "in_progress"]);
        save(id, &["plan"]);
        save(id, &["build", "--status", "in_progress"]);
        if id != "a" {
            save(id, &["build", "--status", "failed", "--error", "e"]);
            save(id, &["build", "--status", "in_progress"]);
        }
        world.ckpt(&["save", id, "--note", "an hour of work"]).run().succeeds();
        if id != "c" {
            save(id, &["build"]);
            save(id, &["test"]);
        }
    }
    world
}

#[test]
fn phases_of_all_runs_are_counted_live_and_archived_alike() {
    let world = runs();
    let live = world.json(&["stats"])["analytics"].clone();
    assert_eq!(live["runs"], json!({"in_progress": 1, "complete": 2, "failed": 0, "abandoned": 0}));
    let build = &live["pipelines"][0]["phases"][1];
    assert_eq!((&build["id"], &build["runs"], &build["seconds"]["count"]), (&json!("build"), &json!(3), &json!(2)));
    assert_eq!((&build["failed_percent"], &build["retried_percent"]), (&json!(66), &json!(66)));
    assert_eq!(live["pipelines"][0]["bottleneck"]["phase"], "build");
    assert_eq!(live["weeks"].as_array().unwrap().len(), 1);

    world.run(&["archive", "a", "b"]).succeeds();
    assert_eq!(world.json(&["stats"])["analytics"], live, "from the summaries in the bundles");
    // What came back is counted once.
    world.run(&["restore", "a"]).succeeds();
    let restored = world.json(&["stats"])["analytics"].clone();
    assert_eq!(restored["pipelines"][0]["phases"], live["pipelines"][0]["phases"]);
}

#[test]
fn a_run_that_was_started_over_is_a_run_of_its_own() {
    let world = runs();
    world.run(&["save", "c", "--fresh", "--phase", "plan"]).succeeds();
    let counts = world.json(&["stats"])["analytics"]["runs"].clone();
    assert_eq!(counts, json!({"in_progress": 1, "complete": 2, "failed": 0, "abandoned": 1}));
}

#[test]
fn runs_are_selected_by_time_and_pipeline() {
    let world = runs();
    let count = |args: &[&str]| {
        let runs = world.json(&[&["stats"], args].concat())["analytics"]["runs"].clone();
        runs.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!([count(&[]), count(&["--since", "1d"]), count(&["--since", "1s"])], [3, 3, 0]);
    assert_eq!([count(&["--pipeline", "custom"]), count(&["--pipeline", "other"])], [3, 0]);
}

#[test]
fn the_bottleneck_is_said_in_a_sentence() {
    let world = runs();
    let text = world.run(&["stats"]).succeeds().stdout;
    let figures: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("custom")).collect();
    insta::assert_snapshot!(figures.join("\n"), @"
    custom: 3 runs, 2 complete, 1 in progress; median 4m 00s

    PHASE  RUNS  MEDIAN  MIDDLE HALF       SLOWEST      FAILED  RETRIED  REPLANNED  WAITED  SHARE OF TIME
    plan      3  1m 00s  1m 00s to 1m 00s  1m 00s in a      0%       0%         0%       -   30% ███
    build     3  2m 00s  2m 00s to 2m 00s  2m 00s in a     66%      66%         0%  1m 00s   50% █████
    test      2  1m 00s  1m 00s to 1m 00s  1m 00s in a      0%       0%         0%       -   20% ██

    The bottleneck is `build`: it takes 50% of the time, 20% of that waiting, and failed in 66% of its runs.
    ");
}

#[test]
fn every_file_and_every_directory_of_a_workflow_is_opened_once() {
    let Some(strace) = strace() else { return };
    let world = runs();
    world.run(&["archive", "a"]).succeeds();
    // Its files are in a bundle and live again.
    world.run(&["archive", "b"]).succeeds();
    world.run(&["restore", "b"]).succeeds();
    let mut opened = std::collections::BTreeMap::<String, usize>::new();
    for call in calls(&strace, &world, &["stats"]).iter().filter(|call| call.name.starts_with("openat")) {
        // `1234 openat(5, "00000001.json", ...`
        let Some(name) = call.line.split('"').nth(1).and_then(|path| path.rsplit('/').next()) else {
            continue;
        };
        if name.len() == 1 || name.ends_with(".json") || name.ends_with(".gz") {
            *opened.entry(name.to_owned()).or_default() += 1;
        }
    }
    let live = |number: usize| format!("{number:08}.json");
    // `a`, `b` and `c` are opened in `workflows` and in `archive`, where `c` is looked for.
    let directories = ["a", "b", "c"].map(|name| opened.remove(name));
    assert_eq!(directories, [Some(2); 3]);
    let bundles: Vec<usize> = opened.extract_if(.., |name, _| name.ends_with(".gz")).map(|(_, count)| count).collect();
    assert!(bundles.len() > 1 && bundles.iter().all(|count| *count == 1), "{bundles:?}");
    let files = ["a", "b", "c"].map(|id| std::fs::read_dir(world.workflow_dir(id)).unwrap().count());
    for (number, count) in &opened {
        let expected = files.iter().filter(|length| *number <= live(**length)).count();
        assert_eq!(*count, expected, "{number} in {opened:?}");
    }
    assert_eq!(opened.len(), *files.iter().max().unwrap());
}
