//! Object stores, by way of the program `ckpt-remote`.
//!
//! It is started with the first request, serves all requests of the command, and ends with it. `ckpt_wire` describes what
//! is said. Three things can be wrong with it, and each has its failure:
//!
//! - It is missing, or is of another version: refused, with the command that installs it.
//! - It crashes: the outcome of what was under way is unknown. The next request starts it again.
//! - It hangs: the same, after the time limit of the request. Two threads read and write the pipes, so that neither a
//!   full nor an empty one can block the command.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ckpt_wire::{
    Answer, Greeting, MAX_BODY, MAX_IN_FLIGHT, MAX_LISTED, Open, Outcome, PROGRAM, PROTOCOL, Request, Verb, read_frame,
    time_limit, write_frame,
};

use crate::{Failure, Incomplete, Key, Listed, NewObject, Remote};

/// The number of keys that are asked for first: whoever needs only the newest entries is served by one small answer.
const FIRST_PAGE: usize = 100;
/// Seconds beyond the time limit of a request after which the program is taken to hang.
const GRACE: u64 = 5;
const INSTALL: &str = "install it with: cargo install --path crates/ckpt-remote";

/// A remote in an object store. Clones share one process.
#[derive(Clone)]
pub struct ObjectStoreRemote {
    place: Arc<Place>,
    link: Arc<Mutex<Option<Arc<Link>>>>,
}

struct Place {
    program: Option<PathBuf>,
    url: String,
    allow_http: bool,
    /// How long one request may take, if that is less than what its size allows.
    time_limit: Duration,
}

impl ObjectStoreRemote {
    /// Names a remote; nothing is started yet.
    ///
    /// `program` is the path of `ckpt-remote`, if there is one. `allow_http` allows unencrypted connections to other
    /// machines; only the settings of the user, not those of a project, may say so.
    #[must_use]
    pub fn new(program: Option<PathBuf>, url: String, allow_http: bool, time_limit: Duration) -> Self {
        Self { place: Arc::new(Place { program, url, allow_http, time_limit }), link: Arc::default() }
    }

    /// Returns the process, and starts it if there is none, or if it has ended.
    fn link(&self) -> Result<Arc<Link>, Failure> {
        let mut link = lock(&self.link);
        if let Some(link) = link.as_ref().filter(|link| link.is_alive()) {
            return Ok(Arc::clone(link));
        }
        let fresh = Arc::new(Link::open(&self.place)?);
        *link = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    fn ask(&self, verb: Verb, body: Vec<u8>) -> Result<(Outcome, Vec<u8>), Failure> {
        self.link()?.ask(verb, body)
    }
}

impl Remote for ObjectStoreRemote {
    fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete> {
        for (created, object) in objects.iter().enumerate() {
            let verb = Verb::Create { key: object.key.to_string() };
            let size = object.bytes.len();
            let answer = if size > MAX_BODY {
                Err(Failure::Refused(format!("{size} bytes are too many for one object")))
            } else {
                self.ask(verb, object.bytes.clone()).and_then(|(outcome, _)| done(outcome))
            };
            answer.map_err(|failure| Incomplete { created, failure })?;
        }
        Ok(())
    }

