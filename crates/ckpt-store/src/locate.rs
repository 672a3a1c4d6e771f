//! Finding the store.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::layout::{STORE_NAME, WORKFLOWS};
use crate::git::Checkout;
use ckpt_platform as platform;
use ckpt_platform::FileKind;

/// The mode bit that lets everybody create files in a directory.
const WORLD_WRITABLE: u32 = 0o002;

/// The location of a store, whether or not it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The store's directory.
    pub root: PathBuf,
    /// The project it belongs to; artifact paths are relative to it.
    pub project: PathBuf,
}

impl Located {
    /// True if a user who looks only at the current directory and at the root of its git checkout sees the store.
    #[must_use]
    pub fn is_in_sight(&self, cwd: &Path, checkout: Option<&Checkout>) -> bool {
        let place = self.root.parent();
        place == Some(cwd) || checkout.is_some_and(|checkout| place == Some(&checkout.root))
    }
}

/// The result of [`locate`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// The store exists.
    Found(Located),
    /// There is no store; it would be created here.
    Absent(Located),
}

/// The start and the conditions of a search for a store.
#[derive(Debug, Clone)]
pub struct Searcher<'a> {
    /// The directory where the search begins.
    pub cwd: &'a Path,
    /// The path of a store, if it was named explicitly.
    pub named: Option<&'a Path>,
    /// The users whose stores are used without being named.
    pub trusted: &'a [u32],
    /// The home directory of the user.
    pub home: Option<&'a Path>,
    /// Directories that a search from below does not enter.
    pub ceilings: &'a [PathBuf],
}

impl Searcher<'_> {
    /// Returns the directories to look in: the current one and those above it, as far as they belong to the same work.
    ///
    /// In a git checkout that is up to its root. Elsewhere the search ends below the home directory, at a file system
    /// boundary, and below a directory that everybody may write to: a store in one of those would capture all
    /// projects below it.
    fn directories(&self, git_root: Option<&Path>) -> impl Iterator<Item = &Path> {
        let above = self.cwd.ancestors().skip(1).take_while(move |dir| {
            let is_ceiling = self.ceilings.iter().any(|ceiling| ceiling == dir);
            !is_ceiling && git_root.map_or_else(|| self.may_enter(dir), |root| dir.starts_with(root))
        });
        std::iter::once(self.cwd).chain(above)
    }

    /// True if a search that began below a directory, outside of any checkout, may go on in it.
    fn may_enter(&self, directory: &Path) -> bool {
        let (Ok(above), Ok(start)) = (platform::stat_target(directory), platform::stat_target(self.cwd)) else {
            return false;
        };
        let home = self.home.and_then(|home| platform::stat_target(home).ok());
        let is_home = home.is_some_and(|home| home.id == above.id);
        let is_world_writable = above.mode & WORLD_WRITABLE != 0;
        above.id.0 == start.id.0 && !is_home && !is_world_writable
    }
}

/// Finds the store: the named one, or the nearest one in this directory or above, or the one beside the main checkout
/// of a git worktree.
///
/// A store that was not named must belong to a trusted user: otherwise another user could plant one in a parent
/// directory.
///
/// # Errors
/// Something that is not a directory has its name, or it belongs to another user.
pub fn locate(searcher: &Searcher<'_>, checkout: Option<&Checkout>) -> Result<Location> {
    let cwd = searcher.cwd;
    let git_root = checkout.map(|checkout| checkout.root.as_path());
    if let Some(named) = searcher.named {
        let root = cwd.join(named);
        let is_usual = root.file_name().is_some_and(|name| name == STORE_NAME);
        let beside = if is_usual { root.parent() } else { None };
        let project = beside.or(git_root).unwrap_or(cwd).to_owned();
        let located = Located { root, project };
        return Ok(match owner(&located.root)? {
            Some(_) => Location::Found(located),
            None => Location::Absent(located),
        });
    }
    let main_root = checkout.and_then(Checkout::main_root);
    for project in searcher.directories(git_root).chain(main_root.as_deref()) {
        let root = project.join(STORE_NAME);
        if let Some(owner) = owner(&root)? {
            // A worktree that has only the settings of a store, from version control, uses that of the main checkout.
            let elsewhere = main_root.as_deref().is_some_and(|main| main != project);
            if elsewhere && !root.join(WORKFLOWS).exists() {
                continue;
            }
            if !searcher.trusted.contains(&owner) {
                return Err(Error::ForeignStore { path: root, owner });
            }
            // In a worktree, artifacts are relative to the worktree, even if the store is beside the main checkout.
            let beside_main = main_root.as_deref() == Some(project);
            let project = if beside_main { git_root.unwrap_or(project) } else { project };
            return Ok(Location::Found(Located { project: project.to_owned(), root }));
        }
    }
    // A store beside the main checkout outlives the worktrees, and all of them find it.
    let home = main_root.as_deref().or(git_root).unwrap_or(cwd);
    Ok(Location::Absent(Located { root: home.join(STORE_NAME), project: git_root.unwrap_or(cwd).to_owned() }))
}

/// Returns the owner of a directory; none if it does not exist.
fn owner(path: &Path) -> Result<Option<u32>> {
    let not_a_store = |why| Err(Error::NotAStore { path: path.to_owned(), why });
    match platform::stat(path) {
        Ok(stat) => match stat.kind {
            FileKind::Directory => Ok(Some(stat.owner)),
            FileKind::Link => not_a_store("it is a symbolic link, and links are not followed"),
            FileKind::File | FileKind::Special => not_a_store("it is a file"),
        },
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(Error::Io { doing: "look at", path: path.to_owned(), source }),
    }
}
