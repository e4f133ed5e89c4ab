//! A turn as a message.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;

use interleaf_model::{AssistantPart, Body, Entry, Json, Message, Opaque};

use super::parts::{
    IN_MESSAGE, Side, call_block, content_block, left_out, opaque_block, plain, result_block,
    text_block, thinking_block,
};
use super::{fields, mark, rest, settings};
use crate::adjustment::AdjustmentKind;
use crate::anthropic::wire::{Block, Content, Mark, Message as MessageForm, Rest, TextBlock};
use crate::anthropic::{MARK, OWNER, PLACEHOLDER, is_legal_id, is_server_id};
use crate::encode::{Context, Elements, TurnPlace};
use crate::raw::{Fields, text};
use crate::turns::Turn;
use crate::{CacheMarks, Error};

/// What the user says where a model will not speak after itself.
const GO_ON: &str = "Continue.";

pub(super) fn turn(
    cx: &mut Context<'_>,
    turn: Turn<'_>,
    place: TurnPlace,
    elements: &mut Elements<'_>,
) -> Result<(), Error> {
    match turn {
        Turn::User { results, said, start } => {
            elements.push(&user(cx, results, said, start, place))
        }
        Turn::Assistant { said, start } => {
            let messages = assistant(cx, said, start, place);
            messages.iter().try_for_each(|message| elements.push(message))
        }
    }
}

/// What comes behind the assistant's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The user's next.
    Followed,
    /// The model's own: it is to go on with its words.
    Prefill,
    /// A turn that we put in.
    Closed,
    /// The rest of a turn that the API paused.
    Paused,
}

/// Blocks, and behind which of them each message ends.
#[derive(Default)]
struct Blocks<'a> {
    list: Vec<Block<'a>>,
    /// For each message, the number of blocks up to its end.
    ends: Vec<usize>,
    rest: Rest<'a>,
}

impl<'a> Blocks<'a> {
    fn end_message(&mut self) {
        self.ends.push(self.list.len());
    }

    /// Adds to the last message what must stand there.
    fn push_placeholder(&mut self, block: Block<'a>) {
        self.list.push(block);
        if let Some(end) = self.ends.last_mut() {
            *end = self.list.len();
        }
    }

    /// Adds fields of the message itself; of two of one name the first counts.
    fn attach(&mut self, fields: Rest<'a>) {
        for (name, value) in fields.0 {
            if !self.rest.0.iter().any(|(known, _)| *known == name) {
                self.rest.0.push((name, value));
            }
        }
    }

    /// Sets the mark behind a message: on its last block that can have one, or on one
    /// before it.
    fn set_mark(&mut self, message: usize, mark: Mark<'a>) {
        let end = self.ends.get(message).copied().unwrap_or(self.list.len());
        for block in self.list[..end].iter_mut().rev() {
            let place = match block {
                Block::Text(block) => &mut block.cache_control,
                Block::Image(block) => &mut block.cache_control,
                Block::Document(block) => &mut block.cache_control,
                Block::Call(block) => &mut block.cache_control,
                Block::Result(block) => &mut block.cache_control,
                Block::Thinking(_) | Block::Redacted(_) | Block::Opaque(_) => continue,
            };
            *place = Some(mark);
            return;
        }
    }

    fn message(self, role: &'static str) -> MessageForm<'a> {
        MessageForm { role, content: Content(self.list), rest: self.rest }
    }
}

fn user<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    results: &'a [Entry],
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> MessageForm<'a> {
    let mut blocks = Blocks::default();
    for entry in results {
        let message = &*entry.message;
        blocks.list.extend(result_block(cx, message));
        if let Some(inner) = message.extra.get(OWNER).and_then(in_message) {
            blocks.attach(inner);
        }
        blocks.end_message();
    }
    report_merge(cx, said);
    for entry in said {
        let message = &*entry.message;
        if let Body::User(parts) = &message.body {
            for part in parts.iter() {
                blocks.list.extend(content_block(cx, part, message, Side::User));
            }
        }
        blocks.attach(message_rest(message, cx.options.cache));
        blocks.end_message();
    }
    if blocks.list.is_empty() {
        blocks.push_placeholder(placeholder(cx, said));
    }
    if let Some(at) = place.breakpoint {
        blocks.set_mark(at - start, mark(cx.options));
    }
    blocks.message("user")
}