    fn list(&mut self, prefix: &str, visit: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure> {
        let (mut after, mut limit) = (String::new(), FIRST_PAGE);
        loop {
            let verb = Verb::List { prefix: prefix.to_owned(), after: after.clone(), limit };
            let (objects, more) = match self.ask(verb, Vec::new())? {
                (Outcome::Listed { objects, more }, _) => (objects, more),
                (outcome, _) => return done(outcome),
            };
            if more && objects.is_empty() {
                return Err(Failure::Unusable("an empty part of a list".to_owned()));
            }
            for (key, size) in objects {
                if key <= after || !key.starts_with(prefix) {
                    return Err(Failure::Unusable("a list that is not in order".to_owned()));
                }
                if let Some(key) = Key::parse(&key)
                    && visit(Listed { key, size }).is_break()
                {
                    return Ok(());
                }
                after = key;
            }
            if !more {
                return Ok(());
            }
            limit = MAX_LISTED;
        }
    }

    fn get(&mut self, key: &Key, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        read(self.ask(get(key, limit), Vec::new())?)
    }

    fn get_each(
        &mut self,
        keys: &[Key],
        limit: u64,
        visit: &mut dyn FnMut(usize, Option<Vec<u8>>) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        let link = self.link()?;
        let (sender, answers) = mpsc::channel();
        let mut places = BTreeMap::new();
        let mut rest = keys.iter().enumerate();
        loop {
            for (place, key) in rest.by_ref().take(MAX_IN_FLIGHT - places.len()) {
                places.insert(link.send(get(key, limit), Vec::new(), &sender)?, place);
            }
            if places.is_empty() {
                return Ok(());
            }
            let (id, outcome, body) = link.wait(&answers, limit)?;
            let Some(place) = places.remove(&id) else { continue };
            if visit(place, read((outcome, body))?).is_break() {
                return Ok(());
            }
        }
    }

    fn empty(&mut self, keys: &[Key]) -> Result<(), Failure> {
        for key in keys {
            let (outcome, _) = self.ask(Verb::Empty { key: key.to_string() }, Vec::new())?;
            done(outcome)?;
        }
        Ok(())
    }
}

fn get(key: &Key, limit: u64) -> Verb {
    Verb::Get { key: key.to_string(), limit: limit.min(MAX_BODY as u64) }
}

fn read((outcome, body): (Outcome, Vec<u8>)) -> Result<Option<Vec<u8>>, Failure> {
    match outcome {
        Outcome::Absent => Ok(None),
        outcome => done(outcome).map(|()| Some(body)),
    }
}

fn done(outcome: Outcome) -> Result<(), Failure> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Failed(failure) => Err(failure),
        outcome => Err(Failure::Unusable(format!("{PROGRAM} answered {outcome:?}"))),
    }
}

/// The answer to a request: its id, how it ended, and the content that was read.
type Reply = (u64, Outcome, Vec<u8>);
/// A frame for the thread that writes.
type Frame = (Request, Vec<u8>);

/// A process, and the requests under way.
struct Link {
    child: Mutex<Child>,
    requests: Sender<Frame>,
    under_way: Arc<Mutex<UnderWay>>,
    time_limit: Duration,
}

/// The requests that wait for an answer.
#[derive(Default)]
struct UnderWay {
    last_id: u64,
    waiting: BTreeMap<u64, Sender<Reply>>,
    /// There will be no answers any more.
    has_ended: bool,
}

