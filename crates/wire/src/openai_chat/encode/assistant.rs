//! What the model said.

use std::borrow::Cow;

use interleaf_model::{Arguments, AssistantPart, Body, Entry, Message, Opaque, Thinking, ToolCall};

use super::media;
use super::parts::{PLACEHOLDER, content, known, message_rest, opaque_part, own_type, text_part};
use crate::ThinkingMode;
use crate::adjustment::AdjustmentKind;
use crate::arguments;
use crate::encode::{Context, TurnPlace};
use crate::names::call_id;
use crate::openai_chat::wire::{
    self, Call, CallForm, Content, CustomCall, FunctionCall, Part, Rest,
};
use crate::openai_chat::{MARK, OPENAI};
use crate::raw::nearest;
use crate::thinking::goes_back;
use crate::vendor::Reasoning;

/// The fields of a text of the assistant's that have a place of their own, or none.
const ASSISTANT_TEXT_FIELDS: &[&str] = &["type", "text", MARK];

/// A message before it is written.
#[derive(Default)]
struct Draft<'a> {
    thoughts: Vec<&'a str>,
    parts: Vec<Part<'a>>,
    refusals: Vec<Cow<'a, str>>,
    calls: Vec<Call<'a>>,
    rest: Rest<'a>,
}

impl<'a> Draft<'a> {
    fn is_blank(&self) -> bool {
        self.parts.is_empty() && self.refusals.is_empty() && self.calls.is_empty()
    }

    fn append(&mut self, other: Self) {
        self.thoughts.extend(other.thoughts);
        self.parts.extend(other.parts);
        self.refusals.extend(other.refusals);
        self.calls.extend(other.calls);
        self.rest.merge(other.rest);
    }
}

/// A message for each that says something, or one for all.
pub(super) fn turn<'a>(
    cx: &mut Context<'_>,
    said: &'a [Entry],
    place: TurnPlace,
) -> Vec<wire::Message<'a>> {
    let mut drafts: Vec<(&Message, Draft<'a>)> = Vec::new();
    for entry in said {
        let message = &*entry.message;
        let Body::Assistant(parts) = &message.body else { continue };
        let draft = draft(cx, message, parts);
        if draft.is_blank() {
            continue;
        }
        match drafts.last_mut() {
            Some((_, before)) if cx.vendor.quirks.strict_alternation => {
                let detail = "it follows another assistant message";
                cx.adjustments.add(AdjustmentKind::TurnsMerged, &message.id, detail);
                before.append(draft);
            }
            _ => drafts.push((message, draft)),
        }
    }
    if let ([], Some(entry)) = (drafts.as_slice(), said.last()) {
        cx.adjustments.add(
            AdjustmentKind::BlankText,
            &entry.message.id,
            "a placeholder takes its place",
        );
        let parts = vec![Part::text(PLACEHOLDER)];
        drafts.push((&entry.message, Draft { parts, ..Draft::default() }));
    }
    let mut messages: Vec<_> =
        drafts.into_iter().map(|(message, draft)| written(cx, message, draft)).collect();
    if let (Some(last), Some(entry)) = (messages.last_mut(), said.last())
        && place.last
        && last.tool_calls.is_empty()
    {
        let mut own = Rest::of(&entry.message.extra, OPENAI, &[]);
        let was_prefix = own.take("prefix").is_some_and(|prefix| prefix.get() == "true");
        last.prefix = (was_prefix || cx.vendor.quirks.prefix_last).then_some(true);
    }
    messages
}

fn draft<'a>(cx: &mut Context<'_>, message: &'a Message, parts: &'a [AssistantPart]) -> Draft<'a> {
    let mut draft = Draft { rest: message_rest(cx, message), ..Draft::default() };
    let is_spoken = draft.rest.get("audio").is_some();
    for part in parts {
        match part {
            AssistantPart::Text(text) => {
                draft.parts.extend(text_part(cx, message, text, ASSISTANT_TEXT_FIELDS));
            }
            AssistantPart::Thinking(thinking) => {
                if replays(cx, message, thinking) {
                    draft.thoughts.push(&thinking.text);
                }
            }
            AssistantPart::Call(call) => draft.calls.push(written_call(cx, message, call)),
            AssistantPart::Image(_) => {
                draft.parts.push(media::note(cx, message, "image", "the model made it"));
            }
            // The API knows the sound by its id.
            AssistantPart::File(_) if is_spoken => {}
            AssistantPart::File(_) => {
                draft.parts.push(media::note(cx, message, "file", "the model made it"));
            }
            AssistantPart::Opaque(opaque) => add_opaque(cx, message, opaque, &mut draft),
        }
    }
    // What belongs to a thought goes where it goes.
    let thinks = |part: &AssistantPart| matches!(part, AssistantPart::Thinking(_));
    if draft.thoughts.is_empty() && parts.iter().any(thinks) {
        draft.rest.take("reasoning_details");
    }
    draft
}

