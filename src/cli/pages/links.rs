//! Where the links of a page lead.

use std::collections::BTreeSet;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Where the links of a page lead: to the server, or inside the file.
#[derive(Debug, Clone)]
pub(crate) enum Links {
    /// To the server.
    Server,
    /// To these parts of the file; what is not in it is not linked.
    File(BTreeSet<String>),
}

impl Links {
    /// True if the pages are served, so that lists have pages and forms.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Server)
    }

    pub(crate) fn workflows(&self) -> Option<String> {
        self.to("workflows", || "/".to_owned())
    }

    pub(crate) fn analytics(&self) -> Option<String> {
        self.to("analytics", || "/stats".to_owned())
    }

    pub(crate) fn workflow(&self, id: &str) -> Option<String> {
        self.to(&workflow_part(id), || format!("/w/{}", encoded(id)))
    }

    /// Returns the page of a handle, such as `042/7`.
    pub(crate) fn checkpoint(&self, handle: &str) -> Option<String> {
        let (id, number) = handle.rsplit_once('/')?;
        self.to(&checkpoint_part(handle), || format!("/w/{}/{}", encoded(id), encoded(number)))
    }

    pub(crate) fn diff(&self, from: &str, to: &str) -> Option<String> {
        self.to(&diff_part(from, to), || format!("/diff?from={}&to={}", encoded(from), encoded(to)))
    }

    fn to(&self, part: &str, address: impl FnOnce() -> String) -> Option<String> {
        match self {
            Self::Server => Some(address()),
            Self::File(parts) => parts.contains(part).then(|| format!("#{}", encoded(part))),
        }
    }
}

/// The name of the part of a file that has a workflow.
pub(crate) fn workflow_part(id: &str) -> String {
    format!("workflow-{id}")
}

/// The name of the part of a file that has a checkpoint.
pub(crate) fn checkpoint_part(handle: &str) -> String {
    format!("checkpoint-{}", handle.replace('/', "-"))
}

/// The name of the part of a file that has the difference of two checkpoints.
pub(crate) fn diff_part(from: &str, to: &str) -> String {
    format!("diff-{}-{}", from.replace('/', "-"), to.replace('/', "-"))
}

/// Returns a value for a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}
