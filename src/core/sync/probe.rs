//! Whether a place can be a remote: it must create an object only if its name is free, and show it at once.

use std::ops::ControlFlow;

use super::FORMAT_TEXT;
use super::error::{Error, Result};
use super::key::Key;
use super::remote::{Failure, Incomplete, NewObject, Remote};

const MAX_FORMAT_BYTES: u64 = 256;

/// The answers of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// It can be a remote, and is one already.
    Known,
    /// It can be a remote, and is one from now on.
    New,
}

/// Checks that a remote has a layout that this program knows. Returns false if it is empty.
///
/// # Errors
/// It has another layout, or cannot be read.
pub fn check_layout(remote: &mut dyn Remote) -> Result<bool> {
    match remote.get(&Key::format(), MAX_FORMAT_BYTES)? {
        None => Ok(false),
        Some(found) if found == FORMAT_TEXT.as_bytes() => Ok(true),
        Some(found) => {
            let found = String::from_utf8_lossy(&found);
            Err(Error::Layout { found: found.lines().next().unwrap_or_default().to_owned() })
        }
    }
}

/// Checks the layout of a remote, and says which one it has if it is empty.
///
/// # Errors
/// It has another layout, or cannot be read or written.
pub fn claim_layout(remote: &mut dyn Remote) -> Result<()> {
    if check_layout(remote)? {
        return Ok(());
    }
    match remote.create(&[layout()]) {
        Ok(()) | Err(Incomplete { failure: Failure::Exists, .. }) => check_layout(remote).map(drop),
        Err(Incomplete { failure, .. }) => Err(failure.into()),
    }
}

fn layout() -> NewObject {
    NewObject { key: Key::format(), bytes: FORMAT_TEXT.as_bytes().to_vec() }
}

/// Tries what every remote must do: create, refuse to create again, list and read what was created. The object that says
/// which layout the remote has is the one that is created, so that nothing is left behind.
///
/// # Errors
/// The remote cannot be reached, or does not do it.
pub fn probe(remote: &mut dyn Remote) -> Result<Probe> {
    let known = check_layout(remote)?;
    claim_layout(remote)?;
    let format = layout();
    let refuses = |why: &str| Error::Remote(Failure::Refused(why.to_owned()));
    for bytes in [b"another\n".to_vec(), Vec::new()] {
        match remote.create(&[NewObject { bytes, ..format.clone() }]) {
            Err(Incomplete { failure: Failure::Exists, .. }) => {}
            Err(Incomplete { failure, .. }) => return Err(failure.into()),
            Ok(()) => return Err(refuses("it replaces an object instead of refusing to create it again")),
        }
    }
    if !check_layout(remote)? {
        return Err(refuses("an object that was created cannot be read"));
    }
    let mut listed = false;
    remote.list("", &mut |object| {
        listed = object.key == format.key;
        if listed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if !listed {
        return Err(refuses("an object that was created is not listed"));
    }
    Ok(if known { Probe::Known } else { Probe::New })
}
