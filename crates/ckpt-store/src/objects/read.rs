//! Reading objects. Nothing in them is trusted.

use std::io::{self, Read as _};
use std::path::PathBuf;

use flate2::bufread::GzDecoder;

use super::MAX_OBJECT_BYTES;
use super::name::{self, ObjectName};
use crate::disk::{Disk, FileKind};
use crate::error::{Error, Result};
use crate::files::FileProblem;
use crate::layout::OBJECTS;
use crate::open::Store;
use ckpt_model::cause::Cause;
use ckpt_model::checkpoint::Artifact;
use ckpt_model::digest::Digest;

/// The reason why a file cannot be used as an object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadObject {
    /// It cannot be decompressed.
    #[error("cannot be decompressed: {0}")]
    Compression(#[source] Cause),
    /// Its content has another digest than its name.
    #[error("does not match its name")]
    Checksum,
    /// It is larger than the limit, compressed or not.
    #[error("is larger than it may be")]
    TooLarge,
    /// It is a link, a directory, a pipe or a device.
    #[error("is not a regular file")]
    NotAFile,
    /// It cannot be read; it may be undamaged.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] Cause),
}

impl BadObject {
    /// Returns true if it is damaged for good.
    pub(crate) fn is_damaged(&self) -> bool {
        !matches!(self, Self::Unreadable(_))
    }
}

/// The number of objects, and the room they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectTotals {
    /// How many there are.
    pub count: usize,
    /// The size of their files.
    pub bytes: u64,
}

