//! The tests see nothing of the machine they run on: neither what lies above their directories nor the environment.

use std::path::Path;
use std::process::Command;

use crate::support::files::memory_directory;
use crate::support::program::CKPT;
use crate::support::project::Tree;
use crate::support::proof::amount;

/// Tests that would notice: they use the store, git, the user's settings, colours, questions and agents.
const SAMPLE: [&str; 4] = ["cli::save::git", "cli::discovery", "cli::init", "cli::contracts"];

/// Variables that the program or a program it resembles looks at, with values that would mislead it.
const HOSTILE: [(&str, &str); 22] = [
    ("CKPT_STORE", "/nonexistent/.ckpt"),
    ("CKPT_WORKFLOW", "other"),
    ("CKPT_NOW", "1970-01-01T00:00:00Z"),
    ("CKPT_NO_INPUT", "1"),
    ("CKPT_CEILING_DIRECTORIES", "/"),
    ("GIT_DIR", "/nonexistent/.git"),
    ("GIT_WORK_TREE", "/nonexistent"),
    ("GIT_INDEX_FILE", "/nonexistent/index"),
    ("GIT_CEILING_DIRECTORIES", "/"),
    ("GIT_CONFIG_GLOBAL", "/nonexistent/config"),
    ("GIT_AUTHOR_NAME", "nobody"),
    ("XDG_CONFIG_HOME", "/nonexistent/config"),
    ("XDG_CACHE_HOME", "/nonexistent/cache"),
    ("XDG_DATA_HOME", "/nonexistent/data"),
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_SESSION_ID", "hostile"),
    ("CODEX_SANDBOX", "1"),
    ("GITHUB_ACTIONS", "true"),
    ("NO_COLOR", "1"),
    ("CLICOLOR_FORCE", "1"),
    ("LANG", "tr_TR.UTF-8"),
    ("SUDO_UID", "12345"),
];

fn run(program: &str, args: &[&str], dir: &Path) {
    let done = Command::new(program).args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn tests_pass_below_a_store_and_a_repository_and_with_a_hostile_environment_and_leave_nothing_behind() {
    let around = memory_directory();
    let around = around.path();
    let temporary = around.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    run("git", &["init", "-q"], around);
    run(&CKPT, &["save", "042", "--phase", "outside"], around);
    let before = Tree::of(&around.join(".ckpt"));

    let mut tests = Command::new(std::env::current_exe().unwrap());
    tests.args(&SAMPLE[..amount(2, SAMPLE.len())]).env("TMPDIR", &temporary).envs(HOSTILE);
    let output = tests.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("test result: ok"), "{stdout}");

    assert_eq!(before.changes(&Tree::of(&around.join(".ckpt"))), [""; 0], "the store above was written to");
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
