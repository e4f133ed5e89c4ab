//! What is wrong with a plan is said before anything runs.

use interleaf_plan::{ErrorKind, Plan};
use serde_json::{Value, json};

fn faults(plan: &Value) -> Vec<String> {
    Plan::read(&plan.to_string(), &[]).unwrap_err().iter().map(ToString::to_string).collect()
}

fn plan(steps: &Value) -> Value {
    json!({"objective": "o", "tools": [{"name": "t"}], "steps": steps})
}

#[test]
fn a_cycle_is_told_with_its_steps() {
    let steps = json!([
        {"id": "a", "tool": "t", "depends_on": ["c"]},
        {"id": "b", "tool": "t", "depends_on": ["a"]},
        {"id": "c", "tool": "t", "depends_on": ["b"]},
        {"id": "d", "tool": "t", "depends_on": ["d"]},
        {"id": "e", "tool": "t", "depends_on": ["a"]},
    ]);
    assert_eq!(
        faults(&plan(&steps)),
        [
            "steps[0].depends_on: the steps wait for each other: a → c → b → a",
            "steps[3].depends_on: step d depends on itself",
        ]
    );
}

#[test]
fn unknown_tools_and_dependencies_are_all_told() {
    let steps = json!([
        {"tool": "t", "depends_on": [7]},
        {"tool": "drill", "depends_on": ["x", 0]},
    ]);
    let errors = Plan::read(&plan(&steps).to_string(), &[]).unwrap_err();
    let kinds: Vec<ErrorKind> = errors.iter().map(|error| error.kind()).collect();
    assert_eq!(kinds, [ErrorKind::UnknownStep, ErrorKind::UnknownStep, ErrorKind::UnknownTool]);
    let places: Vec<&str> = errors.iter().map(|error| error.place()).collect();
    assert_eq!(places, ["steps[0].depends_on[0]", "steps[1].depends_on[0]", "steps[1].tool"]);
    assert_eq!(errors[2].message(), "unknown tool \"drill\": the plan declares t");
}

#[test]
fn faults_of_form_have_their_places() {
    assert_eq!(faults(&json!([])), ["a plan is a JSON object"]);
    assert_eq!(
        faults(&json!({})),
        ["objective: the field `objective` is missing", "steps: the field `steps` is missing",]
    );
    let steps = json!([
        {"id": "a", "tool": "t", "depend_on": []},
        {"id": "a", "tool": 5, "reason": 1, "draft": [], "depends_on": 0},
        7,
    ]);
    assert_eq!(
        faults(&plan(&steps)),
        [
            "steps[1].id: \"a\" is the name of steps[0] already",
            "steps[0]: unknown field \"depend_on\": it must be one of id, tool, reason, depends_on, draft",
            "steps[1].tool: a text is expected",
            "steps[1].reason: a text is expected",
            "steps[1].draft: arguments are a JSON object",
            "steps[1].depends_on: a list of steps is expected",
            "steps[2]: a step is a JSON object",
        ]
    );
    let errors = Plan::read("{\n  \"objective\": }", &[]).unwrap_err();
    assert_eq!(errors[0].to_string(), "line 2 column 16: expected value");
}

#[test]
fn a_schema_that_is_none_is_a_fault_of_its_tool() {
    let tools = json!([
        {"name": "t", "parameters": {"type": "objekt"}},
        {"name": "t"},
        {"description": "nameless"},
    ]);
    let found = faults(&json!({"objective": "o", "tools": tools, "steps": [{"tool": "t"}]}));
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with("tools[2]: a tool needs a field `name`"), "{found:#?}");
    assert!(
        found[1].starts_with("tools[0].parameters.type: this is not a JSON Schema"),
        "{found:#?}"
    );
    assert_eq!(found[2], "tools[1]: the tool \"t\" is declared twice");
}

#[test]
fn the_chain_has_every_dependency_once_and_before_what_needs_it() {
    let steps = json!([
        {"id": "last", "tool": "t", "depends_on": ["left", "right"]},
        {"id": "left", "tool": "t", "depends_on": ["root"]},
        {"id": "right", "tool": "t", "depends_on": ["root", "left"]},
        {"id": "root", "tool": "t"},
        {"id": "alone", "tool": "t"},
    ]);
    let plan = Plan::read(&plan(&steps).to_string(), &[]).unwrap();
    let chain: Vec<&str> = plan.chain(0).iter().map(|&at| plan.steps()[at].id.as_str()).collect();
    assert_eq!(chain, ["root", "left", "right"]);
    assert_eq!(plan.layers(), [3, 1, 2, 0, 0]);
}
