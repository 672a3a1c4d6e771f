//! The ledger: what it says about a remote, and what is written into it after an exchange.

use std::collections::BTreeMap;

use super::exchange::{CHUNK, CHUNK_BYTES};
use super::key::ObjectName;
use super::plan::{LocalView, Node, Push, RemoteView, Slot};
use super::retry::{Fetched, Names};
use ckpt_model::digest::Digest;
use ckpt_store::Ledger;

/// Returns what the ledger says about the remote.
pub(super) fn known(ledger: &Ledger) -> RemoteView {
    let mut remote = RemoteView { taken: ledger.main, ..RemoteView::default() };
    if let Some((seq, digest)) = ledger.top {
        remote.main.insert(seq, Slot::Node(Node { seq, digest, parents: Vec::new() }));
    }
    let top = ledger.top.map_or(0, |(seq, _)| seq);
    remote.main.extend((top + 1..=ledger.main).map(|empty| (empty, Slot::Empty)));
    remote
}

/// Returns the name of a side checkpoint in a ledger.
fn side_name(name: &ObjectName) -> Option<String> {
    match name {
        ObjectName::Side(seq, digest) => Some(format!("{seq}@{digest}")),
        ObjectName::Main(_) | ObjectName::Archive(_) => None,
    }
}

fn is_known(ledger: &Ledger, name: &ObjectName) -> bool {
    match name {
        ObjectName::Main(seq) => *seq <= ledger.main,
        side @ ObjectName::Side(..) => side_name(side).is_some_and(|name| ledger.sides.contains(&name)),
        ObjectName::Archive(_) => true,
    }
}

/// Returns the names that the ledger does not know, from the lowest number upwards, in parts of a bounded size.
pub(super) fn chunks(ledger: &Ledger, names: &Names) -> Vec<Vec<ObjectName>> {
    let number = |name: &ObjectName| match name {
        ObjectName::Main(seq) => (*seq, false),
        ObjectName::Side(seq, _) => (*seq, true),
        ObjectName::Archive(_) => (0, false),
    };
    let mut unknown: Vec<(&ObjectName, u64)> =
        names.iter().filter(|(name, _)| !is_known(ledger, name)).map(|(name, size)| (name, *size)).collect();
    unknown.sort_by_key(|(name, _)| number(name));
    let mut chunks: Vec<Vec<ObjectName>> = Vec::new();
    let mut bytes = 0;
    for (name, size) in unknown {
        if bytes == 0 || bytes + size > CHUNK_BYTES || chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            chunks.push(Vec::new());
            bytes = 0;
        }
        bytes += size.max(1);
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(name.clone());
        }
    }
    chunks
}

/// Counts the checkpoints of the remote that this store is not known to have. `remote` is what was looked at.
pub(super) fn lacking(local: &LocalView, remote: &RemoteView, ledger: &Ledger, names: &Names) -> u64 {
    let own = |seq: &u64| match local.main.get(seq) {
        Some(Slot::Node(node)) => Some(node.digest),
        _ => None,
    };
    let is_ours = |name: &ObjectName| match name {
        ObjectName::Side(seq, digest) => {
            local.sides.contains(&(*seq, *digest)) || own(seq).is_some_and(|own| own.short() == *digest)
        }
        ObjectName::Main(seq) => match remote.main.get(seq) {
            Some(Slot::Node(node)) => own(seq) == Some(node.digest),
            _ => false,
        },
        ObjectName::Archive(_) => false,
    };
    let lacking = names.iter().filter(|(name, size)| **size > 0 && !is_known(ledger, name) && !is_ours(name));
    lacking.count() as u64
}

/// Records what was fetched and added to the store.
pub(super) fn note_pulled(ledger: &mut Ledger, fetched: &[(ObjectName, Fetched)]) {
    ledger.sides.extend(fetched.iter().filter_map(|(name, _)| side_name(name)));
    let main: BTreeMap<u64, Option<Digest>> = fetched
        .iter()
        .filter_map(|(name, fetched)| match (name, fetched) {
            (ObjectName::Main(seq), Fetched::Entry(links, _)) => Some((*seq, Some(links.sha256))),
            (ObjectName::Main(seq), Fetched::Empty) => Some((*seq, None)),
            _ => None,
        })
        .collect();
    advance(ledger, &main);
}

/// Records what was created, and what was found to be there already.
pub(super) fn note_pushed(ledger: &mut Ledger, local: &LocalView, remote: &RemoteView, plan: &[Push]) {
    let mut main: BTreeMap<u64, Option<Digest>> = BTreeMap::new();
    let digest = |seq: &u64| match local.main.get(seq) {
        Some(Slot::Node(node)) => Some(node.digest),
        _ => None,
    };
    for (seq, slot) in &remote.main {
        match slot {
            Slot::Empty => {
                main.insert(*seq, None);
            }
            Slot::Node(node) if digest(seq) == Some(node.digest) => {
                main.insert(*seq, Some(node.digest));
            }
            Slot::Node(_) => {}
        }
    }
    for push in plan {
        if let ObjectName::Main(seq) = push.name {
            main.insert(seq, push.from.as_ref().and_then(digest));
        }
        ledger.sides.extend(side_name(&push.name));
    }
    ledger.pushed = local.main.last_key_value().map_or(0, |(seq, _)| *seq);
    advance(ledger, &main);
}

/// Moves the end of what is known of the main line upwards, as far as there is no gap.
fn advance(ledger: &mut Ledger, main: &BTreeMap<u64, Option<Digest>>) {
    while let Some(next) = ledger.main.checked_add(1)
        && let Some(digest) = main.get(&next)
    {
        ledger.main = next;
        if let Some(digest) = digest {
            ledger.top = Some((ledger.main, *digest));
        }
    }
}
