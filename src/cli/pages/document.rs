//! Reading the documents that commands answer with.

use serde_json::Value;

use crate::core::Timestamp;

/// A part of a document. What is missing or of another type is empty: a page shows what there is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doc<'a>(pub(crate) &'a Value);

static NULL: Value = Value::Null;

impl<'a> Doc<'a> {
    /// Returns a member.
    pub(crate) fn get(self, name: &str) -> Self {
        Self(self.0.get(name).unwrap_or(&NULL))
    }

    /// Returns a text that is there and not empty.
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.get(name).as_text()
    }

    /// Returns the text that this is, unless it is empty.
    pub(crate) fn as_text(self) -> Option<&'a str> {
        self.0.as_str().filter(|text| !text.is_empty())
    }

    /// Returns a text, or an empty one.
    pub(crate) fn word(self, name: &str) -> &'a str {
        self.text(name).unwrap_or_default()
    }

    pub(crate) fn number(self, name: &str) -> Option<u64> {
        self.get(name).0.as_u64()
    }

    pub(crate) fn count(self, name: &str) -> u64 {
        self.number(name).unwrap_or_default()
    }

    pub(crate) fn flag(self, name: &str) -> bool {
        self.get(name).0.as_bool().unwrap_or_default()
    }

    pub(crate) fn time(self, name: &str) -> Option<Timestamp> {
        Timestamp::parse(self.text(name)?)
    }

    /// Returns the elements of a list.
    pub(crate) fn list(self, name: &str) -> impl ExactSizeIterator<Item = Doc<'a>> + use<'a> {
        let elements: &'a [Value] = self.get(name).0.as_array().map_or(&[], Vec::as_slice);
        elements.iter().map(Doc)
    }

    /// Returns the texts of a list.
    pub(crate) fn words(self, name: &str) -> Vec<&'a str> {
        self.list(name).filter_map(Doc::as_text).collect()
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}
