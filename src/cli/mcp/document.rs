//! The documents that tools and resources answer with: reports without the members that are null or empty.
//!
//! A report is written once. Its members are then chosen as text, so that an answer has the same document twice, as text and
//! as structured content, and builds no tree of it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::cli::answer::{Report, ReportDocument};
use crate::cli::error::{ErrorCode, Failure};
use ckpt_model::json::Key;

/// Returns the document of a report without the members that are null or empty: they cost an agent tokens and say nothing.
pub(super) fn document<R: Report>(report: &R) -> Result<Box<RawValue>, Failure> {
    let document = serde_json::to_string(&ReportDocument { format: R::FORMAT, report });
    document
        .and_then(|whole| without_empty(&whole))
        .map_err(|error| Failure::new(ErrorCode::Output, format!("the answer cannot be written as JSON: {error}")))
}

/// Leaves out the empty members of an object, and of the two that group others.
fn without_empty(object: &str) -> serde_json::Result<Box<RawValue>> {
    let Members(mut members) = serde_json::from_str(object)?;
    for (name, value) in &mut members {
        if matches!(&*name.0, "tasks" | "messages") && value.get().starts_with('{') {
            *value = Cow::Owned(without_empty(value.get())?);
        }
    }
    members.retain(|(_, value)| !matches!(value.get(), "null" | "[]" | "{}"));
    to_raw_value(&Members(members))
}

/// The members of an object in their order, with their values as text.
struct Members<'a>(Vec<(Key<'a>, Cow<'a, RawValue>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<_, &RawValue>()? {
                    members.push((name, Cow::Borrowed(value)));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(Key(name), value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_say_nothing_are_left_out_and_all_others_stay_as_they_are() {
        for (whole, said) in [
            (r#"{"b":1.50,"a":null,"c":[],"d":{},"e":"","f":false,"g":0}"#, r#"{"b":1.50,"e":"","f":false,"g":0}"#),
            (r#"{"next":{"phase":"x","action":null}}"#, r#"{"next":{"phase":"x","action":null}}"#),
            (r#"{"tasks":{"done":[],"left":["a"]},"messages":{"x":null}}"#, r#"{"tasks":{"left":["a"]}}"#),
            (r#"{"tasks":[{"id":null}],"n\"":[[]]}"#, r#"{"tasks":[{"id":null}],"n\"":[[]]}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(without_empty(whole).unwrap().get(), said);
        }
    }
}
