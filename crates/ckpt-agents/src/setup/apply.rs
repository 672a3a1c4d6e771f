//! Carrying out a change: the text of before is kept first, then the file is replaced in one step.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::SetupError;
use super::gather::record_dir;
use super::parts::Places;
use super::plan::FileChange;
use ckpt_platform::{Dir, make_directories, missing_directories, stat, sync_file};
use ckpt_store::files::{FileProblem, read_regular};

/// The permissions of a new file; the umask takes some away.
const NEW_FILE: u32 = 0o666;
/// Settings may hold what others should not read, so a copy is private.
const PRIVATE: u32 = 0o600;

/// Carries out a change.
///
/// # Errors
/// The file is no longer what the plan was made for, or cannot be written. It is unchanged then.
pub fn apply(change: &FileChange, places: &Places) -> Result<(), SetupError> {
    let FileChange { path, file, now, next, before, adds } = change;
    let failed = |error: io::Error| SetupError::Io { path: path.clone(), error };
    let present = match read_regular(file, u64::MAX) {
        Ok(bytes) => Some(bytes),
        Err(FileProblem::Missing) => None,
        Err(problem) => return Err(failed(io::Error::other(problem.to_string()))),
    };
    if present.as_deref() != now.as_deref().map(str::as_bytes) {
        return Err(SetupError::Changed { path: path.clone() });
    }
    let records = record_dir(places, file);
    match next {
        Some(next) => {
            let directory = file.parent().unwrap_or(Path::new("."));
            let made = missing_directories(directory);
            if *adds {
                keep(&records, before.as_deref(), next, &made).map_err(failed)?;
            }
            make_directories(directory, 0o777).map_err(failed)?;
            let mode = stat(file).map_or(NEW_FILE, |stat| stat.mode & 0o777);
            replace(file, next, mode).map_err(failed)?;
            if !adds {
                forget(&records, &[]);
            }
        }
        None => {
            remove(file).map_err(failed)?;
            let made = read_regular(&records.join("made"), u64::MAX).unwrap_or_default();
            let made: Vec<PathBuf> = String::from_utf8_lossy(&made).lines().map(PathBuf::from).collect();
            forget(&records, &made);
        }
    }
    Ok(())
}

/// Writes a private file, and creates the directories above it.
///
/// # Errors
/// It cannot be written.
pub fn write_private(file: &Path, text: &str) -> io::Result<()> {
    make_directories(file.parent().unwrap_or(Path::new(".")), 0o777)?;
    replace(file, text, PRIVATE)
}

/// Keeps what a file was and what it becomes, the latter last: without it a record does not count.
fn keep(records: &Path, before: Option<&str>, after: &str, made: &[PathBuf]) -> io::Result<()> {
    make_directories(records, 0o777)?;
    let _ = remove(&records.join("after"));
    match before {
        Some(before) => replace(&records.join("before"), before, PRIVATE)?,
        None => drop(remove(&records.join("before"))),
    }
    // Directories that were made by an earlier run are still ours.
    let earlier = read_regular(&records.join("made"), u64::MAX).unwrap_or_default();
    let earlier = String::from_utf8_lossy(&earlier).into_owned();
    let made = made.iter().map(|path| format!("{}\n", path.display()));
    let made: String = earlier.lines().map(|line| format!("{line}\n")).chain(made).collect();
    replace(&records.join("made"), &made, PRIVATE)?;
    replace(&records.join("after"), after, PRIVATE)
}

/// Removes a record, and the created directories that are empty now, the innermost first; with the last record
/// also the two directories of all records.
fn forget(records: &Path, made: &[PathBuf]) {
    for name in ["after", "before", "made"] {
        let _ = remove(&records.join(name));
    }
    for directory in made.iter().rev().map(PathBuf::as_path).chain(records.ancestors().take(3)) {
        let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else { continue };
        // Fails as long as there is anything in it.
        let _ = Dir::open(parent).and_then(|parent| parent.remove_dir(name));
    }
}

/// Replaces a file in one step, durably.
fn replace(file: &Path, text: &str, mode: u32) -> io::Result<()> {
    let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let dir = Dir::open(parent)?;
    let staged = format!(".ckpt-{}", std::process::id());
    let _ = dir.remove(&staged);
    let written = dir.create_file(&staged, mode, text.len() as u64).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        sync_file(&file)?;
        drop(file);
        dir.rename(&staged, name)
    });
    written.inspect_err(|_| drop(dir.remove(&staged)))?;
    dir.sync()
}

fn remove(file: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else { return Ok(()) };
    let dir = Dir::open(parent)?;
    dir.remove(name)?;
    dir.sync()
}
