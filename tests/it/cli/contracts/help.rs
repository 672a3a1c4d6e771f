//! Help: every command has examples, and every example is a command.

use std::sync::LazyLock;

use crate::support::offered::{is_understood, shell_words};
use crate::support::project::World;

fn names() -> Vec<String> {
    ckpt::cli::command_tree().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

/// The page of a command; without a name, of the program.
struct Page {
    name: Option<String>,
    flag: &'static str,
    text: String,
    stderr: String,
}

/// The pages of the program and of each command, short and long.
static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let world = World::new();
    let names: Vec<_> = [None].into_iter().chain(names().into_iter().map(Some)).collect();
    let page = |name: &Option<String>, flag| {
        let words: Vec<&str> = name.as_deref().into_iter().chain([flag]).collect();
        let outcome = world.run(&words).succeeds();
        Page { name: name.clone(), flag, text: outcome.stdout, stderr: outcome.stderr }
    };
    ["-h", "--help"].into_iter().flat_map(|flag| names.iter().map(move |name| page(name, flag))).collect()
});

#[test]
fn every_page_has_examples_and_says_nothing_on_stderr() {
    for Page { name, flag, text, stderr } in PAGES.iter() {
        assert!(*flag == "-h" || text.contains("\nExamples:\n"), "{name:?}: {text}");
        assert_eq!(stderr, "", "{name:?} {flag}");
        if name.is_none() {
            assert!(names().iter().all(|name| text.contains(&format!("\n  {name}"))), "{text}");
        }
    }
}

#[test]
fn every_example_is_understood() {
    let mut tried = 0;
    for page in PAGES.iter() {
        for line in page.text.lines().map(str::trim).filter(|line| line.starts_with("ckpt ")) {
            assert!(is_understood(&shell_words(line)), "{line}");
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
    for page in PAGES.iter() {
        for line in page.text.lines() {
            assert!(line.chars().count() <= 120, "{line}");
        }
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let outcome = World::new().run(&["-V"]);
    assert_eq!(outcome.succeeds().stdout, format!("ckpt {}\n", env!("CARGO_PKG_VERSION")));
}

/// The words of every command have a place, and the commands of a group stand together.
#[test]
fn commands_are_shown_in_groups() {
    let page = World::new().run(&["--help"]).succeeds().stdout;
    let (list, options) = page.split_once("Global options:\n").unwrap();
    let headings: Vec<&str> = list.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
    assert_eq!(
        headings,
        ["Every day:", "History and decisions:", "Keeping the store:", "Sharing:", "Other systems:", "Set-up:"],
        "{page}"
    );
    for name in names() {
        let lines = list.lines().filter(|line| line.starts_with(&format!("  {name} "))).count();
        assert_eq!(lines, 1, "{name}: {page}");
    }
    assert!(list.lines().all(|line| line.chars().count() <= 100), "no line is wrapped: {list}");
    for flag in ["--store", "--json", "--color", "--no-input", "--quiet", "--verbose", "--version"] {
        assert!(options.contains(flag), "{flag}: {page}");
    }
    assert!(page.contains("\n  ckpt resume 042\n"), "{page}");
}

#[test]
fn global_options_are_explained_once() {
    for Page { text, .. } in PAGES.iter().filter(|page| page.name.is_some()) {
        assert!(!text.contains("Global options"), "{text}");
        assert_eq!(text.matches("--no-input").count(), 1, "{text}");
        assert!(text.contains("`ckpt --help` explains them"), "{text}");
    }
    let world = World::new();
    // They still work there, before and after the command.
    world.run(&["save", "042", "-q", "--color", "never"]).succeeds();
    assert_eq!(world.run(&["-q", "pipeline", "list", "--no-input"]).succeeds().stderr, "");
    assert_eq!(world.run(&["pipeline", "list", "--json"]).succeeds().document()["format"], "ckpt.pipelines.v1");
}

/// Flags that may be repeated say so, and those with a fixed set of words name them.
#[test]
fn values_and_repetition_are_said() {
    fn all(command: &clap::Command, found: &mut Vec<clap::Arg>) {
        found.extend(command.get_arguments().cloned());
        command.get_subcommands().for_each(|inner| all(inner, found));
    }
    let mut flags = Vec::new();
    all(&ckpt::cli::command_tree(), &mut flags);
    let help = |flag: &clap::Arg| flag.get_help().map(ToString::to_string).unwrap_or_default();
    let mut repeatable = 0;
    for flag in flags.iter().filter(|flag| !flag.is_positional()) {
        let repeats = matches!(flag.get_action(), clap::ArgAction::Append);
        assert_eq!(help(flag).ends_with("(repeatable)"), repeats, "{flag}");
        repeatable += usize::from(repeats);
        assert!(!help(flag).is_empty(), "{flag}");
    }
    assert!(repeatable > 8, "{repeatable}");
    let named =
        |name: &str| -> Vec<String> { flags.iter().filter(|flag| flag.get_long() == Some(name)).map(help).collect() };
    for trigger in ckpt_model::Trigger::OF_SAVES {
        assert!(named("trigger").iter().all(|help| help.contains(trigger.word())), "{trigger}");
    }
    for dialect in ckpt_formats::dialects::Dialect::ALL {
        assert!(named("as-dialect").iter().all(|help| help.contains(dialect.word())), "{dialect}");
    }
    for dialect in ["kamiflow", "dotagent", "claude-dir", "claude-plan", "crunch"] {
        assert!(
            named("as")
                .iter()
                .all(|help| help.contains(dialect) || help.contains("became") || help.contains("new workflow"))
        );
    }
}
