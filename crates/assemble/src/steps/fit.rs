//! **Sees** the whole request.
//! **Guarantees** that it fits the window less the reserve, or is refused with the
//! figures; a tool block is never cut.
//! **Reports** every result shortened or cleared, every message left out.
//!
//! What fits is left alone. Measures, in this order, each as far as the next requests need
//! too; the last message that one touches is shown in part:
//!
//! | measure | what it touches |
//! |---|---|
//! | shorten | the oldest tool results that are too long: head and tail stay |
//! | clear | the oldest tool results, but not the newest few: a placeholder stays |
//! | abridge | the long arguments of calls whose results are old: their form stays |
//! | leave out | the oldest turns, and of the first that stays its oldest steps: the user's words stay with what is left of their turn, and one notice stands for all; a loop that thinks is cut where it thinks again |
//! | last resort | the long arguments of the newest calls, then the results that the model has not seen yet |
//! | refuse | nothing |
//!
//! The user's latest words, the last step with results that the model has not seen, a
//! sub-agent's task, pinned messages with their blocks, the system message, the summary and
//! the context block are never left out.

mod given;
mod history;
mod loss;
mod parts;
mod replay;
mod shorten;

pub(crate) use self::given::{Given, Showing};
pub(crate) use self::history::{End, History, Kind};
pub(crate) use self::loss::{Fate, Grant, Loss};
pub(crate) use self::replay::{Replay, Terms};
pub(crate) use self::shorten::fitting;

use std::sync::Arc;

use hashbrown::HashSet;
use interleaf_model::{
    Blocks, Body, ContentPart, Entry, Message, MessageId, Parts, Provenance, Role, SystemInPlace,
    Text,
};

use self::history::Cost;
use self::parts::Parts as Shared;
use self::replay::LEAST_SHOWN;
use super::place;
use crate::allot::Room;
use crate::brief::Brief;
use crate::carry::as_text;
use crate::draft::{Draft, entry};
use crate::fence;
use crate::finding::Findings;
use crate::running::Spent;
use crate::tokens::Counting;
use crate::{Budget, Cause, Error, FindingKind, Rebase, Tokens};

