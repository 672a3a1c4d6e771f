//! A store with the histories of many finished workflows: snapshots of about 10 KB, each of which says what the one
//! before it said, and a little more.

use std::fs;
use std::path::Path;

use ckpt_model::checkpoint::{Artifact, Checkpoint, CheckpointRef};
use ckpt_model::digest::Digest;
use ckpt_model::{WorkflowStatus, format};
use serde_json::{Value, json};

use crate::Outcome;
use crate::world::Project;

/// The lengths of the workflows, repeated in turn.
const LENGTHS: [usize; 6] = [7, 12, 50, 9, 24, 31];
/// The largest workflow has this fraction of all checkpoints: one in five.
const SHARE_OF_THE_LARGEST: usize = 5;
/// The number of findings at the end of a workflow that keeps all of them: 10 KB on average, 20 KB at the end.
const MOST_REMEMBERED: usize = 74;
/// The number of findings in a workflow that drops the oldest ones.
const WINDOW: usize = 37;

const WORDS: [&str; 32] = [
    "parser",
    "the",
    "token",
    "is",
    "refreshed",
    "before",
    "session",
    "and",
    "fails",
    "with",
    "an",
    "empty",
    "header",
    "test",
    "covers",
    "case",
    "where",
    "user",
    "has",
    "no",
    "account",
    "rewrote",
    "lookup",
    "because",
    "it",
    "was",
    "slow",
    "on",
    "large",
    "tables",
    "needs",
    "review",
];

/// Makes a store with `count` checkpoints. That takes a while, so an existing one is used.
pub(crate) fn make(path: &Path, ckpt: &Path, count: usize) -> Outcome {
    let complete = path.join("complete");
    if complete.exists() {
        return Ok(());
    }
    let project = Project::with_history(path, ckpt)?;
    let model = format::decode(&fs::read(project.newest())?)?;
    fs::remove_dir_all(path.join(".ckpt/workflows/042"))?;
    let mut left = count - count / SHARE_OF_THE_LARGEST;
    write(path, &model, "largest", count / SHARE_OF_THE_LARGEST)?;
    for (index, length) in LENGTHS.into_iter().cycle().enumerate() {
        let length = length.min(left);
        write(path, &model, &format!("workflow-{index:04}"), length)?;
        left -= length;
        if left == 0 {
            break;
        }
    }
    Ok(fs::write(complete, "")?)
}

/// Writes the history of one workflow.
fn write(path: &Path, model: &Checkpoint, workflow: &str, length: usize) -> Outcome {
    let directory = path.join(".ckpt/workflows").join(workflow);
    fs::create_dir(&directory)?;
    let mut chance = Chance(Digest::of(workflow.as_bytes()).to_hex().bytes().map(u64::from).sum());
    let mut checkpoint = Checkpoint { workflow: workflow.parse()?, parent: None, ..model.clone() };
    let forgets = length > MOST_REMEMBERED;
    let mut remembered: Vec<Value> = Vec::new();
    for seq in 1..=length {
        let wanted = if forgets { remembered.len() + 1 } else { seq * MOST_REMEMBERED / length };
        while remembered.len() < wanted {
            remembered.push(chance.finding());
        }
        if forgets && remembered.len() > WINDOW {
            remembered.remove(0);
        }
        checkpoint.seq = u64::try_from(seq)?;
        checkpoint.save_id = chance.hex(32);
        checkpoint.note = Some(chance.sentence());
        checkpoint.content.artifacts = vec![chance.artifact(seq)];
        checkpoint.content.state = json!({ "findings": remembered, "round": seq }).into();
        checkpoint.content.status = if seq == length { WorkflowStatus::Complete } else { WorkflowStatus::InProgress };
        fs::write(directory.join(format!("{seq:08}.json")), format::encode(&mut checkpoint)?)?;
        let (seq, sha256) = (checkpoint.seq, checkpoint.sha256);
        checkpoint.parent = Some(CheckpointRef { workflow: None, seq, sha256, extra: Default::default() });
    }
    Ok(())
}

/// A generator of reproducible pseudo-random values.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 32
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap_or_default() % limit
    }

    /// Digits that nothing can compress.
    fn hex(&mut self, digits: usize) -> String {
        let mut hex = Digest::of(&self.next().to_le_bytes()).to_hex();
        hex.truncate(digits);
        hex
    }

    fn sentence(&mut self) -> String {
        let words: Vec<&str> = (0..10).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }

    fn finding(&mut self) -> Value {
        let file = format!("src/{}/{}_{}.rs", WORDS[self.below(32)], WORDS[self.below(32)], self.below(100));
        json!({ "file": file, "line": self.below(900), "hash": self.hex(40), "remark": self.sentence() })
    }

    fn artifact(&mut self, seq: usize) -> Artifact {
        let sha256 = Digest::of(&self.next().to_le_bytes());
        let path = format!("reports/round-{seq}.md");
        let size = Some(self.next() % 100_000);
        Artifact {
            name: path.clone(),
            path,
            size,
            sha256: Some(sha256),
            phase: None,
            captured: false,
            extra: Default::default(),
        }
    }
}
