//! From a reply to arguments, or to what is wrong with it.

use std::collections::HashSet;
use std::fmt;

use interleaf_model::{Arguments, Finish, Json, Reply};
use serde_json::{Value, json};

use super::{Job, StepArguments, Way};
use crate::calls::{Call, Note, RefusalReason};
use crate::exact;
use crate::{Mended, Repair, SchemaFault};

/// A reply that was refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The way it was asked for.
    pub way: Way,
    /// What the model called, or said, in the form in which it is shown to it again.
    pub call: String,
    /// Everything that is wrong with it.
    pub objections: Vec<Objection>,
}

/// What is wrong with a reply.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Objection {
    /// There is no call in it.
    NoCall,
    /// Another tool was called.
    OtherTool(String),
    /// There are several calls, and they differ.
    SeveralCalls(usize),
    /// It ends inside the call.
    CutOff,
    /// The arguments are not JSON.
    NotJson(String),
    /// A parameter came twice, with different values.
    Repeated,
    /// A rule of the schema is broken.
    Rule(SchemaFault),
    /// This many further rules are broken.
    More(usize),
}

/// How many broken rules a model is told at once.
const MOST_FAULTS: usize = 20;

impl Objection {
    /// The objection as the templates get it.
    pub(super) fn to_given(&self) -> Value {
        let mut given = match self {
            Self::Rule(fault) => return fault.to_given(),
            Self::NoCall => json!({"kind": "no_call"}),
            Self::OtherTool(name) => json!({"kind": "other_tool", "value": name}),
            Self::SeveralCalls(n) => json!({"kind": "several_calls", "value": n.to_string()}),
            Self::CutOff => json!({"kind": "cut_off"}),
            Self::NotJson(why) => json!({"kind": "not_json", "value": why}),
            Self::Repeated => json!({"kind": "repeated"}),
            Self::More(n) => json!({"kind": "more", "value": n.to_string()}),
        };
        let mut whole = SchemaFault::default().to_given();
        if let (Value::Object(whole), Value::Object(given)) = (&mut whole, &mut given) {
            whole.extend(std::mem::take(given));
            whole.insert("text".to_owned(), self.to_string().into());
        }
        whole
    }

    /// Broken rules, the first of them only if they are many.
    fn rules(mut faults: Vec<SchemaFault>) -> Vec<Self> {
        let n_more = faults.len().saturating_sub(MOST_FAULTS);
        faults.truncate(MOST_FAULTS);
        let more = (n_more > 0).then_some(Self::More(n_more));
        faults.into_iter().map(Self::Rule).chain(more).collect()
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCall => f.write_str("it has no tool call"),
            Self::OtherTool(name) => {
                write!(f, "{name:?} was called, which is not the tool of this step")
            }
            Self::SeveralCalls(n) => {
                write!(f, "it has {n} different calls, and exactly one is wanted")
            }
            Self::CutOff => f.write_str("it ends inside the call: be shorter, and finish it"),
            Self::NotJson(why) => write!(f, "the arguments are not JSON: {why}"),
            Self::Repeated => f.write_str("a parameter came twice, with different values"),
            Self::Rule(fault) => fault.fmt(f),
            Self::More(n) => write!(f, "and {n} more"),
        }
    }
}

/// What a reply holds before it is checked.
#[derive(Default)]
struct Found {
    /// The arguments of each call, and the call as it is shown to the model again.
    calls: Vec<(Json, String)>,
    /// The calls of other tools, as they are shown.
    others: Vec<String>,
    objections: Vec<Objection>,
    notes: Vec<Note>,
}

