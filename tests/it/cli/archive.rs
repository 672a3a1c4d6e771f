//! `ckpt archive`

use serde_json::json;

use crate::support::project::World;

fn finished(world: &World, id: &str) {
    world.configure("[save]\nauto_cleanup = false\n");
    world.run(&["save", id, "--phase", "a", "--phases", "a,b"]).succeeds();
    world.run(&["save", id, "--phase", "b"]).succeeds();
}

#[test]
fn a_finished_workflow_leaves_with_the_reason_of_its_status() {
    let cases = [("complete", "completed"), ("failed", "failed"), ("abandoned", "abandoned")];
    for (status, reason) in cases {
        let world = World::with_checkpoints(2);
        world.configure("[save]\nauto_cleanup = false\n");
        world.run(&["save", "042", "--workflow-status", status]).succeeds();
        let answer = world.json(&["archive", "42"]);
        let archived = &answer["archived"][0];
        assert_eq!((&archived["reason"], &archived["checkpoints"]), (&json!(reason), &json!(3)));
        assert_eq!((&archived["handle"], &archived["left"]), (&json!("042/4"), &json!([])));
        assert!(archived["bundles"][0].as_str().unwrap().ends_with(&format!("-{reason}.jsonl.gz")));
        let listed = world.json(&["list", "--archived"]);
        assert_eq!(listed["workflows"][0]["status"], status);
        assert_eq!(world.json(&["list"])["workflows"], json!([]));
    }
}

