//! What the assistant said, as items.
//!
//! A thought waits until an item follows it: the API refuses one that leads to
//! nothing. Where a thought is left out, the items after it lose their ids, because
//! the API would ask for it.

use hashbrown::HashSet;
use std::borrow::Cow;

use interleaf_model::{
    Arguments, AssistantPart, Body, Entry, Image, Message, Opaque, Seal, Source, Text, Thinking,
    ToolCall,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::own::Own;
use super::parts::{Note, note_part, opaque_part, summary, text_part};
use super::results::is_custom_call;
use super::user::is_item;
use super::{content, settings};
use crate::Error;
use crate::adjustment::AdjustmentKind;
use crate::arguments::as_object;
use crate::encode::{Context, Elements};
use crate::names::call_id;
use crate::openai_responses::lint::{Side, is_sealed, takes_item};
use crate::openai_responses::models::always_reasons;
use crate::openai_responses::wire::{self, Part, Rest};
use crate::openai_responses::{CHAT_OWNER, LONGEST_ITEM_ID, OWNER};
use crate::raw::nearest;
use crate::thinking::goes_back;

pub(super) fn write(
    cx: &mut Context<'_>,
    said: &[Entry],
    items: &mut Elements<'_>,
) -> Result<(), Error> {
    let mut turn = Turn {
        items,
        waiting: Vec::new(),
        open: None,
        used: HashSet::new(),
        reasoned: false,
        lost: false,
        must_reason: always_reasons(&cx.options.model),
    };
    for entry in said {
        let message = &*entry.message;
        let Body::Assistant(parts) = &message.body else { continue };
        for part in parts.iter() {
            match part {
                AssistantPart::Text(text) => turn.text(cx, message, text)?,
                AssistantPart::Thinking(thinking) => {
                    turn.close(cx, message)?;
                    turn.thinking(cx, message, thinking);
                }
                AssistantPart::Call(call) => {
                    turn.close(cx, message)?;
                    turn.call(cx, message, call)?;
                }
                AssistantPart::Image(image) => turn.image(cx, message, image)?,
                AssistantPart::File(file) => {
                    let name = file.name.as_deref().unwrap_or("a file");
                    turn.note(cx, message, format!("[{name}: it cannot be sent here]"));
                }
                AssistantPart::Opaque(opaque) => turn.opaque(cx, message, opaque)?,
            }
        }
        turn.close(cx, message)?;
    }
    if let Some(last) = said.last() {
        for _ in &turn.waiting {
            let why = "nothing follows that it led to";
            cx.adjustments.add(AdjustmentKind::ThinkingDropped, &last.message.id, why);
        }
    }
    Ok(())
}

/// The items of a turn so far.
struct Turn<'a, 'e, 't> {
    items: &'e mut Elements<'t>,
    /// Thoughts that no item has followed yet.
    waiting: Vec<wire::Reasoning<'a>>,
    /// The message that more texts may join.
    open: Option<OpenMessage<'a>>,
    /// The ids that were sent.
    used: HashSet<String>,
    /// A thought stands before.
    reasoned: bool,
    /// A thought was left out before.
    lost: bool,
    /// The model thinks before everything that it says.
    must_reason: bool,
}

struct OpenMessage<'a> {
    /// What the item has beside its content.
    item: Option<&'a RawValue>,
    parts: Vec<Part<'a>>,
}

impl<'a> Turn<'a, '_, '_> {
    /// An item: the thoughts that led to it go first.
    fn push(&mut self, item: &impl Serialize) -> Result<(), Error> {
        for thought in self.waiting.drain(..) {
            self.items.push(&thought)?;
        }
        self.items.push(item)
    }

