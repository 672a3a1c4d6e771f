//! The requests to a remote, repeated where that is safe.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use super::error::{Error, Result};
use super::key::{Key, ObjectName, WORKFLOWS_PREFIX, workflow_prefix};
use super::remote::{Failure, Incomplete, NewObject, Remote};
use ckpt_model::format::{self, Links, MAX_FILE_BYTES, Unusable};
use ckpt_model::workflow_id::WorkflowId;

/// How often a request is made that was not answered.
const TRIES: u32 = 3;
/// The wait before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(200);

/// The names of the objects of a workflow, each with its size.
pub type Names = BTreeMap<ObjectName, u64>;

/// The outcome of a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Creation {
    /// All objects are there, with this content.
    Done,
    /// A name is taken by another object, with this content.
    Taken(Vec<u8>),
}

/// An object of a remote that was read and checked.
#[derive(Debug)]
pub(super) enum Fetched {
    /// A checkpoint or a seal.
    Entry(Box<Links>, Vec<u8>),
    /// A filler or a tombstone.
    Empty,
}

/// A remote whose requests are repeated, with a wait in between.
pub struct Retrying<'a> {
    remote: &'a mut dyn Remote,
    pause: Box<dyn Fn(Duration) + 'a>,
    owns: Ownership,
}

/// Decides if an object that is there is the one that was to be created, by the bytes of both.
type Ownership = fn(&[u8], &[u8]) -> bool;

impl<'a> Retrying<'a> {
    /// Wraps a remote. `pause` sleeps.
    pub fn new(remote: &'a mut dyn Remote, pause: impl Fn(Duration) + 'a) -> Self {
        Self { remote, pause: Box::new(pause), owns: |found, ours| found == ours }
    }

    /// Decides otherwise on whose an object is, for tests that must notice it.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn judging(self, owns: Ownership) -> Self {
        Self { owns, ..self }
    }

    /// Makes a request that changes nothing, again if it was not answered.
    fn repeat<T>(&mut self, mut request: impl FnMut(&mut dyn Remote) -> Result<T, Failure>) -> Result<T, Failure> {
        let mut wait = PAUSE;
        for _ in 1..TRIES {
            match request(self.remote) {
                Err(Failure::Unknown(_) | Failure::Unreachable(_)) => {}
                answer => return answer,
            }
            (self.pause)(wait);
            wait *= 2;
        }
        request(self.remote)
    }

    /// Lists the objects of one workflow, or of all.
    ///
    /// # Errors
    /// The remote cannot be listed.
    pub fn names(&mut self, workflow: Option<&WorkflowId>) -> Result<BTreeMap<WorkflowId, Names>> {
        let prefix = workflow.map_or_else(|| WORKFLOWS_PREFIX.to_owned(), workflow_prefix);
        let listed = self.repeat(|remote| {
            let mut names: BTreeMap<WorkflowId, Names> = BTreeMap::new();
            remote.list(&prefix, &mut |object| {
                if let Some((workflow, name)) = ObjectName::parse(&object.key) {
                    names.entry(workflow).or_default().insert(name, object.size);
                }
                ControlFlow::Continue(())
            })?;
            Ok(names)
        });
        Ok(listed?)
    }

    /// Lists the objects of one workflow.
    ///
    /// # Errors
    /// The remote cannot be listed.
    pub fn names_of(&mut self, workflow: &WorkflowId) -> Result<Names> {
        Ok(self.names(Some(workflow))?.remove(workflow).unwrap_or_default())
    }

    /// Reads a small object.
    pub(super) fn get(&mut self, key: &Key, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.repeat(|remote| remote.get(key, limit))
    }

    /// Reads and checks entries of a workflow. One that has gone is left out.
    pub(super) fn fetch(&mut self, workflow: &WorkflowId, names: &[ObjectName]) -> Result<Vec<(ObjectName, Fetched)>> {
        let keys: Vec<Key> = names.iter().map(|name| name.key(workflow)).collect();
        let mut bytes: BTreeMap<usize, Option<Vec<u8>>> = BTreeMap::new();
        self.repeat(|remote| {
            let left: Vec<usize> = (0..keys.len()).filter(|place| !bytes.contains_key(place)).collect();
            let wanted: Vec<Key> = left.iter().map(|place| keys[*place].clone()).collect();
            remote.get_each(&wanted, MAX_FILE_BYTES, &mut |place, content| {
                bytes.insert(left[place], content);
                ControlFlow::Continue(())
            })
        })?;
        let mut fetched = Vec::new();
        for (place, content) in bytes {
            let (name, key) = (&names[place], &keys[place]);
            let Some(content) = content else { continue };
            let entry = check(workflow, name, content);
            fetched.push((name.clone(), entry.map_err(|why| Error::Damaged { key: key.clone(), why })?));
        }
        Ok(fetched)
    }

    /// Creates objects in this order. An answer that was lost is found out by reading the object: ours, absent, or
    /// another's.
    pub(super) fn create(&mut self, objects: &[NewObject]) -> Result<Creation> {
        let mut rest = objects;
        let mut tries = 0;
        while !rest.is_empty() {
            let Err(Incomplete { created, failure }) = self.remote.create(rest) else {
                return Ok(Creation::Done);
            };
            if created > 0 {
                tries = 0;
            }
            rest = rest.get(created..).unwrap_or_default();
            let Some(first) = rest.first() else { return Ok(Creation::Done) };
            match failure {
                Failure::Exists | Failure::Unknown(_) => {
                    let limit = MAX_FILE_BYTES.max(first.bytes.len() as u64);
                    let found = self.get(&first.key, limit)?;
                    match found {
                        Some(bytes) if (self.owns)(&bytes, &first.bytes) => {
                            rest = &rest[1..];
                            continue;
                        }
                        Some(bytes) => return Ok(Creation::Taken(bytes)),
                        // The same key again: under another one, a request that is late would make a second object.
                        None => {}
                    }
                }
                Failure::Unreachable(_) => {}
                Failure::Refused(_) | Failure::Unusable(_) => return Err(failure.into()),
            }
            tries += 1;
            if tries >= TRIES {
                return Err(failure.into());
            }
            (self.pause)(PAUSE * tries);
        }
        Ok(Creation::Done)
    }

    /// Creates the content of an artifact, whose key says what it is: one that is there is not created again.
    pub(super) fn create_content(&mut self, key: &Key, bytes: Vec<u8>) -> Result<(), Failure> {
        let object = [NewObject { key: key.clone(), bytes }];
        self.repeat(|remote| match remote.create(&object) {
            Ok(()) | Err(Incomplete { failure: Failure::Exists, .. }) => Ok(()),
            Err(Incomplete { failure, .. }) => Err(failure),
        })
    }

    /// Empties objects of one group.
    pub(super) fn empty(&mut self, keys: &[Key]) -> Result<()> {
        self.repeat(|remote| remote.empty(keys)).map_err(|failure| match failure {
            Failure::Refused(why) => Error::NotAJanitor(why),
            failure => failure.into(),
        })
    }
}

