//! The quick way in: one pass over a message as this crate writes it.
//!
//! It takes nothing that the exact way refuses, and reads what it takes to the same
//! message. On anything unusual it gives up without a reason, and the exact way reads
//! the message or says where and why it cannot.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use smol_str::SmolStr;

use super::{
    CallForm, Kind, MessageForm, ThinkingForm, build, read_call, read_thinking, refuse_tool_fields,
};
use crate::{AssistantPart, CallId, Extra, Json, Message, Text, ToolName, VendorName};

/// Reads a message, or gives up.
pub(super) fn read_message(text: &str) -> Option<Message> {
    // A list of the values in order is no message, though serde would take it.
    let text = text.starts_with('{').then_some(text)?;
    let mut form: MessageForm<QuickPart> = serde_json::from_str(text).ok()?;
    refuse_tool_fields(&form).ok()?;
    let parts = std::mem::take(&mut form.parts).into_iter().map(|part| part.0).collect();
    build(form, parts).ok()
}

/// A text, thinking or a call. Pictures, files and opaque parts are left to the exact way.
struct QuickPart(AssistantPart);

/// The fields of all of these.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    text: Given<SharedText>,
    #[serde(default)]
    signature: Given<SharedText>,
    #[serde(default)]
    encrypted: Given<SharedText>,
    #[serde(default)]
    vendor: Given<VendorName>,
    #[serde(default)]
    model: Given<SmolStr>,
    #[serde(default)]
    id: Given<CallId>,
    #[serde(default)]
    name: Given<ToolName>,
    #[serde(default)]
    arguments: Given<Json>,
    #[serde(default)]
    arguments_text: Given<SharedText>,
    #[serde(default)]
    extra: BTreeMap<VendorName, Json>,
}

impl Fields {
    /// The part, if it has the fields of its kind and no others.
    fn part(self) -> Option<AssistantPart> {
        let Self { kind, text, signature, encrypted, vendor, model, id, name, .. } = self;
        let (arguments, arguments_text, extra) = (self.arguments, self.arguments_text, self.extra);
        let (text, signature, encrypted) = (shared(text), shared(signature), shared(encrypted));
        let is_sealed = signature.is_some() || encrypted.is_some();
        let is_produced = vendor.0.is_some() || model.0.is_some();
        let is_called = id.0.is_some() || name.0.is_some();
        let has_arguments = arguments.0.is_some() || arguments_text.0.is_some();
        match kind {
            Kind::Text if !(is_sealed || is_produced || is_called || has_arguments) => {
                let extra = Extra::from_map(extra).ok()?;
                Some(AssistantPart::Text(Text { text: text?, extra }))
            }
            Kind::Thinking if !(is_called || has_arguments) => {
                let (text, vendor, model) = (text.unwrap_or_default(), vendor.0, model.0);
                let form = ThinkingForm { kind, text, signature, encrypted, vendor, model, extra };
                read_thinking(form).ok().map(AssistantPart::Thinking)
            }
            Kind::Call if !(is_sealed || is_produced || text.is_some()) => {
                let (arguments, arguments_text) = (arguments.0, shared(arguments_text));
                let (id, name) = (id.0?, name.0?);
                let form = CallForm { kind, id, name, arguments, arguments_text, extra };
                read_call(form).ok().map(AssistantPart::Call)
            }
            Kind::Text | Kind::Thinking | Kind::Call => None,
            Kind::Image | Kind::File | Kind::Opaque => None,
        }
    }
}

fn shared(text: Given<SharedText>) -> Option<Arc<str>> {
    text.0.map(|text| text.0)
}

impl<'de> Deserialize<'de> for QuickPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = QuickPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QuickPart, A::Error> {
        let fields = Fields::deserialize(MapAccessDeserializer::new(map))?;
        fields.part().map(QuickPart).ok_or_else(|| A::Error::custom("unusual"))
    }
}

/// A field that is there with a value. An explicit null, which some kinds of parts take
/// for an absent field and others refuse, is left to the exact way.
struct Given<T>(Option<T>);

impl<T> Default for Given<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|value| Self(Some(value)))
    }
}

/// A text that is copied once, from the input into memory that can be shared.
struct SharedText(Arc<str>);

impl<'de> Deserialize<'de> for SharedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = SharedText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<SharedText, E> {
        Ok(SharedText(text.into()))
    }
}
