//! Checking the archive of a workflow: each bundle is read to its end.

use super::finding::{CHECK_DISK, REPAIR, Walk};
use super::workflow::{CheckpointLinks, Inspection};
use crate::archive::Archive;
use crate::bundle::{BadBundle, Bundle, BundleName};
use crate::deletion;
use crate::disk::{Disk, FileKind, Stat};
use crate::error::{Error, Result};
use crate::layout;
use crate::open::Store;
use crate::workflow::Stored;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::workflow_id::WorkflowId;

/// A file of a bundle: its number, its facts if it can be decoded, and what is wrong with it.
type ArchivedFile = (u64, Option<CheckpointLinks>, Option<String>);

impl<D: Disk> Store<D> {
    pub(super) fn inspect_archive(
        &self,
        id: &WorkflowId,
        walk: &mut Walk<'_>,
        inspection: &mut Inspection,
    ) -> Result<()> {
        match self.archive_of(id) {
            Ok(archive) if archive.dir().is_some() => archive.inspect(walk, inspection),
            // An entry of the wrong type in the place of the directory has been reported already.
            Ok(_) | Err(Error::NotAStore { .. }) => Ok(()),
            Err(error) => {
                inspection.is_partial = true;
                let path = self.archive_dir(id);
                walk.add(Severity::Blocker, Code::Unreadable, path, error.to_string(), Some(CHECK_DISK));
                Ok(())
            }
        }
    }
}

impl<D: Disk> Archive<'_, D> {
    fn inspect(&self, walk: &mut Walk<'_>, inspection: &mut Inspection) -> Result<()> {
        self.each_bundle(|name, bundle| {
            if let Ok(Stat { kind: FileKind::File, mode, .. }) = self.stat(&name.to_string()) {
                walk.check_mode(self.bundle_path(name), None, mode, 0o400);
            }
            self.inspect_bundle(name, bundle, walk, inspection);
            Ok(())
        })?;
        // After the bundles: one that expires meanwhile has a deletion record by then.
        let names = self.names()?;
        if names.is_empty() {
            walk.add(Severity::Info, Code::EmptyDirectory, self.path(), "holds no bundle", None);
        }
        for name in names.iter().filter(|name| BundleName::parse(name).is_none()) {
            let path = self.path().join(name);
            if layout::is_staged(name) {
                walk.temporary(path);
            } else if let Some(range) = deletion::parse(name) {
                inspection.deleted.push(range);
            } else if walk.unknown(path, self.stat(name).ok(), "is no bundle") {
                inspection.archive_strays.push(name.clone());
            }
        }
        Ok(())
    }

    fn inspect_bundle(
        &self,
        name: &BundleName,
        bundle: Result<Bundle<'_>, BadBundle>,
        walk: &mut Walk<'_>,
        inspection: &mut Inspection,
    ) {
        walk.checked.bundles += 1;
        let path = self.bundle_path(name);
        let files = match bundle.and_then(|bundle| self.inspect_files(name, bundle, walk)) {
            Ok(files) => files,
            Err(why) => {
                let readable = !matches!(why, BadBundle::Unreadable(_));
                let help = if readable { REPAIR } else { CHECK_DISK };
                walk.add(Severity::Blocker, Code::DamagedBundle, path, why.to_string(), Some(help));
                if readable {
                    inspection.bad_bundles.push(name.clone());
                } else {
                    inspection.is_partial = true;
                }
                return;
            }
        };
        for (seq, facts, damage) in files {
            // It was archived as it was, and no better copy is known; the rest of the history is undamaged.
            if let Some(damage) = damage {
                let handle = self.handle(seq);
                let message = format!("holds {handle}, which {damage}");
                walk.about(Severity::Advice, Code::ArchivedDamage, (&handle, path.clone()), message, None);
            }
            let held = inspection.held.entry(seq).or_default();
            *held = held.take().or(facts);
        }
    }

    /// Reads every file of a bundle.
    fn inspect_files(
        &self,
        name: &BundleName,
        mut bundle: Bundle<'_>,
        walk: &mut Walk<'_>,
    ) -> Result<Vec<ArchivedFile>, BadBundle> {
        let mut files = Vec::new();
        while let Some((entry, bytes)) = bundle.next_file()? {
            walk.count(entry.seq);
            let handle = self.handle(entry.seq);
            files.push(match Stored::decode(&handle, bytes) {
                Ok(stored) => {
                    walk.look_for_secrets(&handle, &self.bundle_path(name), &stored.bytes);
                    walk.note_objects(&stored.checkpoint);
                    (entry.seq, Some(CheckpointLinks::of(&stored.checkpoint)), walk.violation(&stored.bytes))
                }
                Err(why) => (entry.seq, None, Some(format!("was damaged when it was archived: it {why}"))),
            });
        }
        Ok(files)
    }
}
