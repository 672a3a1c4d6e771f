//! Reads the branch and commit of a git checkout, without starting git.
//!
//! Starting git takes longer than a whole save. In the usual case, `HEAD` and one loose reference are read; `packed-refs`
//! only if there is no loose one.
//!
//! - Nothing here is an error: a save must not fail because of git. But "there is no such branch" and "cannot tell" are
//!   different answers, since a deleted branch blocks a resume.
//! - A repository is untrusted. Reference names are validated before they become paths, and files are read with a size
//!   limit, without following links or blocking on a FIFO.
//!
//! Not supported: the reftable format, a `HEAD` that is a symbolic link, names that are not UTF-8, `GIT_DIR` and similar
//! variables, `core.worktree` and `safe.directory`.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{FileProblem, read_regular};
use ckpt_platform as platform;

/// The maximum size of `.git`, `commondir`, `HEAD` and loose references.
const SMALL_FILE: u64 = 4096;
/// The maximum size of `packed-refs`: roughly a million references.
const PACKED_REFS: u64 = 64 * 1024 * 1024;
/// The maximum length of a chain of symbolic references, as in git.
const SYMBOLIC_DEPTH: usize = 5;
const BRANCHES: &str = "refs/heads/";

/// The repository cannot be read, or has a format that is not supported.
#[derive(Debug, PartialEq, Eq)]
struct Unclear;

/// The result of a lookup; `Ok(None)` if it does not exist.
type Lookup<T> = Result<Option<T>, Unclear>;

/// The branch and commit of a checkout, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// The branch without `refs/heads/`; `None` on a detached `HEAD`.
    pub branch: Option<String>,
    /// The commit as 40 or 64 lower-case hexadecimal digits; `None` on a branch without commits.
    pub commit: Option<String>,
}

/// A working tree and its git directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The root of the working tree: the directory that holds `.git`.
    pub root: PathBuf,
    /// The directory of this checkout's `HEAD`.
    git_dir: PathBuf,
    /// The directory of the branches, which linked worktrees share with the main checkout.
    common_dir: PathBuf,
}

impl Checkout {
    /// Finds the checkout that contains `start`, which should be absolute. A broken `.git` file ends the search: the
    /// checkout around it would be the wrong one.
    #[must_use]
    pub fn discover(start: &Path) -> Option<Self> {
        Self::discover_below(start, &[])
    }

    /// Finds the checkout that contains `start` without going up into one of the `ceilings`.
    #[must_use]
    pub fn discover_below(start: &Path, ceilings: &[PathBuf]) -> Option<Self> {
        let is_ceiling = |dir: &Path| dir != start && ceilings.iter().any(|ceiling| ceiling == dir);
        for root in start.ancestors().take_while(|dir| !is_ceiling(dir)) {
            let dot_git = root.join(".git");
            match fs::metadata(&dot_git).map(|found| found.file_type()) {
                Ok(kind) if kind.is_dir() => {
                    let common_dir = dot_git.clone();
                    return Some(Self { root: root.to_owned(), git_dir: dot_git, common_dir });
                }
                Ok(kind) if kind.is_file() => return Self::elsewhere(root, &dot_git),
                _ => {}
            }
        }
        None
    }

    /// Follows the `.git` file of a linked worktree or of a submodule.
    fn elsewhere(root: &Path, dot_git: &Path) -> Option<Self> {
        let pointer = read_small(dot_git).ok()??;
        let git_dir = platform::canonicalize(&root.join(path_in(pointer.strip_prefix(b"gitdir:")?)?)).ok()?;
        let common_dir = match read_small(&git_dir.join("commondir")).ok()? {
            Some(pointer) => platform::canonicalize(&git_dir.join(path_in(&pointer)?)).ok()?,
            None => git_dir.clone(),
        };
        Some(Self { root: root.to_owned(), git_dir, common_dir })
    }

    /// Returns the working tree of the main checkout if this one is a linked worktree of it.
    ///
    /// `None` for the main checkout, for submodules, and for worktrees of a bare repository. The main checkout must have
    /// registered this very worktree: a `.git` file that came with other files may name any directory. One that was
    /// moved is registered again by `git worktree repair`.
    #[must_use]
    pub fn main_root(&self) -> Option<PathBuf> {
        let in_worktrees = self.git_dir.parent()? == self.common_dir.join("worktrees");
        let named_git = self.common_dir.file_name()? == ".git";
        if in_worktrees && named_git && self.is_linked_back() {
            self.common_dir.parent().map(Path::to_owned)
        } else {
            None
        }
    }

