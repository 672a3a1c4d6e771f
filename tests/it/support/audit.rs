//! Parts that all harnesses share: one workflow, savers that leave a mark each, and the audit of what they left.

use std::collections::BTreeMap;
use std::path::Path;

use ckpt_model::change::{Change, Edit, Stamp};
use ckpt_model::checkpoint::{Artifact, Checkpoint, Writer};
use ckpt_model::format::Unusable;
use ckpt_model::{ArchiveReason, Config, Handle, Timestamp, WorkflowId};
use ckpt_store::save::{Outcome, Save};
use ckpt_store::{Archived, Disk, ObjectContent, OsDisk, STORE_NAME};
use ckpt_store::{Error, Result, Store};
use serde_json::json;

/// A save that returned, under the name of its saver.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ack {
    pub(crate) saver: String,
    pub(crate) seq: u64,
}

impl Ack {
    pub(crate) fn of(saver: &str, saved: &Outcome) -> Self {
        Self { saver: saver.to_owned(), seq: saved.seq().unwrap() }
    }
}

pub(crate) fn workflow() -> WorkflowId {
    "w".parse().unwrap()
}

pub(crate) fn handle(seq: u64) -> Handle {
    Handle::new(&workflow(), seq)
}

pub(crate) fn stamp(save_id: &str) -> Stamp {
    Stamp {
        now: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
        save_id: save_id.to_owned(),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    }
}

/// A store on any disk.
pub(crate) fn store_on<D: Disk>(disk: D) -> Store<D> {
    Store::on(disk, Path::new("/base"), STORE_NAME, Path::new("/base"))
}

/// A store on the real disk, in `base`.
pub(crate) fn store_in(base: &Path) -> Store {
    Store::on(OsDisk::new(base), base, STORE_NAME, base)
}

/// Archives the workflow.
pub(crate) fn archive<D: Disk>(store: &Store<D>) {
    try_archive(store, "archive").unwrap();
}

pub(crate) fn try_archive<D: Disk>(store: &Store<D>, save_id: &str) -> Result<Archived> {
    store.archive(&workflow(), &ArchiveReason::Completed, &stamp(save_id), &mut |_| {})
}

/// Saves a mark that the state keeps from then on.
pub(crate) fn save<D: Disk>(store: &Store<D>, saver: &str) -> Result<Outcome> {
    save_as(store, saver, saver, None)
}

/// The same save under the same key, by a process of its own.
pub(crate) fn save_keyed<D: Disk>(store: &Store<D>, saver: &str, process: &str) -> Result<Outcome> {
    save_as(store, saver, process, Some("key"))
}

/// The content that [`save_captured`] keeps, by any saver.
pub(crate) fn content() -> ObjectContent {
    ObjectContent::new(b"kept".to_vec())
}

/// Saves a mark, and a file with its content.
pub(crate) fn save_captured<D: Disk>(store: &Store<D>, saver: &str) -> Result<Outcome> {
    let content = content();
    let artifact = Artifact {
        size: Some(content.size()),
        sha256: Some(content.sha256()),
        captured: true,
        ..Artifact::new("file", "file")
    };
    let state = vec![Edit::Set(saver.to_owned(), json!(true))];
    let change = Change { state, artifacts: vec![artifact], ..Change::default() };
    let (workflow, stamp, config) = (workflow(), stamp(saver), Config::default());
    Save::new(&workflow, &change, &stamp, &config).contents(&[content]).to(store)
}

/// Removes the objects that nothing refers to, however old they are.
pub(crate) fn sweep<D: Disk>(store: &Store<D>, id: &str) -> Result<()> {
    let planned = store.unreferred_objects(|_| true)?;
    store.sweep_objects(&planned, id).map(drop)
}

/// As [`sweep`], without taking names away and looking for references again.
pub(crate) fn sweep_at_once<D: Disk + Clone>(disk: &D) -> Result<()> {
    for object in store_on(disk.clone()).unreferred_objects(|_| true)? {
        let hex = object.sha256.to_hex();
        let shard = disk.reach(&[STORE_NAME, "objects", &hex[..2]]).unwrap();
        disk.remove(&shard, &format!("{hex}.gz")).unwrap();
    }
    Ok(())
}

