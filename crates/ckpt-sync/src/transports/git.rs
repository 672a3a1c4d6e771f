//! A remote that is a git repository.
//!
//! Each workflow has a ref of its own, `refs/ckpt/wf/042`, which points to a commit whose tree has the objects. An object is
//! created by a commit on top of the known one, and a push that succeeds only if the ref still points there. Branches, tags
//! and the work tree are never touched. A copy is kept in a bare repository of this machine, which may be deleted at any
//! time. It is never one that was found in a store: git runs the hooks and the programs that a repository names.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::TransportContext;
use super::git_process::{self, Answer};
use super::url::check_git;
use crate::{Failure, Incomplete, Key, Listed, NewObject, Remote, WORKFLOWS_PREFIX};
use ckpt_platform::make_directories;
use ckpt_store::{Disk as _, OsDisk};
use ckpt_wire::is_loopback;

const REFS: &str = "refs/ckpt/";
/// How often a push is tried that others were faster than.
const MAX_RACES: u32 = 40;

/// A git repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// The URL, or the name of a remote if the settings of the project are included.
    url: String,
    /// The settings of the project, which may have credentials for the URL.
    settings: Option<PathBuf>,
    cache: PathBuf,
    time_limit: Duration,
    unique: String,
    /// The groups whose copy is as new as the last answer of the remote.
    fresh: BTreeSet<String>,
    made: u64,
}

/// An object of a tree: the size, and the id of its blob.
type Tree = BTreeMap<String, (u64, String)>;

impl Repository {
    /// Opens a repository by its URL, or by the name of a remote of the project.
    pub(super) fn open(place: &str, context: &TransportContext) -> Result<Self, Failure> {
        let is_name = !place.contains([':', '/', '\\']);
        let mut settings = None;
        let url = if is_name {
            let args = words(&["remote", "get-url", "--push", "--", place]);
            let answer = git_process::run(&context.project, &args, b"", context.time_limit)?;
            if !answer.succeeded {
                return Err(Failure::Refused(format!("the project has no git remote `{place}`: {}", answer.message)));
            }
            let config = git_process::run(
                &context.project,
                &words(&["rev-parse", "--git-path", "config"]),
                b"",
                context.time_limit,
            )?;
            settings = config.succeeded.then(|| context.project.join(first_line(&config)));
            first_line(&answer)
        } else {
            place.to_owned()
        };
        check_git(&url).map_err(|why| Failure::Refused(format!("the address of `{place}` is not used: {why}")))?;
        if ["http://", "git://"].iter().any(|scheme| url.starts_with(scheme))
            && !context.allow_http
            && !is_loopback(&url)
        {
            return Err(Failure::Refused(format!(
                "the connection to {url} is not encrypted; use https or ssh, or set `remote.allow_http` in your own settings"
            )));
        }
        let url = if url.contains(':') || Path::new(&url).is_absolute() {
            url
        } else {
            // For git, the path of a remote starts at the top of the work tree.
            let top = if is_name { top_level(context)? } else { context.project.clone() };
            top.join(url).display().to_string()
        };
        let parent = make_copy_dir(context)?;
        let mut remote = Self {
            url,
            settings,
            cache: parent.join("git"),
            time_limit: context.time_limit,
            unique: context.unique.clone(),
            fresh: BTreeSet::new(),
            made: 0,
        };
        remote.init(&parent)?;
        Ok(remote)
    }

    fn init(&mut self, parent: &Path) -> Result<(), Failure> {
        if self.cache.join("HEAD").exists() {
            return Ok(());
        }
        let args = words(&["init", "--quiet", "--bare", "--template=", "git"]);
        let answer = git_process::run(parent, &args, b"", self.time_limit)?;
        if answer.succeeded { Ok(()) } else { Err(Failure::Refused(answer.message)) }
    }

    /// Runs git on the copy.
    fn git(&self, args: &[&str], input: &[u8]) -> Result<Answer, Failure> {
        let mut all = Vec::new();
        if let Some(settings) = &self.settings {
            let mut include = OsString::from("include.path=");
            include.push(settings);
            all.extend(["-c".into(), include]);
        }
        // Behind the settings of the project, so that these count.
        for setting in ["core.bare=true", "core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false"] {
            all.extend(words(&["-c", setting]));
        }
        all.extend(words(&["--git-dir=."]));
        all.extend(words(args));
        git_process::run(&self.cache, &all, input, self.time_limit)
    }

