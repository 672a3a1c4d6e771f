//! Checkpoints made through the same changes that users make, without a disk.

use ckpt_model::change::{Change, Stamp};
use ckpt_model::checkpoint::Writer;
use ckpt_model::finding::Code;
use ckpt_model::phase::PhaseStatus;
use ckpt_model::pipeline::Pipeline;
use ckpt_model::resume::{Facts, Limits, Resume, evaluate};
use ckpt_model::{Checkpoint, PhaseId, Timestamp};

pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(crate) const SAVED: &str = "2026-03-01T12:00:00Z";

pub(crate) fn stamp(now: Timestamp) -> Stamp {
    Stamp { now, save_id: "s".into(), writer: Writer::default(), git: None, watched: Vec::new() }
}

pub(crate) fn apply(checkpoint: Option<Checkpoint>, change: &Change) -> Checkpoint {
    *change.apply(&"042".parse().unwrap(), checkpoint.map(Box::new), &stamp(at(SAVED))).unwrap()
}

pub(crate) fn ids(names: &[&str]) -> Vec<PhaseId> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

/// A workflow that has declared `phases` and saved the given statuses, in that order.
pub(crate) fn workflow(phases: &[&str], saved: &[(&str, PhaseStatus)]) -> Checkpoint {
    let declare = Change { pipeline: Some(Pipeline::custom(ids(phases)).unwrap()), ..Change::default() };
    saved.iter().fold(apply(None, &declare), |checkpoint, (phase, status)| {
        let change = Change { phase: Some(phase.parse().unwrap()), status: Some(*status), ..Change::default() };
        apply(Some(checkpoint), &change)
    })
}

pub(crate) fn judge(checkpoint: &Checkpoint, facts: &Facts) -> Resume {
    evaluate(checkpoint, facts, &Limits::default(), at("2026-03-01T12:05:00Z"))
}

pub(crate) fn codes(resume: &Resume) -> Vec<Code> {
    resume.findings.iter().map(|finding| finding.code).collect()
}

pub(crate) fn phase(resume: &Resume) -> Option<&str> {
    resume.phase.as_ref().map(PhaseId::as_str)
}
