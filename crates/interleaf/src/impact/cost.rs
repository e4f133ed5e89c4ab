//! What a request takes from the vendor's cache.

use interleaf_cache::{SentPrompt, last_used};
use interleaf_model::{Entry, Usage};
use interleaf_store::Pieces;
use interleaf_wire::{CacheMarks, Marks};

use super::head::Head;
use super::join::Joined;
use super::place::n_head;
use super::stages::{Stage, Stages};
use super::verdict::Known;
use super::{Before, Cost, Now, Trace};
use crate::cache_marks::Written;

/// The tokens of a thousand bytes, before an API has told.
const PER_THOUSAND: u64 = 250;

/// More than any text has: an API that tells more is wrong.
const MOST_PER_THOUSAND: u64 = 100_000;

/// How many tokens stand where in a request.
pub(super) struct Measure<'a> {
    pub(super) total: u64,
    /// The tokens of a thousand bytes, if nothing is counted.
    pub(super) per_thousand: Option<u64>,
    head: Head<'a>,
    /// The bytes of the list of turns, without the mark.
    list: i64,
    /// Whether the head ends with a mark.
    marks_head: bool,
    /// The mark in the list: where it begins, and its length.
    mark: Option<(u64, u64)>,
    /// Where the mark is, and the tokens before it, if they are counted.
    counted: Option<(i64, u64)>,
}

impl<'a> Measure<'a> {
    pub(super) fn of(now: &'a Now<'a>, body: &'a Pieces, before: Option<&Before>) -> Self {
        let list = &now.body.outline.list;
        let marks = marks(now);
        let mark = marks.message.and_then(|at| mark(now, body, at));
        let list_len = (list.len() as u64 - mark.map_or(0, |(_, len)| len)) as i64;
        let (total, head, per_thousand) = match now.report.tokens.as_ref().zip(now.ledger) {
            Some((tokens, ledger)) => (tokens.total(), Head::counted(now, body, ledger), None),
            None => {
                let told = before.and_then(|before| {
                    let prompt = before.usage.map(|usage| usage.prompt).filter(|&n| n > 0)?;
                    Some(prompt.saturating_mul(1000).div_ceil(before.body.len().max(1)))
                });
                let kept = || before.and_then(|before| before.trace.per_thousand);
                let rate = told.or_else(kept).unwrap_or(PER_THOUSAND).clamp(1, MOST_PER_THOUSAND);
                let tokens = |bytes: u64| (bytes * rate).div_ceil(1000);
                let head = Head::even(now, body, tokens(list.start as u64));
                (tokens(body.len()), head, Some(rate))
            }
        };
        let mut measure = Self {
            total,
            per_thousand,
            head,
            list: list_len,
            marks_head: marks.head,
            mark,
            counted: None,
        };
        if let (Some((at, _)), Some(last), None) = (mark, marks.message, per_thousand) {
            let settled = now.prompt.settled().map_or(0, |settled| settled.len());
            let before = measure.before(now, settled + last + 1, 0.0, at as i64);
            measure.counted = Some((at as i64, before));
        }
        measure
    }

    /// Where the list of turns ends, without the mark.
    pub(super) fn end(&self) -> i64 {
        self.list
    }

    /// A place of the list of turns without the mark.
    pub(super) fn unmarked(&self, at: u64) -> i64 {
        let before = self.mark.map_or(0, |(start, len)| at.saturating_sub(start).min(len));
        (at - before) as i64
    }

    /// The tokens before a place in the head.
    pub(super) fn in_head(&self, at: i64) -> u64 {
        self.head.before(self.head.len.saturating_add_signed(at))
    }