fn save_as<D: Disk>(store: &Store<D>, saver: &str, save_id: &str, key: Option<&str>) -> Result<Outcome> {
    let change = Change { state: vec![Edit::Set(saver.to_owned(), json!(true))], ..Change::default() };
    let (workflow, stamp, config) = (workflow(), stamp(save_id), Config::default());
    Save::new(&workflow, &change, &stamp, &config).key(key).to(store)
}

/// Everything that is wrong with a store by the promises it makes about these acknowledged saves.
pub(crate) fn audit<D: Disk>(store: &Store<D>, acked: &[Ack]) -> Vec<String> {
    let newest = match store.head_number(&workflow()) {
        Ok(newest) => newest.unwrap_or_default(),
        Err(error) => return vec![format!("the store does not open: {error}")],
    };
    let mut wrong = Vec::new();
    let mut found: BTreeMap<u64, Checkpoint> = BTreeMap::new();
    for seq in 1..=newest {
        let checkpoint = match store.load(&handle(seq)) {
            Ok(stored) => stored.checkpoint,
            Err(Error::Damaged { why: Unusable::Missing, .. }) => {
                wrong.push(format!("{GAP} {seq}"));
                continue;
            }
            Err(error) => {
                wrong.push(format!("cannot be loaded: {error}"));
                continue;
            }
        };
        if let Some(twin) = found.values().find(|twin| twin.save_id == checkpoint.save_id) {
            wrong.push(format!("`{}` was saved twice, as {} and {seq}", twin.save_id, twin.seq));
        }
        if let Some(before) = found.get(&(seq - 1)) {
            let parent = checkpoint.parent.as_ref().map(|parent| (parent.seq, parent.sha256));
            if parent != Some((before.seq, before.sha256)) {
                wrong.push(format!("{seq} does not continue {}", before.seq));
            }
        }
        found.insert(seq, *checkpoint);
    }
    for (index, Ack { saver, seq }) in acked.iter().enumerate() {
        if !found.get(seq).is_some_and(|checkpoint| has_mark(checkpoint, saver)) {
            wrong.push(format!("the acknowledged save {seq} of `{saver}` is not there"));
        }
        // A seal has no content of its own.
        if found.range(seq..).any(|(_, later)| later.sealed.is_none() && !has_mark(later, saver)) {
            wrong.push(format!("a save after {seq} lacks what `{saver}` saved"));
        }
        if acked[..index].iter().any(|other| other.seq == *seq && other.saver != *saver) {
            wrong.push(format!("{seq} was acknowledged to two savers"));
        }
    }
    // If a checkpoint is visible, so are its objects, acknowledged or not.
    for (seq, checkpoint) in &found {
        for object in checkpoint.content.artifacts.iter().filter_map(Artifact::object) {
            let read = store.read_object(&object, 100);
            if !matches!(read, Ok(Some(_))) {
                wrong.push(format!("{seq} lacks a content: {read:?}"));
            }
        }
    }
    wrong
}

const GAP: &str = "there is no";

/// Leaves out gaps: numbers that nobody was told of may be lost out of order when a disk does not keep the order of
/// what was not synced.
pub(crate) fn without_gaps(mut wrong: Vec<String>) -> Vec<String> {
    wrong.retain(|what| !what.starts_with(GAP));
    wrong
}

/// True if a checkpoint knows of a save.
pub(crate) fn has_mark(checkpoint: &Checkpoint, saver: &str) -> bool {
    checkpoint.content.state.to_value().unwrap().get(saver) == Some(&json!(true))
}

/// The savers that left their mark in any checkpoint there is.
pub(crate) fn holds<D: Disk>(store: &Store<D>, saver: &str) -> bool {
    let numbers = store.numbers(&workflow()).unwrap();
    numbers.into_iter().any(|seq| store.load(&handle(seq)).is_ok_and(|s| has_mark(&s.checkpoint, saver)))
}
