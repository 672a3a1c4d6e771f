//! The probe against remotes in memory, each with one fault.

use std::sync::{Arc, Mutex};

use super::*;
use crate::remote::{Incomplete, Listed};

/// The fault of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Creation overwrites.
    Overwrites,
    /// Creation says "exists", and overwrites it anyway.
    OverwritesAndDenies,
    /// Creation looks first and writes then.
    ChecksThenWrites,
    /// In a race, a loser's bytes are kept.
    KeepsALoser,
    /// A list lacks the newest object.
    StaleList,
    /// Emptying says "done" and does nothing.
    DoesNotEmpty,
    /// An empty object counts as absent.
    EmptyIsAbsent,
    /// The account may only add.
    MayNotEmpty,
    /// Creation is answered with 501.
    NoCondition,
    /// Every third answer is lost, after the work was done.
    LosesAnswers,
    /// Every third creation meets another one, and does nothing.
    Conflicts,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<Key, Vec<u8>>,
    requests: usize,
}

#[derive(Clone)]
struct Memory {
    fault: Fault,
    state: Arc<Mutex<State>>,
    /// Lets writers that check first come together between the check and the write.
    gate: Arc<Barrier>,
}

impl Remote for Memory {
    fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete> {
        let [NewObject { key, bytes }] = objects else { panic!("the probe creates one at a time") };
        let fail = |failure| Err(Incomplete { created: 0, failure });
        let unknown = || Failure::Unknown("HTTP 500".to_owned());
        let is_race = key.as_str().contains("race");
        let mut state = self.state.lock().unwrap();
        state.requests += 1;
        let is_third = state.requests.is_multiple_of(3);
        let held = state.objects.get(key);
        let is_taken = held.is_some_and(|held| self.fault != Fault::EmptyIsAbsent || !held.is_empty());
        match self.fault {
            Fault::NoCondition => return fail(Failure::Refused("HTTP 501 (NotImplemented)".to_owned())),
            Fault::Conflicts if is_third => return fail(unknown()),
            Fault::ChecksThenWrites if is_race => {
                drop(state);
                self.gate.wait();
                state = self.state.lock().unwrap();
            }
            Fault::Overwrites => {}
            Fault::OverwritesAndDenies if is_taken => {
                state.objects.insert(key.clone(), bytes.clone());
                return fail(Failure::Exists);
            }
            Fault::KeepsALoser if is_race && is_taken => {
                state.objects.insert(key.clone(), bytes.clone());
                return fail(Failure::Exists);
            }
            _ if is_taken => return fail(Failure::Exists),
            _ => {}
        }
        state.objects.insert(key.clone(), bytes.clone());
        if self.fault == Fault::LosesAnswers && is_third { fail(unknown()) } else { Ok(()) }
    }

    fn list(&mut self, prefix: &str, visit: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure> {
        let state = self.state.lock().unwrap();
        let hidden = usize::from(self.fault == Fault::StaleList);
        let keys = state.objects.iter().filter(|(key, _)| key.as_str().starts_with(prefix)).skip(hidden);
        for (key, bytes) in keys {
            if visit(Listed { key: key.clone(), size: bytes.len() as u64 }).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &Key, _limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.state.lock().unwrap().objects.get(key).cloned())
    }

    fn empty(&mut self, keys: &[Key]) -> Result<(), Failure> {
        match self.fault {
            Fault::MayNotEmpty => return Err(Failure::Refused("HTTP 403 (AccessDenied)".to_owned())),
            Fault::DoesNotEmpty => return Ok(()),
            _ => {}
        }
        let objects = &mut self.state.lock().unwrap().objects;
        objects.extend(keys.iter().map(|key| (key.clone(), Vec::new())));
        Ok(())
    }
}

fn probed(fault: Fault) -> (Result<Capabilities>, Memory) {
    let memory = Memory { fault, state: Arc::default(), gate: Arc::new(Barrier::new(RACERS)) };
    let mut handles: Vec<Box<dyn Remote + Send>> = Vec::new();
    handles.resize_with(RACERS, || Box::new(memory.clone()));
    let result = probe(&mut handles, "k3f9");
    (result, memory)
}

#[test]
fn an_engine_that_keeps_the_promises_is_accepted_and_left_tidy() {
    let (result, memory) = probed(Fault::None);
    assert_eq!(result, Ok(Capabilities { can_empty: true }));
    let state = memory.state.lock().unwrap();
    assert_eq!(state.objects.len(), 1 + RACES);
    assert!(state.objects.values().all(Vec::is_empty));
}

#[test]
fn lost_answers_and_conflicts_are_no_reason_to_refuse() {
    for fault in [Fault::LosesAnswers, Fault::Conflicts] {
        assert_eq!(probed(fault).0, Ok(Capabilities { can_empty: true }), "{fault:?}");
    }
}

#[test]
fn an_account_that_may_only_add_is_enough() {
    assert_eq!(probed(Fault::MayNotEmpty).0, Ok(Capabilities { can_empty: false }));
}

#[test]
fn every_fault_is_found_and_named() {
    let cases = [
        (Fault::Overwrites, "it overwrites an object that exists"),
        (Fault::OverwritesAndDenies, "overwrites it anyway"),
        (Fault::ChecksThenWrites, "16 of 16 writers that created one object at the same time"),
        (Fault::KeepsALoser, "not the bytes of the writer that won"),
        (Fault::StaleList, "a list right after writing 6 objects is wrong"),
        (Fault::DoesNotEmpty, "an object that was emptied is not empty"),
        (Fault::EmptyIsAbsent, "an empty object counts as absent"),
        (Fault::NoCondition, "creating an object: it refuses: HTTP 501 (NotImplemented)"),
    ];
    for (fault, reason) in cases {
        let refusal = probed(fault).0.unwrap_err().to_string();
        assert!(refusal.contains(reason), "{fault:?}: {refusal}");
    }
}
