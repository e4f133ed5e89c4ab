//! What tools answered.

use std::borrow::Cow;

use interleaf_model::{ContentPart, Json, Message, Status, ToolCall, ToolResult};
use serde_json::value::RawValue;

use super::fields;
use super::media::media_part;
use super::parts::{Writing, kept, split};
use crate::adjustment::AdjustmentKind;
use crate::failed::FAILED;
use crate::gemini::wire::{Data, Element, FunctionResponse, Part, Response, Said, rest_without};
use crate::raw::Fields;

impl<'a> Writing<'a, '_, '_> {
    pub(super) fn result(&mut self, message: &'a Message, call: Option<&'a ToolCall>) {
        let Some(result) = message.as_result() else {
            return;
        };
        let name = call.map(|call| &call.name).or(result.name.as_ref());
        let name = match name {
            Some(name) => self.cx.tool_name(name),
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
            (Status::Error, _) if text.trim().is_empty() && parts.is_empty() => {
                let detail = "a failed result needs a text";
                self.cx.adjustments.add(AdjustmentKind::BlankText, &message.id, detail);
                Response::Said(Said::Error(Cow::Borrowed(FAILED)))
            }
            (Status::Error, _) => Response::Said(Said::Error(text)),
        };
        let known = &["id", "name", "response", "parts"];
        let data = Data::FunctionResponse(FunctionResponse {
            id: call.and_then(|call| self.id(call)),
            name,
            response,
            parts,
            rest: inner.map(|fields| rest_without(&fields, known)).unwrap_or_default(),
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
}
