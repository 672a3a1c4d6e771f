//! Opening the files of an import, one by one or ahead of what is being written.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use crate::core::adopt::{Collected, Opened, Shelf, SourceProblem, Terms};

/// How a queued file is found again; none for stdin.
pub(super) type File = Option<Collected>;

/// Opens files.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) terms: Terms,
    pub(super) shelf: Shelf,
    /// What was read from stdin: it can be read only once.
    pub(super) stdin: Option<Vec<u8>>,
}

impl Reader {
    /// Opens a file. The path of a second one that belongs to it is added to `companions`.
    pub(super) fn open(
        &mut self,
        file: &File,
        companions: &mut HashSet<PathBuf>,
    ) -> Result<Opened, SourceProblem> {
        let bytes = match (file, &self.stdin) {
            (Some(file), _) => file.read()?,
            (None, stdin) => stdin.clone().unwrap_or_default(),
        };
        let shelf = &mut self.shelf;
        let beside = |dialect, main: &_| {
            let (path, content) = shelf.beside(&file.as_ref()?.path, dialect, main)?;
            companions.insert(path);
            Some(content)
        };
        Opened::read(&name(file), &bytes, self.terms, beside)
    }
}

/// Files that a thread opens while the ones before them are being written: that waits for the disk most of the time.
pub(super) struct Ahead {
    opened: Receiver<(usize, Result<Opened, SourceProblem>)>,
    next: usize,
}

impl Ahead {
    /// More than this many would only take memory.
    const MOST: usize = 16;

    pub(super) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        mut reader: Reader,
        files: Vec<File>,
    ) -> Self {
        let (sender, opened) = sync_channel(Self::MOST);
        scope.spawn(move || {
            for (index, file) in files.iter().enumerate() {
                // Nobody listens any more when something is wrong with the store.
                if sender.send((index, reader.open(file, &mut HashSet::new()))).is_err() {
                    break;
                }
            }
        });
        Self { opened, next: 0 }
    }

    /// Goes past the files of one workflow and returns the number of the first.
    pub(super) fn skip(&mut self, count: usize) -> usize {
        let first = self.next;
        self.next += count;
        first
    }

    /// The file of that number. Those before it are not wanted any more.
    pub(super) fn take(&self, wanted: usize) -> Result<Opened, SourceProblem> {
        let found = self.opened.iter().find(|(index, _)| *index == wanted);
        found.map_or(Err(SourceProblem::Changed), |(_, opened)| opened)
    }
}

/// What a file is called.
pub(super) fn name(file: &File) -> String {
    file.as_ref().map_or_else(|| "-".to_owned(), |file| file.path.display().to_string())
}
