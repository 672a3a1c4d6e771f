//! The skill that is installed with the hooks: what an agent reads when it is about to save or resume.

/// The name of the skill, and of its directory.
pub const SKILL_NAME: &str = "ckpt";

/// The text of `SKILL.md`, the same for every host.
pub const SKILL: &str = include_str!("SKILL.md");
