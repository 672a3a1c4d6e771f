//! The kinds of remote, one file each: what the verbs of [`Remote`] mean in a directory and in a git repository. Object stores
//! are reached by `core::sync::ObjectStoreRemote`.
//!
//! Uses `core` and `platform`; used by `cli`. Nothing here decides what is exchanged.

mod file;
mod git;
mod git_process;
mod url;

use std::path::PathBuf;
use std::time::Duration;

pub(crate) use url::{BadUrl, RemoteUrl};

use crate::core::sync::{Failure, ObjectStoreRemote, ProbeFailure, RACERS, Remote, probe};

/// The surroundings of a transport.
pub(crate) struct Surroundings<'a> {
    /// The project, whose git remotes have names.
    pub(crate) project: PathBuf,
    /// Makes the directory for the copy of a git remote, which may be deleted at any time.
    pub(crate) make_copy_dir: &'a dyn Fn() -> Result<PathBuf, Failure>,
    /// How long one request may take.
    pub(crate) time_limit: Duration,
    /// The program that speaks to object stores, if there is one.
    pub(crate) program: Option<PathBuf>,
    /// Allows unencrypted connections to other machines.
    pub(crate) allow_http: bool,
    /// Tells temporary names from those of all other processes.
    pub(crate) unique: String,
}

/// Opens a remote. Nothing is contacted yet.
pub(crate) fn open(url: &RemoteUrl, around: Surroundings<'_>) -> Result<Box<dyn Remote>, Failure> {
    match url {
        RemoteUrl::File(path) => Ok(Box::new(file::Directory::new(path, around.unique))),
        RemoteUrl::Git(place) => Ok(Box::new(git::Repository::open(place, &around)?)),
        RemoteUrl::Engine(url) => Ok(Box::new(engine(url, &around))),
    }
}

/// Lets a remote show that it keeps the promises of one. A git repository keeps them by what it is made of: a ref moves only
/// from the commit that the pusher has seen.
pub(crate) fn try_out(url: &RemoteUrl, around: &Surroundings<'_>) -> Result<(), ProbeFailure> {
    let mut handles: Vec<Box<dyn Remote + Send>> = match url {
        RemoteUrl::Git(_) => return Ok(()),
        RemoteUrl::File(path) => (0..RACERS)
            .map(|racer| file::Directory::new(path, format!("{}-{racer}", around.unique)))
            .map(|directory| Box::new(directory) as Box<dyn Remote + Send>)
            .collect(),
        RemoteUrl::Engine(address) => {
            let remote = engine(address, around);
            (0..RACERS).map(|_| Box::new(remote.clone()) as Box<dyn Remote + Send>).collect()
        }
    };
    probe(&mut handles, &around.unique).map(drop)
}

fn engine(url: &str, around: &Surroundings<'_>) -> ObjectStoreRemote {
    ObjectStoreRemote::new(around.program.clone(), url.to_owned(), around.allow_http, around.time_limit)
}
