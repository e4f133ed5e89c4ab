//! What the model said.

use std::borrow::Cow;

use interleaf_model::{
    Arguments, AssistantPart, Body, Entry, Extra, Json, Message, Seal, Thinking, ToolCall,
};

use super::PLACEHOLDER;
use super::parts::{Beside, Writing, beside, kept, message_rest, plain, said};
use crate::adjustment::AdjustmentKind;
use crate::encode::{Context, TurnPlace};
use crate::gemini::wire::{Content, Data, Element, FunctionCall, Part, rest_without};
use crate::gemini::{GOOGLE, lint, models};
use crate::{arguments, names, thinking};

/// The signature that Google names for calls whose own is not known.
const STAND_IN: &str = "skip_thought_signature_validator";

pub(super) fn turn<'a>(cx: &mut Context<'_>, said: &'a [Entry], place: TurnPlace) -> Content<'a> {
    let mut writing = Writing::new(cx);
    for entry in said {
        let message = &*entry.message;
        let Body::Assistant(all) = &message.body else {
            continue;
        };
        let is_signed = writing.keeps_signatures(message);
        for part in all.iter() {
            writing.assistant(part, message, place, is_signed);
        }
    }
    if writing.parts.is_empty() {
        writing.parts.push(plain(PLACEHOLDER));
        writing.report_placeholder(said);
    }
    writing.report_merged(said);
    let parts = writing.parts;
    Content { role: "model", parts, rest: message_rest(said.iter()) }
}

impl<'a> Writing<'a, '_, '_> {
    fn assistant(
        &mut self,
        part: &'a AssistantPart,
        message: &'a Message,
        place: TurnPlace,
        is_signed: bool,
    ) {
        match part {
            AssistantPart::Text(text) => {
                let mut part = said(text);
                if !is_signed {
                    part.thought_signature = None;
                }
                if text.is_blank() && part.thought_signature.is_none() {
                    self.cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
                } else {
                    self.parts.push(Element::Part(part));
                }
            }
            AssistantPart::Thinking(thinking) => self.thinking(thinking, message),
            AssistantPart::Call(call) => self.call(call, message, place, is_signed),
            AssistantPart::Image(image) => self.image(image, message, is_signed),
            AssistantPart::File(file) => self.file(file, message, is_signed),
            AssistantPart::Opaque(opaque) => {
                let element = kept(self.cx, opaque, message, is_signed);
                self.parts.extend(element);
            }
        }
    }

    /// Whether the signatures of a message are its target's own, as far as the thinking
    /// in it tells; reports it if not.
    fn keeps_signatures(&mut self, message: &Message) -> bool {
        let Body::Assistant(parts) = &message.body else {
            return true;
        };
        let target = &self.cx.options.model;
        let is_foreign = parts.iter().any(|part| match part {
            AssistantPart::Thinking(Thinking { producer: Some(producer), .. }) => {
                let made_by = producer.model.as_deref().unwrap_or_default();
                producer.vendor.as_str() != GOOGLE || !models::is_same(made_by, target)
            }
            _ => false,
        });
        let is_signed = |extra: &Extra| beside(extra, "").signature.is_some();
        let has_signatures = parts.iter().any(|part| match part {
            AssistantPart::Text(text) => is_signed(&text.extra),
            AssistantPart::Call(call) => is_signed(&call.extra),
            AssistantPart::Image(image) => is_signed(&image.extra),
            AssistantPart::File(file) => is_signed(&file.extra),
            AssistantPart::Thinking(_) | AssistantPart::Opaque(_) => false,
        });
        if is_foreign && has_signatures {
            let reason = "the signatures of another model";
            self.cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, reason);
        }
        !is_foreign
    }

    fn thinking(&mut self, thought: &'a Thinking, message: &Message) {
        if !thinking::goes_back(self.cx, thought, message) {
            return;
        }
        let adjustments = &mut self.cx.adjustments;
        let is_googles = thought.producer.as_ref().is_some_and(|p| p.vendor.as_str() == GOOGLE);
        let signature = match &thought.seal {
            Some(Seal::Signature(signature)) if is_googles && lint::is_signature(signature) => {
                Some(Cow::Borrowed(&**signature))
            }
            Some(Seal::Signature(_) | Seal::Encrypted(_)) => {
                adjustments.add(
                    AdjustmentKind::ThinkingDropped,
                    &message.id,
                    "a seal that is not Google's",
                );
                None
            }
            None => None,
        };
        if thought.text.trim().is_empty() && signature.is_none() {
            adjustments.add(AdjustmentKind::BlankText, &message.id, "thinking without a text");
            return;
        }
        self.parts.push(Element::Part(Part {
            data: Data::Text(Cow::Borrowed(&thought.text)),
            thought: true,
            thought_signature: signature,
            rest: beside(&thought.extra, "").rest,
        }));
    }

    fn call(&mut self, call: &'a ToolCall, message: &Message, place: TurnPlace, is_signed: bool) {
        let is_first = !std::mem::replace(&mut self.has_call, true);
        let Beside { signature, inner, rest } = beside(&call.extra, "functionCall");
        let mut signature = signature.filter(|_| is_signed);
        if signature.is_none()
            && is_first
            && place.current
            && models::is_gemini_3(&self.cx.options.model)
        {
            self.cx.adjustments.add(
                AdjustmentKind::SignatureStandIn,
                &message.id,
                call.id.as_str(),
            );
            signature = Some(Cow::Borrowed(STAND_IN));
        }
        let id = self.id(call);
        if matches!(id, Some(Cow::Owned(_))) {
            self.cx.adjustments.add(AdjustmentKind::CallIdRewritten, &message.id, call.id.as_str());
        }
        let name = self.cx.tool_name(&call.name);
        if let Cow::Owned(_) = name {
            self.cx.adjustments.add(
                AdjustmentKind::ToolNameRewritten,
                &message.id,
                call.name.as_str(),
            );
        }
        let args = match &call.arguments {
            Arguments::Object(json) => json.clone(),
            invalid @ Arguments::Invalid(_) => {
                self.cx.adjustments.add(
                    AdjustmentKind::ArgumentsWrapped,
                    &message.id,
                    call.id.as_str(),
                );
                Json::parse(arguments::as_object(invalid)).unwrap_or_else(|_| empty_object())
            }
        };
        let inner = inner.map(|fields| rest_without(&fields, &["id", "name", "args"]));
        let data =
            Data::FunctionCall(FunctionCall { id, name, args, rest: inner.unwrap_or_default() });
        let thought_signature = signature;
        self.parts.push(Element::Part(Part { data, thought: false, thought_signature, rest }));
    }

    /// The id of a call, if it came with one: a model that gives none must not see one.
    pub(super) fn id<'m>(&self, call: &'m ToolCall) -> Option<Cow<'m, str>> {
        let inner = beside(&call.extra, "functionCall").inner?;
        inner.peek("id")?;
        Some(names::call_id(&call.id, &self.cx.vendor.quirks.call_ids))
    }
}

fn empty_object() -> Json {
    Json::from(&serde_json::Value::Object(serde_json::Map::new()))
}
