//! Concurrent savers in every order of their steps, or in every order with few preemptions where there are too many.
//!
//! Every order is run from the beginning, with the real save code on the disk that forgets, until it ends or comes to a
//! state that another order went through. At the end all savers have been acknowledged, each for a number of its own,
//! without gaps, and the newest checkpoint has what all of them saved. Besides, the power fails in every state. Every
//! checkpoint that is found has the contents that it keeps, although others remove the objects that nothing refers to.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::support::audit::{Ack, archive, audit, content, save, store_on};
use crate::support::memory::MemoryDisk;
use crate::support::proof::{amount, figure};
use crate::support::tap::{Honest, Tap, Tapped};
use ckpt::power_loss::Losses;
use ckpt::schedule::Role::{self, Archive, Capture, Save, Serve, Sweep};
use ckpt::schedule::{Choice, Scene, Seen, run};

/// The states that an exploration has seen.
#[derive(Debug, Default)]
pub(super) struct Explored {
    /// Orders that were run.
    pub(super) schedules: usize,
    /// Different states of the disk and all savers.
    pub(super) states: usize,
    /// Different disks after a power failure.
    pub(super) crashes: usize,
    pub(super) wrong: Vec<String>,
}

/// How far to go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The writers that run at the same time.
    pub(super) roles: &'static [Role],
    /// How often one of them may be interrupted, in all.
    pub(super) preemptions: usize,
    /// The initial content.
    pub(super) begun: Begun,
}

/// The initial state of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begun {
    /// There is none.
    No,
    /// It has a checkpoint.
    Live,
    /// It has one, and was archived.
    Archived,
    /// It has one, and there is an object that nothing refers to: its save was killed.
    Kept,
}

fn preemptions(choices: &[Choice]) -> usize {
    choices.iter().filter(|choice| choice.running.is_some_and(|running| running != choice.chosen)).count()
}

/// Returns true if somebody with the same role has not begun either and comes first. They differ in their names only, so
/// the orders that begin with one are those that begin with the other. The full proof does not rely on it.
fn is_mirrored(roles: &[Role], before: &[Choice], next: usize) -> bool {
    let is_idle = |saver: usize| before.iter().all(|choice| choice.chosen != saver);
    amount(1, 0) == 1 && is_idle(next) && (0..next).any(|other| roles[other] == roles[next] && is_idle(other))
}

/// Runs all orders within the bounds, until something is wrong.
pub(super) fn explore<T: Tap<MemoryDisk> + Sync>(mutant: &T, bounds: Bounds) -> Explored {
    let start = MemoryDisk::new();
    let store = store_on(Tapped { disk: start.clone(), tap: mutant });
    let mut old = Vec::new();
    if bounds.begun != Begun::No {
        old.push(Ack::of("old", &save(&store, "old").unwrap()));
    }
    if bounds.begun == Begun::Archived {
        archive(&store);
    }
    if bounds.begun == Begun::Kept {
        store.store_object(&content(), "killed").unwrap();
    }
    let comes_and_goes = bounds.begun == Begun::No;
    let scene = Scene { disk: start, comes_and_goes, roles: bounds.roles };
    let seen = Mutex::new(Seen::default());
    let mut losses = Losses::default();
    let mut explored = Explored::default();
    let mut ends = HashSet::new();
    let mut open: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(prefix) = open.pop() {
        let run = run(&scene, mutant, &prefix, &seen);
        explored.schedules += 1;
        for at in prefix.len()..run.choices.len() {
            let used = preemptions(&run.choices[..at]);
            let Choice { chosen, live, running } = &run.choices[at];
            for other in live.iter().filter(|other| *other != chosen) {
                let is_new = !is_mirrored(bounds.roles, &run.choices[..at], *other);
                if is_new && used + usize::from(running.is_some()) <= bounds.preemptions {
                    let before = run.choices[..at].iter().map(|choice| choice.chosen);
                    open.push(before.chain([*other]).collect());
                }
            }
        }
        let acked = |acked: &[Ack]| [&old, acked].concat();
        for (disk, told) in &run.moments {
            losses.strike(disk, &acked(told));
        }
        let mut told = run.acked.clone();
        told.sort();
        if !run.merged && ends.insert((run.disk.fingerprint(), told, run.failed.len())) {
            explored.wrong.extend(run.failed);
            explored.wrong.extend(audit(&store_on(run.disk.clone()), &acked(&run.acked)));
            losses.strike(&run.disk, &acked(&run.acked));
        }
        explored.wrong.append(&mut losses.wrong);
        if !explored.wrong.is_empty() {
            break;
        }
    }
    explored.crashes = losses.states();
    explored.states = seen.into_inner().unwrap().states();
    explored
}

