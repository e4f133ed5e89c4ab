//! A few requests of a session that go on from each other, told in figures.

use crate::{Cache, Prompt, Rules, Stop, Used};

/// One of the requests of a session that go on from each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Step {
    /// When it was sent, in seconds.
    pub at: u64,
    /// Which of the requests before it has most in common with it, counted from 0. Nothing: the
    /// one right before.
    pub after: Option<usize>,
    /// How many of its first tokens are those of that request and its answer.
    pub shared: u64,
    /// How many tokens it has.
    pub tokens: u64,
    /// How many tokens the answer to it has, as far as a later one repeats it.
    pub answer: u64,
    /// After how many tokens there are marks.
    pub marks: Vec<u64>,
}

/// What each of these requests would take from a cache that saw the others before it.
///
/// ```
/// use interleaf_cache::{Rules, Step, last_used};
///
/// let first = Step { tokens: 5_000, ..Step::default() };
/// let second = Step { at: 60, shared: 4_000, tokens: 6_000, ..Step::default() };
/// let again = Step { at: 120, after: Some(0), shared: 5_000, tokens: 5_500, ..Step::default() };
/// let rules = Rules::named("openai").unwrap();
/// let [used] = last_used(&rules, &[first.clone()], [&second]);
/// assert_eq!((used.read, used.computed()), (3_968, 2_032));
/// let [used] = last_used(&rules, &[first, second], [&again]);
/// assert_eq!((used.read, used.computed()), (4_992, 508));
/// ```
pub fn last_used<const N: usize>(rules: &Rules, before: &[Step], last: [&Step; N]) -> [Used; N] {
    let cuts = cuts(before.iter().chain(last));
    let mut trail = Trail { steps: before, came: Vec::with_capacity(before.len()), cuts: &cuts };
    for (n, step) in before.iter().enumerate() {
        let came = trail.came(n, step);
        trail.came.push(came);
    }
    let mut cache = Cache::new(rules.clone());
    for (step, came) in before.iter().zip(&trail.came) {
        cache.request(&trail.prompt(step, came, step.tokens), step.at);
        if step.answer > 0 {
            cache.answered(&trail.prompt(step, came, step.tokens + step.answer));
        }
    }
    last.map(|step| {
        let came = trail.came(before.len(), step);
        cache.preview(&trail.prompt(step, &came, step.tokens), step.at)
    })
}

/// Every place where a request, an answer, a mark or something shared ends.
fn cuts<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<u64> {
    let mut cuts = Vec::with_capacity(64);
    for step in steps {
        cuts.extend([step.shared, step.tokens, step.tokens + step.answer]);
        cuts.extend(&step.marks);
    }
    cuts.sort_unstable();
    cuts.dedup();
    if cuts.first() == Some(&0) {
        cuts.remove(0);
    }
    cuts
}

/// Requests, and with which of them each stretch of each of them came.
struct Trail<'a> {
    steps: &'a [Step],
    came: Vec<Vec<u8>>,
    cuts: &'a [u64],
}

impl Trail<'_> {
    /// With which request each stretch of the nth came, up to its end. What it shares came with
    /// the one that it shares it with, or before that.
    fn came(&self, n: usize, step: &Step) -> Vec<u8> {
        let end = step.tokens + step.answer;
        let n_cuts = self.cuts.partition_point(|&cut| cut <= end);
        let own = u8::try_from(n).unwrap_or(u8::MAX);
        let after = step.after.or(n.checked_sub(1)).and_then(|after| self.came.get(after));
        let shared = after.map_or(&[][..], |after| {
            let n_shared = self.cuts.partition_point(|&cut| cut <= step.shared);
            &after[..n_shared.min(after.len()).min(n_cuts)]
        });
        let mut came = Vec::with_capacity(n_cuts);
        came.extend_from_slice(shared);
        came.resize(n_cuts, own);
        came
    }

    /// A request up to a place. Of the places where its blocks end, only those are known where a
    /// mark stands or a request ends.
    fn prompt(&self, step: &Step, came: &[u8], end: u64) -> Prompt {
        let mut prompt = Prompt::with_capacity(came.len());
        let mut start = 0;
        for (i, (&cut, &from)) in self.cuts.iter().zip(came).enumerate() {
            if cut > end {
                break;
            }
            let is_marked = step.marks.contains(&cut);
            let was_marked = || {
                let mut others = self.steps.iter().zip(&self.came);
                others.any(|(other, came)| {
                    let is_it = other.tokens == cut || other.marks.contains(&cut);
                    is_it && came.get(i) == Some(&from)
                })
            };
            let ends = cut == end || is_marked || was_marked();
            let stop = if ends { Stop::Block } else { Stop::Inside };
            let tokens = u32::try_from(cut - start).unwrap_or(u32::MAX);
            // Equal cuts have equal lengths, so that the start and the request tell them apart.
            prompt.push((start << 8) | u64::from(from), tokens, stop);
            if is_marked {
                prompt.mark(prompt.len());
            }
            start = cut;
        }
        prompt
    }
}
