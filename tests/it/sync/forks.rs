//! A workflow that was continued in two places: what shows it, and what brings it together.

use crate::support::project::World;
use ckpt::commands::{machine, shared};

/// Two machines that have both continued 042/1: this one twice, the other once.
fn forked() -> (World, World) {
    let (a, url) = shared();
    a.run(&["save", "042", "--phases", "plan,build,ship", "--phase", "plan"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let b = machine(&a, "b", &url);
    b.run(&["pull"]).succeeds();
    b.run(&["save", "042", "--set", "from_b=true"]).succeeds();
    b.run(&["push"]).succeeds();
    a.run(&["save", "042", "--set", "x=1"]).succeeds();
    a.run(&["save", "042", "--phase", "build"]).succeeds();
    (a, b)
}

#[test]
fn a_fork_is_visible_everywhere_and_harms_nothing() {
    let (a, b) = forked();
    let pushed = a.json(&["push"]);
    assert_eq!(pushed["workflows"][0]["pushed_sides"], 2, "{pushed}");
    assert_eq!(pushed["workflows"][0]["behind"], 1, "{pushed}");
    std::fs::remove_dir_all(a.store().join("remote")).unwrap();
    let again = a.json(&["push"]);
    assert_eq!(again["workflows"][0]["behind"], 1, "what both have is not counted: {again}");
    assert!(a.run(&["resume", "042", "--json"]).stdout.contains("\"behind\""));
    a.run(&["sync"]).succeeds();
    let resumed = a.run(&["resume", "042", "--json"]);
    let resumed: serde_json::Value = serde_json::from_str(&resumed.stdout).unwrap();
    let codes: Vec<&str> = resumed["findings"].as_array().unwrap().iter().filter_map(|f| f["code"].as_str()).collect();
    assert!(codes.contains(&"forked"), "{resumed}");
    assert_eq!(resumed["verdict"], "confirm");
    assert!(a.run(&["list"]).stderr.contains("ckpt merge 042"));
    assert!(a.run(&["log", "042"]).stderr.contains("042/2@"), "the other head is named");
    let findings = resumed["findings"].as_array().unwrap();
    let forked = findings.iter().find(|finding| finding["code"] == "forked").unwrap();
    let diff: Vec<&str> = forked["help"][0].as_str().unwrap().split(' ').skip(1).collect();
    assert_eq!(diff[0], "diff");
    a.run(&diff).succeeds();
    assert!(a.run(&["brief", "042"]).stdout.contains("continued elsewhere"));
    let ambiguous = a.refuses(&["show", "042/2"], 5, "ambiguous");
    for candidate in ambiguous["context"]["candidates"].as_array().unwrap() {
        a.run(&["show", candidate.as_str().unwrap()]).succeeds();
    }
    assert_eq!(a.json(&["show", "042/1"])["handle"], "042/1", "what both continue is not ambiguous");
    let saved = a.run(&["save", "042", "--set", "y=1"]).succeeds();
    assert!(saved.stdout.contains("042/4") && saved.stderr.contains("ckpt merge 042"), "{saved}");
    for world in [&a, &b] {
        world.run(&["sync"]).succeeds();
        assert_eq!(world.json(&["verify"])["ok"], true);
    }
    assert!(b.run(&["list"]).stderr.contains("ckpt merge 042"));
}

#[test]
fn one_merge_makes_one_head_in_every_store() {
    let (a, b) = forked();
    for world in [&a, &b] {
        world.run(&["sync"]).succeeds();
    }
    let planned = b.json(&["merge", "042", "--dry-run"]);
    assert_eq!((&planned["applied"], &planned["seq"]), (&false.into(), &4.into()), "{planned}");
    assert_eq!(planned["origin"], "042/1");
    b.run(&["merge", "042"]).succeeds();
    let merged = b.stored("042", 4);
    assert_eq!((&merged["state"]["from_b"], &merged["state"]["x"]), (&true.into(), &1.into()));
    assert_eq!((&merged["parent"]["seq"], &merged["merged"]["seq"]), (&2.into(), &3.into()));
    assert_eq!(b.numbers("042"), [1, 2, 3, 4], "the number between is filled");
    b.refuses(&["merge", "042"], 8, "nothing_to_merge");
    b.run(&["sync"]).succeeds();
    a.run(&["sync"]).succeeds();
    for world in [&a, &b] {
        assert_eq!(world.json(&["verify"])["ok"], true);
        assert!(!world.run(&["list"]).stderr.contains("merge"));
        assert_eq!(world.json(&["resume", "042"])["handle"], "042/4");
        assert_eq!(world.json(&["sync"])["workflows"].as_array().unwrap().len(), 0);
    }
    let c = machine(&a, "c", a.json(&["remote", "show"])["remote"].as_str().unwrap());
    c.run(&["pull"]).succeeds();
    assert_eq!(c.json(&["verify"])["ok"], true);
    assert_eq!(c.json(&["resume", "042"])["handle"], "042/4");
    // All three go on.
    for world in [&a, &b, &c] {
        world.run(&["sync"]).succeeds();
        world.run(&["save", "042", "--set", "z=1"]).succeeds();
        world.run(&["sync"]).succeeds();
    }
    assert_eq!(a.json(&["resume", "042", "--pull"])["handle"], "042/7");
}

#[test]
fn a_sync_fills_the_numbers_below_a_merge_whose_writer_was_killed() {
    let (a, b) = forked();
    for world in [&a, &b] {
        world.run(&["sync"]).succeeds();
    }
    b.run(&["merge", "042"]).succeeds();
    b.run(&["save", "042", "--set", "above=1"]).succeeds();
    // As if it had been killed after it published the merge.
    std::fs::remove_file(b.checkpoint_file("042", 3)).unwrap();
    std::fs::remove_dir_all(b.store().join("archive/042")).unwrap();
    std::fs::remove_dir_all(b.store().join("remote")).unwrap();
    b.run(&["push"]).succeeds();
    b.run(&["sync"]).succeeds();
    a.run(&["sync"]).succeeds();
    for world in [&a, &b] {
        assert_eq!(world.numbers("042"), [1, 2, 3, 4, 5]);
        assert_eq!(world.json(&["verify"])["ok"], true);
    }
    // A checkpoint that somebody removed is no such number.
    std::fs::remove_file(b.checkpoint_file("042", 2)).unwrap();
    std::fs::remove_dir_all(b.store().join("remote")).unwrap();
    b.run(&["sync", "--json"]).exits(3);
    assert!(!b.checkpoint_file("042", 2).exists());
}

#[test]
fn a_conflict_is_settled_by_the_flags_of_merge() {
    let (a, b) = forked();
    b.run(&["save", "042", "--title", "Theirs"]).succeeds();
    b.run(&["push"]).succeeds();
    a.run(&["save", "042", "--title", "Ours"]).succeeds();
    a.run(&["pull"]).succeeds();
    a.refuses(&["merge", "042"], 8, "merge_conflict");
    a.run(&["merge", "042", "--theirs"]).succeeds();
    assert_eq!(a.json(&["show", "042"])["checkpoint"]["title"], "Theirs");
}

#[test]
fn both_lines_are_drawn_and_said_by_every_command_that_reads() {
    let (a, _b) = forked();
    a.run(&["sync"]).succeeds();
    let side = a.json(&["sync"])["workflows"][0]["heads"][0].as_str().unwrap().to_owned();
    assert!(side.starts_with("042/2@"), "{side}");
    let drawn = a.run(&["log", "042", "--graph"]).succeeds().stdout;
    let row = |text: &str| drawn.lines().position(|line| line.contains(text)).unwrap();
    assert!(drawn.lines().any(|line| line.contains("|/")), "two lines come together: {drawn}");
    assert!(row(&side) < row("042/1 "), "{drawn}");
    let log = a.json(&["log", "042"]);
    let entries = log["entries"].as_array().unwrap();
    let entry = |handle: &str| entries.iter().find(|entry| entry["handle"] == handle).unwrap();
    assert_eq!((entries.len(), &entry(&side)["parents"][0]), (4, &"042/1".into()), "{log}");
    assert_eq!(entry("042/2")["parents"][0], "042/1");
    let below = a.json(&["log", "042/1"]);
    assert_eq!(below["entries"].as_array().unwrap().len(), 1, "{below}");
    let shown = a.json(&["show", &side]);
    assert_eq!(shown["checkpoint"]["state"], serde_json::json!({"from_b": true}), "{shown}");
    let status = a.run(&["status", "042"]).succeeds();
    assert!(format!("{status}").contains(&side) && format!("{status}").contains("ckpt merge 042"), "{status}");
    let report = a.project().join("report.html");
    a.run(&["report", "042", "-o", report.to_str().unwrap()]).succeeds();
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.contains(&side) && page.contains("ckpt merge 042"), "{page}");
    // A merge continues the side, and is drawn so.
    a.run(&["merge", "042"]).succeeds();
    let merged = a.json(&["log", "042"]);
    assert!(merged["entries"][0]["parents"].as_array().unwrap().contains(&side.as_str().into()), "{merged}");
    let status = a.run(&["status", "042"]).succeeds();
    assert!(format!("{status}").contains("the remote does not have: 1"), "{status}");
    let listed = a.run(&["list"]).succeeds();
    assert!(listed.stderr.contains("the remote does not have all of 042"), "{listed}");
    assert!(a.run(&["brief", "042"]).stdout.contains("the remote does not have: 1"));
}

#[test]
fn every_command_that_reads_can_ask_the_remote_first() {
    for args in
        [&["resume", "042"][..], &["list"], &["status", "042"], &["show", "042"], &["log", "042"], &["brief", "042"]]
    {
        let (a, b) = forked();
        b.run(&["sync"]).succeeds();
        b.run(&["save", "042", "--set", "late=true"]).succeeds();
        b.run(&["push"]).succeeds();
        a.run(args);
        assert!(!a.store().join("sides").exists(), "{args:?} asks nobody by itself");
        a.run(&[args, &["--pull"]].concat());
        assert!(a.store().join("sides/042").exists(), "{args:?} --pull");
        std::fs::rename(a.temp().join("shared"), a.temp().join("away")).unwrap();
        let offline = a.run(&[args, &["--pull"]].concat());
        assert!(format!("{offline}").contains("the remote could not be asked"), "{args:?}: {offline}");
        std::fs::rename(a.temp().join("away"), a.temp().join("shared")).unwrap();
    }
}