/// Whether a thought goes back; reports it if not.
fn replays(cx: &mut Context<'_>, message: &Message, thinking: &Thinking) -> bool {
    let quirks = &cx.vendor.quirks;
    let reason = match quirks.reasoning {
        Reasoning::None => Some("the API has no field for it"),
        _ if matches!(thinking.seal, Some(interleaf_model::Seal::Encrypted(_))) => {
            Some("it is sealed, and the API has no field for that")
        }
        _ if quirks.reasoning_with_calls && !message.has_calls() => {
            Some("it goes back only beside calls")
        }
        _ => None,
    };
    if let Some(reason) = reason {
        cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, reason);
        return false;
    }
    goes_back(cx, thinking, message) && !thinking.text.trim().is_empty()
}

fn add_opaque<'a>(
    cx: &mut Context<'_>,
    message: &Message,
    opaque: &'a Opaque,
    draft: &mut Draft<'a>,
) {
    match own_type(opaque).as_deref() {
        Ok("refusal") => {
            let value = nearest(&opaque.value);
            match value["refusal"].as_str().filter(|text| !text.trim().is_empty()) {
                Some(text) if cx.vendor.quirks.native => {
                    draft.refusals.push(text.to_owned().into())
                }
                Some(text) => draft.parts.push(Part::text(text.to_owned())),
                None => cx.adjustments.add(AdjustmentKind::BlankText, &message.id, "left out"),
            }
        }
        Ok("image_url") => draft.parts.push(media::note(cx, message, "image", "the model made it")),
        Ok("file" | "input_audio") => {
            draft.parts.push(media::note(cx, message, "file", "the model made it"));
        }
        _ => draft.parts.extend(opaque_part(cx, message, opaque)),
    }
}

fn written_call<'a>(cx: &mut Context<'_>, message: &Message, call: &'a ToolCall) -> Call<'a> {
    let quirks = cx.vendor.quirks;
    let id = call_id(&call.id, &quirks.call_ids);
    if let Cow::Owned(id) = &id {
        let detail = format!("{} is {id}", call.id);
        cx.adjustments.add(AdjustmentKind::CallIdRewritten, &message.id, detail);
    }
    let name = cx.tool_name(&call.name);
    if let Cow::Owned(name) = &name {
        let detail = format!("{} is {name}", call.name);
        cx.adjustments.add(AdjustmentKind::ToolNameRewritten, &message.id, detail);
    }
    let mut rest = Rest::of(&call.extra, OPENAI, &["id"]);
    let kind = rest.take("type");
    let custom = rest.take_inner("custom", &["name", "input"]);
    let function = rest.take_inner("function", &["name", "arguments"]);
    let (rest, function) = (known(cx, message, rest), known(cx, message, function));
    let form = if quirks.native && kind.is_some_and(|kind| kind.get() == r#""custom""#) {
        let input = call.arguments.as_str();
        CallForm::Custom { custom: CustomCall { name, input, rest: custom } }
    } else {
        if let Arguments::Invalid(_) = call.arguments {
            cx.adjustments.add(
                AdjustmentKind::ArgumentsWrapped,
                &message.id,
                format!("of {}", call.id),
            );
        }
        let arguments = arguments::as_object(&call.arguments);
        CallForm::Function { function: FunctionCall { name, arguments, rest: function } }
    };
    Call { id, form, rest }
}

fn written<'a>(cx: &mut Context<'_>, message: &Message, draft: Draft<'a>) -> wire::Message<'a> {
    let quirks = cx.vendor.quirks;
    let Draft { thoughts, mut parts, refusals, calls, rest } = draft;
    let thought = (!thoughts.is_empty()).then(|| joined(&thoughts));
    if quirks.reasoning == Reasoning::Part
        && let Some(thought) = &thought
    {
        parts.insert(0, Part::Thinking { thinking: vec![Part::text(thought.clone())] });
    }
    let refusal = refusals.into_iter().reduce(|all, next| format!("{all}\n{next}").into());
    let (content, refusal) = match (parts.is_empty(), refusal) {
        (false, refusal) => (content(parts, &quirks), refusal),
        (true, Some(refusal)) => (Content::Parts(vec![Part::Refusal { refusal }]), None),
        (true, None) if quirks.empty_content => (Content::Text("".into()), None),
        (true, None) => (Content::Null, None),
    };
    let must_think = quirks.reasoning_with_calls && !calls.is_empty() && !is_off(cx);
    if must_think && thought.is_none() {
        let detail = "an empty thought is put beside the calls";
        cx.adjustments.add(AdjustmentKind::SignatureStandIn, &message.id, detail);
    }
    let thought = thought.or_else(|| must_think.then_some("".into()));
    let (reasoning_content, reasoning) = match quirks.reasoning {
        Reasoning::None | Reasoning::Part => (None, None),
        Reasoning::ReasoningContent => (thought, None),
        Reasoning::Reasoning => (None, thought),
        Reasoning::Both => (thought.clone(), thought),
    };
    wire::Message {
        reasoning_content,
        reasoning,
        refusal,
        tool_calls: calls,
        rest,
        ..wire::Message::new("assistant", content)
    }
}

/// Whether the request switches thinking off.
fn is_off(cx: &Context<'_>) -> bool {
    cx.options.thinking.is_some_and(ThinkingMode::is_off)
}

fn joined<'a>(thoughts: &[&'a str]) -> Cow<'a, str> {
    match thoughts {
        [thought] => Cow::Borrowed(thought),
        _ => Cow::Owned(thoughts.join("\n")),
    }
}
