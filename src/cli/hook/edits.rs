//! Edited files: remembered in the note of the session, and recorded with its next save.

use std::path::{Component, Path, PathBuf};

use super::Hook;
use crate::cli::error::Failure;
use crate::cli::session::Workspace;
use ckpt_model::Trigger;
use ckpt_model::change::{Change, MOST_TOUCHED};
use ckpt_model::session_note::SessionNote;
use ckpt_store::Location;
use ckpt_store::Store;

/// So many files are recorded at once, without waiting for another reason to save.
const MOST_PENDING: usize = 50;
/// The most bytes of all remembered paths. Escaped as JSON they are six times as many at most, and the note of a session
/// that is larger than 256 KiB is not read any more.
const MAX_PENDING_BYTES: usize = 32 << 10;

impl Hook {
    /// Remembers edited files of a session that works on a workflow.
    pub(super) fn edited(&self, files: &[String]) -> Result<(), Failure> {
        let place = self.session.place()?;
        let Location::Found(located) = &place.location else { return Ok(()) };
        let store = Store::at(located)?.without_waiting();
        let Some(note) = self.note(&store).filter(|note| note.workflow.is_some()) else { return Ok(()) };
        let inside = files.iter().filter_map(|file| relative(&located.project, &place.cwd, file));
        let new: Vec<String> = inside.filter(|file| !note.files.contains(file)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let added = self.change_note(&store, |note| {
            for file in &new {
                if !note.files.contains(file) {
                    note.files.push(file.clone());
                }
            }
            forget_oldest(&mut note.files);
        });
        let Some((note, ())) = added else { return Ok(()) };
        if note.files.len() >= MOST_PENDING { self.record_files(&note) } else { Ok(()) }
    }

    /// Records the pending files of a session in a checkpoint of their own. Where such checkpoints are not wanted, and
    /// after the end of the workflow, the files wait for the next save.
    fn record_files(&self, note: &SessionNote) -> Result<(), Failure> {
        let Some(workflow) = &note.workflow else { return Ok(()) };
        let Some(workspace) = self.workspace()? else { return Ok(()) };
        if !workspace.config.wants(&Trigger::AgentComplete) || !self.is_open(&workspace, workflow) {
            return Ok(());
        }
        let note_text = format!("{} files were edited", note.files.len());
        let change = Change { trigger: Some(Trigger::AgentComplete), note: Some(note_text), ..Change::default() };
        self.save(&workspace, workflow, change, &note.files)?;
        self.settle(&workspace.store, &note.files, |_| {});
        Ok(())
    }

    /// Returns the store with its settings; none if there is no store.
    pub(super) fn workspace(&self) -> Result<Option<Workspace>, Failure> {
        let place = self.session.place()?;
        let Location::Found(located) = &place.location else { return Ok(None) };
        let store = Store::at(located)?.without_waiting();
        let config = self.session.config(&store)?;
        Ok(Some(Workspace { place, store, config, remote_problem: None }))
    }

    /// Takes recorded files off the note of the session, and notes that it has saved.
    pub(super) fn settle(&self, store: &Store, recorded: &[String], mut change: impl FnMut(&mut SessionNote)) {
        self.change_note(store, |note| {
            note.files.retain(|file| !recorded.contains(file));
            note.bound = true;
            change(note);
        });
    }
}

/// Drops the oldest files if there are more than a checkpoint records, or than a note has room for.
fn forget_oldest(files: &mut Vec<String>) {
    let mut room = MAX_PENDING_BYTES;
    files.reverse();
    files.retain(|file| {
        let fits = file.len() <= room;
        if fits {
            room -= file.len();
        }
        fits
    });
    files.truncate(MOST_TOUCHED);
    files.reverse();
}

/// Returns a path relative to the project; none if it lies outside, or in the store.
fn relative(project: &Path, cwd: &Path, file: &str) -> Option<String> {
    let mut path = PathBuf::new();
    for part in cwd.join(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    let inside = path.strip_prefix(project).ok()?;
    let first = inside.components().next()?;
    if first.as_os_str() == ckpt_store::STORE_NAME || first.as_os_str() == ".git" {
        return None;
    }
    Some(inside.to_str()?.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_files_stay_if_there_are_too_many_or_their_paths_are_too_long() {
        let mut files: Vec<String> = (0..300).map(|number| format!("{number}.rs")).collect();
        forget_oldest(&mut files);
        assert_eq!((files.len(), files[0].as_str()), (MOST_TOUCHED, "100.rs"));
        let long = |name: &str| format!("{name}{}", "x".repeat(12 << 10));
        let too_long = "x".repeat(MAX_PENDING_BYTES + 1);
        let mut files = vec![long("a"), long("b"), long("c"), too_long, "d".to_owned()];
        forget_oldest(&mut files);
        assert_eq!(files, [long("b"), long("c"), "d".to_owned()]);
    }

    #[test]
    fn only_files_of_the_project_are_remembered() {
        let of = |file: &str| relative(Path::new("/p"), Path::new("/p/src"), file);
        assert_eq!(of("a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(of("/p/b.rs").as_deref(), Some("b.rs"));
        assert_eq!(of("../c.rs").as_deref(), Some("c.rs"));
        for outside in ["/etc/passwd", "../../x", "/p", "/p/.ckpt/index", "/p/.git/config", "/p/../q"] {
            assert_eq!(of(outside), None, "{outside}");
        }
    }
}
