//! Session notes: who is working in this store, on what, and since when.
//!
//! `.ckpt/sessions/DIGEST.7.json` is about one session of an agent, or one command that runs for a while. It is advice: no
//! part of the history, replaced as a whole, and not synced. It may be deleted at any time: a session is then noted again
//! at its next event, and files that it touched since its last save are forgotten. No clock decides anything by it.
//!
//! Events of one session may come at the same time, and a hook waits for nobody. So a note is changed as a workflow is: the
//! new version is published under the next number, and whoever finds that number taken reads the winner's version and
//! changes that. The version with the highest number counts; whoever published it removes those below.

use std::collections::BTreeSet;
use std::io;

use super::disk::{Disk, FileKind};
use super::error::Result;
use super::layout::{self, SESSIONS};
use super::open::Store;
use crate::files::FileProblem;
use ckpt_model::digest::Digest;
use ckpt_model::session_note::SessionNote;

/// The largest note that is read.
const MAX_NOTE_BYTES: u64 = 256 << 10;
/// The number of notes that stay; older ones are removed when another session is noted.
const MOST_NOTES: usize = 64;
/// The number of digits of the digest that names a note.
const DIGITS: usize = 32;
/// The number of times that a change is tried. Each failure means that another one succeeded.
const MAX_ATTEMPTS: u32 = 64;
const SUFFIX: &str = ".json";

/// The name of a session's note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey(String);

impl SessionKey {
    /// Returns the key of a session of an agent.
    #[must_use]
    pub fn new(agent: &str, session: &str) -> Self {
        let mut name = Digest::of(format!("{agent}\0{session}").as_bytes()).to_hex();
        name.truncate(DIGITS);
        Self(name)
    }

    fn file(&self, version: u64) -> String {
        format!("{}.{version}{SUFFIX}", self.0)
    }
}

/// Returns the key and the version in the name of a note; none for any other name.
fn parse_name(name: &str) -> Option<(&str, u64)> {
    let (key, version) = name.strip_suffix(SUFFIX)?.split_once('.')?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit()) && !version.starts_with('0');
    let is_key = key.len() == DIGITS && key.bytes().all(is_digit);
    if is_key && is_number { Some((key, version.parse().ok()?)) } else { None }
}

/// Returns true for the name of a note.
pub(super) fn is_note(name: &str) -> bool {
    parse_name(name).is_some()
}

impl<D: Disk> Store<D> {
    /// Returns the note of a session; none if there is none, or it cannot be used.
    #[must_use]
    pub fn session_note(&self, key: &SessionKey) -> Option<SessionNote> {
        let dir = self.open_below(&[self.name(), SESSIONS]).ok()??;
        self.newest_note(&dir, key).ok()?.1
    }

    /// Returns the notes of all sessions that can be read, each with its key.
    #[must_use]
    pub fn session_notes(&self) -> Vec<(SessionKey, SessionNote)> {
        let Ok(Some(dir)) = self.open_below(&[self.name(), SESSIONS]) else { return Vec::new() };
        let mut keys = BTreeSet::new();
        let _ = self.disk().list(&dir, &mut |name| {
            keys.extend(parse_name(name).map(|(key, _)| key.to_owned()));
        });
        let read = |key| {
            let key = SessionKey(key);
            let note = self.newest_note(&dir, &key).ok()?.1?;
            Some((key, note))
        };
        keys.into_iter().take(2 * MOST_NOTES).filter_map(read).collect()
    }

