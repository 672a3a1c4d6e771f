//! Remembering external facts.

use super::Change;
use super::error::ChangeError;
use crate::checkpoint::{Content, Fact};
use crate::external::{MAX_FACT_BYTES, MAX_FACTS};
use crate::json::{MAX_DEPTH, depth};
use crate::name::check_name;

impl Change {
    pub(super) fn change_facts(&self, next: &mut Content) -> Result<(), ChangeError> {
        for name in &self.forgotten_facts {
            let known = || next.facts.iter().map(|fact| fact.name.clone()).collect();
            let unknown = || ChangeError::UnknownFact { given: name.clone(), known: known() };
            let index = next.facts.iter().position(|fact| fact.name == *name).ok_or_else(unknown)?;
            next.facts.remove(index);
        }
        for fact in &self.facts {
            match next.facts.iter().position(|known| known.name == fact.name) {
                Some(index) => next.facts[index] = fact.clone(),
                None if next.facts.len() >= MAX_FACTS => {
                    return Err(ChangeError::TooMany { what: "external facts", limit: MAX_FACTS });
                }
                None => next.facts.push(fact.clone()),
            }
        }
        Ok(())
    }
}

/// Checks that an external fact can be recorded.
///
/// # Errors
/// Its name is not a name, or its document is too large or nested too deeply.
pub fn check_fact(fact: &Fact) -> Result<(), ChangeError> {
    check_name("an external fact", &fact.name, &['/', '=']).map_err(ChangeError::Name)?;
    let unreadable = |source| ChangeError::Unreadable { what: "external fact", source };
    let document = fact.document.to_value().map_err(unreadable)?;
    if document.to_string().len() > MAX_FACT_BYTES {
        return Err(ChangeError::TooLong { what: "document of an external fact", limit: MAX_FACT_BYTES });
    }
    if depth(&document) > MAX_DEPTH {
        return Err(ChangeError::TooMany { what: "levels of nesting", limit: MAX_DEPTH });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facts_have_limits() {
        assert!(check_fact(&Fact::new("issue", json!({}))).is_ok());
        for name in ["", "a/b", "a=b", " "] {
            assert!(check_fact(&Fact::new(name, json!({}))).is_err(), "{name:?}");
        }
        assert!(check_fact(&Fact::new("issue", json!("x".repeat(MAX_FACT_BYTES)))).is_err());
        let deep = (0..=MAX_DEPTH).fold(json!(1), |inner, _| json!([inner]));
        assert!(check_fact(&Fact::new("issue", deep)).is_err());
        let facts = (0..=MAX_FACTS).map(|number| Fact::new(number.to_string(), json!(1))).collect();
        let change = Change { facts, ..Change::default() };
        let refused = change.change_facts(&mut Content::default());
        assert_eq!(refused, Err(ChangeError::TooMany { what: "external facts", limit: MAX_FACTS }));
    }
}
