//! Finding the store.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType};

use super::error::{Error, Result};
use super::layout::{STORE_NAME, WORKFLOWS};
use crate::core::git::Checkout;

/// Where a store is or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The store's directory.
    pub root: PathBuf,
    /// The project it belongs to: what artifact paths are relative to.
    pub project: PathBuf,
}

/// The answer of [`locate`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// It is there.
    Found(Located),
    /// There is none; this is where one would be created.
    Absent(Located),
}

/// Who is looking, from where, and what they said about it.
#[derive(Debug, Clone)]
pub struct Searcher<'a> {
    /// The directory to begin with.
    pub cwd: &'a Path,
    /// A store that was named.
    pub named: Option<&'a Path>,
    /// The accounts whose stores are trusted without being named.
    pub trusted: &'a [u32],
}

/// Finds the store: the named one, or the nearest one in this directory or above, or the one beside the main checkout
/// of a git worktree.
///
/// A store that was not named must belong to a trusted account: otherwise a directory that somebody planted further
/// up could speak for the project.
///
/// # Errors
/// Something else stands in its place, or it belongs to somebody else.
pub fn locate(searcher: &Searcher<'_>, checkout: Option<&Checkout>) -> Result<Location> {
    let cwd = searcher.cwd;
    let git_root = checkout.map(|checkout| checkout.root.as_path());
    if let Some(named) = searcher.named {
        let root = cwd.join(named);
        let beside = root.parent().filter(|_| root.file_name().is_some_and(|name| name == STORE_NAME));
        let project = beside.or(git_root).unwrap_or(cwd).to_owned();
        let located = Located { root, project };
        return Ok(match owner(&located.root)? {
            Some(_) => Location::Found(located),
            None => Location::Absent(located),
        });
    }
    let main_root = checkout.and_then(Checkout::main_root);
    for project in cwd.ancestors().chain(main_root.as_deref()) {
        let root = project.join(STORE_NAME);
        if let Some(owner) = owner(&root)? {
            // Where a worktree has only what version control keeps of a store, its settings, that is no store of its own.
            let elsewhere = main_root.as_deref().is_some_and(|main| main != project);
            if elsewhere && !root.join(WORKFLOWS).exists() {
                continue;
            }
            if !searcher.trusted.contains(&owner) {
                return Err(Error::ForeignStore { path: root, owner });
            }
            // In a worktree the files are beside the worktree, whoever keeps the store.
            let beside_main = main_root.as_deref() == Some(project);
            let project = if beside_main { git_root.unwrap_or(project) } else { project };
            return Ok(Location::Found(Located { project: project.to_owned(), root }));
        }
    }
    // A store beside the main checkout outlives its worktrees, and all of them find it.
    let home = main_root.as_deref().or(git_root).unwrap_or(cwd);
    Ok(Location::Absent(Located { root: home.join(STORE_NAME), project: git_root.unwrap_or(cwd).to_owned() }))
}

/// The owner of a directory; none if nothing is there.
fn owner(path: &Path) -> Result<Option<u32>> {
    let not_a_store = |why| Err(Error::NotAStore { path: path.to_owned(), why });
    match rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(Some(stat.st_uid)),
            FileType::Symlink => not_a_store("it is a symbolic link, and links are not followed"),
            _ => not_a_store("it is a file"),
        },
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
        Err(errno) => {
            Err(Error::Io { doing: "look at", path: path.to_owned(), source: io::Error::from(errno) })
        }
    }
}
