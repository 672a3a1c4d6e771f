//! The world a test runs `ckpt` in: an empty project, an empty home, no environment, and a clock of its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use ckpt_model::digest::Digest;
use ckpt_model::schema::{Steps, Validator};
use ckpt_model::{Timestamp, WorkflowId};
use ckpt_store::Located;
use ckpt_store::Store;
use serde_json::{Value, json};

use ckpt::files::{copy_tree, memory_directory};
use ckpt::inside::{run_inside, runs_inside};
use ckpt::offered::assert_understood;
use ckpt::program::CKPT;

/// 2026-01-30T14:30:00Z; every command is run a minute after the one before it.
const FIRST_SECOND: u64 = 1_769_783_400;

/// A temporary project that nothing outside has a say in.
pub(crate) struct World {
    temp: PathBuf,
    ticks: AtomicU64,
    only_processes: bool,
    _removed_at_the_end: tempfile::TempDir,
}

impl World {
    /// A world in memory if possible, where syncing costs nothing.
    pub(crate) fn new() -> Self {
        Self::in_directory(memory_directory())
    }

    /// A world on the disk, for races: what syncs takes its time there.
    pub(crate) fn on_disk() -> Self {
        Self::inside(&std::env::temp_dir())
    }

    /// A world in a directory of the given one.
    pub(crate) fn inside(parent: &Path) -> Self {
        Self::in_directory(tempfile::tempdir_in(parent).unwrap())
    }

    fn in_directory(directory: tempfile::TempDir) -> Self {
        let temp = directory.path().canonicalize().unwrap();
        std::fs::create_dir(temp.join("project")).unwrap();
        std::fs::create_dir(temp.join("home")).unwrap();
        Self { temp, ticks: AtomicU64::new(0), only_processes: false, _removed_at_the_end: directory }
    }

    /// A world with checkpoints 1 to `count` of workflow `042`, one phase each.
    pub(crate) fn with_checkpoints(count: usize) -> Self {
        let world = Self::new();
        for phase in 1..=count {
            world.run(&["save", "042", "--phase", &phase.to_string()]).succeeds();
        }
        world
    }

    /// Another world that is as this one is now, in memory if possible.
    pub(crate) fn copy(&self) -> Self {
        let directory = memory_directory();
        let temp = directory.path().canonicalize().unwrap();
        copy_tree(&self.temp, &temp);
        let ticks = AtomicU64::new(self.ticks.load(Ordering::Relaxed));
        Self { temp, ticks, only_processes: self.only_processes, _removed_at_the_end: directory }
    }

    /// The same world, in which every command is a process: for races, and where commands start other programs.
    pub(crate) fn with_processes(self) -> Self {
        Self { only_processes: true, ..self }
    }

    /// The directory around the project and the home.
    pub(crate) fn temp(&self) -> &Path {
        &self.temp
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.temp.join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.join("home")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.project().join(".ckpt")
    }

    /// The store, opened without a process.
    pub(crate) fn open_store(&self) -> Store {
        Store::at(&Located { root: self.store(), project: self.project() }).unwrap()
    }

    pub(crate) fn workflow_dir(&self, workflow: &str) -> PathBuf {
        let id: WorkflowId = workflow.parse().unwrap();
        self.store().join("workflows").join(id.directory())
    }

    pub(crate) fn checkpoint_file(&self, workflow: &str, seq: u64) -> PathBuf {
        self.workflow_dir(workflow).join(format!("{seq:08}.json"))
    }

