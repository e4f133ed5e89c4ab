//! What the steps that ran gave.

use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_model::Json;
use serde_json::Value;

use crate::{Error, ErrorKind, Plan, exact};

/// The results of steps, by the place of the step. A clone shares them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results(Arc<BTreeMap<usize, StepResult>>);

/// What a step gave.
#[derive(Debug, Clone, PartialEq)]
pub struct StepResult {
    /// Whether the tool did its work.
    pub success: bool,
    /// The arguments that it was called with, an object.
    pub arguments: Json,
    /// What it answered.
    pub data: Json,
}

impl Results {
    /// Reads results: an object from the name of a step to `{"arguments", "data",
    /// "success"}`; the last is true where it is not said.
    ///
    /// # Errors
    /// The first result of an unknown step or of another shape.
    pub fn read(text: &str, plan: &Plan) -> Result<Self, Error> {
        let all: Json = serde_json::from_str(text).map_err(|e| {
            let place = format!("line {} column {}", e.line(), e.column());
            Error::new(ErrorKind::Syntax, place, "an object with the results by step is expected")
        })?;
        let Some(all) = exact::fields(&all) else {
            let rule = "an object with the results by step is expected";
            return Err(Error::new(ErrorKind::Form, "", rule));
        };
        let mut results = Self::default();
        for (name, value) in all {
            let Some(step) = plan.find(&name) else {
                let rule = "the plan has no step of this name";
                return Err(Error::new(ErrorKind::UnknownStep, name, rule));
            };
            if results.get(step).is_some() {
                let rule = "a step has one result, and this one has two";
                return Err(Error::new(ErrorKind::Form, name, rule));
            }
            results.insert(step, result_of(&value).map_err(|e| e.under(&name))?);
        }
        Ok(results)
    }

    /// The results as they are read, steps in the order of the plan.
    pub fn write(&self, plan: &Plan) -> String {
        let entry = |(&step, result): (&usize, &StepResult)| {
            let StepResult { success, arguments, data } = result;
            let success = Json::from(Value::Bool(*success));
            let fields = [("arguments", arguments), ("success", &success), ("data", data)];
            Some((plan.steps().get(step)?.id.to_string(), exact::object(fields)))
        };
        let all: Vec<(String, Json)> = self.0.iter().filter_map(entry).collect();
        exact::object(all.iter().map(|(id, value)| (id.as_str(), value))).as_str().to_owned()
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

fn result_of(value: &Json) -> Result<StepResult, Error> {
    let fault = |place: &str, rule: &str| Error::new(ErrorKind::Form, place, rule);
    let Some(fields) = exact::fields(value) else {
        return Err(fault("", "a result is a JSON object"));
    };
    let null = Json::from(Value::Null);
    let mut result = StepResult { success: true, arguments: exact::empty(), data: null };
    for (name, value) in fields {
        match name.as_str() {
            "success" => {
                let own: Result<bool, _> = serde_json::from_str(value.as_str());
                result.success = own.map_err(|_| fault("success", "true or false is expected"))?;
            }
            "arguments" if value.is_object() && value.is_readable() => result.arguments = value,
            "arguments" => return Err(fault("arguments", "a JSON object is expected")),
            "data" if value.is_readable() => result.data = value,
            "data" => return Err(fault("data", "this JSON cannot be read")),
            other => return Err(fault(other, "it must be one of arguments, data, success")),
        }
    }
    Ok(result)
}