    /// The tokens before a message, and before a part of it. Where nothing is counted, its
    /// place among the bytes tells.
    pub(super) fn before(&self, now: &Now<'_>, message: usize, within: f64, shared: i64) -> u64 {
        match now.ledger.filter(|_| self.per_thousand.is_none()) {
            None => self.linear(shared),
            Some(ledger) => {
                let mut from = after(now, message);
                let first = from.next().map_or(0, |entry| ledger.message(&entry.message));
                let rest: u64 = from.map(|entry| ledger.message(&entry.message)).sum();
                self.total.saturating_sub(first + rest) + (first as f64 * within) as u64
            }
        }
    }

    fn linear(&self, at: i64) -> u64 {
        if at < 0 {
            return self.in_head(at);
        }
        let in_list = self.total - self.head.tokens.min(self.total);
        self.head.tokens + in_list * at as u64 / self.list.max(1) as u64
    }

    /// The tokens before the place `at`, of this request or of an earlier one. `known` are
    /// places and the tokens before them, ascending; what lies between two is taken to be even.
    fn tokens(&self, at: i64, known: &[(i64, u64)]) -> u64 {
        if at < 0 {
            return self.in_head(at);
        }
        // There are few: to look at each is less work than to halve them.
        let n = known.iter().take_while(|(place, _)| *place <= at).count();
        let (place, tokens) = n.checked_sub(1).map_or((0, self.head.tokens), |last| known[last]);
        let past = (at - place).max(0) as u64;
        match known.get(n) {
            Some((next, upto)) => {
                let bytes = (next - place).max(1) as u64;
                tokens + upto.saturating_sub(tokens) * past / bytes
            }
            None => tokens + past * self.per_thousand.unwrap_or(PER_THOUSAND) / 1000,
        }
    }

    /// Places of this request, and of those before it up to what they share, before which the
    /// tokens are known.
    fn known(&self, stages: &Stages, (shared, token): (i64, u64)) -> Vec<(i64, u64)> {
        let ends = [(0, self.head.tokens), (shared, token), (self.list, self.total)];
        // Of two figures for one place this request's is the truer one.
        let own = self.counted.iter().copied().chain(ends).filter(|(place, _)| *place >= 0);
        let mut known = Vec::with_capacity(16);
        known.extend(own);
        stages.counted(shared, &mut known);
        known.sort_by_key(|(place, _)| *place);
        known.dedup_by_key(|(place, _)| *place);
        let mut most = 0;
        for (_, tokens) in &mut known {
            most = most.max((*tokens).min(self.total));
            *tokens = most;
        }
        known
    }
}

/// The messages of a request from this index on.
fn after<'a>(now: &Now<'a>, message: usize) -> impl Iterator<Item = &'a Entry> {
    let entries = now.prompt.entries();
    let n_head = n_head(entries);
    let n_settled = now.prompt.settled().map_or(0, |settled| settled.len());
    let (head, rest) = entries.split_at(n_head);
    let settled = now.prompt.settled().filter(|_| message < n_head + n_settled);
    let settled = settled.into_iter().flat_map(|settled| settled.entries());
    let skipped_head = message.min(n_head);
    let skipped_settled = message.saturating_sub(n_head);
    let skipped_rest = message.saturating_sub(n_head + n_settled).min(rest.len());
    head[skipped_head..].iter().chain(settled.skip(skipped_settled)).chain(&rest[skipped_rest..])
}

/// Where the marks for the cache are.
fn marks(now: &Now<'_>) -> Marks {
    let target = now.target;
    match target.options.cache {
        CacheMarks::Off => Marks::default(),
        CacheMarks::On => Marks::of(now.prompt, &target.vendor, &target.options.model),
    }
}

/// The mark among the turns, which stands after this message.
fn mark(now: &Now<'_>, body: &Pieces, at: usize) -> Option<(u64, u64)> {
    let outline = &now.body.outline;
    let turn = outline.turns.iter().position(|(_, messages)| messages.contains(&at))?;
    let start = turn.checked_sub(1).map_or(outline.settled_end, |last| outline.turns[last].0);
    let bytes = body.bytes(start as u64..outline.turns[turn].0 as u64);
    let mark = Written::of(now.target.vendor.family)?.last_in(&bytes, bytes.len())?;
    let begin = (start - outline.list.start + mark.start) as u64;
    Some((begin, mark.len() as u64))
}

