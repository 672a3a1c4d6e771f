//! Every console block is run, page by page, and must print what it shows.
//!
//! The blocks of one page run in order in one empty project. A line `<!-- $ command -->` prepares something that the
//! reader need not see. `UPDATE_DOCS=1 cargo test docs` writes what the commands print now; read the difference before
//! committing it.

use std::path::Path;
use std::process::Command;

use super::pages::{Page, all, repository};
use super::{commands, documents};
use crate::support::offered::assert_understood;
use crate::support::program::CKPT;

/// The path that replaces a temporary directory in the output.
const HOME: &str = "/home/kim";

/// A shell in an empty project, with an empty home and a clock of its own.
struct Shell {
    home: tempfile::TempDir,
    minutes: u32,
}

impl Shell {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("project")).unwrap();
        Self { home, minutes: 0 }
    }

    /// Runs a command a minute after the one before, and returns what a terminal would show.
    fn run(&mut self, command: &str) -> String {
        let home = self.home.path().canonicalize().unwrap();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", Path::new(CKPT.as_str()).parent().unwrap().display());
        let now = format!("2026-01-30T{:02}:{:02}:00Z", 14 + self.minutes / 60, self.minutes % 60);
        self.minutes += 1;
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(home.join("project"))
            .env_clear()
            .envs([("PATH", path.as_str()), ("USER", "kim"), ("LC_ALL", "C"), ("CKPT_NOW", &now)])
            .env("HOME", &home)
            .env("CKPT_CEILING_DIRECTORIES", &home)
            .env("EXAMPLES", repository().join("examples"))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap().replace(home.to_str().unwrap(), HOME);
        assert!(output.status.success(), "`{command}` fails and the page does not say so: {text}");
        assert_understood(&text);
        hide_sizes(&hide_digests(&text))
    }

    /// Returns the text of a page with what its commands print now.
    fn replay(&mut self, text: &str) -> String {
        let mut actual = String::new();
        let mut lines = text.lines();
        let mut in_console = false;
        while let Some(line) = lines.next() {
            if let Some(hidden) = line.strip_prefix("<!-- $ ") {
                self.run(hidden.strip_suffix(" -->").unwrap());
            }
            match line {
                "```console" => in_console = true,
                "```" => in_console = false,
                _ => {}
            }
            let command = if in_console { line.strip_prefix("$ ") } else { None };
            if in_console && command.is_none() && line != "```console" {
                continue; // What was printed before.
            }
            push_line(&mut actual, line);
            let Some(command) = command else { continue };
            let mut script = command.to_owned();
            if command.ends_with("<<'EOF'") {
                for line in lines.by_ref() {
                    push_line(&mut actual, line);
                    push_line(&mut script, "");
                    script.push_str(line.strip_prefix("> ").expect("a line of the document"));
                    if line == "> EOF" {
                        break;
                    }
                }
            }
            actual.push_str(&self.run(&script));
            if !actual.ends_with('\n') {
                actual.push('\n');
            }
        }
        actual
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Digests contain random save ids; their place is what matters.
fn hide_digests(text: &str) -> String {
    let mut hidden = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()) {
        let (before, digits) = rest.split_at(start);
        let end = digits.find(|c: char| !matches!(c, '0'..='9' | 'a'..='f')).unwrap_or(digits.len());
        hidden.push_str(before);
        hidden.push_str(match end {
            64 => "...",
            12 if hidden.ends_with("--plan ") => "0123456789ab",
            _ => &digits[..end],
        });
        rest = &digits[end..];
    }
    hidden + rest
}

/// The size of a checkpoint depends on the name of the host, which is recorded in it, and the size of a bundle on random save
/// ids: every size becomes `1 kB`, and every saving `76%`.
fn hide_sizes(text: &str) -> String {
    let mut hidden = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let (number, behind) =
            number.split_at(number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len()));
        let behind_unit = behind.strip_prefix(" kB").or_else(|| behind.strip_prefix(" B"));
        let behind_unit = behind_unit.filter(|behind| !behind.starts_with(|c: char| c.is_alphanumeric()));
        hidden.push_str(before);
        hidden.push_str(match behind_unit {
            Some(_) => "1 kB",
            None if behind.starts_with("% smaller") => "76",
            None => number,
        });
        rest = behind_unit.unwrap_or(behind);
    }
    hidden + rest
}

/// Runs the console blocks of the pages for which `wanted` is true.
fn replay_pages(wanted: impl Fn(&Page) -> bool) {
    let pages: Vec<Page> = all().into_iter().filter(|page| wanted(page)).collect();
    assert!(!pages.is_empty());
    for page in pages {
        let text = match page.name.as_str() {
            commands::PAGE => commands::with_tables(&page.text),
            documents::PAGE => documents::with_tables(&page.text),
            _ => page.text.clone(),
        };
        page.assert_is(&Shell::new().replay(&text));
    }
}

#[test]
fn every_console_block_of_the_guide_prints_what_it_shows() {
    replay_pages(|page| page.name.starts_with("docs/guide/"));
}

#[test]
fn every_console_block_of_the_reference_prints_what_it_shows() {
    replay_pages(|page| page.name.starts_with("docs/reference/"));
}

#[test]
fn every_console_block_about_another_system_prints_what_it_shows() {
    replay_pages(|page| page.name.starts_with("docs/systems/"));
}

#[test]
fn every_other_console_block_prints_what_it_shows() {
    let tested = ["docs/guide/", "docs/reference/", "docs/systems/"];
    replay_pages(|page| !tested.iter().any(|start| page.name.starts_with(start)));
}

#[test]
fn every_command_that_a_page_offers_is_understood() {
    for page in all() {
        assert_understood(&page.text);
    }
}

#[test]
fn a_command_that_is_not_understood_is_noticed() {
    let offered = std::panic::catch_unwind(|| assert_understood("Type `ckpt save 042 --no-such-flag`."));
    assert!(offered.is_err());
}

#[test]
fn every_example_is_imported_by_a_page() {
    let pages = all();
    for entry in std::fs::read_dir(repository().join("examples")).unwrap() {
        let entry = entry.unwrap();
        // Those are installed by an agent, and compared with what `setup` writes.
        let is_project = entry.file_type().unwrap().is_dir() && entry.file_name() != "integrations";
        if is_project {
            let copies = format!("<!-- $ cp -r $EXAMPLES/{}/. . -->", entry.file_name().to_str().unwrap());
            assert!(pages.iter().any(|page| page.text.contains(&copies)), "{copies}");
        }
    }
}
