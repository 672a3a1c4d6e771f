//! `ckpt archive --delete`: an archived workflow is deleted for good.

use serde_json::json;

use crate::support::project::World;
use crate::support::terminal::Terminal;

/// `042` with three checkpoints, archived as failed after the second and again after the third.
fn archived() -> World {
    let world = World::with_checkpoints(2);
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world.run(&["save", "042", "--phase", "3", "--title", "Work"]).succeeds();
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world
}

fn bundles(world: &World) -> usize {
    world.json(&["archive", "--list"])["bundles"].as_array().unwrap().len()
}

#[test]
fn it_is_planned_confirmed_and_done() {
    let world = archived();
    let before = world.tree();
    let planned = world.json(&["archive", "042", "--delete", "--dry-run"]);
    assert_eq!((&planned["applied"], &planned["deleted"][0]["bundles"]), (&json!(false), &json!(2)));
    let refused = world.run(&["archive", "042", "--delete"]);
    insta::assert_snapshot!(refused, @"
    exit 9
    --- stderr
    error: deleting 042 cannot be undone
      help: look first: `ckpt archive 042 --delete --dry-run`
      help: then `ckpt archive 042 --delete --yes`
    --- end
    ");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "nothing is written");
    let done = world.json(&["archive", "042", "--delete", "--yes"]);
    assert_eq!((&done["applied"], &done["deleted"]), (&json!(true), &planned["deleted"]));
    assert_eq!(bundles(&world), 0);
    for handle in ["042/1", "042/2", "042/4"] {
        let failure = world.refuses(&["show", handle], 4, "archived");
        assert!(failure["message"].as_str().unwrap().contains("was purged"), "{failure}");
    }
    world.run(&["verify"]).succeeds();
    let again = world.run(&["archive", "042", "--delete"]).succeeds();
    assert_eq!(again.stdout, "042  was deleted for good before\n");
    // The numbers stay taken, and a new save does not continue what is deleted.
    let saved = world.json(&["save", "042", "--phase", "1"]);
    assert_eq!(saved["handle"], "042/7");
    world.run(&["verify"]).succeeds();
}

#[test]
fn a_terminal_is_asked() {
    let world = archived();
    for (typed, code, left) in [("n\n", 9, 2), ("y\n", 0, 0)] {
        let mut terminal = Terminal::open(&world, &["archive", "042", "--delete"], &[]);
        terminal.expect("Delete for good?", 1);
        terminal.answer(typed);
        let (exit, seen) = terminal.exit();
        assert_eq!((exit, bundles(&world)), (code, left), "{seen}");
        assert!(seen.contains("would be deleted for good") && seen.contains("This cannot be undone."), "{seen}");
    }
}

#[test]
fn what_is_live_is_archived_first() {
    let world = World::with_checkpoints(2);
    let failure = world.refuses(&["archive", "042", "--delete", "--yes"], 9, "not_archived");
    let help = failure["help"][0].as_str().unwrap();
    assert!(help.ends_with("first `ckpt archive 042 --as abandoned`"), "{help}");
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    let failure = world.refuses(&["archive", "042", "--delete", "--yes"], 9, "not_archived");
    let help = failure["help"][0].as_str().unwrap();
    assert!(help.ends_with("first `ckpt archive 042`"), "{help}");
    for bad in [["--as", "failed"].as_slice(), &["--list"], &["--finished"]] {
        world.refuses(&[&["archive", "042", "--delete"], bad].concat(), 2, "usage");
    }
    world.refuses(&["archive", "042", "--yes"], 2, "usage");
    world.refuses(&["archive", "nothing", "--delete"], 4, "no_such_workflow");
}

/// Checkpoints that were restored one by one below the seal go too.
#[test]
fn no_content_is_left() {
    let world = archived();
    world.run(&["restore", "042/1"]).succeeds();
    world.run(&["archive", "042", "--delete", "--yes"]).succeeds();
    world.refuses(&["show", "042/1"], 4, "archived");
    world.run(&["verify"]).succeeds();
}
