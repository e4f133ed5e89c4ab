//! The rules once more, in the simplest way: over lists of tokens, all of which are kept.

use interleaf_cache::{Checkpoints, Match, Rules, Used};

/// A request of single tokens. The marks are places, each after a token.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) tokens: Vec<u8>,
    pub(crate) answer: Vec<u8>,
    pub(crate) marks: Vec<usize>,
    /// After how many tokens a content block ends.
    pub(crate) block: usize,
}

impl Asked {
    pub(crate) fn whole(&self) -> Vec<u8> {
        [&self.tokens[..], &self.answer].concat()
    }

    pub(crate) fn ends_block(&self, n: usize) -> bool {
        n == self.tokens.len() || n.is_multiple_of(self.block)
    }
}

/// What each request of a session takes.
pub(crate) fn used(rules: &Rules, session: &[Asked]) -> Vec<Used> {
    let used = |n: usize| used_by(rules, &session[..n], &session[n]);
    (0..session.len()).map(used).collect()
}

fn used_by(rules: &Rules, before: &[Asked], asked: &Asked) -> Used {
    let prompt = asked.tokens.len();
    let minimum = rules.minimum as usize;
    let (read, written) = match rules.matches {
        Match::Prefix { step, answers, computes_last } => {
            let sequence = |old: &Asked| if answers { old.whole() } else { old.tokens.clone() };
            let best = before.iter().map(|old| common(&asked.tokens, &sequence(old))).max();
            let best = best.filter(|&best| best >= minimum).unwrap_or(0);
            let most = if computes_last { prompt.saturating_sub(1) } else { prompt };
            (best.min(most) / step as usize * step as usize, 0)
        }
        Match::Marks { lookback, most, implicit } => {
            let mut written: Vec<&[u8]> = Vec::new();
            for old in before {
                let marks = heeded(old, most, implicit);
                let long = marks.into_iter().filter(|&mark| mark >= minimum);
                written.extend(long.map(|mark| &old.tokens[..mark]));
            }
            let marks = heeded(asked, most, implicit);
            let mut read = 0;
            for &mark in &marks {
                let ends = (1..=mark).rev().filter(|&n| asked.ends_block(n));
                let mut ends = ends.take(lookback);
                let found = ends.find(|&n| written.contains(&&asked.tokens[..n]));
                read = read.max(found.unwrap_or(0));
            }
            let longest = marks.into_iter().filter(|&mark| mark >= minimum).max().unwrap_or(0);
            (read, longest.saturating_sub(read))
        }
        Match::Units { least } => {
            let mut sequences: Vec<Vec<u8>> = Vec::new();
            let mut units: Vec<Vec<u8>> = Vec::new();
            for sequence in before.iter().flat_map(|old| [old.tokens.clone(), old.whole()]) {
                for other in &sequences {
                    let n = common(&sequence, other);
                    units.extend((n >= least as usize).then(|| sequence[..n].to_vec()));
                }
                units.push(sequence.clone());
                sequences.push(sequence);
            }
            let found = units.iter().filter(|unit| asked.tokens.starts_with(unit));
            (found.map(Vec::len).max().unwrap_or(0), 0)
        }
        Match::Slot { checkpoints: None } => {
            let last = before.last().map(Asked::whole).unwrap_or_default();
            (common(&asked.tokens, &last).min(prompt.saturating_sub(1)), 0)
        }
        Match::Slot { checkpoints: Some(checkpoints) } => {
            (from_checkpoint(checkpoints, before, asked), 0)
        }
        _ => unreachable!("every rule is read here"),
    };
    Used { prompt: prompt as u64, read: read as u64, written: written as u64 }
}

/// What the last request reads if the state goes back to checkpoints only.
fn from_checkpoint(checkpoints: Checkpoints, before: &[Asked], asked: &Asked) -> usize {
    let (mut last, mut places, mut read) = (Vec::new(), Vec::<usize>::new(), 0);
    for request in before.iter().chain([asked]) {
        let prompt = request.tokens.len();
        let same = common(&request.tokens, &last).min(prompt.saturating_sub(1));
        read = match same < last.len() {
            true => places.iter().copied().filter(|&place| place <= same).max().unwrap_or(0),
            false => same,
        };
        places.retain(|&place| place <= read);
        let new = checkpoints.before_end.iter().map(|&back| prompt.saturating_sub(back as usize));
        places.extend(new.filter(|&place| place > read));
        places = places.split_off(places.len().saturating_sub(checkpoints.most));
        last = request.whole();
    }
    read
}

fn heeded(asked: &Asked, most: usize, implicit: bool) -> Vec<usize> {
    let mut marks = asked.marks.clone();
    if implicit {
        marks.push(asked.tokens.len());
    }
    marks.sort_unstable();
    marks.dedup();
    marks.retain(|&mark| mark > 0);
    marks.split_off(marks.len().saturating_sub(most))
}

fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}
