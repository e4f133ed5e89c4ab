//! An encoder that a session keeps.

use hashbrown::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use interleaf_model::{Entry, Message, Prompt, Tool, ToolName};

use super::settled::SettledText;
use super::{
    Context, Elements, Encoded, Outline, Places, SettledSpan, TurnPlace, check_target, foreign,
};
use crate::turns::{Turn, Turns};
use crate::{Adjustment, Error, NameMap, Options, Vendor};

/// An encoder that remembers what it wrote: a turn that did not change since the
/// last request is not written again. What it gives is the same, byte for byte, as
/// from scratch.
#[derive(Debug, Default)]
pub struct SessionEncoder {
    /// How many threads it may write on; with none, on the caller's.
    n_threads: usize,
    /// Whom and how the remembered turns were written for.
    written_for: Option<(Vendor, Options)>,
    /// The tools that the remembered turns were written beside.
    tools: Vec<ToolName>,
    /// The turns of the last request, by the address of their first message. A turn
    /// keeps its messages alive, so that no other can have that address.
    turns: WrittenTurns,
    /// The settled turns that its prompts continue.
    settled: SettledText,
}

/// Turns as they were written, by the address of their first message.
pub(super) type WrittenTurns = HashMap<usize, Written>;

/// A turn as it was written: its elements, with commas between.
#[derive(Debug)]
pub(super) struct Written {
    messages: Vec<Arc<Message>>,
    place: TurnPlace,
    pub(super) text: Bytes,
    pub(super) adjustments: Vec<Adjustment>,
    pub(super) names: NameMap,
}

/// A piece of the list of turns.
enum Piece {
    /// Written before.
    Known(Bytes),
    /// A part of what is written now.
    New(Range<usize>),
}

impl SessionEncoder {
    /// An encoder that has written nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An encoder that writes on up to this number of threads, if there is much to write.
    pub fn on_threads(n_threads: usize) -> Self {
        Self { n_threads, ..Self::default() }
    }

    /// Writes the body of a request.
    ///
    /// # Errors
    /// If the API has no way to say what must be said.
    pub fn encode(
        &mut self,
        prompt: &Prompt,
        vendor: &Vendor,
        options: &Options,
    ) -> Result<Encoded, Error> {
        if prompt.settled().is_some() && needs_whole(prompt, vendor) {
            return self.encode(&prompt.whole(), vendor, options);
        }
        check_target(prompt, vendor, options)?;
        self.forget_others(vendor, options);
        self.forget_renamed(prompt.tools());
        let writer = vendor.family.codec().writer;
        let turns = Turns::of(prompt);
        let mut context = Context::new(prompt, vendor, options);
        let head = Bytes::from((writer.head)(&mut context, &turns)?);
        foreign::report(turns.system.iter(), &mut context);
        let n_in_head = context.adjustments.0.len();
        let mut settled = Vec::new();
        let mut settled_adjustments = Arc::default();
        if let Some(chain) = prompt.settled() {
            self.settled.update(chain, writer, &context, &self.turns, self.n_threads)?;
            settled = self.settled.pieces();
            settled_adjustments = self.settled.adjustments();
            context.names.extend(self.settled.names());
        }
        let settled_end = head.len() + settled.iter().map(Bytes::len).sum::<usize>();
        let mut outline = Outline::new(head.len(), settled_end);
        let mut kept = HashMap::with_capacity(turns.turns.len());
        // All that is new is written side by side: one piece, and one place in memory.
        let (mut text, mut new) = (Vec::new(), Vec::new());
        let mut pieces: Vec<Piece> = Vec::new();
        let places = Places::of(&turns, &context);
        for (number, &turn) in turns.turns.iter().enumerate() {
            let place = places.place(number);
            let address = address(turn);
            let follows = !(settled.is_empty() && pieces.is_empty());
            let mut len = 0;
            let written = match self.turns.remove(&address) {
                Some(written) if written.is(turn, place) => {
                    if !written.text.is_empty() {
                        len = usize::from(follows) + written.text.len();
                        pieces.extend(follows.then(|| Piece::Known(Bytes::from_static(b","))));
                        pieces.push(Piece::Known(written.text.clone()));
                    }
                    written
                }
                _ => {
                    let outer = std::mem::take(&mut context.adjustments);
                    let known = std::mem::take(&mut context.names);
                    let start = text.len();
                    let mut elements = Elements::after(&mut text, follows);
                    writer.write_turn(&mut context, turn, place, &mut elements)?;
                    len = text.len() - start;
                    if len > 0 {
                        let own = start + usize::from(follows)..text.len();
                        new.push((address, own));
                        push_new(&mut pieces, start..text.len());
                    }
                    let adjustments = std::mem::replace(&mut context.adjustments, outer).0;
                    let names = std::mem::replace(&mut context.names, known);
                    let messages = messages(turn).cloned().collect();
                    Written { messages, place, text: Bytes::new(), adjustments, names }
                }
            };
            context.adjustments.0.extend(written.adjustments.iter().cloned());
            context.names.extend(&written.names);
            outline.push(len, turn.range());
            kept.insert(address, written);
        }
        let text = Bytes::from(text);
        for (address, own) in new {
            if let Some(written) = kept.get_mut(&address) {
                written.text = text.slice(own);
            }
        }
        self.turns = kept;
        let mut rest: Vec<Bytes> = pieces.into_iter().map(|piece| piece.of(&text)).collect();
        rest.push(Bytes::from((writer.tail)(&mut context, &turns)?));
        let Context { adjustments, names, .. } = context;
        let adjustments = adjustments.0;
        Ok(Encoded {
            head,
            settled,
            rest,
            adjustments,
            n_in_head,
            settled_adjustments,
            names,
            outline,
        })
    }

