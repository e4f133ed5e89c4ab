//! The steps that a step depends on, as the model is shown them (E3, E4, E11).
//!
//! A result or an argument over the limit is shown head and tail, with a note that says
//! how much is left out and where the whole is.

use std::collections::HashMap;

use interleaf_model::{Json, Message};
use serde_json::{Value, json};

use super::{Job, Way};
use crate::calls::{Call, TextTools};
use crate::templates::Text;
use crate::xml::write_result;
use crate::{Error, PlanStep, StepId, StepResult, exact};

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
        for &at in &*self.chain {
            let step = &self.plan.steps()[at];
            let Some(result) = self.results.get(at) else { continue };
            let mut cut = Cut { job: self, step: step.id.as_str(), limit, is_used: false };
            let mut arguments = Vec::new();
            for (name, value) in exact::fields(&result.arguments).unwrap_or_default() {
                arguments.push((name, cut.value(&value, "arguments")?));
            }
            let arguments = match cut.is_used {
                true => exact::object(arguments.iter().map(|(name, own)| (name.as_str(), own))),
                false => result.arguments.clone(),
            };
            let data = cut.value(&result.data, "result")?;
            let is_shortened = cut.is_used;
            let result = StepResult { success: result.success, arguments, data };
            shown.push(Shown { at, step, result, is_shortened });
        }
        Ok(shown)
    }

    /// The calls and results of the chain, in one assistant message.
    pub(super) fn xml_history(&self, shown: &[Shown<'_>]) -> Vec<Message> {
        let text_tools = TextTools::new(self.plan.tools().iter().map(|own| &own.tool));
        let mut pieces = Vec::new();
        for own in shown {
            let (tool, arguments) = (own.step.tool.clone(), own.result.arguments.clone());
            pieces.push(text_tools.write(&[Call { tool, arguments }]));
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
            let failed = Json::from(Value::Bool(false));
            let outcome = match result.success {
                true => result.data.clone(),
                false => exact::object([("success", &failed), ("data", &result.data)]),
            };
            let arguments = exact::compact(&result.arguments);
            let given = json!({"arguments": arguments, "result": exact::compact(&outcome)});
            messages.push(Message::assistant(&self.render(Text::HistoryAssistant, &given)?));
        }
        Ok(messages)
    }

    /// The results of the steps that are declared as dependencies (E4).
    pub(super) fn dependencies(&self, shown: &[Shown<'_>]) -> Result<Option<String>, Error> {
        let places: HashMap<usize, &Shown<'_>> = shown.iter().map(|own| (own.at, own)).collect();
        let direct = self.step().depends_on.iter();
        let direct: Vec<&Shown<'_>> = direct.filter_map(|at| places.get(at).copied()).collect();
        if direct.is_empty() {
            return Ok(None);
        }
        let results = match self.way {
            Way::Xml => direct.iter().map(|own| own.to_xml()).collect::<Vec<_>>().join("\n\n"),
            Way::Native => {
                let write = |Shown { step, result, .. }: &&Shown<'_>| {
                    let (id, tool) = (exact::string(step.id.as_str()), &step.tool);
                    exact::object([
                        ("step", &id),
                        ("tool", &exact::string(tool.as_str())),
                        ("success", &Json::from(Value::Bool(result.success))),
                        ("arguments", &result.arguments),
                        ("result", &result.data),
                    ])
                };
                exact::pretty(&exact::array(&direct.iter().map(write).collect::<Vec<_>>()))
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
    fn value(&mut self, value: &Json, what: &str) -> Result<Json, Error> {
        if value.as_str().len() <= self.limit {
            return Ok(value.clone());
        }
        let text = exact::text(value).unwrap_or_else(|| value.as_str().to_owned());
        self.is_used = true;
        let half = (self.limit / 2).min(text.len() / 2);
        let head = text.floor_char_boundary(half);
        let tail = text.ceil_char_boundary(text.len() - half);
        let (left_out, total) = (tail - head, text.len());
        let given = json!({"left_out": left_out, "total": total, "step": self.step, "what": what});
        let note = self.job.render(Text::Cut, &given)?;
        Ok(exact::string(&format!("{}\n{note}\n{}", &text[..head], &text[tail..])))
    }
}
