//! Opening the files of an import.

use std::collections::HashSet;
use std::path::PathBuf;

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

/// What a file is called.
pub(super) fn name(file: &File) -> String {
    file.as_ref().map_or_else(|| "-".to_owned(), |file| file.path.display().to_string())
}
