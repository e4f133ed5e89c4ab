//! A session's requests as caches see them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use interleaf_assemble::{Ledger, Tokens};
use interleaf_cache::{Cache, Prompt, Rules, Stop, Used};
use interleaf_model::{ContextKind, Entry, Message, MessageId, Provenance, Role, Tool};
use interleaf_wire::Marks;

use super::Shares;
use super::as_sent::AsSent;
use crate::{Target, neutral};

/// The session as caches see it. A request costs what is new in it: what stands before is
/// neither counted nor hashed again.
pub(super) struct Seen {
    caches: Vec<Cache>,
    prompt: Prompt,
    /// What the messages consist of: each is one part, unless it carries texts of the context.
    parts: Vec<Part>,
    /// How many parts there are up to the end of each message. The tools count as one.
    ends: Vec<usize>,
    shares: Shares,
    /// The tools, which stand before the messages.
    tools: Arc<[Tool]>,
    n_before: usize,
    /// The last body, if bodies are seen as they were sent.
    sent: Option<Arc<AsSent>>,
    /// The keys of long messages as they were said, by address. Holding the message keeps the
    /// address from being used again.
    keys: HashMap<usize, (Arc<Message>, Box<[u64]>)>,
}

/// A message, or one of those that a message carries with it.
struct Part {
    class: Class,
    tokens: u64,
    /// How many pieces of the prompt there are up to its end.
    end: usize,
}

/// A message is seen by the cache in pieces of this many bytes: two requests that part within
/// one have in common what stands before that.
const PIECE: usize = 32;

/// What a message of a request is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Class {
    Head,
    User,
    Assistant,
    Result,
    Context(ContextKind),
}

/// Where the marks for the cache are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marking {
    /// Where Interleaf puts them: after the head, and where the prompt begins to change. In a
    /// body that was made elsewhere, at its end.
    Ours,
    /// Where the request had them.
    Own,
    /// The request had none.
    Unmarked,
}

impl Marking {
    /// The marks of a request that is made for this target. A cache may be played that heeds
    /// marks where the target does not.
    pub(super) fn of(self, prompt: &interleaf_model::Prompt, target: Option<&Target>) -> Marks {
        if self == Self::Unmarked {
            return Marks::default();
        }
        let marks = target.map(|target| Marks::of(prompt, &target.vendor, &target.options.model));
        marks.filter(|marks| !marks.is_empty()).unwrap_or_else(|| Marks::anywhere(prompt))
    }
}

impl Class {
    /// What a message is that is no text of the context.
    pub(super) fn of(message: &Message) -> Self {
        match message.role() {
            Role::System => Self::Head,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Result,
        }
    }
}

impl Seen {
    pub(super) fn new(rules: &[Rules]) -> Self {
        Self {
            caches: rules.iter().cloned().map(Cache::new).collect(),
            prompt: Prompt::new(),
            parts: Vec::new(),
            ends: Vec::new(),
            shares: Shares::default(),
            tools: [].into(),
            n_before: 0,
            sent: None,
            keys: HashMap::new(),
        }
    }

    /// Takes in a prompt whose first messages are those of the one before.
    pub(super) fn place(
        &mut self,
        prompt: &interleaf_model::Prompt,
        stable: usize,
        marks: Marks,
        ledger: &Ledger,
    ) {
        self.take_tools(prompt.tools(), ledger);
        let stable = stable.min(self.ends.len() - self.n_before);
        self.truncate(self.n_before + stable);
        let head = prompt.entries().iter().take_while(|e| e.message.role() == Role::System).count();
        let settled = prompt.settled().map_or(0, |settled| settled.len());
        for index in stable..head {
            self.push_entry(&prompt.entries()[index], ledger);
        }
        if let Some(chain) = prompt.settled().filter(|_| stable < head + settled) {
            let skipped = stable.saturating_sub(head);
            chain.entries().skip(skipped).for_each(|entry| self.push_entry(entry, ledger));
        }
        let skipped = stable.saturating_sub(settled).max(head);
        let rest = prompt.entries().iter().skip(skipped);
        rest.for_each(|entry| self.push_entry(entry, ledger));
        self.prompt.clear_marks();
        if marks.head {
            self.mark(self.n_before + head);
        }
        if let Some(at) = marks.message {
            self.mark(self.n_before + settled + at + 1);
        }
    }

