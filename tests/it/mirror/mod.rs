//! The files that are kept for another system: always what that system would have, and never those of others.

mod concurrent;
mod foreign;
mod hostile;
mod random;
mod reconcile;
mod systems;

use std::collections::BTreeMap;
use std::path::Path;

use ckpt::core::dialects::Dialect;
use ckpt::core::export::{FileContent, current_run, directory, previous_runs, projection, slot_projection};
use serde_json::Value;

use crate::support::project::World;

/// The content of files by their paths in the project; that of a link is `-> target`.
pub(crate) type Files = BTreeMap<String, String>;

/// The files of a dialect that are there.
pub(crate) fn files(world: &World, dialect: Dialect) -> Files {
    let mut files = Files::new();
    add(&world.project(), &world.project().join(directory(dialect)), &mut files);
    files
}

fn add(project: &Path, path: &Path, files: &mut Files) {
    let Ok(metadata) = path.symlink_metadata() else { return };
    if metadata.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            add(project, &entry.unwrap().path(), files);
        }
        return;
    }
    let content = match std::fs::read_link(path) {
        Ok(target) => format!("-> {}", target.display()),
        Err(_) => std::fs::read_to_string(path).unwrap(),
    };
    files.insert(path.strip_prefix(project).unwrap().display().to_string(), content);
}

/// The names of the files of a dialect that are there, below its directory.
fn names(world: &World, dialect: Dialect) -> Vec<String> {
    let below = |path: String| path[directory(dialect).len() + 1..].to_owned();
    files(world, dialect).into_keys().map(below).collect()
}

/// The files that the store projects for these workflows.
pub(crate) fn projected(world: &World, dialect: Dialect, workflows: &[&str]) -> Files {
    let store = world.open_store();
    let ids = workflows.iter().map(|id| id.parse().unwrap());
    let mut runs: Vec<_> = ids.filter_map(|id| current_run(&store, dialect, &id).ok()).collect();
    if dialect.has_one_slot() {
        let previous: Vec<_> = runs.iter().flat_map(|run| previous_runs(&store, run)).collect();
        runs.extend(previous);
    }
    let project = world.project();
    let files = if dialect.has_one_slot() {
        slot_projection(dialect, &mut runs, &project).unwrap()
    } else {
        runs.iter().flat_map(|run| projection(dialect, run, &project).unwrap()).collect()
    };
    let text = |content: FileContent| match content {
        FileContent::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
        FileContent::Link(to) => format!("-> {to}"),
    };
    files.into_iter().map(|file| (file.path, text(file.content))).collect()
}

fn document(world: &World, path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(world.project().join(path)).unwrap()).unwrap()
}

/// A world in which every save keeps the files of a dialect.
pub(crate) fn mirroring(dialect: Dialect) -> World {
    let world = World::new();
    world.configure(&format!("[save]\nmirror = \"{dialect}\"\n"));
    world
}

/// Returns the number of system calls on files that a save makes after so many others, with a mirror.
fn calls_of_a_save(strace: &Path, dialect: Dialect, saves: usize) -> usize {
    let world = World::new();
    world.configure(&format!("[save]\nmirror = \"{dialect}\"\n"));
    let save = ["save", "042", "--pipeline", "kamiflow", "--phase", "1", "--status", "in_progress"];
    for number in 0..saves {
        let state = format!("{{\"n\": {number}}}");
        world.run(&[&save[..], &["--state", &state]].concat()).succeeds();
    }
    assert!(names(&world, dialect).len() >= if dialect == Dialect::Crunch { saves } else { 1 });
    let calls = crate::support::strace::calls(strace, &world, &save);
    assert_eq!(files(&world, dialect), projected(&world, dialect, &["042"]));
    let about_memory = ["brk", "mmap", "munmap", "mremap", "madvise"];
    calls.iter().filter(|call| !about_memory.contains(&call.name.as_str())).count()
}

#[test]
fn a_mirrored_save_takes_as_many_steps_in_a_long_workflow_as_in_a_short_one() {
    let Some(strace) = crate::support::strace::strace() else { return };
    for dialect in [Dialect::Crunch, Dialect::Kamiflow] {
        let [few, many] = [8, 40].map(|saves| calls_of_a_save(&strace, dialect, saves));
        // Finding the newest number takes a few more, and a larger list one more read.
        assert!(many <= few + 12, "{dialect}: {few} calls after 8 saves, {many} after 40");
    }
}
