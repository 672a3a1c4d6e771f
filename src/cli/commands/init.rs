//! `ckpt init`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::init::InitReport;
use ckpt_formats::import::discover;
use ckpt_store::Store;

pub(crate) const COMMAND: CommandSpec = command!(InitArgs, "init", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt init
  ckpt init --store ../shared/.ckpt";

pub(super) const CONFIG: &str = "\
# Settings of this store. `ckpt` works without any of them.

# [save]
# max_artifact_size = \"1GiB\"       # larger artifacts are refused
# auto_cleanup = true              # after a save that completes a workflow

# [save.triggers]                  # saves for these reasons are not wanted
# agent_complete = false

# [resume]
# watch = [\"PROJECT_CONTEXT.md\"]   # remember the content of these files with every save
# stale_after = \"7d\"               # older is worth a word
# confirm_after = \"30d\"            # older needs a confirmation
# replan_limit = 2                 # 1 to 5
# task_limit = 3                   # attempts of a task before it blocks
# changed_artifacts = \"advice\"     # how heavy a changed artifact is: ignore, info, advice, confirm or blocker
# facts = { \"issue/body\" = \"confirm\" }  # the same for external facts, by name and JSON pointer

# [artifacts]
# capture = true                   # keep the contents of artifacts, as `ckpt save --capture` does
# max_file = \"10MB\"                # larger files are recorded without their content
# max_store = \"1GB\"                # no more is kept once all contents together take this much

# [agents]
# gate = true                      # a hook asks an agent that stops while a phase is open, once

# [remote]
# url = \"git:origin\"               # or file:///srv/ckpt, s3://bucket/prefix, az://, gs://; see `ckpt remote`
# push = \"manual\"                  # or end (of a phase or workflow), or always
# allow_http = false               # counts in the settings of the user only

# [retention]
# max_age = \"90d\"                  # finished workflows idle for longer are archived by `ckpt cleanup`
# abandon_idle = \"30d\"             # open workflows idle for longer are archived as abandoned
# compress_after = \"30d\"           # of open workflows idle for longer, all but the newest checkpoint
# max_size = \"50MB\"                # the oldest finished ones are archived until the store fits
# triggers = { batch_complete = 3, manual = -1 }
# previous_runs = 5                # older runs of a workflow are deleted for good; -1 keeps all
# failed_for = \"30d\"               # failed and abandoned runs are deleted for good after their last save

# [pipelines.release]
# phases = [\"plan\", \"build\", \"test\", \"ship\"]
# exclusive_labels = [\"state:\"]    # a new label with this prefix replaces the old one
# facts = { \"issue/labels\" = \"info\" }
# changed_artifacts = \"confirm\"
# watch = [\"PLAN.md\"]              # as in [resume], for workflows that follow this pipeline

# [pipelines.careful]
# phases = [
#   \"think\",
#   { id = \"make\", name = \"Make it\", action = \"Write the code\", approval = true, outputs = [\"out.json\"],
#     task_limit = 2, data_schema = { type = \"object\" }, required_data = [\"files\"], gate = \"decision\" },
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
        found: discover(store.project()),
        warnings: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::CONFIG;

    #[test]
    fn every_setting_that_is_offered_is_understood() {
        let offered: Vec<&str> = CONFIG.lines().skip(1).map(|line| line.trim_start_matches("# ")).collect();
        let config = ckpt_model::Config::parse(&offered.join("\n")).unwrap();
        assert!(config.is_configured("release") && config.is_configured("careful"));
    }
}
