//! `docs/reference/commands.md` has a section for every command, with a table of all its arguments.
//!
//! The tables are made from the command line parser; `docs::console` compares them, and writes them with `UPDATE_DOCS=1`.

use clap::builder::StyledStr;
use clap::{Arg, Command};

use ckpt::pages::{Page, generate};

/// The page that is generated in part.
pub(super) const PAGE: &str = "docs/reference/commands.md";

const BEGIN: &str = "arguments of";

/// Commands that share most of their flags with `save`.
const LIKE_SAVE: [&str; 3] = ["start", "done", "fail"];

/// All commands and their subcommands, with the names that a user types.
fn commands() -> Vec<(String, Command)> {
    let mut commands = Vec::new();
    for command in ckpt::cli::command_tree().get_subcommands() {
        let name = command.get_name().to_owned();
        for inner in command.get_subcommands() {
            commands.push((format!("{name} {}", inner.get_name()), inner.clone()));
        }
        commands.push((name, command.clone()));
    }
    commands
}

/// The arguments of a command that its reader has to know: not the global ones, and not `--help`.
fn arguments(command: &Command) -> Vec<&Arg> {
    let shown = |arg: &&Arg| !arg.is_hide_set() && !arg.is_global_set() && arg.get_id() != "help";
    command.get_arguments().filter(shown).collect()
}

/// How an argument is typed: `--limit N`, `[ID]`.
fn syntax(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default().join(" ");
    let value = if arg.get_action().takes_values() { format!(" {names}") } else { String::new() };
    let Some(long) = arg.get_long() else {
        let more = if arg.get_num_args().is_some_and(|count| count.max_values() > 1) { "..." } else { "" };
        return if arg.is_required_set() { format!("<{names}>{more}") } else { format!("[{names}]{more}") };
    };
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    format!("{short}--{long}{value}")
}

fn row(arg: &Arg) -> String {
    let mut meaning = arg.get_help().map(StyledStr::to_string).unwrap_or_default();
    if arg.get_action().takes_values() {
        let values = arg.get_possible_values();
        let words: Vec<String> =
            values.iter().filter(|value| !value.is_hide_set()).map(|value| format!("`{}`", value.get_name())).collect();
        if !words.is_empty() {
            meaning.push_str(&format!(": {}", words.join(", ")));
        }
        let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() {
            meaning.push_str(&format!(" (default `{}`)", defaults.join(" ")));
        }
    }
    let cell = |text: &str| text.replace('\n', " ").replace('|', "\\|");
    format!("| `{}` | {} |\n", cell(&syntax(arg)), cell(&meaning))
}

/// The table of a command.
fn table(name: &str, command: &Command) -> String {
    let save = ckpt::cli::command_tree().find_subcommand("save").unwrap().clone();
    let shared: Vec<String> =
        if LIKE_SAVE.contains(&name) { arguments(&save).into_iter().map(row).collect() } else { Vec::new() };
    let mut rows = String::new();
    let mut like_save = Vec::new();
    for arg in arguments(command) {
        let row = row(arg);
        if shared.contains(&row) {
            like_save.push(arg.get_long().map_or("`[ID]`".to_owned(), |long| format!("`--{long}`")));
        } else {
            rows.push_str(&row);
        }
    }
    let mut text = String::new();
    if !rows.is_empty() {
        text.push_str("| argument | meaning |\n|---|---|\n");
        text.push_str(&rows);
    }
    if !like_save.is_empty() {
        text.push_str(&format!(
            "{}As for [save](#save): {}.\n",
            if text.is_empty() { "" } else { "\n" },
            like_save.join(", ")
        ));
    }
    if text.is_empty() { "It takes no arguments of its own.\n".to_owned() } else { text }
}

/// Returns the text of the page with the tables of today, which `docs::console` compares.
pub(super) fn with_tables(text: &str) -> String {
    let commands = commands();
    generate(text, BEGIN, |name| {
        let (_, command) = commands.iter().find(|(known, _)| known == name).expect("a command");
        table(name, command)
    })
}

#[test]
fn every_command_has_a_section_with_its_table() {
    let page = Page::load(PAGE);
    for (name, command) in commands() {
        let section = page.section(&format!("## {name}"));
        let has_table = section.contains(&format!("<!-- {BEGIN} {name} -->\n")) || command.has_subcommands();
        assert!(has_table, "there is no table of `{name}`");
        assert!(page.text.contains(&format!("](#{})", name.replace(' ', "-"))) || name.contains(' '), "{name}");
    }
}

#[test]
fn the_global_options_are_explained() {
    let page = Page::load(PAGE);
    let section = page.section("## Global options");
    for arg in ckpt::cli::command_tree().get_arguments().filter(|arg| arg.is_global_set()) {
        assert!(section.contains(&format!("`{}`", syntax(arg))), "{}", syntax(arg));
    }
}
