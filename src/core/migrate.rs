//! Migration of checkpoints from older formats.
//!
//! A file is converted in memory when it is read, and never rewritten. `ckpt migrate` appends the newest checkpoint of a
//! workflow again in the current format. Each [`Step`] converts one format to a later one; steps are chained.

use serde_json::Value;

use super::version::{CURRENT, Version};

/// One conversion between formats.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The format it converts.
    pub from: Version,
    /// The format it produces, which is later.
    pub to: Version,
    /// Converts a document; `None` if it does not have that format.
    pub convert: fn(Value) -> Option<Value>,
}

/// All steps. There is only one format so far.
pub const STEPS: &[Step] = &[];

/// Converts a document of format `from` to the current one; `None` if no chain of steps does.
#[must_use]
pub fn convert(document: Value, from: Version, steps: &[Step]) -> Option<Value> {
    let (mut document, mut version) = (document, from);
    while version != CURRENT {
        let step = steps.iter().find(|step| step.from == version && step.to > version)?;
        document = (step.convert)(document)?;
        version = step.to;
    }
    Some(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    fn add(document: &Value, word: &str) -> Option<Value> {
        let text = document.as_str()?;
        Some(json!(format!("{text} {word}")))
    }

    #[test]
    fn steps_are_chained_to_the_present_format() {
        let steps = [
            Step { from: version("0.9"), to: CURRENT, convert: |document| add(&document, "second") },
            Step { from: version("0.8"), to: version("0.9"), convert: |document| add(&document, "first") },
        ];
        let from = |text: &str, document: Value| convert(document, version(text), &steps);
        assert_eq!(from("0.8", json!("x")), Some(json!("x first second")));
        assert_eq!(from("0.9", json!("x")), Some(json!("x second")));
        assert_eq!(from("1.0", json!("x")), Some(json!("x")));
        assert_eq!(from("0.7", json!("x")), None, "no step begins there");
        assert_eq!(from("0.8", json!(1)), None, "a step refuses");
    }

    #[test]
    fn a_step_that_leads_nowhere_is_not_taken() {
        let steps = [Step { from: version("0.9"), to: version("0.9"), convert: Some }];
        assert_eq!(convert(json!(1), version("0.9"), &steps), None);
    }
}
