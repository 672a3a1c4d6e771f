//! Reports and their views: the answers of the commands, one file per command.
//!
//! A command builds a report and hands it to `Session::answer`. A report is a struct that implements
//! [`Report`](crate::cli::answer::Report):
//!
//! - With `--json` it is serialised; [`Report::FORMAT`](crate::cli::answer::Report::FORMAT) names its schema in `schemas/`.
//! - With `--quiet` only its essential value is written.
//! - Otherwise its view renders the text, line by line on a [`TextPage`](crate::cli::text_page::TextPage). The answer goes to stdout,
//!   failures and remarks go to stderr.
//!
//! Neither commands nor views write to the streams; only [`output`](crate::cli::output) does. Stored text is untrusted and goes
//! through [`escape`](crate::cli::escape) before it reaches a page.
//!
//! To add a view: add a file here with the report and its `impl Report`, add its schema to `schemas/`, and add a call
//! to `tests/it/cli/contracts/json.rs`. Parts that several views share are in `parts` and `failed`.

pub(crate) mod analytics;
pub(crate) mod archive;
pub(crate) mod brief;
pub(crate) mod cleanup;
pub(crate) mod context;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod export;
mod failed;
pub(crate) mod fork;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod merge;
mod parts;
pub(crate) mod pipeline;
pub(crate) mod policy;
pub(crate) mod remote;
pub(crate) mod remote_cleanup;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod rollback;
pub(crate) mod save;
pub(crate) mod schema;
pub(crate) mod setup;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod sync;
pub(crate) mod text;
pub(crate) mod ui;
pub(crate) mod verify;
