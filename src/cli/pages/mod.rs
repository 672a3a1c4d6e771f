//! The pages of `report` and `ui`: the reports that commands answer with, as HTML.
//!
//! A page is a pure function from reports to markup. Both ways share them: `report` puts pages into one file, with links
//! inside that file, and `ui` serves them one by one. Nothing here reads the store, the clock or a request.
//!
//! # Safety
//!
//! Every value of a report is untrusted. [`maud`] escapes it wherever it stands: in text, in attributes and in SVG, which
//! is markup like the rest. There is no script or style with stored text in it, and no `PreEscaped` except for the two files
//! of this directory. Stored text becomes a link only if it is an `https://` address as a whole. The policy in
//! [`layout`] allows only this style and this script, by their hashes, and no connection except to the server itself.
//!
//! - `parts`: times, statuses, tables, commands to copy. `tree`: JSON as a foldable tree.
//! - `timeline`, `chart`: drawings, as SVG.
//! - `workflows`, `workflow`, `checkpoint`, `diff`, `analytics`, `action`, `failure`: one page each.
//! - `layout`: the document around a page. `file`: many pages in one document.

pub(crate) mod action;
pub(crate) mod analytics;
mod chart;
pub(crate) mod checkpoint;
pub(crate) mod diff;
pub(crate) mod failure;
pub(crate) mod file;
pub(crate) mod layout;
pub(crate) mod links;
mod parts;
#[cfg(test)]
mod tests;
mod timeline;
mod tree;
pub(crate) mod workflow;
pub(crate) mod workflows;

pub(crate) use links::Links;

use ckpt_model::Timestamp;

/// The inputs of a page besides its reports.
#[derive(Debug, Clone)]
pub(crate) struct View {
    /// The time that ages are relative to.
    pub(crate) now: Timestamp,
    /// Where links lead.
    pub(crate) links: Links,
    /// The token of the actions; none if there are none.
    pub(crate) token: Option<String>,
}
