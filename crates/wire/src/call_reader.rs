//! Calls made in words: what reads them, and where the deltas of a stream go through it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use interleaf_model::{AssistantPart, Finish, Spoken, Text, ToolCall};

use crate::Delta;
use crate::reply_builder::SpokenId;

/// Reads calls out of what a model says, for one that has no other way to make them.
pub trait CallReader: fmt::Debug + Send + Sync {
    /// What a text says; all that can be said of it, if its connection was cut.
    fn read(&self, text: &str, is_cut: bool) -> Vec<Spoken>;

    /// Begins to hear a text while it comes.
    fn listen(&self) -> Box<dyn CallListener>;
}

/// Hears a text while it comes. What it gives adds up to what [`CallReader::read`] gives.
pub trait CallListener: Send {
    /// Takes more of the text, and gives what is certain now.
    fn push(&mut self, more: &str) -> Vec<Spoken>;

    /// Takes the end of the text, and gives the rest.
    fn finish(&mut self) -> Vec<Spoken>;
}

/// The texts of a stream that are heard while they come.
pub(crate) struct Heard {
    reader: Arc<dyn CallReader>,
    texts: BTreeMap<u64, HeardText>,
    n_calls: usize,
}

struct HeardText {
    listener: Box<dyn CallListener>,
    /// How many parts it was up to now, and whether the last of them is words.
    n_parts: u64,
    in_words: bool,
    is_over: bool,
}

/// How many parts a text may be: their numbers stand between that of the text and the next.
const ROOM: u64 = 1 << 16;

impl Heard {
    pub(crate) fn new(reader: Arc<dyn CallReader>) -> Self {
        Self { reader, texts: BTreeMap::new(), n_calls: 0 }
    }

    /// What these deltas are, once calls are told apart from words. `id` names a call.
    pub(crate) fn hear(&mut self, deltas: Vec<Delta>, id: &SpokenId<'_>) -> Vec<Delta> {
        let mut heard = Vec::with_capacity(deltas.len());
        for delta in deltas {
            match delta {
                Delta::Text { part, text } => {
                    let own = self.text(part);
                    let spoken = if own.is_over {
                        vec![Spoken::Text(text)]
                    } else {
                        own.listener.push(&text)
                    };
                    self.tell(part, spoken, id, &mut heard);
                }
                Delta::Finish(finish) => {
                    self.end_all(id, &mut heard);
                    let has_calls = self.n_calls > 0;
                    heard.push(Delta::Finish(match finish {
                        Finish::Stop if has_calls => Finish::ToolCalls,
                        finish => finish,
                    }));
                }
                Delta::Part { part, whole: AssistantPart::Text(text) } => {
                    self.end(part, id, &mut heard);
                    let first = part.wrapping_mul(ROOM);
                    for (n, whole) in self.parts(text, id).into_iter().enumerate() {
                        heard.push(Delta::Part { part: first + n as u64, whole });
                    }
                }
                Delta::Thinking { part, text } => {
                    heard.push(Delta::Thinking { part: part.wrapping_mul(ROOM), text });
                }
                Delta::Call { part, id, name } => {
                    heard.push(Delta::Call { part: part.wrapping_mul(ROOM), id, name });
                }
                Delta::Arguments { part, text } => {
                    heard.push(Delta::Arguments { part: part.wrapping_mul(ROOM), text });
                }
                Delta::Begin { part, extra } => {
                    heard.push(Delta::Begin { part: part.wrapping_mul(ROOM), extra });
                }
                Delta::Part { part, whole } => {
                    heard.push(Delta::Part { part: part.wrapping_mul(ROOM), whole });
                }
                other @ (Delta::Usage(_) | Delta::Extra(_) | Delta::Unknown { .. }) => {
                    heard.push(other);
                }
            }
        }
        heard
    }

    /// All texts are over.
    pub(crate) fn end_all(&mut self, id: &SpokenId<'_>, heard: &mut Vec<Delta>) {
        let parts: Vec<u64> = self.texts.keys().copied().collect();
        parts.into_iter().for_each(|part| self.end(part, id, heard));
    }

    fn end(&mut self, part: u64, id: &SpokenId<'_>, heard: &mut Vec<Delta>) {
        let Some(own) = self.texts.get_mut(&part).filter(|own| !own.is_over) else { return };
        own.is_over = true;
        let rest = own.listener.finish();
        self.tell(part, rest, id, heard);
    }

    fn text(&mut self, part: u64) -> &mut HeardText {
        self.texts.entry(part).or_insert_with(|| HeardText {
            listener: self.reader.listen(),
            n_parts: 0,
            in_words: false,
            is_over: false,
        })
    }

    fn tell(&mut self, part: u64, spoken: Vec<Spoken>, id: &SpokenId<'_>, heard: &mut Vec<Delta>) {
        for own in spoken {
            let mut number = self.n_calls;
            let text = self.text(part);
            let is_words = matches!(own, Spoken::Text(_));
            if !(is_words && text.in_words) {
                text.n_parts += 1;
            }
            text.in_words = is_words;
            let own_part = part.wrapping_mul(ROOM) + text.n_parts - 1;
            match own {
                Spoken::Text(text) => heard.push(Delta::Text { part: own_part, text }),
                Spoken::Call { name, arguments } => {
                    let id = id.of(number, &name, &arguments);
                    number += 1;
                    heard.push(Delta::Call { part: own_part, id, name: name.to_string() });
                    let text = arguments.as_str().to_owned();
                    heard.push(Delta::Arguments { part: own_part, text });
                }
            }
            self.n_calls = number;
        }
    }

    /// The parts of a whole text, whose calls were the last to be told.
    fn parts(&self, text: Text, id: &SpokenId<'_>) -> Vec<AssistantPart> {
        let spoken = self.reader.read(&text.text, false);
        let n_own = spoken.iter().filter(|own| matches!(own, Spoken::Call { .. })).count();
        parts(text, spoken, self.n_calls.saturating_sub(n_own), id)
    }
}

/// What a text is that says this: the text itself, if it makes no call. What a vendor attached
/// to it belongs to the text as it was.
pub(crate) fn parts(
    text: Text,
    spoken: Vec<Spoken>,
    n_before: usize,
    id: &SpokenId<'_>,
) -> Vec<AssistantPart> {
    if let [] | [Spoken::Text(_)] = &spoken[..]
        && spoken.iter().all(|own| matches!(own, Spoken::Text(own) if **own == *text.text))
    {
        return vec![AssistantPart::Text(text)];
    }
    let mut number = n_before;
    let part = |own| match own {
        Spoken::Text(own) => Some(AssistantPart::Text(Text::new(own))),
        Spoken::Call { name, arguments } => {
            let made = id.of(number, &name, &arguments);
            number += 1;
            let id = interleaf_model::CallId::new(made).ok()?;
            Some(AssistantPart::Call(ToolCall { id, name, arguments, extra: Default::default() }))
        }
    };
    spoken.into_iter().filter_map(part).collect()
}
