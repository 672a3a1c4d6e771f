//! Directories that are created with those above them.

use std::io;
use std::path::{Path, PathBuf};

use crate::Dir;

/// Returns the directories that have to be created, the outermost first.
#[must_use]
pub fn missing_directories(directory: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        directory.ancestors().take_while(|path| !path.exists()).map(Path::to_owned).collect();
    missing.retain(|path| !path.as_os_str().is_empty());
    missing.reverse();
    missing
}

/// Creates a directory and the missing ones above it, with a mode that the umask reduces.
///
/// # Errors
/// The disk refuses.
pub fn make_directories(directory: &Path, mode: u32) -> io::Result<()> {
    for path in missing_directories(directory) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        match Dir::open(parent)?.make_dir_for_owner(name, mode) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
