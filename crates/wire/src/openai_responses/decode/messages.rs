//! The items of `input`, from first to last.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Json, Message, Opaque, Parts, Status, Text, ToolName,
    ToolResult, VendorName,
};

use super::parts::{assistant_item, content_parts, system_parts};
use super::{extra, rest};
use crate::error::Fault;
use crate::open_calls::OpenCalls;
use crate::openai_responses::{OWNER, is_made_by_model};
use crate::raw::{Fields, ObjectText, is_text, text};
use crate::{Family, misplaced};

/// Puts the items together into messages.
#[derive(Default)]
pub(super) struct Reader {
    /// Calls may stand in an earlier answer, which the API has.
    continues: bool,
    /// The ids of items so far, and those of calls.
    ids: HashSet<String>,
    calls: HashSet<String>,
    open: OpenCalls,
    messages: Vec<Message>,
    /// What the assistant has said since someone else did.
    run: Vec<AssistantPart>,
    /// Whether it called tools among it.
    has_calls: bool,
    /// The last item was an assistant's message.
    after_message: bool,
}

impl Reader {
    pub(super) fn new(continues: bool) -> Self {
        Self { continues, ..Self::default() }
    }

    pub(super) fn finish(mut self) -> Vec<Message> {
        self.end_run();
        self.messages
    }

    pub(super) fn item<'a>(&mut self, i: usize, raw: &'a RawValue) -> Result<(), Fault<'a>> {
        let fields = Fields::read(raw)?;
        let kind = item_type(&fields)?;
        let id = fields.peek("id").filter(|id| is_text(id)).and_then(|id| text(id).ok());
        let is_copy = id.is_some_and(|id| !self.ids.insert(id.into_owned()));
        if !is_copy || kind == "item_reference" {
            return self.read(i, raw);
        }
        // The id names the first of them; a copy goes without.
        Self::default().read(i, raw)?;
        let copy = without_id(fields)?;
        let copy: &RawValue = serde_json::from_str(copy.as_str())
            .map_err(|_| Fault::form(raw, "a copy of an item cannot be read"))?;
        self.read(i, copy).map_err(|_| Fault::form(raw, "a copy of an item cannot be read"))
    }

    fn read<'a>(&mut self, i: usize, raw: &'a RawValue) -> Result<(), Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        let kind = item_type(&fields)?;
        let call = fields.peek("call_id").filter(|id| is_text(id)).and_then(|id| text(id).ok());
        match &*kind {
            "message" => {
                fields.take("type");
                self.message(i, raw, fields)
            }
            // What answers a call of an earlier answer is a result without a call: it
            // is not ours to pair.
            "function_call_output" | "custom_tool_call_output"
                if self.continues
                    && call.as_ref().is_some_and(|id| !self.calls.contains(&**id)) =>
            {
                let opaque = Opaque { owner: VendorName::new(OWNER), value: Json::from(raw) };
                self.push(Body::User(Parts::one(ContentPart::Opaque(opaque))).into());
                Ok(())
            }
            "function_call_output" | "custom_tool_call_output" => {
                fields.take("type");
                let message = result(&kind, i, fields, &mut self.open)?;
                self.push(message);
                Ok(())
            }
            "reasoning" | "function_call" | "custom_tool_call" | "image_generation_call" => {
                self.after_message = false;
                self.calls.extend(call.map(Cow::into_owned));
                let parts = assistant_item(i, raw)?;
                self.has_calls |= parts.iter().any(|part| matches!(part, AssistantPart::Call(_)));
                self.open.open(parts.iter().filter_map(|part| match part {
                    AssistantPart::Call(call) => Some(call),
                    _ => None,
                }));
                self.run.extend(parts);
                Ok(())
            }
            // What compaction left belongs to the run in which it stands, if any.
            kind => {
                misplaced::part(Family::OpenaiResponses, raw, &fields)?;
                let opaque = Opaque { owner: VendorName::new(OWNER), value: Json::from(raw) };
                if is_made_by_model(kind) || (kind == "compaction" && !self.run.is_empty()) {
                    self.after_message = false;
                    self.run.push(AssistantPart::Opaque(opaque));
                } else {
                    let parts = Parts::one(ContentPart::Opaque(opaque));
                    self.push(Body::User(parts).into());
                }
                Ok(())
            }
        }
    }

    fn message<'a>(
        &mut self,
        i: usize,
        raw: &'a RawValue,
        mut fields: Fields<'a>,
    ) -> Result<(), Fault<'a>> {
        let role = fields.peek("role");
        let Some(name) = fields.take_text("role")? else {
            return Err(fields.incomplete("a message needs `role`"));
        };
        match &*name {
            "assistant" => {
                if self.after_message && !self.has_calls {
                    self.end_run();
                }
                let mut parts = assistant_item(i, raw)?;
                if self.after_message {
                    begin_item(&mut parts)?;
                }
                self.run.extend(parts);
                self.after_message = true;
            }
            "user" => {
                let has_content = fields.peek("content").is_some();
                let parts = content_parts(&mut fields, "content")?;
                misplaced::message(Family::OpenaiResponses, &fields, has_content)?;
                self.push(Message { extra: rest(&fields)?, ..Body::User(parts).into() });
            }
            "system" | "developer" => {
                let parts = system_parts(&mut fields)?;
                let mut own = ObjectText::default();
                if name == "developer" {
                    own.push("role", r#""developer""#);
                }
                own.push_all(&fields);
                self.push(Message { extra: extra(own)?, ..Body::System(parts).into() });
            }
            _ => {
                let rule = format!(
                    "unknown role {name:?}: it must be user, assistant, system or developer"
                );
                let fault = match role {
                    Some(role) => Fault::form(role, rule),
                    None => Fault::form(raw, rule),
                };
                return Err(fault.under("role"));
            }
        }
        Ok(())
    }

    fn push(&mut self, message: Message) {
        self.end_run();
        self.messages.push(message);
    }

    fn end_run(&mut self) {
        (self.after_message, self.has_calls) = (false, false);
        if let Ok(parts) = Parts::new(std::mem::take(&mut self.run)) {
            self.messages.push(Body::Assistant(parts).into());
        }
    }
}