fn assistant<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    said: &'a [Entry],
    start: usize,
    place: TurnPlace,
) -> Vec<MessageForm<'a>> {
    let ending = if !place.last {
        Ending::Followed
    } else if is_paused(said) {
        Ending::Paused
    } else if settings::needs_user_last(cx.options) {
        Ending::Closed
    } else {
        Ending::Prefill
    };
    let served = Served::of(said, place);
    let mut seen = Vec::new();
    let mut blocks = Blocks::default();
    report_merge(cx, said);
    for (index, entry) in (start..).zip(said) {
        let message = &*entry.message;
        let Body::Assistant(parts) = &message.body else { continue };
        for part in parts.iter() {
            let block = match part {
                AssistantPart::Text(text) => text_block(cx, text, message),
                AssistantPart::Call(call) => Some(call_block(cx, call, message)),
                AssistantPart::Thinking(_)
                    if settings::hides_thinking(cx, place, ending == Ending::Prefill) =>
                {
                    let detail = "thinking is off";
                    cx.adjustments.add(AdjustmentKind::ThinkingDropped, &message.id, detail);
                    None
                }
                AssistantPart::Thinking(thought) => {
                    thinking_block(cx, thought, (message, index), place, &mut seen)
                }
                AssistantPart::Image(_) => {
                    let note = "[image not sent: the assistant cannot show one]";
                    Some(left_out(cx, message, note.to_owned()))
                }
                AssistantPart::File(_) => {
                    let note = "[file not sent: the assistant cannot show one]";
                    Some(left_out(cx, message, note.to_owned()))
                }
                AssistantPart::Opaque(opaque) => {
                    served_block(cx, opaque, message, &served, blocks.list.is_empty())
                }
            };
            blocks.list.extend(block);
        }
        blocks.attach(message_rest(message, cx.options.cache));
        blocks.end_message();
    }
    if blocks.list.is_empty() && place.last {
        return Vec::new();
    }
    // No message is empty, and none ends with a thought.
    if matches!(blocks.list.last(), None | Some(Block::Thinking(_) | Block::Redacted(_))) {
        blocks.push_placeholder(placeholder(cx, said));
    }
    if ending == Ending::Prefill {
        trim_end(&mut blocks.list);
    }
    if let Some(at) = place.breakpoint {
        blocks.set_mark(at - start, mark(cx.options));
    }
    let mut messages = vec![blocks.message("assistant")];
    if ending == Ending::Closed {
        cx.adjustments
            .add_general(AdjustmentKind::TurnInserted, "the model does not speak after itself");
        let list = vec![plain(GO_ON)];
        messages.push(Blocks { list, ..Blocks::default() }.message("user"));
    }
    messages
}

fn placeholder(cx: &mut Context<'_>, said: &[Entry]) -> Block<'static> {
    if let Some(entry) = said.last() {
        let detail = "a placeholder stands in its place";
        cx.adjustments.add(AdjustmentKind::BlankText, &entry.message.id, detail);
    }
    plain(PLACEHOLDER)
}

fn report_merge(cx: &mut Context<'_>, said: &[Entry]) {
    for entry in said.iter().skip(1) {
        cx.adjustments.add(AdjustmentKind::TurnsMerged, &entry.message.id, "");
    }
}

/// The last message of all may not end with white space.
fn trim_end(blocks: &mut [Block<'_>]) {
    if let Some(Block::Text(TextBlock { text, .. })) = blocks.last_mut() {
        let end = text.trim_end().len();
        match text {
            Cow::Borrowed(text) => *text = &text[..end],
            Cow::Owned(text) => text.truncate(end),
        }
    }
}

fn message_rest(message: &Message, cache: CacheMarks) -> Rest<'_> {
    rest(&message.extra, &["role", "content", MARK], cache)
}

fn in_message(own: &Json) -> Option<Rest<'_>> {
    let inner = fields(own)?.peek(IN_MESSAGE)?;
    let inner = Fields::read(inner).ok()?;
    let is_kept = |&(name, _): &(&str, &RawValue)| name != "role" && name != "content";
    Some(Rest(inner.iter().filter(is_kept).map(|(name, raw)| (name.to_owned(), raw)).collect()))
}

