//! Whatever happens to a store, a list by the index is the list of its files.

use std::collections::BTreeSet;

use ckpt_model::change::{Change, Stamp};
use ckpt_model::format::Unusable;
use ckpt_model::retention::{KeepRules, Policy, RetentionSettings, Rules, plan};
use ckpt_model::stats::RunFilter;
use ckpt_model::{ArchiveReason, Config, PhaseId, Timestamp};
use ckpt_store::save::Save;
use ckpt_store::store_stats::{self, StatusCounts};
use ckpt_store::{Disk, Entry, RestoreScope, STORE_NAME};
use proptest::prelude::*;

use super::{LARGE, Summary, id, large_store, read_index, remove_index, save, summaries, without_index};
use crate::support::audit::{stamp, store_on};
use crate::support::memory::MemoryDisk;
use crate::support::proof::amount;

/// One thing that happens. Time passes only by [`Event::Tick`], so the others may share a tick of the clock.
#[derive(Debug, Clone)]
enum Event {
    Tick,
    List,
    Count,
    Save(usize),
    /// Enough to write the index again.
    SaveMany(usize),
    Archive(usize),
    Restore(usize),
    CleanUp,
    RemoveHead(usize),
    RemoveWorkflow(usize),
    EmptyHead(usize),
    RemoveIndex,
}

fn event() -> impl Strategy<Value = Event> {
    // Few workflows, so that several things happen to one.
    let workflow = 0..4_usize;
    prop_oneof![
        4 => Just(Event::Tick),
        4 => Just(Event::List),
        2 => Just(Event::Count),
        4 => workflow.clone().prop_map(Event::Save),
        2 => (LARGE..LARGE + 3).prop_map(Event::Save),
        2 => (0..2_usize).prop_map(Event::SaveMany),
        2 => workflow.clone().prop_map(Event::Archive),
        2 => workflow.clone().prop_map(Event::Restore),
        1 => Just(Event::CleanUp),
        1 => workflow.clone().prop_map(Event::RemoveHead),
        1 => workflow.clone().prop_map(Event::RemoveWorkflow),
        1 => workflow.prop_map(Event::EmptyHead),
        1 => Just(Event::RemoveIndex),
    ]
}

/// Opens the directory of a workflow and finds its head.
fn head(disk: &MemoryDisk, number: usize) -> Option<(usize, String)> {
    let dir = disk.reach(&[STORE_NAME, "workflows", id(number).as_str()]).ok()?;
    let mut names = BTreeSet::new();
    disk.list(&dir, &mut |name| names.extend([name.to_owned()])).unwrap();
    Some((dir, names.pop_last()?))
}

fn happen(disk: &MemoryDisk, event: &Event, round: usize) {
    let store = store_on(disk.clone());
    match event {
        Event::Tick => disk.tick(),
        Event::List => compare(disk),
        Event::Count => compare_counts(disk),
        Event::Save(number) => {
            // Damaged ones refuse it.
            let _ = ckpt_store::save::Save::new(
                &id(*number),
                &Default::default(),
                &stamp(&format!("save{round}")),
                &Default::default(),
            )
            .to(&store);
        }
        Event::SaveMany(part) => (0..20).for_each(|number| save(&store, 100 + 20 * part + number, round)),
        Event::Archive(number) => {
            let stamp = stamp(&format!("archive{round}"));
            let _ = store.archive(&id(*number), &ArchiveReason::Completed, &stamp, &mut |_| {});
        }
        Event::Restore(number) => {
            drop(store.restore(&id(*number), &RestoreScope::Workflow, &stamp(&format!("restore{round}")), &mut |_| {}));
        }
        Event::CleanUp => {
            let keep = KeepRules { last: Some("1".parse().unwrap()), ..KeepRules::default() };
            let policy = Policy { rules: Rules::Everything, keep, ..RetentionSettings::default().policy() };
            let stamp = stamp(&format!("cleanup{round}"));
            let plan = plan(&store.cleanup_facts(&mut |_| {}).unwrap(), &policy, stamp.now).unwrap();
            store.clean_up(&plan, &stamp, &mut |_| {});
        }
        Event::RemoveHead(number) => {
            if let Some((dir, name)) = head(disk, *number) {
                disk.remove(&dir, &name).unwrap();
            }
        }
        Event::RemoveWorkflow(number) => {
            let _ = disk.remove(&disk.reach(&[STORE_NAME, "workflows"]).unwrap(), id(*number).as_str());
        }
        Event::EmptyHead(number) => {
            if let Some((dir, name)) = head(disk, *number) {
                disk.stage_unsynced(dir, ".tmp-test", b"").unwrap();
                disk.replace(&dir, ".tmp-test", &name).unwrap();
            }
        }
        Event::RemoveIndex => remove_index(disk),
    }
}

fn compare(disk: &MemoryDisk) {
    assert_eq!(summaries(&store_on(disk.clone())), without_index(disk));
}

