//! Edited files: remembered in the note of the session, and recorded with its next save.

use std::path::{Component, Path, PathBuf};

use super::Hook;
use crate::cli::error::Failure;
use crate::cli::session::Workspace;
use crate::core::change::Change;
use crate::core::store::{Location, SessionNote};
use crate::core::{Store, Trigger};

/// So many files are recorded at once, without waiting for another reason to save.
const MOST_PENDING: usize = 50;

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
        });
        let Some((note, ())) = added else { return Ok(()) };
        if note.files.len() >= MOST_PENDING { self.record_files(&note) } else { Ok(()) }
    }

    /// Records the pending files of a session in a checkpoint of their own.
    fn record_files(&self, note: &SessionNote) -> Result<(), Failure> {
        let Some(workflow) = &note.workflow else { return Ok(()) };
        let Some(workspace) = self.workspace()? else { return Ok(()) };
        if !self.is_open(&workspace, workflow) {
            return Ok(());
        }
        let note_text = format!("{} files were edited", note.files.len());
        let change =
            Change { trigger: Some(Trigger::AgentComplete), note: Some(note_text), ..Change::default() };
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
    pub(super) fn settle(
        &self,
        store: &Store,
        recorded: &[String],
        mut change: impl FnMut(&mut SessionNote),
    ) {
        self.change_note(store, |note| {
            note.files.retain(|file| !recorded.contains(file));
            note.bound = true;
            change(note);
        });
    }
}

/// Returns a path relative to the project; none if it lies outside of it, or in the store.
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
    if first.as_os_str() == crate::core::store::STORE_NAME || first.as_os_str() == ".git" {
        return None;
    }
    Some(inside.to_str()?.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
