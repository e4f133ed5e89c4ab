//! **Sees** the whole request.
//! **Guarantees** that it fits the window less the reserve, or is refused with the
//! figures; a tool block is never cut.
//! **Reports** every result shortened or cleared, every message left out.
//!
//! Measures, in this order, each as far as the next requests need too:
//!
//! | measure | what it touches |
//! |---|---|
//! | shorten | any single tool result over its limit: head and tail stay (always) |
//! | clear | the oldest tool results, but not the newest few: a placeholder stays |
//! | abridge | the long arguments of calls whose results are old: their form stays |
//! | leave out | the oldest turns, and of the first that stays its oldest steps: the user's words stay with what is left of their turn, and one notice stands for all; a loop that thinks is cut where it thinks again |
//! | shorten more | the results that the model has not seen yet: head and tail stay |
//! | refuse | nothing |
//!
//! The user's latest words, the last step with results that the model has not seen, a
//! sub-agent's task, pinned messages with their blocks, the system message, the summary and
//! the context block are never left out.

mod given;
mod history;
mod replay;
mod shorten;

pub(crate) use self::given::Given;
pub(crate) use self::history::{End, Fate, History, Kind, Loss};
pub(crate) use self::replay::{Replay, Terms};

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use interleaf_model::{
    AssistantPart, Blocks, Body, ContentPart, Entry, Message, MessageId, Parts, Provenance, Role,
    Text,
};

use self::history::Cost;
use super::place;
use crate::brief::Brief;
use crate::draft::{Draft, entry};
use crate::fence;
use crate::finding::Findings;
use crate::tokens::Counting;
use crate::{Budget, Cause, Error, FindingKind, Tokens};

/// When a request does not fit, this part of the limit is made free, so that the
/// next ones fit and repeat its prefix. Half of it is enough if clearing does it. A
/// change of this number moves cached bytes.
const FREED_PART: u64 = 5;
/// What is not history is taken for a whole number of these parts of the limit, so
/// that a context block that grows by a line does not move what is cleared.
const FIXED_PART: u64 = 20;
/// Less than this of a tool result is not worth showing.
const LEAST_SHOWN: u64 = 100;

pub(super) fn run(
    brief: &Brief<'_>,
    draft: &mut Draft,
    findings: &mut Findings,
) -> Result<(), Error> {
    let Some(counting) = &brief.counting else {
        return match brief.recipe.budget {
            Some(_) => Err(Error::settings("a budget needs something that counts tokens")),
            None => {
                if let Some(prior) = &mut draft.prior {
                    prior.show_all(brief);
                }
                Ok(())
            }
        };
    };
    let tools = counting.tools(&brief.recipe.tools);
    let Some(budget) = brief.recipe.budget else {
        if let Some(prior) = &mut draft.prior {
            prior.show_all(brief);
        }
        draft.tokens = Some(by_part(draft, tools, counting));
        return Ok(());
    };
    if let Some(prior) = &draft.prior {
        findings.extend(prior.shortened());
    }
    let whole = shorten_results(brief, &mut draft.entries, &budget, counting, findings);
    let mut tokens = by_part(draft, tools, counting);
    let limit = budget.limit();
    if tokens.total() > limit {
        let terms = terms(&budget, &tokens, counting);
        tokens.history = give_way(brief, draft, &terms, counting, findings)?;
    } else if let Some(prior) = &mut draft.prior {
        prior.show_all(brief);
    }
    if tokens.total() > limit {
        let excess = tokens.total() - limit;
        let entries = &mut draft.entries;
        tokens.history -= shorten_unseen(brief, entries, &whole, excess, counting, findings);
    }
    if tokens.total() > limit {
        return Err(Error::too_large(limit, tokens));
    }
    draft.tokens = Some(tokens);
    Ok(())
}

