//! The commands in texts for users. None of them may fail to parse, so every output of every test is looked at.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex};

use clap::Command;
use serde_json::Value;

/// All commands. To build them takes milliseconds, and every output of every test is looked at.
static TREE: LazyLock<Command> = LazyLock::new(ckpt::cli::command_tree);

/// The lines that were understood before; most outputs offer the same few.
static UNDERSTOOD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Asserts that the program understands every command that a text offers.
#[track_caller]
pub(crate) fn assert_understood(text: &str) {
    for line in commands(text) {
        // Only a shell can tell what a substitution or a variable is.
        if line.contains("$(") || line.contains("\"$") || UNDERSTOOD.lock().unwrap().contains(&line) {
            continue;
        }
        let piped = line.strip_prefix("printf ").and_then(|line| line.split(" | ").last());
        let words = shell_words(piped.unwrap_or(&line));
        // `ckpt import` alone is the name of a command.
        if words.len() == 2 && is_name(&words[1]) {
            continue;
        }
        assert!(is_understood(&words), "`{line}` is offered and not understood, in:\n{text}");
        UNDERSTOOD.lock().unwrap().insert(line);
    }
}

/// Returns true if the program can parse this line.
pub(crate) fn is_understood(words: &[String]) -> bool {
    match TREE.clone().try_get_matches_from(words) {
        Ok(_) => true,
        // The text of help and version is an error of clap.
        Err(error) => error.exit_code() == 0,
    }
}

/// The commands that a text offers: in backquotes, after a colon, or a line of their own.
pub(crate) fn commands(text: &str) -> Vec<String> {
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        let help = document["help"].as_array().into_iter().flatten().filter_map(Value::as_str);
        return help.flat_map(commands_of_line).collect();
    }
    text.lines().flat_map(commands_of_line).collect()
}

fn commands_of_line(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let own = line.strip_prefix("help: ").unwrap_or(line);
    let is_command =
        |text: &str| text.strip_prefix("ckpt ").is_some_and(|rest| is_name(rest.split(' ').next().unwrap()));
    if own.starts_with("printf ") || is_command(own) || (own != line && own.starts_with("ckpt ")) {
        return vec![own.split("  #").next().unwrap().to_owned()];
    }
    if line.starts_with("Usage: ") {
        return Vec::new();
    }
    let mut commands: Vec<String> =
        line.split('`').skip(1).step_by(2).filter(|text| text.starts_with("ckpt ")).map(str::to_owned).collect();
    if commands.is_empty() {
        let behind_colon = line.split(": ").skip(1).filter(|text| text.starts_with("ckpt "));
        commands.extend(behind_colon.map(|text| {
            let end = text.find("; ").or_else(|| text.find(", ")).unwrap_or(text.len());
            text[..end].to_owned()
        }));
    }
    commands
}

/// True if this is the name of a command.
fn is_name(word: &str) -> bool {
    TREE.find_subcommand(word).is_some()
}

/// The words of a command line, up to a pipe, a redirection or another command.
pub(crate) fn shell_words(line: &str) -> Vec<String> {
    let mut words: Vec<Option<String>> = vec![None];
    let mut quote = None;
    let mut chars = line.split(" && ").next().unwrap().chars();
    while let Some(c) = chars.next() {
        let word = words.last_mut().unwrap();
        match (quote, c) {
            (None, '|' | '>' | '<') => break,
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.push(None),
            (Some(open), c) if open == c => quote = None,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.into_iter().flatten().collect()
}

/// A harness that cannot see a mistake proves nothing: it is seen again after it was seen once.
#[test]
fn a_line_that_is_not_understood_is_noticed_each_time() {
    for _ in 0..2 {
        for text in ["Undo: ckpt save 042 --no-such-flag", "help: ckpt sav 042"] {
            assert!(std::panic::catch_unwind(|| assert_understood(text)).is_err(), "{text}");
        }
    }
    assert_understood("Undo: ckpt save 042 --phase a");
}
