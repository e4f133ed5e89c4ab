//! The calls of an answer, from pieces.
//!
//! A piece belongs to the call of its `index`. Servers that send none, or the same
//! for several calls, begin a new call with a new id or name.

use std::collections::HashMap;

use interleaf_model::Json;
use serde_json::value::RawValue;

use super::attached::Attached;
use super::{CALLS, Piece};
use crate::Delta;
use crate::error::Fault;
use crate::openai_chat::called::Called;
use crate::raw::{Fields, ObjectText, is_text};
use crate::reply_builder::ReplyBuilder;

/// The calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    slots: Vec<Slot>,
    /// The newest call with each index, and with each id.
    by_index: HashMap<u64, usize>,
    by_id: HashMap<String, usize>,
    function_call: Option<usize>,
}

#[derive(Debug, Default)]
struct Slot {
    id: String,
    name: String,
    /// Whether it was told that the call begins.
    is_told: bool,
    attached: Attached,
    signature: Option<String>,
}

impl Calls {
    /// Takes an element of `tool_calls`.
    pub(super) fn add<'a>(
        &mut self,
        raw: &'a RawValue,
        piece: Piece,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let mut fields = Fields::read(raw)?;
        let index = fields.take("index").and_then(|index| index.get().parse().ok());
        let id = fields.take_text("id")?.unwrap_or_default();
        let called = Called::of(&mut fields);
        let kind = fields.take("type").filter(|kind| is_text(kind));
        let place = called.place();
        let mut inner = fields.take_object(place)?;
        let (name, input) = match &mut inner {
            Some(inner) => {
                (inner.take_text("name")?.unwrap_or_default(), inner.take(called.input()))
            }
            None => ("".into(), None),
        };
        let at = match piece {
            Piece::Whole => None,
            Piece::Chunk => self.position(index, &id, &name),
        };
        let at = at.unwrap_or_else(|| self.begin());
        if let Some(index) = index {
            self.by_index.insert(index, at);
        }
        let Some(slot) = self.slots.get_mut(at) else { return Ok(()) };
        if slot.id.is_empty() && !id.is_empty() {
            let newest = self.by_id.entry(id.clone().into_owned()).or_insert(at);
            *newest = at.max(*newest);
        }
        match (called, kind.map(RawValue::get)) {
            (Called::Custom, _) => slot.attached.set("type", r#""custom""#),
            (Called::Function, None | Some(r#""function""#)) => {}
            (Called::Function, Some(kind)) => slot.attached.set("type", kind),
        }
        for (name, value) in fields.into_list() {
            slot.attached.add(&name, value);
        }
        if let Some(inner) = inner {
            let mut own = ObjectText::default();
            own.push_object(place, &inner);
            slot.attach_inner(place, own)?;
        }
        slot.take_signature();
        let key = CALLS + at as u64;
        slot.grow(key, (&id, &name), input, reply, deltas)?;
        let google = slot.signature.as_ref().map(|signature| {
            let mut own = ObjectText::default();
            own.push("thoughtSignature", signature);
            own.into_json()
        });
        let extra = match google.transpose()?.flatten() {
            Some(google) => slot.attached.with([("google", google)])?,
            None => slot.attached.to_extra()?,
        };
        reply.attach(key, extra);
        Ok(())
    }

    /// Takes a `function_call`, the deprecated form.
    pub(super) fn add_function<'a>(
        &mut self,
        mut function: Fields<'a>,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        let name = function.take_text("name")?.unwrap_or_default();
        let input = function.take("arguments");
        let at = self.function_call.unwrap_or_else(|| self.begin());
        self.function_call = Some(at);
        let Some(slot) = self.slots.get_mut(at) else { return Ok(()) };
        slot.grow(CALLS + at as u64, ("", &name), input, reply, deltas)
    }

    fn begin(&mut self) -> usize {
        self.slots.push(Slot::default());
        self.slots.len() - 1
    }

    /// The call that a piece belongs to, if it is there already.
    fn position(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let begins = |slot: &Slot| {
            let other_id = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
            let no_handle = index.is_none() && id.is_empty();
            other_id || (no_handle && !name.is_empty() && !slot.name.is_empty())
        };
        let at = match index {
            Some(index) => *self.by_index.get(&index)?,
            None if !id.is_empty() => *self.by_id.get(id)?,
            None => self.slots.len().checked_sub(1)?,
        };
        self.slots.get(at).filter(|slot| !begins(slot)).map(|_| at)
    }
}

impl Slot {
    fn grow<'a>(
        &mut self,
        part: u64,
        (id, name): (&str, &str),
        input: Option<&'a RawValue>,
        reply: &mut ReplyBuilder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Fault<'a>> {
        if self.id.is_empty() {
            id.clone_into(&mut self.id);
        }
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        }
        reply.call(part, id, name);
        if !self.is_told && !self.name.is_empty() {
            self.is_told = true;
            reply.begins(part, self.attached.to_extra()?, deltas);
            let (id, name) = (self.id.clone(), self.name.clone());
            deltas.push(Delta::Call { part, id, name });
        }
        let more = match input {
            None => return Ok(()),
            Some(raw) if is_text(raw) => crate::raw::text(raw)?,
            // Some servers send the value itself.
            Some(raw) => raw.get().into(),
        };
        if !more.is_empty() {
            reply.arguments(part, &more);
            deltas.push(Delta::Arguments { part, text: more.into_owned() });
        }
        Ok(())
    }

    fn attach_inner(&mut self, place: &str, own: ObjectText) -> Result<(), interleaf_model::Error> {
        let Some(own) = own.into_json()? else {
            return Ok(());
        };
        let raw: Option<&RawValue> = serde_json::from_str(own.as_str()).ok();
        let inner = raw.and_then(|raw| Fields::read(raw).ok()?.take(place));
        if let Some(inner) = inner {
            self.attached.add(place, inner);
        }
        Ok(())
    }

    /// A signature of Google's that a gateway hands on is Google's.
    fn take_signature(&mut self) {
        const PLACE: &str = "provider_specific_fields";
        let Some(text) = self.attached.take(PLACE) else { return };
        let raw: Option<&RawValue> = serde_json::from_str(&text).ok();
        let Some(mut fields) = raw.and_then(|raw| Fields::read(raw).ok()) else { return };
        if let Some(signature) = fields.take("thought_signature") {
            self.signature = Some(signature.get().to_owned());
        }
        let mut rest = ObjectText::default();
        rest.push_all(&fields);
        if let Ok(Some(rest)) = rest.into_json() {
            self.attached.set(PLACE, Json::as_str(&rest));
        }
    }
}
