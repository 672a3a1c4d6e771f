//! Checking the objects: each is read to its end, and whatever is referred to must be there.

use std::collections::BTreeSet;

use super::finding::{CHECK_DISK, REPAIR, StoredSecret, Walk, words};
use crate::disk::{Disk, FileKind};
use crate::error::Result;
use crate::layout::{self, OBJECTS};
use crate::objects::{MAX_OBJECT_BYTES, ObjectName, SEEN, SIZE, is_shard};
use crate::open::Store;
use ckpt_model::digest::Digest;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::redact::find_secret;

const RECORD: &str = "`ckpt verify --repair` records that; a save with `--capture` stores the content again";

/// The state of the objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectInspection {
    /// Files that cannot be used, or do not belong there and could be followed: directory and name.
    pub(crate) bad: Vec<(String, String)>,
    /// Contents that are referred to and are nowhere.
    pub(crate) missing: Vec<Digest>,
    /// Contents that are recorded as lost.
    lost: BTreeSet<Digest>,
}

impl<D: Disk> Store<D> {
    /// Checks the objects: all of them, or only those that the checked workflows refer to. It comes after the workflows, so
    /// that whatever they refer to was stored before.
    pub(crate) fn inspect_objects(&self, all: bool, walk: &mut Walk<'_>) -> Result<ObjectInspection> {
        let mut inspection = ObjectInspection::default();
        let path = self.root().join(OBJECTS);
        // Something of the wrong type in the place of the directory has been reported already.
        let Ok(Some(objects)) = self.open_below(&[self.name(), OBJECTS]) else {
            self.inspect_referred(walk, &mut inspection);
            return Ok(inspection);
        };
        for name in self.names(&objects, &path)? {
            if is_shard(&name) {
                self.inspect_shard(&name, all, walk, &mut inspection)?;
            } else if all && layout::is_staged(&name) {
                walk.temporary(path.join(&name));
            } else if all && name != SIZE && name != SEEN {
                walk.unknown(path.join(&name), None, "is no directory of objects");
            }
        }
        self.inspect_referred(walk, &mut inspection);
        Ok(inspection)
    }

    fn inspect_shard(
        &self,
        shard: &str,
        all: bool,
        walk: &mut Walk<'_>,
        inspection: &mut ObjectInspection,
    ) -> Result<()> {
        let path = self.root().join(OBJECTS).join(shard);
        let Ok(Some(dir)) = self.open_shard(shard) else {
            if all {
                walk.add(Severity::Blocker, Code::Unreadable, path, "cannot be opened", Some(CHECK_DISK));
            }
            return Ok(());
        };
        for name in self.names(&dir, &path)? {
            let here = path.join(&name);
            let stat = self.disk().stat(&dir, &name).ok();
            match ObjectName::parse(shard, &name) {
                ObjectName::Object(sha256) if all || walk.referred.contains_key(&sha256) => {
                    if let Some(stat) = stat.filter(|stat| stat.kind == FileKind::File) {
                        walk.check_mode(here, None, stat.mode, 0o400);
                    }
                    self.inspect_object(&sha256, (shard, name), walk, inspection);
                }
                ObjectName::Lost(sha256) => drop(inspection.lost.insert(sha256)),
                ObjectName::Leaving(_) if all => {
                    let message = "was being removed by a cleanup that was stopped, or is at work";
                    walk.add(Severity::Info, Code::Leftover, here, message, None);
                }
                ObjectName::Staged if all => walk.temporary(here),
                ObjectName::Unknown if all && walk.unknown(here, stat, "is no object") => {
                    inspection.bad.push((shard.to_owned(), name));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn inspect_object(
        &self,
        sha256: &Digest,
        (shard, name): (&str, String),
        walk: &mut Walk<'_>,
        inspection: &mut ObjectInspection,
    ) {
        let path = self.root().join(OBJECTS).join(shard).join(&name);
        match self.read_object_file(sha256, &name, MAX_OBJECT_BYTES) {
            Ok(Some(content)) => {
                walk.count_object();
                let rule = std::str::from_utf8(&content).ok().and_then(find_secret);
                if let (Some(secrets), Some(rule), Some(handle)) = (&mut walk.secrets, rule, walk.referred.get(sha256))
                {
                    let (handle, path) = (handle.clone(), path.display().to_string());
                    secrets.push(StoredSecret { handle, path, pointer: String::new(), rule });
                }
            }
            // Removed after it was listed.
            Ok(None) => {}
            Err(why) => {
                walk.count_object();
                let help = if why.is_damaged() { REPAIR } else { CHECK_DISK };
                let message = match self.disk_kind(shard, &name) {
                    Some(kind) if kind != FileKind::File => format!("is {}, not a file", words(kind)),
                    _ => why.to_string(),
                };
                walk.add(Severity::Blocker, Code::ObjectDamaged, path, message, Some(help));
                if why.is_damaged() {
                    inspection.bad.push((shard.to_owned(), name));
                }
            }
        }
    }

    fn disk_kind(&self, shard: &str, name: &str) -> Option<FileKind> {
        let dir = self.open_shard(shard).ok()??;
        self.disk().stat(&dir, name).ok().map(|stat| stat.kind)
    }

    /// Reports the contents that a checkpoint refers to and that are nowhere.
    fn inspect_referred(&self, walk: &mut Walk<'_>, inspection: &mut ObjectInspection) {
        for (sha256, handle) in walk.referred.clone() {
            // A checkpoint that was deleted meanwhile refers to nothing.
            if self.has_object(&sha256).unwrap_or(true) || self.load(&handle).is_err() {
                continue;
            }
            let here = (&handle, self.object_path(&sha256));
            if inspection.lost.contains(&sha256) {
                let message = format!("is lost, and {handle} refers to it");
                walk.about(Severity::Info, Code::ObjectMissing, here, message, None);
            } else {
                let message = format!("is missing, and {handle} refers to it");
                walk.about(Severity::Blocker, Code::ObjectMissing, here, message, Some(RECORD));
                inspection.missing.push(sha256);
            }
        }
    }
}