    /// The settled turns at a byte of the last body that it wrote, if such stand there. This
    /// looks at every link before them.
    pub fn settled_at(&self, body: &Encoded, at: usize) -> Option<SettledSpan> {
        let Outline { list, settled_end, .. } = &body.outline;
        let within = at.checked_sub(list.start).filter(|_| at < *settled_end)?;
        self.settled.span_at(within, list.start)
    }

    /// Forgets what was written for another vendor or other options.
    fn forget_others(&mut self, vendor: &Vendor, options: &Options) {
        let same = |(v, o): &(Vendor, Options)| v == vendor && o == options;
        if !self.written_for.as_ref().is_some_and(same) {
            self.turns.clear();
            self.settled = SettledText::default();
            self.written_for = Some((vendor.clone(), options.clone()));
        }
    }

    /// Forgets what was written beside other tools, if any name in it had to be rewritten:
    /// what it becomes depends on the names of all.
    fn forget_renamed(&mut self, tools: &[Tool]) {
        if self.tools.iter().eq(tools.iter().map(|tool| &tool.name)) {
            return;
        }
        self.tools = tools.iter().map(|tool| tool.name.clone()).collect();
        let is_renamed = |written: &Written| !written.names.is_empty();
        if !self.settled.names().is_empty() || self.turns.values().any(is_renamed) {
            self.turns.clear();
            self.settled = SettledText::default();
        }
    }
}

impl Piece {
    fn of(self, new: &Bytes) -> Bytes {
        match self {
            Self::Known(text) => text,
            Self::New(range) => new.slice(range),
        }
    }
}

/// Adds a part of what is written now; one that continues the last piece becomes part of it.
fn push_new(pieces: &mut Vec<Piece>, range: Range<usize>) {
    match pieces.last_mut() {
        Some(Piece::New(last)) if last.end == range.start => last.end = range.end,
        _ => pieces.push(Piece::New(range)),
    }
}

impl Written {
    /// Whether it is this turn, written for this place.
    pub(super) fn is(&self, turn: Turn<'_>, place: TurnPlace) -> bool {
        self.place == place
            && self.messages.len() == turn.range().len()
            && self.messages.iter().zip(messages(turn)).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Whether the body cannot be written without a look at every message.
fn needs_whole(prompt: &Prompt, vendor: &Vendor) -> bool {
    // The declarations look at every call.
    let has_calls = prompt.settled().is_some_and(|settled| settled.has_calls());
    vendor.family.codec().declares_tools && prompt.tools().is_empty() && has_calls
}

pub(super) fn entries(turn: Turn<'_>) -> impl Iterator<Item = &Entry> {
    let (results, said) = match turn {
        Turn::User { results, said, .. } => (results, said),
        Turn::Assistant { said, .. } => (&[][..], said),
    };
    results.iter().chain(said)
}

fn messages(turn: Turn<'_>) -> impl Iterator<Item = &Arc<Message>> {
    entries(turn).map(|entry| &entry.message)
}

pub(super) fn address(turn: Turn<'_>) -> usize {
    messages(turn).next().map_or(0, |message| Arc::as_ptr(message).addr())
}
