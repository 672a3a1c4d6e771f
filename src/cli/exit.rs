//! Exit codes. They are a contract: codes are added, never changed.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Ok,
    /// Anything that has no code of its own.
    Failure,
    /// Bad arguments or input.
    Usage,
    /// Some items done, some failed.
    Partial,
    /// No store, workflow or checkpoint; nothing to resume; complete.
    NotFound,
    /// Several match.
    Ambiguous,
    /// A schema violation, a damaged file, a newer format.
    Invalid,
    /// The verdict is `confirm` or `blocked`.
    NotResumable,
    /// The newest checkpoint is not the expected one, or two things have one name.
    Conflict,
    /// A confirmation is missing, or a limit or guard forbids it.
    Refused,
    /// The store is full, read-only, forbidden, or on an unsupported file system.
    StoreUnusable,
    /// Written, but durability could not be confirmed.
    Unknown,
    /// A panic.
    Bug,
    /// Whatever the command ended with that was run.
    Child(u8),
}

impl Exit {
    /// All that have a meaning of their own.
    pub const ALL: [Self; 13] = [
        Self::Ok,
        Self::Failure,
        Self::Usage,
        Self::Partial,
        Self::NotFound,
        Self::Ambiguous,
        Self::Invalid,
        Self::NotResumable,
        Self::Conflict,
        Self::Refused,
        Self::StoreUnusable,
        Self::Unknown,
        Self::Bug,
    ];

    /// The number the shell sees.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Partial => 3,
            Self::NotFound => 4,
            Self::Ambiguous => 5,
            Self::Invalid => 6,
            Self::NotResumable => 7,
            Self::Conflict => 8,
            Self::Refused => 9,
            Self::StoreUnusable => 10,
            Self::Unknown => 11,
            Self::Bug => 101,
            Self::Child(code) => code,
        }
    }

    /// The short name used in the documentation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failure => "failure",
            Self::Usage => "usage",
            Self::Partial => "partial",
            Self::NotFound => "not found",
            Self::Ambiguous => "ambiguous",
            Self::Invalid => "invalid",
            Self::NotResumable => "not resumable",
            Self::Conflict => "conflict",
            Self::Refused => "refused",
            Self::StoreUnusable => "store unusable",
            Self::Unknown => "unknown",
            Self::Bug => "bug",
            Self::Child(_) => "the command's own",
        }
    }

    /// Ends the process at once; for the panic hook, which has nobody to return to.
    #[expect(clippy::disallowed_methods, reason = "this is where the process may end")]
    pub(super) fn now(self) -> ! {
        std::process::exit(i32::from(self.code()))
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
