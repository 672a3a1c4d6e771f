//! The program under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const BUILT: &str = env!("CARGO_BIN_EXE_ckpt");

/// The path of the program: a copy of what was built. What a linker has written is in memory in small pieces, in which a
/// short command takes half as much CPU time again to start as in the large ones of a copied file.
pub(crate) static CKPT: LazyLock<String> = LazyLock::new(|| {
    let copy = copied(Path::new(BUILT), &Path::new(env!("CARGO_TARGET_TMPDIR")).join("program"));
    copy.map_or_else(|| BUILT.to_owned(), |path| path.into_os_string().into_string().unwrap())
});

/// Returns a copy in this directory that is as old as the program, which makes it the one of this build.
fn copied(program: &Path, directory: &Path) -> Option<PathBuf> {
    let facts = |path: &Path| {
        let metadata = path.metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    let copy = directory.join("ckpt");
    if facts(&copy) == facts(program) {
        return Some(copy);
    }
    std::fs::create_dir_all(directory).ok()?;
    // Found beside the program, where it was built.
    let _ = std::os::unix::fs::symlink(program.with_file_name("ckpt-remote"), directory.join("ckpt-remote"));
    // Other test processes may do the same now. And `cp` does it, because a file that this process has open for writing
    // would be inherited by what other threads start, and cannot be run meanwhile.
    let unfinished = directory.join(format!("ckpt.{}", std::process::id()));
    let done = Command::new("cp").arg("--preserve=mode,timestamps").args([program, &unfinished]).output().ok()?;
    (done.status.success() && std::fs::rename(&unfinished, &copy).is_ok()).then_some(copy)
}

#[test]
fn a_copy_of_the_program_is_made_once_and_again_when_it_was_built_again() {
    let temp = tempfile::tempdir().unwrap();
    let (program, directory) = (temp.path().join("built"), temp.path().join("program"));
    std::fs::write(&program, "first").unwrap();
    let copy = copied(&program, &directory).unwrap();
    assert_eq!(std::fs::read(&copy).unwrap(), b"first");
    let inode = || std::os::unix::fs::MetadataExt::ino(&copy.metadata().unwrap());
    let made = inode();
    assert_eq!((copied(&program, &directory).unwrap(), inode()), (copy.clone(), made));
    std::fs::write(&program, "another").unwrap();
    assert_eq!(copied(&program, &directory).unwrap(), copy);
    assert_eq!(std::fs::read(&copy).unwrap(), b"another");
    assert!(copied(&temp.path().join("missing"), &directory).is_none());
}
