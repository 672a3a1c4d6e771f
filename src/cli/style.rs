//! Colour, which never carries meaning alone.

use super::env::Environment;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// Returns true if a stream gets colour: the flag decides, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether the
    /// stream is a terminal.
    pub(crate) fn decide(self, env: &Environment, terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if env.is_set("NO_COLOR") => false,
            Self::Auto if env.var("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto => terminal && env.var("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

/// A text style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Good,
    Warning,
    Bad,
}

impl Style {
    /// Returns the text in this style, if colour is on.
    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "31",
        };
        if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