    /// Returns true if the git directory of a worktree names the `.git` file that names it.
    fn is_linked_back(&self) -> bool {
        let Ok(Some(pointer)) = read_small(&self.git_dir.join("gitdir")) else { return false };
        let Some(back) = path_in(&pointer) else { return false };
        let back = platform::canonicalize(&self.git_dir.join(back));
        let dot_git = platform::canonicalize(&self.root.join(".git"));
        matches!((back, dot_git), (Ok(back), Ok(dot_git)) if back == dot_git)
    }

    /// Reads the branch and commit that are checked out.
    #[must_use]
    pub fn facts(&self) -> GitFacts {
        let Ok(Some(head)) = read_small(&self.git_dir.join("HEAD")) else { return GitFacts::default() };
        match Target::parse(&head) {
            Some(Target::Commit(commit)) => GitFacts { branch: None, commit: Some(commit) },
            Some(Target::Reference(name)) => GitFacts {
                branch: name.strip_prefix(BRANCHES).map(str::to_owned),
                commit: self.resolve(name).unwrap_or_default(),
            },
            None => GitFacts::default(),
        }
    }

    /// Returns true if a branch exists; `None` if that is unknown.
    #[must_use]
    pub fn branch_exists(&self, branch: &str) -> Option<bool> {
        let name = format!("{BRANCHES}{branch}");
        if !is_reference_name(&name) {
            return None;
        }
        match self.resolve(name).ok()? {
            Some(_) => Some(true),
            None if self.keeps_references_in_files() => Some(false),
            None => None,
        }
    }

    /// Returns true if the lookup of a branch in files is conclusive.
    fn keeps_references_in_files(&self) -> bool {
        self.common_dir.join(BRANCHES).is_dir() && !self.common_dir.join("reftable").exists()
    }

    /// Follows a reference to its commit.
    fn resolve(&self, mut name: String) -> Lookup<String> {
        for _ in 0..SYMBOLIC_DEPTH {
            match self.look_up(&name)? {
                Some(Target::Commit(commit)) => return Ok(Some(commit)),
                Some(Target::Reference(next)) => name = next,
                None => return Ok(None),
            }
        }
        Err(Unclear)
    }

    /// Reads one reference: first the loose file, which is newer than the packed one and is removed after packing.
    fn look_up(&self, name: &str) -> Lookup<Target> {
        let own = ["refs/bisect/", "refs/rewritten/", "refs/worktree/"];
        let is_own = own.iter().any(|prefix| name.starts_with(prefix));
        let dir = if is_own { &self.git_dir } else { &self.common_dir };
        if let Some(content) = read_small(&dir.join(name))? {
            return Target::parse(&content).map(Some).ok_or(Unclear);
        }
        match read(&self.common_dir.join("packed-refs"), PACKED_REFS)? {
            Some(content) => find_packed(&content, name),
            None => Ok(None),
        }
    }
}

/// The content of `HEAD` or of a reference.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Commit(String),
    Reference(String),
}

impl Target {
    fn parse(content: &[u8]) -> Option<Self> {
        let content = std::str::from_utf8(content).ok()?;
        if let Some(name) = content.strip_prefix("ref:") {
            let name = name.trim_ascii();
            return is_reference_name(name).then(|| Self::Reference(name.to_owned()));
        }
        let id = content.trim_ascii_end();
        is_commit_id(id.as_bytes()).then(|| Self::Commit(id.to_owned()))
    }
}