impl Link {
    fn open(place: &Place) -> Result<Self, Failure> {
        let program = place
            .program
            .as_deref()
            .ok_or_else(|| Failure::Refused(format!("{PROGRAM} is neither beside ckpt nor on the PATH; {INSTALL}")))?;
        let failed = |error: std::io::Error| {
            Failure::Refused(format!("{} cannot be started: {error}; {INSTALL}", program.display()))
        };
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::Unreachable(format!("{PROGRAM} has no pipes")));
        };
        let (requests, frames) = mpsc::channel();
        let (greet, greetings) = mpsc::channel();
        let (sender, opened) = mpsc::channel();
        let link = Self { child: Mutex::new(child), requests, under_way: Arc::default(), time_limit: place.time_limit };
        // Before the threads start, because the answer may be faster than this one.
        lock(&link.under_way).waiting.insert(0, sender);
        let under_way = Arc::clone(&link.under_way);
        let open = Open { url: place.url.clone(), allow_http: place.allow_http };
        spawn(move || write_all(stdin, &open, &frames))?;
        spawn(move || read_all(stdout, &greet, &under_way))?;
        match greetings.recv_timeout(link.patience(0)) {
            Ok(greeting) => check(program, &greeting)?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::Refused(format!("{} does not speak to ckpt; {INSTALL}", program.display())));
            }
            Err(RecvTimeoutError::Timeout) => {
                return Err(Failure::Unreachable(format!("{PROGRAM} does not start")));
            }
        }
        let (_, outcome, _) = link.wait(&opened, 0)?;
        done(outcome)?;
        Ok(link)
    }

    fn is_alive(&self) -> bool {
        !lock(&self.under_way).has_ended
    }

    fn ask(&self, verb: Verb, body: Vec<u8>) -> Result<(Outcome, Vec<u8>), Failure> {
        let bytes = match &verb {
            Verb::Get { limit, .. } => *limit,
            _ => body.len() as u64,
        };
        let (sender, answers) = mpsc::channel();
        self.send(verb, body, &sender)?;
        self.wait(&answers, bytes).map(|(_, outcome, body)| (outcome, body))
    }

    /// Sends a request, and returns its id.
    fn send(&self, verb: Verb, body: Vec<u8>, sender: &Sender<Reply>) -> Result<u64, Failure> {
        let mut under_way = lock(&self.under_way);
        under_way.last_id += 1;
        let id = under_way.last_id;
        if under_way.has_ended || self.requests.send((Request { id, verb }, body)).is_err() {
            return Err(Failure::Unreachable(format!("{PROGRAM} has ended")));
        }
        under_way.waiting.insert(id, sender.clone());
        Ok(id)
    }

    /// Returns how long to wait for the answer to a request that moves at most `bytes`.
    fn patience(&self, bytes: u64) -> Duration {
        self.time_limit.min(Duration::from_secs(time_limit(bytes) + GRACE))
    }

    /// Waits for the next answer to a request that moves at most `bytes`.
    fn wait(&self, answers: &Receiver<Reply>, bytes: u64) -> Result<Reply, Failure> {
        answers.recv_timeout(self.patience(bytes)).map_err(|_| {
            self.end();
            Failure::Unknown(format!("{PROGRAM} did not answer in time and was ended"))
        })
    }

    /// Ends the process, whatever it does.
    fn end(&self) {
        lock(&self.under_way).end();
        let mut child = lock(&self.child);
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.end();
    }
}

impl UnderWay {
    /// Tells everyone who waits that there will be no answer.
    fn end(&mut self) {
        self.has_ended = true;
        while let Some((id, sender)) = self.waiting.pop_first() {
            let failure = Failure::Unknown(format!("{PROGRAM} ended without an answer"));
            // Who waits for several answers may have stopped at one.
            let _ = sender.send((id, Outcome::Failed(failure), Vec::new()));
        }
    }
}

fn check(program: &Path, greeting: &Greeting) -> Result<(), Failure> {
    let own = env!("CARGO_PKG_VERSION");
    if greeting.protocol == PROTOCOL && greeting.version == own {
        return Ok(());
    }
    let (found, theirs) = (program.display(), greeting.version.escape_debug().to_string());
    Err(Failure::Refused(format!("{found} is of version {theirs}, and ckpt of version {own}; {INSTALL}")))
}

/// Writes frames until nobody has requests any more, or the process is gone.
fn write_all(mut stdin: ChildStdin, open: &Open, frames: &Receiver<Frame>) {
    let mut written = write_frame(&mut stdin, open, &[]);
    while let (Ok(()), Ok((request, body))) = (&written, frames.recv()) {
        written = write_frame(&mut stdin, &request, &body);
    }
}

/// Reads frames until the process is gone, or says something else.
fn read_all(mut stdout: ChildStdout, greet: &Sender<Greeting>, under_way: &Mutex<UnderWay>) {
    if let Ok(Some((greeting, _))) = read_frame(&mut stdout) {
        // Nobody waits for a greeting that comes too late.
        let _ = greet.send(greeting);
        while let Ok(Some((Answer { id, outcome }, body))) = read_frame(&mut stdout) {
            if let Some(sender) = lock(under_way).waiting.remove(&id) {
                // Who waits for several answers may have stopped at one.
                let _ = sender.send((id, outcome, body));
            }
        }
    }
    lock(under_way).end();
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let started = std::thread::Builder::new().name(PROGRAM.to_owned()).spawn(work);
    started.map(drop).map_err(|error| Failure::Unreachable(format!("no thread for {PROGRAM}: {error}")))
}

/// Locks, also after a thread has panicked: what is inside is whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
