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
    let mut trail = Trail {
        cuts: &cuts,
        came: Vec::with_capacity(before.len() + N),
        ends: vec![0; cuts.len()],
        prompt: Prompt::with_capacity(cuts.len()),
    };
    let mut cache = Cache::new(rules.clone());
    for (n, step) in before.iter().enumerate() {
        trail.add(n, step);
        cache.request(trail.prompt(n, step, step.tokens), step.at);
        if step.answer > 0 {
            cache.answered(trail.prompt(n, step, step.tokens + step.answer));
        }
    }
    last.map(|step| {
        trail.add(before.len(), step);
        let used = cache.preview(trail.prompt(before.len(), step, step.tokens), step.at);
        trail.came.truncate(before.len());
        used
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
    cuts: &'a [u64],
    came: Vec<Vec<u8>>,
    /// Which of the requests have a mark or end at each cut, as bits.
    ends: Vec<u64>,
    /// The last request that was looked at.
    prompt: Prompt,
}

impl Trail<'_> {
    /// Adds the nth request. What it shares came with the one that it shares it with, or before
    /// that.
    fn add(&mut self, n: usize, step: &Step) {
        let n_cuts = self.cuts.partition_point(|&cut| cut <= step.tokens + step.answer);
        let own = u8::try_from(n).unwrap_or(u8::MAX);
        let after = step.after.or(n.checked_sub(1)).and_then(|after| self.came.get(after));
        let shared = after.map_or(&[][..], |after| {
            let n_shared = self.cuts.partition_point(|&cut| cut <= step.shared);
            &after[..n_shared.min(after.len()).min(n_cuts)]
        });
        let mut came = Vec::with_capacity(n_cuts);
        came.extend_from_slice(shared);
        came.resize(n_cuts, own);
        self.came.push(came);
        for end in step.marks.iter().chain([&step.tokens]) {
            if let Ok(at) = self.cuts.binary_search(end) {
                self.ends[at] |= 1 << n.min(63);
            }
        }
    }

    /// The nth request up to a place. Of the places where its blocks end, only those are known
    /// where a mark stands or a request ends.
    fn prompt(&mut self, n: usize, step: &Step, end: u64) -> &Prompt {
        self.prompt.truncate(0);
        let mut start = 0;
        for (i, (&cut, &from)) in self.cuts.iter().zip(&self.came[n]).enumerate() {
            if cut > end {
                break;
            }
            let is_end = |(n, came): (usize, &Vec<u8>)| {
                self.ends[i] & (1 << n.min(63)) != 0 && came.get(i) == Some(&from)
            };
            let ends = cut == end || self.ends[i] != 0 && self.came.iter().enumerate().any(is_end);
            let stop = if ends { Stop::Block } else { Stop::Inside };
            let tokens = u32::try_from(cut - start).unwrap_or(u32::MAX);
            // Equal cuts have equal lengths, so that the start and the request tell them apart.
            self.prompt.push((start << 8) | u64::from(from), tokens, stop);
            if step.marks.contains(&cut) {
                self.prompt.mark(self.prompt.len());
            }
            start = cut;
        }
        &self.prompt
    }
}