    /// The id of an item, if the API would take it here.
    fn id(
        &mut self,
        cx: &mut Context<'_>,
        message: &Message,
        id: Option<Cow<'a, str>>,
        prefix: &str,
    ) -> Option<Cow<'a, str>> {
        let id = id?;
        let is_legal = id.starts_with(prefix)
            && id.chars().count() <= LONGEST_ITEM_ID
            && !self.lost
            && (self.reasoned || !self.must_reason)
            && self.used.insert(id.clone().into_owned());
        if !is_legal {
            cx.adjustments.add(AdjustmentKind::ItemIdDropped, &message.id, &*id);
        }
        is_legal.then_some(id)
    }

    fn text(
        &mut self,
        cx: &mut Context<'_>,
        message: &Message,
        text: &'a Text,
    ) -> Result<(), Error> {
        let item = Own::of(&text.extra, OWNER).peek("item");
        if item.is_some() {
            self.close(cx, message)?;
        }
        if text.is_blank() {
            cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "");
            return Ok(());
        }
        let open = self.open.get_or_insert(OpenMessage { item, parts: Vec::new() });
        open.parts.push(text_part(text, "output_text"));
        Ok(())
    }

    /// Says in the message what cannot be sent.
    fn note(&mut self, cx: &mut Context<'_>, message: &Message, note: String) {
        cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, note.clone());
        let open = self.open.get_or_insert(OpenMessage { item: None, parts: Vec::new() });
        open.parts.push(note_part(Note(note), "output_text"));
    }

    /// Ends the message that is open.
    fn close(&mut self, cx: &mut Context<'_>, message: &Message) -> Result<(), Error> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let mut own = match open.item {
            Some(item) => Own::of_raw(item),
            None => Own::of_none(),
        };
        let id = own.take_text("id");
        let id = self.id(cx, message, id, "msg_");
        let extra = own.rest(&["type", "role", "content"]);
        // With an id it is an item of the API's own, which has a list.
        let content =
            if id.is_some() { wire::Content::Parts(open.parts) } else { content(open.parts) };
        let role = "assistant";
        self.push(&wire::Message { r#type: "message", id, role, content, extra })
    }

    fn thinking(&mut self, cx: &mut Context<'_>, message: &Message, thinking: &'a Thinking) {
        if !goes_back(cx, thinking, message) {
            self.lost = true;
            return;
        }
        let mut own = Own::of(&thinking.extra, OWNER);
        let id = own
            .take_text("id")
            .or_else(|| Own::of(&thinking.extra, CHAT_OWNER).peek_text("id"))
            .unwrap_or_default();
        let sealed = match &thinking.seal {
            Some(Seal::Encrypted(sealed)) if is_sealed(sealed) => Some(&**sealed),
            _ => None,
        };
        let is_broken = thinking.seal.is_some() && sealed.is_none();
        let refused = if !id.starts_with("rs_") || id.chars().count() > LONGEST_ITEM_ID {
            Some("it has no id of this API")
        } else if is_broken {
            Some("its seal is not this API's")
        } else if sealed.is_none() && settings::is_unstored(cx.options) {
            Some("it is neither stored nor encrypted")
        } else if !self.used.insert(id.clone().into_owned()) {
            Some("it was sent already")
        } else {
            None
        };
        if let Some(why) = refused {
            cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, why);
            self.lost = true;
            return;
        }
        self.reasoned = true;
        let summary = summary(&mut own, &thinking.text);
        let extra = own.rest(&["type", "encrypted_content"]);
        self.waiting.push(wire::Reasoning {
            r#type: "reasoning",
            id,
            summary,
            encrypted_content: sealed,
            extra,
        });
    }

    fn call(
        &mut self,
        cx: &mut Context<'_>,
        message: &Message,
        call: &'a ToolCall,
    ) -> Result<(), Error> {
        let quirks = &cx.vendor.quirks;
        let call_id = call_id(&call.id, &quirks.call_ids);
        if matches!(call_id, Cow::Owned(_)) {
            cx.adjustments.add(AdjustmentKind::CallIdRewritten, &message.id, call.id.as_str());
        }
        let name = cx.tool_name(&call.name);
        if matches!(name, Cow::Owned(_)) {
            cx.adjustments.add(AdjustmentKind::ToolNameRewritten, &message.id, call.name.as_str());
        }
        let mut own = Own::of(&call.extra, OWNER);
        let id = own.take_text("id");
        let mut item = wire::Call {
            r#type: "function_call",
            id: None,
            call_id,
            namespace: None,
            arguments: None,
            input: None,
            extra: Rest::NONE,
            name,
        };
        if is_custom_call(&call.extra) {
            item.r#type = "custom_tool_call";
            item.id = self.id(cx, message, id, "ctc_");
            let written = own.take_text("input");
            item.input = Some(written.unwrap_or(Cow::Borrowed(call.arguments.as_str())));
        } else {
            if matches!(call.arguments, Arguments::Invalid(_)) {
                cx.adjustments.add(AdjustmentKind::ArgumentsWrapped, &message.id, call.id.as_str());
            }
            item.id = self.id(cx, message, id, "fc_");
            item.arguments = Some(as_object(&call.arguments));
            if own.peek("namespace").is_none() {
                item.namespace = settings::namespace_of(cx.options, &item.name);
            }
        }
        item.extra = own.rest(&["type", "call_id", "name", "arguments", "input"]);
        self.push(&item)
    }

    /// A picture goes back only if the API made it.
    fn image(
        &mut self,
        cx: &mut Context<'_>,
        message: &Message,
        image: &'a Image,
    ) -> Result<(), Error> {
        let mut own = Own::of(&image.extra, OWNER);
        let is_made_here = own.take_text("type").as_deref() == Some("image_generation_call");
        let (true, Source::Base64(data)) = (is_made_here, &image.source) else {
            self.note(cx, message, "[an image that cannot be sent here]".to_owned());
            return Ok(());
        };
        let id = own.take_text("id");
        self.close(cx, message)?;
        let Some(id) = self.id(cx, message, id, "") else {
            self.note(cx, message, "[an image that was made here]".to_owned());
            return Ok(());
        };
        let extra = own.rest(&["result"]);
        let r#type = "image_generation_call";
        self.push(&wire::ImageCall { r#type, id, result: data, extra })
    }

    fn opaque(
        &mut self,
        cx: &mut Context<'_>,
        message: &Message,
        opaque: &'a Opaque,
    ) -> Result<(), Error> {
        let refused = if is_item(opaque) {
            self.close(cx, message)?;
            self.raw_item(cx, message, opaque)?
        } else {
            match opaque_part(opaque, Side::Output) {
                Ok(part) => {
                    let empty = || OpenMessage { item: None, parts: Vec::new() };
                    self.open.get_or_insert_with(empty).parts.push(part);
                    None
                }
                Err(Note(why)) => Some(why),
            }
        };
        if let Some(why) = refused {
            cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, why);
        }
        Ok(())
    }

    /// Sends an item of the vendor's own as it is, or says why not. Where its id can
    /// not be sent, it goes without one if something else names it.
    fn raw_item(
        &mut self,
        cx: &mut Context<'_>,
        message: &Message,
        opaque: &'a Opaque,
    ) -> Result<Option<String>, Error> {
        let mut own = Own::of_json(&opaque.value);
        let kind = own.peek_text("type").unwrap_or_default();
        let is_assistant = own.peek_text("role").as_deref() == Some("assistant");
        let is_modelled = match &*kind {
            "message" => !is_assistant,
            "function_call"
            | "custom_tool_call"
            | "reasoning"
            | "function_call_output"
            | "custom_tool_call_output"
            | "item_reference"
            | "compaction_trigger"
            | "configuration_update" => true,
            _ => false,
        };
        let is_legal = || takes_item(&nearest(&opaque.value));
        if is_modelled || !is_legal() {
            return Ok(Some("the API would refuse it here".to_owned()));
        }
        let Some(id) = own.peek_text("id") else {
            self.push(&opaque.value)?;
            return Ok(None);
        };
        let prefix = if kind == "message" { "msg_" } else { "" };
        // What compaction left needs no thought before it.
        let needs_thought = kind != "compaction";
        let (lost, must_reason) = (self.lost, self.must_reason);
        if !needs_thought {
            (self.lost, self.must_reason) = (false, false);
        }
        let id = self.id(cx, message, Some(id), prefix);
        (self.lost, self.must_reason) = (lost, must_reason);
        if id.is_some() {
            self.push(&opaque.value)?;
        } else if kind == "message" || own.peek("call_id").is_some() {
            own.take("id");
            self.push(&own.rest(&[]))?;
        } else {
            return Ok(Some("its reasoning item is not sent".to_owned()));
        }
        Ok(None)
    }
}
