//! `--pull`, the flag of commands that read: what other stores have saved is fetched first.

use clap::Args;

use crate::cli::error::Failure;
use crate::cli::session::{Session, Workspace};

/// The flag of commands that can ask the remote first.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct PullFlag {
    /// Ask the remote first what other stores have saved; without it, nothing is contacted
    #[arg(long)]
    pull: bool,
}

impl PullFlag {
    /// Pulls if that was asked for. That the remote is not reached is noted in the workspace, for the findings.
    pub(crate) fn first(&self, session: &Session, workspace: &mut Workspace) -> Result<(), Failure> {
        if self.pull {
            workspace.remote_problem = session.pull_first(workspace)?;
        }
        Ok(())
    }

    /// As [`first`](Self::first), for commands without findings: returns the warning instead.
    pub(crate) fn warning(&self, session: &Session) -> Result<Option<String>, Failure> {
        if !self.pull {
            return Ok(None);
        }
        let problem = session.pull_first(&session.workspace()?)?;
        Ok(problem.map(|why| format!("the remote could not be asked: {why}")))
    }
}
