//! Counts, made once and remembered.

use hashbrown::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use interleaf_model::{Message, PartRef, Tool};

use super::tools::{Costing, PER_CALL, ToolList, ToolLists};
use super::{Rate, SentAs, TokenCounter, counter_for};

/// What every API adds to a message for its role and borders.
pub(crate) const PER_MESSAGE: u64 = 4;
/// A picture of ordinary size; no API counts its bytes as text.
const PER_IMAGE: u64 = 1_100;
/// Bytes of a base64 file for one token, as documents are charged by page.
const FILE_BYTES_PER_TOKEN: u64 = 16;

/// Fewer messages than this are counted sooner than a thread begins.
const WORTH_THREADS: usize = 2_000;

/// Counts messages with one counter and remembers each count for as long as the
/// message lives.
pub struct Ledger {
    counter: Arc<dyn TokenCounter>,
    /// By address. The weak pointer keeps the address from being used again, so an
    /// entry cannot be mistaken for another message's.
    counts: Mutex<Remembered>,
    tools: ToolLists,
    /// What is sent, where that is not what is counted as it is.
    sent_as: Option<Arc<dyn SentAs>>,
}

#[derive(Default)]
struct Remembered {
    counts: HashMap<usize, (Weak<Message>, u64)>,
    /// When the map has grown to this, what died is thrown out.
    sweep_at: usize,
}

impl Ledger {
    /// A ledger with nothing in it.
    pub fn new(counter: Arc<dyn TokenCounter>) -> Self {
        let (counts, tools) = (Mutex::default(), ToolLists::default());
        Self { counter, counts, tools, sent_as: None }
    }

    /// A ledger of the same counter that counts what messages and tools are sent as.
    #[must_use]
    pub fn of_sent(&self, sent_as: Arc<dyn SentAs>) -> Self {
        Self { sent_as: Some(sent_as), ..Self::new(self.counter.clone()) }
    }

    /// A ledger that counts as a model does, or as closely as is known.
    pub fn for_model(model: &str) -> Self {
        Self::new(counter_for(model))
    }

    /// The counter.
    pub fn counter(&self) -> &Arc<dyn TokenCounter> {
        &self.counter
    }

    /// The tokens of a message.
    pub fn message(&self, message: &Arc<Message>) -> u64 {
        self.counting().message(message)
    }

    /// The tokens of many messages, in their order. Those that were never counted are counted
    /// on this many threads.
    pub fn messages(&self, messages: &[&Arc<Message>], n_threads: usize) -> Vec<u64> {
        let rate = self.counter.rate();
        let known: Vec<Option<u64>> = {
            let remembered = self.lock();
            let count = |message: &&Arc<Message>| {
                let found = remembered.counts.get(&Arc::as_ptr(message).addr());
                found.map(|&(_, counted)| counted)
            };
            messages.iter().map(count).collect()
        };
        let zipped = messages.iter().zip(&known);
        let new: Vec<&Arc<Message>> =
            zipped.filter(|(_, known)| known.is_none()).map(|(message, _)| *message).collect();
        let counted = self.counted_on(n_threads, &new);
        {
            let mut remembered = self.lock();
            for (message, counted) in new.iter().zip(&counted) {
                let address = Arc::as_ptr(message).addr();
                remembered.remember(address, Arc::downgrade(message), *counted);
            }
        }
        let mut counted = counted.into_iter();
        let all = known.into_iter().map(|known| known.or_else(|| counted.next()).unwrap_or(0));
        all.map(|counted| rate.apply(counted)).collect()
    }

    fn counted_on(&self, n_threads: usize, messages: &[&Arc<Message>]) -> Vec<u64> {
        let count = |some: &[&Arc<Message>]| -> Vec<u64> {
            some.iter().map(|message| self.count(message)).collect()
        };
        if n_threads < 2 || messages.len() < WORTH_THREADS {
            return count(messages);
        }
        std::thread::scope(|scope| {
            let chunks = messages.chunks(messages.len().div_ceil(n_threads));
            let threads: Vec<_> = chunks.map(|some| (some, scope.spawn(|| count(some)))).collect();
            // A thread that could not go on leaves its part to this one.
            threads
                .into_iter()
                .flat_map(|(some, t)| t.join().unwrap_or_else(|_| count(some)))
                .collect()
        })
    }

    /// The tokens of a message that is carried by another, and so has no borders of its own.
    pub fn carried(&self, message: &Arc<Message>) -> u64 {
        self.message(message).saturating_sub(self.counter.rate().apply(PER_MESSAGE))
    }

