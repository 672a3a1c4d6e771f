//! The path of the plan that a workflow follows: it identifies the work, as the title does.

use serde_json::Value;

/// Where it is in the state, natively saved or imported.
const PLACES: [&str; 4] =
    ["/plan_path", "/claude-plan/plan_path", "/claude-dir/workflow_state/plan_path", "/workflow_state/plan_path"];

/// Returns the paths of plans in a state.
pub fn plan_paths(state: &Value) -> impl Iterator<Item = &str> {
    PLACES.iter().filter_map(|pointer| state.pointer(pointer)?.as_str())
}