impl<D: Disk> Store<D> {
    /// Returns true if the object of a content is there. Whether it is undamaged is not known.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn has_object(&self, sha256: &Digest) -> Result<bool> {
        Ok(self.has_object_file(sha256)? || self.find_leaving(sha256)?.is_some())
    }

    /// Reads a content of at most `limit` bytes, and checks its digest. Returns none if there is no object of it.
    ///
    /// # Errors
    /// The object is damaged, or the store cannot be read.
    pub fn read_object(&self, sha256: &Digest, limit: u64) -> Result<Option<Vec<u8>>> {
        let file = name::object_file(sha256);
        for leaving in [false, true] {
            // Looked for only now: a cleanup may have taken its name away just before.
            let file = if leaving { self.find_leaving(sha256)? } else { Some(file.clone()) };
            let Some(file) = file else { continue };
            match self.read_object_file(sha256, &file, limit) {
                Ok(Some(content)) => return Ok(Some(content)),
                Ok(None) => {}
                Err(why) => {
                    let path = self.root().join(OBJECTS).join(name::shard(sha256)).join(file);
                    return Err(Error::DamagedObject { path, why });
                }
            }
        }
        Ok(None)
    }

    /// Reads the file of an object. Returns none if there is no such file.
    pub(crate) fn read_object_file(
        &self,
        sha256: &Digest,
        file: &str,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, BadObject> {
        let unreadable = |error: &dyn std::fmt::Display| BadObject::Unreadable(Cause::new(error.to_string()));
        let Some(dir) = self.open_shard(&name::shard(sha256)).map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        match self.disk().read(&dir, file, MAX_OBJECT_BYTES) {
            Ok(bytes) => decompress(sha256, &bytes, limit).map(Some),
            Err(FileProblem::Missing) => Ok(None),
            Err(FileProblem::TooLarge(_)) => Err(BadObject::TooLarge),
            Err(FileProblem::Io(error)) => Err(unreadable(&error)),
            Err(FileProblem::NotAFile | FileProblem::Outside | FileProblem::NotUtf8) => Err(BadObject::NotAFile),
        }
    }

    /// Returns true if an object has its own name.
    pub(crate) fn has_object_file(&self, sha256: &Digest) -> Result<bool> {
        let (shard, file) = (name::shard(sha256), name::object_file(sha256));
        let Some(dir) = self.open_shard(&shard)? else { return Ok(false) };
        match self.disk().stat(&dir, &file) {
            Ok(stat) => Ok(stat.kind == FileKind::File),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => {
                let path = self.root().join(OBJECTS).join(shard).join(file);
                Err(self.failed("look at", &path, error))
            }
        }
    }

    /// Finds the name of an object that a cleanup has taken away.
    fn find_leaving(&self, sha256: &Digest) -> Result<Option<String>> {
        let shard = name::shard(sha256);
        let mut found = None;
        self.each_in_shard(&shard, |file| {
            if ObjectName::parse(&shard, file) == ObjectName::Leaving(*sha256) {
                found = Some(file.to_owned());
            }
        })?;
        Ok(found)
    }

    /// Takes the mark off artifacts whose content is not kept here: they came with a document from elsewhere.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn check_captured(&self, artifacts: &mut [Artifact]) -> Result<()> {
        for artifact in artifacts.iter_mut().filter(|artifact| artifact.captured) {
            artifact.captured = match artifact.object() {
                Some(object) => self.has_object(&object)?,
                None => false,
            };
        }
        Ok(())
    }

    /// Returns the path of an object, whether or not it exists.
    pub(crate) fn object_path(&self, sha256: &Digest) -> PathBuf {
        self.root().join(OBJECTS).join(name::shard(sha256)).join(name::object_file(sha256))
    }

    /// Returns the directory of all objects, whether or not it exists.
    #[must_use]
    pub fn objects_dir(&self) -> PathBuf {
        self.root().join(OBJECTS)
    }

    /// Counts the objects.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn object_totals(&self) -> Result<ObjectTotals> {
        let mut totals = ObjectTotals::default();
        for shard in self.shards()? {
            let Some(dir) = self.open_shard(&shard)? else { continue };
            for file in self.names(&dir, &self.objects_dir().join(&shard))? {
                if matches!(ObjectName::parse(&shard, &file), ObjectName::Object(_) | ObjectName::Leaving(_)) {
                    totals.count += 1;
                    totals.bytes += self.disk().stat(&dir, &file).map_or(0, |stat| stat.file_bytes());
                }
            }
        }
        Ok(totals)
    }

    /// Opens a directory of objects. Returns none if it is missing.
    pub(crate) fn open_shard(&self, shard: &str) -> Result<Option<D::Dir>> {
        self.open_below(&[self.name(), OBJECTS, shard])
    }

    /// Returns the directories of objects, in order.
    pub(crate) fn shards(&self) -> Result<Vec<String>> {
        let Some(objects) = self.open_below(&[self.name(), OBJECTS])? else { return Ok(Vec::new()) };
        let names = self.names(&objects, &self.root().join(OBJECTS))?;
        Ok(names.into_iter().filter(|name| name::is_shard(name)).collect())
    }

    /// Passes each name in a directory of objects to `visit`.
    pub(crate) fn each_in_shard(&self, shard: &str, mut visit: impl FnMut(&str)) -> Result<()> {
        let Some(dir) = self.open_shard(shard)? else { return Ok(()) };
        let listed = self.disk().list(&dir, &mut visit);
        listed.map_err(|error| self.failed("list", &self.root().join(OBJECTS).join(shard), error))
    }
}

/// Decompresses a content of at most `limit` bytes, and checks its digest.
fn decompress(sha256: &Digest, bytes: &[u8], limit: u64) -> Result<Vec<u8>, BadObject> {
    let mut gzip = GzDecoder::new(bytes);
    let mut content = Vec::new();
    let read = gzip.by_ref().take(limit.saturating_add(1)).read_to_end(&mut content);
    read.map_err(|error| BadObject::Compression(Cause::new(error)))?;
    if content.len() as u64 > limit {
        return Err(BadObject::TooLarge);
    }
    if Digest::of(&content) == *sha256 && gzip.get_ref().is_empty() { Ok(content) } else { Err(BadObject::Checksum) }
}
