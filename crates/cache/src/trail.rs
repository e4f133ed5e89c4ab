//! A few requests of a session that go on from each other, told in figures.

mod reckoned;

use crate::{Cache, Match, Prompt, Rules, Stop, Used};

/// One of the requests of a session that go on from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SentPrompt<'a> {
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
    pub marks: &'a [u64],
}

impl SentPrompt<'_> {
    /// The last place up to which a cache that goes by marks would keep it. None: the cache goes
    /// by something else, or there is no mark.
    pub fn last_mark(&self, rules: &Rules) -> Option<u64> {
        match rules.matches {
            Match::Marks { implicit: true, .. } => Some(self.tokens),
            Match::Marks { implicit: false, .. } => self.marks.iter().copied().max(),
            Match::Prefix { .. } | Match::Units { .. } | Match::Slot { .. } => None,
        }
    }

    /// Which of the requests before it the nth goes on from.
    fn parent(&self, n: usize) -> Option<usize> {
        self.after.or(n.checked_sub(1)).filter(|&after| after < n)
    }
}

/// What each of these requests would take from a cache that saw the others before it.
///
/// ```
/// use interleaf_cache::{Rules, SentPrompt, last_used};
///
/// let first = SentPrompt { tokens: 5_000, ..SentPrompt::default() };
/// let second = SentPrompt { at: 60, shared: 4_000, tokens: 6_000, ..SentPrompt::default() };
/// let again = SentPrompt { at: 120, after: Some(0), shared: 5_000, tokens: 5_500, ..SentPrompt::default() };
/// let rules = Rules::named("openai").unwrap();
/// let [used] = last_used(&rules, &[first], [&second]);
/// assert_eq!((used.read, used.computed()), (3_968, 2_032));
/// let [used] = last_used(&rules, &[first, second], [&again]);
/// assert_eq!((used.read, used.computed()), (4_992, 508));
/// ```
pub fn last_used<const N: usize>(
    rules: &Rules,
    before: &[SentPrompt<'_>],
    last: [&SentPrompt<'_>; N],
) -> [Used; N] {
    let lifetime = lifetime(rules, before.iter().chain(last));
    if lifetime.is_none()
        && let reckoned = last.map(|sent| reckoned::used(rules, before, sent))
        && reckoned.iter().all(Option::is_some)
    {
        return reckoned.map(Option::unwrap_or_default);
    }
    let cuts = cuts(rules.matches, before, &last);
    let mut trail = Trail {
        cuts: &cuts,
        came: Vec::with_capacity((before.len() + 1) * cuts.len()),
        prompt: Prompt::with_capacity(cuts.len()),
    };
    let matches = matches(rules);
    let mut cache = Cache::new(Rules { lifetime, matches, ..rules.clone() });
    for (n, sent) in before.iter().enumerate() {
        trail.add(n, sent);
        cache.keep(trail.prompt(n, sent, sent.tokens), sent.at);
        if sent.answer > 0 {
            cache.answered(trail.prompt(n, sent, sent.tokens + sent.answer));
        }
    }
    last.map(|sent| {
        trail.came.truncate(before.len() * cuts.len());
        trail.add(before.len(), sent);
        cache.preview(trail.prompt(before.len(), sent, sent.tokens), sent.at)
    })
}

/// How prompts are matched that are told in figures: how many content blocks stand between two
/// places is not told.
fn matches(rules: &Rules) -> Match {
    match rules.matches {
        Match::Marks { most, implicit, .. } => {
            Match::Marks { lookback: usize::MAX, most, implicit }
        }
        other => other,
    }
}

/// How long a prefix is kept, if the requests are so far apart that one may be gone. If not,
/// nobody needs to know when a prefix was last used.
fn lifetime<'a>(rules: &Rules, all: impl Iterator<Item = &'a SentPrompt<'a>>) -> Option<u64> {
    let (first, last) =
        all.fold((u64::MAX, 0), |(first, last), sent| (first.min(sent.at), last.max(sent.at)));
    rules.lifetime.filter(|&lifetime| last.saturating_sub(first) > lifetime)
}

/// Every place where a request, an answer, a mark or something shared ends. What is found from
/// marks is written at marks, so that of the requests before the others do not matter there.
fn cuts(matches: Match, before: &[SentPrompt<'_>], last: &[&SentPrompt<'_>]) -> Vec<u64> {
    let (at_ends, anywhere) = match matches {
        Match::Marks { implicit, .. } => (implicit, false),
        Match::Prefix { .. } | Match::Units { .. } | Match::Slot { .. } => (true, true),
    };
    let mut cuts = Vec::with_capacity(64);
    cuts.extend(last.iter().map(|sent| sent.tokens));
    for sent in before.iter().chain(last.iter().copied()) {
        cuts.extend(sent.marks);
        if at_ends {
            cuts.push(sent.tokens);
        }
        if anywhere {
            cuts.extend([sent.shared, sent.tokens + sent.answer]);
        }
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
    /// The last request that was looked at.
    prompt: Prompt,
}

const NOTHING: u8 = u8::MAX;

impl Trail<'_> {
    /// Adds the nth request. What it shares came with the one that it shares it with, or before
    /// that.
    fn add(&mut self, n: usize, sent: &SentPrompt<'_>) {
        let (start, n_cuts) = (self.came.len(), self.cuts.len());
        let own = u8::try_from(n).unwrap_or(NOTHING - 1);
        let n_own = self.n_upto(sent.tokens + sent.answer);
        if let Some(after) = sent.parent(n) {
            let n_shared = self.n_upto(sent.shared).min(n_own);
            let shared = after * n_cuts..after * n_cuts + n_shared;
            self.came.extend_from_within(shared);
            while self.came.len() > start && self.came.last() == Some(&NOTHING) {
                self.came.pop();
            }
        }
        self.came.resize(start + n_own, own);
        self.came.resize(start + n_cuts, NOTHING);
    }

    /// How many cuts there are up to a place.
    fn n_upto(&self, place: u64) -> usize {
        self.cuts.partition_point(|&cut| cut <= place)
    }

    /// The nth request up to a place. What it has in common with the one that was looked at last
    /// is there already.
    fn prompt(&mut self, n: usize, sent: &SentPrompt<'_>, end: u64) -> &Prompt {
        let came = &self.came[n * self.cuts.len()..][..self.n_upto(end)];
        let made = self.prompt.links().iter().zip(came);
        let n_made = made.take_while(|(link, from)| came_with(link.key) == **from).count();
        self.prompt.clear_marks();
        self.prompt.truncate(n_made);
        for (&cut, &from) in self.cuts.iter().zip(came).skip(n_made) {
            self.prompt.push_prefix(key(cut, from), cut, Stop::Block);
        }
        for mark in sent.marks.iter().filter(|&&mark| mark <= end) {
            if let Ok(at) = self.cuts.binary_search(mark) {
                self.prompt.mark(at + 1);
            }
        }
        &self.prompt
    }
}

/// All before what came with a request came with it or before it, so that the place and the
/// request stand for the whole prefix.
fn key(cut: u64, from: u8) -> u64 {
    (cut << 8) | u64::from(from)
}

fn came_with(key: u64) -> u8 {
    key.to_le_bytes()[0]
}
