//! The capability probe: an engine shows that it keeps the promises of a remote before it becomes one.
//!
//! Some servers that speak S3 ignore `If-None-Match` and overwrite; others check it and then write, so that two writers
//! that come at once both win. Both would lose checkpoints silently. So the probe creates, creates again, and lets
//! [`RACERS`] writers create one key at the same time. It needs no more rights than a push. What it writes stays under
//! `probe/`: a few kilobytes, emptied if the account may do that.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Barrier;

use super::key::Key;
use super::remote::{Failure, NewObject, Remote};

/// The number of writers that create one key at the same time.
pub const RACERS: usize = 16;
/// The number of races. Of engines that check first and write then, one race finds some, and several most.
const RACES: usize = 5;
/// The size of what is written in a race: with more to write, an engine that is not atomic is found more often.
const RACE_BYTES: usize = 16 << 10;
/// How often a request without a clear answer is made.
const TRIES: usize = 3;
const FIRST: &[u8] = b"first";
const SECOND: &[u8] = b"second";

/// The abilities of a remote beside the promises of [`Remote`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Objects can be emptied, as a janitor does. An account that may only add cannot.
    pub can_empty: bool,
}

/// The reason why something cannot be a remote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeFailure {
    /// It was not reached, or refused a request.
    #[error("{step}: {failure}")]
    Failed {
        /// The request.
        step: &'static str,
        /// Its failure.
        failure: Failure,
    },
    /// It answered, and does not keep a promise. Checkpoints would be lost there.
    #[error("{0}")]
    Unsuitable(String),
}

type Result<T, E = ProbeFailure> = std::result::Result<T, E>;

/// Tries a remote out, with [`RACERS`] handles to it, each for a thread of its own. `token` is random, so that nobody has used
/// its keys before.
///
/// # Errors
/// It cannot be used as a remote, and the reason.
pub fn probe(handles: &mut [Box<dyn Remote + Send>], token: &str) -> Result<Capabilities> {
    let mut probe = Probe { handles, token, sizes: BTreeMap::new() };
    let key = probe.key("create")?;
    probe.create(&key)?;
    probe.create_again(&key)?;
    for round in 0..RACES {
        probe.race(round)?;
    }
    probe.list()?;
    let can_empty = probe.empty(&key)?;
    if can_empty {
        probe.tidy_up();
    }
    Ok(Capabilities { can_empty })
}

struct Probe<'a> {
    handles: &'a mut [Box<dyn Remote + Send>],
    token: &'a str,
    /// The objects that were written.
    sizes: BTreeMap<Key, u64>,
}

