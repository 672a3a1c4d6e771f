//! The object that says which layout a remote has: a place that has one is a remote.

use super::FORMAT_TEXT;
use super::error::{Error, Result};
use super::key::Key;
use super::remote::{Failure, NewObject};
use super::retry::{Creation, Patient};

const MAX_FORMAT_BYTES: u64 = 256;

/// Checks that a remote has a layout that this program knows. Returns false if it is empty.
///
/// # Errors
/// It has another layout, or cannot be read.
pub fn check_layout(remote: &mut Patient<'_>) -> Result<bool> {
    match remote.get(&Key::format(), MAX_FORMAT_BYTES)? {
        None => Ok(false),
        Some(found) if found == FORMAT_TEXT.as_bytes() => Ok(true),
        Some(found) => {
            let found = String::from_utf8_lossy(&found);
            Err(Error::Layout { found: found.lines().next().unwrap_or_default().to_owned() })
        }
    }
}

/// Checks the layout of a remote, and says which one it has if it is empty. Returns true if it was.
///
/// # Errors
/// It has another layout, cannot be read or written, or does not show what was written.
pub fn claim_layout(remote: &mut Patient<'_>) -> Result<bool> {
    if check_layout(remote)? {
        return Ok(false);
    }
    let format = NewObject { key: Key::format(), bytes: FORMAT_TEXT.as_bytes().to_vec() };
    let is_new = remote.create(&[format])? == Creation::Done;
    if check_layout(remote)? {
        Ok(is_new)
    } else {
        Err(Failure::Refused("an object that was created cannot be read".to_owned()).into())
    }
}