    /// Takes in a body as it was sent.
    pub(super) fn place_sent(&mut self, sent: &Arc<AsSent>, marking: Marking, ledger: &Ledger) {
        self.take_tools(&sent.tools, ledger);
        let before = self.sent.as_ref().map_or(&[][..], |before| &before.pieces);
        let same = before.iter().zip(&sent.pieces);
        let same = same.take_while(|((_, old), (_, new))| Arc::ptr_eq(old, new)).count();
        let same = same.min(self.ends.len() - self.n_before);
        self.truncate(self.n_before + same);
        for (class, message) in &sent.pieces[same..] {
            self.push_said(message, ledger.message(message), class.clone());
            self.ends.push(self.parts.len());
        }
        self.prompt.clear_marks();
        let head = sent.pieces.iter().take_while(|(class, _)| *class == Class::Head).count();
        let ours = [head, sent.pieces.len()];
        let marks: &[usize] = match marking {
            Marking::Own => &sent.marks,
            Marking::Ours => &ours,
            Marking::Unmarked => &[],
        };
        for mark in marks {
            self.mark(self.n_before + mark);
        }
        self.sent = Some(sent.clone());
    }

    /// The tokens of the prompt.
    pub(super) fn n_tokens(&self) -> u64 {
        self.prompt.tokens()
    }

    /// The tokens of the prompt, by part; those of the conversation and the context are in
    /// the shares.
    pub(super) fn tokens(&self) -> Tokens {
        let at_head = |parts: &[Part]| -> u64 {
            let head = parts.iter().filter(|part| part.class == Class::Head);
            head.map(|part| part.tokens).sum()
        };
        let (tools, rest) = self.parts.split_at(self.n_before);
        let mut tokens = Tokens::default();
        (tokens.tools, tokens.system) = (at_head(tools), at_head(rest));
        tokens
    }

    /// Takes in the tools. If they are others, nothing stands after them.
    fn take_tools(&mut self, tools: &[Tool], ledger: &Ledger) {
        if *self.tools == *tools {
            return;
        }
        self.truncate(0);
        self.tools = tools.into();
        self.n_before = 0;
        if !tools.is_empty() {
            let text: String = tools.iter().map(neutral::write_tool).collect();
            self.push(&keys(&text), ledger.tools(tools), Class::Head);
            self.ends.push(self.parts.len());
            self.n_before = 1;
        }
    }

    /// What a cache makes of the prompt.
    pub(super) fn request(&mut self, cache: usize, at: u64) -> Used {
        self.caches[cache].request(&self.prompt, at)
    }

    /// The tokens of the conversation and the context in it.
    pub(super) fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Takes in the answer to the last prompt.
    pub(super) fn answer(&mut self, answer: &Arc<Message>, cache: Option<usize>, ledger: &Ledger) {
        let n = self.ends.len();
        self.push_said(answer, ledger.message(answer), Class::Head);
        self.ends.push(self.parts.len());
        for (_, seen) in
            self.caches.iter_mut().enumerate().filter(|(i, _)| cache.is_none_or(|c| c == *i))
        {
            seen.answered(&self.prompt);
        }
        self.truncate(n);
    }

    /// Forgets the last prompt; what the caches hold stays.
    pub(super) fn forget(&mut self) {
        self.truncate(self.n_before);
    }

    /// Marks the end of the nth message, counted from 1, the tools among them.
    fn mark(&mut self, n: usize) {
        let last = self.parts_of(n).checked_sub(1).and_then(|last| self.parts.get(last));
        self.prompt.mark(last.map_or(0, |last| last.end));
    }

