//! Exit codes. They are a contract: codes are added, never changed.

macro_rules! exits {
    ($( $Variant:ident $code:literal $name:literal $meaning:literal )*) => {
        /// How the program ends.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Exit {
            $( #[doc = $meaning] $Variant, )*
            /// The exit code of the command that `ckpt run` or `ckpt resume -- COMMAND` started.
            Child(u8),
        }

        impl Exit {
            /// All that have a meaning of their own.
            pub const ALL: &'static [Self] = &[$( Self::$Variant ),*];

            /// The number the shell sees.
            #[must_use]
            pub fn code(self) -> u8 {
                match self {
                    $( Self::$Variant => $code, )*
                    Self::Child(code) => code,
                }
            }

            /// Returns its meaning, in a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $( Self::$Variant => $meaning, )*
                    Self::Child(_) => "The exit code of the command that was started.",
                }
            }

            /// The short name used in the documentation.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$Variant => $name, )*
                    Self::Child(_) => "the command's own",
                }
            }
        }
    };
}

exits! {
    Ok 0 "ok" "Done, or nothing to do."
    Failure 1 "failure" "Anything that has no code of its own."
    Usage 2 "usage" "Bad arguments or input."
    Partial 3 "partial" "Some items done, some failed."
    NotFound 4 "not found" "No store, workflow or checkpoint; nothing to resume; complete."
    Ambiguous 5 "ambiguous" "Several match."
    Invalid 6 "invalid" "A schema violation, a damaged file, a newer format."
    NotResumable 7 "not resumable" "The verdict is `confirm` or `blocked`."
    Conflict 8 "conflict" "The newest checkpoint is not the expected one, or two things have one name."
    Refused 9 "refused" "A confirmation is missing, or a limit or guard forbids it."
    StoreUnusable 10 "store unusable" "The store is full, read-only, forbidden, or on an unsupported file system."
    Unknown 11 "unknown" "Written, but durability could not be confirmed."
    Bug 101 "bug" "A panic."
}

impl Exit {
    /// Ends the process at once; for the panic hook, which cannot return.
    #[expect(clippy::disallowed_methods, reason = "the one place where the process may end")]
    pub(super) fn now(self) -> ! {
        std::process::exit(i32::from(self.code()))
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
