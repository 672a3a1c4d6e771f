//! The stores for the measurements. They are on the real disk, below `target`, and the large ones are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::format;
use serde_json::json;

use crate::Outcome;

const PHASES: [&str; 7] = ["requirements", "design", "plan", "build", "review", "test", "release"];
/// The number of checkpoints in an ordinary history.
const HISTORY: u64 = 3;
/// The name of the file that the floor of a save writes.
pub(crate) const NEXT: &str = "NEXT";

/// A project in a git checkout, with the workflow `042` that the measurements save to.
pub(crate) struct Project {
    path: PathBuf,
    /// The number of the newest checkpoint of the history.
    newest: u64,
}

impl Project {
    /// A project without a store.
    pub(crate) fn empty(path: &Path) -> Outcome<Self> {
        remove(path)?;
        let git = path.join(".git");
        fs::create_dir_all(git.join("refs/heads"))?;
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        fs::write(git.join("refs/heads/main"), format!("{:040x}\n", 0x2a))?;
        fs::write(path.join("state.json"), state().to_string())?;
        Ok(Self { path: path.to_owned(), newest: HISTORY })
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
            return Ok(Self { path: path.to_owned(), newest: HISTORY });
        }
        let project = Self::with_history(path, ckpt)?;
        let mut checkpoint = format::decode(&fs::read(project.newest())?)?;
        for n in 0..count {
            project.copy(&mut checkpoint, &format!("other-{n:06}"))?;
        }
        fs::write(complete, "")?;
        Ok(project)
    }

    /// A project whose workflow has `length` checkpoints. Only the newest one has content, because nothing reads the
    /// others; a long one is kept, because writing it takes a while.
    pub(crate) fn with_length(path: &Path, ckpt: &Path, length: u64) -> Outcome<Self> {
        let complete = path.join("complete");
        let long = Self { path: path.to_owned(), newest: length };
        if complete.exists() {
            return Ok(long);
        }
        let short = Self::with_history(path, ckpt)?;
        let mut checkpoint = format::decode(&fs::read(short.newest())?)?;
        for seq in 1..length {
            fs::write(short.file(seq), "")?;
        }
        checkpoint.seq = length;
        fs::write(long.newest(), format::encode(&mut checkpoint)?)?;
        fs::write(complete, "")?;
        Ok(long)
    }

    /// Writes `checkpoint` as the first one of a new workflow.
    fn copy(&self, checkpoint: &mut Checkpoint, workflow: &str) -> Outcome {
        checkpoint.workflow = workflow.parse()?;
        checkpoint.seq = 1;
        let directory = self.path.join(".ckpt/workflows").join(workflow);
        fs::create_dir(&directory)?;
        fs::write(directory.join("00000001.json"), format::encode(checkpoint)?)?;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, seq: u64) -> PathBuf {
        self.path.join(format!(".ckpt/workflows/042/{seq:08}.json"))
    }

    /// The newest checkpoint of the history.
    pub(crate) fn newest(&self) -> PathBuf {
        self.file(self.newest)
    }

    /// Removes the checkpoint of the measured save, so that the next run finds the same history.
    pub(crate) fn remove_next(&self) -> Outcome {
        Ok(fs::remove_file(self.file(self.newest + 1))?)
    }
}

/// A directory for a floor that writes.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// With a file `NEWEST` that has the size of the checkpoint at `like`.
    pub(crate) fn with_newest(path: &Path, like: &Path) -> Outcome<Self> {
        remove(path)?;
        fs::create_dir_all(path)?;
        let scratch = Self(path.to_owned());
        fs::copy(like, scratch.newest())?;
        Ok(scratch)
    }

    pub(crate) fn newest(&self) -> PathBuf {
        self.0.join("NEWEST")
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
