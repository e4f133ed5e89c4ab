//! The results, then what the user said.

use interleaf_model::{Body, Entry};

use super::PLACEHOLDER;
use super::parts::{Writing, message_rest, plain};
use crate::encode::Context;
use crate::gemini::wire::Content;
use crate::turns::{answered, only_blank};

/// The results, then what the user said.
pub(super) fn turn<'a, 'p: 'a>(
    cx: &mut Context<'p>,
    results: &'a [Entry],
    said: &'a [Entry],
    start: usize,
) -> Content<'a> {
    // Google AI takes a blank text, and Vertex does not.
    if let Some(blank) = only_blank(results, said).filter(|_| !cx.vendor.quirks.vertex) {
        return Content {
            role: "user",
            parts: vec![plain(blank)],
            rest: message_rest(said.iter()),
        };
    }
    let prompt = cx.prompt;
    let mut writing = Writing::new(cx);
    for (entry, call) in answered(prompt, results, start) {
        writing.result(&entry.message, call);
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
        writing.parts.push(plain(PLACEHOLDER));
        writing.report_placeholder(said);
    }
    writing.report_merged(said);
    let parts = writing.parts;
    let rest = message_rest(results.iter().chain(said));
    Content { role: "user", parts, rest }
}
