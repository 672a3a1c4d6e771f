//! Failures: for people `error:` and `help:`, for programs one line of JSON on stderr, and nothing on stdout.

use crate::support::offered::commands;
use crate::support::project::World;

/// One call for each way to go wrong that leaves nothing behind.
fn mistakes() -> (World, Vec<Vec<&'static str>>) {
    let world = World::with_checkpoints(1);
    world.run(&["save", "bad"]).succeeds();
    world.replace_checkpoint("bad", 1, b"x");
    let mistakes: [&[&str]; 22] = [
        &[],
        &["nonsense"],
        &["--nonsense"],
        &["sav", "042"],
        &["save", "042", "--phse", "x"],
        &["save", "042", "--status", "failed"],
        &["save", "042", "--phase"],
        &["save", "042", "surplus"],
        &["list", "-n", "many"],
        &["list", "--color", "sometimes"],
        &["list", "-q", "-v"],
        &["show"],
        &["show", "../x"],
        &["show", "042/9"],
        &["show", "nothing"],
        &["show", "bad"],
        &["save", "bad"],
        &["save", "042", "--expect", "042/9"],
        &["save", "042", "--state", "{"],
        &["save", "042", "--artifact", "nowhere"],
        &["schema", "nothing"],
        &["completions", "tcsh"],
    ];
    (world, mistakes.map(<[_]>::to_vec).to_vec())
}

#[test]
fn a_program_gets_one_valid_line_and_an_empty_stdout() {
    let (world, mistakes) = mistakes();
    for mistake in mistakes {
        for args in [[&mistake[..], &["--json"]].concat(), [&["--json"], &mistake[..]].concat()] {
            let outcome = world.run(&args);
            assert_ne!(outcome.code(), 0, "{args:?}");
            let failure = outcome.failure();
            assert!(failure["help"].as_array().is_some_and(|help| !help.is_empty()), "{args:?}: {failure}");
        }
    }
}

#[test]
fn a_person_gets_an_error_and_what_to_do_about_it() {
    let (world, mistakes) = mistakes();
    for args in mistakes {
        let outcome = world.run(&args);
        assert_eq!(outcome.stdout, "", "{args:?}");
        let lines: Vec<_> = outcome.stderr.lines().collect();
        let message = lines[0].strip_prefix("error: ").unwrap_or_else(|| panic!("{args:?}: {outcome}"));
        assert!(!message.starts_with(char::is_uppercase) && !message.ends_with('.'), "{message}");
        assert!(lines.last().unwrap().starts_with("  help: "), "{args:?}: {outcome}");
        assert!(!outcome.stderr.contains("Usage:"), "{outcome}");
    }
}

#[test]
fn both_say_the_same() {
    let (world, mistakes) = mistakes();
    for args in mistakes {
        let person = world.run(&args);
        let program = world.run(&[&args[..], &["--json"]].concat());
        assert_eq!(person.code(), program.code(), "{args:?}");
        let message = program.failure()["message"].as_str().unwrap().lines().next().unwrap().to_owned();
        assert!(person.stderr.contains(&message), "{args:?}: {person}");
    }
}

