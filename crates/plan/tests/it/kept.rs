//! Plans that are written, read again, and told apart.

use interleaf_model::Tool;
use interleaf_plan::{ErrorKind, Plan};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::text;

fn read(plan: &Value) -> Plan {
    Plan::read(&plan.to_string(), &[]).unwrap()
}

/// A random plan: steps depend on earlier ones.
fn drawn() -> impl Strategy<Value = Value> {
    let step =
        (text(), prop::option::of(text()), 0_usize..3, prop::collection::vec(0_usize..9, 0..4));
    let steps = prop::collection::vec(step, 1..8);
    (text(), steps).prop_map(|(objective, steps)| {
        let steps = steps.into_iter().enumerate().map(|(at, (reason, draft, tool, needs))| {
            let needs: Vec<usize> = needs.into_iter().filter(|needed| *needed < at).collect();
            let draft = draft.map(|draft| json!({"a": draft, "n": at}));
            let (id, tool) = (format!("{at}"), format!("t{tool}"));
            json!({"id": id, "tool": tool, "reason": reason, "depends_on": needs, "draft": draft})
        });
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        json!({
            "objective": format!("o{objective}"),
            "tools": [
                {"name": "t0", "parameters": schema, "description": "the first"},
                {"name": "t1", "strict": true},
                {"name": "t2"},
            ],
            "steps": steps.collect::<Vec<_>>(),
        })
    })
}

proptest! {
    #[test]
    fn a_plan_that_is_written_is_read_as_the_same(plan in drawn()) {
        let plan = read(&plan);
        let again = Plan::read(&plan.write(), &[]).unwrap();
        prop_assert_eq!(again.goes_on_from(&plan), Ok(()));
        prop_assert_eq!(plan.goes_on_from(&again), Ok(()));
        prop_assert_eq!(again.steps(), plan.steps());
        for step in 0..plan.steps().len() {
            let (tool, own) = (plan.tool_of(step).unwrap(), again.tool_of(step).unwrap());
            prop_assert_eq!(&tool.tool.description, &own.tool.description);
            prop_assert_eq!(tool.schema.as_value(), own.schema.as_value());
            prop_assert_eq!(tool.tool.strict, own.tool.strict);
        }
        prop_assert_eq!(again.write(), plan.write());
    }
}

#[test]
fn what_changed_in_a_plan_is_told_with_its_place() {
    let steps = json!([
        {"id": "a", "tool": "t", "reason": "first", "draft": {"n": 1}},
        {"id": "b", "tool": "t", "depends_on": ["a"]},
    ]);
    let plan = json!({"objective": "o", "tools": [{"name": "t"}, {"name": "u"}], "steps": steps});
    let before = read(&plan);
    let changed = |pointer: &str, value: Value| {
        let mut plan = plan.clone();
        *plan.pointer_mut(pointer).unwrap() = value;
        let error = read(&plan).goes_on_from(&before).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed);
        error.to_string()
    };
    assert_eq!(changed("/objective", json!("p")), "objective: it is another one than before");
    assert_eq!(
        changed("/steps/0/reason", json!("1st")),
        "steps[0].reason: step a has changed: it was \"first\""
    );
    assert_eq!(
        changed("/steps/1/tool", json!("u")),
        "steps[1].tool: step b has changed: it was \"t\""
    );
    assert_eq!(
        changed("/steps/0/draft", json!({"n": 2})),
        "steps[0].draft: step a has changed: it was {\"n\":1}"
    );
    // Tools are those of whoever runs it.
    let mut other = plan.clone();
    other["tools"][0]["description"] = json!("another one");
    assert_eq!(read(&other).goes_on_from(&before), Ok(()));
}

#[test]
fn a_tool_that_is_offered_gives_way_to_one_that_the_plan_declares() {
    let offered = |name: &str| Tool::new(name, "offered", json!({"type": "object"}));
    let tools = [offered("read"), offered("write")];
    let plan = json!({
        "objective": "o",
        "tools": [{"name": "read", "description": "declared"}],
        "steps": [{"tool": "read"}, {"tool": "write"}],
    });
    let plan = Plan::read_with(&plan.to_string(), &tools).unwrap();
    let what = |step: usize| plan.tool_of(step).unwrap().tool.description.as_deref().unwrap();
    assert_eq!((what(0), what(1)), ("declared", "offered"));
    let none = json!({"objective": "o", "steps": [{"tool": "drill"}]});
    let faults = Plan::read_with(&none.to_string(), &tools).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "steps[0].tool: unknown tool \"drill\": the plan declares read, write"
    );
}
