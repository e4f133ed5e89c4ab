//! Where two bodies begin to differ.

use std::borrow::Cow;
use std::ops::Range;

use interleaf_store::Pieces;

use super::Now;
use super::frame::{self, FrameChange};
use crate::cache_marks::{LONGEST, Written};

/// More than the marks that any API heeds, in two bodies.
const MOST_MARKS: usize = 64;

/// Where two bodies differ.
pub(super) struct Found {
    /// The first byte that differs, if one does.
    pub(super) first: Option<u64>,
    /// What differs first of what the model sees.
    pub(super) seen: Seen,
    /// Where turns that both have stand at another place.
    pub(super) moves: Vec<Move>,
}

/// Where two requests differ for the model.
pub(super) enum Seen {
    Nowhere,
    /// Beside the turns.
    Frame(FrameChange),
    /// At these bytes, counted from the beginning of the lists of turns, in the body before
    /// and in this one.
    List {
        before: u64,
        now: u64,
        appended: bool,
    },
}

/// After a place of the earlier list, marks not counted, all stands this many bytes later: lone
/// texts are in lists in one of the two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) after: i64,
    pub(super) by: i64,
}

/// Compares a body with an earlier one, of which the list of turns is given.
pub(super) fn compare(
    now: &Now<'_>,
    body: &Pieces,
    (old, old_list): (&Pieces, Range<u64>),
) -> Found {
    let first = body.shared_start(0..body.len(), old, 0..old.len());
    let first = (first < body.len() || first < old.len()).then_some(first);
    let frames = [(old, old_list.clone()), (body, list_of(now))];
    let marks = Written::of(now.target.vendor.family);
    if let Some((mut change, ranges)) = first.and_then(|first| frame::change(first, frames)) {
        if let Some([range, new_range]) = ranges {
            let (start, new_start) = (range.start, new_range.start);
            let (old, new) =
                (List { body: old, range, marks }, List { body, range: new_range, marks });
            let Parting { at, new_at, .. } = part_ways(&old, &new, 0);
            (change.byte_before, change.byte) = (start + at, new_start + new_at);
            let head = old.body.bytes(0..change.byte_before);
            let mark = marks.and_then(|marks| marks.last_in(&head, head.len()));
            change.mark = mark.map(|mark| mark.end as u64).filter(|_| !change.is_first);
        }
        return Found { first, seen: Seen::Frame(change), moves: Vec::new() };
    }
    let old = List { body: old, range: old_list, marks };
    let new = List { body, range: list_of(now), marks };
    // Where the heads are the same, the lists are so up to the first byte that differs.
    let is_same = |list: &List<'_>, byte: u64| list.range.start <= byte && byte <= list.range.end;
    let first_in_list = first.filter(|&byte| is_same(&old, byte) && is_same(&new, byte));
    let known = first_in_list.filter(|_| old.range.start == new.range.start);
    let known = known.map_or(0, |byte| byte - new.range.start);
    let Parting { at, new_at, moves } = part_ways(&old, &new, known);
    let seen = match (at == old.len(), new_at == new.len()) {
        (true, true) => Seen::Nowhere,
        _ => {
            let rest = old.bytes(at, at + LONGEST);
            let closes = |byte: &u8| matches!(byte, b']' | b'}');
            let appended = rest.len() < LONGEST as usize && rest.iter().all(closes);
            Seen::List { before: at, now: new_at, appended }
        }
    };
    Found { first, seen, moves }
}

/// The bytes of the list of turns.
pub(super) fn list_of(now: &Now<'_>) -> Range<u64> {
    let list = &now.body.outline.list;
    list.start as u64..list.end as u64
}

/// A list of turns in a body. Places count from its beginning.
struct List<'a> {
    body: &'a Pieces,
    range: Range<u64>,
    /// How marks are written in it.
    marks: Option<&'static Written>,
}

impl List<'_> {
    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// What comes from a place on.
    fn from(&self, at: u64) -> Range<u64> {
        self.range.start + at..self.range.end
    }

    /// Whether these bytes stand at a place.
    fn has(&self, at: u64, bytes: &[u8]) -> bool {
        *self.bytes(at, at + bytes.len() as u64) == *bytes
    }

    /// The bytes between two places, as far as it has them.
    fn bytes(&self, start: u64, end: u64) -> Cow<'_, [u8]> {
        let Range { start: first, end: last } = self.range;
        self.body.bytes(first + start..last.min(first + end))
    }
}

/// Where two lists of turns differ in more than marks for the cache and the form of a lone text,
/// and where the places of one are others in the other.
struct Parting {
    at: u64,
    new_at: u64,
    moves: Vec<Move>,
}