    /// Runs git on the copy, where nothing but the copy is involved.
    fn local(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
        let answer = self.git(args, input)?;
        if answer.succeeded { Ok(answer.output) } else { Err(Failure::Unusable(answer.message)) }
    }

    /// Brings the copies of all groups up to date that have objects with a prefix.
    fn fetch_listed(&mut self, prefix: &str) -> Result<(), Failure> {
        if prefix.is_empty() || prefix == WORKFLOWS_PREFIX {
            self.fetch(&format!("{REFS}{prefix}*"))
        } else {
            self.fetch_group(prefix.trim_end_matches('/'))
        }
    }

    /// Brings the copy of a group up to date.
    fn fetch_group(&mut self, group: &str) -> Result<(), Failure> {
        self.fetch(&reference(group))
    }

    /// Brings the copy of a ref up to date, or of those that a pattern stands for.
    fn fetch(&mut self, refs: &str) -> Result<(), Failure> {
        let spec = format!("+{refs}:{refs}");
        let args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune", "--", &self.url, &spec];
        let answer = self.git(&args, b"")?;
        if !answer.succeeded && !answer.message.contains("couldn't find remote ref") {
            return Err(answer.failure());
        }
        if !answer.succeeded {
            // It is gone, or was never there.
            let _ = self.git(&["update-ref", "-d", refs], b"")?;
        }
        Ok(())
    }

    /// Returns the commit that the copy of a group has; none if there is none.
    fn commit(&self, group: &str) -> Result<Option<String>, Failure> {
        let answer = self.git(&["rev-parse", "--verify", "--quiet", &reference(group)], b"")?;
        Ok(answer.succeeded.then(|| first_line(&answer)))
    }