fn assert_sound(bounds: Bounds, least: usize) {
    let explored = explore(&Honest, bounds);
    assert_eq!(explored.wrong, [""; 0], "{bounds:?}");
    let Explored { schedules, states, crashes, .. } = explored;
    figure(&format!(
        "model: {schedules} schedules of {:?}, {states} states, {crashes} states after a crash, none wrong",
        bounds.roles
    ));
    assert!(states >= least, "{bounds:?}: only {states}");
}

#[test]
fn two_savers_in_every_order() {
    assert_sound(Bounds { roles: &[Save, Save], preemptions: usize::MAX, begun: Begun::Live }, 900);
}

#[test]
fn two_first_savers_with_few_preemptions() {
    let preemptions = amount(2, 3);
    assert_sound(Bounds { roles: &[Save, Save], preemptions, begun: Begun::No }, amount(2_000, 24_000));
}

#[test]
fn three_first_savers_with_one_preemption() {
    assert_sound(Bounds { roles: &[Save, Save, Save], preemptions: 1, begun: Begun::No }, amount(900, 5_000));
}

#[test]
fn three_savers_with_few_preemptions() {
    assert_sound(Bounds { roles: &[Save, Save, Save], preemptions: 2, begun: Begun::Live }, amount(2_000, 8_000));
}

/// A server remembers its last save while others save and archive. The clock of this disk stands still, so no time tells it
/// that something has changed. In the short form with one preemption: the protocol does not rest on what is remembered.
#[test]
fn servers_and_others_with_few_preemptions() {
    for (roles, begun) in
        [(&[Serve, Save][..], Begun::Live), (&[Serve, Serve], Begun::No), (&[Serve, Archive], Begun::Live)]
    {
        assert_sound(Bounds { roles, preemptions: amount(1, 2), begun }, amount(100, 1_000));
    }
}

/// An archived workflow is continued by several at once: above the seal, with the content of what it closes. In the short
/// form with few preemptions: the steps above a seal are those above a checkpoint, which are tried in every order.
#[test]
fn two_savers_above_a_seal_in_every_order() {
    let preemptions = amount(3, usize::MAX);
    assert_sound(Bounds { roles: &[Save, Save], preemptions, begun: Begun::Archived }, amount(400, 900));
}

/// An archiver packs, seals and replaces while others save: nobody meets a seal whose bundle is missing. In the short form
/// there is one archiver; that a second one continues where the first stopped is tried with power failures.
#[test]
fn savers_and_archivers_with_few_preemptions() {
    let scenes = [(&[Save, Archive][..], amount(1, 2)), (&[Save, Save, Archive], 1), (&[Save, Archive, Archive], 1)];
    for (roles, preemptions) in scenes.into_iter().take(amount(2, 3)) {
        assert_sound(Bounds { roles, preemptions, begun: Begun::Live }, 1_000);
    }
}

/// One keeps a content, and the other removes its object, as long as it sees nothing that refers to it.
#[test]
fn a_saver_that_keeps_a_content_and_a_sweeper_with_few_preemptions() {
    let preemptions = amount(2, usize::MAX);
    assert_sound(Bounds { roles: &[Capture, Sweep], preemptions, begun: Begun::Kept }, 500);
}

#[test]
fn savers_that_keep_a_content_and_sweepers_with_few_preemptions() {
    for (roles, preemptions, begun) in [
        (&[Capture, Capture][..], amount(1, 2), Begun::Live),
        (&[Capture, Sweep], amount(1, 2), Begun::Live),
        (&[Capture, Capture, Sweep], amount(0, 1), Begun::Kept),
        (&[Capture, Sweep, Sweep], amount(1, 2), Begun::Kept),
    ] {
        assert_sound(Bounds { roles, preemptions, begun }, amount(80, 100));
    }
}
