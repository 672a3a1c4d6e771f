//! A project in a temporary directory, and the program run in it.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A project directory, removed at the end.
pub struct Project {
    home: PathBuf,
    pub root: PathBuf,
}

/// The end of a run of the program.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// The words that start the program: under qemu, `CKPT_TEST_EMULATOR` comes first. Under wine the path has no drive, and a
/// process in another directory would not find it.
pub fn program() -> Vec<String> {
    let program = std::path::absolute(env!("CARGO_BIN_EXE_ckpt")).unwrap().display().to_string();
    env::var("CKPT_TEST_EMULATOR").into_iter().chain([program]).collect()
}

impl Project {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let home = env::temp_dir().join(format!("ckpt-portable-{}-{number}", std::process::id()));
        let root = home.join("project");
        fs::create_dir_all(&root).unwrap();
        Self { home, root }
    }

    /// Prepares the program with the variables of a user who has no settings, and no store above the project.
    pub fn command(&self, args: &[&str]) -> Command {
        let words = program();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["CKPT_", "GIT_", "XDG_", "CLAUDE", "CI"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        for home in ["HOME", "USERPROFILE", "APPDATA"] {
            command.env(home, &self.home);
        }
        command.env("CKPT_CEILING_DIRECTORIES", &self.home).env("NO_COLOR", "1");
        command.args(args).current_dir(&self.root).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(&self.command(args).output().unwrap())
    }

    pub fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Run::of(&child.wait_with_output().unwrap())
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program, which must succeed.
    pub fn ok(&self, args: &[&str]) -> Run {
        self.run(args).expect(args, 0)
    }

    /// Runs the program, which must end with an exit code.
    pub fn fails(&self, args: &[&str], code: i32) -> Run {
        self.run(args).expect(args, code)
    }

    /// Runs the program with `--json`, which must succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        let run = self.ok(&[args, &["--json"]].concat());
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The paths of all files and directories of the store, relative to it.
    pub fn store_paths(&self) -> Vec<PathBuf> {
        let store = self.root.join(".ckpt");
        let (mut directories, mut paths) = (vec![store.clone()], Vec::new());
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                paths.push(path.strip_prefix(&store).unwrap().to_owned());
                if path.is_dir() {
                    directories.push(path);
                }
            }
        }
        paths
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        make_writable(&self.home);
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// Undoes what a test has forbidden.
fn make_writable(path: &Path) {
    let Ok(metadata) = fs::metadata(path) else { return };
    #[expect(clippy::permissions_set_readonly_false, reason = "it is removed next")]
    if metadata.permissions().readonly() {
        let mut permissions = metadata.permissions();
        permissions.set_readonly(false);
        let _ = fs::set_permissions(path, permissions);
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            make_writable(&entry.path());
        }
    }
}

impl Run {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    pub fn expect(self, args: &[&str], code: i32) -> Self {
        assert_eq!(self.code, code, "{args:?}\nstdout: {}\nstderr: {}", self.out, self.err);
        self
    }
}
