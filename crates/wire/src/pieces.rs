//! Which pieces of an answer were told. Some servers say a text or a call only when it is whole;
//! who hands on pieces is told of it then, so that the pieces add up to the reply.

use std::collections::BTreeSet;

use interleaf_model::AssistantPart;

use crate::Delta;

/// The parts of which pieces were told.
#[derive(Default)]
pub(crate) struct Pieces {
    /// A text, a thought, or the arguments of a call.
    texts: BTreeSet<u64>,
    calls: BTreeSet<u64>,
}

impl Pieces {
    pub(crate) fn note(&mut self, deltas: &[Delta]) {
        for delta in deltas {
            match delta {
                Delta::Text { part, text }
                | Delta::Thinking { part, text }
                | Delta::Arguments { part, text }
                    if !text.is_empty() =>
                {
                    self.texts.insert(*part);
                }
                Delta::Call { part, .. } => {
                    self.calls.insert(*part);
                }
                _ => {}
            }
        }
    }

    /// Whether something of a text, or of a call, is missing.
    pub(crate) fn lack(&self, part: u64, is_call: bool) -> bool {
        !self.texts.contains(&part) || (is_call && !self.calls.contains(&part))
    }

    /// Tells what was not told of a part that is whole.
    pub(crate) fn complete(&mut self, part: u64, whole: &AssistantPart, deltas: &mut Vec<Delta>) {
        let n_before = deltas.len();
        let is_silent = !self.texts.contains(&part);
        match whole {
            AssistantPart::Text(of) if is_silent && !of.text.is_empty() => {
                deltas.push(Delta::Text { part, text: of.text.to_string() });
            }
            AssistantPart::Thinking(of) if is_silent && !of.text.is_empty() => {
                deltas.push(Delta::Thinking { part, text: of.text.to_string() });
            }
            AssistantPart::Call(call) => {
                let is_new = !self.calls.contains(&part);
                if is_new {
                    let (id, name) = (call.id.to_string(), call.name.to_string());
                    deltas.push(Delta::Call { part, id, name });
                }
                let text = call.arguments.as_str();
                if is_silent && (is_new || text != "{}") {
                    deltas.push(Delta::Arguments { part, text: text.to_owned() });
                }
            }
            _ => {}
        }
        self.note(&deltas[n_before..]);
    }
}
