//! The results, then what the user said.

use crate::Quirks;
use interleaf_model::{Body, Entry};

use super::PLACEHOLDER;
use super::parts::{Writing, message_rest, plain};
use crate::encode::Context;
use crate::gemini::wire::Content;

/// The results, then what the user said.
pub(super) fn turn<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    results: &'a [Entry],
    said: &'a [Entry],
    start: usize,
) -> Content<'a> {
    let prompt = cx.prompt;
    // Results follow the message that called.
    let caller = start.checked_sub(1).and_then(|at| prompt.entries().get(at));
    let mut writing = Writing::new(cx);
    for entry in results {
        writing.result(&entry.message, caller.map(|caller| &*caller.message));
    }
    let n_results = writing.parts.len();
    for entry in said {
        let Body::User(all) = &entry.message.body else {
            continue;
        };
        for part in all.iter() {
            writing.content(part, &entry.message);
        }
    }
    if !said.is_empty() && writing.parts.len() == n_results {
        let text = placeholder(&writing.cx.vendor.quirks, said, n_results);
        writing.parts.push(plain(text));
        writing.report_placeholder(said);
    }
    writing.report_merged(said);
    let parts = writing.parts;
    let rest = message_rest(results.iter().chain(said));
    Content { role: "user", parts, rest }
}

/// What stands for a user turn that says nothing. Google AI takes a blank text; after
/// results it must be told from a turn of results alone, and Vertex refuses it.
fn placeholder<'a>(quirks: &Quirks, said: &'a [Entry], n_results: usize) -> &'a str {
    let blank = said.iter().flat_map(|entry| entry.message.texts()).next();
    match blank {
        Some(blank) if n_results == 0 && !quirks.vertex => blank,
        _ => PLACEHOLDER,
    }
}
