//! A request in neutral form, as JSON: no API's, and read back as it was.
//!
//! The form is described in `docs/neutral.md`. A message stands in it as in a
//! transcript, with one field more, `from`; this file is the only place that knows
//! the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use interleaf_model::{
    Carried, Carrying, ContextKind, Entry, Extra, Json, Message, Prompt, Provenance, Tool,
    ToolName, VendorName, json_text, read_json,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Error, InputFault};

/// The version of the form that is written, and the only one that is read.
const VERSION: u32 = 1;
const CONTEXT: &str = "context:";
const ELEMENT: &str = "element:";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PromptForm<'a> {
    interleaf_prompt: u32,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    #[serde(default)]
    context: Option<(usize, usize)>,
    #[serde(default)]
    breakpoint: Option<usize>,
    #[serde(default)]
    tools: Vec<ToolForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolForm {
    name: ToolName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    extra: BTreeMap<VendorName, Json>,
}

/// Writes a request, one message a line.
///
/// ```
/// use interleaf::assemble::{Outcome, Recipe, View, assemble};
/// use interleaf::model::{Message, Requirements};
/// use interleaf::neutral;
///
/// let view = View::of([Message::user("hi").into()]);
/// let assembly = assemble(&view, &Recipe::new(), Requirements::STRICT, None)?;
/// let Outcome::Ready(prompt) = assembly.outcome else { unreachable!() };
/// assert_eq!(neutral::read(&neutral::write(&prompt))?, prompt);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(prompt: &Prompt) -> String {
    let mut out = format!("{{\n\"interleaf_prompt\": {VERSION},\n\"messages\": [");
    for (i, entry) in prompt.entries().iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        let mut message = to_json(&entry.message);
        // A message is an object, and never an empty one.
        message.pop();
        let (from, carries) = match &entry.provenance {
            Provenance::Carrying(carrying) => (&carrying.bearer, carrying.texts.as_slice()),
            provenance => (provenance, &[][..]),
        };
        // Writing into a String cannot fail.
        let _ = write!(out, "{message},\"from\":{}", to_json(&from_text(from)));
        if !carries.is_empty() {
            let carries: Vec<Cow<'static, str>> = carries.iter().map(carried_text).collect();
            let _ = write!(out, ",\"carries\":{}", to_json(&carries));
        }
        out.push('}');
    }
    out.push_str("\n]");
    if let Some(Range { start, end }) = prompt.context() {
        let _ = write!(out, ",\n\"context\": [{start},{end}]");
    }
    if let Some(breakpoint) = prompt.breakpoint() {
        let _ = write!(out, ",\n\"breakpoint\": {breakpoint}");
    }
    if !prompt.tools().is_empty() {
        out.push_str(",\n\"tools\": [");
        for (i, tool) in prompt.tools().iter().enumerate() {
            out.push_str(if i == 0 { "\n" } else { ",\n" });
            out.push_str(&write_tool(tool));
        }
        out.push_str("\n]");
    }
    out.push_str("\n}\n");
    out
}

/// Reads a request that was written before.
///
/// # Errors
/// If it is none, was written by another version, or breaks a law of requests.
pub fn read(text: &str) -> Result<Prompt, Error> {
    let form: PromptForm<'_> = read_json(text).map_err(|e| InputFault::model(&e))?;
    if form.interleaf_prompt != VERSION {
        let rule = format!("this program reads version {VERSION} of a request");
        return Err(InputFault::new(rule).at("interleaf_prompt").into());
    }
    let mut entries = Vec::with_capacity(form.messages.len());
    for (i, raw) in form.messages.iter().enumerate() {
        let entry = read_entry(raw);
        entries.push(entry.map_err(|rule| InputFault::new(rule).at(format!("messages[{i}]")))?);
    }
    let tools = to_tools(form.tools)?;
    let prompt = Prompt::check(entries, tools.into())
        .map_err(|violation| InputFault::new(violation.to_string()))?;
    let context = form.context.map(|(start, end)| start..end);
    if context != prompt.context() {
        let rule = "this is not where the messages from `context:…` stand";
        return Err(InputFault::new(rule).at("context").into());
    }
    if form.breakpoint.is_some() && form.breakpoint != prompt.breakpoint() {
        let rule = "this is not the last message before the context block";
        return Err(InputFault::new(rule).at("breakpoint").into());
    }
    Ok(prompt)
}

/// Reads a list of tools by itself.
///
/// # Errors
/// If it is no list, or a tool of it has another shape.
pub fn read_tools(text: &str) -> Result<Vec<Tool>, Error> {
    to_tools(read_json(text).map_err(|e| InputFault::model(&e))?)
}

/// A tool as it stands in a request, on one line.
pub fn write_tool(tool: &Tool) -> String {
    to_json(&ToolForm::from(tool))
}

