//! A session's requests as caches see them.

use std::collections::HashMap;
use std::sync::Arc;

use interleaf_assemble::Ledger;
use interleaf_cache::{Cache, Prompt, Rules, Stop, Used};
use interleaf_model::{ContextKind, Entry, Message, MessageId, Provenance, Role, Tool};

use super::Shares;
use crate::neutral;

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
    /// The keys of messages as they were said, by address. Holding the message keeps the
    /// address from being used again.
    keys: HashMap<usize, (Arc<Message>, u64)>,
}

/// What a message of a request is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Class {
    Head,
    User,
    Assistant,
    Result,
    Context(ContextKind),
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
            keys: HashMap::new(),
        }
    }

    /// Takes in a prompt whose first messages are those of the one before.
    pub(super) fn place(
        &mut self,
        prompt: &interleaf_model::Prompt,
        stable: usize,
        ledger: &Ledger,
    ) {
        let tools = prompt.tools();
        let mut stable = stable.min(self.prompt.len().saturating_sub(self.n_before));
        if *self.tools != *tools {
            self.truncate(0);
            self.tools = tools.into();
            (self.n_before, stable) = (0, 0);
            if !tools.is_empty() {
                let text: String = tools.iter().map(neutral::write_tool).collect();
                self.push(key(&text), ledger.tools(tools), Class::Head);
                self.n_before = 1;
            }
        }
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
        self.prompt.mark(self.n_before + head);
        let breakpoint = prompt.breakpoint().map_or(0, |at| settled + at + 1);
        self.prompt.mark(self.n_before + breakpoint);
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
        let class = match (&entry.provenance, message.role()) {
            (Provenance::Context(kind) | Provenance::Element(kind), _) => {
                Class::Context(kind.clone())
            }
            (Provenance::Summary | Provenance::System, _) | (_, Role::System) => Class::Head,
            (_, Role::User) => Class::User,
            (_, Role::Assistant) => Class::Assistant,
            (_, Role::Tool) => Class::Result,
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
