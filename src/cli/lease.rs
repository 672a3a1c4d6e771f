//! Leases: who is at work on a workflow, as advice for others. They are notes of sessions.
//!
//! An agent has one note for its session, which its hooks keep as well. Anybody else has one for as long as a command runs.

use super::caller::agent_or_ci;
use super::session::Session;
use ckpt_model::session_note::SessionNote;
use ckpt_model::{Handle, WorkflowId};
use ckpt_store::SessionKey;
use ckpt_store::Store;

/// A note that somebody is at work, while a command runs.
pub(crate) struct Lease<'s> {
    store: &'s Store,
    /// The note that goes with the command; none if the session outlives it.
    ends: Option<SessionKey>,
}

impl Lease<'_> {
    /// Ends the lease.
    pub(crate) fn end(self) {
        if let Some(key) = &self.ends {
            self.store.forget_session(key);
        }
    }
}

impl Session {
    /// Notes that a command which runs for a while is at work on a workflow. A note that cannot be written is no failure.
    pub(crate) fn lease<'s>(&self, store: &'s Store, workflow: &WorkflowId) -> Lease<'s> {
        let (key, is_session) = self.session_key(Some(std::process::id()));
        self.note(store, &key, workflow);
        Lease { store, ends: (!is_session).then_some(key) }
    }

    /// Returns the key of the caller's own note, apart from those of commands that run for a while.
    pub(crate) fn own_key(&self) -> SessionKey {
        self.session_key(None).0
    }

    /// Takes the work on a workflow over. Returns those who were noted as being at work.
    pub(crate) fn take(&self, store: &Store, workflow: &WorkflowId) -> Vec<String> {
        let own = self.own_key();
        let me = self.note(store, &own, workflow).map(|note| note.name());
        let mut before = Vec::new();
        for (key, note) in store.session_notes() {
            if key == own || !note.is_at_work_on(workflow) {
                continue;
            }
            let taken = store.change_session_note(&key, &unique(), |note| note.taken_by.clone_from(&me));
            if taken.is_ok() {
                before.push(note.name());
            }
        }
        before
    }

    /// Notes that the caller was told about orphaned tasks: those that it begins now are begun again. A note that cannot be
    /// written is no failure.
    pub(crate) fn note_orphans(&self, store: &Store, resumed: &Handle) {
        let key = self.own_key();
        let _ = store.change_session_note(&key, &unique(), |note| note.found_orphans = Some(resumed.clone()));
    }

    /// Returns the checkpoint whose orphaned tasks the caller was told about, if there is one.
    pub(crate) fn noted_orphans(&self, store: &Store) -> Option<Handle> {
        store.session_note(&self.own_key())?.found_orphans
    }

    /// Returns the key of the caller's note, and true if it is that of a session which outlives this command.
    fn session_key(&self, process: Option<u32>) -> (SessionKey, bool) {
        match agent_or_ci(&self.env) {
            Some(agent) if agent.session.is_some() => {
                (SessionKey::new(agent.name, &agent.session.unwrap_or_default()), true)
            }
            _ => {
                let (user, machine) = (self.env.user().unwrap_or_default(), self.env.host().unwrap_or_default());
                let process = process.map(|process| format!(" {process}")).unwrap_or_default();
                (SessionKey::new("", &format!("{user}@{machine}{process}")), false)
            }
        }
    }

    fn note(&self, store: &Store, key: &SessionKey, workflow: &WorkflowId) -> Option<SessionNote> {
        let agent = agent_or_ci(&self.env);
        let noted = store.change_session_note(key, &unique(), |note| {
            note.agent = agent.as_ref().map(|agent| agent.name.to_owned());
            note.session = agent.as_ref().and_then(|agent| agent.session.clone());
            (note.machine, note.user) = (self.env.host(), self.env.user());
            if note.workflow.as_ref() != Some(workflow) {
                (note.since, note.plan) = (None, None);
            }
            note.workflow = Some(workflow.clone());
            note.since.get_or_insert(self.now());
            note.seen = Some(self.now());
            (note.ended, note.taken_by) = (None, None);
        });
        noted.ok().map(|(note, ())| note)
    }
}

/// Returns a text that no other process uses.
pub(crate) fn unique() -> String {
    let mut random = [0; 8];
    // Without randomness, the process id has to do.
    match getrandom::fill(&mut random) {
        Ok(()) => format!("note-{:016x}", u64::from_be_bytes(random)),
        Err(_) => format!("note-{}", std::process::id()),
    }
}