/// Takes away what the replay says; what the history takes then.
fn give_way(
    brief: &Brief<'_>,
    draft: &mut Draft,
    terms: &Terms,
    counting: &Counting<'_>,
    findings: &mut Findings,
) -> Result<u64, Error> {
    let held = held_places(brief, &draft.entries, !brief.open.is_empty());
    let (mut history, mut replay) = match &mut draft.prior {
        Some(prior) => prior.replayed(terms),
        None => (History::default(), Replay::new(terms)),
    };
    let (base, before) = (history.len(), history.end());
    for (place, entry) in draft.entries.iter().enumerate() {
        history.push(Kind::of(entry, held.contains(&place)), cost(brief, &entry.message));
    }
    replay.play(&history, base, terms);
    let loss = replay.request(&history, terms);
    let first = match &draft.prior {
        Some(prior) => prior.first_id(),
        None => first_id(&draft.entries),
    };
    let mut taken = replay.history(terms);
    let mut given = Given::default();
    let mut stays = Vec::new();
    let mut has_notice = false;
    if let Some(prior) = &mut draft.prior {
        let shown = prior.show(brief, &history, loss, terms);
        given = shown.given.clone();
        stays.clone_from(&shown.stays);
        taken += shown.notice_cost.unwrap_or(0);
        has_notice = shown.notice_cost.is_some();
    }
    let n_system = head_len(&draft.entries);
    let mut gap = stays.len();
    let mut rest = Vec::with_capacity(draft.entries.len());
    for (at, old) in std::mem::take(&mut draft.entries).iter().enumerate() {
        let place = base + at;
        if let Some(entry) = given.give(old, &history, (place, loss), terms) {
            gap += usize::from(place < history.left_out_before(loss));
            rest.push(entry);
        }
    }
    let gap = history.cuts_turn(loss).then_some(gap);
    if let Some(prior) = &mut draft.prior {
        history.cut_back(before);
        prior.keep(history);
    }
    given.tell(findings);
    let mut made = None;
    if given.n_left_out > 0 {
        let notice = notice(brief, &first, given.n_left_out);
        findings.add(FindingKind::Made, &notice.message.id, Cause::Budget);
        made = Some(notice).filter(|_| !has_notice);
    }
    taken += made.as_ref().map_or(0, |notice| counting.message(&notice.message));
    rest.splice(n_system..n_system, stays);
    put_notice(brief, made, &mut rest, n_system, gap);
    draft.entries = rest;
    place::again(brief, draft, findings)?;
    Ok(taken)
}

/// What a message takes, whole and with its long arguments abridged.
pub(crate) fn cost(brief: &Brief<'_>, message: &Arc<Message>) -> Cost {
    let Some(counting) = &brief.counting else { return Cost::default() };
    let whole = counting.message(message);
    let short = brief.recipe.budget.and_then(|_| shorten::arguments(message));
    let abridged = short.map(|short| counting.message(&short)).filter(|&short| short < whole);
    let thinks = match &message.body {
        Body::Assistant(parts) => matches!(parts.first(), Some(AssistantPart::Thinking(_))),
        Body::System(_) | Body::User(_) | Body::Tool(_) => false,
    };
    Cost { whole, abridged, thinks }
}

fn by_part(draft: &Draft, tools: u64, counting: &Counting<'_>) -> Tokens {
    let counter = counting.counter().name().to_owned();
    let (history, summary) = draft.prior.as_ref().map_or((0, 0), |prior| prior.tokens());
    let rate = counting.rate();
    let mut tokens = Tokens { counter, rate, tools, history, summary, ..Tokens::default() };
    for entry in &draft.entries {
        let part = match entry.provenance {
            Provenance::Summary => &mut tokens.summary,
            Provenance::Context(_) => &mut tokens.context,
            _ if entry.message.role() == Role::System => &mut tokens.system,
            Provenance::Original
            | Provenance::Altered
            | Provenance::System
            | Provenance::Made
            | Provenance::Notice => &mut tokens.history,
        };
        *part += counting.message(&entry.message);
    }
    tokens
}

fn terms(budget: &Budget, tokens: &Tokens, counting: &Counting<'_>) -> Terms {
    let limit = budget.limit();
    let (freed, part) = (limit / FREED_PART, (limit / FIXED_PART).max(1));
    let made = |message: Message| counting.message(&Arc::new(message));
    Terms {
        limit,
        low: limit - freed,
        enough: limit - freed / 2,
        least: limit - 2 * freed,
        fixed: (tokens.total() - tokens.history).div_ceil(part) * part,
        newest_results: budget.newest_results,
        cleared: made(Message::user(fence::CLEARED)),
        // The loss must not change with the number that the notice names.
        notice: made(Message::user(&fence::left_out(1_000_000))),
    }
}

/// The results that were shortened, as they were before.
type Whole = HashMap<MessageId, Arc<Message>>;

/// Shortens each result that is longer than a single one may be, unless it is pinned.
pub(crate) fn shorten_results(
    brief: &Brief<'_>,
    entries: &mut [Entry],
    budget: &Budget,
    counting: &Counting<'_>,
    findings: &mut Findings,
) -> Whole {
    let held = held_places(brief, entries, false);
    let mut shortened = Whole::new();
    for (place, old) in entries.iter_mut().enumerate() {
        if old.message.role() == Role::Tool && !held.contains(&place) {
            let whole = old.message.clone();
            let most = budget.longest_result;
            if shorten_to(old, &whole, most, Cause::LongResult, counting, findings) {
                shortened.insert(whole.id.clone(), whole);
            }
        }
    }
    shortened
}

