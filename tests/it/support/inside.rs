//! Command lines inside the test process.
//!
//! To start the program takes several times as long as most commands do, and the tests run tens of thousands. So a command
//! line runs in a thread with a working directory, variables and streams of its own, from its arguments to its exit code,
//! unless it needs a process. `CKPT_TEST_PROCESSES=1` starts one for every command line; the answers must be the same.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::LazyLock;

use ckpt::cli::testing::{Finished, run_line};
use rustix::thread::UnshareFlags;

/// The stack of the first thread of a process.
const STACK: usize = 8 << 20;

/// Words that no command line has that runs inside.
pub(crate) const PROCESS_WORDS: [&str; 14] = [
    // Start other programs, which would see the variables of the tests.
    "pull",
    "push",
    "remote",
    "run",
    "setup",
    "sync",
    "ui",
    "--",
    // Answer for as long as somebody asks.
    "mcp",
    // Say where the program is.
    "completions",
    "doctor",
    // As wide as the terminal of the process.
    "--help",
    "-h",
    "help",
];

/// True if every command line is to be a process.
static ONLY_PROCESSES: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("CKPT_TEST_PROCESSES").is_some_and(|value| value == "1"));

/// True if this command line can do without a process.
pub(super) fn runs_inside(args: &[OsString], variables: &[(String, OsString)]) -> bool {
    let needs_process = |arg: &OsString| PROCESS_WORDS.iter().any(|word| arg == OsStr::new(word));
    let completes = variables.iter().any(|(name, _)| name == "COMPLETE");
    !*ONLY_PROCESSES && !args.is_empty() && !completes && !args.iter().any(needs_process)
}

/// Runs a command line in a directory. A panic is the caller's.
pub(super) fn run_inside(
    args: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    dir: &Path,
    stdin: Vec<u8>,
) -> Finished {
    let dir = dir.to_owned();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        enter(&dir);
        run_line(args, variables, stdin)
    });
    thread.unwrap().join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Changes the working directory of this thread, and of no other.
fn enter(dir: &Path) {
    #[expect(deprecated, reason = "only unsafe for file descriptors, which stay shared")]
    rustix::thread::unshare(UnshareFlags::FS).unwrap();
    std::env::set_current_dir(dir).unwrap();
}

#[test]
fn a_command_line_inside_has_a_working_directory_of_its_own() {
    let outside = std::env::current_dir().unwrap();
    let temp = tempfile::tempdir().unwrap();
    let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    let run = |line: &str| run_inside(words(line), Vec::new(), temp.path(), b"{\"n\": 1}".to_vec());
    let saved = run("ckpt save 042 -q --state -");
    assert_eq!((saved.code, saved.stdout.as_slice(), saved.stderr.as_str()), (0, &b"042/1\n"[..], ""));
    assert!(temp.path().join(".ckpt/workflows/042/00000001.json").exists());
    let refused = run("ckpt show 043");
    assert_eq!((refused.code, refused.stdout.as_slice()), (4, &b""[..]));
    assert!(refused.stderr.contains("043"), "{}", refused.stderr);
    assert_eq!(std::env::current_dir().unwrap(), outside);
}

#[test]
fn what_needs_a_process_gets_one() {
    let variables = [("COMPLETE".into(), "bash".into())];
    let inside = |line: &str| runs_inside(&line.split(' ').map(OsString::from).collect::<Vec<_>>(), &[]);
    for line in ["run -- true", "resume 042 -- true", "save --help", "--store x push", "mcp", "doctor"] {
        assert!(!inside(line), "{line}");
    }
    assert_eq!(inside("save 042 --phase a"), !*ONLY_PROCESSES);
    assert!(!runs_inside(&[], &[]) && !runs_inside(&["list".into()], &variables));
}
