//! The hosts, the events of their hooks that matter, and the tools that their agents keep a plan or edit files with. The
//! one list of these names: `ckpt hook` reads by it, and `ckpt setup` installs by it.

use std::fmt;
use std::str::FromStr;

/// A program that runs an agent and calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// A moment at which a host calls its hooks, by what it means. Each host has its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookEvent {
    /// A session begins, continues, or has been compacted.
    SessionStart,
    /// A tool was used.
    AfterTool,
    /// The context is about to be compacted.
    PreCompact,
    /// The context was compacted.
    PostCompact,
    /// The agent ends its turn.
    Stop,
    /// The turn ended with an error of the service, such as a rate limit.
    StopFailure,
    /// A person interrupted the turn.
    Interrupt,
    /// The session ends.
    SessionEnd,
}

/// A word that names no host, or no event that matters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not known", .0.escape_debug())]
pub struct UnknownWord(pub String);

impl Host {
    /// All hosts.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// The word for it on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The name of its agent, as the writer of a checkpoint.
    #[must_use]
    pub fn agent(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// The host's own word for an event; none if it has no such event.
    ///
    /// `PreCompress` of Gemini is none: it comes before every request to the model, whether it compacts or not.
    #[must_use]
    pub fn event_name(self, event: HookEvent) -> Option<&'static str> {
        use HookEvent as E;
        Some(match (self, event) {
            (_, E::SessionStart) => "SessionStart",
            (_, E::SessionEnd) => "SessionEnd",
            (Self::Gemini, E::AfterTool) => "AfterTool",
            (_, E::AfterTool) => "PostToolUse",
            (Self::Gemini, E::Stop) => "AfterAgent",
            (_, E::Stop) => "Stop",
            (Self::Claude | Self::Codex, E::PreCompact) => "PreCompact",
            (Self::Claude | Self::Codex, E::PostCompact) => "PostCompact",
            (Self::Claude, E::StopFailure) => "StopFailure",
            (Self::Codex, E::Interrupt) => "Interrupt",
            (_, E::PreCompact | E::PostCompact | E::StopFailure | E::Interrupt) => return None,
        })
    }

    /// The events of this host that matter, each with the host's own word.
    pub fn events(self) -> impl Iterator<Item = (HookEvent, &'static str)> {
        HookEvent::ALL.into_iter().filter_map(move |event| Some((event, self.event_name(event)?)))
    }

    /// Finds an event by the host's own word. Case and separators do not matter: `session-start`.
    ///
    /// # Errors
    /// The host has no such event, or nothing is to be done at it.
    pub fn event(self, word: &str) -> Result<HookEvent, UnknownWord> {
        let plain = |word: &str| word.replace(['-', '_'], "").to_ascii_lowercase();
        let wanted = plain(word);
        let found = self.events().find(|(_, name)| plain(name) == wanted);
        found.map(|(event, _)| event).ok_or_else(|| UnknownWord(word.to_owned()))
    }

    /// The tools that its agent keeps its plan with.
    #[must_use]
    pub fn plan_tools(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["TodoWrite", "TaskCreate", "TaskUpdate"],
            Self::Codex => &["update_plan", "create_goal", "update_goal"],
            Self::Gemini => {
                &["write_todos", "update_topic", "tracker_create_task", "tracker_update_task", "tracker_add_dependency"]
            }
        }
    }

    /// The tools that its agent edits files with.
    #[must_use]
    pub fn edit_tools(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["Edit", "MultiEdit", "Write", "NotebookEdit"],
            Self::Codex => &["apply_patch"],
            Self::Gemini => &["write_file", "replace"],
        }
    }
}

impl FromStr for Host {
    type Err = UnknownWord;

    /// Reads the word of a host, or the name of its agent.
    fn from_str(given: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.into_iter().find(|host| given.eq_ignore_ascii_case(host.word()) || given == host.agent());
        found.ok_or_else(|| UnknownWord(given.to_owned()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl HookEvent {
    /// All events, in the order of a session.
    pub const ALL: [Self; 8] = [
        Self::SessionStart,
        Self::AfterTool,
        Self::PreCompact,
        Self::PostCompact,
        Self::Stop,
        Self::StopFailure,
        Self::Interrupt,
        Self::SessionEnd,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_host_lead_back_to_its_events() {
        for host in Host::ALL {
            assert_eq!(host.word().parse(), Ok(host));
            assert_eq!(host.agent().parse(), Ok(host));
            for (event, name) in host.events() {
                assert_eq!(host.event(name), Ok(event), "{host} {name}");
            }
        }
        assert_eq!(Host::Claude.event("session-start"), Ok(HookEvent::SessionStart));
        assert_eq!(Host::Gemini.event("AfterAgent"), Ok(HookEvent::Stop));
        for (host, word) in [(Host::Gemini, "PreCompress"), (Host::Claude, "AfterTool"), (Host::Codex, "")] {
            assert!(host.event(word).is_err(), "{host} {word}");
        }
        assert!("cursor".parse::<Host>().is_err());
    }
}
