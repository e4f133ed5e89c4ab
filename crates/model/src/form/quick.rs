//! The quick way in: one pass over a message as this crate writes it.
//!
//! It takes nothing that the exact way refuses, and reads what it takes to the same
//! message. On anything unusual it gives up without a reason, and the exact way reads
//! the message or says where and why it cannot.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::scan::Scan;
use super::{
    CallForm, Kind, MessageForm, ThinkingForm, build, read_call, read_thinking, refuse_tool_fields,
};
use crate::{
    AgentName, AssistantPart, CallId, Extra, Json, Message, MessageId, Role, Text, Timestamp,
    ToolName, VendorName,
};

/// Reads a message, or gives up.
pub(super) fn read_message(text: &str) -> Option<Message> {
    let mut scan = Scan::of(text.starts_with('{').then_some(text)?);
    let fields = MessageFields::read(&mut scan).filter(|_| scan.is_done())?;
    let parts = fields.parts?;
    let form = MessageForm::<()> {
        id: fields.id.unwrap_or_default(),
        role: fields.role?,
        at: fields.at,
        agent: fields.agent,
        internal: fields.internal.unwrap_or_default(),
        call: fields.call,
        name: fields.name,
        error: fields.error.unwrap_or_default(),
        parts: vec![],
        extra: fields.extra.unwrap_or_default(),
    };
    refuse_tool_fields(&form).ok()?;
    build(form, parts).ok()
}

type ExtraFields = BTreeMap<VendorName, Json>;

/// The fields of a message.
#[derive(Default)]
struct MessageFields {
    id: Option<MessageId>,
    role: Option<Role>,
    at: Option<Timestamp>,
    agent: Option<AgentName>,
    internal: Option<bool>,
    call: Option<CallId>,
    name: Option<ToolName>,
    error: Option<bool>,
    parts: Option<Vec<AssistantPart>>,
    extra: Option<ExtraFields>,
}

impl MessageFields {
    fn read(scan: &mut Scan<'_>) -> Option<Self> {
        let mut fields = Self::default();
        scan.object(|scan, key| match key {
            "id" => set(&mut fields.id, scan.string()?.as_ref().into()),
            "role" => set(&mut fields.role, scan.string()?.parse().ok()?),
            "at" => set(&mut fields.at, scan.string()?.parse().ok()?),
            "agent" => set(&mut fields.agent, scan.string()?.as_ref().into()),
            "internal" => set(&mut fields.internal, scan.boolean()?),
            "call" => set(&mut fields.call, CallId::new(scan.string()?).ok()?),
            "name" => set(&mut fields.name, scan.string()?.as_ref().into()),
            "error" => set(&mut fields.error, scan.boolean()?),
            "parts" => set(&mut fields.parts, parts(scan)?),
            "extra" => set(&mut fields.extra, extra(scan)?),
            _ => None,
        })?;
        Some(fields)
    }
}

fn parts(scan: &mut Scan<'_>) -> Option<Vec<AssistantPart>> {
    // Most messages have one.
    let mut parts = Vec::with_capacity(1);
    scan.list(|scan| {
        parts.push(PartFields::read(scan)?.part()?);
        Some(())
    })?;
    Some(parts)
}

fn extra(scan: &mut Scan<'_>) -> Option<ExtraFields> {
    let mut extra = BTreeMap::new();
    scan.object(|scan, owner| match extra.insert(owner.into(), scan.raw()?.into()) {
        None => Some(()),
        Some(_) => None,
    })?;
    Some(extra)
}

/// The fields of a text, of thinking and of a call. Pictures, files and opaque parts are
/// left to the exact way.
#[derive(Default)]
struct PartFields {
    kind: Option<Kind>,
    text: Option<Arc<str>>,
    signature: Option<Arc<str>>,
    encrypted: Option<Arc<str>>,
    vendor: Option<VendorName>,
    model: Option<SmolStr>,
    id: Option<CallId>,
    name: Option<ToolName>,
    arguments: Option<Json>,
    arguments_text: Option<Arc<str>>,
    extra: Option<ExtraFields>,
}

impl PartFields {
    fn read(scan: &mut Scan<'_>) -> Option<Self> {
        let mut fields = Self::default();
        scan.object(|scan, key| match key {
            "type" => set(&mut fields.kind, kind(&scan.string()?)?),
            "text" => set(&mut fields.text, scan.string()?.into()),
            "signature" => set(&mut fields.signature, scan.string()?.into()),
            "encrypted" => set(&mut fields.encrypted, scan.string()?.into()),
            "vendor" => set(&mut fields.vendor, scan.string()?.as_ref().into()),
            "model" => set(&mut fields.model, SmolStr::new(scan.string()?)),
            "id" => set(&mut fields.id, CallId::new(scan.string()?).ok()?),
            "name" => set(&mut fields.name, scan.string()?.as_ref().into()),
            "arguments" => set(&mut fields.arguments, scan.raw()?.into()),
            "arguments_text" => set(&mut fields.arguments_text, scan.string()?.into()),
            "extra" => set(&mut fields.extra, extra(scan)?),
            _ => None,
        })?;
        Some(fields)
    }

    /// The part, if it has the fields of its kind and no others.
    fn part(self) -> Option<AssistantPart> {
        let Self { text, signature, encrypted, vendor, model, id, name, .. } = self;
        let (arguments, arguments_text) = (self.arguments, self.arguments_text);
        let (kind, extra) = (self.kind?, self.extra.unwrap_or_default());
        let is_sealed = signature.is_some() || encrypted.is_some();
        let is_produced = vendor.is_some() || model.is_some();
        let is_called = id.is_some() || name.is_some();
        let has_arguments = arguments.is_some() || arguments_text.is_some();
        match kind {
            Kind::Text if !(is_sealed || is_produced || is_called || has_arguments) => {
                let extra = Extra::from_map(extra).ok()?;
                Some(AssistantPart::Text(Text { text: text?, extra }))
            }
            Kind::Thinking if !(is_called || has_arguments) => {
                let text = text.unwrap_or_default();
                let form = ThinkingForm { kind, text, signature, encrypted, vendor, model, extra };
                read_thinking(form).ok().map(AssistantPart::Thinking)
            }
            Kind::Call if !(is_sealed || is_produced || text.is_some()) => {
                let (id, name) = (id?, name?);
                let form = CallForm { kind, id, name, arguments, arguments_text, extra };
                read_call(form).ok().map(AssistantPart::Call)
            }
            Kind::Text | Kind::Thinking | Kind::Call => None,
            Kind::Image | Kind::File | Kind::Opaque => None,
        }
    }
}

/// The kind of a part that is read here.
fn kind(name: &str) -> Option<Kind> {
    match name {
        "text" => Some(Kind::Text),
        "thinking" => Some(Kind::Thinking),
        "call" => Some(Kind::Call),
        _ => None,
    }
}

/// Takes in a field; one that comes twice is left to the exact way.
fn set<T>(field: &mut Option<T>, value: T) -> Option<()> {
    let is_first = field.is_none();
    *field = Some(value);
    is_first.then_some(())
}
