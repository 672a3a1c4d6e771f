//! The bundles of a workflow: each is read to its end.

use super::finding::{CHECK_DISK, LOOK, REPAIR, Walk};
use super::survey::{leftover, words};
use super::workflow::{Facts, Inspection};
use crate::core::finding::{Code, Severity};
use crate::core::selector::Handle;
use crate::core::store::bundle::{BadBundle, BundleName};
use crate::core::store::bundles::Visited;
use crate::core::store::disk::{Disk, Kind, Stat};
use crate::core::store::error::{Error, Result};
use crate::core::store::gone;
use crate::core::store::layout;
use crate::core::store::open::Store;
use crate::core::store::read::Stored;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    pub(super) fn inspect_bundles(
        &self,
        workflow: &WorkflowId,
        walk: &mut Walk<'_>,
        inspection: &mut Inspection,
    ) -> Result<()> {
        let root = self.archive_dir(workflow);
        let dir = match self.open_archive(workflow) {
            Ok(Some(dir)) => dir,
            // Something else in the place of the directory has been found already.
            Ok(None) | Err(Error::NotAStore { .. }) => return Ok(()),
            Err(error) => {
                inspection.is_partial = true;
                walk.add(Severity::Blocker, Code::Unreadable, root, error.to_string(), Some(CHECK_DISK));
                return Ok(());
            }
        };
        let names = self.names(&dir, &root)?;
        if names.is_empty() {
            walk.add(Severity::Info, Code::EmptyDirectory, root.clone(), "holds no bundle", None);
        }
        self.each_bundle(workflow, &|_| true, &mut |name| {
            if let Ok(Stat { kind: Kind::File, mode, .. }) = self.disk().stat(&dir, &name.to_string())
                && mode != 0o400
            {
                let message = format!("has mode {mode:o}, not 400");
                walk.add(Severity::Info, Code::Mode, self.bundle_path(workflow, name), message, None);
            }
            self.inspect_bundle(workflow, name, walk, inspection)
        })?;
        for name in names.iter().filter(|name| BundleName::parse(name).is_none()) {
            let path = root.join(name);
            match self.disk().stat(&dir, name) {
                Ok(Stat { kind: kind @ (Kind::Link | Kind::Special), .. }) => {
                    walk.add(
                        Severity::Advice,
                        Code::Foreign,
                        path,
                        format!("is {}", words(kind)),
                        Some(REPAIR),
                    );
                    inspection.archive_strays.push(name.clone());
                }
                _ if layout::is_staged(name) => leftover(walk, path),
                _ => match gone::parse(name) {
                    Some(range) => inspection.gone.push(range),
                    None => walk.add(Severity::Advice, Code::Foreign, path, "is no bundle", Some(LOOK)),
                },
            }
        }
        Ok(())
    }

    fn inspect_bundle(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        walk: &mut Walk<'_>,
        inspection: &mut Inspection,
    ) -> Result<Visited> {
        let path = self.bundle_path(workflow, name);
        let read = self.with_bundle(workflow, name, &mut |mut bundle| {
            let mut inside = Vec::new();
            while let Some((entry, bytes)) = bundle.next_file()? {
                walk.count(entry.seq);
                let handle = Handle::new(workflow, entry.seq);
                let decoded = Stored::decode(&handle, bytes);
                if let Ok(stored) = &decoded {
                    walk.look_for_secrets(&handle, &path, &stored.bytes);
                }
                let violation = decoded.as_ref().ok().and_then(|stored| walk.violation(&stored.bytes));
                inside.push((handle, decoded.map(|stored| Facts::of(&stored.checkpoint)), violation));
            }
            Ok(inside)
        });
        let inside = match read {
            Ok(Some(inside)) => inside,
            Ok(None) => return Ok(Visited::Vanished),
            Err(Error::DamagedBundle { why, .. }) => {
                let readable = !matches!(why, BadBundle::Unreadable(_));
                let help = if readable { REPAIR } else { CHECK_DISK };
                walk.add(Severity::Blocker, Code::DamagedBundle, path, why.to_string(), Some(help));
                if readable {
                    inspection.bad_bundles.push(name.clone());
                } else {
                    inspection.is_partial = true;
                }
                walk.checked.bundles += 1;
                return Ok(Visited::Read);
            }
            Err(error) => return Err(error),
        };
        walk.checked.bundles += 1;
        for (handle, facts, violation) in inside {
            // It was archived as it was, and nothing better is known; the rest of the history is whole.
            let complaint = match &facts {
                Err(why) => Some(format!("holds {handle}, which was damaged when it was archived: it {why}")),
                Ok(_) => violation.map(|violation| format!("holds {handle}, which {violation}")),
            };
            if let Some(message) = complaint {
                walk.about(Severity::Advice, Code::ArchivedDamage, (&handle, path.clone()), message, None);
            }
            let held = inspection.held.entry(handle.seq).or_default();
            *held = held.take().or(facts.ok());
        }
        Ok(Visited::Read)
    }
}