/// Compares the counts of `stats` with the list of every workflow.
fn compare_counts(disk: &MemoryDisk) {
    let store = store_on(disk.clone());
    let (stats, _) = store_stats::of_store(&store, &RunFilter::default(), &mut |_| {}).unwrap();
    let (mut archived, mut live, mut damaged) = (0, 0, 0);
    for workflow in summaries(&store).values() {
        match workflow {
            Summary { archived: true, .. } => archived += 1,
            Summary { head: Ok(_), .. } => live += 1,
            Summary { head: Err(_), .. } => damaged += 1,
        }
    }
    let StatusCounts { in_progress, complete, failed, abandoned, .. } = stats.workflows;
    let counted = (stats.archived_workflows, in_progress + complete + failed + abandoned, stats.workflows.damaged);
    assert_eq!(counted, (archived, live, damaged));
    let (mut checkpoints, mut bytes, mut oldest) = (0, 0, None);
    for row in store.workflow_ids().unwrap().iter().flat_map(|id| store.scan_checkpoints(id).unwrap()) {
        bytes += row.bytes;
        match row.entry {
            Ok(Entry::Checkpoint(header)) => {
                checkpoints += 1;
                oldest = [oldest, Some(header.saved_at)].into_iter().flatten().min();
            }
            Ok(Entry::Seal(_) | Entry::Tombstone) | Err(Unusable::Missing) => {}
            Err(_) => checkpoints += 1,
        }
    }
    assert_eq!((stats.checkpoints, stats.live_bytes, stats.oldest), (checkpoints, bytes, oldest));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: u32::try_from(amount(5, 32)).unwrap(), ..ProptestConfig::default() })]

    #[test]
    fn the_index_never_changes_a_list(events in proptest::collection::vec(event(), 8..24)) {
        let disk = large_store();
        for (round, event) in events.iter().enumerate() {
            happen(&disk, event, round + 1);
        }
        disk.tick();
        compare(&disk);
        compare_counts(&disk);
        assert!(read_index(&disk).is_some());
    }
}

#[test]
fn a_workflow_that_was_found_in_the_archive_is_looked_for_each_time() {
    let disk = large_store();
    let store = store_on(disk.clone());
    store.archive(&id(0), &ArchiveReason::Completed, &stamp("archive"), &mut |_| {}).unwrap();
    while let Some((dir, name)) = head(&disk, 0) {
        disk.remove(&dir, &name).unwrap();
    }
    disk.tick();
    compare(&disk);
    assert!(summaries(&store).contains_key(&id(0)));
    // Its directory does not change when the archive does.
    disk.remove(&disk.reach(&[STORE_NAME, "archive"]).unwrap(), id(0).as_str()).unwrap();
    compare(&disk);
    assert!(!summaries(&store).contains_key(&id(0)));
}

#[test]
fn every_text_and_every_time_reads_back() {
    let disk = large_store();
    let store = store_on(disk.clone());
    let change = Change {
        phase: Some("Strategic \"Synthesis\" \\ 2".parse().unwrap()),
        labels: vec!["two words".to_owned(), "caf\u{e9} \"x\"".to_owned(), "-".to_owned()],
        ..Change::default()
    };
    for (workflow, now) in [("Upper", "1969-12-31T23:59:59.999Z"), ("upper", "9999-12-31T23:59:59Z")] {
        let stamp = Stamp { now: Timestamp::parse(now).unwrap(), ..stamp(workflow) };
        Save::new(&workflow.parse().unwrap(), &change, &stamp, &Config::default()).to(&store).unwrap();
    }
    disk.tick();
    compare(&disk);
    // From the index that the first comparison has left.
    let known = summaries(&store);
    assert_eq!(known, without_index(&disk));
    let (saved_at, _, phase, _, labels) = known[&"Upper".parse().unwrap()].head.as_ref().unwrap();
    assert_eq!(saved_at.to_string(), "1969-12-31T23:59:59.999Z");
    assert_eq!((phase.as_deref(), labels), (change.phase.as_ref().map(PhaseId::as_str), &change.labels));
    let index = String::from_utf8(read_index(&disk).unwrap()).unwrap();
    assert!(index.lines().any(|line| line.starts_with("!upper ") && line.ends_with(']')));
}

#[test]
fn a_change_in_the_tick_of_the_list_is_seen() {
    let disk = large_store();
    let store = store_on(disk.clone());
    (0..LARGE).for_each(|number| save(&store, number, 1));
    compare(&disk);
    // Only what was saved a tick ago can be in the index with more than its name, and nothing was.
    let index = String::from_utf8(read_index(&disk).unwrap()).unwrap();
    assert_eq!(index.lines().filter(|line| line.starts_with('w') && line.ends_with(' ')).count(), LARGE);
    (0..LARGE).for_each(|number| save(&store, number, 2));
    compare(&disk);
    disk.tick();
    compare(&disk);
    let index = String::from_utf8(read_index(&disk).unwrap()).unwrap();
    assert_eq!(index.lines().filter(|line| line.starts_with('w') && line.ends_with(']')).count(), LARGE);
}