/// Checks that an object is what its name says: a remote is not trusted.
pub(super) fn check(workflow: &WorkflowId, name: &ObjectName, bytes: Vec<u8>) -> Result<Fetched, Unusable> {
    if bytes.is_empty() && matches!(name, ObjectName::Main(_)) {
        return Ok(Fetched::Empty);
    }
    let links: Links = format::decode_part(&bytes)?;
    let expected = match name {
        ObjectName::Main(seq) => ObjectName::Main(*seq),
        ObjectName::Side(..) | ObjectName::Archive(_) => ObjectName::side(links.seq, &links.sha256),
    };
    let number = match name {
        ObjectName::Main(seq) | ObjectName::Side(seq, _) => *seq,
        ObjectName::Archive(_) => 0,
    };
    if links.workflow != *workflow || links.seq != number || expected != *name {
        return Err(Unusable::Misplaced {
            found: format!("{}/{}@{}", links.workflow, links.seq, links.sha256.short()),
            expected: name.key(workflow).to_string(),
        });
    }
    Ok(Fetched::Entry(Box::new(links), bytes))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::remote::Listed;

    /// A remote that gives these answers to creations and reads, one after the other, and writes down what it was asked.
    #[derive(Default)]
    struct Scripted {
        creations: Vec<Result<(), Incomplete>>,
        reads: Vec<Result<Option<Vec<u8>>, Failure>>,
        asked: Vec<String>,
    }

    impl Remote for Scripted {
        fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete> {
            let keys: Vec<&str> = objects.iter().map(|object| object.key.as_str()).collect();
            self.asked.push(format!("create {}", keys.join(" ")));
            self.creations.remove(0)
        }

        fn list(&mut self, _: &str, _: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure> {
            Err(Failure::Refused("not in the script".to_owned()))
        }

        fn get(&mut self, key: &Key, _: u64) -> Result<Option<Vec<u8>>, Failure> {
            self.asked.push(format!("get {key}"));
            self.reads.remove(0)
        }

        fn empty(&mut self, _: &[Key]) -> Result<(), Failure> {
            Err(Failure::Refused("HTTP 403".to_owned()))
        }
    }

    fn unknown() -> Failure {
        Failure::Unknown("no answer".to_owned())
    }

    fn unreachable() -> Failure {
        Failure::Unreachable("no route".to_owned())
    }

    fn stopped(created: usize, failure: Failure) -> Result<(), Incomplete> {
        Err(Incomplete { created, failure })
    }

    /// Creates objects; returns the outcome, the requests, and the waits in milliseconds.
    fn create(mut remote: Scripted, keys: &[&str]) -> (Result<Creation>, Vec<String>, Vec<u128>) {
        let object = |key: &&str| NewObject { key: Key::parse(key).unwrap(), bytes: b"ours".to_vec() };
        let objects: Vec<NewObject> = keys.iter().map(object).collect();
        let waits = RefCell::new(Vec::new());
        let pause = |wait: Duration| waits.borrow_mut().push(wait.as_millis());
        let created = Retrying::new(&mut remote, pause).create(&objects);
        (created, remote.asked, waits.into_inner())
    }

    #[test]
    fn an_object_without_a_clear_answer_is_read_and_ours_is_done() {
        for failure in [Failure::Exists, unknown()] {
            let creations = vec![stopped(1, failure), Ok(())];
            let reads = vec![Ok(Some(b"ours".to_vec()))];
            let (created, asked, waits) =
                create(Scripted { creations, reads, ..Scripted::default() }, &["a", "b", "c"]);
            assert_eq!(created.unwrap(), Creation::Done);
            assert_eq!(asked, ["create a b c", "get b", "create c"]);
            assert!(waits.is_empty());
        }
    }

    #[test]
    fn a_name_that_another_object_has_is_taken() {
        let creations = vec![stopped(0, Failure::Exists)];
        let reads = vec![Ok(Some(b"theirs".to_vec()))];
        let (created, asked, _) = create(Scripted { creations, reads, ..Scripted::default() }, &["a", "b"]);
        assert_eq!(created.unwrap(), Creation::Taken(b"theirs".to_vec()));
        assert_eq!(asked, ["create a b", "get a"]);
    }

    #[test]
    fn an_absent_object_is_created_under_the_same_key_again_three_times_at_most() {
        let creations = vec![stopped(0, unknown()), stopped(0, unknown()), stopped(0, unknown())];
        let remote = Scripted { creations, reads: vec![Ok(None); 3], ..Scripted::default() };
        let (created, asked, waits) = create(remote, &["a"]);
        assert!(matches!(created, Err(Error::Remote(Failure::Unknown(_)))));
        assert_eq!(asked, ["create a", "get a"].repeat(3));
        assert_eq!(waits, [200, 400]);
    }

    #[test]
    fn tries_are_counted_again_after_progress() {
        let lost = || stopped(0, unreachable());
        let creations = vec![lost(), lost(), stopped(1, unreachable()), lost(), Ok(())];
        let (created, asked, _) = create(Scripted { creations, ..Scripted::default() }, &["a", "b"]);
        assert_eq!(created.unwrap(), Creation::Done);
        assert_eq!(asked, ["create a b", "create a b", "create a b", "create b", "create b"]);
    }

    #[test]
    fn requests_that_will_not_work_later_are_not_repeated() {
        for failure in [Failure::Refused("HTTP 403".to_owned()), Failure::Unusable("too large".to_owned())] {
            let remote = Scripted { creations: vec![stopped(0, failure)], ..Scripted::default() };
            let (created, asked, waits) = create(remote, &["a"]);
            assert!(created.is_err());
            assert_eq!((asked.len(), waits.len()), (1, 0));
        }
        let emptied = Retrying::new(&mut Scripted::default(), |_| {}).empty(&[]);
        assert!(matches!(emptied, Err(Error::NotAJanitor(_))));
    }

    #[test]
    fn reads_are_repeated_with_waits_that_double() {
        let waits = RefCell::new(Vec::new());
        let pause = |wait: Duration| waits.borrow_mut().push(wait.as_millis());
        let key = Key::parse("a").unwrap();
        let reads = vec![Err(unknown()), Err(unreachable()), Ok(None)];
        let mut remote = Scripted { reads, ..Scripted::default() };
        assert_eq!(Retrying::new(&mut remote, pause).get(&key, 9), Ok(None));
        let mut remote = Scripted { reads: vec![Err(unknown()); 3], ..Scripted::default() };
        assert_eq!(Retrying::new(&mut remote, pause).get(&key, 9), Err(unknown()));
        assert_eq!(waits.into_inner(), [200, 400, 200, 400]);
    }

    #[test]
    fn entries_that_arrived_are_not_read_again() {
        let reads = vec![Ok(Some(Vec::new())), Err(unknown()), Ok(None)];
        let mut remote = Scripted { reads, ..Scripted::default() };
        let workflow: WorkflowId = "042".parse().unwrap();
        let names = [ObjectName::Main(1), ObjectName::Main(2)];
        let fetched = Retrying::new(&mut remote, |_| {}).fetch(&workflow, &names).unwrap();
        assert!(matches!(fetched.as_slice(), [(ObjectName::Main(1), Fetched::Empty)]), "{fetched:?}");
        let [first, second] = names.map(|name| format!("get {}", name.key(&workflow)));
        assert_eq!(remote.asked, [first, second.clone(), second]);
    }
}
