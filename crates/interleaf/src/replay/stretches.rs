//! What of a text is context. An API whose messages take turns has the context and what was
//! said beside it in one text.

use interleaf_assemble::{FencedContext, FencedText};

/// What every text of the context begins with.
const BEGINS: &str = "## Agent ";

/// The most lines of a text of the context that has no tag at its end: the heading, who says
/// it, what is left out of it, and blank ones between.
const UNTAGGED_LINES: usize = 6;

/// A stretch of a text.
pub(super) struct Stretch<'a> {
    /// Its bytes.
    pub(super) raw: &'a str,
    /// What it says, if it is context; else it was said.
    pub(super) fenced: Option<FencedContext<'a>>,
}

/// A text in stretches, without the line breaks between them.
pub(super) fn stretches(text: &str) -> Vec<Stretch<'_>> {
    let found = scanned(text);
    let n_found = found.iter().filter(|stretch| stretch.fenced.is_some()).count();
    let (said, fenced) = FencedContext::split(text);
    if n_found >= fenced.len() {
        return found;
    }
    // A heading inside a text of the context hides where it ends, except from behind.
    let mut raw = &text[said.len()..];
    let at_end = fenced
        .into_iter()
        .map(|fenced| Stretch { raw: std::mem::take(&mut raw), fenced: Some(fenced) });
    said_in(said).into_iter().chain(at_end).collect()
}

fn said_in(raw: &str) -> Option<Stretch<'_>> {
    (!raw.is_empty()).then_some(Stretch { raw, fenced: None })
}

fn scanned(text: &str) -> Vec<Stretch<'_>> {
    let mut found = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(at) = text[from..].find(BEGINS).map(|at| from + at) {
        let begins_line = at == 0 || text[..at].ends_with('\n');
        match fenced_at(&text[at..]).filter(|_| begins_line) {
            Some((raw, fenced)) => {
                found.extend(said_in(text[start..at].trim_end_matches('\n')));
                found.push(Stretch { raw, fenced: Some(fenced) });
                let end = at + raw.len();
                start = if text[end..].starts_with('\n') { end + 1 } else { end };
                from = start;
            }
            None => from = at + BEGINS.len(),
        }
    }
    let is_first = start == 0;
    let rest = &text[start..];
    // Line breaks at the end belong to the context before them, if nothing else follows.
    let rest = if is_first || !rest.trim_matches('\n').is_empty() { rest } else { "" };
    found.extend(said_in(rest));
    found
}

/// The text of the context that a text begins with, up to the next heading, with what is said
/// below it of how to read it.
fn fenced_at(text: &str) -> Option<(&str, FencedContext<'_>)> {
    let mut found: Option<(&str, FencedContext<'_>)> = None;
    let (mut end, mut look_until) = (0, UNTAGGED_LINES);
    // After a gap, the end of a text has a tag of its own.
    let mut is_open = false;
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 && line.starts_with(BEGINS) {
            break;
        }
        end += line.len();
        if found.is_some() && n >= look_until && !is_open {
            break;
        }
        let closes = line.starts_with("</");
        if let Some((_, FencedContext { text: FencedText::Shortened { .. }, .. })) = &found {
            is_open |= line.starts_with('<') && !closes;
        }
        if (n < look_until || closes)
            && let Some(fenced) = FencedContext::read(&text[..end])
        {
            found = Some((&text[..end], fenced));
            (look_until, is_open) = (n + 1 + UNTAGGED_LINES, false);
        }
        end += 1;
    }
    found
}
