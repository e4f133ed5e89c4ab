//! What is sent to the model.
//!
//! | | xml | native |
//! |---|---|---|
//! | system | policy, the line that sets it above the rest, overlays, the stage's text | the same |
//! | conversation | left out, unless it is asked for | as it is |
//! | chain of dependencies | one assistant message: calls and results | a user and an assistant message each |
//! | the last message | the user's: task, direct results, instruction, reinforcement | the same |

use std::sync::Arc;

use interleaf_model::{Entry, Message, Prompt, Provenance, Role, Tool, ToolName};
use serde_json::{Value, json};

use super::messages::merge_adjacent;
use super::{InXml, Job, Way};
use crate::templates::{Folder, Text};
use crate::{Error, ErrorKind, StepId};

/// A request for the arguments of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRequest {
    /// The messages. No two of one role stand in a row.
    pub messages: Vec<Message>,
    /// The tools that the model is offered: the one of the step, or none in xml.
    pub tools: Arc<[Tool]>,
    /// The tool that the API is to force.
    pub force: Option<ToolName>,
    /// The way that it goes.
    pub way: Way,
    /// Whether native calling was tried before, in vain.
    pub fell_back: bool,
    /// Which try of its way it is, counted from 1.
    pub attempt: usize,
    /// The earlier steps whose results or arguments are shown head and tail only.
    pub shortened: Vec<StepId>,
    /// What a user turn says where one must stand before the assistant's.
    opener: String,
}

impl StepRequest {
    /// The request for any API. Where the assistant would speak first, which several
    /// APIs refuse, a user turn with the objective is put in front.
    ///
    /// # Errors
    /// If the conversation that was given breaks a law of requests.
    pub fn to_prompt(&self) -> Result<Prompt, Error> {
        let entry = |message: &Message| Entry {
            message: Arc::new(message.clone()),
            provenance: match message.role() {
                Role::System => Provenance::System,
                Role::User | Role::Assistant | Role::Tool => Provenance::Original,
            },
        };
        let mut entries: Vec<Entry> = self.messages.iter().map(entry).collect();
        let head =
            entries.iter().take_while(|entry| entry.provenance == Provenance::System).count();
        if entries.get(head).is_some_and(|entry| entry.message.role() == Role::Assistant) {
            let message = Arc::new(Message::user(&self.opener));
            entries.insert(head, Entry { message, provenance: Provenance::Made });
        }
        Prompt::check(entries, self.tools.clone())
            .map_err(|violation| Error::new(ErrorKind::StepRequest, "", violation.to_string()))
    }
}

impl StepRequest {
    /// How long the texts and the tools are, in bytes.
    pub fn length(&self) -> usize {
        let texts = self.messages.iter().map(|message| message.text().len());
        let tools = self.tools.iter().map(|tool| {
            let description = tool.description.as_ref().map_or(0, |text| text.len());
            let parameters = tool.parameters.as_ref().map_or(0, |own| own.as_str().len());
            tool.name.as_str().len() + description + parameters
        });
        texts.sum::<usize>() + tools.sum::<usize>()
    }
}

/// How much of a long result is shown at least, in bytes.
const LEAST_SHOWN: usize = 256;

impl Job {
    pub(super) fn request(&self) -> Result<StepRequest, Error> {
        let mut limit = self.settings.result_limit.max(LEAST_SHOWN);
        loop {
            let request = self.request_within(limit)?;
            let (length, most) = (request.length(), self.settings.request_limit);
            if length <= most {
                return Ok(request);
            }
            if limit <= LEAST_SHOWN {
                let rule = format!(
                    "the request takes {length} bytes with every long result shortened, \
                     and may take {most}"
                );
                return Err(Error::new(ErrorKind::TooLong, self.place(), rule));
            }
            limit = (limit / 2).max(LEAST_SHOWN);
        }
    }

    /// The request with no result and no argument of an earlier step longer than `limit`.
    fn request_within(&self, limit: usize) -> Result<StepRequest, Error> {
        let is_xml = self.way == Way::Xml;
        let shown = self.shown(limit)?;
        let mut messages = vec![Message::system(&self.system()?)];
        if !is_xml || self.settings.conversation_in_xml == InXml::Keep {
            messages.extend(self.settings.conversation.iter().cloned());
        }
        messages.extend(match is_xml {
            true => self.xml_history(&shown),
            false => self.native_history(&shown)?,
        });
        let parts = [
            Some(self.task()?),
            self.dependencies(&shown)?,
            Some(self.instruction()?),
            self.reinforcement()?,
        ];
        let parts: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        messages.push(Message::user(&parts.join("\n\n")));
        let tool = &self.tool().tool;
        Ok(StepRequest {
            messages: merge_adjacent(messages),
            tools: if is_xml { Arc::new([]) } else { Arc::new([tool.clone()]) },
            force: (!is_xml).then(|| tool.name.clone()),
            way: self.way,
            fell_back: self.fell_back,
            attempt: self.n_tries() + 1,
            shortened: shown.iter().filter(|own| own.is_shortened).map(|own| own.id()).collect(),
            opener: self.render(Text::Opener, &json!({"objective": self.plan.objective()}))?,
        })
    }

