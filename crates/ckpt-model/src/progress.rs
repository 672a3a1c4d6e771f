//! How long phases took.

use super::checkpoint::Checkpoint;
use super::phase::Phase;
use super::time::Timestamp;

/// The seconds each done phase took, in declared order. A phase nobody began is taken to have begun when the one
/// before it was finished; the first one is unknown then.
#[must_use]
pub fn durations(checkpoint: &Checkpoint) -> Vec<Option<u64>> {
    let mut before: Option<Timestamp> = None;
    let duration = |phase: &Phase| {
        let begun = phase.started_at.or(before);
        before = phase.completed_at.or(before);
        u64::try_from(phase.completed_at?.seconds_since(begun?)).ok()
    };
    checkpoint.content.phases.iter().map(duration).collect()
}

/// The seconds from the first to the last thing that is known to have happened, up to `now` while work goes on.
#[must_use]
pub fn elapsed(checkpoint: &Checkpoint, now: Timestamp) -> Option<u64> {
    let times = checkpoint.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]).flatten();
    let first = times.clone().min()?;
    let open = checkpoint.content.remaining().next().is_some();
    let last = if open { now } else { times.max()? };
    u64::try_from(last.seconds_since(first)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, Stamp};
    use crate::checkpoint::Writer;
    use crate::phase::PhaseId;
    use crate::pipeline::Pipeline;

    fn finished(seconds: &[u32]) -> Checkpoint {
        let mut checkpoint = None;
        let mut clock = 0;
        let ids = || PhaseId::numbered(u32::try_from(seconds.len()).unwrap());
        for (id, took) in ids().zip(seconds) {
            for status in [crate::PhaseStatus::InProgress, crate::PhaseStatus::Complete] {
                let time = format!("2026-01-01T00:{:02}:{:02}Z", clock / 60, clock % 60);
                let stamp = Stamp {
                    now: Timestamp::parse(&time).unwrap(),
                    save_id: "x".into(),
                    writer: Writer::default(),
                    git: None,
                    watched: Vec::new(),
                };
                let change = Change {
                    phase: Some(id.clone()),
                    status: Some(status),
                    pipeline: Some(Pipeline::custom(ids()).unwrap()),
                    ..Change::default()
                };
                checkpoint = Some(change.apply(&"x".parse().unwrap(), checkpoint, &stamp).unwrap());
                clock += took * u32::from(status == crate::PhaseStatus::InProgress);
            }
        }
        *checkpoint.unwrap()
    }

    #[test]
    fn durations_are_from_beginning_to_end() {
        assert_eq!(durations(&finished(&[45, 30, 180])), [Some(45), Some(30), Some(180)]);
        let mut silent = finished(&[45, 30, 180]);
        silent.content.phases.iter_mut().for_each(|phase| phase.started_at = None);
        assert_eq!(durations(&silent), [None, Some(30), Some(180)]);
        assert_eq!(elapsed(&finished(&[45, 30]), Timestamp::parse("2030-01-01T00:00:00Z").unwrap()), Some(75));
    }
}
