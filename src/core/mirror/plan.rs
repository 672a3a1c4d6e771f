//! Planning an update, without I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::export::{ExportFile, FileContent, Present};
use crate::core::store::{MirrorManifest, MirroredFile};

/// The effects of an update.
#[derive(Debug, Default)]
pub(super) struct MirrorPlan {
    /// The files to write; each replaces content that is known, or nothing.
    pub(super) write: Vec<ExportFile>,
    /// The files to remove.
    pub(super) remove: Vec<String>,
    /// Files of others in the place of one to write, that the user was not told about.
    pub(super) blocked: Vec<String>,
    /// Files that were written and are not needed any more, but were changed by others.
    pub(super) released: Vec<String>,
    /// The files after the update, and those of others that the user knows about.
    pub(super) files: BTreeMap<String, MirroredFile>,
    pub(super) named: BTreeSet<String>,
}

/// Plans an update. The files that are `kept` are not looked at; `present` returns the state of any other path, and
/// `is_known` is true for content that the store has.
pub(super) fn plan(
    projection: Vec<ExportFile>,
    kept: &[String],
    manifest: &MirrorManifest,
    present: impl Fn(&str) -> Present,
    mut is_known: impl FnMut(&str, &FileContent) -> bool,
) -> MirrorPlan {
    let is_recorded = |path: &str, content: &FileContent| {
        manifest.files.get(path).is_some_and(|file| file.sha256.contains(&content.digest()))
    };
    let mut plan = MirrorPlan::default();
    let kept = kept.iter().filter_map(|path| manifest.files.get_key_value(path));
    plan.files.extend(kept.map(|(path, file)| (path.clone(), file.clone())));
    for file in projection {
        let path = file.path.clone();
        let mut record = MirroredFile {
            source: file.source.clone(),
            sha256: vec![file.content.digest()],
            memo: file.memo.clone(),
        };
        match present(&path) {
            Present::Content(content) if content.is_same(&file.content) => {
                record.sha256 = vec![content.digest()];
            }
            Present::Content(content) if is_recorded(&path, &content) || is_known(&path, &content) => {
                record.sha256.push(content.digest());
                plan.write.push(file);
            }
            Present::Missing => plan.write.push(file),
            Present::Content(_) | Present::Other => {
                if !manifest.named.contains(&path) {
                    plan.blocked.push(path.clone());
                }
                plan.named.insert(path.clone());
                // What its system has changed is merged with what it was made from.
                match manifest.files.get(&path) {
                    Some(before) => record = before.clone(),
                    None => continue,
                }
            }
        }
        plan.files.insert(path, record);
    }
    for path in manifest.files.keys().filter(|path| !plan.files.contains_key(*path)) {
        match present(path) {
            Present::Content(content) if is_recorded(path, &content) => plan.remove.push(path.clone()),
            Present::Missing => {}
            Present::Content(_) | Present::Other => {
                if !manifest.named.contains(path) {
                    plan.released.push(path.clone());
                }
            }
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::digest::Digest;

    fn file(path: &str, text: &str) -> ExportFile {
        let content = FileContent::Bytes(text.into());
        ExportFile { path: path.to_owned(), content, source: "042/7".parse().unwrap(), memo: None }
    }

    /// Plans with `present` on the disk, where `recorded` was written before.
    fn planned(projection: &[(&str, &str)], recorded: &[(&str, &str)], disk: &[(&str, &str)]) -> MirrorPlan {
        let files = recorded.iter().map(|(path, text)| {
            let sha256 = vec![Digest::of(text.as_bytes())];
            ((*path).to_owned(), MirroredFile { source: "042/6".parse().unwrap(), sha256, memo: None })
        });
        let manifest = MirrorManifest { files: files.collect(), ..MirrorManifest::default() };
        let present = |path: &str| match disk.iter().find(|(name, _)| *name == path) {
            Some((_, text)) => Present::Content(FileContent::Bytes((*text).into())),
            None => Present::Missing,
        };
        let projection = projection.iter().map(|(path, text)| file(path, text)).collect();
        plan(projection, &[], &manifest, present, |_, content| {
            *content == FileContent::Bytes(b"imported".into())
        })
    }

    #[test]
    fn only_known_content_is_replaced_or_removed() {
        let new = [("a", "new")];
        let wrote = |plan: &MirrorPlan| plan.write.len() == 1 && plan.blocked.is_empty();
        assert!(wrote(&planned(&new, &[], &[])));
        assert!(wrote(&planned(&new, &[("a", "old")], &[("a", "old")])));
        assert!(wrote(&planned(&new, &[], &[("a", "imported")])));
        assert!(wrote(&planned(&new, &[("a", "old")], &[])), "a file that was removed is written again");
        for recorded in [&[][..], &[("a", "old")]] {
            let plan = planned(&new, recorded, &[("a", "theirs")]);
            assert!(plan.write.is_empty() && plan.remove.is_empty());
            assert_eq!(plan.blocked, ["a"]);
        }
        assert_eq!(planned(&[], &[("a", "old")], &[("a", "old")]).remove, ["a"]);
        let plan = planned(&[], &[("a", "old")], &[("a", "theirs")]);
        assert!(plan.remove.is_empty() && plan.files.is_empty());
        assert_eq!(plan.released, ["a"]);
    }

    #[test]
    fn what_is_written_and_what_it_replaces_are_both_recorded_before() {
        let plan = planned(&[("a", "new")], &[("a", "old")], &[("a", "old")]);
        assert_eq!(plan.files["a"].sha256, [Digest::of(b"new"), Digest::of(b"old")]);
    }

    #[test]
    fn an_equal_document_is_taken_as_it_is() {
        let plan = planned(&[("a", "{\"x\": 1}")], &[], &[("a", "{ \"x\":1 }")]);
        assert!(plan.write.is_empty());
        assert_eq!(plan.files["a"].sha256, [Digest::of(b"{ \"x\":1 }")]);
    }
}
