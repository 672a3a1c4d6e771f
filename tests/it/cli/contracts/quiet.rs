//! `-q` prints only the essential value, and nothing on stderr but what did not work out.

use crate::support::project::World;

#[test]
fn only_the_essential_value_is_printed() {
    let world = World::new();
    let store = format!("{}\n", world.store().display());
    let cases: [(&[&str], &str); 7] = [
        (&["init", "-q"], &store),
        (&["save", "042", "--phase", "a", "-q"], "042/1\n"),
        (&["-q", "save", "042", "--if-changed"], "042/1\n"),
        (&["list", "-q"], "042\n"),
        (&["log", "042", "--quiet"], "042/1\n"),
        (&["show", "042", "-q"], "042/1\n"),
        (&["show", "042", "-q", "--pointer", "/seq"], "1\n"),
    ];
    for (args, expected) in cases {
        let outcome = world.run(args).succeeds();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), (expected, ""), "{args:?}");
    }
}

#[test]
fn a_failure_is_said_all_the_same() {
    let world = World::with_checkpoints(1);
    let outcome = world.run(&["show", "nothing", "-q"]).exits(4);
    assert!(outcome.stdout.is_empty() && outcome.stderr.starts_with("error: "), "{outcome}");
}

#[test]
fn verbose_says_where_the_file_is() {
    let world = World::new();
    let outcome = world.run(&["save", "042", "-v"]).succeeds();
    assert!(outcome.stderr.contains(world.checkpoint_file("042", 1).to_str().unwrap()), "{outcome}");
}

/// Commands that have an answer although something did not work out, and what they have to say about that.
#[test]
fn what_did_not_work_out_is_said_all_the_same() {
    let world = World::with_checkpoints(2);
    world.configure("[save]\nauto_cleanup = false\n");
    world.run(&["save", "w"]).succeeds();
    world.run(&["save", "purged", "--workflow-status", "failed"]).succeeds();
    world.run(&["cleanup", "--workflow", "purged", "--purge", "--yes"]).succeeds();
    world.run(&["save", "broken"]).succeeds();
    world.replace_checkpoint("broken", 1, b"x");
    world.write("cut.json", "{");
    world.write("good.json", "{\"id\": \"good\", \"completed_steps\": [\"x\"], \"next_step\": \"y\"}");
    let cases: [(&[&str], i32, &str, &str); 6] = [
        (&["restore", "purged"], 3, "purged/3\n", "failed: purged/1: "),
        (&["archive", "w", "nope", "--as", "failed"], 3, "w\n", "failed: nope: there is no workflow `nope`"),
        (&["archive", "--finished"], 0, "", "warning: `broken` cannot be judged"),
        (&["import", "cut.json", "good.json"], 3, "good/1\n", "failed: "),
        (&["list", "--status", "abandoned"], 0, "broken\n", "damaged: "),
        (&["log", "broken"], 0, "broken/1\n", "damaged: "),
    ];
    for (args, code, stdout, stderr) in cases {
        let quiet = world.copy().run(&[args, &["-q"]].concat());
        assert_eq!((quiet.code(), quiet.stdout.as_str()), (code, stdout), "{args:?}: {quiet}");
        assert!(quiet.stderr.starts_with(stderr), "{args:?}: {quiet}");
        let spoken = world.copy().run(args);
        assert!(spoken.stderr.starts_with(stderr), "the same words: {spoken}");
        let program = world.copy().run(&[args, &["--json", "-q"]].concat());
        assert_eq!(program.stderr, "", "{args:?}: a program reads them in the document");
    }
    // A file stands where the bundles of `w` would be.
    std::fs::create_dir_all(world.store().join("archive")).unwrap();
    std::fs::write(world.store().join("archive/w"), "an obstacle").unwrap();
    world.run(&["save", "done", "--phases", "a", "--phase", "a"]).succeeds();
    let cleanup = world.ckpt(&["cleanup", "--max-age", "1d", "-q"]).env("CKPT_NOW", "2026-03-30T12:00:00Z");
    let outcome = cleanup.run().exits(3);
    assert!(outcome.stderr.starts_with("failed: ") && outcome.stdout.contains("done/1\n"), "{outcome}");
}
