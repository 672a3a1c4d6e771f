//! How answers look, one file each.

pub(crate) mod archive;
pub(crate) mod brief;
pub(crate) mod cleanup;
pub(crate) mod context;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod failed;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod migrate;
mod parts;
pub(crate) mod pipeline;
pub(crate) mod policy;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod rollback;
pub(crate) mod save;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod text;
pub(crate) mod verify;
