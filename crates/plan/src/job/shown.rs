//! The steps that a step depends on, as the model is shown them (E3, E4, E11).
//!
//! A result or an argument over the limit is shown head and tail, with a note that says
//! how much is left out and where the whole is.

use interleaf_model::Message;
use serde_json::{Map, Value, json};

use super::request::pretty;
use super::{Job, Way};
use crate::templates::Text;
use crate::xml::{Call, Protocol, write_result};
use crate::{Error, PlanStep, StepId, StepResult};

/// An earlier step as it is shown.
pub(super) struct Shown<'j> {
    at: usize,
    step: &'j PlanStep,
    result: StepResult,
    pub(super) is_shortened: bool,
}

impl Shown<'_> {
    pub(super) fn id(&self) -> StepId {
        self.step.id.clone()
    }

    fn to_xml(&self) -> String {
        write_result(
            self.step.id.as_str(),
            self.step.tool.as_str(),
            &self.step.reason,
            &self.result,
        )
    }
}

impl Job {
    /// The chain of dependencies, with nothing in it longer than `limit`.
    pub(super) fn shown(&self, limit: usize) -> Result<Vec<Shown<'_>>, Error> {
        let mut shown = Vec::new();
        for at in self.plan.chain(self.index) {
            let step = &self.plan.steps()[at];
            let Some(result) = self.results.get(at) else { continue };
            let mut cut = Cut { job: self, step: step.id.as_str(), limit, is_used: false };
            let mut arguments = Map::new();
            for (name, value) in &result.arguments {
                arguments.insert(name.clone(), cut.value(value, "arguments")?);
            }
            let data = cut.value(&result.data, "result")?;
            let is_shortened = cut.is_used;
            let result = StepResult { success: result.success, arguments, data };
            shown.push(Shown { at, step, result, is_shortened });
        }
        Ok(shown)
    }

    /// The calls and results of the chain, in one assistant message.
    pub(super) fn xml_history(&self, shown: &[Shown<'_>]) -> Vec<Message> {
        let protocol = Protocol::new(self.plan.tools().iter().map(|own| &own.tool));
        let mut pieces = Vec::new();
        for own in shown {
            let (tool, arguments) = (own.step.tool.clone(), own.result.arguments.clone());
            pieces.push(protocol.write(&[Call { tool, arguments }]));
            pieces.push(own.to_xml());
        }
        match pieces.is_empty() {
            true => Vec::new(),
            false => vec![Message::assistant(&pieces.join("\n\n"))],
        }
    }

    /// The calls and results of the chain, a pair of messages each.
    pub(super) fn native_history(&self, shown: &[Shown<'_>]) -> Result<Vec<Message>, Error> {
        let mut messages = Vec::new();
        for Shown { step, result, .. } in shown {
            let given = json!({"tool": step.tool.as_str(), "reason": step.reason.trim()});
            messages.push(Message::user(&self.render(Text::HistoryUser, &given)?));
            let arguments = Value::Object(result.arguments.clone()).to_string();
            let outcome = match result.success {
                true => result.data.to_string(),
                false => json!({"success": false, "data": result.data}).to_string(),
            };
            let given = json!({"arguments": arguments, "result": outcome});
            messages.push(Message::assistant(&self.render(Text::HistoryAssistant, &given)?));
        }
        Ok(messages)
    }

    /// The results of the steps that are declared as dependencies (E4).
    pub(super) fn dependencies(&self, shown: &[Shown<'_>]) -> Result<Option<String>, Error> {
        let direct = self.step().depends_on.iter();
        let direct: Vec<&Shown<'_>> =
            direct.filter_map(|&at| shown.iter().find(|own| own.at == at)).collect();
        if direct.is_empty() {
            return Ok(None);
        }
        let results = match self.way {
            Way::Xml => direct.iter().map(|own| own.to_xml()).collect::<Vec<_>>().join("\n\n"),
            Way::Native => {
                let write = |Shown { step, result, .. }: &&Shown<'_>| {
                    json!({
                        "step": step.id.as_str(),
                        "tool": step.tool.as_str(),
                        "success": result.success,
                        "arguments": result.arguments,
                        "result": result.data,
                    })
                };
                pretty(&Value::Array(direct.iter().map(write).collect()))
            }
        };
        self.render(Text::Dependencies(self.folder()), &json!({"results": results})).map(Some)
    }
}

/// Shortens what is too long in one step.
struct Cut<'j> {
    job: &'j Job,
    step: &'j str,
    limit: usize,
    is_used: bool,
}

impl Cut<'_> {
    /// A value, or the head and the tail of its text.
    fn value(&mut self, value: &Value, what: &str) -> Result<Value, Error> {
        let text = match value {
            Value::String(text) if text.len() <= self.limit => return Ok(value.clone()),
            Value::String(text) => text.clone(),
            other => match other.to_string() {
                text if text.len() <= self.limit => return Ok(value.clone()),
                text => text,
            },
        };
        self.is_used = true;
        let head = text.floor_char_boundary(self.limit / 2);
        let tail = text.ceil_char_boundary(text.len() - self.limit / 2);
        let (left_out, total) = (tail - head, text.len());
        let given = json!({"left_out": left_out, "total": total, "step": self.step, "what": what});
        let note = self.job.render(Text::Cut, &given)?;
        Ok(Value::String(format!("{}\n{note}\n{}", &text[..head], &text[tail..])))
    }
}
