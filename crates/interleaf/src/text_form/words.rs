//! What tools, calls and results are in words: written, counted and read.

use std::sync::Arc;

use interleaf_assemble::SentAs;
use interleaf_model::{Body, Message, Spoken, Tool};
use interleaf_plan::Templates;
use interleaf_plan::calls::{Listener, TextTools};
use interleaf_wire::{CallListener, CallReader};

use super::{asked, block, protocol};

/// The words of some tools.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) tools: Arc<TextTools>,
    n_tools: usize,
}

impl Words {
    pub(super) fn of(tools: &[Tool]) -> Self {
        Self { tools: Arc::new(TextTools::new(tools)), n_tools: tools.len() }
    }
}

impl CallReader for Words {
    fn read(&self, text: &str, is_cut: bool) -> Vec<Spoken> {
        // Where no tool was offered, nothing that was said is a call.
        match self.n_tools {
            0 if text.is_empty() => Vec::new(),
            0 => vec![Spoken::Text(text.to_owned())],
            _ => self.tools.speech(text, is_cut),
        }
    }

    fn listen(&self) -> Box<dyn CallListener> {
        match self.n_tools {
            0 => Box::new(Everything),
            _ => Box::new(Hearing(Listener::new(self.tools.clone()))),
        }
    }
}

/// Hears no calls.
struct Everything;

impl CallListener for Everything {
    fn push(&mut self, more: &str) -> Vec<Spoken> {
        vec![Spoken::Text(more.to_owned())]
    }

    fn finish(&mut self) -> Vec<Spoken> {
        Vec::new()
    }
}

struct Hearing(Listener);

impl CallListener for Hearing {
    fn push(&mut self, more: &str) -> Vec<Spoken> {
        self.0.push(more)
    }

    fn finish(&mut self) -> Vec<Spoken> {
        self.0.finish()
    }
}

/// Pictures are counted where they were, not where they go.
impl SentAs for Words {
    fn message(&self, message: &Message) -> Option<Message> {
        match &message.body {
            Body::Assistant(parts) if message.has_calls() => {
                Some(block::assistant(message, parts, &self.tools))
            }
            Body::Tool(result) => {
                let name = result.name.as_ref().map_or("", |name| name.as_str());
                let mut n_media = 0;
                Some(block::result(message, result, name, 0, &mut n_media).0)
            }
            Body::Assistant(_) | Body::System(_) | Body::User(_) => None,
        }
    }

    fn tool(&self, tool: &Tool) -> String {
        Templates::tool_in_protocol(tool)
    }

    fn before_tools(&self) -> String {
        protocol(&[], &asked(&Default::default())).unwrap_or_default()
    }
}
