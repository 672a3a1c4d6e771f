//! Copies of directories, and whether two are in the same state.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ckpt_model::digest::Digest;

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

/// Returns the same for directories with the same names, kinds, modes and contents in them. Times do not count, nor do the
/// names of temporary files, which are random.
///
/// What a command does depends on these, so that what follows from a state is tried once, however many faults lead to it.
pub(crate) fn state_of(root: &Path) -> Digest {
    fn collect(dir: &Path, place: &[u8], entries: &mut Vec<Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().as_bytes();
            let name: &[u8] = if name.starts_with(b".tmp-") { b".tmp-" } else { name };
            let place = [place, b"/", name].concat();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_file() {
                fs::read(&path).unwrap()
            } else if metadata.is_symlink() {
                fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else {
                collect(&path, &place, entries);
                Vec::new()
            };
            let facts = format!("\n{:o} {}\n", metadata.mode(), content.len());
            entries.push([&place[..], facts.as_bytes(), &content].concat());
        }
    }
    let mut entries = Vec::new();
    collect(root, b"", &mut entries);
    entries.sort_unstable();
    Digest::of(&entries.concat())
}

#[test]
fn states_differ_by_names_modes_and_contents_and_not_by_the_names_of_temporary_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let state = |files: &[(&str, &str, u32)]| {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        for (name, content, mode) in files {
            fs::write(dir.path().join(name), content).unwrap();
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(*mode)).unwrap();
        }
        state_of(dir.path())
    };
    let one = state(&[("d/a", "1", 0o600), ("d/.tmp-x", "2", 0o600)]);
    assert_eq!(one, state(&[("d/.tmp-y", "2", 0o600), ("d/a", "1", 0o600)]));
    for other in [
        state(&[("d/a", "1", 0o600)]),
        state(&[("d/b", "1", 0o600), ("d/.tmp-x", "2", 0o600)]),
        state(&[("a", "1", 0o600), ("d/.tmp-x", "2", 0o600)]),
        state(&[("d/a", "2", 0o600), ("d/.tmp-x", "2", 0o600)]),
        state(&[("d/a", "1", 0o400), ("d/.tmp-x", "2", 0o600)]),
        state(&[("d/a", "1", 0o600), ("d/.tmp-x", "1", 0o600)]),
    ] {
        assert_ne!(one, other);
    }
}

/// Makes a temporary directory in memory, where syncing costs nothing, or on the disk if there is little memory or `TMPDIR`
/// says where.
pub(crate) fn memory_directory() -> tempfile::TempDir {
    const MEMORY: &str = "/dev/shm";
    /// Containers often have 64 MB, which a few tests at once may need.
    const LEAST_FREE: u64 = 512 << 20;
    let is_large = || rustix::fs::statvfs(MEMORY).is_ok_and(|free| free.f_bavail * free.f_frsize >= LEAST_FREE);
    let in_memory = std::env::var_os("TMPDIR").is_none() && is_large();
    let made = if in_memory { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    made.unwrap()
}
