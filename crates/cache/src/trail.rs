//! A few requests of a session that go on from each other, told in figures.

use crate::{Cache, Prompt, Rules, Stop, Used};

/// One of the requests of a session that go on from each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Step {
    /// When it was sent, in seconds.
    pub at: u64,
    /// How many of its first tokens are those of the request before and its answer.
    pub shared: u64,
    /// How many tokens it has.
    pub tokens: u64,
    /// How many tokens the answer to it has, as far as the next one repeats it.
    pub answer: u64,
    /// After how many tokens there are marks.
    pub marks: Vec<u64>,
}

/// What the last of these requests takes from a cache that saw the others before it.
///
/// ```
/// use interleaf_cache::{Rules, Step, last_used};
///
/// let first = Step { tokens: 5_000, ..Step::default() };
/// let second = Step { at: 60, shared: 4_000, tokens: 6_000, ..Step::default() };
/// let used = last_used(&Rules::named("openai").unwrap(), &[first, second]);
/// assert_eq!((used.read, used.computed()), (3_968, 2_032));
/// ```
pub fn last_used(rules: &Rules, steps: &[Step]) -> Used {
    let cuts = cuts(steps);
    let mut cache = Cache::new(rules.clone());
    let mut used = Used::default();
    for (n, step) in steps.iter().enumerate() {
        let upto = |end: u64, marks: &[u64]| prompt(&cuts, &steps[..=n], end, marks);
        used = cache.request(&upto(step.tokens, &step.marks), step.at);
        if step.answer > 0 && n + 1 < steps.len() {
            cache.answered(&upto(step.tokens + step.answer, &[]));
        }
    }
    used
}

/// Every place where a request, an answer, a mark or something shared ends.
fn cuts(steps: &[Step]) -> Vec<u64> {
    let ends = |step: &Step| [step.shared, step.tokens, step.tokens + step.answer];
    let mut cuts: Vec<u64> = steps.iter().flat_map(ends).collect();
    cuts.extend(steps.iter().flat_map(|step| &step.marks));
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The last of these requests up to a place. What stands between two cuts came with the
/// last request that does not share it.
fn prompt(cuts: &[u64], steps: &[Step], end: u64, marks: &[u64]) -> Prompt {
    let mut prompt = Prompt::new();
    let mut start = 0;
    for &cut in cuts.iter().filter(|&&cut| cut > 0 && cut <= end) {
        let came = steps.iter().rposition(|step| step.shared <= start).unwrap_or(0);
        let tokens = u32::try_from(cut - start).unwrap_or(u32::MAX);
        // Equal cuts have equal lengths, so that the start and the request tell them apart.
        prompt.push((start << 8) | came as u64, tokens, Stop::Block);
        if marks.contains(&cut) {
            prompt.mark(prompt.len());
        }
        start = cut;
    }
    prompt
}