    fn tree(&self, commit: &str) -> Result<Tree, Failure> {
        let listed = self.local(&["ls-tree", "-r", "-l", "-z", "--full-tree", commit], b"")?;
        let mut tree = Tree::new();
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            let Some((facts, path)) = line.split_once('\t') else { continue };
            let mut facts = facts.split_ascii_whitespace().skip(2);
            if let (Some(id), Some(Ok(size))) = (facts.next(), facts.next().map(str::parse)) {
                tree.insert(path.to_owned(), (size, id.to_owned()));
            }
        }
        Ok(tree)
    }

    /// Makes a commit with these files on top of another. Returns its temporary ref.
    fn commit_files(&mut self, base: Option<&str>, files: &[(&str, &[u8])]) -> Result<String, Failure> {
        self.made += 1;
        let temporary = format!("refs/new/{}-{}", self.unique, self.made);
        let mut stream = format!("commit {temporary}\ncommitter ckpt <ckpt> 0 +0000\ndata 4\nckpt\n").into_bytes();
        if let Some(base) = base {
            stream.extend(format!("from {base}\n").into_bytes());
        }
        for (path, bytes) in files {
            stream.extend(format!("M 100644 inline {path}\ndata {}\n", bytes.len()).into_bytes());
            stream.extend_from_slice(bytes);
            stream.push(b'\n');
        }
        self.local(&["fast-import", "--quiet", "--done"], &[&stream[..], b"done\n"].concat())?;
        Ok(temporary)
    }

    /// Pushes a commit, if the ref still points to `base`. Returns false if it does not.
    fn push(&self, temporary: &str, group: &str, base: Option<&str>) -> Result<bool, Failure> {
        let target = reference(group);
        let lease = format!("--force-with-lease={target}:{}", base.unwrap_or_default());
        let spec = format!("{temporary}:{target}");
        let answer =
            self.git(&["push", "--quiet", "--porcelain", "--no-verify", &lease, "--", &self.url, &spec], b"")?;
        let output = String::from_utf8_lossy(&answer.output);
        if answer.succeeded {
            self.local(&["update-ref", &target, temporary], b"")?;
            return Ok(true);
        }
        let says = |text: &str| output.contains(text) || answer.message.contains(text);
        let lost = ["stale info", "cannot lock ref", "failed to update ref", "fetch first", "non-fast-forward"];
        if lost.iter().any(|text| says(text)) {
            return Ok(false);
        }
        if says("[remote rejected]") || says("[rejected]") {
            return Err(Failure::Refused(format!("{} {}", output.trim(), answer.message)));
        }
        Err(answer.failure())
    }

    /// Writes files by a commit. Files up to the first whose name is taken are written, unless they replace others.
    fn write(&mut self, files: &[(&Key, &[u8])], replaces: bool) -> Result<(), Incomplete> {
        let Some(group) = files.first().map(|(key, _)| key.group().to_owned()) else { return Ok(()) };
        let nothing = |failure| Incomplete { created: 0, failure };
        for race in 0..MAX_RACES {
            let base = self.commit(&group).map_err(nothing)?;
            let tree = match &base {
                Some(base) => self.tree(base).map_err(nothing)?,
                None => Tree::new(),
            };
            let new: Vec<(&str, &[u8])> = files
                .iter()
                .map(|(key, bytes)| (path(key), *bytes))
                .take_while(|(path, _)| replaces || !tree.contains_key(*path))
                .collect();
            let stopped = new.len() < files.len();
            // A copy that is old may lack a name, but never has one too many: names are never freed.
            if !new.is_empty() {
                let temporary = self.commit_files(base.as_deref(), &new).map_err(nothing)?;
                let pushed = self.push(&temporary, &group, base.as_deref());
                let _ = self.git(&["update-ref", "-d", &temporary], b"");
                match pushed {
                    Ok(true) if stopped => {
                        return Err(Incomplete { created: new.len(), failure: Failure::Exists });
                    }
                    Ok(true) => return Ok(()),
                    Ok(false) => {}
                    Err(failure) => {
                        self.fresh.remove(&group);
                        return Err(nothing(failure));
                    }
                }
            } else if self.fresh.contains(&group) {
                return Err(nothing(Failure::Exists));
            }
            if race > 1 {
                // Others are at it: those who wait differently long are in each other's way less.
                let spread = u64::from(self.unique.bytes().fold(race, |sum, byte| sum * 31 % 65_521 + u32::from(byte)));
                OsDisk::new(&self.cache).pause(Duration::from_millis(spread % (50 * u64::from(race.min(8)))));
            }
            self.fetch_group(&group).map_err(nothing)?;
            self.fresh.insert(group.clone());
        }
        Err(nothing(Failure::Unreachable(format!("others were faster {MAX_RACES} times"))))
    }

    /// Brings the copies of groups up to date.
    fn refresh(&mut self, groups: &BTreeSet<&str>) -> Result<(), Failure> {
        for group in groups {
            self.fetch_group(group)?;
            self.fresh.insert((*group).to_owned());
        }
        Ok(())
    }

    /// Reads objects of at most `limit` bytes from the copy; none for those that it does not have.
    fn read_copy(&self, keys: &[Key], limit: u64) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        let names: Vec<String> = keys.iter().map(|key| format!("{}:{}", reference(key.group()), path(key))).collect();
        let input = names.iter().map(|name| format!("{name}\n")).collect::<String>();
        // Sizes first: the content of a repository is not trusted to fit into memory.
        let sizes = self.local(&["cat-file", "--batch-check=%(objecttype) %(objectsize)"], input.as_bytes())?;
        for line in String::from_utf8_lossy(&sizes).lines() {
            let size = line.strip_prefix("blob ").and_then(|size| size.parse::<u64>().ok());
            if size.is_some_and(|size| size > limit) {
                return Err(Failure::Unusable(format!("an object has more than {limit} bytes")));
            }
        }
        let output = self.local(&["cat-file", "--batch=%(objecttype) %(objectsize)"], input.as_bytes())?;
        let mut rest = output.as_slice();
        let mut contents = Vec::new();
        for key in keys {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let end = end.ok_or_else(|| Failure::Unusable("git answers with too little".to_owned()))?;
            let line = String::from_utf8_lossy(&rest[..end]).into_owned();
            rest = &rest[end + 1..];
            let size = line.strip_prefix("blob ").and_then(|size| size.parse::<usize>().ok());
            let content = match size.filter(|size| *size < rest.len()) {
                Some(size) => {
                    let content = rest[..size].to_vec();
                    rest = &rest[size + 1..];
                    Some(content)
                }
                None if line.ends_with("missing") => None,
                None => return Err(Failure::Unusable(format!("`{key}` is not a file"))),
            };
            contents.push(content);
        }
        Ok(contents)
    }
}

impl Remote for Repository {
    fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete> {
        let files: Vec<(&Key, &[u8])> = objects.iter().map(|object| (&object.key, object.bytes.as_slice())).collect();
        self.write(&files, false)
    }

