//! What an API reports of its cache, against what was to be expected.

use interleaf_cache::{Match, Rules, SentPrompt, Used};
use interleaf_model::Usage;
use serde::{Deserialize, Serialize};

use super::{BreakCause, Cost, Impact, Reported};

/// Our count of tokens and the API's may be this many percent apart.
const PERCENT: u64 = 2;

/// The same, where nothing was counted: some texts have many more tokens to the byte.
const PERCENT_BY_BYTES: u64 = 12;

/// And this many tokens, as the frame of a short body is no text.
const LEAST_BY_BYTES: u64 = 64;

/// What an API reports of its cache, against what was to be expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// As much was read as expected.
    AsPredicted,
    /// As much was read as expected, and no more could be: the request itself had broken the
    /// prefix, and costs more for it.
    OurMiss,
    /// Less was read than expected: the cache had expired, was evicted, or is another.
    TheirMiss,
    /// More was read than expected.
    More,
    /// As much was read as expected, and less was written: by the API's own count the prefix may
    /// be shorter than what the cache keeps.
    LessWritten,
    /// As much was read as expected, and more was written.
    MoreWritten,
}

impl Impact {
    /// The tokens that should have been read by the API's own count of the prompt. Where it
    /// has counted the same beginning before, they are exact.
    pub fn predicted(&self, usage: Usage) -> Option<u64> {
        let Cost { read, step, minimum, .. } = *self.cost.as_ref()?;
        let step = step.max(1);
        // Where it ends before it is brought to a step: the API's steps are of its own count.
        let end = self.ends().find(|end| end - end % step == read);
        let tokens = self.by_their_count(end.unwrap_or(read), usage)?;
        // What is at a step by our count is at the nearest one by the API's.
        let most = end.map_or(step / 2, |_| 0);
        let tokens = tokens.saturating_add(most) / step * step;
        // A place that the API has not counted is known to a hundredth: nearer to the least that is
        // kept, nobody can tell.
        let is_too_short = tokens.saturating_add(tokens / 100) < minimum;
        Some(if is_too_short { 0 } else { tokens })
    }

    /// The API's count of what is before a place, given ours.
    fn by_their_count(&self, at: u64, usage: Usage) -> Option<u64> {
        let known =
            self.reported.map(|told| [told.mark, told.prompt, Some((told.counted, told.tokens))]);
        let known = known.into_iter().flatten().flatten();
        // What lies between two places of which both counts are known is taken to be even.
        let (mut from, mut upto) = ((0, 0), (0, 0));
        for place in known.chain([(self.tokens, usage.prompt)]) {
            if at > upto.0 || upto.0 == 0 {
                (from, upto) = (upto, place);
            }
        }
        let past = at.saturating_sub(from.0);
        let part = u128::from(past) * u128::from(upto.1.saturating_sub(from.1));
        let of = u128::from(upto.0.saturating_sub(from.0).max(1));
        let part = (part + of / 2) / of;
        Some(from.1.saturating_add(u64::try_from(part).ok()?))
    }

    /// Up to where the API should keep it by its own count, if it tells what it writes.
    fn predicted_kept(&self, usage: Usage) -> Option<u64> {
        let cost = self.cost.as_ref()?;
        Rules::named(&cost.rules).filter(tells_writes)?;
        self.by_their_count(cost.read.saturating_add(cost.written), usage)
    }

    /// The same in the API's own count of the prompt, as far as that is known.
    #[must_use]
    pub fn by(mut self, usage: Usage) -> Self {
        let predicted = self.predicted(usage);
        let rate = usage.prompt as f64 / self.tokens.max(1) as f64;
        let scaled = |tokens: u64| (tokens as f64 * rate).round() as u64;
        if let (Some(cost), Some(read)) = (&mut self.cost, predicted) {
            let read = read.min(usage.prompt);
            let used = Used {
                prompt: usage.prompt,
                read,
                written: scaled(cost.written).min(usage.prompt - read),
            };
            let price = Rules::named(&cost.rules).map(|rules| rules.prices.cost(used));
            cost.price = price.unwrap_or(cost.price * rate);
            cost.unbroken *= rate;
            (cost.read, cost.written, cost.computed) = (read, used.written, used.computed());
        }
        if let Some(place) = &mut self.place {
            place.token = scaled(place.token);
        }
        (self.tokens, self.by_bytes) = (usage.prompt, false);
        self
    }

