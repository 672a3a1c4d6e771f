//! Exit codes. They are a contract: codes are added, never changed.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, or nothing to do.
    Ok = 0,
    /// Anything that has no code of its own.
    Failure = 1,
    /// Bad arguments or input.
    Usage = 2,
    /// Some items done, some failed.
    Partial = 3,
    /// No store, workflow or checkpoint; nothing to resume; complete.
    NotFound = 4,
    /// Several match.
    Ambiguous = 5,
    /// A schema violation, a damaged file, a newer format.
    Invalid = 6,
    /// The verdict is `confirm` or `blocked`.
    NotResumable = 7,
    /// The newest checkpoint is not the expected one, or two things have one name.
    Conflict = 8,
    /// A confirmation is missing, or a limit or guard forbids it.
    Refused = 9,
    /// The store is full, read-only, forbidden, or on an unsupported file system.
    StoreUnusable = 10,
    /// Written, but durability could not be confirmed.
    Unknown = 11,
    /// A panic.
    Bug = 101,
}

impl Exit {
    /// All of them.
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
        self as u8
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