    /// The document stored under a number, read without the program.
    pub(crate) fn stored(&self, workflow: &str, seq: u64) -> Value {
        let bytes = std::fs::read(self.checkpoint_file(workflow, seq)).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The numbers that are taken in a workflow, in order.
    pub(crate) fn numbers(&self, workflow: &str) -> Vec<u64> {
        let Ok(entries) = std::fs::read_dir(self.workflow_dir(workflow)) else { return Vec::new() };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut numbers: Vec<u64> = names.filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Writes a file of the project, and the directories above it.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes the settings of the store, and makes the store for them.
    pub(crate) fn configure(&self, settings: &str) {
        self.write(".ckpt/config.toml", settings);
    }

    /// Writes the settings of the user.
    pub(crate) fn configure_user(&self, settings: &str) {
        let directory = self.home().join(".config/ckpt");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("config.toml"), settings).unwrap();
    }

    /// Puts other bytes into the place of a checkpoint.
    pub(crate) fn replace_checkpoint(&self, workflow: &str, seq: u64, bytes: &[u8]) {
        let path = self.checkpoint_file(workflow, seq);
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o400)).unwrap();
    }

    /// Changes a stored document and gives it the checksum that fits, as another program might.
    pub(crate) fn forge(&self, workflow: &str, seq: u64, change: impl FnOnce(&mut Value)) {
        let mut document = self.stored(workflow, seq);
        change(&mut document);
        self.replace_checkpoint(workflow, seq, &sealed(document));
    }

    pub(crate) fn ckpt<S: AsRef<OsStr>>(&self, args: &[S]) -> Invocation<'_> {
        let args = args.iter().map(|arg| arg.as_ref().to_owned()).collect();
        let dir = self.project();
        let needs_process = self.only_processes;
        Invocation { world: self, args, dir, env: Vec::new(), stdin: Vec::new(), wrapper: Vec::new(), needs_process }
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Outcome {
        self.ckpt(args).run()
    }

    /// Types a line into a shell that finds the program.
    pub(crate) fn shell(&self, line: &str) -> Outcome {
        let path = format!("{}:/usr/bin:/bin", Path::new(CKPT.as_str()).parent().unwrap().display());
        self.ckpt::<&str>(&[]).in_shell(line).env("PATH", path).run()
    }

    /// Runs with `--json` and takes the answer, which must be one valid document.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.ckpt(args).json()
    }

    /// Runs with `--json` and takes the failure; nothing in the project may have changed.
    pub(crate) fn refuses<S: AsRef<OsStr>>(&self, args: &[S], exit: i32, code: &str) -> Value {
        self.ckpt(args).refused(exit, code)
    }

    /// The current content of the project.
    pub(crate) fn tree(&self) -> Tree {
        Tree::of(&self.project())
    }

    fn next_time(&self) -> String {
        let minute = self.ticks.fetch_add(1, Ordering::Relaxed);
        let time = UNIX_EPOCH + Duration::from_secs(FIRST_SECOND + 60 * minute);
        Timestamp::from(time).to_string()
    }
}

/// The bytes of a document with its checksum filled in.
pub(crate) fn sealed(mut document: Value) -> Vec<u8> {
    let zeros = "0".repeat(64);
    if let Some(digest) = document.get_mut("sha256") {
        *digest = zeros.clone().into();
    }
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    let digest = Digest::of(text.as_bytes()).to_hex();
    text.replacen(&zeros, &digest, 1).into_bytes()
}

/// Replaces every run of exactly `length` hexadecimal digits.
fn without_hex(text: &str, length: usize, name: &str) -> String {
    let mut clean = String::new();
    let mut run = String::new();
    for c in text.chars().map(Some).chain([None]) {
        match c {
            Some(c) if c.is_ascii_hexdigit() => run.push(c),
            other => {
                clean.push_str(if run.len() == length { name } else { &run });
                run.clear();
                clean.extend(other);
            }
        }
    }
    clean
}

/// One run of the program that is being prepared.
pub(crate) struct Invocation<'a> {
    world: &'a World,
    args: Vec<OsString>,
    dir: PathBuf,
    env: Vec<(String, OsString)>,
    stdin: Vec<u8>,
    wrapper: Vec<OsString>,
    needs_process: bool,
}

