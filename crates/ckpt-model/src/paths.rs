//! Paths as text, without a look at the disk.

use std::path::{Component, Path};

/// Returns true if a relative path stays in its directory, unless a link leads out of it.
#[must_use]
pub fn is_inside_project(relative: &str) -> bool {
    let descends = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !relative.starts_with("~/") && Path::new(relative).components().all(descends)
}
