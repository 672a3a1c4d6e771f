//! Where else a workflow was continued, and how it compares with the remote, as far as the store knows without asking.

use crate::{Disk, Store};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::diff::diff;
use ckpt_model::next_phase::RunState;
use ckpt_model::resume::{OtherHead, Sharing};

/// The most places that a sentence about a head names.
const MOST_PLACES: usize = 3;

/// Gathers where else the workflow of a checkpoint was continued. Whatever cannot be read is left out: `verify` reports it.
#[must_use]
pub fn sharing<D: Disk>(store: &Store<D>, checkpoint: &Checkpoint) -> Sharing {
    let workflow = &checkpoint.workflow;
    let heads = store.other_heads(workflow).unwrap_or_default();
    let heads = heads.into_iter().filter_map(|handle| {
        let other = store.load_content(handle.clone()).ok()?;
        let writer = other.writer.host.clone().or_else(|| other.writer.agent.clone());
        let done = RunState::recorded(&other.content).progress();
        let progress = match done.total {
            Some(total) => format!("{} of {total} done", done.done),
            None => format!("{} done", done.done),
        };
        Some(OtherHead { handle, saved_at: other.saved_at, writer, progress, differs: differs(checkpoint, &other) })
    });
    let mut sharing = Sharing { heads: heads.collect(), ..Sharing::default() };
    if let Some(ledger) = store.any_ledger(workflow) {
        let head = store.head_number(workflow).ok().flatten().unwrap_or_default();
        sharing.unpushed = head.saturating_sub(ledger.pushed);
        sharing.behind = ledger.behind;
    }
    sharing
}

/// Says in a few words what differs.
fn differs(ours: &Checkpoint, theirs: &Checkpoint) -> String {
    let Ok(difference) = diff(ours, theirs) else { return "they cannot be compared".to_owned() };
    let mut places: Vec<String> = Vec::new();
    for changed in &difference.summary {
        let place = match &changed.name {
            Some(name) => format!("{}/{name}", changed.field),
            None => changed.field.clone(),
        };
        if !places.contains(&place) {
            places.push(place);
        }
    }
    match places.len() {
        0 => "both say the same".to_owned(),
        many if many > MOST_PLACES => {
            format!("they differ in {} and {} more", places[..MOST_PLACES].join(", "), many - MOST_PLACES)
        }
        _ => format!("they differ in {}", places.join(", ")),
    }
}
