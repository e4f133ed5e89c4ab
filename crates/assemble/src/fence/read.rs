//! The engine's context texts, read back.

use std::sync::Arc;

use interleaf_model::ContextKind;

use super::{AMENDED, GAP, GAP_END, GONE, NAMED, UNREAD, heading, name, said_by};
use crate::Authority;
use crate::delta::amended;

/// A text of the context in a request, as its reader takes it. No other text of a request
/// begins like one (C18), so that they are found in requests that were recorded.
///
/// ```
/// use interleaf_assemble::{FencedContext, FencedText};
/// use interleaf_model::ContextKind;
///
/// let text = "## Agent TODO List\n\n<agent-todo>\n1. list the files\n</agent-todo>";
/// let read = FencedContext::read(text).unwrap();
/// assert_eq!(read.kind, ContextKind::Todo);
/// assert_eq!(read.text, FencedText::Whole("1. list the files"));
/// assert!(FencedContext::read("1. list the files").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FencedContext<'a> {
    /// What its source is about.
    pub kind: ContextKind,
    /// Which of the sources of that kind it is, where they are told apart.
    pub nth: u32,
    /// Who says it, if the model is told.
    pub authority: Option<Authority>,
    /// What it says.
    pub text: FencedText<'a>,
}

/// What a text of the context says of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FencedText<'a> {
    /// The whole of it.
    Whole(&'a str),
    /// Its beginning and its end; either may be empty.
    Shortened {
        /// What stands before the gap.
        head: &'a str,
        /// How many characters are left out.
        left_out: usize,
        /// What stands after it.
        tail: &'a str,
    },
    /// The lines that changed.
    Changes(&'a str),
    /// That it no longer holds.
    Withdrawn,
    /// That it is not known now.
    Unread,
}

const KINDS: [ContextKind; 4] =
    [ContextKind::Role, ContextKind::Todo, ContextKind::Info, ContextKind::Notes];

impl<'a> FencedContext<'a> {
    /// Reads a text, if it is one of the context. Look-alikes of engine texts in it keep
    /// their backslash: it is put before them once.
    pub fn read(text: &'a str) -> Option<Self> {
        let text = text.strip_suffix(AMENDED).map_or(text, |text| text.trim_end_matches('\n'));
        let (first, rest) = text.split_once('\n')?;
        let (title, form) =
            ending(first).filter(|(_, form)| !is_number(form)).unwrap_or((first, ""));
        let known = KINDS.iter().find_map(|kind| {
            let number = title.strip_prefix(&*heading(kind).0)?;
            Some((kind.clone(), number.trim_start()))
        });
        let (kind, number) = match known {
            Some(known) => known,
            None => {
                let named = title.strip_prefix(NAMED)?;
                let (shown, number) =
                    ending(named).filter(|(_, form)| is_number(form)).unwrap_or((named, ""));
                (ContextKind::Other(name::read(shown).into()), number)
            }
        };
        let nth = match number {
            "" => 0,
            number => number.parse::<u32>().ok()?.checked_sub(1)?,
        };
        let tag = heading(&kind).1;
        let mut authority = None;
        let text = match form {
            "" => {
                let (said_by, rest) = authority_of(rest.strip_prefix('\n')?);
                authority = said_by;
                whole(rest, tag)?
            }
            "changes" => FencedText::Changes(inner(rest, tag)?),
            "withdrawn" if rest.trim() == GONE => FencedText::Withdrawn,
            "not read" if rest.trim() == UNREAD => FencedText::Unread,
            _ => return None,
        };
        Some(Self { kind, nth, authority, text })
    }
}

/// What stands in brackets at the end of a heading, and what stands before that.
fn ending(heading: &str) -> Option<(&str, &str)> {
    let (title, form) = heading.rsplit_once(" (")?;
    Some((title, form.strip_suffix(')')?))
}

fn is_number(form: &str) -> bool {
    !form.is_empty() && form.bytes().all(|byte| byte.is_ascii_digit())
}

/// Who is said to say a text, and the rest of it.
fn authority_of(text: &str) -> (Option<Authority>, &str) {
    let found = Authority::ALL.into_iter().find_map(|authority| {
        let rest = text.strip_prefix(said_by(authority))?.strip_prefix("\n\n")?;
        Some((authority, rest))
    });
    found.map_or((None, text), |(authority, rest)| (Some(authority), rest))
}

/// The whole of a text in its tag, or what is left on both sides of a gap.
fn whole<'a>(text: &'a str, tag: &str) -> Option<FencedText<'a>> {
    let (head, rest) = match text.starts_with(GAP) {
        true => ("", text),
        false => {
            let end = format!("\n</{tag}>");
            let at = text.find(&end)? + end.len();
            (inner(&text[..at], tag)?, text[at..].trim_start_matches('\n'))
        }
    };
    if rest.is_empty() {
        return Some(FencedText::Whole(head));
    }
    let (left_out, rest) = rest.strip_prefix(GAP)?.split_once(GAP_END)?;
    let tail = match rest {
        "" => "",
        rest => inner(rest.strip_prefix("\n\n")?, tag)?,
    };
    Some(FencedText::Shortened { head, left_out: left_out.parse().ok()?, tail })
}

impl<'a> FencedContext<'a> {
    /// Splits the texts of the context off the end of a text that carries them. They come in
    /// their order.
    pub fn split(text: &'a str) -> (&'a str, Vec<Self>) {
        const BEGINS: &str = "## Agent ";
        let (mut rest, mut found) = (text, Vec::new());
        let mut end = rest.len();
        while let Some(at) = rest[..end].rfind(BEGINS) {
            let begins_line = at == 0 || rest[..at].ends_with('\n');
            match Self::read(rest[at..].trim_end_matches('\n')).filter(|_| begins_line) {
                Some(fenced) => {
                    found.push(fenced);
                    rest = rest[..at].trim_end_matches('\n');
                    end = rest.len();
                }
                // A heading that stands inside a text was escaped, or is another's.
                None => end = at,
            }
        }
        found.reverse();
        (rest, found)
    }
}

impl FencedText<'_> {
    /// What the source says after it, to a reader who knows what it said before. Nothing, if
    /// it was withdrawn, is not known or not all there, or amends something else.
    pub fn after(&self, before: Option<&str>) -> Option<Arc<str>> {
        match self {
            Self::Whole(text) => Some((*text).into()),
            Self::Changes(lines) => amended(before?, lines).map(Arc::from),
            Self::Shortened { .. } | Self::Withdrawn | Self::Unread => None,
        }
    }
}

/// What stands in a tag that is all of a text.
fn inner<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (open, rest) = text.strip_prefix('<')?.strip_prefix(tag)?.split_once(">\n")?;
    let is_open = open.is_empty() || open.starts_with(" v=");
    is_open.then_some(rest)?.strip_suffix('>')?.strip_suffix(tag)?.strip_suffix("\n</")
}
