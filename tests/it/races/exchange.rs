//! A directory and a link to a place outside change names while the program works: nothing outside is read or written.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ckpt_formats::import::{Found, collect};
use ckpt_model::Config;
use ckpt_model::change::Change;
use ckpt_model::checkpoint::{Artifact, Checkpoint};
use ckpt_model::digest::Digest;
use ckpt_model::resume::{FileCondition, OutputFact};
use ckpt_model::size::Size;
use ckpt_store::artifact::watch;
use ckpt_store::observe::{Observer, gather};
use ckpt_store::place::{FileContent, NewFile, write};
use ckpt_store::save::Request;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::support::audit::{stamp, store_in, workflow};
use crate::support::project::World;

const ROUNDS: usize = 4_000;
const LIMIT: Size = Size(1 << 20);
const INSIDE: &str = r#"{"workflow_id": "inside", "current_phase": "a", "phases": ["a", "b"]}"#;
const OUTSIDE: &str = r#"{"workflow_id": "outside", "current_phase": "a", "phases": ["a", "b"]}"#;

/// A project with a directory, and a link to a directory outside. Both have a `file.json`.
struct Scene {
    project: PathBuf,
    outside: PathBuf,
    /// The names that are exchanged.
    names: [PathBuf; 2],
}

impl Scene {
    /// Sets the scene in a temporary directory.
    fn new(temp: &Path, name: &str) -> Self {
        let temp = temp.canonicalize().unwrap();
        let (project, outside) = (temp.join("project"), temp.join("outside"));
        let names = [name, "link"].map(|name| project.join(name));
        for (directory, text) in [(&names[0], INSIDE), (&outside, OUTSIDE)] {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join("file.json"), text).unwrap();
        }
        symlink(&outside, &names[1]).unwrap();
        Self { project, outside, names }
    }

    /// Runs `work` many times while the directory and the link change names all the time. `work` returns true if it
    /// succeeded. It must succeed and fail at least once, or the test would prove nothing.
    fn exchanging(&self, rounds: usize, mut work: impl FnMut() -> bool) {
        let [dir, link] = &self.names;
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let _done = SetOnDrop(&done);
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, dir, CWD, link, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let (mut round, mut succeeded) = (0, 0);
            while round < rounds || succeeded == 0 || succeeded == round {
                succeeded += usize::from(work());
                round += 1;
                assert!(round < 20 * rounds, "{succeeded} of {round} rounds succeeded");
            }
        });
        let outside = std::fs::read(self.outside.join("file.json")).unwrap();
        assert_eq!(outside, OUTSIDE.as_bytes(), "a file outside was changed");
        assert_eq!(std::fs::read_dir(&self.outside).unwrap().count(), 1, "a file was written outside");
    }
}

/// Ends the other thread, also when an assertion fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn only_files_inside_are_hashed_as_artifacts_and_watched_files() {
    let temp = tempfile::tempdir().unwrap();
    let scene = Scene::new(temp.path(), "dir");
    let inside = Digest::of(INSIDE.as_bytes());
    let (store, workflow) = (store_in(&scene.project), workflow());
    let request = Request { workflow: &workflow, key: None, base: &scene.project, allow_secrets: false, capture: true };
    scene.exchanging(ROUNDS, || {
        let mut change = Change { artifacts: vec![Artifact::new("a", "dir/file.json")], ..Change::default() };
        let prepared = request.prepare::<_, ckpt::Error>(&store, &mut change, &Config::default());
        let watched = watch(&scene.project, &["dir/file.json".to_owned()], LIMIT);
        for digest in [change.artifacts[0].sha256, watched[0].sha256].into_iter().flatten() {
            assert_eq!(digest, inside, "a file outside was hashed");
        }
        prepared.as_ref().is_ok_and(|prepared| {
            assert_eq!(prepared.captured.contents[0].sha256(), inside, "a file outside was kept");
            true
        })
    });
}

/// A checkpoint with this artifact, and an output that is valid only outside.
fn checkpoint(artifact: &str) -> Checkpoint {
    let change = Change { phase: Some("a".parse().unwrap()), ..Change::default() };
    let mut checkpoint = *change.apply(&workflow(), None, &stamp("save")).unwrap();
    let mut file = Artifact::new("a", "dir/file.json");
    (file.size, file.sha256) = (Some(artifact.len() as u64), Some(Digest::of(artifact.as_bytes())));
    checkpoint.content.artifacts.push(file);
    let schema = json!({"properties": {"workflow_id": {"const": "outside"}}});
    let output = json!({"path": "dir/file.json", "schema": schema});
    checkpoint.content.phases[0].outputs = vec![serde_json::from_value(output).unwrap()];
    checkpoint
}

#[test]
fn only_files_inside_are_judged_by_resume() {
    let temp = tempfile::tempdir().unwrap();
    let scene = Scene::new(temp.path(), "dir");
    let observer = Observer {
        project: &scene.project,
        checkout: None,
        session: None,
        max_file: LIMIT,
        current_facts: &[],
        fact_severities: Default::default(),
        kept: None,
    };
    let (inside, outside) = (checkpoint(INSIDE), checkpoint(OUTSIDE));
    scene.exchanging(ROUNDS / 2, || {
        let facts = gather(&outside, &observer);
        assert_ne!(facts.artifacts, [FileCondition::Unchanged], "an artifact outside was hashed");
        let output = facts.outputs.get("dir/file.json");
        assert_ne!(output, Some(&OutputFact::Valid), "an output outside was read");
        gather(&inside, &observer).artifacts == [FileCondition::Unchanged]
    });
}

#[test]
fn nothing_is_exported_to_the_outside() {
    let temp = tempfile::tempdir().unwrap();
    let scene = Scene::new(temp.path(), "dir");
    let write = |name: &str, content: FileContent| {
        let file = NewFile { path: format!("dir/{name}"), content };
        write(&scene.project, &[file], true, 0o755)
    };
    let mut number = 0;
    scene.exchanging(ROUNDS, || {
        number += 1;
        let text = FileContent::Bytes(number.to_string().into());
        let written = write("sub/new.json", text.clone()).is_ok();
        let _ = write("new.json", text);
        let _ = write("latest", FileContent::Link(format!("to-{number}")));
        written
    });
}

#[test]
fn only_files_inside_are_imported() {
    let temp = tempfile::tempdir().unwrap();
    let scene = Scene::new(temp.path(), "dir");
    let listed = collect(&scene.project);
    let [(_, Found::File(source))] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!(source.path(), Some(&*scene.project.join("dir/file.json")));
    scene.exchanging(ROUNDS, || {
        let read = source.read();
        assert!(
            read.as_ref().is_ok_and(|bytes| bytes == INSIDE.as_bytes()) || read.is_err(),
            "a file outside was read"
        );
        read.is_ok()
    });
}

/// The same with the program itself.
#[test]
fn saves_and_exports_stay_inside() {
    let world = World::on_disk().with_processes();
    let scene = Scene::new(world.temp(), ".claude");
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    scene.exchanging(12, || {
        let saved = world.run(&["save", "042", "--artifact", "a=.claude/file.json"]);
        let exported = world.run(&["export", "042", "--as", "claude-plan", "--force"]);
        saved.code() == 0 && exported.code() == 0
    });
    let outside = Digest::of(OUTSIDE.as_bytes()).to_hex();
    for seq in world.numbers("042") {
        assert!(!world.stored("042", seq).to_string().contains(&outside), "042/{seq}");
    }
}