    /// Changes the note of a session, which is empty if there was none. If another event of the session is faster,
    /// `change` is called again, with the note that the other one left; nobody waits. That note may have the change
    /// already, so `change` must mean the same if it is made twice. `unique` tells the temporary file
    /// from all others. Returns the note as it is then; nothing is written if `change` leaves it as it is.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn change_session_note<T>(
        &self,
        key: &SessionKey,
        unique: &str,
        mut change: impl FnMut(&mut SessionNote) -> T,
    ) -> Result<(SessionNote, T)> {
        let path = self.root().join(SESSIONS);
        let root = self.open_root()?;
        self.make(&root, SESSIONS, &path)?;
        let dir = self.enter(&root, SESSIONS, &path)?;
        let failed = |error| self.not_written(&path.join(key.file(1)), error);
        for _ in 0..MAX_ATTEMPTS {
            let (newest, before) = self.newest_note(&dir, key).map_err(failed)?;
            let mut note = before.clone().unwrap_or_default();
            let result = change(&mut note);
            if before.as_ref() == Some(&note) {
                return Ok((note, result));
            }
            if newest == 0 {
                self.forget_old_notes(&dir);
            }
            if self.publish_note(&dir, key, newest.saturating_add(1), unique, &note).map_err(failed)? {
                return Ok((note, result));
            }
        }
        Err(failed(io::Error::from(io::ErrorKind::ResourceBusy)))
    }

    /// Removes the note of a session. Returns false if there was none, or it cannot be removed.
    pub fn forget_session(&self, key: &SessionKey) -> bool {
        let Ok(Some(dir)) = self.open_below(&[self.name(), SESSIONS]) else { return false };
        let versions = self.note_versions(&dir, key).unwrap_or_default();
        let removed = versions.into_iter().filter(|version| self.disk().remove(&dir, &key.file(*version)).is_ok());
        removed.count() > 0
    }

    /// Returns the number of the newest version of a note, 0 if there is none, and its content if it can be used.
    ///
    /// Listing and reading are two steps, between which a version may be replaced, and its number taken again by a late event
    /// that is about to notice. So a version counts only if its number is still the highest one afterwards.
    fn newest_note(&self, dir: &D::Dir, key: &SessionKey) -> io::Result<(u64, Option<SessionNote>)> {
        let mut newest = self.highest_version(dir, key)?;
        for _ in 0..MAX_ATTEMPTS {
            let note = self.read_note(dir, &key.file(newest)).ok();
            let highest = self.highest_version(dir, key)?;
            if highest == newest {
                return Ok((newest, note));
            }
            newest = highest;
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    fn highest_version(&self, dir: &D::Dir, key: &SessionKey) -> io::Result<u64> {
        Ok(self.note_versions(dir, key)?.last().copied().unwrap_or_default())
    }

    /// Returns the versions of a note that are there, in order. It is more than one while a change is going on, or if one
    /// was cut short.
    fn note_versions(&self, dir: &D::Dir, key: &SessionKey) -> io::Result<Vec<u64>> {
        let mut versions = Vec::new();
        self.disk().list(dir, &mut |name| {
            versions.extend(parse_name(name).filter(|(named, _)| *named == key.0).map(|(_, version)| version));
        })?;
        versions.sort_unstable();
        Ok(versions)
    }

    /// Publishes a version of a note, and removes those below. Returns false if another event was faster.
    fn publish_note(
        &self,
        dir: &D::Dir,
        key: &SessionKey,
        version: u64,
        unique: &str,
        note: &SessionNote,
    ) -> io::Result<bool> {
        let (disk, staged, name) = (self.disk(), layout::staged_file(unique, 0), key.file(version));
        disk.stage_unsynced(dir, &staged, &serde_json::to_vec(note)?)?;
        let published = match disk.publish(dir, &staged, &name) {
            // Without a way to publish, events at the same time may overwrite each other: a note is advice.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => disk.replace(dir, &staged, &name),
            published => published,
        };
        let _ = disk.remove(dir, &staged);
        match published {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            published => published?,
        }
        let versions = self.note_versions(dir, key)?;
        // A higher number may continue this one, or may have passed it before it was free again: both are tried again.
        let is_newest = versions.last() == Some(&version);
        for old in versions.into_iter().filter(|old| if is_newest { *old < version } else { *old == version }) {
            let _ = disk.remove(dir, &key.file(old));
        }
        Ok(is_newest)
    }

    pub(super) fn read_note(&self, dir: &D::Dir, name: &str) -> std::result::Result<SessionNote, FileProblem> {
        let bytes = self.disk().read(dir, name, MAX_NOTE_BYTES)?;
        serde_json::from_slice(&bytes).map_err(|error| FileProblem::Io(error.into()))
    }

    /// Removes the oldest notes, if there are too many. A failure does not matter: the next one tries again.
    fn forget_old_notes(&self, dir: &D::Dir) {
        let mut names = Vec::new();
        let _ = self.disk().list(dir, &mut |name| names.push(name.to_owned()));
        if names.len() < MOST_NOTES {
            return;
        }
        let aged = |name: String| {
            let stat = self.disk().stat(dir, &name).ok().filter(|stat| stat.kind == FileKind::File)?;
            Some((stat.modified, name))
        };
        let mut aged: Vec<_> = names.into_iter().filter_map(aged).collect();
        aged.sort_unstable();
        let surplus = (aged.len() + 1).saturating_sub(MOST_NOTES);
        for (_, name) in aged.into_iter().take(surplus) {
            let _ = self.disk().remove_stale(dir, &name);
        }
    }
}