    /// How many parts the first messages have.
    fn parts_of(&self, n: usize) -> usize {
        n.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    fn push_entry(&mut self, entry: &Entry, ledger: &Ledger) {
        let apart = entry.apart();
        let (own, carried) = match apart.as_deref().and_then(<[Entry]>::split_first) {
            Some((own, carried)) => (own, carried),
            None => (entry, &[][..]),
        };
        self.push_part(own, ledger.message(&own.message));
        carried.iter().for_each(|text| self.push_part(text, ledger.carried(&text.message)));
        self.ends.push(self.parts.len());
    }

    fn push_part(&mut self, entry: &Entry, tokens: u64) {
        let message = &entry.message;
        let class = match &entry.provenance {
            Provenance::Context(kind) | Provenance::Element(kind) => Class::Context(kind.clone()),
            Provenance::Summary | Provenance::System => Class::Head,
            _ => Class::of(message),
        };
        // What a message carries is taken apart anew each time: its address says nothing.
        match entry.provenance == Provenance::Original && Arc::strong_count(message) > 1 {
            true => self.push_said(message, tokens, class),
            false => self.push(&keys(&said(message)), tokens, class),
        }
    }

    /// Adds a message as it was said, which is seen again and again. Short ones take less to
    /// hash again than to remember.
    fn push_said(&mut self, message: &Arc<Message>, tokens: u64, class: Class) {
        const SHORT: usize = 8;
        let address = Arc::as_ptr(message).addr();
        let mut known = std::mem::take(&mut self.keys);
        match known.get(&address) {
            Some((_, keys)) => self.push(keys, tokens, class),
            None => {
                let keys = keys(&said(message));
                self.push(&keys, tokens, class);
                if keys.len() > SHORT {
                    known.insert(address, (message.clone(), keys));
                }
            }
        }
        self.keys = known;
    }

    /// Adds a part, whose tokens are taken to be spread evenly.
    fn push(&mut self, keys: &[u64], tokens: u64, class: Class) {
        let n = keys.len() as u64;
        let upto = |i: u64| tokens * i / n.max(1);
        for (i, &key) in (1..).zip(keys) {
            let stop = if i == n { Stop::Block } else { Stop::Inside };
            let tokens = u32::try_from(upto(i) - upto(i - 1)).unwrap_or(u32::MAX);
            self.prompt.push(key, tokens, stop);
        }
        self.shares.change(&class, |share| *share += tokens);
        self.parts.push(Part { class, tokens, end: self.prompt.len() });
    }

    /// Takes messages off the end until there are `n`.
    fn truncate(&mut self, n: usize) {
        let n_parts = self.parts_of(n);
        self.ends.truncate(n);
        for part in self.parts.drain(n_parts.min(self.parts.len())..) {
            self.shares.change(&part.class, |share| *share -= part.tokens);
        }
        self.prompt.truncate(self.parts.last().map_or(0, |last| last.end));
    }
}

impl Shares {
    fn change(&mut self, class: &Class, change: impl FnOnce(&mut u64)) {
        match class {
            Class::Head => {}
            Class::User => change(&mut self.user),
            Class::Assistant => change(&mut self.assistant),
            Class::Result => change(&mut self.results),
            Class::Context(kind) => change(self.context.entry(kind.as_str().into()).or_default()),
        }
    }
}

/// What a message says to a model, in a text that only an equal one has.
fn said(message: &Message) -> String {
    let mut said = message.clone();
    (said.at, said.id) = (None, MessageId::new(""));
    neutral::to_json(&said)
}

/// A key for each piece of a text. A cut before the end of the last piece is another piece.
fn keys(text: &str) -> Box<[u64]> {
    let key = |piece: &[u8]| {
        let mut hasher = DefaultHasher::new();
        hasher.write(piece);
        hasher.finish()
    };
    text.as_bytes().chunks(PIECE).map(key).collect()
}
