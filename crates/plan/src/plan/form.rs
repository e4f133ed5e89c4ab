//! A plan as JSON. Every fault is collected, for a planner that is told one fault at a
//! time needs as many rounds as it made mistakes.

use std::borrow::Cow;
use std::collections::HashMap;

use interleaf_model::{Extra, Json, Tool, ToolName};
use serde_json::{Map, Value};

use super::{PlanStep, StepId};
use crate::{Error, ErrorKind};

/// What a text says, with what is wrong in it.
pub(super) struct PlanForm {
    pub(super) objective: String,
    /// Each with its place in the text.
    pub(super) tools: Vec<(String, Tool)>,
    pub(super) steps: Vec<PlanStep>,
    pub(super) faults: Vec<Error>,
}

/// Collects what is wrong.
struct Faults(Vec<Error>);

impl Faults {
    fn add(&mut self, kind: ErrorKind, place: impl Into<String>, rule: impl Into<String>) {
        self.0.push(Error::new(kind, place, rule));
    }

    fn form(&mut self, place: impl Into<String>, rule: impl Into<String>) {
        self.add(ErrorKind::Form, place, rule);
    }

    fn unknown_fields(&mut self, place: &str, object: &Map<String, Value>, known: &[&str]) {
        for name in object.keys().filter(|name| !known.contains(&name.as_str())) {
            let rule = format!("unknown field {name:?}: it must be one of {}", known.join(", "));
            self.form(place, rule);
        }
    }

    fn text(&mut self, object: &Map<String, Value>, name: &str, place: &str) -> String {
        match object.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => return text.clone(),
            Some(Value::String(_)) => self.form(place, "it is empty"),
            Some(_) => self.form(place, "a text is expected"),
            None => self.form(place, format!("the field `{name}` is missing")),
        }
        String::new()
    }
}

pub(super) fn read(text: &str) -> Result<PlanForm, Vec<Error>> {
    let whole = |kind, place: String, rule: &str| vec![Error::new(kind, place, rule)];
    let value: Value = serde_json::from_str(text).map_err(|e| {
        let rule = e.to_string();
        let rule = rule.rsplit_once(" at line ").map_or(rule.as_str(), |(rule, _)| rule);
        let place = format!("line {} column {}", e.line(), e.column());
        whole(ErrorKind::Syntax, place, rule)
    })?;
    let Value::Object(plan) = value else {
        return Err(whole(ErrorKind::Form, String::new(), "a plan is a JSON object"));
    };
    let mut faults = Faults(Vec::new());
    faults.unknown_fields("", &plan, &["objective", "tools", "steps"]);
    let objective = faults.text(&plan, "objective", "objective");
    let tools = match plan.get("tools") {
        None => Vec::new(),
        Some(tools) => {
            let (tools, mut wrong) = tools_of(tools, "tools");
            faults.0.append(&mut wrong);
            tools
        }
    };
    let steps = steps_of(&plan, &mut faults);
    Ok(PlanForm { objective, tools, steps, faults: faults.0 })
}

/// Reads a list of tools, in our form or in that of an API.
///
/// # Errors
/// Every tool without a name, and whatever is no list.
pub fn read_tools(list: &Value) -> Result<Vec<Tool>, Vec<Error>> {
    let (tools, faults) = tools_of(list, "tools");
    match faults.is_empty() {
        true => Ok(tools.into_iter().map(|(_, tool)| tool).collect()),
        false => Err(faults),
    }
}

fn tools_of(list: &Value, place: &str) -> (Vec<(String, Tool)>, Vec<Error>) {
    let Value::Array(list) = list else {
        let fault = Error::new(ErrorKind::Form, place, "a list of tools is expected");
        return (Vec::new(), vec![fault]);
    };
    let (mut tools, mut faults) = (Vec::new(), Vec::new());
    for (i, value) in list.iter().enumerate() {
        let place = format!("{place}[{i}]");
        match tool_of(value) {
            Some(tool) => tools.push((place, tool)),
            None => {
                faults.push(Error::new(ErrorKind::Form, place, "a tool needs a field `name`"));
            }
        }
    }
    (tools, faults)
}

fn tool_of(value: &Value) -> Option<Tool> {
    let own = ["function", "toolSpec"].into_iter().find_map(|field| value.get(field));
    let own = own.filter(|own| own.is_object()).unwrap_or(value);
    let name = own.get("name")?.as_str().filter(|name| !name.trim().is_empty())?;
    let schema = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema"]
        .into_iter()
        .find_map(|field| own.get(field))
        .filter(|schema| !schema.is_null());
    // Bedrock puts the schema into one more object.
    let schema = schema.map(|schema| match schema.get("json") {
        Some(inner) if schema.as_object().is_some_and(|object| object.len() == 1) => inner,
        _ => schema,
    });
    Some(Tool {
        name: ToolName::new(name),
        description: own.get("description").and_then(Value::as_str).map(Into::into),
        parameters: schema.map(Json::from),
        strict: own.get("strict").and_then(Value::as_bool),
        extra: Extra::NONE,
    })
}

