//! A source error that can be cloned and compared.

use std::error::Error;
use std::sync::Arc;
use std::{fmt, io};

/// A source error with its own sources. Two are equal if their messages are.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Wraps an error, or a message.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into().into())
    }

    /// Returns an I/O error with this source, and of its kind if it is one.
    #[must_use]
    pub fn into_io(self) -> io::Error {
        let kind = self.0.downcast_ref::<io::Error>().map_or(io::ErrorKind::Other, io::Error::kind);
        io::Error::new(kind, self)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}