/// Marks that a message of its own begins here, even if it has no other fields.
fn begin_item(parts: &mut [AssistantPart]) -> Result<(), interleaf_model::Error> {
    if let Some(AssistantPart::Text(Text { extra: own, .. })) = parts.first_mut() {
        let is_marked = own.get(OWNER).is_some_and(|own| own.as_str().contains("\"item\""));
        if !is_marked {
            let mut marked = ObjectText::default();
            marked.push("item", "{}");
            if let Some(others) = own.get(OWNER)
                && let Ok(fields) = Fields::read(others.as_raw())
            {
                marked.push_all(&fields);
            }
            *own = extra(marked)?;
        }
    }
    Ok(())
}

fn without_id(mut item: Fields<'_>) -> Result<Json, interleaf_model::Error> {
    item.take("id");
    let mut copy = ObjectText::default();
    copy.push_all(&item);
    Ok(copy.into_json()?.unwrap_or_else(|| Json::from(RawValue::NULL)))
}

/// A message may do without a type.
pub(super) fn item_type<'a>(fields: &Fields<'a>) -> Result<Cow<'a, str>, Fault<'a>> {
    match fields.peek("type") {
        Some(kind) => text(kind).map_err(|fault| fault.under("type")),
        None if fields.peek("role").is_some() => Ok(Cow::Borrowed("message")),
        None => Err(fields.incomplete("an item needs `type`, or `role` if it is a message")),
    }
}

/// What a tool answered. Without the id of its call it answers the only one that waits;
/// where there is none such, its place names it, and repair leaves it out.
fn result<'a>(
    kind: &str,
    i: usize,
    mut fields: Fields<'a>,
    open: &mut OpenCalls,
) -> Result<Message, Fault<'a>> {
    let named = fields.take_text("call_id")?;
    let call = match open.answer(named.as_deref()) {
        Some(call) => call,
        None => CallId::new(format!("output_{i}"))?,
    };
    let name = match fields.peek("name") {
        Some(name) if is_text(name) => text(name).ok().map(ToolName::new),
        _ => None,
    };
    let parts = content_parts(&mut fields, "output")?;
    let mut own = ObjectText::default();
    if kind == "custom_tool_call_output" {
        own.push("type", r#""custom_tool_call_output""#);
    }
    own.push_all(&fields);
    let result = ToolResult { call, name, status: Status::Ok, parts };
    Ok(Message { extra: extra(own)?, ..Body::Tool(result).into() })
}