    /// The tokens of a text by itself.
    pub fn text(&self, text: &str) -> u64 {
        self.counter.rate().apply(self.counter.count(text))
    }

    /// The tokens of a list of tools.
    pub fn tools(&self, tools: &[Tool]) -> u64 {
        self.counter.rate().apply(self.costing().costs(tools).sum())
    }

    /// Takes note of what a request really took, so that an estimate corrects itself:
    /// `counted` is the total of its report, `reported` is what the API says.
    pub fn observe(&self, counted: u64, reported: u64) {
        self.counter.observe(counted, reported);
    }

    /// Goes on at the rate at which an earlier request was counted.
    pub fn resume(&self, rate: Rate) {
        self.counter.resume(rate);
    }

    fn costing(&self) -> Costing<'_> {
        Costing { counter: &*self.counter, sent_as: self.sent_as.as_deref() }
    }

    /// Counts at the rate of this moment.
    pub(crate) fn counting(&self) -> Counting<'_> {
        Counting { ledger: self, rate: self.counter.rate() }
    }

    fn counted(&self, message: &Arc<Message>) -> u64 {
        let address = Arc::as_ptr(message).addr();
        let remembered = self.lock().counts.get(&address).map(|&(_, counted)| counted);
        remembered.unwrap_or_else(|| {
            // Not under the lock: others need not wait while a long text is counted.
            let counted = self.count(message);
            self.lock().remember(address, Arc::downgrade(message), counted);
            counted
        })
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, message: &Message) -> u64 {
        let sent = self.sent_as.as_ref().and_then(|form| form.message(message));
        let message = sent.as_ref().unwrap_or(message);
        let part = |part: PartRef<'_>| match part {
            PartRef::Text(text) => self.counter.count(&text.text),
            PartRef::Thinking(thinking) => self.counter.count(&thinking.text),
            PartRef::Call(call) => {
                let arguments = self.counter.count(call.arguments.as_str());
                PER_CALL + self.counter.count(call.name.as_str()) + arguments
            }
            PartRef::Image(_) => PER_IMAGE,
            PartRef::File(file) => match &file.source {
                interleaf_model::Source::Base64(data) => data.len() as u64 / FILE_BYTES_PER_TOKEN,
                interleaf_model::Source::Url(_) | interleaf_model::Source::Id { .. } => PER_IMAGE,
            },
            PartRef::Opaque(opaque) => self.counter.count(opaque.value.as_str()),
        };
        PER_MESSAGE + message.parts().map(part).sum::<u64>()
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ledger").field(&self.counter.name()).finish()
    }
}

/// A ledger that counts at one rate, whatever is observed meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Counting<'a> {
    ledger: &'a Ledger,
    rate: Rate,
}

impl Counting<'_> {
    /// The tokens of a message.
    pub(crate) fn message(&self, message: &Arc<Message>) -> u64 {
        self.rate.apply(self.ledger.counted(message))
    }

    /// A list of tools with what each costs.
    pub(crate) fn tools(&self, tools: &Arc<[Tool]>) -> Arc<ToolList> {
        self.ledger.tools.get(tools, self.ledger.costing())
    }

    /// What these tools take.
    pub(crate) fn tools_whole(&self, tools: &Arc<[Tool]>) -> u64 {
        self.at_rate(self.tools(tools).costs.iter().sum())
    }

    /// The tokens of a user's message with this text.
    pub(crate) fn text(&self, text: &str) -> u64 {
        self.at_rate(PER_MESSAGE + self.counter().count(text))
    }

    /// The tokens of a count in the counter's own unit.
    pub(crate) fn at_rate(&self, counted: u64) -> u64 {
        self.rate.apply(counted)
    }

    /// At which rate.
    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// What counts tools.
    pub(crate) fn costing(&self) -> Costing<'_> {
        self.ledger.costing()
    }

    /// What counts.
    pub(crate) fn counter(&self) -> &dyn TokenCounter {
        &*self.ledger.counter
    }
}

impl Remembered {
    fn remember(&mut self, address: usize, message: Weak<Message>, counted: u64) {
        const FIRST_SWEEP: usize = 1024;
        if self.counts.len() >= self.sweep_at.max(FIRST_SWEEP) {
            self.counts.retain(|_, (message, _)| message.strong_count() > 0);
            self.sweep_at = self.counts.len() * 2;
        }
        self.counts.insert(address, (message, counted));
    }
}
