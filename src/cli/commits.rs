//! The relations of commits, which only git knows. It is asked only where a recorded branch is gone.
//!
//! The settings of a checkout may come from a stranger: git is kept from fetching anything and from asking.

use std::process::{Command, Stdio};

use ckpt_store::git::Checkout;
use ckpt_store::observe::Commits;

/// The commits of a checkout.
#[derive(Debug)]
pub(crate) struct GitCommits<'a>(pub(crate) &'a Checkout);

impl Commits for GitCommits<'_> {
    fn descends(&self, commit: &str, from: &str) -> bool {
        git(self.0, &["merge-base", "--is-ancestor", from, commit]).is_some()
    }

    fn references_to(&self, commit: &str) -> Vec<String> {
        let contains = format!("--contains={commit}");
        let list = ["for-each-ref", "--format=%(refname:short)", &contains];
        let names = git(self.0, &[&list[..], &["refs/heads", "refs/tags", "refs/remotes"]].concat());
        names.unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// Returns what git prints; none if it fails.
fn git(checkout: &Checkout, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
        command.env_remove(variable);
    }
    // A partial clone would fetch what it lacks, by whatever program its settings name.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none").env("GIT_TERMINAL_PROMPT", "0");
    let command = command.arg("--git-dir").arg(checkout.git_dir()).args(args).stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}