#[test]
fn it_is_said_for_people() {
    let world = World::new();
    finished(&world, "042");
    let outcome = world.run(&["archive", "042"]);
    let text = outcome.to_string();
    assert!(text.contains("042  archived as completed, 2 checkpoints with "), "{outcome}");
    assert!(text.contains("Bring it back with: ckpt restore 042"), "{outcome}");
    insta::assert_snapshot!(world.run(&["archive", "042"]), @"
    exit 0
    --- stdout
    042  was archived before, as completed
    --- end
    ");
    insta::assert_snapshot!(world.run(&["archive", "042", "-q"]), @"
    exit 0
    --- stdout
    042
    --- end
    ");
}

#[test]
fn the_way_back_is_told_for_all_of_them() {
    let world = World::new();
    let ids = ["f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9"];
    for id in ids {
        finished(&world, id);
    }
    assert_eq!(
        world.copy().run(&["archive", "f1", "f2", "f3"]).succeeds().stderr,
        "Bring them back with: ckpt restore f1 f2 f3\n"
    );
    // Many of them are brought back by what was recorded.
    let all = world.run(&[&["archive"], &ids[..]].concat()).succeeds().stderr;
    let command = all.trim_end().strip_prefix("Bring them back with: ckpt ").unwrap();
    assert!(command.starts_with("restore --plan "), "{all}");
    let back = world.run(&command.split(' ').collect::<Vec<_>>()).succeeds();
    assert_eq!(back.stdout.lines().count(), ids.len(), "{back}");
}

#[test]
fn a_dry_run_foresees_what_leaves_and_what_fails() {
    let world = World::new();
    finished(&world, "done");
    world.run(&["save", "open"]).succeeds();
    finished(&world, "old");
    world.run(&["archive", "old"]).succeeds();
    world.run(&["restore", "old/1"]).succeeds();
    let before = world.tree();
    let shown = world.run(&["archive", "done", "open", "old", "-n"]).exits(3);
    assert!(shown.stdout.contains("done  would be archived as completed, 2 checkpoints with "), "{shown}");
    assert!(!shown.to_string().contains("restore"), "there is nothing to bring back: {shown}");
    let args = ["archive", "done", "open", "old", "--json"];
    let planned = world.run(&[&args[..], &["--dry-run"]].concat()).exits(3).document();
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "a dry run writes nothing");
    let done = world.run(&args).exits(3).document();
    assert_eq!((&planned["applied"], &planned["undo"]), (&json!(false), &json!(null)));
    assert_eq!(planned["failures"], done["failures"]);
    for (planned, done) in planned["archived"].as_array().unwrap().iter().zip(done["archived"].as_array().unwrap()) {
        for key in ["workflow", "handle", "reason", "checkpoints", "bytes", "left", "already_archived"] {
            assert_eq!(planned[key], done[key], "{key}");
        }
    }
    world.refuses(&["archive", "open", "--dry-run"], 9, "needs_reason");
}

#[test]
fn where_there_is_work_left_somebody_must_say_what_became_of_it() {
    let world = World::with_checkpoints(1);
    insta::assert_snapshot!(world.run(&["archive", "042"]), @"
    exit 9
    --- stderr
    error: there is work left in `042`
      help: say what became of it: `ckpt archive 042 --as abandoned`
      help: or `--as completed`, or `--as failed`
    --- end
    ");
    world.refuses(&["archive", "042"], 9, "needs_reason");
    for (reason, status) in [("completed", "complete"), ("failed", "failed"), ("abandoned", "abandoned")] {
        let world = World::with_checkpoints(1);
        let answer = world.json(&["archive", "042", "--as", reason]);
        assert_eq!(answer["archived"][0]["reason"], reason);
        assert_eq!(world.json(&["list", "--archived"])["workflows"][0]["status"], status);
    }
}

#[test]
fn what_is_damaged_is_archived_only_when_it_is_said_why() {
    let world = World::with_checkpoints(2);
    world.replace_checkpoint("042", 2, b"damaged");
    world.refuses(&["archive", "042"], 9, "needs_reason");
    assert_eq!(world.json(&["archive", "042", "--as", "failed"])["archived"][0]["checkpoints"], 2);
}

#[test]
fn several_are_archived_and_what_fails_is_listed() {
    let world = World::with_checkpoints(1);
    finished(&world, "a");
    finished(&world, "b");
    let answer = world.run(&["archive", "a", "042", "nothing", "b", "a", "--json"]).exits(3).document();
    let done: Vec<_> = answer["archived"].as_array().unwrap().iter().map(|line| &line["workflow"]).collect();
    assert_eq!(done, ["a", "b"]);
    let failures: Vec<_> =
        answer["failures"].as_array().unwrap().iter().map(|line| (&line["item"], &line["code"])).collect();
    let expected = [(&json!("042"), &json!("needs_reason")), (&json!("nothing"), &json!("no_such_workflow"))];
    assert_eq!(failures, expected);
    assert_eq!(world.numbers("042"), [1]);
    let text = world.run(&["archive", "042", "nothing"]).exits(3).stderr;
    assert!(text.contains("failed: 042: there is work left in `042`"), "{text}");
}

#[test]
fn rules_choose_finished_and_idle_ones() {
    let world = World::new();
    finished(&world, "old");
    world.run(&["save", "open"]).succeeds();
    for _ in 0..10 {
        world.run(&["list"]).succeeds();
    }
    finished(&world, "new");
    world.run(&["save", "broken"]).succeeds();
    world.replace_checkpoint("broken", 1, b"x");

    let answer = world.json(&["archive", "--finished", "--idle-for", "10min"]);
    assert_eq!(answer["archived"].as_array().unwrap().len(), 1);
    assert_eq!(answer["archived"][0]["workflow"], "old");
    assert!(answer["warnings"][0].as_str().unwrap().contains("`broken` cannot be judged"));
    let answer = world.json(&["archive", "--finished"]);
    assert_eq!(answer["archived"][0]["workflow"], "new");
    world.refuses(&["archive", "--idle-for", "5min"], 9, "needs_reason");
    let answer = world.json(&["archive", "--idle-for", "5min", "--as", "abandoned"]);
    assert_eq!(answer["archived"][0]["workflow"], "open");
    let nothing = world.run(&["archive", "--finished"]).succeeds();
    assert!(nothing.stderr.ends_with("Nothing to archive.\n"), "{nothing}");
    for args in [&["archive"][..], &["archive", "042", "--finished"], &["archive", "x", "--as", "done"]] {
        world.refuses(args, 2, "usage");
    }
}

#[test]
fn bundles_are_listed_and_readable_with_common_tools() {
    let world = World::new();
    finished(&world, "042");
    finished(&world, "7");
    world.run(&["archive", "042", "7"]).succeeds();
    let answer = world.json(&["archive", "--list"]);
    let bundle = &answer["bundles"][0];
    assert_eq!((&bundle["workflow"], &bundle["reason"]), (&json!("042"), &json!("completed")));
    let numbers = (&bundle["first"], &bundle["last"], &bundle["checkpoints"]);
    assert_eq!(numbers, (&json!(1), &json!(2), &json!(2)));
    assert_eq!(bundle["run"], 1);
    let text = world.run(&["archive", "--list"]).succeeds().stdout;
    let row: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().take(4).collect();
    assert_eq!(row, ["042", "1-2", "completed", "2"]);
    assert_eq!(answer["bundles"].as_array().unwrap().len(), 2);
    assert_eq!(world.json(&["archive", "--list", "7"])["bundles"].as_array().unwrap().len(), 1);
    let path = bundle["path"].as_str().unwrap();
    assert_eq!(bundle["bytes"], std::fs::metadata(path).unwrap().len());
    let text = std::process::Command::new("zcat").arg(path).output().unwrap().stdout;
    assert_eq!(String::from_utf8(text).unwrap().lines().count(), 3);

    let bytes = std::fs::read(path).unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
    let answer = world.json(&["archive", "--list"]);
    assert_eq!((&answer["bundles"][0]["checkpoints"], &answer["damaged"][0]["path"]), (&json!(null), &json!(path)));
    let text = world.run(&["archive", "--list"]).succeeds();
    assert!(text.stderr.starts_with("damaged: "), "{text}");
}

#[test]
fn archived_checkpoints_are_read_without_being_restored() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b,c"]).succeeds();
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    let bytes = std::fs::read(world.checkpoint_file("042", 1)).unwrap();
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    for gone in [false, true] {
        if gone {
            std::fs::remove_dir_all(world.workflow_dir("042")).unwrap();
        }
        let before = world.tree();
        assert_eq!(world.run(&["show", "042/1", "--raw"]).succeeds().stdout.as_bytes(), bytes);
        let resume = world.run(&["resume", "--from", "042/1", "--json"]);
        assert_eq!(resume.document()["phase"], "b", "{resume}");
        // The seal is only in the live store.
        let newest = if gone { "042/2" } else { "042/3" };
        for args in [&["resume", "--from", newest, "--json"][..], &["resume", "042", "--json"]] {
            let resume = world.run(args);
            assert_eq!(resume.document()["phase"], "c", "{resume}");
        }
        let listed = world.json(&["list", "--archived"]);
        assert_eq!(listed["workflows"].as_array().unwrap().len(), 1);
        assert_eq!(listed["workflows"][0]["handle"], newest);
        assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
    }
    let saved = world.json(&["save", "042", "--phase", "c"]);
    assert_eq!((&saved["handle"], &saved["done"]), (&json!("042/3"), &json!(["a", "b", "c"])));
}

#[test]
fn a_workflow_that_could_not_be_archived_is_open() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--phases", "a,b,c"]).succeeds();
    // A file stands where the bundles would be.
    std::fs::create_dir_all(world.store().join("archive")).unwrap();
    std::fs::write(world.store().join("archive/042"), "an obstacle").unwrap();
    for _ in 0..2 {
        assert_ne!(world.run(&["archive", "042", "--as", "abandoned"]).code(), 0);
        assert_eq!(world.numbers("042"), [1], "there is no seal");
        assert_eq!(world.json(&["list"])["workflows"][0]["handle"], "042/1");
        assert_eq!(world.run(&["resume", "042", "--json"]).document()["phase"], "b");
        assert!(world.run(&["brief"]).succeeds().stdout.contains("042"));
    }
    std::fs::remove_file(world.store().join("archive/042")).unwrap();
    assert_eq!(world.json(&["archive", "042", "--as", "abandoned"])["archived"][0]["handle"], "042/2");
}