/// What the vendor's cache should make of a request.
pub(super) struct Expected {
    pub(super) cost: Cost,
    pub(super) known: Known,
}

/// What the vendor's cache should make of a request, given what the API has told of the one that
/// it goes on from. The trace learns what the cache may hold after it.
pub(super) fn of(
    now: &Now<'_>,
    trace: &mut Trace,
    (mut stages, joined): (Stages, Joined),
    (measure, told): (&Measure<'_>, Option<Usage>),
) -> Option<Expected> {
    let has_its_head = joined.shared.is_none_or(|shared| shared >= 0);
    // A head that comes back has its mark where it was.
    let head_mark = joined.head_mark.or(has_its_head.then_some(0));
    if let (Some(earlier), Some(mark)) = (joined.earlier, head_mark) {
        stages.move_head_mark(earlier, mark);
    }
    let marks = measure.mark.map(|(start, _)| start as i64);
    let head = measure.marks_head.then_some(0);
    // Places are those of the request that it is the same as, if it is.
    let end = joined.shared.map_or(joined.with_answer, |_| None).unwrap_or(measure.list);
    let ends = (measure.per_thousand.is_none()).then_some((end, measure.total));
    stages.push(
        joined.earlier,
        Stage {
            at: now.at,
            shared: joined.with_answer.unwrap_or(-(measure.head.len as i64)),
            end,
            marks: head.into_iter().chain(marks).collect(),
            counted: measure.counted.into_iter().chain(ends).collect(),
            rate: now.report.tokens.as_ref().map(|tokens| tokens.rate).unwrap_or_default(),
            ..Stage::default()
        },
    );
    let parts = (joined.shared.unwrap_or(end), joined.token.unwrap_or(measure.total));
    let known = measure.known(&stages, parts);
    let tokens = |at: i64| measure.tokens(at, &known);
    let marks = stages.marks(tokens);
    let sent_prompts = stages.sent_prompts(tokens, &marks);
    trace.stages = stages;
    let mut rules = now.target.rules()?;
    let minimum = rules.minimum;
    let [before @ .., this] = sent_prompts.as_slice() else { return None };
    // Of a request that is another after what they share, our count is that of this one's bytes.
    let whole_before = before.last().filter(|last| last.tokens <= this.shared);
    if let (Some(last), Some(usage)) = (whole_before, told) {
        // The API goes by its own count.
        let part = u128::from(rules.minimum) * u128::from(last.tokens);
        let counted = part.div_ceil(u128::from(usage.prompt.max(1)));
        rules.minimum = u64::try_from(counted).unwrap_or(u64::MAX);
    }
    let whole = before.last().map_or(this.shared, |last| last.tokens + last.answer);
    let unbroken = SentPrompt { after: None, shared: whole.min(this.tokens), ..*this };
    let [used, mut unbroken_used] = last_used(&rules, before, [this, &unbroken]);
    if let Some(last) = before.last()
        && let Some(mark) = last.last_mark(&rules)
    {
        // A shorter request would have its mark within the one before, which was kept up to there;
        // what one without marks does not read, it does not read for the lack of them.
        let kept = [this.last_mark(&rules).map_or(mark, |own| mark.min(own))];
        let last = SentPrompt { after: None, shared: 0, marks: &kept, ..*last };
        let marks = if this.marks.is_empty() { &kept } else { unbroken.marks };
        [unbroken_used] = last_used(&rules, &[last], [&SentPrompt { marks, ..unbroken }]);
    }
    let has_marks = !this.marks.is_empty();
    let known = Known::of(&rules, before.last(), this);
    let cost = Cost { minimum, ..Cost::new(&rules, used, unbroken_used, has_marks) };
    Some(Expected { cost, known })
}
