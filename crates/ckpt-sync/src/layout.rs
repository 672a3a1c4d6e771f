//! The object that says which layout a remote has: a place that has one is a remote.

use super::error::{Error, Result};
use super::key::Key;
use super::remote::{Failure, NewObject};
use super::retry::{Creation, Retrying};

/// The content of the object that says which layout a remote has.
pub(super) const FORMAT_TEXT: &str = "ckpt remote 1\n";
const MAX_FORMAT_BYTES: u64 = 256;

impl Retrying<'_> {
    /// Checks that the remote has a layout that this program knows. Returns false if it is empty.
    ///
    /// # Errors
    /// It has another layout, or cannot be read.
    pub fn check_layout(&mut self) -> Result<bool> {
        match self.get(&Key::format(), MAX_FORMAT_BYTES)? {
            None => Ok(false),
            Some(found) if found == FORMAT_TEXT.as_bytes() => Ok(true),
            Some(found) => {
                let found = String::from_utf8_lossy(&found);
                Err(Error::Layout { found: found.lines().next().unwrap_or_default().to_owned() })
            }
        }
    }

    /// Checks the layout of the remote, and writes it if the remote is empty. Returns true if it was.
    ///
    /// # Errors
    /// It has another layout, cannot be read or written, or does not show what was written.
    pub fn claim_layout(&mut self) -> Result<bool> {
        if self.check_layout()? {
            return Ok(false);
        }
        let format = NewObject { key: Key::format(), bytes: FORMAT_TEXT.as_bytes().to_vec() };
        let is_new = self.create(&[format])? == Creation::Done;
        if self.check_layout()? {
            Ok(is_new)
        } else {
            Err(Failure::Refused("an object that was created cannot be read".to_owned()).into())
        }
    }
}
