//! A workflow that was continued in two places: what shows it, and what brings it together.

use super::commands::{machine, shared};
use crate::support::project::World;

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
    assert!(a.run(&["resume", "042", "--json"]).stdout.contains("\"behind\""));
    a.run(&["sync"]).succeeds();
    let resumed = a.run(&["resume", "042", "--json"]);
    let resumed: serde_json::Value = serde_json::from_str(&resumed.stdout).unwrap();
    let codes: Vec<&str> =
        resumed["findings"].as_array().unwrap().iter().filter_map(|f| f["code"].as_str()).collect();
    assert!(codes.contains(&"forked"), "{resumed}");
    assert_eq!(resumed["verdict"], "confirm");
    assert!(a.run(&["list"]).stderr.contains("ckpt join 042"));
    assert!(a.run(&["brief", "042"]).stdout.contains("continued elsewhere"));
    let ambiguous = a.refuses(&["show", "042/2"], 5, "ambiguous");
    for candidate in ambiguous["context"]["candidates"].as_array().unwrap() {
        a.run(&["show", candidate.as_str().unwrap()]).succeeds();
    }
    assert_eq!(a.json(&["show", "042/1"])["handle"], "042/1", "what both continue is not ambiguous");
    let saved = a.run(&["save", "042", "--set", "y=1"]).succeeds();
    assert!(saved.stdout.contains("042/4") && saved.stderr.contains("ckpt join 042"), "{saved}");
    for world in [&a, &b] {
        world.run(&["sync"]).succeeds();
        assert_eq!(world.json(&["verify"])["ok"], true);
    }
    assert!(b.run(&["list"]).stderr.contains("ckpt join 042"));
}

#[test]
fn one_join_makes_one_head_in_every_store() {
    let (a, b) = forked();
    for world in [&a, &b] {
        world.run(&["sync"]).succeeds();
    }
    let planned = b.json(&["join", "042", "--dry-run"]);
    assert_eq!((&planned["applied"], &planned["seq"]), (&false.into(), &4.into()), "{planned}");
    assert_eq!(planned["origin"], "042/1");
    b.run(&["join", "042"]).succeeds();
    let joined = b.stored("042", 4);
    assert_eq!((&joined["state"]["from_b"], &joined["state"]["x"]), (&true.into(), &1.into()));
    assert_eq!((&joined["parent"]["seq"], &joined["merged"]["seq"]), (&2.into(), &3.into()));
    assert_eq!(b.numbers("042"), [1, 2, 3, 4], "the number between is filled");
    b.refuses(&["join", "042"], 8, "nothing_to_join");
    b.run(&["sync"]).succeeds();
    a.run(&["sync"]).succeeds();
    for world in [&a, &b] {
        assert_eq!(world.json(&["verify"])["ok"], true);
        assert!(!world.run(&["list"]).stderr.contains("join"));
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
fn a_conflict_is_settled_by_the_flags_of_merge() {
    let (a, b) = forked();
    b.run(&["save", "042", "--title", "Theirs"]).succeeds();
    b.run(&["push"]).succeeds();
    a.run(&["save", "042", "--title", "Ours"]).succeeds();
    a.run(&["pull"]).succeeds();
    a.refuses(&["join", "042"], 8, "merge_conflict");
    a.run(&["join", "042", "--theirs"]).succeeds();
    assert_eq!(a.json(&["show", "042"])["checkpoint"]["title"], "Theirs");
}
