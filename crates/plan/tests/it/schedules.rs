//! Which steps may run, and when.

use interleaf_plan::{Plan, Results, Schedule, StepResult, StepState};
use serde_json::{Value, json};

fn done() -> StepResult {
    StepResult { success: true, arguments: json!({}).into(), data: json!("fine").into() }
}

fn failed() -> StepResult {
    StepResult { success: false, ..done() }
}

fn plan(steps: &Value) -> Plan {
    let plan = json!({"objective": "o", "tools": [{"name": "t"}], "steps": steps});
    Plan::read(&plan.to_string(), &[]).unwrap()
}

/// A root, `width` steps that need it, and one that needs them all.
fn wide(width: usize) -> Plan {
    let mut steps = vec![json!({"id": "root", "tool": "t"})];
    steps.extend(
        (0..width).map(|i| json!({"id": format!("w{i}"), "tool": "t", "depends_on": ["root"]})),
    );
    let all: Vec<String> = (0..width).map(|i| format!("w{i}")).collect();
    steps.push(json!({"id": "end", "tool": "t", "depends_on": all}));
    plan(&Value::Array(steps))
}

#[test]
fn two_hundred_steps_in_a_wide_graph_run_in_three_waves() {
    let plan = wide(198);
    let mut schedule = Schedule::new(&plan);
    assert_eq!(schedule.ready(), [0]);
    assert_eq!(schedule.finish(0, done()).unwrap(), (1..199).collect::<Vec<_>>());
    for step in schedule.ready() {
        schedule.start(step).unwrap();
    }
    assert!(schedule.ready().is_empty() && !schedule.is_over());
    for step in (1..199).rev() {
        let freed = schedule.finish(step, done()).unwrap();
        assert_eq!(freed, if step == 1 { vec![199] } else { vec![] });
    }
    assert!(schedule.finish(199, done()).unwrap().is_empty());
    assert!(schedule.is_over() && schedule.remaining().is_empty());
}

#[test]
fn a_run_resumes_without_a_finished_step_being_offered_again() {
    let plan = wide(10);
    let mut schedule = Schedule::new(&plan);
    schedule.finish(0, done()).unwrap();
    for step in [3, 5] {
        schedule.start(step).unwrap();
        schedule.finish(step, done()).unwrap();
    }
    schedule.start(7).unwrap();
    schedule.finish(8, failed()).unwrap();
    let stored = schedule.results().write(&plan);
    let results = Results::read(&stored, &plan).unwrap();
    let again = Schedule::resume(&plan, &results);
    assert_eq!(again.ready(), [1, 2, 4, 6, 7, 8, 9, 10]);
    assert_eq!(again.remaining(), [1, 2, 4, 6, 7, 8, 9, 10, 11]);
    assert_eq!(again.state(3), Some(StepState::Done));
}

#[test]
fn a_failure_blocks_what_depends_on_it_and_nothing_else() {
    let plan = plan(&json!([
        {"tool": "t"}, {"tool": "t", "depends_on": [0]}, {"tool": "t", "depends_on": [1]}, {"tool": "t"},
    ]));
    let mut schedule = Schedule::new(&plan);
    schedule.start(0).unwrap();
    assert!(schedule.finish(0, failed()).unwrap().is_empty());
    let states: Vec<_> = (0..4).filter_map(|at| schedule.state(at)).collect();
    assert_eq!(
        states,
        [StepState::Failed, StepState::Blocked, StepState::Blocked, StepState::Ready]
    );
    schedule.finish(3, done()).unwrap();
    assert!(schedule.is_over());
    assert_eq!(schedule.remaining(), [0, 1, 2]);
}

#[test]
fn a_step_is_started_once_and_only_when_it_is_ready() {
    let plan = plan(&json!([{"tool": "t"}, {"tool": "t", "depends_on": [0]}]));
    let mut schedule = Schedule::new(&plan);
    assert_eq!(schedule.start(1).unwrap_err().to_string(), "steps[1]: step 1 is not ready to run");
    schedule.start(0).unwrap();
    assert!(schedule.start(0).is_err());
    assert!(schedule.finish(1, done()).is_err());
    assert!(schedule.start(9).is_err());
    assert_eq!(schedule.finish(0, done()).unwrap(), [1]);
    assert!(schedule.finish(0, done()).is_err());
}

#[test]
fn results_of_unknown_steps_or_of_another_shape_are_refused() {
    let plan = plan(&json!([{"tool": "t"}]));
    let refused = |text: &str| Results::read(text, &plan).unwrap_err().to_string();
    assert_eq!(refused(r#"{"9": {}}"#), "9: the plan has no step of this name");
    assert_eq!(refused(r#"{"0": 1}"#), "0: a result is a JSON object");
    assert_eq!(
        refused(r#"{"0": {"dta": 1}}"#),
        "0.dta: it must be one of arguments, data, success"
    );
}
