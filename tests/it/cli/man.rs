//! `ckpt man`

use std::collections::BTreeSet;
use std::path::Path;

use ckpt::cli::Exit;

use crate::support::project::World;

#[test]
fn there_is_a_page_for_the_program_and_for_each_command() {
    let world = World::new();
    let page = world.run(&["man"]).succeeds().stdout;
    assert!(page.contains(".TH ckpt 1") && page.contains(".SH SYNOPSIS"), "{page}");
    for command in ckpt::cli::command_tree().get_subcommands() {
        let page = world.run(&["man", command.get_name()]).succeeds().stdout;
        let title = format!(".TH ckpt-{} 1", command.get_name());
        assert!(page.contains(&title) && page.contains(".SH EXAMPLES\n.nf\n\\&"), "{page}");
        assert!(!page.contains("EXTRA"), "{page}");
    }
    world.refuses(&["man", "nothing"], 4, "no_such_command");
}

/// A section of the manual as a reader sees it.
fn section(page: &str, title: &str) -> String {
    let start = page.find(&format!(".SH {title}\n")).unwrap_or_else(|| panic!("no {title}: {page}"));
    let behind = &page[start + 4..];
    behind[..behind.find("\n.SH ").unwrap_or(behind.len())].replace(r"\-", "-")
}

/// The names between double quotes that look like variables, in the lines of a file that read the environment.
fn variables(file: &Path, found: &mut BTreeSet<String>) {
    if file.is_dir() {
        for entry in std::fs::read_dir(file).unwrap() {
            variables(&entry.unwrap().path(), found);
        }
        return;
    }
    let text = std::fs::read_to_string(file).unwrap();
    let is_table = file.ends_with("caller.rs");
    let reads = [".var(", ".var_os(", ".is_set(", "const VARIABLE"];
    for line in text.lines().filter(|line| is_table || reads.iter().any(|read| line.contains(read))) {
        let is_name = |word: &&str| {
            word.len() > 1
                && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
                && !word.ends_with('_')
        };
        found.extend(line.split('"').skip(1).step_by(2).filter(is_name).map(str::to_owned));
    }
}

#[test]
fn the_manual_has_every_variable_exit_code_and_file() {
    let page = World::new().run(&["man"]).succeeds().stdout;
    let environment = section(&page, "ENVIRONMENT");
    let mut names = BTreeSet::new();
    variables(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"), &mut names);
    for known in ["CKPT_STORE", "CKPT_NOW", "NO_COLOR", "XDG_CONFIG_HOME", "CLAUDECODE", "COMPLETE"] {
        assert!(names.contains(known), "the search does not find {known}: {names:?}");
    }
    let words: BTreeSet<&str> = environment.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for name in &names {
        // `\\fBNAME\\fR` is split at the backslashes.
        let is_listed = words.contains(name.as_str()) || words.contains(format!("fB{name}").as_str());
        assert!(is_listed, "{name} is read and not in the manual");
    }
    let codes = section(&page, "EXIT STATUS");
    for exit in Exit::ALL {
        assert!(codes.contains(&format!("\\fB{}\\fR\n{}", exit.code(), exit.meaning())), "{exit:?}: {codes}");
    }
    let files = section(&page, "FILES");
    let layout = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/ckpt-store/src/layout.rs"));
    let layout = layout.unwrap();
    // The names of everything at the top of a store.
    let names: Vec<&str> = layout
        .lines()
        .filter(|line| line.contains("pub") && line.contains("const ") && line.contains(": &str = "))
        .map(|line| line.split('"').nth(1).unwrap())
        .collect();
    assert!(names.len() > 6, "{names:?}");
    for file in names.into_iter().chain(["XDG_CONFIG_HOME"]) {
        assert!(files.contains(file), "{file}: {files}");
    }
}

/// Every setting is in what `init` writes, which the manual repeats.
#[test]
fn the_manual_has_every_setting() {
    let world = World::new();
    world.run(&["init"]).succeeds();
    let written = std::fs::read_to_string(world.store().join("config.toml")).unwrap();
    let manual = section(&world.run(&["man"]).succeeds().stdout, "SETTINGS");
    let keys = |document: &str| -> Vec<String> {
        let message = ckpt_model::Config::parse(document).unwrap_err();
        let (_, expected) = message.split_once("expected ").unwrap_or_else(|| panic!("{message}"));
        expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let mut settings = Vec::new();
    for table in keys("zzz = 1") {
        let inside = if table == "pipelines" { "pipelines.x" } else { &table };
        settings.extend(keys(&format!("[{inside}]\nzzz = 1")));
    }
    settings.extend(keys("[pipelines.x]\nphases = [{ id = 'a', zzz = 1 }]"));
    assert!(settings.len() > 20, "{settings:?}");
    for setting in settings {
        for (name, text) in [("config.toml", &written), ("the manual", &manual)] {
            let is_key = |line: &str| {
                let words: Vec<&str> =
                    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
                words.contains(&setting.as_str())
            };
            assert!(text.lines().any(is_key), "{setting} is not in {name}:\n{text}");
        }
    }
}
