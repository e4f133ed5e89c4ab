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
        came: Vec::with_capacity((before.len() + 1) * cuts.len()),
        ends: vec![0; cuts.len()],
        prompt: Prompt::with_capacity(cuts.len()),
    };
    let mut cache = Cache::new(rules.clone());
    for (n, step) in before.iter().enumerate() {
        trail.add(n, step);
        cache.keep(trail.prompt(n, step, step.tokens), step.at);
        if step.answer > 0 {
            cache.answered(trail.prompt(n, step, step.tokens + step.answer));
        }
    }
    last.map(|step| {
        trail.came.truncate(before.len() * cuts.len());
        trail.add(before.len(), step);
        cache.preview(trail.prompt(before.len(), step, step.tokens), step.at)
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
    /// For each request, as many as there are cuts. After its end it has [`NOTHING`].
    came: Vec<u8>,
    /// With which requests the stretches came that end at each cut with a mark or with a
    /// request, as bits.
    ends: Vec<u64>,
    /// The last request that was looked at.
    prompt: Prompt,
}

const NOTHING: u8 = u8::MAX;

impl Trail<'_> {
    /// Adds the nth request. What it shares came with the one that it shares it with, or before
    /// that.
    fn add(&mut self, n: usize, step: &Step) {
        let (start, n_cuts) = (self.came.len(), self.cuts.len());
        let own = u8::try_from(n).unwrap_or(NOTHING - 1);
        let n_own = self.n_upto(step.tokens + step.answer);
        if let Some(after) = step.after.or(n.checked_sub(1)).filter(|&after| after < n) {
            let n_shared = self.n_upto(step.shared).min(n_own);
            let shared = after * n_cuts..after * n_cuts + n_shared;
            self.came.extend_from_within(shared);
            while self.came.len() > start && self.came.last() == Some(&NOTHING) {
                self.came.pop();
            }
        }
        self.came.resize(start + n_own, own);
        self.came.resize(start + n_cuts, NOTHING);
        for &end in step.marks.iter().chain([&step.tokens]) {
            if let Some(at) = self.n_upto(end).checked_sub(1).filter(|&at| self.cuts[at] == end) {
                self.ends[at] |= bit(self.came[start + at]);
            }
        }
    }

    /// How many cuts there are up to a place.
    fn n_upto(&self, place: u64) -> usize {
        self.cuts.iter().filter(|&&cut| cut <= place).count()
    }

    /// The nth request up to a place. Of the places where its blocks end, only those are known
    /// where a mark stands or a request ends.
    fn prompt(&mut self, n: usize, step: &Step, end: u64) -> &Prompt {
        self.prompt.truncate(0);
        let came = &self.came[n * self.cuts.len()..];
        for ((&cut, &from), &ends) in self.cuts.iter().zip(came).zip(&self.ends) {
            if cut > end {
                break;
            }
            let is_end = cut == end || ends & bit(from) != 0;
            let stop = if is_end { Stop::Block } else { Stop::Inside };
            // All before what came with a request came with it or before it, so that the place
            // and the request stand for the whole prefix.
            self.prompt.push_prefix((cut << 8) | u64::from(from), cut, stop);
        }
        for mark in step.marks.iter().filter(|&&mark| mark <= end) {
            if let Ok(at) = self.cuts.binary_search(mark) {
                self.prompt.mark(at + 1);
            }
        }
        &self.prompt
    }
}

fn bit(from: u8) -> u64 {
    1 << from.min(63)
}
