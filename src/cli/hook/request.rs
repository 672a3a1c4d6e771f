//! The command line of a hook, read without refusing anything: a usage error would disturb the agent.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::cli::args::GlobalArgs;
use crate::cli::env::Environment;
use crate::cli::output::Output;

/// The name of the command.
pub(super) const NAME: &str = "hook";

/// The command line of a hook.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HookRequest {
    pub(super) host: String,
    pub(super) event: String,
    pub(super) store: Option<PathBuf>,
    pub(super) verbose: bool,
}

impl HookRequest {
    /// Reads the arguments; none if they are about another command, or ask for help.
    pub(super) fn of(args: &[OsString]) -> Option<Self> {
        let mut request = Self::default();
        let mut words = Vec::new();
        let mut rest = args.iter().skip(1);
        while let Some(arg) = rest.next() {
            let text = arg.to_string_lossy();
            match &*text {
                "-v" | "--verbose" => request.verbose = true,
                "--store" => request.store = rest.next().map(PathBuf::from),
                "--color" => drop(rest.next()),
                "-h" | "--help" => return None,
                text if text.starts_with("--store=") => {
                    request.store = text.strip_prefix("--store=").map(PathBuf::from);
                }
                // Other flags mean nothing here.
                text if text.starts_with('-') => {}
                text if words.is_empty() && text != NAME => return None,
                text => words.push(text.to_owned()),
            }
        }
        let mut words = words.into_iter();
        words.next()?;
        request.host = words.next().unwrap_or_default();
        request.event = words.next().unwrap_or_default();
        Some(request)
    }

    /// Says on stderr what happened, if that was asked for.
    pub(super) fn explain(&self, env: &Environment, problem: &str) {
        if self.verbose {
            let problem = crate::cli::escape::inline(problem);
            Output::new(&GlobalArgs::default(), env).say(&format!("ckpt hook: {problem}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<HookRequest> {
        let args: Vec<OsString> = std::iter::once("ckpt").chain(line.split_whitespace()).map(OsString::from).collect();
        HookRequest::of(&args)
    }

    #[test]
    fn nothing_about_a_hook_is_refused() {
        let stop = HookRequest { host: "claude".to_owned(), event: "Stop".to_owned(), ..HookRequest::default() };
        assert_eq!(of("hook claude Stop"), Some(stop));
        let stored = of("--store d -v hook codex --json SessionEnd more --odd").unwrap();
        assert_eq!((stored.host.as_str(), stored.event.as_str(), stored.verbose), ("codex", "SessionEnd", true));
        assert_eq!(stored.store, Some("d".into()));
        assert_eq!(of("hook"), Some(HookRequest::default()));
        assert_eq!(of("hook --store"), Some(HookRequest::default()));
    }

    #[test]
    fn other_commands_and_questions_are_not_for_the_hook() {
        for line in ["", "save hook", "list", "hook --help", "hook claude -h", "-v"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
