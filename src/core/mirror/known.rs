//! Content that the store has, although no manifest lists it: files that were imported.

use std::collections::HashSet;

use serde_json::Value;

use crate::core::dialects::{Dialect, Document};
use crate::core::export::{ExportFile, FileContent, files};
use crate::core::selector::Handle;
use crate::core::store::{ImportedFiles, Store};
use crate::core::workflow_id::WorkflowId;

/// The files that a workflow was imported from, read when they are needed first.
pub(super) struct KnownImports<'s> {
    store: &'s Store,
    dialect: Dialect,
    workflow: WorkflowId,
    /// The digests of the files, and the newest import in its dialect.
    imported: Option<(ImportedFiles, Vec<ExportFile>)>,
}

impl<'s> KnownImports<'s> {
    pub(super) fn new(store: &'s Store, dialect: Dialect, workflow: &WorkflowId) -> Self {
        Self { store, dialect, workflow: workflow.clone(), imported: None }
    }

    /// True if the file was imported, or belongs to the file that was imported last.
    pub(super) fn contains(&mut self, path: &str, content: &FileContent) -> bool {
        let (store, dialect, workflow) = (self.store, self.dialect, &self.workflow);
        let (imported, newest) = self.imported.get_or_insert_with(|| load(store, dialect, workflow));
        imported.find(&content.digest()).is_some()
            || newest.iter().any(|file| file.path == path && file.content.is_same(content))
    }
}

/// Reads what was imported. A store that cannot be read has no known files.
fn load(store: &Store, dialect: Dialect, workflow: &WorkflowId) -> (ImportedFiles, Vec<ExportFile>) {
    let mut imported = ImportedFiles::default();
    let head = store.head_number(workflow).ok().flatten().unwrap_or_default();
    let _ = store.update_imported(workflow, head, &mut imported);
    let newest = imported.newest().and_then(|seq| store.load_content(Handle::new(workflow, seq)).ok());
    let newest = newest.and_then(|newest| files(dialect, &[*newest], store.project()).ok());
    (imported, newest.unwrap_or_default().files)
}

/// True for an index or a link that names nothing but checkpoints of the projection: both are derived from the
/// files beside them.
pub(super) fn is_derived(path: &str, content: &FileContent, projection: &[ExportFile]) -> bool {
    let Some((dir, name)) = path.rsplit_once('/') else { return false };
    let names: HashSet<&str> =
        projection.iter().filter_map(|file| file.path.strip_prefix(dir)?.strip_prefix('/')).collect();
    match content {
        FileContent::Link(to) => names.contains(to.as_str()),
        FileContent::Bytes(bytes) if name == "index.yaml" => {
            let Ok(Document { value: Value::Object(index), .. }) = Document::parse(bytes) else {
                return false;
            };
            let is_listed = |entry: &Value| {
                let id = entry.get("checkpoint_id").and_then(Value::as_str);
                id.is_some_and(|id| names.contains(format!("{id}.yaml").as_str()))
            };
            index.iter().all(|(key, value)| match key.as_str() {
                "issue_number" | "latest" | "total_checkpoints" => true,
                "checkpoints" => value.as_array().is_some_and(|entries| entries.iter().all(is_listed)),
                _ => false,
            })
        }
        FileContent::Bytes(_) => false,
    }
}
