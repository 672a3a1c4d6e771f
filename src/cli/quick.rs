//! Understanding the ordinary command line without clap.
//!
//! Building clap's picture of a command takes longer than showing a checkpoint. So the commands that agents run again
//! and again are [declared](super::declare) in a way that can be read without it.
//!
//! # Invariants
//!
//! - Only lines that are well formed beyond doubt are understood here. Help, mistakes, `--`, clusters of short flags,
//!   values that begin with a hyphen, whatever is odd: clap decides, and words the complaint.
//! - What is understood here is what clap understands; tests compare the two on generated lines.

use std::any::Any;
use std::ffi::OsString;

use super::args::GlobalArgs;
use super::declare::{Argument, Declared, Field, Takes};

/// A command line, taken apart.
pub(crate) struct Line<'a> {
    known: [&'static [Argument]; 2],
    given: Vec<(&'static Argument, &'a str)>,
}

impl<'a> Line<'a> {
    /// Takes the words behind the name of a command apart; `None` if clap must look at them.
    fn parse(known: [&'static [Argument]; 2], words: &'a [OsString]) -> Option<Self> {
        let mut line = Self { known, given: Vec::with_capacity(words.len()) };
        let mut words = words.iter().map(|word| word.to_str());
        while let Some(word) = words.next() {
            let word = word?;
            let Some(option) = word.strip_prefix('-') else {
                let argument = line.next_position()?;
                line.add(argument, word)?;
                continue;
            };
            let (argument, attached) = line.find(option)?;
            let value = match (argument.takes, attached) {
                (Takes::Nothing, None) => "",
                (Takes::Nothing, Some(_)) => return None,
                (_, Some(value)) => value,
                (_, None) => words.next()??,
            };
            if argument.takes != Takes::Nothing && (value.is_empty() || value.starts_with('-')) {
                return None;
            }
            line.add(argument, value)?;
        }
        line.is_consistent().then_some(line)
    }

    fn arguments(&self) -> impl Iterator<Item = &'static Argument> + use<> {
        self.known.into_iter().flatten()
    }

    fn is_given(&self, field: &str) -> bool {
        self.given.iter().any(|(argument, _)| argument.field == field)
    }

    /// Finds what is meant by `x` or `-name` or `-name=value`, which stood behind a hyphen.
    fn find(&self, option: &'a str) -> Option<(&'static Argument, Option<&'a str>)> {
        let Some(long) = option.strip_prefix('-') else {
            let mut letters = option.chars();
            let letter = letters.next().filter(|_| letters.next().is_none())?;
            return self.arguments().find(|argument| argument.short == Some(letter)).map(|flag| (flag, None));
        };
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        self.arguments().find(|argument| argument.is_called(name)).map(|argument| (argument, value))
    }

    /// The argument that the next word without a hyphen is for.
    fn next_position(&self) -> Option<&'static Argument> {
        self.arguments().find(|argument| {
            !argument.is_option
                && !argument.only_after_dashes
                && (argument.takes == Takes::Many || !self.is_given(argument.field))
        })
    }

    fn add(&mut self, argument: &'static Argument, value: &'a str) -> Option<()> {
        let again = argument.takes != Takes::Many && self.is_given(argument.field);
        (!again).then(|| self.given.push((argument, value)))
    }

    fn is_consistent(&self) -> bool {
        self.given.iter().all(|(argument, _)| {
            argument.requires.is_none_or(|field| self.is_given(field))
                && !argument.conflicts.iter().any(|field| self.is_given(field))
        })
    }

    /// Makes the field of an argument.
    pub(crate) fn field<F: Field>(&self, argument: &Argument) -> Option<F> {
        let mut given = self.given.iter().filter(|(given, _)| given.field == argument.field).peekable();
        match argument.default.filter(|_| given.peek().is_none()) {
            Some(default) => F::from_values(std::iter::once(default)),
            None => F::from_values(given.map(|(_, value)| *value)),
        }
    }
}

/// Understands the words behind the name of a command, if it can: the flags that every command takes, and its own.
pub(crate) type Reader = fn(&[OsString]) -> Option<(GlobalArgs, Box<dyn Any>)>;

/// Understands the words behind the name of a command; `None` if clap must look at them.
pub(crate) fn read<A: Declared>(words: &[OsString]) -> Option<(GlobalArgs, Box<dyn Any>)> {
    let line = Line::parse([GlobalArgs::ARGUMENTS, A::ARGUMENTS], words)?;
    Some((GlobalArgs::build(&line)?, Box::new(A::build(&line)?)))
}