#[test]
fn a_misspelt_flag_is_answered_with_the_right_one() {
    let outcome = World::new().run(&["save", "042", "--phse", "x"]);
    insta::assert_snapshot!(outcome, @"
    exit 2
    --- stderr
    error: unexpected argument `--phse` found
      help: ckpt save 042 --phase x
    --- end
    ");
}

#[test]
fn a_misspelt_command_is_answered_with_the_right_one() {
    let outcome = World::new().run(&["lits"]);
    insta::assert_snapshot!(outcome, @"
    exit 2
    --- stderr
    error: unrecognized subcommand `lits`
      help: ckpt list
    --- end
    ");
}

#[test]
fn no_command_is_answered_with_a_start() {
    let outcome = World::new().run::<&str>(&[]);
    insta::assert_snapshot!(outcome, @"
    exit 2
    --- stderr
    error: say what to do
      help: `ckpt --help` lists the commands
      help: `ckpt start demo --phases plan,build,test --phase plan` begins a workflow
    --- end
    ");
}

#[test]
fn json_behind_two_dashes_is_no_flag() {
    let outcome = World::new().run(&["save", "--", "--json", "x"]);
    assert!(outcome.stderr.starts_with("error: "), "{outcome}");
    outcome.exits(2);
}

#[test]
fn a_time_that_is_none_is_refused() {
    let world = World::new();
    let failure = world.ckpt(&["save", "042"]).env("CKPT_NOW", "yesterday").refused(2, "bad_time");
    assert!(failure["message"].as_str().unwrap().contains("CKPT_NOW"), "{failure}");
}

#[test]
fn a_working_directory_that_is_gone_is_said() {
    let world = World::new();
    let gone = world.ckpt(&["save", "042", "--json"]).in_shell("mkdir gone && cd gone && rmdir ../gone && \"$@\"");
    let failure = gone.env("PATH", "/usr/bin:/bin").run().exits(1).failure();
    assert_eq!(failure["code"], "no_working_directory");
}

#[test]
fn advice_fits_what_was_typed() {
    let world = World::with_checkpoints(2);
    let help = |args: &[&str], exit: i32| {
        let outcome = world.run(&[args, &["--json"]].concat()).exits(exit);
        outcome.failure()["help"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(help(&["save", "042/2"], 2), ["ckpt save 042 --json", "it names a checkpoint; the workflow is `042`"]);
    assert_eq!(help(&["archive", "042~1"], 2), ["it names a checkpoint; the workflow is `042`"]);
    assert_eq!(help(&["save", "a/b"], 2), ["the nearest legal id is `a-b`"]);
    for value in ["- write the parser", "-x", "--foo bar", "-1"] {
        let quoted = if value.contains(' ') { format!("'{value}'") } else { value.to_owned() };
        let line = format!("ckpt save 042 --next={quoted} --json");
        assert_eq!(help(&["save", "042", "--next", value], 2), [line], "{value}");
        world.run(&["save", "042", &format!("--next={value}")]).succeeds();
    }
    assert_eq!(help(&["rollback", "042/1", "--yes"], 2), ["ckpt rollback 042/1 --json"]);
    assert_eq!(
        help(&["save", "042", "--expect", "042"], 2),
        ["write the id and the number of the checkpoint: `042/7`"]
    );
    assert_eq!(help(&["save", "042", "--data", "@none"], 2), ["check the path; it starts at the present directory"]);
    assert_eq!(help(&["save", "042", "--from", "-"], 2), ["--from takes the name of a file, or `-` for stdin"]);
    let missing = world.temp().join("none/.ckpt");
    let missing = missing.to_str().unwrap();
    let failure = world.refuses(&["list", "--store", missing], 4, "no_store");
    assert_eq!(failure["message"], format!("there is no store `{missing}`"));
    assert_eq!(failure["help"][0], format!("`ckpt init --store {missing}` creates it"));
    world.ckpt(&["list"]).env("CKPT_STORE", missing).refused(4, "no_store");
}

/// The commands that an error offers do what they promise: they are run, each in a world of its own.
#[test]
fn what_an_error_offers_works() {
    let world = World::new();
    world.run(&["start", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
    world.run(&["done", "042", "--phase", "a"]).succeeds();
    world.run(&["start", "bad", "--phase", "a"]).succeeds();
    world.run(&["save", "bad"]).succeeds();
    world.replace_checkpoint("bad", 2, b"x");
    world.configure("[pipelines.p]\nphases = [\"a\"]\n");
    let situations: [(&[&str], usize); 16] = [
        (&[], 2),
        (&["frobnicate"], 1),
        (&["list", "--nonsense"], 1),
        (&["create", "043"], 1),
        (&["show", "none"], 1),
        (&["show", "042/9"], 1),
        (&["show", "bad"], 2),
        (&["save", "042", "--expect", "042/1"], 1),
        (&["archive", "042"], 1),
        (&["restore", "042/1"], 1),
        (&["restore", "042/2"], 1),
        (&["resume"], 2),
        (&["status"], 2),
        (&["save", "042", "--from", "{}"], 1),
        (&["show", "042", "--pointer", "/none"], 1),
        (&["approve", "042"], 0),
    ];
    for (args, offers) in situations {
        let outcome = world.copy().run(args);
        assert_ne!(outcome.code(), 0, "{args:?}");
        let lines = commands(&outcome.stderr);
        assert_eq!(lines.len(), offers, "{args:?}: {outcome}");
        for line in lines {
            let offered = world.copy().shell(&line);
            // The damaged newest one needs a confirmation.
            let expected = if line == "ckpt resume bad" { 7 } else { 0 };
            assert_eq!(offered.code(), expected, "{args:?} offers `{line}`: {offered}");
        }
    }
    let nothing = World::new();
    for line in commands(&nothing.run(&["list"]).exits(4).stderr) {
        nothing.copy().shell(&line).succeeds();
    }
}
