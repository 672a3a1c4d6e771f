//! Reading the files of a host, and the records of what was written to them.

use std::io;
use std::path::{Path, PathBuf};

use super::error::SetupError;
use super::parts::{Level, Part, Places};
use ckpt_model::digest::Digest;
use ckpt_platform::canonicalize;
use ckpt_store::files::{FileProblem, read_regular};

/// Settings are small; what is larger is something else.
const MAX_SETTINGS: u64 = 16 << 20;

/// A part, and the file that it belongs to as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The part.
    pub part: Part,
    /// The file itself, after following links.
    pub file: PathBuf,
    /// Its text; `None` if there is no file.
    pub text: Option<String>,
    /// The record of the last write to it.
    pub record: Option<Record>,
}

/// The text that was written to a file, and the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The text before; `None` if there was no file.
    pub before: Option<String>,
    /// The text that was written.
    pub after: String,
    /// The directories that were created for it, the outermost first.
    pub made: Vec<PathBuf>,
}

/// Reads the file of a part. A user may keep it elsewhere, through a link, as dotfile managers do; a link of a project must
/// stay in the project, because the project may be somebody else's.
///
/// # Errors
/// The file cannot be read, is not UTF-8, or is outside the project.
pub fn gather(part: Part, level: Level, places: &Places) -> Result<Found, SetupError> {
    let path = &part.path;
    let failed = |error: io::Error| SetupError::Io { path: path.clone(), error };
    let file = behind_links(path).map_err(failed)?;
    if level == Level::Project {
        let project = canonicalize(&places.project).map_err(failed)?;
        if !file.starts_with(&project) {
            return Err(SetupError::Outside { path: path.clone() });
        }
    }
    let text = match read_regular(&file, MAX_SETTINGS) {
        Ok(bytes) => Some(
            String::from_utf8(bytes)
                .map_err(|_| SetupError::Unreadable { path: path.clone(), why: "it is not UTF-8".to_owned() })?,
        ),
        Err(FileProblem::Missing) => None,
        Err(problem) => {
            return Err(SetupError::Unreadable { path: path.clone(), why: problem.to_string() });
        }
    };
    let record = read_record(&record_dir(places, &file));
    Ok(Found { part, file, text, record })
}

/// Returns where a path leads. Of a path that does not exist, the part that does is followed.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match (path.parent(), path.file_name()) {
            // A link that leads nowhere is not written through.
            _ if path.is_symlink() => Err(error),
            (Some(parent), Some(name)) if parent != Path::new("") => Ok(behind_links(parent)?.join(name)),
            _ => Ok(path.to_owned()),
        },
        found => found,
    }
}

/// Returns the directory of the record of a file.
pub(super) fn record_dir(places: &Places, file: &Path) -> PathBuf {
    let digest = Digest::of(file.as_os_str().as_encoded_bytes()).to_hex();
    places.records.join(&digest[..16])
}

fn read_record(dir: &Path) -> Option<Record> {
    let read = |name: &str| {
        let bytes = read_regular(&dir.join(name), MAX_SETTINGS).ok()?;
        String::from_utf8(bytes).ok()
    };
    let made = read("made").unwrap_or_default();
    Some(Record { after: read("after")?, before: read("before"), made: made.lines().map(PathBuf::from).collect() })
}
