//! Storing objects.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};

use super::name;
use crate::disk::{Access, Disk};
use crate::error::Result;
use crate::files::follow_in_project;
use crate::layout::{self, OBJECTS};
use crate::open::Store;
use crate::publish::NewFile;
use ckpt_model::checkpoint::{Artifact, Checkpoint};
use ckpt_model::digest::Digest;

/// How many temporary names are tried for an object.
const MAX_ATTEMPTS: u32 = 100;

/// The content of an artifact that a save keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectContent {
    sha256: Digest,
    size: u64,
    source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Memory(Vec<u8>),
    /// A file of the project, which is read only if its object is missing.
    File(String),
}

impl ObjectContent {
    /// Hashes a content.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        let sha256 = Digest::of(&bytes);
        Self::with_digest(bytes, sha256)
    }

    /// Takes a content whose digest is known.
    #[must_use]
    pub(crate) fn with_digest(bytes: Vec<u8>, sha256: Digest) -> Self {
        Self { sha256, size: bytes.len() as u64, source: Source::Memory(bytes) }
    }

    /// Stands for a file of the project, whose object was there just now.
    #[must_use]
    pub(crate) fn unread(path: &str, size: u64, sha256: Digest) -> Self {
        Self { sha256, size, source: Source::File(path.to_owned()) }
    }

    /// Returns the digest.
    #[must_use]
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// Returns the size.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the content, reading it if it was not read yet.
    fn bytes(&self, project: &Path) -> io::Result<Cow<'_, [u8]>> {
        let path = match &self.source {
            Source::Memory(bytes) => return Ok(Cow::Borrowed(bytes)),
            Source::File(path) => path,
        };
        let read = follow_in_project(project, path).and_then(|file| file.read(self.size));
        match read.map_err(io::Error::other)? {
            bytes if Digest::of(&bytes) == self.sha256 => Ok(Cow::Owned(bytes)),
            _ => Err(io::Error::other(format!("`{path}` was changed meanwhile; save again"))),
        }
    }
}

impl<D: Disk> Store<D> {
    /// Stores a content, unless it is there. It is durable when this returns. `id` tells this call from all others.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn store_object(&self, content: &ObjectContent, id: &str) -> Result<()> {
        self.keep_objects(std::slice::from_ref(content), &HashSet::new(), id)
    }

    /// Stores contents, unless they are there. Of those in `known`, a durable checkpoint tells that their objects are
    /// durable.
    pub(crate) fn keep_objects(&self, contents: &[ObjectContent], known: &HashSet<Digest>, id: &str) -> Result<()> {
        let mut shards = BTreeSet::new();
        let mut written = 0;
        for content in contents {
            let is_there = self.has_object_file(&content.sha256)?;
            if !(is_there && known.contains(&content.sha256)) {
                shards.insert(name::shard(&content.sha256));
            }
            if !is_there {
                written += self.publish_object(content, id)?;
            }
        }
        if shards.is_empty() {
            return Ok(());
        }
        let path = self.root().join(OBJECTS);
        let root = self.open_root()?;
        let objects = self.enter(&root, OBJECTS, &path)?;
        for shard in shards {
            let shard_path = path.join(&shard);
            self.sync(&self.enter(&objects, &shard, &shard_path)?, &shard_path)?;
        }
        self.sync(&objects, &path)?;
        self.sync(&root, &self.root())?;
        if written > 0 {
            self.add_to_objects_size(&objects, written, id);
        }
        Ok(())
    }

    /// Publishes an object. Returns its size.
    fn publish_object(&self, content: &ObjectContent, id: &str) -> Result<u64> {
        let path = self.root().join(OBJECTS);
        let (shard, name) = (name::shard(&content.sha256), name::object_file(&content.sha256));
        let shard_path = path.join(&shard);
        let file_path = shard_path.join(&name);
        let failed = |error| self.not_written(&file_path, error);
        let bytes = content.bytes(self.project()).and_then(|bytes| compress(&bytes)).map_err(failed)?;
        let root = self.open_root()?;
        self.make(&root, OBJECTS, &path)?;
        let objects = self.enter(&root, OBJECTS, &path)?;
        self.make(&objects, &shard, &shard_path)?;
        let dir = self.enter(&objects, &shard, &shard_path)?;
        let may_pass =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound);
        let mut attempt = 0;
        loop {
            // A name that is taken belongs to a concurrent or killed writer. One that another process removes is written
            // again.
            let staged = &layout::staged_file(&format!("{id}-{}", &name[..8]), attempt);
            let file = NewFile { staged, name: &name, bytes: &bytes, access: Access::ReadOnly };
            match file.publish(self.disk(), &dir) {
                Err(error) if may_pass(&error) && attempt < MAX_ATTEMPTS => attempt += 1,
                published => return published.map(|_| bytes.len() as u64).map_err(failed),
            }
        }
    }
}

/// Returns the contents that a checkpoint refers to.
pub(crate) fn objects_of(checkpoint: &Checkpoint) -> HashSet<Digest> {
    checkpoint.content.artifacts.iter().filter_map(Artifact::object).collect()
}

/// Compresses a content. The result depends on nothing else.
fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut gzip = GzBuilder::new().write(Vec::with_capacity(bytes.len() / 2), Compression::default());
    gzip.write_all(bytes)?;
    gzip.finish()
}
