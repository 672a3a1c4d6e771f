//! The flags that settle the conflicts of a merge.

use clap::Args;

use super::save_flags::named_json;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::input::Input;
use crate::cli::session::Session;
use ckpt_model::merge::{Resolution, Resolutions, Side};

/// How conflicts are settled.
#[derive(Debug, Args)]
pub(crate) struct ConflictFlags {
    /// Settle all conflicts, or the one at this place, by what the workflow says that is merged into
    #[arg(long = "ours", value_name = "POINTER", num_args = 0..=1, require_equals = true,
        default_missing_value = "", help_heading = "Conflicts")]
    ours_wins: Vec<String>,
    /// Settle all conflicts, or the one at this place, by what the other one says
    #[arg(long = "theirs", value_name = "POINTER", num_args = 0..=1, require_equals = true,
        default_missing_value = "", help_heading = "Conflicts")]
    theirs_wins: Vec<String>,
    /// Settle the conflict at this place by another value
    #[arg(long, value_name = "POINTER=JSON", help_heading = "Conflicts")]
    set: Vec<String>,
}

impl ConflictFlags {
    pub(crate) fn resolutions(&self, session: &Session) -> Result<Resolutions, Failure> {
        let mut resolutions = Resolutions::default();
        for (places, side) in [(&self.ours_wins, Side::Ours), (&self.theirs_wins, Side::Theirs)] {
            for place in places {
                if !place.is_empty() {
                    resolutions.each.push((place.clone(), Resolution::Take(side)));
                } else if resolutions.rest.replace(side).is_some_and(|other| other != side) {
                    let message = "`--ours` and `--theirs` cannot both settle all conflicts";
                    return Err(Failure::new(ErrorCode::Usage, message)
                        .help("name the places of one of them: `--ours=/phases/build/status --theirs`"));
                }
            }
        }
        let reader = Input::new(session);
        for argument in &self.set {
            let (pointer, value) = named_json("--set", argument, &reader)?;
            resolutions.each.push((pointer, Resolution::Set(value)));
        }
        Ok(resolutions)
    }
}