impl Invocation<'_> {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_owned();
        self
    }

    /// Starts it in this directory; relative to the project.
    pub(crate) fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = self.world.project().join(dir);
        self
    }

    /// Runs it as a process, for a test about the process itself.
    pub(crate) fn in_a_process(mut self) -> Self {
        self.needs_process = true;
        self
    }

    /// Runs another program, which is given the command line of `ckpt` after these arguments.
    pub(crate) fn under<S: AsRef<OsStr>>(mut self, wrapper: &[S]) -> Self {
        self.wrapper = wrapper.iter().map(|word| word.as_ref().to_owned()).collect();
        self.in_a_process()
    }

    /// Runs it in a shell as `"$@"` of this script; `$0` is not a word of it.
    pub(crate) fn in_shell(self, script: &str) -> Self {
        self.under(&["/bin/sh", "-c", script, "sh"])
    }

    /// The command, with its streams not yet decided.
    pub(crate) fn command(&self) -> Command {
        let mut words = self.wrapper.clone();
        words.push(CKPT.as_str().into());
        words.extend(self.args.iter().cloned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.dir).env_clear().envs(self.variables());
        command
    }

    /// All its variables, at the next minute.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = BTreeMap::from([
            ("CKPT_CEILING_DIRECTORIES".into(), self.world.temp.clone().into_os_string()),
            ("HOME".into(), self.world.home().into_os_string()),
            ("CKPT_NOW".into(), self.world.next_time().into()),
        ]);
        variables.extend(self.env.iter().map(|(name, value)| (OsString::from(name), value.clone())));
        variables.into_iter().collect()
    }

    pub(crate) fn spawn(&self) -> Child {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    pub(crate) fn run(self) -> Outcome {
        if self.needs_process || !runs_inside(&self.args, &self.env) {
            return self.run_process();
        }
        let variables = self.variables();
        let mut words = vec![CKPT.as_str().into()];
        words.extend(self.args);
        let finished = run_inside(words, variables, &self.dir, self.stdin);
        let status = ExitStatus::from_raw(i32::from(finished.code) << 8);
        self.world.outcome(status, finished.stdout, finished.stderr.into_bytes())
    }

    fn run_process(self) -> Outcome {
        let mut child = self.spawn();
        let mut stdin = child.stdin.take().unwrap();
        let world = self.world;
        let output = if self.stdin.is_empty() {
            drop(stdin);
            child.wait_with_output().unwrap()
        } else {
            // It may have gone away without reading.
            let writer = std::thread::spawn(move || drop(stdin.write_all(&self.stdin)));
            let output = child.wait_with_output().unwrap();
            writer.join().unwrap();
            output
        };
        world.outcome(output.status, output.stdout, output.stderr)
    }

    pub(crate) fn json(mut self) -> Value {
        self.args.push("--json".into());
        self.run().succeeds().document()
    }

    pub(crate) fn refused(mut self, exit: i32, code: &str) -> Value {
        self.args.push("--json".into());
        let (world, args) = (self.world, self.args.clone());
        let before = world.tree();
        let failure = self.run().failure();
        let found = (failure["exit_code"].as_i64(), failure["code"].as_str());
        assert_eq!(found, (Some(i64::from(exit)), Some(code)), "{args:?}: {failure}");
        // A misspelt option is a usage error too, whatever else the test is about.
        let message = failure["message"].as_str().unwrap();
        let misspelt = ["unexpected argument", "unrecognized subcommand"].iter().any(|part| message.contains(part));
        assert!(!misspelt, "{args:?}: {failure}");
        assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "{args:?} left traces");
        failure
    }
}

/// How a run ended and what it said.
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    temp: PathBuf,
}

impl World {
    pub(crate) fn outcome(&self, status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8>) -> Outcome {
        let stdout = String::from_utf8(stdout).expect("stdout is UTF-8");
        let stderr = String::from_utf8(stderr).expect("stderr is UTF-8");
        // Scripts and pages are not a conversation.
        if !stdout.starts_with(['.', '#', '_', '{']) {
            assert_understood(&stdout);
        }
        assert_understood(&stderr);
        Outcome { status, stdout, stderr, temp: self.temp.clone() }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit {code}"),
            (None, signal) => format!("signal {}", signal.unwrap_or_default()),
        };
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                let unended = if text.ends_with('\n') { "" } else { "(no newline)\n" };
                shown.push_str(&format!("\n--- {name}\n{text}{unended}"));
                shown.truncate(shown.trim_end_matches('\n').len());
            }
        }
        write!(f, "{}\n--- end", self.neutral(&shown))
    }
}

