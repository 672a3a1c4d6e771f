//! `ckpt init`

use clap::Args;

use super::super::args::{Spec, take};
use super::super::error::Failure;
use super::super::exit::Exit;
use super::super::session::Session;
use super::super::views::init::InitReport;
use crate::core::Store;

pub(crate) const SPEC: Spec = Spec {
    name: "init",
    alias: None,
    augment: InitArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&take(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt init
  ckpt init --store ../shared/.ckpt";

const CONFIG: &str = "\
# Settings of this store. `ckpt` works without any of them.

# [save]
# max_artifact_size = \"1GiB\"       # larger artifacts are refused

# [save.triggers]                  # saves for these reasons are not wanted
# agent_complete = false

# [resume]
# watch = [\"PROJECT_CONTEXT.md\"]   # remember the content of these files with every save

# [pipelines.release]
# phases = [\"plan\", \"build\", \"test\", \"ship\"]

# [pipelines.careful]
# phases = [
#   \"think\",
#   { id = \"make\", name = \"Make it\", action = \"Write the code\", approval = true, outputs = [\"out.json\"] },
# ]
";

/// Create a store and its configuration file; what exists is left as it is
#[derive(Debug, Args)]
pub(crate) struct InitArgs {}

fn run(_: &InitArgs, session: &Session) -> Result<Exit, Failure> {
    let place = session.place()?;
    let store = Store::at(place.located())?;
    let created = store.create()?;
    let config_created = store.create_config(CONFIG)?;
    session.answer(&InitReport {
        store: store.root().display().to_string(),
        project: store.project().display().to_string(),
        created,
        config: store.config_file().display().to_string(),
        config_created,
        warnings: Vec::new(),
    })
}
