//! Adding the settings of another system to the settings of a store.

use std::path::Path;

use super::error::{ImportError, SourceError};
use crate::dialects::{Document, MAX_SOURCE_BYTES};
use crate::foreign_settings::{ForeignSettings, MergedSettings};
use ckpt_store::files::{FileProblem, read_regular};
use ckpt_store::settings_file::ConfigError;
use ckpt_store::{Disk, Store};

/// Adds the settings in a file to the settings of a store; what the store has set stays. Writes nothing in a `dry_run`.
///
/// # Errors
/// The file has no such settings, or the settings of the store cannot be read or written.
pub fn import_settings<D: Disk>(store: &Store<D>, path: &Path, dry_run: bool) -> Result<MergedSettings, ImportError> {
    let settings = read(path).map_err(|error| error.of(&path.display().to_string()))?;
    merge_settings(store, &settings, dry_run)
}

/// Adds settings to the settings of a store; what the store has set stays. Writes nothing in a `dry_run`.
///
/// # Errors
/// The settings of the store cannot be read or written.
pub fn merge_settings<D: Disk>(
    store: &Store<D>,
    settings: &ForeignSettings,
    dry_run: bool,
) -> Result<MergedSettings, ImportError> {
    let config = store.config_file();
    let text = match read_regular(&config, MAX_SOURCE_BYTES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(FileProblem::Missing) => String::new(),
        Err(problem) => return Err(ConfigError::File { path: config, problem }.into()),
    };
    let merged = settings.merge(&text).map_err(|message| ConfigError::Invalid { path: config, message })?;
    if !merged.added.is_empty() && !dry_run {
        store.create()?;
        store.replace_config(&merged.text)?;
    }
    Ok(merged)
}

fn read(path: &Path) -> Result<ForeignSettings, SourceError> {
    let bytes = read_regular(path, MAX_SOURCE_BYTES)?;
    let document = Document::parse(&bytes).map_err(|_| SourceError::NotACheckpoint)?;
    ForeignSettings::read(&document.value).ok_or(SourceError::NotACheckpoint)
}
