//! The README is true: every console block is run, in order, in one project, and must print what it shows.
//!
//! `UPDATE_README=1 cargo test readme` writes what the commands print now; read the difference before committing it.

use std::path::Path;
use std::process::Command;

/// What the reader sees instead of a temporary directory.
const PROJECT: &str = "/home/kim/oauth";

struct Shell {
    dir: tempfile::TempDir,
    minutes: u32,
}

impl Shell {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tasks")).unwrap();
        std::fs::write(dir.path().join("tasks/042-S1-IDEA.md"), "# Idea\n").unwrap();
        Self { dir, minutes: 0 }
    }

    /// Runs a command a minute after the one before, and returns what a terminal would show.
    fn run(&mut self, command: &str) -> String {
        let binary = Path::new(env!("CARGO_BIN_EXE_ckpt"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
        let now = format!("2026-01-30T{:02}:{:02}:00Z", 14 + self.minutes / 60, self.minutes % 60);
        self.minutes += 1;
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(self.dir.path())
            .env_clear()
            .envs([("PATH", path.as_str()), ("HOME", "/nonexistent"), ("USER", "kim"), ("CKPT_NOW", &now)])
            .output()
            .unwrap();
        let real = std::fs::canonicalize(self.dir.path()).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        hide_digests(&text.replace(&real.display().to_string(), PROJECT))
    }
}

/// Digests contain random save ids; their place is what matters.
fn hide_digests(text: &str) -> String {
    let mut hidden = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()) {
        let (before, digits) = rest.split_at(start);
        let end = digits.find(|c: char| !matches!(c, '0'..='9' | 'a'..='f')).unwrap_or(digits.len());
        hidden.push_str(before);
        hidden.push_str(if end == 64 { "..." } else { &digits[..end] });
        rest = &digits[end..];
    }
    hidden + rest
}

#[test]
fn every_console_block_prints_what_it_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).unwrap();
    let mut shell = Shell::new();
    let mut actual = String::new();
    let mut in_console = false;
    let mut commands = 0;
    for line in readme.lines() {
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        let command = line.strip_prefix("$ ").filter(|_| in_console);
        let is_output = in_console && command.is_none() && line != "```console";
        if !is_output {
            actual.push_str(line);
            actual.push('\n');
        }
        if let Some(command) = command {
            commands += 1;
            actual.push_str(&shell.run(command));
        }
    }
    assert!(commands > 20, "the README has lost its commands");
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, &actual).unwrap();
    } else if actual != readme {
        let (shown, printed) = readme.lines().zip(actual.lines()).find(|(a, b)| a != b).unwrap_or(("", ""));
        panic!(
            "the README shows\n  {shown}\nbut this was printed:\n  {printed}\nrun with UPDATE_README=1 and read the difference"
        );
    }
}

#[test]
fn the_exit_codes_in_the_readme_are_those_of_the_program() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for exit in ckpt::cli::Exit::ALL {
        let row = format!("| {} | {} |", exit.code(), exit.name());
        assert!(readme.contains(&row), "{row}");
    }
}

#[test]
fn every_command_is_in_the_readme() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for command in ckpt::cli::command_tree().get_subcommands() {
        assert!(readme.contains(&format!("`{}", command.get_name())), "{}", command.get_name());
    }
}

#[test]
fn the_settings_in_the_readme_are_understood() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let settings = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let config = ckpt::core::Config::parse(settings).unwrap();
    assert!(config.is_configured("release") && config.is_configured("careful"));
}
