//! The parts of a turn.

use std::borrow::Cow;

use interleaf_model::{
    Arguments, AssistantPart, Body, ContentPart, Entry, Extra, File, Image, Json, Message, Opaque,
    Seal, Status, Thinking, ToolCall, ToolResult,
};
use serde_json::value::RawValue;

use super::media::{Carried, carried};
use super::{fields, plain};
use crate::adjustment::AdjustmentKind;
use crate::arguments;
use crate::encode::{Context, TurnPlace};
use crate::gemini::wire::{
    DATA, Data, Element, FileData, FunctionCall, FunctionResponse, InlineData, Part, Response,
    Rest, Said, peek, take,
};
use crate::gemini::{GOOGLE, lint, models, schema};
use crate::raw::{Fields, text};
use crate::{Family, names, thinking};

/// The signature that Google names for calls whose own is not known.
const STAND_IN: &str = "skip_thought_signature_validator";

/// The parts of a turn, as they are written.
pub(super) struct Writing<'a, 'c, 'p> {
    pub(super) cx: &'c mut Context<'p>,
    pub(super) parts: Vec<Element<'a>>,
    has_call: bool,
}

/// What Google attached to a part.
pub(super) struct Beside<'a> {
    pub(super) signature: Option<Cow<'a, str>>,
    /// Fields of the object in the part.
    inner: Option<Fields<'a>>,
    pub(super) rest: Rest<'a>,
}

/// Takes apart what Google attached to a part; `inner` is the name of the object in it.
pub(super) fn beside<'a>(extra: &'a Extra, inner: &str) -> Beside<'a> {
    match fields(extra) {
        Some(fields) => split(fields, inner),
        None => Beside { signature: None, inner: None, rest: Rest::default() },
    }
}

fn split<'a>(mut fields: Fields<'a>, inner: &str) -> Beside<'a> {
    let signature = take(&mut fields, "thoughtSignature").and_then(|raw| text(raw).ok());
    let signature = signature.filter(|signature| lint::is_signature(signature));
    let inner = take(&mut fields, inner).and_then(|raw| Fields::read(raw).ok());
    fields.take("thought");
    Beside { signature, inner, rest: Rest::without(&fields, DATA) }
}

/// What the contents had that these messages came from.
pub(super) fn message_rest<'a>(entries: impl Iterator<Item = &'a Entry>) -> Rest<'a> {
    let mut rest = Rest::default();
    for entry in entries {
        if let Some(fields) = fields(&entry.message.extra) {
            rest.add(&fields, &["role", "parts", "part", "functionResponse"]);
        }
    }
    rest
}

/// A part that only its owner understands, if that is Google and Google will take it.
pub(super) fn kept<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &Message,
    is_signed: bool,
) -> Option<Element<'a>> {
    let value = opaque.value.to_value();
    let reason = if opaque.owner.as_str() != GOOGLE {
        format!("a part of {}", opaque.owner)
    } else if !lint::is_sound_part(&value, cx.vendor) {
        "a part that holds nothing, or what may not stand there".to_owned()
    } else if !is_signed && schema::get(&value, "thoughtSignature").is_some() {
        "a part that another model signed".to_owned()
    } else {
        return Some(Element::Kept(&opaque.value));
    };
    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, reason);
    None
}

impl<'a, 'c, 'p> Writing<'a, 'c, 'p> {
    pub(super) fn new(cx: &'c mut Context<'p>) -> Self {
        Self { cx, parts: Vec::new(), has_call: false }
    }

