//! The table of all dialects.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::format::{Companion, Format, Layout};
use super::{
    bmad, boulder, ckpt, claude_dir, claude_plan, conductor, crunch, dotagent, feature_list, generic, gsd, kamiflow,
    kiro, ralph, spec_kit, task_master,
};

macro_rules! dialects {
    ($($(#[$doc:meta])* $Variant:ident => $format:expr,)*) => {
        /// The file format of another checkpoint system. All can be read, and some of them written.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Dialect {
            $($(#[$doc])* $Variant,)*
        }

        impl Dialect {
            /// All dialects, the most specific first: a document belongs to the first one that recognises it.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),*];

            pub(super) fn format(self) -> &'static Format {
                match self {
                    $(Self::$Variant => &$format,)*
                }
            }
        }
    };
}

dialects! {
    /// A checkpoint of this program.
    Ckpt => ckpt::FORMAT,
    /// `.kamiflow/checkpoints/042-checkpoint-phase2.json`, a file per phase.
    Kamiflow => kamiflow::FORMAT,
    /// `memory/state/phase.json` with its companion `execution.json`.
    Dotagent => dotagent::FORMAT,
    /// `.claude/crunch/42/checkpoints/CP-enrich-20250114-a3f2.yaml` with an index.
    Crunch => crunch::FORMAT,
    /// `.claude/checkpoints/implement_auth_20251003_184530.json`.
    ClaudeDir => claude_dir::FORMAT,
    /// `.claude/data/checkpoints/implement_027_auth.json`.
    ClaudePlan => claude_plan::FORMAT,
    /// `.sisyphus/boulder.json`, which points at a plan.
    Boulder => boulder::FORMAT,
    /// `.taskmaster/tasks/tasks.json`.
    TaskMaster => task_master::FORMAT,
    /// `prd.json` of Ralph.
    Ralph => ralph::FORMAT,
    /// `feature_list.json`.
    FeatureList => feature_list::FORMAT,
    /// `sprint-status.yaml` of BMAD.
    BmadSprint => bmad::SPRINT,
    /// `bmm-workflow-status.yaml` of BMAD.
    BmadWorkflow => bmad::WORKFLOW,
    /// `.planning/STATE.md` of GSD.
    Gsd => gsd::FORMAT,
    /// `conductor/setup_state.json`, and the `metadata.json` of a track.
    Conductor => conductor::FORMAT,
    /// `.kiro/specs/NAME/spec.json`, and `tasks.md` beside it.
    Kiro => kiro::FORMAT,
    /// `tasks.md` of Spec Kit.
    SpecKit => spec_kit::FORMAT,
    /// Any other document, read by its shape.
    Generic => generic::FORMAT,
}

impl Dialect {
    /// Returns the dialects that can be written.
    #[must_use]
    pub fn writable() -> Vec<Self> {
        let is_writable = |dialect: &Self| *dialect == Self::Ckpt || dialect.layout().is_some();
        Self::ALL.iter().copied().filter(is_writable).collect()
    }

    /// Returns the name in files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.format().word
    }

    /// Returns the system and its file in a few words.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.format().text
    }

    /// Returns the places in a project where the system keeps its files.
    #[must_use]
    pub fn places(self) -> &'static [&'static str] {
        self.format().places
    }

    /// Returns the name of a file by the directory that stands for `*` in its place: each has a file of the same name. Where
    /// a directory has several files of the system, all but the first have their own name behind it.
    #[must_use]
    pub fn name_by_directory(self, path: &Path) -> Option<String> {
        let (directory, file) = (path.parent()?, path.file_name()?);
        let above = directory.parent()?.file_name();
        let places = self.places().iter().filter_map(|place| place.split_once("/*/"));
        let mut beside = places.filter(|(before, _)| Path::new(before).file_name() == above);
        let position = beside.position(|(_, name)| Path::new(name).as_os_str() == file)?;
        let (name, stem) = (directory.file_name()?.to_str()?, path.file_stem()?.to_str()?);
        Some(if position == 0 { name.to_owned() } else { format!("{name}-{stem}") })
    }

    /// Returns the path of the one file that a document points at, below its own directory.
    #[must_use]
    pub fn follows(self, main: &Value) -> Option<&str> {
        (self.format().follows)(main)
    }

    /// Returns the second file of a checkpoint.
    #[must_use]
    pub fn companion(self) -> Option<&'static Companion> {
        self.format().companion
    }

    /// Returns how written files lie in a project; `None` if the dialect is only read.
    #[must_use]
    pub fn layout(self) -> Option<&'static Layout> {
        self.format().layout
    }

    fn words() -> String {
        Self::ALL.iter().map(|dialect| dialect.word()).collect::<Vec<_>>().join(", ")
    }
}

/// The error for a word that is not a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a dialect; it is one of {}", word.escape_debug(), Dialect::words())]
pub struct UnknownDialect {
    /// The word that was parsed.
    pub word: String,
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(word: &str) -> Result<Self, UnknownDialect> {
        let unknown = || UnknownDialect { word: word.to_owned() };
        Self::ALL.iter().copied().find(|dialect| dialect.word() == word).ok_or_else(unknown)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
