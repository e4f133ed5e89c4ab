//! How a double behaves.

use std::fmt;
use std::sync::Arc;

use crate::brain::{Brain, Obliging};
use crate::clock::Clock;
use crate::fault::{Fault, Planned};

/// How a double behaves.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The port on loopback; 0 takes a free one.
    pub port: u16,
    /// The key that it demands; without one it takes any key that is not empty.
    pub key: Option<String>,
    /// What answers.
    pub brain: Arc<dyn Brain>,
    /// How bodies are cut into chunks.
    pub chunk: Chunk,
    /// What goes wrong, and when.
    pub faults: Vec<Planned>,
    /// What time it is.
    pub clock: Clock,
    /// A longer prompt is refused as the API does; without a number none is.
    pub window: Option<u64>,
    /// Whether thoughts must have the signatures that a double gave them.
    pub verify: bool,
    /// How many characters a piece of a streamed text has.
    pub delta: usize,
}

/// How a body is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chunk {
    /// One for each event.
    #[default]
    Events,
    /// One for this many bytes.
    Bytes(usize),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: 0,
            key: None,
            brain: Arc::new(Obliging::new()),
            chunk: Chunk::Events,
            faults: Vec::new(),
            clock: Clock::system(),
            window: None,
            verify: true,
            delta: 20,
        }
    }
}

impl Settings {
    /// A free port, any key, the obliging brain, and nothing goes wrong.
    pub fn new() -> Self {
        Self::default()
    }

    /// On this port.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Demands this key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Answers with this brain; a closure from [`crate::Asked`] to [`crate::Answer`] is one.
    #[must_use]
    pub fn with_brain(mut self, brain: impl Brain + 'static) -> Self {
        self.brain = Arc::new(brain);
        self
    }

    /// Sends chunks of this many bytes.
    #[must_use]
    pub fn with_chunk(mut self, bytes: usize) -> Self {
        self.chunk = Chunk::Bytes(bytes.max(1));
        self
    }

    /// Lets the nth request, counted from 1, meet a fault.
    #[must_use]
    pub fn with_fault(mut self, nth: u64, fault: Fault) -> Self {
        self.faults.push(Planned { nth: Some(nth), fault });
        self
    }

    /// Tells the time by this clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Refuses a prompt that has more tokens.
    #[must_use]
    pub fn with_window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// Takes thoughts with any signature, as bodies from elsewhere have them.
    #[must_use]
    pub fn without_verification(mut self) -> Self {
        self.verify = false;
        self
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Settings");
        shown.field("port", &self.port).field("key", &self.key.as_ref().map(|_| "…"));
        shown.field("chunk", &self.chunk).field("faults", &self.faults);
        shown.field("window", &self.window).field("verify", &self.verify).finish_non_exhaustive()
    }
}
