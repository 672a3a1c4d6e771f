//! Detects the agent or CI system that started the process, by the variables that it sets.

use super::env::Environment;

/// An agent or a CI system, and its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: &'static str,
    pub(crate) session: Option<String>,
}

/// The variable that an agent sets, its name, and the variables that hold its session.
const AGENTS: [(&str, &str, &[&str]); 8] = [
    ("CLAUDECODE", "claude-code", &["CLAUDE_CODE_SESSION_ID"]),
    ("GEMINI_CLI", "gemini-cli", &["GEMINI_SESSION_ID"]),
    ("CURSOR_AGENT", "cursor", &["CURSOR_SESSION_ID", "CURSOR_TRACE_ID"]),
    ("OPENCODE", "opencode", &["OPENCODE_SESSION_ID"]),
    ("AIDER_MODEL", "aider", &[]),
    // Codex has no marker of its own; every version sets one of these.
    ("CODEX_THREAD_ID", CODEX, CODEX_SESSIONS),
    ("CODEX_SANDBOX", CODEX, CODEX_SESSIONS),
    ("CODEX_SANDBOX_NETWORK_DISABLED", CODEX, CODEX_SESSIONS),
];

const CODEX: &str = "codex";
const CODEX_SESSIONS: &[&str] = &["CODEX_SESSION_ID", "CODEX_THREAD_ID"];

const CI_SYSTEMS: [(&str, &str, &[&str]); 6] = [
    ("GITHUB_ACTIONS", "github-actions", &["GITHUB_RUN_ID"]),
    ("GITLAB_CI", "gitlab-ci", &["CI_JOB_ID", "CI_PIPELINE_ID"]),
    ("BUILDKITE", "buildkite", &["BUILDKITE_BUILD_ID"]),
    ("CIRCLECI", "circleci", &["CIRCLE_WORKFLOW_ID"]),
    ("JENKINS_URL", "jenkins", &["BUILD_TAG"]),
    ("CI", "ci", &["CI_RUN_ID"]),
];

/// Returns the variables that are read here, each once.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    let tables = AGENTS.iter().chain(&CI_SYSTEMS);
    let mut names: Vec<&str> =
        tables.flat_map(|(marker, _, sessions)| [*marker].into_iter().chain(sessions.iter().copied())).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

/// Returns the agent that started this process.
pub(crate) fn agent(env: &Environment) -> Option<Caller> {
    env.agent.clone().or_else(|| find(env, &AGENTS)).or_else(|| other_codex(env))
}

/// Returns the agent, or else the CI system, that started this process.
pub(crate) fn agent_or_ci(env: &Environment) -> Option<Caller> {
    let known = env.agent.clone().or_else(|| find(env, &AGENTS)).or_else(|| find(env, &CI_SYSTEMS));
    known.or_else(|| other_codex(env))
}

/// Detects a Codex that sets none of its usual variables by their prefix. This goes through all variables, so it comes
/// last.
fn other_codex(env: &Environment) -> Option<Caller> {
    env.any_with_prefix("CODEX_").then(|| named(env, CODEX, CODEX_SESSIONS))
}

fn find(env: &Environment, table: &[(&str, &'static str, &[&str])]) -> Option<Caller> {
    table.iter().find(|(marker, ..)| env.is_set(marker)).map(|(_, name, sessions)| named(env, name, sessions))
}

fn named(env: &Environment, name: &'static str, sessions: &[&str]) -> Caller {
    Caller { name, session: sessions.iter().find_map(|variable| env.var(variable)) }
}
