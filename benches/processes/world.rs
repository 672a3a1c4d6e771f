//! The stores for the measurements. They are on the real disk, below `target`, and the large ones are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ckpt::core::checkpoint::Checkpoint;
use ckpt::core::format;
use serde_json::json;

use crate::Outcome;

const PHASES: [&str; 7] = ["requirements", "design", "plan", "build", "review", "test", "release"];
/// The number that the measured save gets, behind those of the history.
pub(crate) const NEXT: &str = "00000004.json";

/// A project in a git checkout, with the workflow `042` that the measurements save to.
pub(crate) struct Project(PathBuf);

impl Project {
    /// A project without a store.
    pub(crate) fn empty(path: &Path) -> Outcome<Self> {
        remove(path)?;
        let git = path.join(".git");
        fs::create_dir_all(git.join("refs/heads"))?;
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        fs::write(git.join("refs/heads/main"), format!("{:040x}\n", 0x2a))?;
        fs::write(path.join("state.json"), state().to_string())?;
        Ok(Self(path.to_owned()))
    }

    /// A project whose workflow has a few checkpoints of about 10 KB.
    pub(crate) fn with_history(path: &Path, ckpt: &Path) -> Outcome<Self> {
        let project = Self::empty(path)?;
        let phases = PHASES.join(",");
        for phase in &PHASES[..3] {
            let args = ["save", "042", "--phases", &phases, "--phase", phase, "--state", "@state.json"];
            let saved = Command::new(ckpt).args(args).current_dir(path).output()?;
            if !saved.status.success() {
                return Err(String::from_utf8_lossy(&saved.stderr).into());
            }
        }
        Ok(project)
    }

    /// The same, in a store with `count` other workflows. Writing them takes a while, so an existing store is used.
    pub(crate) fn with_others(path: &Path, ckpt: &Path, count: usize) -> Outcome<Self> {
        let complete = path.join("complete");
        if complete.exists() {
            return Ok(Self(path.to_owned()));
        }
        let project = Self::with_history(path, ckpt)?;
        let mut checkpoint = format::decode(&fs::read(project.newest())?)?;
        for n in 0..count {
            project.copy(&mut checkpoint, &format!("other-{n:06}"))?;
        }
        fs::write(complete, "")?;
        Ok(project)
    }

    /// Writes `checkpoint` as the first one of a new workflow.
    fn copy(&self, checkpoint: &mut Checkpoint, workflow: &str) -> Outcome {
        checkpoint.workflow = workflow.parse()?;
        checkpoint.seq = 1;
        let directory = self.0.join(".ckpt/workflows").join(workflow);
        fs::create_dir(&directory)?;
        fs::write(directory.join("00000001.json"), format::encode(checkpoint)?)?;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The newest checkpoint of the history.
    pub(crate) fn newest(&self) -> PathBuf {
        self.0.join(".ckpt/workflows/042/00000003.json")
    }

    /// Removes the checkpoint of the measured save, so that the next run finds the same history.
    pub(crate) fn remove_next(&self) -> Outcome {
        Ok(fs::remove_file(self.0.join(".ckpt/workflows/042").join(NEXT))?)
    }
}

/// A directory for a floor that writes.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// With a file `NEWEST` that has the size of the checkpoint at `like`.
    pub(crate) fn with_newest(path: &Path, like: &Path) -> Outcome<Self> {
        remove(path)?;
        fs::create_dir_all(path)?;
        fs::copy(like, path.join("NEWEST"))?;
        Ok(Self(path.to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn remove_next(&self) -> Outcome {
        Ok(fs::remove_file(self.0.join(NEXT))?)
    }
}

pub(crate) fn remove(path: &Path) -> Outcome {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Returns a state that makes checkpoints of about 10 KB.
fn state() -> serde_json::Value {
    let file = |n: usize| {
        json!({
            "path": format!("src/module_{n:02}/parser.rs"),
            "lines": n * 37 % 900,
            "hash": format!("{:032x}", (n as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)),
            "reviewed": n.is_multiple_of(3),
        })
    };
    json!({ "files": (0..48).map(file).collect::<Vec<_>>(), "remark": "the parser is done, the printer is not" })
}
