//! The folders in `examples/integrations/`: the hooks and the skill as a plugin for Claude Code and as an extension for Gemini CLI.

use serde_json::{Value, json};

use super::hooks;
use super::skill::{SKILL, SKILL_NAME};
use crate::hosts::Host;

const DESCRIPTION: &str =
    "Checkpoints for long, multi-phase work: saves while the agent works, and briefs the next session";

/// A folder that a host installs as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The name of the folder.
    pub name: &'static str,
    /// The files: paths below the folder, and texts.
    pub files: Vec<(String, String)>,
}

/// Returns all packages, for the test that compares `examples/integrations/` with them.
#[cfg(any(test, feature = "testing"))]
#[must_use]
pub fn packages() -> [Package; 2] {
    [
        with_readme(claude_plugin(), "Claude Code", "Try it with `claude --plugin-dir FOLDER`."),
        with_readme(gemini_extension(), "Gemini CLI", "Install it with `gemini extensions install FOLDER`."),
    ]
}

#[cfg(any(test, feature = "testing"))]
fn with_readme(mut package: Package, host: &str, install: &str) -> Package {
    let text = format!(
        "# ckpt for {host}\n\n\
         {DESCRIPTION}.\n\n\
         The hooks save the agent's own plan as phases while it works, save what is new before a session ends, and begin the \
         next session with a brief of what is unfinished. The skill tells the agent how to use `ckpt` itself. Both need the \
         `ckpt` binary on the PATH; where it is missing, nothing happens.\n\n\
         {install} `ckpt setup` does the same without a folder, and undoes it.\n"
    );
    package.files.push(("README.md".to_owned(), text));
    package
}

#[cfg(any(test, feature = "testing"))]
fn claude_plugin() -> Package {
    let manifest = json!({
        "name": SKILL_NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "author": {"name": "The ckpt authors"},
        "license": "MIT",
    });
    package("claude-code", ".claude-plugin/plugin.json", &manifest, Host::Claude)
}

pub(super) fn gemini_extension() -> Package {
    let manifest = json!({
        "name": SKILL_NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
    });
    package("gemini-cli", "gemini-extension.json", &manifest, Host::Gemini)
}

fn package(name: &'static str, manifest_path: &str, manifest: &Value, host: Host) -> Package {
    let files = vec![
        (manifest_path.to_owned(), pretty(manifest)),
        ("hooks/hooks.json".to_owned(), pretty(&hooks::file(host))),
        (format!("skills/{SKILL_NAME}/SKILL.md"), SKILL.to_owned()),
    ];
    Package { name, files }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
