//! Putting a part into the text of a file, and taking it out again.

use super::hooks::wanted_hooks;
use super::parts::PartKind;
use super::{codex_settings, instructions, json_edit};
use crate::hosts::Host;

impl PartKind {
    /// Returns the text of the file with this part. `None` is a file that does not exist.
    ///
    /// # Errors
    /// The text is not valid in its format; the reason.
    pub(super) fn added_to(&self, text: Option<&str>) -> Result<String, String> {
        let present = text.unwrap_or_default();
        match self {
            Self::Hooks(host) => json_edit::with_hooks(present, &wanted_hooks(*host)),
            Self::ClaudeSettings { plan } => {
                let text = json_edit::with_hooks(present, &wanted_hooks(Host::Claude))?;
                let text = json_edit::with_elements(&text, &PERMISSIONS)?;
                if *plan { json_edit::with_member(&text, &PLAN_SWITCH) } else { Ok(text) }
            }
            Self::CodexSettings => codex_settings::with_plan_tool(present),
            Self::WholeFile(text) => Ok(text.clone()),
            Self::Instructions => Ok(instructions::with(present)),
        }
    }

    /// Returns the text of the file without this part; `None` if nothing is left that anybody could want.
    ///
    /// # Errors
    /// The text is not valid in its format; the reason.
    pub(super) fn taken_from(&self, text: &str) -> Result<Option<String>, String> {
        if text.trim().is_empty() {
            return Ok(Some(text.to_owned()));
        }
        let rest = match self {
            Self::Hooks(_) => json_edit::without_hooks(text)?,
            Self::ClaudeSettings { .. } => {
                let text = json_edit::without_hooks(text)?;
                let text = json_edit::without_elements(&text, &PERMISSIONS)?;
                json_edit::without_member(&text, &PLAN_SWITCH)?
            }
            Self::CodexSettings => codex_settings::without_plan_tool(text)?,
            // A text that somebody has changed is theirs.
            Self::WholeFile(ours) => return Ok((text != ours).then(|| text.to_owned())),
            Self::Instructions => instructions::without(text),
        };
        let is_nothing = rest.trim().is_empty() || json_edit::is_empty_object(&rest);
        Ok((!is_nothing || rest == text).then_some(rest))
    }
}

impl PartKind {
    /// Returns true if a text may have this part. Where there are no hooks of ours, nothing of ours is in the settings.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Hooks(_) | Self::ClaudeSettings { .. } => {
                json_edit::our_hooks(text).is_some_and(|hooks| !hooks.is_empty())
            }
            Self::CodexSettings | Self::WholeFile(_) | Self::Instructions => true,
        }
    }

    /// Returns true if a text is a whole file of ours, of another version: it begins in the same way.
    pub(super) fn is_older(&self, text: &str) -> bool {
        match self {
            Self::WholeFile(ours) => ours.lines().take(2).eq(text.lines().take(2)),
            _ => false,
        }
    }
}

/// The permissions that an agent needs to call `ckpt` without asking: in a shell, and over MCP.
const PERMISSIONS: json_edit::Elements =
    json_edit::Elements { object: "permissions", array: "allow", texts: &["Bash(ckpt:*)", "mcp__ckpt"] };

/// The variable that offers the plan tools to models that do not get them by default.
const PLAN_SWITCH: json_edit::Member =
    json_edit::Member { object: "env", name: "CLAUDE_CODE_ENABLE_TODO_TOOLS", value: "1" };
