//! A valid agent conversation.

use std::ops::Range;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, Message, Parts, Status, Text,
    Thinking, Timestamp, ToolCall, ToolName, ToolResult,
};

use super::part::{arguments, thinking};
use super::text::{text, words};

/// Where the clock of a made-up conversation starts: 2026-01-01T00:00:00Z.
const START_MICROSECONDS: i64 = 1_767_225_600_000_000;

/// A valid conversation of as many messages as `len` says: perhaps a system
/// message, then turns of a user message, blocks of up to four parallel calls
/// with their results in call order, and an answer.
///
/// Every call id is used once, nothing is blank that must not be, every message
/// is the main agent's and none has an id. It may stop after any whole block.
pub fn conversation(len: Range<usize>) -> impl Strategy<Value = Vec<Message>> {
    len.prop_flat_map(|len| {
        // A turn is about seven messages; where that was too few, turns come again.
        (option::of(words()), vec(turn(), len / 7 + 1), call_prefix())
            .prop_map(move |(system, turns, prefix)| assemble(len, system, &turns, prefix))
    })
    .boxed()
}

/// One request of the user and what came of it.
#[derive(Debug, Clone)]
struct Turn {
    request: String,
    blocks: Vec<Block>,
    answer: String,
}

/// An assistant message with calls, and what the tools will answer.
#[derive(Debug, Clone)]
struct Block {
    thinking: Option<Thinking>,
    text: String,
    calls: Vec<Call>,
}

#[derive(Debug, Clone)]
struct Call {
    name: &'static str,
    arguments: Arguments,
    status: Status,
    output: String,
    is_named: bool,
}

fn turn() -> impl Strategy<Value = Turn> {
    (words(), vec(block(), 0..4), words()).prop_map(|(request, blocks, answer)| Turn {
        request,
        blocks,
        answer,
    })
}

fn block() -> impl Strategy<Value = Block> {
    (option::of(thinking()), text(), vec(call(), 1..=4)).prop_map(|(thinking, text, calls)| Block {
        thinking,
        text,
        calls,
    })
}

fn call() -> impl Strategy<Value = Call> {
    let name = select(&["read_file", "write_file", "bash", "search", "list"][..]);
    let status = prop_oneof![5 => Just(Status::Ok), 1 => Just(Status::Error)];
    (name, arguments(), status, text(), any::<bool>()).prop_map(
        |(name, arguments, status, output, is_named)| Call {
            name,
            arguments,
            status,
            output,
            is_named,
        },
    )
}

fn call_prefix() -> impl Strategy<Value = &'static str> {
    select(&["call_", "toolu_01", "c", "chatcmpl-tool-"][..])
}

fn assemble(len: usize, system: Option<String>, turns: &[Turn], prefix: &str) -> Vec<Message> {
    let mut log = Log { len, prefix, messages: Vec::with_capacity(len), n_calls: 0 };
    if let Some(text) = system {
        log.push(Message::system(&text));
    }
    for turn in turns.iter().cycle() {
        if log.messages.len() == len {
            break;
        }
        log.push(Message::user(&turn.request));
        for block in &turn.blocks {
            log.push_block(block.clone());
        }
        log.push(Message::assistant(&turn.answer));
    }
    log.messages
}

/// The messages so far, and how many there may be.
struct Log<'a> {
    len: usize,
    prefix: &'a str,
    messages: Vec<Message>,
    n_calls: usize,
}

impl Log<'_> {
    fn push(&mut self, message: Message) {
        if self.messages.len() < self.len {
            let elapsed = 7_000_000 * self.messages.len() as i64;
            let at = Timestamp::from_microseconds(START_MICROSECONDS + elapsed).ok();
            self.messages.push(Message { at, ..message });
        }
    }

    /// The block, with as many calls as there is room for results.
    fn push_block(&mut self, block: Block) {
        let room = self.len.saturating_sub(self.messages.len() + 1);
        let mut parts: Vec<AssistantPart> =
            block.thinking.into_iter().map(AssistantPart::Thinking).collect();
        parts.push(AssistantPart::Text(Text::new(block.text)));
        let mut results = Vec::new();
        for call in block.calls.into_iter().take(room) {
            self.n_calls += 1;
            let Ok(id) = CallId::new(format!("{}{}", self.prefix, self.n_calls)) else {
                continue;
            };
            let name = ToolName::new(call.name);
            results.push(ToolResult {
                call: id.clone(),
                name: call.is_named.then(|| name.clone()),
                status: call.status,
                parts: Parts::one(ContentPart::Text(Text::new(call.output))),
            });
            let arguments = call.arguments;
            parts.push(AssistantPart::Call(ToolCall { id, name, arguments, extra: Extra::NONE }));
        }
        if results.is_empty() {
            return;
        }
        if let Ok(parts) = Parts::new(parts) {
            self.push(Body::Assistant(parts).into());
            for result in results {
                self.push(Body::Tool(result).into());
            }
        }
    }
}