impl Probe<'_> {
    fn key(&self, name: &str) -> Result<Key> {
        let text = format!("probe/{}/{name}", self.token);
        Key::parse(&text).ok_or_else(|| ProbeFailure::Unsuitable(format!("`{text}` is not a key")))
    }

    /// Returns the handle that everything but the race uses.
    fn remote(&mut self) -> &mut dyn Remote {
        &mut *self.handles[0]
    }

    /// Makes a request, again while it has no clear answer.
    fn ask<T>(&mut self, mut request: impl FnMut(&mut dyn Remote) -> Result<T, Failure>) -> Result<T, Failure> {
        for _ in 1..TRIES {
            match request(self.remote()) {
                Err(Failure::Unknown(_)) => {}
                answer => return answer,
            }
        }
        request(self.remote())
    }

    fn get(&mut self, key: &Key) -> Result<Option<Vec<u8>>> {
        self.ask(|remote| remote.get(key, 2 * RACE_BYTES as u64)).map_err(failed("reading an object"))
    }

    /// Creates a key that is free.
    fn create(&mut self, key: &Key) -> Result<()> {
        let step = "creating an object";
        let mut last = Failure::Exists;
        for _ in 0..TRIES {
            match write(self.remote(), key, FIRST) {
                Ok(()) => {}
                Err(Failure::Exists | Failure::Unknown(_)) if self.get(key)?.as_deref() == Some(FIRST) => {}
                Err(failure @ Failure::Unknown(_)) => {
                    last = failure;
                    continue;
                }
                Err(failure) => return Err(ProbeFailure::Failed { step, failure }),
            }
            self.sizes.insert(key.clone(), FIRST.len() as u64);
            return match self.get(key)? {
                Some(bytes) if bytes == FIRST => Ok(()),
                Some(_) => unsuitable("an object that was created has other bytes when it is read"),
                None => unsuitable("an object that was created is not there when it is read"),
            };
        }
        Err(ProbeFailure::Failed { step, failure: last })
    }

    /// Creates a key that is taken, which must fail.
    fn create_again(&mut self, key: &Key) -> Result<()> {
        let step = "creating an object again";
        match self.ask(|remote| write(remote, key, SECOND)) {
            Err(Failure::Exists) => {}
            Ok(()) => {
                return unsuitable(
                    "it overwrites an object that exists, although it was asked to create one only if there is none",
                );
            }
            Err(failure) => return Err(ProbeFailure::Failed { step, failure }),
        }
        match self.get(key)? {
            Some(bytes) if bytes == FIRST => Ok(()),
            _ => unsuitable("it says that an object exists, and overwrites it anyway"),
        }
    }

    /// Lets all racers create one key at the same time. One wins, and its bytes are what is there.
    fn race(&mut self, round: usize) -> Result<()> {
        let key = self.key(&format!("race-{round}"))?;
        let barrier = Barrier::new(self.handles.len());
        let bytes = |racer: usize| format!("{racer:>RACE_BYTES$}").into_bytes();
        let answers: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .handles
                .iter_mut()
                .enumerate()
                .map(|(racer, remote)| {
                    let (key, barrier) = (&key, &barrier);
                    scope.spawn(move || {
                        let bytes = bytes(racer);
                        barrier.wait();
                        write(&mut **remote, key, &bytes)
                    })
                })
                .collect();
            let lost = || Err(Failure::Unknown("a thread ended".to_owned()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
        });
        let winners: Vec<usize> = (0..answers.len()).filter(|racer| answers[*racer].is_ok()).collect();
        if winners.len() > 1 {
            let (winners, all) = (winners.len(), answers.len());
            return unsuitable(format!(
                "{winners} of {all} writers that created one object at the same time were told that they had; \
                 {} of their checkpoints would be lost",
                winners - 1
            ));
        }
        let content = self.get(&key)?;
        let found = content.as_ref().and_then(|content| (0..answers.len()).find(|racer| bytes(*racer) == *content));
        match (winners.first(), found) {
            (Some(winner), Some(found)) if *winner == found => {}
            // The answer to the winner was lost, which is no fault of the engine.
            (None, Some(found)) if matches!(answers[found], Err(Failure::Unknown(_))) => {}
            (None, None) if content.is_none() => {
                let failure = answers.into_iter().find_map(Result::err).unwrap_or(Failure::Exists);
                return Err(ProbeFailure::Failed { step: "a race of 16 creations", failure });
            }
            _ => return unsuitable("after a race, the object has not the bytes of the writer that won"),
        }
        self.sizes.insert(key, RACE_BYTES as u64);
        Ok(())
    }

    /// Lists what was written: all of it, in order, with its sizes.
    fn list(&mut self) -> Result<()> {
        let prefix = format!("probe/{}/", self.token);
        let listed = self.ask(|remote| {
            let mut listed = Vec::new();
            remote.list(&prefix, &mut |object| {
                listed.push((object.key, object.size));
                ControlFlow::Continue(())
            })?;
            Ok(listed)
        });
        let listed = listed.map_err(failed("listing objects"))?;
        if listed.iter().map(|(key, size)| (key, size)).eq(self.sizes.iter()) {
            return Ok(());
        }
        let (found, written) = (listed.len(), self.sizes.len());
        unsuitable(format!(
            "a list right after writing {written} objects is wrong: it has {found}, or not their order and sizes"
        ))
    }

    /// Empties an object; false if the account may not. An empty object still holds its key.
    fn empty(&mut self, key: &Key) -> Result<bool> {
        match self.ask(|remote| remote.empty(std::slice::from_ref(key))) {
            Ok(()) => {}
            Err(Failure::Refused(_) | Failure::Exists) => return Ok(false),
            Err(failure) => return Err(ProbeFailure::Failed { step: "emptying an object", failure }),
        }
        if self.get(key)?.is_none_or(|bytes| !bytes.is_empty()) {
            return unsuitable("an object that was emptied is not empty, or not there, when it is read");
        }
        match write(self.remote(), key, SECOND) {
            Err(Failure::Exists) => Ok(true),
            Err(failure @ Failure::Unknown(_)) => match self.get(key)? {
                Some(bytes) if bytes.is_empty() => Ok(true),
                _ => Err(ProbeFailure::Failed { step: "creating an object that is empty", failure }),
            },
            Err(failure) => Err(ProbeFailure::Failed { step: "creating an object that is empty", failure }),
            Ok(()) => unsuitable("an empty object counts as absent, so that its number would be given away again"),
        }
    }

    /// Empties what the races wrote. It does not matter if that fails.
    fn tidy_up(&mut self) {
        for key in std::mem::take(&mut self.sizes).keys() {
            let _ = self.remote().empty(std::slice::from_ref(key));
        }
    }
}

fn write(remote: &mut dyn Remote, key: &Key, bytes: &[u8]) -> Result<(), Failure> {
    let object = NewObject { key: key.clone(), bytes: bytes.to_vec() };
    remote.create(&[object]).map_err(|incomplete| incomplete.failure)
}

fn failed(step: &'static str) -> impl Fn(Failure) -> ProbeFailure {
    move |failure| ProbeFailure::Failed { step, failure }
}

fn unsuitable<T>(reason: impl Into<String>) -> Result<T> {
    Err(ProbeFailure::Unsuitable(reason.into()))
}

#[cfg(test)]
mod tests;
