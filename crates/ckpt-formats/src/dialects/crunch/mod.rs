//! The `crunch` dialect: a YAML file per checkpoint of an issue (JSON in older versions), and an index of them.
//!
//! A checkpoint has the current phase of an issue, and nothing about the phases before it; their order is fixed, so they
//! are taken as complete. The companion is the entry of the checkpoint in the index, which has its trigger.

mod graph;
mod phases;
mod read;
mod write;

use serde_json::{Value, json};

use super::format::{Companion, Derived, FilePer, Format, Layout, file_name};
use super::reading::DialectFiles;
use ckpt_model::checkpoint::Checkpoint;

pub(super) static FORMAT: Format = Format {
    word: "crunch",
    text: "crunch, a file per checkpoint of an issue, and an index",
    places: &[".claude/crunch"],
    recognises: read::recognises,
    read: read::read,
    write: |checkpoint, _| Some(write::write(checkpoint)),
    layout: Some(&LAYOUT),
    companion: Some(&Companion {
        key: "crunch-index",
        names: &["index.yaml", "index.yml", "index.json"],
        is_index: true,
    }),
    own: &[
        "agent_outputs",
        "files_modified",
        "labels",
        "node_states",
        "status",
        "trigger",
        "warnings",
        "workflow_state",
    ],
    kept: &["issue_number", "session_id", "version"],
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout { per: FilePer::Checkpoint, yaml: true, path, derived: Some(index), ..Layout::PLAIN };

fn path(checkpoint: &Checkpoint, main: &Value, _: bool) -> Option<String> {
    let id = file_name(main.get("checkpoint_id")?.as_str()?)?;
    Some(format!(".claude/crunch/{}/checkpoints/{id}.yaml", checkpoint.workflow))
}

/// Returns the index beside the checkpoints, and the link to the newest of them.
fn index(files: &[(&str, &DialectFiles)]) -> Vec<Derived> {
    let Some((path, DialectFiles { main, .. })) = files.last() else { return Vec::new() };
    let Some((dir, name)) = path.rsplit_once('/') else { return Vec::new() };
    let entries: Vec<&Value> = files.iter().filter_map(|(_, files)| files.companion.as_ref()).collect();
    let index = json!({
        "issue_number": main.get("issue_number"),
        "checkpoints": entries,
        "latest": main.get("checkpoint_id"),
        "total_checkpoints": entries.len(),
    });
    let link = Derived::Link(format!("{dir}/latest"), name.to_owned());
    vec![Derived::Document(format!("{dir}/index.yaml"), index), link]
}