    fn list(&mut self, prefix: &str, visit: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure> {
        self.fetch_listed(prefix)?;
        let refs = self.local(&["for-each-ref", "--format=%(refname)", REFS.trim_end_matches('/')], b"")?;
        for name in String::from_utf8_lossy(&refs).lines() {
            let Some(group) = group(name).filter(|group| format!("{group}/").starts_with(prefix)) else {
                continue;
            };
            for (path, (size, _)) in self.tree(name)? {
                let key = if path == group { group.clone() } else { format!("{group}/{path}") };
                let Some(key) = Key::parse(&key) else { continue };
                if visit(Listed { key, size }).is_break() {
                    return Ok(());
                }
            }
            self.fresh.insert(group);
        }
        Ok(())
    }

    fn get(&mut self, key: &Key, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        let mut found = None;
        self.get_each(std::slice::from_ref(key), limit, &mut |_, bytes| {
            found = bytes;
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn get_each(
        &mut self,
        keys: &[Key],
        limit: u64,
        visit: &mut dyn FnMut(usize, Option<Vec<u8>>) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let groups: BTreeSet<&str> = keys.iter().map(Key::group).collect();
        let is_fresh = groups.iter().all(|group| self.fresh.contains(*group));
        if !is_fresh {
            self.refresh(&groups)?;
        }
        let mut contents = self.read_copy(keys, limit)?;
        // What is not in the copy may have been created since.
        if is_fresh && contents.iter().any(Option::is_none) {
            self.refresh(&groups)?;
            contents = self.read_copy(keys, limit)?;
        }
        for (place, content) in contents.into_iter().enumerate() {
            if visit(place, content).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn empty(&mut self, keys: &[Key]) -> Result<(), Failure> {
        let files: Vec<(&Key, &[u8])> = keys.iter().map(|key| (key, &[][..])).collect();
        self.write(&files, true).map_err(|incomplete| incomplete.failure)
    }
}

/// Returns the ref of a group. A dot may not stand everywhere in the name of a ref.
fn reference(group: &str) -> String {
    format!("{REFS}{}", group.replace('%', "%25").replace('.', "%2e"))
}

/// Returns the group of a ref.
fn group(name: &str) -> Option<String> {
    Some(name.strip_prefix(REFS)?.replace("%2e", ".").replace("%25", "%"))
}

/// Returns the path of an object in the tree of its group.
fn path(key: &Key) -> &str {
    let group = key.group();
    key.as_str().strip_prefix(group).and_then(|rest| rest.strip_prefix('/')).unwrap_or(group)
}

fn words(args: &[&str]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

/// Returns the top of the work tree that the project is in.
fn top_level(context: &TransportContext) -> Result<PathBuf, Failure> {
    let args = words(&["rev-parse", "--show-toplevel"]);
    let answer = git_process::run(&context.project, &args, b"", context.time_limit)?;
    Ok(if answer.succeeded { first_line(&answer).into() } else { context.project.clone() })
}

fn make_copy_dir(context: &TransportContext) -> Result<PathBuf, Failure> {
    let refused = |why: String| Failure::Refused(format!("{why}; set `XDG_STATE_HOME` to a directory that you own"));
    let dir = context.copy_dir.clone();
    let dir = dir.ok_or_else(|| refused("there is no home directory for the copy of the remote".to_owned()))?;
    make_directories(&dir, 0o700).map_err(|error| refused(format!("cannot make `{}`: {error}", dir.display())))?;
    Ok(dir)
}

fn first_line(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.output).lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn what_another_created_since_the_last_look_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let made = git_process::run(dir.path(), &words(&["init", "--quiet", "--bare", "origin.git"]), b"", LIMIT);
        assert!(made.unwrap().succeeded);
        let origin = dir.path().join("origin.git").display().to_string();
        let open = |cache: &Path, unique: &str| {
            let context = TransportContext {
                project: dir.path().to_owned(),
                copy_dir: Some(cache.to_owned()),
                time_limit: LIMIT,
                program: None,
                allow_http: false,
                unique: unique.to_owned(),
            };
            Repository::open(&origin, &context).unwrap()
        };
        let caches = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [mut ours, mut theirs] = [open(caches[0].path(), "a"), open(caches[1].path(), "b")];
        let key = Key::parse("wf/042/x").unwrap();
        assert_eq!(ours.get(&key, 10), Ok(None));
        theirs.create(&[NewObject { key: key.clone(), bytes: b"theirs".to_vec() }]).unwrap();
        assert_eq!(ours.get(&key, 10), Ok(Some(b"theirs".to_vec())));
    }
}
