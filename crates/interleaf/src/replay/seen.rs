//! A session's requests as caches see them.

use std::collections::HashMap;
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
    /// What each piece of the prompt is, and its tokens.
    pieces: Vec<(Class, u64)>,
    shares: Shares,
    /// The tools, which stand before the messages.
    tools: Arc<[Tool]>,
    n_before: usize,
    /// The last body, if bodies are seen as they were sent.
    sent: Option<Arc<AsSent>>,
    /// The keys of messages as they were said, by address. Holding the message keeps the
    /// address from being used again.
    keys: HashMap<usize, (Arc<Message>, u64)>,
}

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
            pieces: Vec::new(),
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
        let stable = stable.min(self.prompt.len() - self.n_before);
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
            self.prompt.mark(self.n_before + head);
        }
        if let Some(at) = marks.message {
            self.prompt.mark(self.n_before + settled + at + 1);
        }
    }

    /// Takes in a body as it was sent.
    pub(super) fn place_sent(&mut self, sent: &Arc<AsSent>, marking: Marking, ledger: &Ledger) {
        self.take_tools(&sent.tools, ledger);
        let before = self.sent.as_ref().map_or(&[][..], |before| &before.pieces);
        let same = before.iter().zip(&sent.pieces);
        let same = same.take_while(|((_, old), (_, new))| Arc::ptr_eq(old, new)).count();
        let same = same.min(self.prompt.len() - self.n_before);
        self.truncate(self.n_before + same);
        for (class, message) in &sent.pieces[same..] {
            let key = self.key_of(message);
            self.push(key, ledger.message(message), class.clone());
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
            self.prompt.mark(self.n_before + mark);
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
        let at_head = |pieces: &[(Class, u64)]| -> u64 {
            let head = pieces.iter().filter(|(class, _)| *class == Class::Head);
            head.map(|(_, tokens)| tokens).sum()
        };
        let (tools, rest) = self.pieces.split_at(self.n_before);
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
            self.push(key(&text), ledger.tools(tools), Class::Head);
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
        let n = self.prompt.len();
        let tokens = ledger.message(answer);
        let key = self.key_of(answer);
        self.push(key, tokens, Class::Head);
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

    fn push_entry(&mut self, entry: &Entry, ledger: &Ledger) {
        let message = &entry.message;
        let class = match &entry.provenance {
            Provenance::Context(kind) | Provenance::Element(kind) => Class::Context(kind.clone()),
            Provenance::Summary | Provenance::System => Class::Head,
            _ => Class::of(message),
        };
        let key = match entry.provenance {
            Provenance::Original => self.key_of(message),
            _ => key(&said(message)),
        };
        self.push(key, ledger.message(message), class);
    }

    fn key_of(&mut self, message: &Arc<Message>) -> u64 {
        let address = Arc::as_ptr(message).addr();
        let made = || (message.clone(), key(&said(message)));
        self.keys.entry(address).or_insert_with(made).1
    }

    fn push(&mut self, key: u64, tokens: u64, class: Class) {
        self.prompt.push(key, u32::try_from(tokens).unwrap_or(u32::MAX), Stop::Block);
        self.shares.change(&class, |share| *share += tokens);
        self.pieces.push((class, tokens));
    }

    fn truncate(&mut self, n: usize) {
        self.prompt.truncate(n);
        for (class, tokens) in self.pieces.drain(n.min(self.pieces.len())..) {
            self.shares.change(&class, |share| *share -= tokens);
        }
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

fn key(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let mut key = [0; 8];
    key.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(key)
}
