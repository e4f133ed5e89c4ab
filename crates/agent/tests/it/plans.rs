//! Plans that run: against the doubles, killed and gone on with, held against a law.

mod bounds;
mod ends;
mod fall_backs;
mod interrupts;
mod killed;
mod law;
mod runs;
mod wrong;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use interleaf::Session;
use interleaf::model::Message;
use interleaf::plan::{Mode, Plan, PlanSettings};
use interleaf::store::Page;
use interleaf::wire::Family;
use interleaf_agent::{PlanEvent, PlanRun, PlanRunner, Tool};
use interleaf_doubles::{Answer, Asked, Double};
use serde_json::{Value, json};

use crate::world::{changing, target};

/// A step: its name, and what it depends on.
type Step<'a> = (&'a str, &'a [&'a str]);

/// A plan of steps which all call the tool `work` with a name.
fn plan_of(steps: &[Step<'_>]) -> Plan {
    let step = |(id, needs): &Step<'_>| {
        let reason = format!("for {id}");
        json!({"id": id, "tool": "work", "reason": reason, "depends_on": needs})
    };
    let steps: Vec<Value> = steps.iter().map(step).collect();
    let plan = json!({"objective": "Mend the clock.", "steps": steps}).to_string();
    Plan::read_with(&plan, &[work(&Arc::default()).spec()]).unwrap()
}

/// A diamond: two steps in the middle that wait for one and that one waits for.
fn diamond() -> Plan {
    plan_of(&[("top", &[]), ("left", &["top"]), ("right", &["top"]), ("end", &["left", "right"])])
}

/// What ran, and how often.
type Ran = Arc<Mutex<BTreeMap<String, usize>>>;

/// A tool that changes something, and notes that it ran.
fn work(ran: &Ran) -> impl Tool + use<> {
    let ran = ran.clone();
    changing("work", move |named, _| {
        *ran.lock().unwrap().entry(named.name.clone()).or_default() += 1;
        async move { Ok(format!("worked on {}", named.name).into()) }
    })
}

/// Which step is asked for, counted from 1.
fn step_asked(asked: &Asked) -> usize {
    let text = asked.user_texts().next_back().unwrap();
    let rest = text.split_once("urrent step: ").or(text.split_once("<current_step>")).unwrap().1;
    rest.split_once('/').unwrap().0.parse().unwrap()
}

/// A call of the tool `work`, in the form that is asked for.
fn called(asked: &Asked, arguments: &Value) -> Answer {
    if !asked.tools.is_empty() {
        return Answer::new().with_call("work", arguments);
    }
    let name = arguments["name"].as_str().unwrap_or_default();
    Answer::text(format!(
        "<tools><invoke name=\"work\"><parameter name=\"name\">{name}</parameter></invoke></tools>"
    ))
}

/// Names each step by its number.
fn by_number(asked: &Asked) -> Answer {
    called(asked, &json!({"name": format!("part {}", step_asked(asked))}))
}

fn runner(plan: Plan, double: &Double) -> PlanRunner {
    PlanRunner::new(plan).with_target(target(Family::Anthropic, double))
}

fn in_mode(mode: Mode) -> PlanSettings {
    PlanSettings { mode, ..PlanSettings::default() }
}

/// All that happens until the run ends.
async fn events(run: &mut PlanRun) -> Vec<PlanEvent> {
    let mut all = Vec::new();
    while let Some(event) = run.next().await {
        all.push(event);
    }
    all
}

/// Where something happens to a step.
fn place(events: &[PlanEvent], what: impl Fn(&PlanEvent) -> Option<usize>, step: usize) -> usize {
    events.iter().position(|event| what(event) == Some(step)).unwrap()
}

fn started(event: &PlanEvent) -> Option<usize> {
    match event {
        PlanEvent::Started { step, .. } => Some(*step),
        _ => None,
    }
}

fn done(event: &PlanEvent) -> Option<usize> {
    match event {
        PlanEvent::Done { step, .. } => Some(*step),
        _ => None,
    }
}

/// The results of a session's calls: each call has one.
fn results(session: &Session) -> BTreeMap<String, Arc<Message>> {
    let mut found = BTreeMap::new();
    for message in session.conversation().log() {
        if let Some(result) = message.as_result() {
            let known = found.insert(result.call.to_string(), message.clone());
            assert!(known.is_none(), "two results of {}", result.call);
        }
    }
    found
}

/// The tokens of all requests that the session noted.
async fn tokens_noted(session: &Session) -> u64 {
    let requests = session.requests(Page::newest(10_000)).await.unwrap();
    let usages = requests.iter().filter_map(|request| request.usage);
    usages.map(|usage| interleaf::model::Spent::from(usage).total()).sum()
}
