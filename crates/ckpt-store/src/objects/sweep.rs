//! Removing the objects that nothing refers to. The module documentation has the argument why no save loses one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use super::name::{self, ObjectName};
use crate::disk::{Disk, FileKind};
use crate::error::Result;
use crate::layout::OBJECTS;
use crate::open::Store;
use ckpt_model::digest::Digest;
use ckpt_model::retention::UnreferredObject;
use ckpt_model::time::Timestamp;

impl<D: Disk> Store<D> {
    /// Returns the objects that nothing refers to and whose modification time `is_old`, and those that a cleanup which was
    /// killed has left.
    ///
    /// # Errors
    /// The store cannot be read as a whole, so that it is not known what is referred to.
    pub fn unreferred_objects(&self, is_old: impl Fn(Timestamp) -> bool) -> Result<Vec<UnreferredObject>> {
        let mut old = BTreeMap::new();
        for shard in self.shards()? {
            let Some(dir) = self.open_shard(&shard)? else { continue };
            let path = self.objects_dir().join(&shard);
            for file in self.names(&dir, &path)? {
                let stat = match self.disk().stat(&dir, &file) {
                    Ok(stat) if stat.kind == FileKind::File => stat,
                    Ok(_) => continue,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(self.failed("look at", &path.join(&file), error)),
                };
                match ObjectName::parse(&shard, &file) {
                    ObjectName::Leaving(digest) => drop(old.insert(digest, stat.file_bytes())),
                    ObjectName::Object(digest) if is_old(Timestamp::from(stat.modified)) => {
                        old.insert(digest, stat.file_bytes());
                    }
                    _ => {}
                }
            }
        }
        let mut unreferred: BTreeSet<Digest> = old.keys().copied().collect();
        self.drop_referred(&mut unreferred)?;
        let leaving = old.into_iter().filter(|(sha256, _)| unreferred.contains(sha256));
        Ok(leaving.map(|(sha256, bytes)| UnreferredObject { sha256, bytes }).collect())
    }

    /// Removes objects, unless something refers to them by now. Returns those that it removed. `id` tells this call from
    /// all others.
    ///
    /// # Errors
    /// The disk refuses. What was not removed is still found by readers.
    pub fn sweep_objects(&self, planned: &[UnreferredObject], id: &str) -> Result<Vec<UnreferredObject>> {
        let mut removed = Vec::new();
        if planned.is_empty() {
            return Ok(removed);
        }
        let mut unreferred = BTreeSet::new();
        for object in planned {
            if self.take_name(&object.sha256, id)? {
                unreferred.insert(object.sha256);
            }
        }
        let taken = unreferred.clone();
        let looked = self.drop_referred(&mut unreferred);
        if looked.is_err() {
            unreferred.clear();
        }
        for sha256 in taken.difference(&unreferred) {
            self.give_name_back(sha256, id)?;
        }
        looked?;
        for object in planned.iter().filter(|object| unreferred.contains(&object.sha256)) {
            if let Some((dir, path)) = self.shard_of(&object.sha256)? {
                let leaving = name::leaving_file(&object.sha256, id);
                self.remove(&dir, &leaving, &path.join(&leaving))?;
                removed.push(object.clone());
            }
        }
        if let Some(objects) = self.open_below(&[self.name(), OBJECTS])? {
            self.note_objects_size(&objects, self.object_totals()?.bytes, id);
        }
        Ok(removed)
    }

    /// Takes the name of an object away, and gives it one that only this cleanup uses. Returns false if there is none.
    ///
    /// This is one step for each name: between two, a save could publish the object again, and what it published would be
    /// taken away without being kept.
    fn take_name(&self, sha256: &Digest, id: &str) -> Result<bool> {
        let Some((dir, path)) = self.shard_of(sha256)? else { return Ok(false) };
        let own = name::leaving_file(sha256, id);
        let mut names = vec![name::object_file(sha256)];
        self.each_in_shard(&name::shard(sha256), |file| {
            if ObjectName::parse(&name::shard(sha256), file) == ObjectName::Leaving(*sha256) {
                names.push(file.to_owned());
            }
        })?;
        names.retain(|file| *file != own);
        let mut found = false;
        for file in &names {
            match self.disk().replace(&dir, file, &own) {
                Ok(()) => found = true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.not_written(&path.join(&own), error)),
            }
        }
        Ok(found)
    }

    /// Gives an object its name back.
    fn give_name_back(&self, sha256: &Digest, id: &str) -> Result<()> {
        let Some((dir, path)) = self.shard_of(sha256)? else { return Ok(()) };
        let (own, file) = (name::leaving_file(sha256, id), name::object_file(sha256));
        match self.disk().replace(&dir, &own, &file) {
            // Another cleanup has taken it over, and looks for references too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            given_back => given_back.map_err(|error| self.not_written(&path.join(&file), error)),
        }
    }

    fn shard_of(&self, sha256: &Digest) -> Result<Option<(D::Dir, PathBuf)>> {
        let shard = name::shard(sha256);
        let path = self.root().join(OBJECTS).join(&shard);
        Ok(self.open_shard(&shard)?.map(|dir| (dir, path)))
    }
}