fn to_tools(forms: Vec<ToolForm>) -> Result<Vec<Tool>, Error> {
    let read = |(i, form): (usize, ToolForm)| {
        Tool::try_from(form)
            .map_err(|e| InputFault::new(e.message()).at(format!("tools[{i}]")).into())
    };
    forms.into_iter().enumerate().map(read).collect()
}

fn read_entry(raw: &RawValue) -> Result<Entry, String> {
    // A place inside the fragment would be taken for one in the file.
    let rule = |e: interleaf_model::Error| e.message().to_owned();
    let mut fields: BTreeMap<String, &RawValue> = read_json(raw.get()).map_err(rule)?;
    let from = fields.remove("from").ok_or("a message of a request needs `from`")?;
    let from: String = read_json(from.get()).map_err(rule)?;
    let carries = fields.remove("carries");
    let message: Message = read_json(&to_json(&fields)).map_err(rule)?;
    let mut provenance = read_from(&from)?;
    if let Some(carries) = carries {
        let texts: Vec<String> = read_json(carries.get()).map_err(rule)?;
        let texts = texts.iter().map(|text| read_carried(text)).collect::<Result<_, _>>()?;
        provenance = Provenance::Carrying(Carrying::new(provenance, texts).into());
    }
    Ok(Entry { message: Arc::new(message), provenance })
}

/// What a message carries at its end, as `carries` says it.
fn carried_text(text: &Carried) -> Cow<'static, str> {
    match text {
        Carried::Context(kind) => from_text(&Provenance::Context(kind.clone())),
        Carried::Element(kind) => from_text(&Provenance::Element(kind.clone())),
        Carried::System => Cow::Borrowed("system"),
    }
}

fn read_carried(text: &str) -> Result<Carried, String> {
    match read_from(text) {
        Ok(Provenance::Context(kind)) => Ok(Carried::Context(kind)),
        Ok(Provenance::Element(kind)) => Ok(Carried::Element(kind)),
        Ok(Provenance::System) => Ok(Carried::System),
        Ok(_) | Err(_) => Err(format!("a message does not carry {text:?}")),
    }
}

/// Where a message came from, as `from` says it, and what it carries.
pub fn from_text(provenance: &Provenance) -> Cow<'static, str> {
    Cow::Borrowed(match provenance {
        Provenance::Original => "original",
        Provenance::Altered => "altered",
        Provenance::System => "system",
        Provenance::Summary => "summary",
        Provenance::Context(kind) => return Cow::Owned(format!("{CONTEXT}{}", kind.as_str())),
        Provenance::Element(kind) => return Cow::Owned(format!("{ELEMENT}{}", kind.as_str())),
        Provenance::Carrying(carrying) => {
            let mut text = from_text(&carrying.bearer).into_owned();
            carrying.texts.iter().for_each(|carried| {
                text.push_str(" + ");
                text.push_str(&carried_text(carried));
            });
            return Cow::Owned(text);
        }
        Provenance::Made => "made",
        Provenance::Notice => "notice",
    })
}

fn read_from(text: &str) -> Result<Provenance, String> {
    Ok(match text {
        "original" => Provenance::Original,
        "altered" => Provenance::Altered,
        "system" => Provenance::System,
        "summary" => Provenance::Summary,
        "made" => Provenance::Made,
        "notice" => Provenance::Notice,
        _ => match (text.strip_prefix(CONTEXT), text.strip_prefix(ELEMENT)) {
            (Some(kind), _) => Provenance::Context(context_kind(kind)),
            (_, Some(kind)) => Provenance::Element(context_kind(kind)),
            (None, None) => return Err(format!("unknown `from` {text:?}")),
        },
    })
}

/// The kind of a context message, by its name.
pub fn context_kind(name: &str) -> ContextKind {
    let own = [ContextKind::Role, ContextKind::Todo, ContextKind::Info, ContextKind::Notes];
    own.into_iter()
        .find(|kind| kind.as_str() == name)
        .unwrap_or_else(|| ContextKind::Other(name.into()))
}

impl From<&Tool> for ToolForm {
    fn from(tool: &Tool) -> Self {
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.parameters.clone(),
            strict: tool.strict,
            extra: tool.extra.iter().map(|(owner, own)| (owner.clone(), own.clone())).collect(),
        }
    }
}

impl TryFrom<ToolForm> for Tool {
    type Error = interleaf_model::Error;

    fn try_from(form: ToolForm) -> Result<Self, Self::Error> {
        let ToolForm { name, description, parameters, strict, extra } = form;
        Ok(Self { name, description, parameters, strict, extra: Extra::from_map(extra)? })
    }
}

pub(crate) fn to_json(value: &impl Serialize) -> String {
    // Our own types have string keys and no failing Serialize.
    json_text(value).unwrap_or_default()
}
