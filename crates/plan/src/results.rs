//! What the steps that ran gave.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{Error, ErrorKind, Plan};

/// The results of steps, by the place of the step. A clone shares them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results(Arc<BTreeMap<usize, StepResult>>);

/// What a step gave.
#[derive(Debug, Clone, PartialEq)]
pub struct StepResult {
    /// Whether the tool did its work.
    pub success: bool,
    /// The arguments that it was called with.
    pub arguments: Map<String, Value>,
    /// What it answered.
    pub data: Value,
}

impl Results {
    /// Reads results: an object from the name of a step to `{"arguments", "data",
    /// "success"}`; the last is true where it is not said.
    ///
    /// # Errors
    /// The first result of an unknown step or of another shape.
    pub fn read(text: &str, plan: &Plan) -> Result<Self, Error> {
        let syntax = |e: serde_json::Error| {
            let place = format!("line {} column {}", e.line(), e.column());
            Error::new(ErrorKind::Syntax, place, "an object with the results by step is expected")
        };
        let object: Map<String, Value> = serde_json::from_str(text).map_err(syntax)?;
        let mut results = Self::default();
        for (name, value) in object {
            let Some(step) = plan.find(&name) else {
                let rule = "the plan has no step of this name";
                return Err(Error::new(ErrorKind::UnknownStep, name, rule));
            };
            results.insert(step, result_of(value).map_err(|e| e.under(&name))?);
        }
        Ok(results)
    }

    /// The results as they are read, steps in the order of the plan.
    pub fn write(&self, plan: &Plan) -> String {
        let entry = |(&step, result): (&usize, &StepResult)| {
            let StepResult { success, arguments, data } = result;
            let value = json!({"arguments": arguments, "success": success, "data": data});
            Some((plan.steps().get(step)?.id.to_string(), value))
        };
        let object: Map<String, Value> = self.0.iter().filter_map(entry).collect();
        Value::Object(object).to_string()
    }

    /// Stores a result, in place of an earlier one.
    pub fn insert(&mut self, step: usize, result: StepResult) {
        Arc::make_mut(&mut self.0).insert(step, result);
    }

    /// The result of a step.
    pub fn get(&self, step: usize) -> Option<&StepResult> {
        self.0.get(&step)
    }

    /// All results, by the place of the step.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &StepResult)> {
        self.0.iter().map(|(&step, result)| (step, result))
    }
}

fn result_of(value: Value) -> Result<StepResult, Error> {
    let fault = |place: &str, rule: &str| Error::new(ErrorKind::Form, place, rule);
    let Value::Object(mut fields) = value else {
        return Err(fault("", "a result is a JSON object"));
    };
    let success = match fields.remove("success") {
        None => true,
        Some(Value::Bool(success)) => success,
        Some(_) => return Err(fault("success", "true or false is expected")),
    };
    let arguments = match fields.remove("arguments") {
        None => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(fault("arguments", "a JSON object is expected")),
    };
    let data = fields.remove("data").unwrap_or(Value::Null);
    match fields.keys().next() {
        None => Ok(StepResult { success, arguments, data }),
        Some(name) => Err(fault(name, "it must be one of arguments, data, success")),
    }
}
