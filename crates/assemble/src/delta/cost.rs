//! When what was shown costs more than showing it anew.

use std::sync::Arc;

use hashbrown::HashSet;
use interleaf_model::{ContextKind, Message, PartRef};

use super::way::at_tail;
use super::{ShownContext, SourceWay};
use crate::CachePrices;

/// How many messages are looked at since the last element; if more follow it, showing it
/// anew does not pay.
const MOST_MESSAGES: usize = 512;

/// What an attachment is taken for: about a thousand tokens.
const ATTACHMENT: usize = 4_000;

/// How many elements stay, if it pays to show the sources of the others anew: what the
/// superseded ones would cost in the requests to come is more than computing again all that
/// follows them.
pub(crate) fn cheapest(
    shown: &ShownContext,
    prices: CachePrices,
    ways: &[SourceWay],
    view: &[Arc<Message>],
) -> Option<usize> {
    // What goes to the tail is not shown anew where it stood.
    let at_tail = at_tail(ways);
    let n_requests = shown.requests_to_come();
    // Farther than that nothing is found.
    let (n_since, since) = since(shown, view, prices.reach);
    if n_since >= MOST_MESSAGES {
        return None;
    }
    // From the last element to the first: what comes after a cut there.
    let (mut said, mut elements, mut whole) = (since as f64, 0.0, 0.0);
    let mut sources: HashSet<(&ContextKind, u32)> = HashSet::new();
    let mut best: Option<(usize, f64)> = None;
    let n_messages = shown.elements.last()?.n_before.saturating_add(n_since);
    for (no, element) in shown.elements.iter().enumerate().rev() {
        let n_after = n_messages.saturating_sub(element.n_before) + shown.elements.len() - no;
        if n_after > prices.reach {
            break;
        }
        elements += element.size() as f64;
        if sources.insert((&element.kind, element.nth)) {
            let key = (element.kind.clone(), element.nth);
            let says = shown.states.get(&key).and_then(|state| state.says.as_ref());
            let says = says.filter(|_| !at_tail.contains(&key));
            whole += says.map_or(0, |says| says.len()) as f64;
        }
        // Where only marks are found, one must stand right before the cut.
        let is_found = prices.reach == usize::MAX || !element.after_cut;
        let saved = (elements - whole) * prices.read * n_requests;
        let spent = said * (prices.write - prices.read) + whole * prices.write;
        if is_found && saved > spent && best.is_none_or(|(_, gain)| saved - spent > gain) {
            best = Some((no, saved - spent));
        }
        said += element.since as f64;
    }
    best.map(|(no, _)| no)
}

/// The messages since the last element was shown, up to a number, and their bytes.
pub(crate) fn since(shown: &ShownContext, view: &[Arc<Message>], most: usize) -> (usize, u64) {
    let last = shown.elements.last().and_then(|element| element.after.as_ref());
    let later = view.iter().rev().take(MOST_MESSAGES.min(most)).take_while(|m| Some(&m.id) != last);
    later.fold((0, 0), |(n, bytes), message| (n + 1, bytes + size(message)))
}

/// About how many bytes a message has.
pub(super) fn size(message: &Message) -> u64 {
    let part = |part: PartRef<'_>| match part {
        PartRef::Text(text) => text.text.len(),
        PartRef::Thinking(thinking) => thinking.text.len(),
        PartRef::Call(call) => call.name.as_str().len() + call.arguments.as_str().len(),
        PartRef::Image(_) | PartRef::File(_) | PartRef::Opaque(_) => ATTACHMENT,
    };
    message.parts().map(part).sum::<usize>() as u64
}
