//! `ckpt save`, flag by flag.

mod artifacts;
mod auto_cleanup;
mod conditions;
mod document;
mod fresh;
mod git;
mod last_number;
mod lost_content;
mod merges;
mod phase_names;
mod phases;
mod pipelines;
mod redaction;
mod tasks;
mod texts;
mod triggers;
mod watched;
mod writer;
