//! Conversations that are the same every time, for benches.

use std::sync::Arc;

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, Message, MessageId, Parts, Status,
    Text, Timestamp, ToolCall, ToolName, ToolResult,
};

/// 2026-01-01T00:00:00Z.
const START_MICROSECONDS: i64 = 1_767_225_600_000_000;

/// Between two messages.
const STEP_MICROSECONDS: i64 = 4_300_000;

/// How long texts are, in bytes. Most are short; a few fill a page, as the output
/// of tools does.
const SIZES: [usize; 12] = [20, 45, 80, 160, 120, 300, 60, 700, 1_500, 240, 4_000, 900];

/// How many calls the blocks of a session have, one after the other.
const CALLS: [usize; 7] = [1, 1, 2, 1, 3, 1, 2];

/// How many blocks the turns of a session have, one after the other.
const BLOCKS: [usize; 5] = [3, 5, 0, 4, 8];

const TOOLS: [(&str, &str); 4] =
    [("read_file", "path"), ("bash", "command"), ("search", "query"), ("write_file", "content")];

const WORDS: [&str; 16] = [
    "the",
    "build",
    "fails",
    "in",
    "module",
    "because",
    "a",
    "field",
    "was",
    "renamed",
    "and",
    "tests",
    "still",
    "expect",
    "its",
    "old-name;",
];

/// A long session whose messages share the texts of a short one. Each is named by its place.
pub fn long_session(n_distinct: usize, n_messages: usize) -> Vec<Arc<Message>> {
    let distinct = agent_session(n_distinct);
    let messages = distinct.iter().cycle().take(n_messages).cloned().enumerate();
    let named = |(i, message): (usize, Message)| message.with_id(MessageId::of_index(i));
    messages.map(named).map(Arc::new).collect()
}

/// A coding agent's session of exactly `n_messages` messages: a system message,
/// then user turns, each with several tool blocks and an answer.
///
/// It is valid after every block, with texts of 20 bytes to 4 KB and an instant
/// on every message; no message has an id. The same number gives the same session.
pub fn agent_session(n_messages: usize) -> Vec<Message> {
    let mut session =
        Session { len: n_messages, messages: Vec::with_capacity(n_messages), seed: 0 };
    let rules = session.text();
    session.push(Message::system(&format!("You are a careful coding agent. {rules}")));
    for turn in 0.. {
        let request = session.text();
        session.push(Message::user(&request));
        for _ in 0..BLOCKS[turn % BLOCKS.len()] {
            session.push_block();
        }
        let answer = session.text();
        session.push(Message::assistant(&answer));
        if session.messages.len() == n_messages {
            break;
        }
    }
    session.messages
}

struct Session {
    len: usize,
    messages: Vec<Message>,
    seed: usize,
}

impl Session {
    fn push(&mut self, message: Message) {
        if self.messages.len() < self.len {
            let elapsed = STEP_MICROSECONDS * self.messages.len() as i64;
            let at = Timestamp::from_microseconds(START_MICROSECONDS + elapsed).ok();
            self.messages.push(Message { at, ..message });
        }
    }

    /// An assistant message with calls and their results; fewer calls where the
    /// session ends, and nothing where not one result has room.
    fn push_block(&mut self) {
        let room = self.len.saturating_sub(self.messages.len() + 1);
        let n_calls = CALLS[self.seed % CALLS.len()].min(room);
        let calls: Vec<ToolCall> = (0..n_calls).filter_map(|_| self.call()).collect();
        let text = AssistantPart::Text(Text::new(self.text()));
        let parts = calls.iter().cloned().map(AssistantPart::Call);
        let Ok(parts) = Parts::new(std::iter::once(text).chain(parts).collect()) else {
            return;
        };
        if calls.is_empty() {
            return;
        }
        self.push(Body::Assistant(parts).into());
        for call in calls {
            let result = self.result(call);
            self.push(Body::Tool(result).into());
        }
    }

    fn call(&mut self) -> Option<ToolCall> {
        self.seed += 1;
        let (name, field) = TOOLS[self.seed % TOOLS.len()];
        let id = CallId::new(format!("call_{:05}", self.seed)).ok()?;
        let arguments = format!(r#"{{"{field}": "src/part_{}.rs"}}"#, self.seed % 97);
        let arguments = Arguments::from_text(&arguments);
        Some(ToolCall { id, name: ToolName::new(name), arguments, extra: Extra::NONE })
    }

    fn result(&mut self, call: ToolCall) -> ToolResult {
        let status = if self.seed.is_multiple_of(11) { Status::Error } else { Status::Ok };
        let parts = Parts::one(ContentPart::Text(Text::new(self.text())));
        ToolResult { call: call.id, name: Some(call.name), status, parts }
    }

    /// The next text, unlike the ones before it.
    fn text(&mut self) -> String {
        self.seed += 1;
        let size = SIZES[self.seed * 5 % SIZES.len()];
        let mut text = format!("{} ", self.seed);
        let mut word = self.seed;
        while text.len() < size {
            word += 1 + self.seed % 3;
            text.push_str(WORDS[word % WORDS.len()]);
            text.push(if word.is_multiple_of(13) { '\n' } else { ' ' });
        }
        text.truncate(size);
        text
    }
}
