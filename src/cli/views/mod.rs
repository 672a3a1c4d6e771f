//! How answers look, one file each.

pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod save;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod text;
