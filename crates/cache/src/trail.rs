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

/// What each of these requests would take from a cache that saw the others before it.
///
/// ```
/// use interleaf_cache::{Rules, Step, last_used};
///
/// let first = Step { tokens: 5_000, ..Step::default() };
/// let second = Step { at: 60, shared: 4_000, tokens: 6_000, ..Step::default() };
/// let [used] = last_used(&Rules::named("openai").unwrap(), &[first], [&second]);
/// assert_eq!((used.read, used.computed()), (3_968, 2_032));
/// ```
pub fn last_used<const N: usize>(rules: &Rules, before: &[Step], last: [&Step; N]) -> [Used; N] {
    let cuts = cuts(before.iter().chain(last));
    let mut cache = Cache::new(rules.clone());
    for (n, step) in before.iter().enumerate() {
        let (earlier, step) = (&before[..n], step);
        cache.request(&prompt(&cuts, (earlier, step), step.tokens, &step.marks), step.at);
        if step.answer > 0 {
            cache.answered(&prompt(&cuts, (earlier, step), step.tokens + step.answer, &[]));
        }
    }
    last.map(|step| {
        cache.preview(&prompt(&cuts, (before, step), step.tokens, &step.marks), step.at)
    })
}

/// Every place where a request, an answer, a mark or something shared ends.
fn cuts<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<u64> {
    let mut cuts = Vec::with_capacity(32);
    for step in steps {
        cuts.extend([step.shared, step.tokens, step.tokens + step.answer]);
        cuts.extend(&step.marks);
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// A request up to a place, after those before it. What stands between two cuts came with the
/// last request that does not share it.
fn prompt(cuts: &[u64], (before, step): (&[Step], &Step), end: u64, marks: &[u64]) -> Prompt {
    let mut prompt = Prompt::with_capacity(cuts.len());
    let mut start = 0;
    for &cut in cuts.iter().filter(|&&cut| cut > 0 && cut <= end) {
        let came = match step.shared <= start {
            true => before.len(),
            false => before.iter().rposition(|step| step.shared <= start).unwrap_or(0),
        };
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
