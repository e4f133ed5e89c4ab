//! What of a request stood in the body before it, whichever API's that is.
//!
//! An API's body does not say which message became which part of it: neighbours are joined,
//! and what the API cannot express is changed. Both bodies are therefore read back, and
//! compared part by part.

use std::sync::Arc;

use interleaf_model::{
    Arguments, CallId, Entry, Message, Opaque, PartRef, Prompt, Role, Seal, Source, Status,
    ToolName,
};
use interleaf_wire::{Encoded, decode_request, encode};

use crate::cache_marks::is_point;
use crate::{Error, InputFault, Target, read};

/// The messages of the request before, told by its body: those of `prompt` that it begins with, and
/// after them what else it says. `made` is the body of `prompt` for `target`.
pub(super) fn before(
    sent: &str,
    prompt: &Prompt,
    (target, made): (Option<&Target>, Option<&Encoded>),
) -> Result<Vec<Arc<Message>>, Error> {
    let Some(family) = read::request_family(sent) else {
        return Err(InputFault::new("this is no request body that an API takes").into());
    };
    let old = decode_request(family, sent).map_err(|e| InputFault::wire(&e))?.messages;
    let made = match (target, made) {
        (Some(target), Some(made)) if target.vendor.family == family => Some(made.to_bytes()),
        _ => {
            let model = read::request_model(sent).unwrap_or_else(|| "any".to_owned());
            let Target { vendor, options, .. } = Target::new(family.as_str(), &model)?;
            encode(prompt, &vendor, &options).ok().map(|made| made.to_bytes())
        }
    };
    let new = match made {
        Some(made) => {
            let made = decode_request(family, &String::from_utf8_lossy(&made));
            made.map_err(|e| InputFault::wire(&e))?.messages
        }
        // What that API would refuse is compared as it is.
        None => messages(prompt.entries()).cloned().collect(),
    };
    let (n_same, entries) = (n_same(&old, &new), prompt.entries());
    let is_whole = n_units(new.iter()) == n_units(messages(entries));
    let n_repeated = match is_whole {
        true => n_within(messages(entries), n_same),
        // The API took some of it in another shape: messages are counted as it has them.
        false => n_within(new.iter(), n_same).min(entries.len()),
    };
    let goes_on = old.get(n_within(old.iter(), n_same)).cloned().map(Arc::new);
    let repeated = entries.iter().take(n_repeated).map(|entry| entry.message.clone());
    Ok(repeated.chain(goes_on).collect())
}

/// Something that is said. What vendors attach to it is not: cache marks move.
#[derive(PartialEq)]
enum Unit<'a> {
    Answer(&'a CallId, Status),
    Text(Role, &'a str),
    Thinking(&'a str, Option<&'a Seal>),
    Call(&'a CallId, &'a ToolName, &'a Arguments),
    Media(Role, &'a Source),
    Opaque(&'a Opaque),
}

fn units(message: &Message) -> impl Iterator<Item = Unit<'_>> {
    let role = message.role();
    let answer = message.as_result().map(|result| Unit::Answer(&result.call, result.status));
    let is_mark = |part: &PartRef<'_>| matches!(part, PartRef::Opaque(part) if is_point(part));
    let said = message.parts().filter(move |part| !is_mark(part));
    let parts = said.map(move |part| match part {
        PartRef::Text(text) => Unit::Text(role, &text.text),
        PartRef::Thinking(thinking) => Unit::Thinking(&thinking.text, thinking.seal.as_ref()),
        PartRef::Call(call) => Unit::Call(&call.id, &call.name, &call.arguments),
        PartRef::Image(image) => Unit::Media(role, &image.source),
        PartRef::File(file) => Unit::Media(role, &file.source),
        PartRef::Opaque(opaque) => Unit::Opaque(opaque),
    });
    answer.into_iter().chain(parts)
}

/// The number of units at the start of both.
fn n_same(old: &[Message], new: &[Message]) -> usize {
    let [old, new] = [old, new].map(|messages| messages.iter().flat_map(units));
    old.zip(new).take_while(|(old, new)| old == new).count()
}

fn n_units<'a>(messages: impl Iterator<Item = &'a Message>) -> usize {
    messages.flat_map(units).count()
}

/// The number of whole messages within this many units.
fn n_within<'a>(messages: impl Iterator<Item = &'a Message>, n_units: usize) -> usize {
    let ends = messages.scan(0, |end, message| {
        *end += units(message).count();
        Some(*end)
    });
    ends.take_while(|&end| end <= n_units).count()
}

fn messages(entries: &[Entry]) -> impl Iterator<Item = &Message> {
    entries.iter().map(|entry| &*entry.message)
}