fn steps_of(plan: &Map<String, Value>, faults: &mut Faults) -> Vec<PlanStep> {
    let list = match plan.get("steps") {
        Some(Value::Array(list)) if !list.is_empty() => list,
        Some(Value::Array(_)) => {
            faults.form("steps", "a plan needs at least one step");
            return Vec::new();
        }
        Some(_) => {
            faults.form("steps", "a list of steps is expected");
            return Vec::new();
        }
        None => {
            faults.form("steps", "the field `steps` is missing");
            return Vec::new();
        }
    };
    let mut ids = Ids::of(list, faults);
    list.iter().enumerate().map(|(i, value)| step_of(i, value, &mut ids, faults)).collect()
}

/// The names of steps.
struct Ids {
    /// The name of each step: its own, or its place.
    names: Vec<StepId>,
    /// The first step of each name.
    places: HashMap<StepId, usize>,
    /// For each step, the last one that was found to depend on it.
    needed_by: Vec<Option<usize>>,
}

impl Ids {
    fn of(list: &[Value], faults: &mut Faults) -> Self {
        let mut names: Vec<StepId> = Vec::with_capacity(list.len());
        let mut places = HashMap::with_capacity(list.len());
        for (i, value) in list.iter().enumerate() {
            let place = format!("steps[{i}].id");
            let id = match value.get("id") {
                None => i.to_string(),
                Some(Value::String(id)) if !id.trim().is_empty() => id.clone(),
                Some(Value::Number(id)) => id.to_string(),
                Some(_) => {
                    faults.form(&place, "a step is named by a text or a number");
                    i.to_string()
                }
            };
            let id = StepId::new(id);
            match places.get(&id) {
                Some(first) => {
                    let rule = format!("{:?} is the name of steps[{first}] already", id.as_str());
                    faults.form(&place, rule);
                }
                None => drop(places.insert(id.clone(), i)),
            }
            names.push(id);
        }
        Self { needed_by: vec![None; names.len()], names, places }
    }
}

fn step_of(i: usize, value: &Value, ids: &mut Ids, faults: &mut Faults) -> PlanStep {
    let place = format!("steps[{i}]");
    let id = ids.names[i].clone();
    let Value::Object(step) = value else {
        faults.form(&place, "a step is a JSON object");
        let tool = ToolName::new("");
        return PlanStep { id, tool, reason: String::new(), depends_on: Vec::new(), draft: None };
    };
    faults.unknown_fields(&place, step, &["id", "tool", "reason", "depends_on", "draft"]);
    let tool = ToolName::new(faults.text(step, "tool", &format!("{place}.tool")));
    let reason = match step.get("reason") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(reason)) => reason.clone(),
        Some(_) => {
            faults.form(format!("{place}.reason"), "a text is expected");
            String::new()
        }
    };
    let draft = match step.get("draft") {
        None | Some(Value::Null) => None,
        Some(Value::Object(draft)) => Some(draft.clone()),
        Some(_) => {
            faults.form(format!("{place}.draft"), "arguments are a JSON object");
            None
        }
    };
    let depends_on = dependencies_of(i, step, ids, faults);
    PlanStep { id, tool, reason, depends_on, draft }
}

/// The steps that a step depends on, each once.
fn dependencies_of(
    i: usize,
    step: &Map<String, Value>,
    ids: &mut Ids,
    faults: &mut Faults,
) -> Vec<usize> {
    let place = format!("steps[{i}].depends_on");
    let list = match step.get("depends_on") {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => {
            faults.form(place, "a list of steps is expected");
            return Vec::new();
        }
    };
    let mut found = Vec::with_capacity(list.len());
    for (n, value) in list.iter().enumerate() {
        let name = match value {
            Value::String(name) => Cow::Borrowed(name.as_str()),
            Value::Number(name) => Cow::Owned(name.to_string()),
            _ => {
                faults.form(format!("{place}[{n}]"), "a step is named by a text or a number");
                continue;
            }
        };
        match ids.places.get(&*name).copied() {
            Some(at) if ids.needed_by[at].replace(i) == Some(i) => {}
            Some(at) => found.push(at),
            None => {
                let known = super::listed(ids.names.iter().map(StepId::as_str));
                let rule = format!("unknown step {name:?}: the plan has {known}");
                faults.add(ErrorKind::UnknownStep, format!("{place}[{n}]"), rule);
            }
        }
    }
    found
}
