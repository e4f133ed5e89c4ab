//! An encoder that a session keeps.

use bytes::Bytes;
use interleaf_model::Prompt;

use super::{Context, Encoded, TurnPlace, writer};
use crate::change::Changes;
use crate::turns::{Turn, Turns};
use crate::{CacheMarks, Error, NameMap, Options, Vendor};

/// An encoder that remembers what it wrote: a turn that did not change since the
/// last request is not written again. What it gives is the same, byte for byte, as
/// from scratch.
#[derive(Debug, Default)]
pub struct SessionEncoder {}

impl SessionEncoder {
    /// An encoder that has written nothing yet.
    pub fn new() -> Self {
        Self::default()
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
        let writer = writer(vendor.family);
        let turns = Turns::of(prompt);
        let (changes, names) = (Changes::default(), NameMap::default());
        let mut context = Context { prompt, vendor, options, changes, names };
        let mut fragments = vec![Bytes::from((writer.head)(&mut context, &turns)?)];
        let mut is_first = true;
        for (number, &turn) in turns.turns.iter().enumerate() {
            let place = place(&turns, number, prompt, options);
            for element in (writer.turn)(&mut context, turn, place)? {
                if !std::mem::take(&mut is_first) {
                    fragments.push(Bytes::from_static(b","));
                }
                fragments.push(Bytes::from(element));
            }
        }
        fragments.push(Bytes::from((writer.tail)(&mut context, &turns)?));
        let Context { changes, names, .. } = context;
        Ok(Encoded { fragments, changes: changes.0, names })
    }
}

fn place(turns: &Turns<'_>, number: usize, prompt: &Prompt, options: &Options) -> TurnPlace {
    let range = turns.turns[number].range();
    let asked = |turn: &Turn<'_>| matches!(turn, Turn::User { said, .. } if !said.is_empty());
    let newest = turns.turns.iter().rposition(asked).unwrap_or(0);
    let marked = options.cache == CacheMarks::On;
    TurnPlace {
        last: number + 1 == turns.turns.len(),
        current: number >= newest,
        breakpoint: prompt.breakpoint().filter(|at| marked && range.contains(at)),
        unbound_from: options.thinking_unbound_from.filter(|&from| from < range.end),
    }
}