impl Outcome {
    /// Replaces text that differs between runs and machines by names.
    fn neutral(&self, text: &str) -> String {
        let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
        let text = text.replace(self.temp.to_str().unwrap(), "$TMP");
        let text = if host.is_empty() { text } else { text.replace(&format!("\"{host}\""), "\"$HOST\"") };
        without_hex(&without_hex(&text, 64, "$SHA256"), 32, "$SAVE_ID")
    }

    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("it was killed: {self}"))
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.status.code(), Some(0), "{self}");
        self
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{self}");
        self
    }

    /// The answer as JSON: one line, one document, its format first, valid by the schema of that name.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one line: {self}");
        let document: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self}"));
        assert_valid(&document);
        document
    }

    /// The failure as JSON: nothing on stdout, one line on stderr.
    #[track_caller]
    pub(crate) fn failure(&self) -> Value {
        assert_eq!(self.stdout, "", "stdout of a failure is empty: {self}");
        assert_eq!(self.stderr.matches('\n').count(), 1, "one line: {self}");
        let failure: Value = serde_json::from_str(&self.stderr).unwrap_or_else(|e| panic!("{e}: {self}"));
        assert_valid(&failure);
        assert_eq!(failure["format"], "ckpt.error.v1");
        assert_eq!(failure["exit_code"].as_i64(), self.status.code().map(i64::from), "{self}");
        failure
    }
}

/// Asserts that a document begins with its format and is valid by the schema of that name.
#[track_caller]
pub(crate) fn assert_valid(document: &Value) {
    let first = document.as_object().and_then(|members| members.iter().next());
    let Some((key, Value::String(format))) = first else { panic!("no format: {document}") };
    assert_eq!(key, "format", "{document}");
    let found = validator(format).violations(document, &mut Steps::default());
    assert_eq!(found, Ok(Vec::new()), "{document}");
}

/// Returns the schema of this name, compiled once for all documents: that takes longer than the check.
fn validator(format: &str) -> Arc<Validator> {
    static COMPILED: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let known = COMPILED.lock().unwrap().get(format).cloned();
    known.unwrap_or_else(|| {
        let found = Validator::named(format).unwrap_or_else(|| panic!("there is no schema {format}"));
        let found = Arc::new(found);
        COMPILED.lock().unwrap().insert(format.to_owned(), Arc::clone(&found));
        found
    })
}

#[test]
fn a_document_that_breaks_its_schema_is_noticed_each_time() {
    for _ in 0..2 {
        for document in [json!({"format": "ckpt.error.v1"}), json!({"format": "ckpt.unknown.v1"})] {
            assert!(std::panic::catch_unwind(|| assert_valid(&document)).is_err(), "{document}");
        }
    }
}

/// Everything in a directory: kinds, modes, times and contents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, String>);

impl Tree {
    pub(crate) fn of(root: &Path) -> Self {
        let mut tree = Self(BTreeMap::new());
        tree.add(root);
        tree
    }

    fn add(&mut self, path: &Path) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        let kind = metadata.file_type();
        let content = if kind.is_file() && metadata.len() > 16 << 20 {
            format!("{} bytes", metadata.len())
        } else if kind.is_file() {
            let bytes = std::fs::read(path).unwrap_or_default();
            format!("{} bytes {}", bytes.len(), Digest::of(&bytes).to_hex())
        } else if kind.is_symlink() {
            format!("-> {}", path.read_link().unwrap().display())
        } else {
            String::new()
        };
        let facts =
            format!("mode {:o} modified {}.{} {content}", metadata.mode(), metadata.mtime(), metadata.mtime_nsec());
        self.0.insert(path.to_owned(), facts);
        if kind.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                self.add(&entry.unwrap().path());
            }
        }
    }

    /// The paths of all that there is.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// The differences in `later`, one line each.
    pub(crate) fn changes(&self, later: &Self) -> Vec<String> {
        let paths = self.0.keys().chain(later.0.keys());
        let mut changes: Vec<String> = paths
            .filter(|path| self.0.get(*path) != later.0.get(*path))
            .map(|path| format!("{}: {:?} -> {:?}", path.display(), self.0.get(path), later.0.get(path)))
            .collect();
        changes.dedup();
        changes
    }
}

/// Says why a test cannot run here, unless this is CI, where everything must.
#[track_caller]
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "mandatory in CI, but {reason}");
    eprintln!("skipped: {reason}");
}

/// True if this process may do everything.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// True if a file system can be mounted where nobody else sees it.
pub(crate) fn can_mount() -> bool {
    let mount = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).output();
    mount.is_ok_and(|output| output.status.success())
}

/// The full path of a program, if it is installed.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
}