/// Up to `known` they do not differ at all.
fn part_ways(old: &List<'_>, new: &List<'_>, known: u64) -> Parting {
    let (mut at, mut new_at) = (known, known);
    // Where a text begins that is in a list on one side and alone on the other, until its end.
    let mut began: Option<(Side, (u64, u64))> = None;
    let (mut moves, mut n_marks) = (Vec::new(), 0);
    // The bytes of the marks that were passed, in each.
    let (mut marked, mut new_marked) = (0, 0);
    loop {
        let shared = old.body.shared_start(old.from(at), new.body, new.from(new_at));
        (at, new_at) = (at + shared, new_at + shared);
        if n_marks < MOST_MARKS
            && let Some((back, len)) = mark_at(old, at)
        {
            (at, new_at) = (at - back + len, new_at - back);
            (n_marks, marked) = (n_marks + 1, marked + len);
            continue;
        }
        if n_marks < MOST_MARKS
            && let Some((back, len)) = mark_at(new, new_at)
        {
            (at, new_at) = (at - back, new_at - back + len);
            (n_marks, new_marked) = (n_marks + 1, new_marked + len);
            continue;
        }
        let from = at;
        if let Some((side, places)) = began.take() {
            let ended = match side {
                Side::Old => end_of_lone(old, at).map(|(list, back)| (list, new_at - back)),
                Side::New => end_of_lone(new, new_at).map(|(list, back)| (at - back, list)),
            };
            // Where the list goes on after the text, the two part there.
            let Some(ended) = ended else {
                if let Some(len) = text_len(old, places.0, at) {
                    (at, new_at) = (places.0 + len, places.1 + len);
                }
                break;
            };
            (at, new_at) = ended;
        } else if new.has(new_at, b"\"")
            && let Some(len) = list_at(old, at)
        {
            at += len;
            began = Some((Side::Old, (at, new_at)));
        } else if old.has(at, b"\"")
            && let Some(len) = list_at(new, new_at)
        {
            new_at += len;
            began = Some((Side::New, (at, new_at)));
        } else {
            break;
        }
        let [place, new_place] =
            [(at, marked), (new_at, new_marked)].map(|(at, n)| (at - n) as i64);
        let after = (from.min(at) - marked) as i64;
        moves.push(Move { after, by: new_place - place });
    }
    Parting { at, new_at, moves }
}

/// Which of two lists.
enum Side {
    Old,
    New,
}

/// How a list of parts begins whose first one is a text, up to that. A text alone is the same to
/// a model.
const LISTS: [&[u8]; 2] = [br#"[{"type":"text","text":"#, br#"[{"type":"input_text","text":"#];

/// The length of what stands here before the first text of a list.
fn list_at(list: &List<'_>, at: u64) -> Option<u64> {
    LISTS.iter().find(|begins| list.has(at, begins)).map(|begins| begins.len() as u64)
}

/// The length of a text with its quotes, if it ends before a place.
fn text_len(list: &List<'_>, start: u64, end: u64) -> Option<u64> {
    let bytes = list.bytes(start, end);
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at as u64 + 1);
        }
        at += 2;
    }
}

/// What comes after a list here that has nothing but a text, and how many bytes of that end were
/// taken for something else.
fn end_of_lone(list: &List<'_>, at: u64) -> Option<(u64, u64)> {
    const END: &[u8] = b"}]";
    (0..END.len() as u64).find_map(|back| {
        let end = at.checked_sub(back)?;
        let closes = end > 0 && list.has(end - 1, b"\"}]");
        let after_mark = list.has(end, END) && mark_ends(list, end);
        (closes || after_mark).then_some((end + END.len() as u64, back))
    })
}

/// How far before a byte a mark begins that reaches it, and how long it is.
fn mark_at(list: &List<'_>, at: u64) -> Option<(u64, u64)> {
    let marks = list.marks?;
    let start = at.saturating_sub(LONGEST);
    let window = list.bytes(start, at + LONGEST);
    let at = (at - start) as usize;
    let mark = marks.last_in(&window, at).filter(|mark| at < mark.end)?;
    Some(((at - mark.start.min(at)) as u64, mark.len() as u64))
}

/// Whether a mark ends here.
fn mark_ends(list: &List<'_>, at: u64) -> bool {
    let start = at.saturating_sub(LONGEST);
    let Some(marks) = list.marks else { return false };
    let window = list.bytes(start, at);
    marks.last_in(&window, window.len()).is_some_and(|mark| mark.end == window.len())
}