fn is_commit_id(id: &[u8]) -> bool {
    matches!(id.len(), 40 | 64) && id.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns true for a full reference name by git's rules, which cannot lead out of the git directory. The placeholder in
/// the `HEAD` of a reftable repository, `refs/heads/.invalid`, is not one.
fn is_reference_name(name: &str) -> bool {
    let legal = |c: char| !c.is_ascii_control() && !" ~^:?*[\\".contains(c);
    let legal_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.starts_with("refs/")
        && name.len() <= 1024
        && name.chars().all(legal)
        && name.split('/').all(legal_part)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

/// Parses the path in a `.git` or `commondir` file.
fn path_in(content: &[u8]) -> Option<&Path> {
    let path = content.trim_ascii_start();
    let path = path.strip_suffix(b"\n").unwrap_or(path);
    let path = path.strip_suffix(b"\r").unwrap_or(path);
    let legal = !path.is_empty() && !path.iter().any(u8::is_ascii_control);
    if legal { platform::path_from_bytes(path) } else { None }
}

/// Finds a reference in the content of `packed-refs`.
fn find_packed(content: &[u8], name: &str) -> Lookup<Target> {
    for line in content.split_inclusive(|b| *b == b'\n') {
        let line = line.strip_suffix(b"\n").ok_or(Unclear)?;
        // A comment, or the commit of the tag on the line before.
        if line.starts_with(b"#") || line.starts_with(b"^") {
            continue;
        }
        let space = line.iter().position(|b| *b == b' ').ok_or(Unclear)?;
        if &line[space + 1..] == name.as_bytes() {
            return Target::parse(&line[..space]).map(Some).ok_or(Unclear);
        }
    }
    Ok(None)
}

fn read_small(path: &Path) -> Lookup<Vec<u8>> {
    read(path, SMALL_FILE)
}

/// Reads a file. A directory counts as missing: git leaves empty ones behind where a deleted branch `a/b` was.
fn read(path: &Path, limit: u64) -> Lookup<Vec<u8>> {
    match read_regular(path, limit) {
        Ok(content) => Ok(Some(content)),
        Err(FileProblem::Missing) => Ok(None),
        Err(FileProblem::NotAFile) if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) => Ok(None),
        Err(_) => Err(Unclear),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests build repositories by hand")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;
    use tempfile::TempDir;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";
    const OTHER: &str = "89abcdef0123456789abcdef0123456789abcdef";

    /// Builds a directory from paths and contents; a path that ends with `/` is an empty directory.
    fn layout(files: &[(&str, &str)]) -> TempDir {
        let dir = tempfile::tempdir().expect("tempdir");
        for (path, content) in files {
            let path = dir.path().join(path);
            if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
                fs::create_dir_all(path).expect("create directory");
                continue;
            }
            fs::create_dir_all(path.parent().expect("parent")).expect("create parent");
            fs::write(path, content).expect("write");
        }
        dir
    }

    fn facts_of(files: &[(&str, &str)]) -> GitFacts {
        let dir = layout(files);
        Checkout::discover(dir.path()).expect("a checkout").facts()
    }

    fn facts(branch: Option<&str>, commit: Option<&str>) -> GitFacts {
        GitFacts { branch: branch.map(str::to_owned), commit: commit.map(str::to_owned) }
    }

    #[test]
    fn finds_the_nearest_checkout() {
        let dir = layout(&[(".git/", ""), ("a/b/c/", ""), ("a/inner/.git/", ""), ("a/inner/x/", "")]);
        let root = |below: &str| Checkout::discover(&dir.path().join(below)).map(|found| found.root);
        assert_eq!(root("a/b/c"), Some(dir.path().to_owned()));
        assert_eq!(root("a/inner/x"), Some(dir.path().join("a/inner")));
        assert_eq!(root("does/not/exist"), Some(dir.path().to_owned()));
    }

    #[test]
    fn reads_head_and_loose_references() {
        let main = (".git/HEAD", "ref: refs/heads/main\n");
        let sha256 = "ab".repeat(32);
        let cases: &[(&[(&str, &str)], GitFacts)] = &[
            (&[main, (".git/refs/heads/main", &format!("{ID}\n"))], facts(Some("main"), Some(ID))),
            (&[main, (".git/refs/heads/main", &sha256)], facts(Some("main"), Some(&sha256))),
            (&[(".git/HEAD", &format!("{ID}\n"))], facts(None, Some(ID))),
            (&[main, (".git/refs/heads/", "")], facts(Some("main"), None)),
            (
                &[(".git/HEAD", "ref: refs/heads/feat/x\n"), (".git/refs/heads/feat/x", ID)],
                facts(Some("feat/x"), Some(ID)),
            ),
            (&[(".git/HEAD", "ref:refs/remotes/o/x"), (".git/refs/remotes/o/x", ID)], facts(None, Some(ID))),
            (
                &[main, (".git/refs/heads/main", "ref: refs/heads/b\n"), (".git/refs/heads/b", ID)],
                facts(Some("main"), Some(ID)),
            ),
            (&[main, (".git/refs/heads/main", "ref: refs/heads/main\n")], facts(Some("main"), None)),
        ];
        for (files, expected) in cases {
            assert_eq!(facts_of(files), *expected, "{files:?}");
        }
    }

    #[test]
    fn reads_packed_references() {
        let packed = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{OTHER} refs/heads/a\n{ID} refs/heads/main\n\
             {OTHER} refs/tags/v1\n^{ID}\n"
        );
        let head = (".git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(facts_of(&[head, (".git/packed-refs", &packed)]), facts(Some("main"), Some(ID)));
        let loose = (".git/refs/heads/main", OTHER);
        assert_eq!(facts_of(&[head, loose, (".git/packed-refs", &packed)]), facts(Some("main"), Some(OTHER)));
        // An empty directory is left behind where a branch `main/x` was deleted.
        let left_behind = (".git/refs/heads/main/", "");
        assert_eq!(facts_of(&[head, left_behind, (".git/packed-refs", &packed)]), facts(Some("main"), Some(ID)));
    }

    #[test]
    fn packed_references_out_of_order_are_searched_to_the_end() {
        let search = |text: String, name: &str| find_packed(text.as_bytes(), name);
        let entries = format!("{OTHER} refs/heads/z\n{ID} refs/heads/a\n");
        let found = Ok(Some(Target::Commit(ID.to_owned())));
        assert_eq!(search(entries.clone(), "refs/heads/a"), found);
        assert_eq!(search(entries.clone(), "refs/heads/b"), Ok(None));
        assert_eq!(search(format!("# pack-refs with: sorted \n{entries}"), "refs/heads/a"), found);
        for damaged in ["nospace\n", "XYZ refs/heads/a\n", "0123 refs/heads/a\n", "no line end"] {
            assert_eq!(search(damaged.to_owned(), "refs/heads/a"), Err(Unclear), "{damaged:?}");
        }
        assert_eq!(search("x".repeat(10_000_000), "refs/heads/a"), Err(Unclear));
    }

    #[test]
    fn what_is_not_understood_is_unknown() {
        let unknown = [
            "",
            "\n",
            "ref: ",
            "ref: refs/heads/.invalid\n",
            "ref: refs/heads/../../../etc/passwd",
            "ref: /etc/passwd",
            "ref: HEAD",
            "ref: refs/heads/a b",
            "ref: refs/heads/a\nref: refs/heads/b",
            "ref: refs/heads/a\0",
            "ref: refs/heads/\u{1b}[31m",
            "ref: refs\\heads\\a",
            "0123456789ABCDEF0123456789ABCDEF01234567",
            "0123456789abcdef",
            "0123456789abcdef0123456789abcdef01234567 trailing",
        ];
        for head in unknown {
            assert_eq!(facts_of(&[(".git/HEAD", head)]), GitFacts::default(), "{head:?}");
        }
        assert_eq!(facts_of(&[(".git/HEAD", &" ".repeat(5000))]), GitFacts::default());
        assert_eq!(facts_of(&[(".git/", "")]), GitFacts::default());
        let damaged = [(".git/HEAD", "ref: refs/heads/main\n"), (".git/refs/heads/main", "garbage")];
        assert_eq!(facts_of(&damaged), facts(Some("main"), None));
    }

    #[test]
    fn reference_names_cannot_leave_the_git_directory() {
        for name in ["refs/heads/main", "refs/heads/feat/x-1", "refs/heads/\u{e9}@x", "refs/x"] {
            assert!(is_reference_name(name), "{name:?}");
        }
        let refused = "| main| /refs/heads/a| refs/| refs/heads/| refs//a| refs/heads/..| refs/../a| refs/a..b| \
            refs/.a| refs/a.lock| refs/a.lock/b| refs/a.| refs/a@{1}| refs/a\\b| refs/a\nb| refs/a\x7f| \
            refs/a~1| refs/a^| refs/a:b| refs/a?| refs/a*| refs/a[b| refs/a b";
        for name in refused.split("| ") {
            assert!(!is_reference_name(name), "{name:?}");
        }
        assert!(!is_reference_name(&format!("refs/{}", "a".repeat(2000))));
    }

    #[test]
    fn never_waits_for_a_fifo_and_never_follows_a_link() {
        let dir = layout(&[(".git/refs/heads/", ""), ("secret", ID)]);
        let git = dir.path().join(".git");
        for place in ["HEAD", "packed-refs", "refs/heads/fifo"] {
            let made = Command::new("mkfifo").arg(git.join(place)).status().expect("mkfifo");
            assert!(made.success());
        }
        std::os::unix::fs::symlink(dir.path().join("secret"), git.join("refs/heads/link")).expect("symlink");
        let checkout = Checkout::discover(dir.path()).expect("a checkout");
        assert_eq!(checkout.facts(), GitFacts::default());
        for branch in ["fifo", "link", "not-there"] {
            assert_eq!(checkout.branch_exists(branch), None, "{branch}");
        }
        let around = layout(&[(".git/", ""), ("special/", "")]);
        let made = Command::new("mkfifo").arg(around.path().join("special/.git")).status().expect("mkfifo");
        assert!(made.success());
        let found = Checkout::discover(&around.path().join("special")).expect("the checkout around it");
        assert_eq!(found.root, around.path());
    }

    #[test]
    fn tells_whether_a_branch_exists() {
        let packed = format!("{ID} refs/heads/packed\n{ID} refs/tags/tag\n");
        let dir = layout(&[(".git/refs/heads/loose", ID), (".git/packed-refs", &packed)]);
        let checkout = Checkout::discover(dir.path()).expect("a checkout");
        let cases = [
            ("loose", Some(true)),
            ("packed", Some(true)),
            ("gone", Some(false)),
            ("loose/below", Some(false)),
            ("tag", Some(false)),
            ("", None),
            ("../tags/tag", None),
            ("a b", None),
        ];
        for (branch, exists) in cases {
            assert_eq!(checkout.branch_exists(branch), exists, "{branch:?}");
        }
        let reftable = layout(&[(".git/reftable/tables.list", ""), (".git/refs/heads", "reftable")]);
        let checkout = Checkout::discover(reftable.path()).expect("a checkout");
        assert_eq!(checkout.branch_exists("main"), None);
        let hollow = layout(&[(".git/", "")]);
        assert_eq!(Checkout::discover(hollow.path()).expect("a checkout").branch_exists("main"), None);
    }

    #[test]
    fn follows_worktrees_and_submodules_by_hand() {
        let dir = layout(&[
            ("main/.git/HEAD", "ref: refs/heads/main\n"),
            ("main/.git/refs/heads/topic", ID),
            ("main/.git/worktrees/wt/HEAD", "ref: refs/heads/topic\n"),
            ("main/.git/worktrees/wt/commondir", "../..\n"),
            ("main/.git/worktrees/wt/gitdir", "../../../../wt/.git\n"),
            ("wt/.git", "gitdir: ../main/.git/worktrees/wt\n"),
            ("planted/.git", "gitdir: ../main/.git/worktrees/wt\n"),
            ("wt/deep/er/", ""),
            ("main/sub/.git", "gitdir: ../.git/modules/sub\n"),
            ("main/.git/modules/sub/HEAD", ID),
            ("claims/.git", "gitdir: ../forged\n"),
            ("forged/HEAD", ID),
            ("forged/commondir", "../main/.git\n"),
        ]);
        let base = fs::canonicalize(dir.path()).expect("canonical");
        let at = |below: &str| Checkout::discover(&base.join(below)).expect("a checkout");
        let linked = at("wt/deep/er");
        assert_eq!(linked.root, base.join("wt"));
        assert_eq!(linked.main_root(), Some(base.join("main")));
        assert_eq!(linked.facts(), facts(Some("topic"), Some(ID)));
        assert_eq!(linked.branch_exists("topic"), Some(true));
        assert_eq!(at("main").main_root(), None);
        assert_eq!(at("main/sub").root, base.join("main/sub"));
        assert_eq!(at("main/sub").main_root(), None);
        assert_eq!(at("main/sub").facts(), facts(None, Some(ID)));
        assert_eq!(at("claims").main_root(), None, "the link is not registered with the main checkout");
        assert_eq!(at("planted").main_root(), None, "another directory is registered");
        let back = base.join("main/.git/worktrees/wt/gitdir");
        for (content, is_linked) in [
            (format!("{}\n", base.join("wt/.git").display()), true),
            (format!("{}\n", base.join("wt").display()), false),
            (format!("{}\n", base.join("planted/.git").display()), false),
            ("/nowhere/.git\n".to_owned(), false),
            (String::new(), false),
        ] {
            fs::write(&back, &content).expect("write");
            assert_eq!(linked.main_root().is_some(), is_linked, "{content:?}");
        }
        fs::remove_file(&back).expect("remove");
        assert_eq!(linked.main_root(), None, "no directory is registered");
    }

    #[test]
    fn a_broken_git_file_is_no_checkout_and_hides_the_one_around_it() {
        for content in ["", "gitdir:", "gitdir: \n", "gitdir: nowhere\n", "nonsense", "gitdir: a\0b\n"] {
            let dir = layout(&[(".git/HEAD", ID), ("in/.git", content)]);
            assert_eq!(Checkout::discover(&dir.path().join("in")), None, "{content:?}");
        }
    }

    fn git(dir: &Path, args: &[&str]) -> Option<String> {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
            .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .output()
            .ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    fn git_facts(dir: &Path) -> GitFacts {
        GitFacts {
            branch: git(dir, &["symbolic-ref", "--short", "-q", "HEAD"]),
            commit: git(dir, &["rev-parse", "-q", "--verify", "HEAD"]),
        }
    }

    #[test]
    fn agrees_with_git() {
        let dir = tempfile::tempdir().expect("tempdir");
        let base = fs::canonicalize(dir.path()).expect("canonical");
        if git(&base, &["init", "-q", "main"]).is_none() {
            println!("skipped: no working git");
            return;
        }
        let (main, linked) = (base.join("main"), base.join("linked"));
        let run = |dir: &Path, args: &[&str]| git(dir, args).unwrap_or_else(|| panic!("git {args:?}"));
        let check = |dir: &Path, what: &str| {
            let checkout = Checkout::discover(dir).expect("a checkout");
            assert_eq!(checkout.facts(), git_facts(dir), "{what}");
            assert_eq!(checkout.root, Path::new(&run(dir, &["rev-parse", "--show-toplevel"])), "{what}");
            for branch in ["main", "topic", "feat/deep", "gone"] {
                let full = format!("refs/heads/{branch}");
                let exists = git(dir, &["show-ref", "--verify", "-q", &full]).is_some();
                assert_eq!(checkout.branch_exists(branch), Some(exists), "{what}: {branch}");
            }
            checkout
        };
        check(&main, "unborn");
        run(&main, &["commit", "-q", "--allow-empty", "-m", "one"]);
        check(&main, "loose");
        run(&main, &["branch", "feat/deep"]);
        run(&main, &["worktree", "add", "-q", "-b", "topic", "../linked"]);
        run(&linked, &["commit", "-q", "--allow-empty", "-m", "two"]);
        assert_eq!(check(&linked, "linked worktree").main_root(), Some(main.clone()));
        run(&main, &["tag", "-a", "-m", "v", "v1"]);
        run(&main, &["pack-refs", "--all"]);
        assert_eq!(check(&main, "packed").main_root(), None);
        check(&linked, "linked and packed");
        run(&main, &["commit", "-q", "--allow-empty", "-m", "three"]);
        check(&main, "loose over packed");
        run(&main, &["branch", "-D", "feat/deep"]);
        run(&main, &["branch", "feat"]);
        check(&main, "a branch where a directory was");
        run(&main, &["checkout", "-q", "--detach"]);
        check(&main, "detached");
        run(&main, &["checkout", "-q", "--orphan", "fresh"]);
        check(&main, "unborn again");
        run(&main, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../linked", "sub"]);
        assert_eq!(check(&main.join("sub"), "submodule").main_root(), None);

        if git(&base, &["init", "-q", "--ref-format=reftable", "table"]).is_some() {
            let table = base.join("table");
            run(&table, &["commit", "-q", "--allow-empty", "-m", "one"]);
            let checkout = Checkout::discover(&table).expect("a checkout");
            assert_eq!(checkout.facts(), GitFacts::default());
            assert_eq!(checkout.branch_exists("main"), None);
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), name in any::<String>()) {
            let _ = Target::parse(&bytes);
            let _ = path_in(&bytes);
            let _ = find_packed(&bytes, &name);
            if is_reference_name(&name) {
                let normal = |part| matches!(part, std::path::Component::Normal(_));
                prop_assert!(Path::new(&name).components().all(normal));
            }
        }
    }
}
