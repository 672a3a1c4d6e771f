//! The gate of a phase: a member of its data, such as `gateDecision`, that says whether the result is good enough.

use super::phase::{Phase, PhaseStatus};
use super::status_word::parse_status_word;

/// Returns the sentence in which the data of a phase says that its gate was not passed.
#[must_use]
pub fn failed_gate(phase: &Phase) -> Option<String> {
    let gate = phase.gate.as_ref()?;
    let data = phase.data.as_ref()?.to_value().ok()?;
    let word = data.get(gate)?.as_str()?;
    (parse_status_word(word) == Some(PhaseStatus::Failed)).then(|| format!("{gate} is {word}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::Json;

    #[test]
    fn only_a_clear_no_fails_the_gate() {
        let mut phase = Phase::pending("3B".parse().unwrap());
        phase.data = Some(Json::Given(json!({"gateDecision": "FAIL"})));
        assert_eq!(failed_gate(&phase), None, "no gate is declared");
        phase.gate = Some("gateDecision".to_owned());
        assert_eq!(failed_gate(&phase).unwrap(), "gateDecision is FAIL");
        for passed in [json!("PASS"), json!("PASS_WITH_NOTES"), json!(null), json!(1), json!("")] {
            phase.data = Some(Json::Given(json!({"gateDecision": passed})));
            assert_eq!(failed_gate(&phase), None, "{passed}");
        }
    }
}
