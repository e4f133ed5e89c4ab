//! What a request takes from a cache that forgets nothing, reckoned from what it has in common
//! with each request before it.
//!
//! A session asks this in every turn. To play the requests on a [`Cache`](crate::Cache) takes
//! many times as long; where time or a state matters, that is done.

use super::SentPrompt;
use crate::{Match, Rules, Used};

/// What the last of some requests takes; nothing, if the rules need the requests to be played.
pub(super) fn used(
    rules: &Rules,
    before: &[SentPrompt<'_>],
    last: &SentPrompt<'_>,
) -> Option<Used> {
    let common = |n: usize| common(before, n, last);
    let all = || (0..before.len()).map(|n| (&before[n], common(n)));
    let prompt = last.tokens;
    match rules.matches {
        Match::Prefix { step, answers, computes_last } => {
            let upto = |sent: &SentPrompt<'_>| sent.tokens + if answers { sent.answer } else { 0 };
            let found = all().map(|(sent, common)| common.min(upto(sent))).max().unwrap_or(0);
            let most = if computes_last { prompt.saturating_sub(1) } else { prompt };
            let read = if found < rules.minimum { 0 } else { found.min(most) };
            Some(Used { prompt, read: read - read % step.max(1), written: 0 })
        }
        Match::Marks { most, implicit, .. } => {
            let longest = heeded(last, most, implicit).next().unwrap_or(0);
            let is_kept = |mark: &u64| *mark >= rules.minimum;
            let found = all().filter_map(|(sent, common)| {
                let is_found = |mark: &u64| is_kept(mark) && *mark <= common.min(longest);
                heeded(sent, most, implicit).find(is_found)
            });
            let read = found.max().unwrap_or(0);
            let longest = Some(longest).filter(is_kept).unwrap_or(0);
            Some(Used { prompt, read, written: longest.saturating_sub(read) })
        }
        Match::Slot { checkpoints: None } => {
            let found = before.len().checked_sub(1).map_or(0, common);
            Some(Used { prompt, read: found.min(prompt.saturating_sub(1)), written: 0 })
        }
        Match::Units { .. } | Match::Slot { checkpoints: Some(_) } => None,
    }
}

/// How many tokens one of the requests before, with its answer, has in common with the last. Each
/// goes on from another, so that it is the least that is shared on the way from one to the other.
fn common(before: &[SentPrompt<'_>], n: usize, last: &SentPrompt<'_>) -> u64 {
    let whole = |sent: &SentPrompt<'_>| sent.tokens + sent.answer;
    let sent = |at: usize| before.get(at).unwrap_or(last);
    let (mut a, mut b) = (n, before.len());
    let mut least = whole(&before[n]).min(last.tokens);
    while a != b {
        let younger = if a > b { &mut a } else { &mut b };
        let Some(parent) = sent(*younger).parent(*younger) else { return 0 };
        least = least.min(sent(*younger).shared).min(whole(sent(parent)));
        *younger = parent;
    }
    least
}

/// The marks of a request that are heeded, from the last to the first. That of its end is among
/// them if it is marked without being told.
fn heeded<'a>(
    sent: &'a SentPrompt<'a>,
    most: usize,
    implicit: bool,
) -> impl Iterator<Item = u64> + use<'a> {
    let end = Some(sent.tokens).filter(|&end| implicit && end > 0);
    let before = move |upto: u64| {
        let marks = sent.marks.iter().copied();
        marks.filter(|&mark| mark > 0 && mark <= upto).max()
    };
    let last = end.or_else(|| before(sent.tokens));
    std::iter::successors(last, move |&mark| before(mark - 1)).take(most)
}
