//! The kinds of remote, one file each: the verbs of [`Remote`] in a directory, in a git repository, and in an object store
//! by way of the program `ckpt-remote`. Nothing here decides what is exchanged.

mod directory;
mod git;
mod git_process;
mod helper;
mod url;

use std::path::PathBuf;
use std::time::Duration;

pub use helper::ObjectStoreRemote;
pub(crate) use url::{BadUrl, RemoteUrl};

use super::{Failure, ProbeFailure, RACERS, Remote, probe};

/// What a transport needs to know of the machine and the project.
pub(crate) struct TransportContext {
    /// The project, whose git remotes have names.
    pub(crate) project: PathBuf,
    /// The directory for the copy of a git remote, which may be deleted at any time. It is not in the store, which may come
    /// from a stranger: git runs the hooks and the programs that a repository names.
    pub(crate) copy_dir: Option<PathBuf>,
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
pub(crate) fn open(url: &RemoteUrl, context: &TransportContext) -> Result<Box<dyn Remote>, Failure> {
    match url {
        RemoteUrl::File(path) => Ok(Box::new(directory::Directory::new(path, context.unique.clone()))),
        RemoteUrl::Git(place) => Ok(Box::new(git::Repository::open(place, context)?)),
        RemoteUrl::Engine(url) => Ok(Box::new(engine(url, context))),
    }
}

/// Lets a remote show that it keeps the promises of one. A git repository keeps them by what it is made of: a ref moves only
/// from the commit that the pusher has seen.
pub(crate) fn try_out(url: &RemoteUrl, context: &TransportContext) -> Result<(), ProbeFailure> {
    let mut handles: Vec<Box<dyn Remote + Send>> = match url {
        RemoteUrl::Git(_) => return Ok(()),
        RemoteUrl::File(path) => (0..RACERS)
            .map(|racer| directory::Directory::new(path, format!("{}-{racer}", context.unique)))
            .map(|directory| Box::new(directory) as Box<dyn Remote + Send>)
            .collect(),
        RemoteUrl::Engine(address) => {
            let remote = engine(address, context);
            (0..RACERS).map(|_| Box::new(remote.clone()) as Box<dyn Remote + Send>).collect()
        }
    };
    probe(&mut handles, &context.unique).map(drop)
}

fn engine(url: &str, context: &TransportContext) -> ObjectStoreRemote {
    ObjectStoreRemote::new(context.program.clone(), url.to_owned(), context.allow_http, context.time_limit)
}
