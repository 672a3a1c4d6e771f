//! Copies of directories.

use std::fs;
use std::path::Path;

/// Copies everything in a directory into another one that exists, with modes and modification times. Links stay links.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let metadata = from.symlink_metadata().unwrap();
        if metadata.is_dir() {
            fs::create_dir(&to).unwrap();
            copy_tree(&from, &to);
            fs::set_permissions(&to, metadata.permissions()).unwrap();
        } else if metadata.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from).unwrap(), &to).unwrap();
        } else {
            assert!(metadata.is_file(), "{}", from.display());
            fs::copy(&from, &to).unwrap();
            fs::File::open(&to).unwrap().set_modified(metadata.modified().unwrap()).unwrap();
        }
    }
}

/// Makes a temporary directory in memory, where syncing costs nothing, or else on the disk.
pub(crate) fn memory_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