/// The tools that the API ran itself in a turn: uses and results by their ids.
struct Served<'a> {
    uses: HashSet<Cow<'a, str>>,
    results: HashSet<Cow<'a, str>>,
    /// A use may wait for its result until the turn goes on: behind it comes nothing, or
    /// nothing but results.
    may_wait: bool,
    /// The turn goes on with one that was interrupted for results, so that a use may be
    /// there.
    goes_on: bool,
}

enum Half<'a> {
    Use(Cow<'a, str>),
    Result(Cow<'a, str>),
    /// With an id that the API never gave.
    Foreign,
}

impl<'a> Served<'a> {
    fn of(said: &'a [Entry], place: TurnPlace) -> Self {
        let has_calls = said.iter().any(|entry| entry.message.has_calls());
        let may_wait = place.last || has_calls && !place.spoken_to;
        let goes_on = !place.asked;
        let mut served = Self { uses: HashSet::new(), results: HashSet::new(), may_wait, goes_on };
        for opaque in said.iter().flat_map(|entry| opaques(&entry.message)) {
            match half(opaque) {
                Some(Half::Use(id)) => served.uses.insert(id),
                Some(Half::Result(id)) => served.results.insert(id),
                Some(Half::Foreign) | None => continue,
            };
        }
        served
    }
}

fn opaques(message: &Message) -> impl Iterator<Item = &Opaque> {
    message.parts().filter_map(|part| match part {
        interleaf_model::PartRef::Opaque(opaque) => Some(opaque),
        _ => None,
    })
}

fn half(opaque: &Opaque) -> Option<Half<'_>> {
    if opaque.owner.as_str() != OWNER {
        return None;
    }
    let own = fields(&opaque.value)?;
    let kind = text(own.peek("type")?).ok()?;
    let is_use = kind.ends_with("_tool_use");
    if !is_use && !kind.ends_with("_tool_result") {
        return None;
    }
    let id = own.peek(if is_use { "id" } else { "tool_use_id" });
    let id = id.and_then(|id| text(id).ok()).unwrap_or_default();
    let is_legal = if kind.starts_with("mcp_") { is_legal_id(&id) } else { is_server_id(&id) };
    Some(match (is_legal, is_use) {
        (false, _) => Half::Foreign,
        (true, true) => Half::Use(id),
        (true, false) => Half::Result(id),
    })
}

/// An opaque part of the assistant's. Of a tool that the API ran itself neither half
/// goes alone, but where a turn was interrupted between them.
fn served_block<'a>(
    cx: &mut Context<'_>,
    opaque: &'a Opaque,
    message: &Message,
    served: &Served<'_>,
    is_first: bool,
) -> Option<Block<'a>> {
    let is_whole = match half(opaque) {
        Some(Half::Use(id)) => served.may_wait || served.results.contains(&id),
        Some(Half::Result(id)) => is_first && served.goes_on || served.uses.contains(&id),
        Some(Half::Foreign) => false,
        None => true,
    };
    if is_whole {
        return opaque_block(cx, opaque, message, Side::Assistant);
    }
    let detail = "half of a tool that the API ran itself";
    cx.adjustments.add(AdjustmentKind::OpaqueDropped, &message.id, detail);
    None
}

/// Whether the API paused the turn in the middle of its own tools.
pub(super) fn is_paused(said: &[Entry]) -> bool {
    let last = said.last().and_then(|entry| entry.message.parts().next_back());
    let Some(interleaf_model::PartRef::Opaque(opaque)) = last else { return false };
    match half(opaque) {
        Some(Half::Use(_)) => true,
        Some(Half::Result(id)) => {
            let is_alone = said.iter().flat_map(|entry| entry.message.parts()).nth(1).is_none();
            let mut halves = said.iter().flat_map(|entry| opaques(&entry.message)).map(half);
            is_alone || halves.any(|half| matches!(half, Some(Half::Use(used)) if used == id))
        }
        // It is not sent, so the turn ends with what stands before it.
        Some(Half::Foreign) | None => false,
    }
}