    /// Where what it has in common with the request before may end, by our count.
    fn ends(&self) -> impl Iterator<Item = u64> {
        let place = self.place.as_ref().map(|place| place.token);
        let told = self.reported.filter(|_| self.cause == BreakCause::Appended);
        let told = told.map(|told| [Some(told.counted), told.prompt.map(|(counted, _)| counted)]);
        place.into_iter().chain(told.into_iter().flatten().flatten())
    }

    /// What an API reports, against what was expected; nothing, if nothing was, or the API
    /// tells no figures. A difference within a step of the cache, or within what our count
    /// and the API's may be apart, is none.
    pub fn verdict(&self, usage: Usage) -> Option<Verdict> {
        let predicted = self.predicted(usage)?;
        let step = self.cost.as_ref().map_or(1, |cost| cost.step);
        // What the API has counted itself is not told by the bytes.
        let apart = match self.by_bytes && self.reported.is_none() {
            true => LEAST_BY_BYTES.max(percent(usage.prompt, PERCENT_BY_BYTES)),
            false => percent(usage.prompt, PERCENT),
        };
        let tolerance = step.max(apart);
        // Where the request goes on from an earlier one that the cache has, nothing was missed.
        let is_dearer = self.cost.as_ref().is_some_and(|cost| cost.price > cost.unbroken);
        if usage.prompt == 0 {
            return None;
        }
        let kept = usage.cache_read.saturating_add(usage.cache_write);
        let to_be_kept = self.predicted_kept(usage).unwrap_or(kept);
        Some(match usage.cache_read {
            read if read.saturating_add(tolerance) < predicted => Verdict::TheirMiss,
            read if read > predicted.saturating_add(tolerance) => Verdict::More,
            _ if self.cause.breaks() && is_dearer => Verdict::OurMiss,
            _ if kept.saturating_add(tolerance) < to_be_kept => Verdict::LessWritten,
            _ if kept > to_be_kept.saturating_add(tolerance) => Verdict::MoreWritten,
            _ => Verdict::AsPredicted,
        })
    }
}

/// Whether an API with such a cache tells how much it writes: where marks are set, that is paid for.
pub(super) fn tells_writes(rules: &Rules) -> bool {
    matches!(rules.matches, Match::Marks { implicit: false, .. })
}

/// Places of the request before that this one has too and that the API tells the tokens of, in our
/// count.
pub(super) struct Known {
    /// What the two have in common, with the answer.
    shared: u64,
    /// Where the request before ends.
    end: Option<u64>,
    /// Its last mark.
    mark: Option<u64>,
}

impl Known {
    pub(super) fn of(
        rules: &Rules,
        before: Option<&SentPrompt<'_>>,
        this: &SentPrompt<'_>,
    ) -> Self {
        let is_shared = |place: &u64| *place <= this.shared;
        let mark =
            before.filter(|_| tells_writes(rules)).and_then(|before| before.last_mark(rules));
        let end = before.map(|before| before.tokens);
        Self { shared: this.shared, end: end.filter(is_shared), mark: mark.filter(is_shared) }
    }

    /// With what the API told of the request before, if all of that or its mark is there.
    pub(super) fn told(
        self,
        usage: Usage,
        is_appended: bool,
        has_answer: bool,
    ) -> Option<Reported> {
        // Whatever of it was read, it is there up to its last mark.
        let marked = usage.cache_read.saturating_add(usage.cache_write);
        let mark = self.mark.filter(|_| marked > 0 && marked <= usage.prompt);
        let mark = mark.map(|counted| (counted, marked));
        if !is_appended {
            let (counted, tokens) = mark?;
            return Some(Reported { counted, tokens, prompt: None, mark: None });
        }
        // Nothing was computed with the last token that the model made.
        let answer = if has_answer { usage.completion.saturating_sub(1) } else { 0 };
        let tokens = usage.prompt.saturating_add(answer);
        let prompt = self.end.map(|counted| (counted, usage.prompt));
        Some(Reported { counted: self.shared, tokens, prompt, mark })
    }
}

/// A part of a number, whatever an API tells.
fn percent(n: u64, percent: u64) -> u64 {
    n.saturating_mul(percent) / 100
}
