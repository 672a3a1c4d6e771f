//! `ckpt hook HOST EVENT`: what a host calls at the events of a session.
//!
//! A hook is never in the way. It exits with 0 whatever happens, says nothing on stderr unless `-v` asks, prints at most
//! one JSON object that the host accepts, never asks, never waits for a lock, and makes at most one save. So it
//! is recognised before the arguments are parsed, and a panic is caught too. What went wrong is in `.ckpt/hook.log`.

mod binding;
mod closing;
mod edits;
mod gate;
mod plan;
mod request;
mod start;

use std::path::PathBuf;
use std::time::Duration;

use super::args::GlobalArgs;
use super::caller::Caller;
use super::clock::Clock;
use super::env::Environment;
use super::error::Failure;
use super::exit::Exit;
use super::lease::unique;
use super::output::Output;
use super::session::Session;
use ckpt_agents::hosts::{HookAnswer, HookEvent, Host, MAX_PAYLOAD_BYTES, Payload};
use ckpt_model::Timestamp;
use ckpt_model::session_note::SessionNote;
use ckpt_store::Store;
use ckpt_store::{Location, SessionKey};
use request::HookRequest;

/// How long stdin may be silent. Hosts write at once; a busy machine may take a moment.
const SILENCE: Duration = Duration::from_millis(500);
/// How often it is noted that a session is still there.
const SEEN_SECONDS: i64 = 60;

/// Handles the command line of a hook; none if it is about another command, or asks for help.
pub(crate) fn respond(env: &Environment) -> Option<Exit> {
    let request = HookRequest::of(&env.args)?;
    run(env.clone(), &request);
    Some(Exit::Ok)
}

/// True if nothing may be said about a panic: a bug must not disturb the agent either.
pub(crate) fn hides_panics(env: &Environment) -> bool {
    HookRequest::of(&env.args).is_some_and(|request| !request.verbose)
}

/// Runs a hook. Whatever fails is written to the log.
fn run(env: Environment, request: &HookRequest) {
    let is_complete = |bytes: &[u8]| Payload::parse(bytes).is_ok();
    let read = env.streams.read_payload(MAX_PAYLOAD_BYTES, SILENCE, is_complete);
    let (payload, mut problem) = match read {
        Ok(Some(bytes)) if bytes.trim_ascii().is_empty() => (Payload::default(), None),
        Ok(Some(bytes)) => match Payload::parse(&bytes) {
            Ok(payload) => (payload, None),
            Err(error) => (Payload::default(), Some(error.to_string())),
        },
        Ok(None) => (Payload::default(), Some("the payload is too large".to_owned())),
        Err(error) => (Payload::default(), Some(format!("the payload cannot be read: {error}"))),
    };
    let Ok(host) = request.host.parse::<Host>() else {
        return request.explain(&env, &format!("`{}` is not a host", request.host.escape_debug()));
    };
    let Ok(event) = host.event(&request.event) else {
        return request.explain(&env, &format!("nothing is done at `{}`", request.event.escape_debug()));
    };
    let hook = Hook::new(env, request, host, event, payload);
    if problem.is_none() {
        match hook.handle() {
            Ok(Some(answer)) => {
                if let Some(line) = answer.line(host, event) {
                    let _ = hook.session.output.answer_bytes(line.as_bytes());
                }
            }
            Ok(None) => {}
            Err(failure) => problem = Some(failure.message),
        }
    }
    if let Some(problem) = problem {
        hook.log(&problem);
        request.explain(&hook.session.env, &problem);
    }
}

/// One event of a session.
struct Hook {
    session: Session,
    host: Host,
    event: HookEvent,
    payload: Payload,
    /// The key of the session's note; none if the host does not name the session.
    key: Option<SessionKey>,
}

impl Hook {
    fn new(mut env: Environment, request: &HookRequest, host: Host, event: HookEvent, payload: Payload) -> Self {
        let cwd = payload.cwd.as_ref().map(PathBuf::from).filter(|cwd| cwd.is_absolute() && cwd.is_dir());
        if let Some(cwd) = cwd {
            env.cwd = Ok(cwd);
        }
        env.agent = Some(Caller { name: host.agent(), session: payload.session.clone() });
        let global = GlobalArgs { store: request.store.clone(), quiet: true, ..GlobalArgs::default() };
        let output = Output::new(&global, &env);
        let clock = Clock::new(&env).unwrap_or_default();
        let key = payload.session.as_ref().map(|session| SessionKey::new(host.agent(), session));
        Self { session: Session { env, output, global, clock, heads: None }, host, event, payload, key }
    }

    fn handle(&self) -> Result<Option<HookAnswer>, Failure> {
        // What a subagent does is a part of what the agent does; its plan is its own.
        let is_subagent = self.payload.subagent.is_some();
        match self.event {
            HookEvent::AfterTool => self.after_tool(is_subagent).map(|()| None),
            _ if is_subagent => Ok(None),
            HookEvent::SessionStart => self.start(),
            HookEvent::Stop => self.gate(),
            HookEvent::PreCompact
            | HookEvent::PostCompact
            | HookEvent::StopFailure
            | HookEvent::Interrupt
            | HookEvent::SessionEnd => self.close().map(|()| None),
        }
    }

    fn after_tool(&self, is_subagent: bool) -> Result<(), Failure> {
        let Some(tool) = &self.payload.tool else { return Ok(()) };
        if let Some(report) = tool.plan(self.host, self.payload.session.as_deref()) {
            return if is_subagent { Ok(()) } else { self.plan(report) };
        }
        match tool.edited_files(self.host) {
            files if files.is_empty() => Ok(()),
            files => self.edited(&files),
        }
    }

    /// Returns the store, which does not wait for other writers; none if there is none.
    fn store(&self) -> Result<Option<Store>, Failure> {
        match self.session.place()?.location {
            Location::Found(located) => Ok(Some(Store::at(&located)?.without_waiting())),
            Location::Absent(_) => Ok(None),
        }
    }

    fn now(&self) -> Timestamp {
        self.session.now()
    }

    /// Returns the note of this session.
    fn note(&self, store: &Store) -> Option<SessionNote> {
        store.session_note(self.key.as_ref()?)
    }

    /// Changes the note of this session, and records that the session is there. A note that cannot be written is no
    /// failure of the event: it is advice.
    fn change_note<T>(&self, store: &Store, mut change: impl FnMut(&mut SessionNote) -> T) -> Option<(SessionNote, T)> {
        let key = self.key.as_ref()?;
        let noted = store.change_session_note(key, &unique(), |note| {
            let result = change(note);
            self.sign(note);
            result
        });
        noted.map_err(|error| self.log(&Failure::from(error).message)).ok()
    }

    /// Fills in who the session is, and that it is there.
    fn sign(&self, note: &mut SessionNote) {
        let now = self.now();
        if note.agent.is_none() {
            note.agent = Some(self.host.agent().to_owned());
            note.session.clone_from(&self.payload.session);
            note.machine = self.session.env.host();
            note.user = self.session.env.user();
        }
        note.since.get_or_insert(now);
        if note.seen.is_none_or(|seen| now.seconds_since(seen).abs() >= SEEN_SECONDS) {
            note.seen = Some(now);
        }
    }

    /// Writes a line to the log of the store, if there is one.
    fn log(&self, problem: &str) {
        let Ok(Some(store)) = self.store() else { return };
        let name = self.host.event_name(self.event).unwrap_or_default();
        let line = format!("{} {} {name}: {problem}", self.now(), self.host);
        let _ = store.log_hook(&line, &unique());
    }
}
