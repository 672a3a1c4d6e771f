//! Declaring the arguments of a command once, for clap and for [`quick`](super::quick).
//!
//! [`arguments!`] hands every field and its `#[arg(...)]` to clap as they stand, and makes a table of the same. A rule in
//! `#[arg(...)]` that the table does not know does not compile.

use std::str::FromStr;

use super::quick::Line;

/// One argument of a command: what tells it from the others, and what it goes with.
///
/// Its methods are the rules of `#[arg(...)]`, so that [`arguments!`] can apply them one by one.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(super) field: &'static str,
    pub(super) takes: Takes,
    pub(super) is_option: bool,
    pub(super) short: Option<char>,
    pub(super) default: Option<&'static str>,
    pub(super) requires: Option<&'static str>,
    /// Filled up with empty names, which nothing has.
    pub(super) conflicts: [&'static str; 4],
    pub(super) only_after_dashes: bool,
}

/// How many values an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// None: it is a flag.
    Nothing,
    /// One, and it is given once.
    One,
    /// One each time it is given.
    Many,
}

impl Argument {
    pub(crate) const fn new(field: &'static str, takes: Takes) -> Self {
        Self {
            field,
            takes,
            is_option: false,
            short: None,
            default: None,
            requires: None,
            conflicts: [""; 4],
            only_after_dashes: false,
        }
    }

    pub(crate) const fn long(self) -> Self {
        Self { is_option: true, ..self }
    }

    pub(crate) const fn short(self, letter: char) -> Self {
        Self { short: Some(letter), ..self }
    }

    pub(crate) const fn default_value(self, value: &'static str) -> Self {
        Self { default: Some(value), ..self }
    }

    pub(crate) const fn requires(self, field: &'static str) -> Self {
        Self { requires: Some(field), ..self }
    }

    pub(crate) const fn conflicts_with(self, field: &'static str) -> Self {
        self.conflicts_with_all([field])
    }

    pub(crate) const fn conflicts_with_all<const N: usize>(mut self, fields: [&'static str; N]) -> Self {
        let mut n = 0;
        while n < N {
            self.conflicts[n] = fields[n];
            n += 1;
        }
        self
    }

    pub(crate) const fn last(self, only_after_dashes: bool) -> Self {
        Self { only_after_dashes, ..self }
    }

    /// The type of the field reads the value.
    pub(crate) const fn value_enum(self) -> Self {
        self
    }

    /// All arguments stand behind the name of the command here.
    pub(crate) const fn global(self, _: bool) -> Self {
        self
    }

    /// Clap reads values that begin with a hyphen.
    pub(crate) const fn allow_hyphen_values(self, _: bool) -> Self {
        self
    }

    /// Clap writes the help.
    pub(crate) const fn value_name(self, _: &'static str) -> Self {
        self
    }

    /// Clap completes.
    pub(crate) const fn value_hint(self, _: clap::ValueHint) -> Self {
        self
    }

    /// Clap writes the help.
    pub(crate) const fn help_heading(self, _: &'static str) -> Self {
        self
    }

    /// Whether `--name` means this one: the name of the field, with hyphens.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let hyphenated = |byte| if byte == b'_' { b'-' } else { byte };
        self.is_option && self.field.bytes().map(hyphenated).eq(name.bytes())
    }
}

/// Arguments that were declared with [`arguments!`].
pub(crate) trait Declared: Sized + 'static {
    /// What they are.
    const ARGUMENTS: &'static [Argument];

    /// Makes them of what was given; `None` if that is for clap to judge.
    fn build(line: &Line<'_>) -> Option<Self>;
}

/// The type of a field, which says how many values it takes, and makes something of them.
pub(crate) trait Field: Sized {
    const TAKES: Takes;

    fn from_values<'a>(values: impl Iterator<Item = &'a str>) -> Option<Self>;
}

impl Field for bool {
    const TAKES: Takes = Takes::Nothing;

    fn from_values<'a>(mut values: impl Iterator<Item = &'a str>) -> Option<Self> {
        Some(values.next().is_some())
    }
}

impl<T: FromStr> Field for Option<T> {
    const TAKES: Takes = Takes::One;

    fn from_values<'a>(mut values: impl Iterator<Item = &'a str>) -> Option<Self> {
        values.next().map(str::parse).transpose().ok()
    }
}

impl<T: FromStr> Field for Vec<T> {
    const TAKES: Takes = Takes::Many;

    fn from_values<'a>(values: impl Iterator<Item = &'a str>) -> Option<Self> {
        values.map(str::parse).collect::<Result<_, _>>().ok()
    }
}

/// Fields of these types must be given, or have a default.
macro_rules! must_be_given {
    ($($type:ty),*) => {$(
        impl Field for $type {
            const TAKES: Takes = Takes::One;

            fn from_values<'a>(mut values: impl Iterator<Item = &'a str>) -> Option<Self> {
                values.next()?.parse().ok()
            }
        }
    )*};
}

must_be_given!(String, usize, super::style::ColorChoice);

/// Declares arguments for clap and for [`quick`](super::quick) at once.
macro_rules! arguments {
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident {
            $($(#[doc = $help:literal])* #[arg($($rules:tt)*)] $shown:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, clap::Args)]
        $visible struct $name {
            $($(#[doc = $help])* #[arg($($rules)*)] $shown $field: $type,)*
        }

        impl $crate::cli::declare::Declared for $name {
            const ARGUMENTS: &'static [$crate::cli::declare::Argument] = {
                use $crate::cli::declare::{Argument, Field, arguments};
                &[$(arguments!(Argument::new(stringify!($field), <$type as Field>::TAKES); $($rules)*)),*]
            };

            fn build(line: &$crate::cli::quick::Line<'_>) -> Option<Self> {
                let [$($field),*] = Self::ARGUMENTS else { return None };
                Some(Self { $($field: line.field($field)?),* })
            }
        }
    };
    // The rules of one argument. Candidates are for the shell.
    ($argument:expr; add = $candidates:expr $(, $($rest:tt)*)?) => {
        arguments!($argument; $($($rest)*)?)
    };
    ($argument:expr; $rule:ident $(= $value:expr)? $(, $($rest:tt)*)?) => {
        arguments!($argument.$rule($($value)?); $($($rest)*)?)
    };
    ($argument:expr;) => { $argument };
}

/// Lets a field take one of several names, as clap understands them.
macro_rules! understood_by_name {
    ($type:ty) => {
        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                clap::ValueEnum::from_str(name, false)
            }
        }
    };
}

pub(crate) use {arguments, understood_by_name};