    pub(super) fn vendor(&self) -> &'static str {
        self.cx.vendor.name
    }

    pub(super) fn report_placeholder(&mut self, said: &[Entry]) {
        if let Some(entry) = said.last() {
            self.cx.adjustments.add(
                AdjustmentKind::BlankText,
                &entry.message.id,
                "something must stand",
            );
        }
    }

    pub(super) fn report_merged(&mut self, said: &[Entry]) {
        for entry in said.iter().skip(1) {
            self.cx.adjustments.add(AdjustmentKind::TurnsMerged, &entry.message.id, "");
        }
    }

    /// Whether the signatures of a message are its target's own, as far as the thinking
    /// in it tells; reports it if not.
    pub(super) fn keeps_signatures(&mut self, message: &Message) -> bool {
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

    pub(super) fn thinking(
        &mut self,
        thought: &'a Thinking,
        message: &Message,
        index: usize,
        place: TurnPlace,
    ) {
        let Context { options, adjustments, .. } = &mut *self.cx;
        if !thinking::goes_back(
            thought,
            message,
            index,
            Family::Gemini,
            options,
            place,
            adjustments,
        ) {
            return;
        }
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

    pub(super) fn call(
        &mut self,
        call: &'a ToolCall,
        message: &Message,
        place: TurnPlace,
        is_signed: bool,
    ) {
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
        let name = self.cx.names.write(&call.name, &self.cx.vendor.quirks.tool_names);
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
        let inner = inner.map(|fields| Rest::without(&fields, &["id", "name", "args"]));
        let data =
            Data::FunctionCall(FunctionCall { id, name, args, rest: inner.unwrap_or_default() });
        let thought_signature = signature;
        self.parts.push(Element::Part(Part { data, thought: false, thought_signature, rest }));
    }

    /// The id of a call, if it came with one: a model that gives none must not see one.
    fn id<'m>(&self, call: &'m ToolCall) -> Option<Cow<'m, str>> {
        let inner = beside(&call.extra, "functionCall").inner?;
        inner.peek("id")?;
        Some(names::call_id(&call.id, &self.cx.vendor.quirks.call_ids))
    }

    pub(super) fn result(&mut self, message: &'a Message, caller: Option<&'a Message>) {
        let Some(result) = message.as_result() else {
            return;
        };
        let call = caller.and_then(|caller| caller.calls().find(|call| call.id == result.call));
        let name = call.map(|call| &call.name).or(result.name.as_ref());
        let name = match name {
            Some(name) => self.cx.names.write(name, &self.cx.vendor.quirks.tool_names),
            None => Cow::Borrowed("unknown"),
        };
        let mut own = fields(&message.extra);
        let mut object = |name| {
            let raw: Option<&'a RawValue> = own.as_mut().and_then(|own| own.take(name));
            raw.and_then(|raw| Fields::read(raw).ok())
        };
        let beside = object("part").map(|fields| split(fields, ""));
        let inner = object("functionResponse");
        let form = inner.as_ref().and_then(|inner| inner.peek("response")).map(RawValue::get);
        let (parts, mut texts) = self.result_parts(result, message);
        let text = match texts.len() {
            1 => texts.remove(0),
            _ => Cow::Owned(texts.join("\n")),
        };
        let response = match (result.status, form) {
            (Status::Ok, Some(r#""object""#)) => match Json::parse(&*text) {
                Ok(json) if json.is_object() => Response::Kept(json),
                _ => Response::Said(Said::Output(text)),
            },
            (Status::Ok, Some(r#""result""#)) => Response::Said(Said::Result(text)),
            (Status::Ok, _) => Response::Said(Said::Output(text)),
            (Status::Error, _) => Response::Said(Said::Error(text)),
        };
        let known = &["id", "name", "response", "parts"];
        let data = Data::FunctionResponse(FunctionResponse {
            id: call.and_then(|call| self.id(call)),
            name,
            response,
            parts,
            rest: inner.map(|fields| Rest::without(&fields, known)).unwrap_or_default(),
        });
        let (signature, rest) =
            beside.map(|beside| (beside.signature, beside.rest)).unwrap_or_default();
        let part = Part { data, thought: false, thought_signature: signature, rest };
        self.parts.push(Element::Part(part));
    }

    /// The media of a result, and its texts with notes for what cannot travel.
    fn result_parts(
        &mut self,
        result: &'a ToolResult,
        message: &Message,
    ) -> (Vec<Element<'a>>, Vec<Cow<'a, str>>) {
        let (mut parts, mut texts) = (Vec::new(), Vec::new());
        let n_texts = result.parts.iter().filter(|part| part.as_text().is_some()).count();
        for part in result.parts.iter() {
            let carried = match part {
                // The only text of a result is its output, blank or not.
                ContentPart::Text(text) if text.is_blank() && n_texts > 1 => {
                    self.cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out");
                    continue;
                }
                ContentPart::Text(text) => {
                    texts.push(Cow::Borrowed(&*text.text));
                    continue;
                }
                ContentPart::Opaque(opaque) => {
                    parts.extend(kept(self.cx, opaque, message, true));
                    continue;
                }
                ContentPart::Image(image) => (self.carry_image(image, message), &image.extra),
                ContentPart::File(file) => (self.carry_file(file, message), &file.extra),
            };
            match carried {
                (Ok(carried), extra) => {
                    parts.push(Element::Part(media_part(carried, extra, false)))
                }
                (Err(note), _) => texts.push(Cow::Owned(note)),
            }
        }
        (parts, texts)
    }

    pub(super) fn image(&mut self, image: &'a Image, message: &Message, is_signed: bool) {
        let element = match self.carry_image(image, message) {
            Ok(carried) => Element::Part(media_part(carried, &image.extra, is_signed)),
            Err(note) => note_part(note),
        };
        self.parts.push(element);
    }

    pub(super) fn file(&mut self, file: &'a File, message: &Message, is_signed: bool) {
        let element = match self.carry_file(file, message) {
            Ok(carried) => Element::Part(media_part(carried, &file.extra, is_signed)),
            Err(note) => note_part(note),
        };
        self.parts.push(element);
    }

    fn carry_image(&mut self, image: &'a Image, message: &Message) -> Result<Carried<'a>, String> {
        let carried = carried(&image.source, image.media_type.as_deref(), None, true);
        carried.map_err(|reason| {
            self.cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, reason);
            format!("[an image is left out: {reason}]")
        })
    }

    /// A name that did not come from Google has no place to go.
    fn report_name(&mut self, file: &File, message: &Message) {
        let is_kept = ["inlineData", "fileData"].into_iter().any(|field| {
            let inner = beside(&file.extra, field).inner;
            inner.is_some_and(|inner| peek(&inner, "displayName").is_some())
        });
        if let Some(name) = file.name.as_deref().filter(|_| !is_kept) {
            self.cx.adjustments.add(AdjustmentKind::FileNameDropped, &message.id, name);
        }
    }

    fn carry_file(&mut self, file: &'a File, message: &Message) -> Result<Carried<'a>, String> {
        let name = file.name.as_deref();
        let carried = carried(&file.source, file.media_type.as_deref(), name, false);
        if carried.is_ok() {
            self.report_name(file, message);
        }
        carried.map_err(|reason| {
            self.cx.adjustments.add(AdjustmentKind::MediaDropped, &message.id, reason);
            match name {
                Some(name) => format!("[the file {name} is left out: {reason}]"),
                None => format!("[a file is left out: {reason}]"),
            }
        })
    }
}

fn note_part<'a>(note: String) -> Element<'a> {
    let Element::Part(mut part) = plain("") else {
        return plain("");
    };
    part.data = Data::Text(Cow::Owned(note));
    Element::Part(part)
}

fn media_part<'a>(carried: Carried<'a>, extra: &'a Extra, is_signed: bool) -> Part<'a> {
    let (field, known): (_, &[&str]) = match carried {
        Carried::Inline { .. } => ("inlineData", &["mimeType", "data"]),
        Carried::File { .. } => ("fileData", &["mimeType", "fileUri"]),
    };
    let Beside { signature, inner, rest } = beside(extra, field);
    let inner = inner.map(|fields| Rest::without(&fields, known)).unwrap_or_default();
    let data = match carried {
        Carried::Inline { media_type, data } => {
            Data::InlineData(InlineData { mime_type: media_type, data, rest: inner })
        }
        Carried::File { media_type, uri } => {
            Data::FileData(FileData { mime_type: media_type, file_uri: uri, rest: inner })
        }
    };
    let thought_signature = signature.filter(|_| is_signed);
    Part { data, thought: false, thought_signature, rest }
}

fn empty_object() -> Json {
    Json::from(&serde_json::Value::Object(serde_json::Map::new()))
}