impl Job {
    pub(super) fn judge(&self, reply: &Reply) -> Result<StepArguments, Attempt> {
        let mut found = self.native_calls(reply);
        if found.calls.is_empty() && found.objections.is_empty() && self.way == Way::Xml {
            found = self.calls_in_text(reply);
        }
        let Found { mut calls, others, mut objections, notes } = found;
        let said = || shortened(&reply.message.text());
        let refused = |call: Option<String>, objections| {
            Err(Attempt { way: self.way, call: call.unwrap_or_else(said), objections })
        };
        let mut known = HashSet::new();
        calls.retain(|(arguments, _)| known.insert(exact::key(arguments)));
        let all_calls =
            || calls.iter().map(|(_, shown)| shown.as_str()).collect::<Vec<_>>().join("\n");
        if calls.len() > 1 {
            objections.push(Objection::SeveralCalls(calls.len()));
            let shown = shortened(&all_calls());
            return refused(Some(shown), objections);
        }
        let Some((value, shown)) = calls.pop() else {
            if objections.is_empty() {
                objections.push(Objection::NoCall);
            }
            let shown = (!others.is_empty()).then(|| shortened(&others.join("\n")));
            return refused(shown, objections);
        };
        // Beside a call of the right tool others are of no account, unless something is
        // wrong with the text itself.
        objections.retain(|objection| !matches!(objection, Objection::OtherTool(_)));
        if !objections.is_empty() {
            return refused(Some(shortened(&shown)), objections);
        }
        match self.mend(&value) {
            Ok((arguments, repairs)) => Ok(StepArguments {
                arguments,
                repairs,
                notes,
                way: self.way,
                fell_back: self.fell_back,
                n_replies: self.attempts.len() + 1,
            }),
            Err(objections) => refused(Some(shortened(&shown)), objections),
        }
    }

    /// Arguments that keep to the schema, and what was mended in them.
    fn mend(&self, given: &Json) -> Result<(Json, Vec<Repair>), Vec<Objection>> {
        let Mended { value, repairs } =
            self.tool().schema.mend(given.to_value()).map_err(Objection::rules)?;
        // A schema that does not ask for an object may let something else pass.
        if !value.is_object() {
            return Err(vec![Objection::NotJson("an object is wanted".to_owned())]);
        }
        if repairs.is_empty() {
            return Ok((given.clone(), repairs));
        }
        match exact::restored(&value, given) {
            Some(exact) => Ok((exact, repairs)),
            None => Err(vec![Objection::NotJson("its integers are too long".to_owned())]),
        }
    }

    fn native_calls(&self, reply: &Reply) -> Found {
        let mut found = Found::default();
        for call in reply.message.calls() {
            let text = call.arguments.as_str();
            let shown = format!("{} {text}", call.name);
            if call.name != self.step().tool {
                found.others.push(shown);
                found.objections.push(Objection::OtherTool(call.name.to_string()));
                continue;
            }
            let parsed = match &call.arguments {
                Arguments::Object(json) => Ok(json.clone()),
                Arguments::Invalid(text) => serde_json::from_str(text),
            };
            let null = || Json::from(Value::Null);
            match parsed {
                Ok(value) if value.as_str().starts_with(['{', '"']) => {
                    found.calls.push((value, shown));
                }
                Ok(_) => {
                    found.calls.push((null(), shown));
                    let why = "an object is wanted".to_owned();
                    found.objections.push(Objection::NotJson(why));
                }
                Err(e) => {
                    let objection = match reply.finish {
                        Finish::Length => Objection::CutOff,
                        _ => Objection::NotJson(e.to_string()),
                    };
                    found.calls.push((null(), shown));
                    found.objections.push(objection);
                }
            }
        }
        found
    }

    fn calls_in_text(&self, reply: &Reply) -> Found {
        let reading = self.text_tools.read(&reply.message.text());
        let mut found = Found { notes: reading.notes, ..Found::default() };
        let is_cut = reply.finish == Finish::Length && found.notes.contains(&Note::MissingEnd);
        for refusal in reading.refusals {
            found.objections.push(match refusal.reason {
                RefusalReason::OtherTool => Objection::OtherTool(refusal.tool),
                RefusalReason::CutOff => Objection::CutOff,
                RefusalReason::Unreadable => {
                    Objection::NotJson(RefusalReason::Unreadable.as_str().to_owned())
                }
            });
        }
        if is_cut {
            found.objections.push(Objection::CutOff);
        }
        if found.notes.contains(&Note::Repeated) {
            found.objections.push(Objection::Repeated);
        }
        for call in reading.calls {
            let shown = self.text_tools.write(std::slice::from_ref(&call));
            let Call { arguments, .. } = call;
            found.calls.push((arguments, shown));
        }
        found
    }
}

/// A text as it is shown to the model again.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 8_000;
    match text.char_indices().nth(LONGEST) {
        None => text.trim().to_owned(),
        Some((end, _)) => format!("{}… ({} bytes left out)", &text[..end], text.len() - end),
    }
}