/// Shortens the results that the model has not seen yet, the longest first, until
/// `excess` tokens are free or nothing worth showing would be left of them; what that
/// saved.
fn shorten_unseen(
    brief: &Brief<'_>,
    entries: &mut [Entry],
    shortened: &Whole,
    excess: u64,
    counting: &Counting<'_>,
    findings: &mut Findings,
) -> u64 {
    let answered = entries.iter().rposition(|entry| entry.message.role() == Role::Assistant);
    let from = answered.map_or(0, |at| at + 1);
    let held = held_places(brief, entries, false);
    let unseen = entries.iter_mut().enumerate().skip(from);
    let unseen = unseen.filter(|(at, e)| e.message.role() == Role::Tool && !held.contains(at));
    let mut unseen: Vec<(u64, &mut Entry)> =
        unseen.map(|(_, entry)| (counting.message(&entry.message), entry)).collect();
    unseen.sort_by_key(|(tokens, _)| *tokens);
    // Short results stay whole; what they leave of the room goes to the long ones.
    let total: u64 = unseen.iter().map(|(tokens, _)| tokens).sum();
    let mut room = total.saturating_sub(excess);
    let mut left = unseen.len() as u64;
    let mut saved = 0;
    for (tokens, old) in unseen {
        let share = (room / left).max(LEAST_SHOWN);
        // What was cut already is cut anew, so that its note tells all that is missing.
        let whole = shortened.get(&old.message.id).unwrap_or(&old.message).clone();
        shorten_to(old, &whole, share, Cause::Budget, counting, findings);
        saved += tokens - counting.message(&old.message);
        room = room.saturating_sub(tokens.min(share));
        left -= 1;
    }
    saved
}

/// Shortens what is left of a whole result, if it is longer than `most`.
fn shorten_to(
    old: &mut Entry,
    whole: &Arc<Message>,
    most: u64,
    cause: Cause,
    counting: &Counting<'_>,
    findings: &mut Findings,
) -> bool {
    let tokens = counting.message(&old.message);
    let shorter = if tokens > most { shorten::result(whole, most, counting) } else { None };
    let is_shorter = shorter.is_some();
    if let Some(shorter) = shorter {
        findings.add_tokens(&old.message.id, cause, (tokens, counting.message(&shorter)));
        *old = entry(shorter, Provenance::Altered);
    }
    is_shorter
}

/// A result that says only that it was there.
pub(crate) fn cleared_message(message: &Message) -> Arc<Message> {
    let mut message = message.clone();
    if let Body::Tool(result) = &mut message.body {
        result.parts = Parts::one(ContentPart::Text(Text::new(fence::CLEARED)));
    }
    Arc::new(message)
}

fn head_len(entries: &[Entry]) -> usize {
    entries.iter().take_while(|entry| entry.message.role() == Role::System).count()
}

fn first_id(entries: &[Entry]) -> MessageId {
    let first = entries.get(head_len(entries));
    first.map_or_else(|| MessageId::new(""), |entry| entry.message.id.clone())
}

/// The notice that stands for `n` messages, of which the first is named.
pub(crate) fn notice(brief: &Brief<'_>, first: &MessageId, n: usize) -> Entry {
    let id = MessageId::new(format!("{first}:left-out"));
    let mut message = Message::user(&fence::left_out(n)).with_id(id);
    message.origin = brief.own_origin();
    entry(message, Provenance::Notice)
}

/// Puts the notice where the conversation begins, after a sub-agent's task, or into the gap
/// inside a turn, if the user's words come before it.
pub(crate) fn put_notice(
    brief: &Brief<'_>,
    notice: Option<Entry>,
    entries: &mut Vec<Entry>,
    head: usize,
    gap: Option<usize>,
) {
    let Some(notice) = notice else { return };
    // The context block is placed again: it does not open the conversation for good.
    let is_said = |entry: &&Entry| !matches!(entry.provenance, Provenance::Context(_));
    let first = entries[head..].iter().find(is_said).map(|entry| &entry.message);
    let opens_with_user = first.is_some_and(|message| message.role() == Role::User);
    let is_task = first.is_some_and(|message| brief.is_task(message));
    let at = gap.filter(|_| opens_with_user).unwrap_or(head + usize::from(is_task));
    entries.insert(at, notice);
}

/// The places of what is never touched: a sub-agent's task, pinned messages with the tool
/// blocks around them, and a block that still waits for results.
pub(crate) fn held_places(brief: &Brief<'_>, entries: &[Entry], is_open: bool) -> HashSet<usize> {
    let mut held = HashSet::new();
    if is_open {
        // It is the last one, for nothing but its results came since.
        let opener = entries.iter().rposition(|entry| entry.message.has_calls());
        held.extend(opener.unwrap_or(entries.len())..entries.len());
    }
    held.extend(entries.iter().position(|entry| brief.is_task(&entry.message)));
    if !brief.pinned.is_empty() {
        let blocks = Blocks::find(entries.iter().map(|entry| &entry.message));
        let positions = blocks.positions();
        let is_pinned = |place: &usize| brief.pinned.contains(&entries[*place].message.id);
        for place in (0..entries.len()).filter(is_pinned) {
            match blocks.of(place) {
                Some(block) => held.extend(positions[block].iter().copied()),
                None => _ = held.insert(place),
            }
        }
    }
    held
}