    pub(super) fn render(&self, text: Text, given: &Value) -> Result<String, Error> {
        self.templates.render(self.settings.language, text, given)
    }

    pub(super) fn folder(&self) -> Folder {
        match self.way {
            Way::Xml => Folder::Xml,
            Way::Native => Folder::Native,
        }
    }

    fn system(&self) -> Result<String, Error> {
        let none = json!({});
        let policy = self.render(Text::Policy(self.folder()), &none)?;
        let stage = self.render(Text::System, &none)?;
        let own = self.settings.overlays.iter().map(|overlay| overlay.trim().to_owned());
        let own: Vec<String> = own.chain([stage]).filter(|text| !text.is_empty()).collect();
        if own.is_empty() {
            return Ok(policy);
        }
        let precedence = self.render(Text::Precedence, &none)?;
        Ok(format!("{policy}\n\n{precedence}\n\n{}", own.join("\n\n")))
    }

    fn task(&self) -> Result<String, Error> {
        let schema = &self.tool().schema;
        let required = schema.required();
        let parameters: Vec<Value> = schema
            .properties()
            .into_iter()
            .flatten()
            .map(|(name, own)| {
                json!({
                    "name": name,
                    "type": type_text(own),
                    "description": own.get("description").and_then(Value::as_str).unwrap_or(""),
                    "required": required.contains(&name.as_str()),
                })
            })
            .collect();
        let draft =
            self.step().draft.as_ref().map(|draft| Value::Object(draft.clone()).to_string());
        let given = json!({
            "objective": self.plan.objective(),
            "step": self.index + 1,
            "steps": self.plan.steps().len(),
            "tool": self.step().tool.as_str(),
            "reason": self.step().reason.trim(),
            "description": self.tool().tool.description.as_deref().unwrap_or("").trim(),
            "required": required.join(", "),
            "parameters": parameters,
            "draft": draft.unwrap_or_default(),
        });
        self.render(Text::Task(self.folder()), &given)
    }

    fn instruction(&self) -> Result<String, Error> {
        let schema = &self.tool().schema;
        let required = schema.required().join(", ");
        let tool = self.step().tool.as_str();
        let given = match self.way {
            Way::Native => {
                json!({"tool": tool, "schema": pretty(schema.as_value()), "required": required})
            }
            Way::Xml => json!({
                "tool": tool,
                "schema": pretty(schema.as_value()),
                "required": required,
                "example": self.example(),
            }),
        };
        self.render(Text::Instruction(self.folder()), &given)
    }

    /// The form of the call, with the names of the parameters.
    fn example(&self) -> String {
        let schema = &self.tool().schema;
        let required = schema.required();
        let declared = schema.properties().into_iter().flatten();
        let shown =
            declared.filter(|(name, _)| required.is_empty() || required.contains(&name.as_str()));
        let parameter = |(name, own): (&String, &Value)| {
            let kind = type_text(own);
            let kind = if kind.is_empty() { "value" } else { kind.as_str() };
            format!("    <parameter name=\"{}\">{kind}</parameter>\n", crate::xml::escape(name))
        };
        let parameters: String = shown.map(parameter).collect();
        let tool = crate::xml::escape(self.step().tool.as_str());
        format!("<tools>\n  <invoke name=\"{tool}\">\n{parameters}  </invoke>\n</tools>")
    }

    /// What the model is told about its last answer.
    fn reinforcement(&self) -> Result<Option<String>, Error> {
        let tool = self.step().tool.as_str();
        match self.attempts.last() {
            None => Ok(None),
            Some(last) if last.way != self.way => {
                self.render(Text::Fallback, &json!({"tool": tool})).map(Some)
            }
            Some(last) => {
                let errors = last.objections.iter();
                let errors = errors.map(|own| self.render(Text::Error, &own.to_given()));
                let errors: Vec<String> = errors.collect::<Result<_, _>>()?;
                let given = json!({
                    "attempt": self.n_tries(),
                    "tries": self.settings.tries.max(1),
                    "call": last.call,
                    "errors": errors,
                    "tool": tool,
                });
                self.render(Text::Retry(self.folder()), &given).map(Some)
            }
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The type of a parameter in a few words; empty if the schema does not say.
fn type_text(schema: &Value) -> String {
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => String::new(),
    };
    let of = schema.get("items").map(type_text).filter(|of| !of.is_empty());
    match (schema.get("enum").and_then(Value::as_array), of) {
        (Some(list), _) => {
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("one of {}", list.join(", "))
        }
        (None, Some(of)) if name == "array" => format!("array of {of}"),
        (None, _) => name,
    }
}