/// When a request does not fit, this part of the limit is made free, so that the
/// next ones fit and repeat its prefix. Half of it is enough if clearing does it. A
/// change of this number moves cached bytes.
const FREED_PART: u64 = 5;
/// What is not history is taken for a whole number of these parts of the limit, so
/// that a context block that grows by a line does not move what is cleared.
const FIXED_PART: u64 = 20;

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
    let tools = brief.allotted.tools_tokens;
    let Some(budget) = brief.recipe.budget else {
        if let Some(prior) = &mut draft.prior {
            prior.show_all(brief);
        }
        draft.tokens = Some(by_part(brief, draft, tools, counting));
        return Ok(());
    };
    let mut tokens = by_part(brief, draft, tools, counting);
    let limit = budget.limit();
    let shared = Shared::of(brief, &tokens, limit);
    if let Some(shared) = &shared {
        if !shared.leave_room(draft)? {
            return Ok(());
        }
        findings.extend(&brief.allotted.findings);
    }
    let excess = |tokens: &Tokens| match &shared {
        Some(shared) => shared.excess(tokens),
        None => tokens.total().saturating_sub(limit),
    };
    if excess(&tokens) > 0 {
        let room = shared.as_ref().map(Shared::history).unwrap_or_default();
        let terms = terms(&budget, &tokens, room, counting);
        let before = draft.entries.clone();
        let mut given = Findings::default();
        tokens.history = give_way(brief, draft, &terms, counting, &mut given)?;
        if excess(&tokens) > 0 {
            // What the model has not seen gives way after all that it has.
            let terms = Terms { spares_unseen: true, ..terms };
            (draft.entries, given) = (before, Findings::default());
            tokens.history = give_way(brief, draft, &terms, counting, &mut given)?;
        }
        findings.extend(&given);
    } else if let Some(prior) = &mut draft.prior {
        prior.show_all(brief);
    }
    if excess(&tokens) > 0 {
        let (entries, excess) = (&mut draft.entries, excess(&tokens));
        tokens.history -= abridge_newest(brief, entries, excess, counting, findings);
    }
    if excess(&tokens) > 0 {
        let (entries, excess) = (&mut draft.entries, excess(&tokens));
        tokens.history -= shorten_unseen(brief, entries, excess, &budget, counting, findings);
    }
    match &shared {
        Some(shared) if excess(&tokens) > 0 => return shared.give_more(draft, &tokens),
        Some(shared) => draft.parts = shared.reports(&tokens),
        None if excess(&tokens) > 0 => return Err(Error::too_large(limit, tokens)),
        None => {}
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
    let is_element = |entry: &Entry| matches!(entry.provenance, Provenance::Element(_));
    let element = draft.prior.as_ref().and_then(|prior| prior.first_element());
    let element = element.or_else(|| Some(base + draft.entries.iter().position(is_element)?));
    if element.is_some_and(|place| place < history.left_out_before(loss)) {
        draft.rebase.get_or_insert(Rebase::LeftOut);
    }
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
    let unseen_from = unseen_from(&draft.entries);
    let showing = Showing { history: &history, loss, terms, counting };
    let n_system = head_len(&draft.entries);
    let mut gap = stays.len();
    let mut rest = Vec::with_capacity(draft.entries.len());
    let said = std::mem::take(&mut draft.entries);
    for (at, old) in said.iter().enumerate() {
        let place = base + at;
        let fate = history.fate(place, loss);
        if at >= unseen_from && matches!(fate, Fate::Shortened | Fate::Partly) {
            // The model has not seen it: it may take what room is left.
            taken += history.cost_of(place) - history.cost(place, loss);
            rest.push(old.clone());
        } else if let Some(entry) = given.give((place, old), showing) {
            gap += usize::from(place < history.left_out_before(loss));
            rest.push(entry);
        }
    }
    taken -= given.spare;
    let gap = history.cuts_turn(loss).then_some(gap);
    let thoughtless = history.thoughtless(loss);
    if let Some(prior) = &mut draft.prior {
        history.cut_back(before);
        prior.keep(history);
    }
    given.tell(findings);
    if let Some(place) = thoughtless {
        let id = match place.checked_sub(base) {
            Some(at) => said.get(at).map(|entry| entry.message.id.clone()),
            None => draft.prior.as_ref().and_then(|prior| prior.id_at(place)),
        };
        id.iter().for_each(|id| findings.add(FindingKind::Warned, id, Cause::ThinkingLeftOut));
    }
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

/// What a message takes, whole and after what may become of it.
pub(crate) fn cost(brief: &Brief<'_>, message: &Arc<Message>) -> Cost {
    let Some(counting) = &brief.counting else { return Cost::default() };
    let whole = counting.message(message);
    let short = brief.recipe.budget.and_then(|_| shorten::arguments(message));
    let abridged = short.map(|short| counting.message(&short)).filter(|&short| short < whole);
    let longest = brief.recipe.budget.map(|budget| budget.longest_result);
    let longest = longest.filter(|&longest| whole > longest && message.role() == Role::Tool);
    let short = longest.and_then(|longest| shorten::result(message, longest, counting));
    let shortened = short.map(|short| counting.message(&short));
    let may_clear = brief.recipe.budget.is_some() && message.role() == Role::Tool;
    let cleared = may_clear.then(|| counting.message(&cleared_message(message)));
    let cleared = cleared.filter(|&cleared| cleared < whole);
    let thinks = message.begins_with_thinking();
    Cost { whole, shortened, cleared, abridged, thinks }
}

/// What a system message in its place takes, where it may have to be a text as well.
pub(crate) fn system_cost(brief: &Brief<'_>, message: &Arc<Message>) -> u64 {
    let Some(counting) = &brief.counting else { return 0 };
    match brief.requires.system_in_place {
        SystemInPlace::Anywhere => counting.message(message),
        _ => counting.message(&as_text(message).into()),
    }
}

fn by_part(brief: &Brief<'_>, draft: &Draft, tools: u64, counting: &Counting<'_>) -> Tokens {
    let counter = counting.counter().name().to_owned();
    let Spent { history, summary, context, system } =
        draft.prior.as_ref().map(|prior| prior.tokens()).unwrap_or_default();
    let rate = counting.rate();
    let mut tokens = Tokens { counter, rate, tools, history, summary, context, system };
    let head = head_len(&draft.entries);
    for (at, entry) in draft.entries.iter().enumerate() {
        let part = match entry.provenance {
            Provenance::Summary => &mut tokens.summary,
            Provenance::Context(_) | Provenance::Element(_) => &mut tokens.context,
            _ if entry.message.role() == Role::System => &mut tokens.system,
            Provenance::Original
            | Provenance::Altered
            | Provenance::System
            | Provenance::Carrying(_)
            | Provenance::Made
            | Provenance::Notice => &mut tokens.history,
        };
        *part += match entry.message.role() {
            Role::System if at >= head => system_cost(brief, &entry.message),
            _ => counting.message(&entry.message),
        };
    }
    tokens
}

fn terms(budget: &Budget, tokens: &Tokens, room: Room, counting: &Counting<'_>) -> Terms {
    let (mut limit, fixed) = (budget.limit(), tokens.total() - tokens.history);
    let part = (limit / FIXED_PART).max(1);
    let least = room.min.unwrap_or(0);
    let mut rounded = fixed.div_ceil(part) * part;
    if let Some(most) = room.max.filter(|&most| most <= limit.saturating_sub(fixed)) {
        // The history has a window of its own.
        (limit, rounded) = (most, 0);
    } else if least > limit.saturating_sub(rounded) {
        rounded = fixed;
    }
    let freed = limit / FREED_PART;
    // The history does not go below its minimum.
    let at_least = |to: u64| to.max(rounded.saturating_add(least)).min(limit);
    let made = |message: Message| counting.message(&Arc::new(message));
    Terms {
        limit,
        low: at_least(limit - freed),
        enough: at_least(limit - freed / 2),
        least: at_least(limit - 2 * freed),
        fixed: rounded,
        longest_result: budget.longest_result,
        spares_unseen: false,
        newest_results: budget.newest_results,
        // The loss must not change with the number that the notice names.
        notice: made(Message::user(&fence::left_out(1_000_000))),
    }
}

/// The place after the last answer: what stands there the model has not seen.
fn unseen_from(entries: &[Entry]) -> usize {
    let answered = entries.iter().rposition(|entry| entry.message.role() == Role::Assistant);
    answered.map_or(0, |at| at + 1)
}

/// Abridges the arguments of the calls whose results the model has not seen yet, as far as
/// frees `excess` tokens, if they are all answered; what that saved.
fn abridge_newest(
    brief: &Brief<'_>,
    entries: &mut [Entry],
    excess: u64,
    counting: &Counting<'_>,
    findings: &mut Findings,
) -> u64 {
    let held = held_places(brief, entries, !brief.open.is_empty());
    let newest = unseen_from(entries).checked_sub(1).filter(|at| !held.contains(at));
    let Some(old) = newest.map(|at| &mut entries[at]) else { return 0 };
    let tokens = counting.message(&old.message);
    let most = tokens.saturating_sub(excess);
    let part = shorten::arguments_to(&old.message, most, counting);
    let Some(part) = part.or_else(|| shorten::arguments(&old.message)) else { return 0 };
    let saved = tokens.saturating_sub(counting.message(&part));
    findings.add_tokens(&old.message.id, Cause::LongArguments, (tokens, tokens - saved));
    *old = entry(part, Provenance::Altered);
    saved
}

/// Shortens the results that the model has not seen yet, the longest first, until
/// `excess` tokens are free or nothing worth showing would be left of them; what that
/// saved.
fn shorten_unseen(
    brief: &Brief<'_>,
    entries: &mut [Entry],
    excess: u64,
    budget: &Budget,
    counting: &Counting<'_>,
    findings: &mut Findings,
) -> u64 {
    let from = unseen_from(entries);
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
        let shorter =
            if tokens > share { shorten::result(&old.message, share, counting) } else { None };
        if let Some(shorter) = shorter {
            let is_long = tokens > budget.longest_result;
            let cause = if is_long { Cause::LongResult } else { Cause::Budget };
            findings.add_tokens(&old.message.id, cause, (tokens, counting.message(&shorter)));
            *old = entry(shorter, Provenance::Altered);
        }
        saved += tokens - counting.message(&old.message);
        room = room.saturating_sub(tokens.min(share));
        left -= 1;
    }
    saved
}

/// A result that says only that it was there.
pub(crate) fn cleared_message(message: &Message) -> Arc<Message> {
    let mut message = message.clone();
    if let Body::Tool(result) = &mut message.body {
        result.parts = Parts::one(ContentPart::Text(Text::new(fence::cleared(&message.id))));
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
    let is_said = |entry: &&Entry| {
        !matches!(entry.provenance, Provenance::Context(_) | Provenance::Element(_))
    };
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
