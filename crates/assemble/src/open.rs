//! The calls at the end of a conversation that may still be answered.

use hashbrown::HashSet;
use std::ptr;
use std::sync::Arc;

use interleaf_model::{CallId, Entry, Message, Provenance, ToolCall};

use crate::draft::entry;
use crate::steps::filter;
use crate::steps::repair::is_nameless;
use crate::steps::repair::pairing::Pairing;
use crate::{Agent, OpenBlock, OpenCall, Recipe};

/// The calls that an agent waits for: those without a result in the last message that it
/// hears, if nothing but results has come since. Only the end of the view is looked at. A call
/// that was cut off ([`Message::cut_call`]) is not to be run, and so not waited for.
///
/// A request that waits ([`OpenBlock::Wait`]) waits for these.
///
/// ```
/// use std::sync::Arc;
/// use interleaf_assemble::{Agent, open_calls};
/// use interleaf_model::notation;
///
/// let messages = notation::parse("u list\na [call c1 ls] [call c2 pwd]\nt c1= src\n")?;
/// let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
/// let open = open_calls(messages.iter(), &Agent::Main);
/// assert_eq!(open.len(), 1);
/// assert_eq!(open[0].call.id.as_str(), "c2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open_calls<'a>(
    view: impl DoubleEndedIterator<Item = &'a Arc<Message>>,
    agent: &Agent,
) -> Vec<OpenCall> {
    let is_heard = |message: &&Arc<Message>| filter::unheard(agent, message).is_none();
    let mut heard = view.rev().filter(is_heard).peekable();
    let is_result = |message: &&Arc<Message>| message.as_result().is_some();
    let after: Vec<_> = std::iter::from_fn(|| heard.next_if(is_result)).collect();
    let Some(opener) = heard.next().filter(|message| message.has_calls()) else {
        return Vec::new();
    };
    // Results right before their message belong to it, if no earlier message called them.
    let mut before: Vec<_> = std::iter::from_fn(|| heard.next_if(is_result)).collect();
    if !before.is_empty() {
        let calls: HashSet<&CallId> = opener.calls().map(|call| &call.id).collect();
        before.retain(|m| m.as_result().is_some_and(|result| calls.contains(&result.call)));
    }
    if !before.is_empty() {
        let earlier: HashSet<&CallId> = heard.flat_map(|m| m.calls().map(|c| &c.id)).collect();
        before.retain(|m| m.as_result().is_some_and(|result| !earlier.contains(&result.call)));
    }
    let at = before.len();
    let run = before.into_iter().rev().chain([opener]).chain(after.into_iter().rev());
    let run: Vec<Entry> = run.map(|message| entry(message.clone(), Provenance::Original)).collect();
    let pairing = Pairing::of(&run);
    let cut = opener.cut_call();
    let may_run =
        |call: &ToolCall| !is_nameless(call) && !cut.is_some_and(|cut| ptr::eq(cut, call));
    let open = opener.calls().zip(pairing.answers(at));
    let open = open.filter(|(call, answer)| answer.is_none() && may_run(call));
    open.map(|(call, _)| OpenCall { message: opener.id.clone(), call: call.clone() }).collect()
}

/// The calls that a request waits for. The view decides, whatever the steps do to it: a
/// summary that swallows what stands between a stray result and a call answers nothing.
pub(crate) fn awaited(view: &[Arc<Message>], recipe: &Recipe) -> Vec<OpenCall> {
    match recipe.open_block {
        OpenBlock::Wait => open_calls(view.iter(), &recipe.agent),
        OpenBlock::Unsaid | OpenBlock::Mend => Vec::new(),
    }
}
