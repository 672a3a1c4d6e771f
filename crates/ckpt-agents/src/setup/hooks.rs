//! The hooks that are installed for a host.

use serde_json::{Map, Value, json};

use crate::hosts::{HookEvent, Host};

/// The part of a command by which a hook is recognised as one of ours, whatever version wrote it.
const MARK: &str = "ckpt hook ";

/// One hook: the event, the tools it is about, the command and its time limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The host's own word for the event.
    pub event: &'static str,
    /// The tools it is called for; none for events that are not about tools.
    pub matcher: Option<String>,
    /// The shell command.
    pub command: String,
    /// The time limit in the unit of the host.
    pub timeout: u32,
}

impl Hook {
    /// Returns it in the form that all hosts share: a group with one handler.
    #[must_use]
    pub fn group(&self) -> Value {
        let handler = json!({"type": "command", "command": self.command, "timeout": self.timeout});
        let mut group = Map::new();
        if let Some(matcher) = &self.matcher {
            group.insert("matcher".to_owned(), matcher.as_str().into());
        }
        group.insert("hooks".to_owned(), json!([handler]));
        Value::Object(group)
    }
}

/// Returns true if a command is one of our hooks.
pub(super) fn is_ours(command: &str) -> bool {
    command.contains(MARK)
}

/// Returns the hooks of a host, in the order of a session. The end of a turn is one of them whether the gate is on or not,
/// because a project may switch it on later, and hooks of a user are for all projects.
#[must_use]
pub fn wanted_hooks(host: Host) -> Vec<Hook> {
    let hooks = host.events().map(|(event, name)| Hook {
        event: name,
        matcher: (event == HookEvent::AfterTool).then(|| {
            let tools: Vec<&str> = host.plan_tools().iter().chain(host.edit_tools()).copied().collect();
            tools.join("|")
        }),
        command: guarded(host, name),
        timeout: timeout(host, event),
    });
    hooks.collect()
}

/// Returns a command that succeeds and says nothing also where `ckpt` is missing, or too old to know `hook`: some hosts
/// take any failure for a refusal.
fn guarded(host: Host, event: &str) -> String {
    format!("{{ {MARK}{host} {event} || :; }} 2>/dev/null")
}

/// Hosts end a session without waiting for long; more than three seconds are refused there by Codex.
fn timeout(host: Host, event: HookEvent) -> u32 {
    let seconds = match event {
        HookEvent::SessionEnd | HookEvent::Interrupt => 3,
        _ => 5,
    };
    match host {
        Host::Gemini => seconds * 1000,
        Host::Claude | Host::Codex => seconds,
    }
}

/// Returns the hooks as a file of their own, as packages and Codex have it.
pub(super) fn file(host: Host) -> Value {
    let hooks = wanted_hooks(host).iter().map(|hook| (hook.event.to_owned(), json!([hook.group()]))).collect();
    json!({"hooks": Value::Object(hooks)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_is_guarded_and_recognised() {
        for host in Host::ALL {
            for hook in wanted_hooks(host) {
                assert!(is_ours(&hook.command), "{hook:?}");
                assert!(hook.command.ends_with(" || :; } 2>/dev/null"), "{hook:?}");
                assert!(host.event(hook.event).is_ok(), "{hook:?}");
            }
        }
    }

    #[test]
    fn no_hook_can_hold_up_a_prompt_or_a_tool() {
        for host in Host::ALL {
            for hook in wanted_hooks(host) {
                let risky = ["BeforeAgent", "UserPromptSubmit", "PreToolUse", "BeforeTool", "PreModelRequest"];
                assert!(!risky.contains(&hook.event), "{hook:?}");
            }
        }
    }

    #[test]
    fn the_end_of_a_turn_is_heard_so_that_the_gate_is_a_setting_and_nothing_else() {
        for host in Host::ALL {
            let stop = host.event_name(HookEvent::Stop);
            assert!(wanted_hooks(host).iter().any(|hook| Some(hook.event) == stop), "{host}");
        }
    }
}
