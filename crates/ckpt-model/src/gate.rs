//! The gate of a phase: a member of its data, such as `gateDecision`, that says whether the result is good enough.

use serde_json::Value;

use super::phase::{Gate, Phase};

/// Returns the sentence in which the data of a phase says that its gate was not passed. Data without the member says
/// nothing; a phase is not completed with it.
#[must_use]
pub fn failed_gate(phase: &Phase) -> Option<String> {
    let Gate { member, pass, .. } = phase.gate.as_ref()?;
    let data = phase.data.as_ref()?.to_value().ok()?;
    let value = data.get(member).filter(|value| !value.is_null())?;
    let word = value.as_str().map(str::trim);
    let passes = word.is_some_and(|word| pass.iter().any(|value| value.eq_ignore_ascii_case(word)));
    let shown = match value {
        Value::String(text) if !text.trim().is_empty() => text.clone(),
        other => other.to_string(),
    };
    (!passes).then(|| format!("{member} is {shown}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::Json;

    #[test]
    fn only_a_declared_value_passes_the_gate() {
        let mut phase = Phase::pending("3B".parse().unwrap());
        let decide = |phase: &mut Phase, decision: Value| {
            phase.data = Some(Json::Given(json!({"gateDecision": decision})));
            failed_gate(phase)
        };
        assert_eq!(decide(&mut phase, json!("FAIL")), None, "no gate is declared");
        let pass = vec!["PASS".to_owned(), "PASS_WITH_NOTES".to_owned()];
        phase.gate = Some(Gate { member: "gateDecision".to_owned(), pass, extra: Default::default() });
        for passed in [json!("PASS"), json!("pass_with_notes"), json!(null)] {
            assert_eq!(decide(&mut phase, passed.clone()), None, "{passed}");
        }
        for (other, why) in [
            (json!("FAIL"), "gateDecision is FAIL"),
            (json!("BLOCKED"), "gateDecision is BLOCKED"),
            (json!("NO_GO"), "gateDecision is NO_GO"),
            (json!("PASSED?"), "gateDecision is PASSED?"),
            (json!(""), "gateDecision is \"\""),
            (json!(1), "gateDecision is 1"),
            (json!(true), "gateDecision is true"),
        ] {
            assert_eq!(decide(&mut phase, other).unwrap(), why);
        }
        phase.data = Some(Json::Given(json!({})));
        assert_eq!((failed_gate(&phase), phase.missing_data()), (None, vec!["gateDecision"]));
    }
}
