//! Help: every command has examples, and every example is a command.

use crate::support::offered::shell_words;
use crate::support::project::World;

fn names() -> Vec<String> {
    ckpt::cli::command_tree().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// The pages of the program and of each command, short and long.
fn pages() -> Vec<String> {
    let world = World::new();
    let mut pages = Vec::new();
    for flag in ["-h", "--help"] {
        pages.push(world.run(&[flag]).succeeds().stdout);
        pages.extend(names().iter().map(|name| world.run(&[name.as_str(), flag]).succeeds().stdout));
    }
    pages
}

#[test]
fn every_page_has_examples_and_says_nothing_on_stderr() {
    let world = World::new();
    for name in names() {
        let outcome = world.run(&[name.as_str(), "--help"]).succeeds();
        assert!(outcome.stdout.contains("\nExamples:\n"), "{outcome}");
        assert_eq!(outcome.stderr, "");
    }
    let page = world.run(&["--help"]).succeeds().stdout;
    assert!(names().iter().all(|name| page.contains(&format!("\n  {name}"))), "{page}");
}

#[test]
fn every_example_is_understood() {
    let mut tried = 0;
    for page in pages() {
        for line in page.lines().map(str::trim).filter(|line| line.starts_with("ckpt ")) {
            let words = shell_words(line);
            let parsed = ckpt::cli::command_tree().try_get_matches_from(&words);
            let is_help = parsed.as_ref().err().is_some_and(|error| error.exit_code() == 0);
            assert!(is_help || parsed.is_ok(), "{line}");
            tried += 1;
        }
    }
    assert!(tried > 40, "only {tried} examples found");
}

#[test]
fn every_example_of_save_saves() {
    let world = World::new();
    world.write("docs/spec.md", "hello");
    let page = world.run(&["save", "--help"]).succeeds().stdout;
    for line in page.lines().map(str::trim).filter(|line| line.starts_with("ckpt save")) {
        let words = shell_words(line);
        let stdin = line.split_once("<<< ").map(|(_, given)| given.trim_matches('\'')).unwrap_or_default();
        world.ckpt(&words[1..]).stdin(stdin).run().succeeds();
    }
    assert!(world.numbers("042").len() >= 6, "{page}");
}

#[test]
fn help_fits_a_narrow_terminal() {
    for page in pages() {
        for line in page.lines() {
            assert!(line.chars().count() <= 120, "{line}");
        }
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let outcome = World::new().run(&["-V"]);
    assert_eq!(outcome.succeeds().stdout, format!("ckpt {}\n", env!("CARGO_PKG_VERSION")));
}
