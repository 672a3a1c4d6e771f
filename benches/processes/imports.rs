//! Compares importing many files with reading, parsing and durably writing each of them.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::race::median;
use crate::world::remove;

/// The files of one import: how many, and how many of them belong to one workflow.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) files: usize,
    pub(crate) per_workflow: usize,
}

impl Load {
    /// Imports the files `rounds` times, in turn with the floor, and compares the medians.
    pub(crate) fn measure(self, ckpt: &Path, data: &Path, rounds: usize) -> Outcome<(Duration, Duration)> {
        let project = data.join(format!("import-{}", self.per_workflow));
        remove(&project)?;
        let sources = self.write(&project.join("foreign"))?;
        let (mut theirs, mut least) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            theirs.push(run(ckpt, &project, &["import", "foreign"])?);
            remove(&project.join(".ckpt"))?;
            let written = project.join("written");
            fs::create_dir(&written)?;
            let begun = Instant::now();
            floor(&sources, &written)?;
            least.push(begun.elapsed());
            remove(&written)?;
        }
        Ok((median(theirs), median(least)))
    }

    /// Writes files of about 10 KB, each a step of its workflow.
    fn write(self, directory: &Path) -> Outcome<Vec<PathBuf>> {
        fs::create_dir_all(directory)?;
        let mut paths = Vec::with_capacity(self.files);
        for n in 0..self.files {
            let (workflow, step) = (n / self.per_workflow, n % self.per_workflow);
            let path = directory.join(format!("w{workflow:05}-{step:03}.json"));
            fs::write(&path, serde_json::to_vec_pretty(&document(workflow, step))?)?;
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Imports files into one workflow and exports it again, in turn for each number of files. Returns the medians of both for
/// each number.
pub(crate) fn there_and_back<const N: usize>(
    ckpt: &Path,
    data: &Path,
    files: [usize; N],
    rounds: usize,
) -> Outcome<[(Duration, Duration); N]> {
    let projects = files.map(|files| data.join(format!("import-all-{files}")));
    for (files, project) in files.into_iter().zip(&projects) {
        remove(project)?;
        Load { files, per_workflow: files }.write(&project.join("foreign"))?;
    }
    let mut times = files.map(|_| (Vec::new(), Vec::new()));
    for _ in 0..rounds {
        for ((imports, exports), project) in times.iter_mut().zip(&projects) {
            imports.push(run(ckpt, project, &["import", "foreign"])?);
            exports.push(run(ckpt, project, &["export", "flow-00000", "--as", "crunch"])?);
            remove(&project.join(".ckpt"))?;
            remove(&project.join(".claude"))?;
        }
    }
    Ok(times.map(|(imports, exports)| (median(imports), median(exports))))
}

/// Runs `ckpt` in a project and returns the time it takes.
fn run(ckpt: &Path, project: &Path, args: &[&str]) -> Outcome<Duration> {
    let begun = Instant::now();
    let status = Command::new(ckpt)
        .args(args)
        // Named, because the search would find the store of a surrounding project.
        .args(["-q", "--store", ".ckpt"])
        .current_dir(project)
        .env_clear()
        .env("HOME", project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("{args:?}: {status}").into());
    }
    Ok(begun.elapsed())
}

/// Reads, parses and durably writes the files, one after the other.
fn floor(sources: &[PathBuf], directory: &Path) -> Outcome {
    let handle = File::open(directory)?;
    for (n, source) in sources.iter().enumerate() {
        let value: Value = serde_json::from_slice(&fs::read(source)?)?;
        let (staged, name) = (directory.join(".tmp"), directory.join(format!("{n:08}.json")));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&staged)?;
        file.write_all(&serde_json::to_vec(&value)?)?;
        file.sync_all()?;
        fs::hard_link(&staged, name)?;
        fs::remove_file(&staged)?;
        handle.sync_all()?;
    }
    Ok(())
}

fn document(workflow: usize, step: usize) -> Value {
    let phase = |n: usize| {
        let status = if n < 4 { "completed" } else { "pending" };
        json!({"id": format!("phase-{n}"), "status": status, "notes": "measured twice, cut once; ".repeat(6)})
    };
    let file = |n: usize| json!({"path": format!("src/part_{n:02}/mod.rs"), "lines": n * 37 % 900, "checked": n.is_multiple_of(3)});
    json!({
        "workflow_id": format!("flow-{workflow:05}"),
        "updated_at": format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + step / 96 % 28, step / 4 % 24, step % 4 * 15),
        "status": "in_progress",
        "current_phase": "phase-4",
        "phases": (0..12).map(phase).collect::<Vec<_>>(),
        "files": (0..72).map(file).collect::<Vec<_>>(),
    })
}
