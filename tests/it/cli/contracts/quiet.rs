//! `-q` prints only the essential value, and nothing on stderr.

use crate::world::World;

#[test]
fn only_the_essential_value_is_printed() {
    let world = World::new();
    let store = format!("{}\n", world.store().display());
    let cases: [(&[&str], &str); 7] = [
        (&["init", "-q"], &store),
        (&["save", "042", "--phase", "a", "-q"], "042/1\n"),
        (&["-q", "save", "042", "--if-changed"], "042/1\n"),
        (&["list", "-q"], "042\n"),
        (&["list", "042", "--quiet"], "042/1\n"),
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
