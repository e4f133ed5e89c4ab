//! What a vendor's cache may hold of an agent's requests.
//!
//! Each request goes on from the earlier one that it has most in common with, which is not
//! always the one right before: a model may be asked again after another, and a text may come
//! back. So they form a tree, from which it follows what any two of them share.

use std::sync::Arc;

use interleaf_assemble::Rate;
use interleaf_cache::{Rules, SentPrompt};
use interleaf_model::Usage;
use interleaf_store::SessionId;
use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};

use super::bodies::Move;
use super::verdict::tells_writes;
use super::{Before, Now};

/// This many requests are remembered, the one that they are kept with among them, and those that
/// are [`APART`] besides.
const MOST: usize = 6;

/// The last request that each of this many other caches saw is remembered, however long ago that
/// was.
const APART: usize = 4;

/// As many of the newest are remembered in any case: marks and units are looked for where they
/// end.
const NEWEST: usize = 4;

/// A request as the cache may hold it. Places are bytes from the beginning of the list of
/// turns, marks for the cache not counted; the head has negative ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Stage {
    /// When it was sent, in seconds.
    pub(super) at: u64,
    /// Which of the others it goes on from; nothing: the one right before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<usize>,
    /// Up to here it is that request.
    pub(super) shared: i64,
    /// Here it ends.
    pub(super) end: i64,
    /// The answer that followed it, as far as a later request repeats it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(super) answer: i64,
    /// The marks after which it is written to the cache.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(super) marks: Arc<[i64]>,
    /// Places of it before which the tokens were counted, ascending, with their number.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(super) counted: Arc<[(i64, u64)]>,
    /// At which rate they were counted: an estimate learns.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(super) rate: Rate,
    /// Which request it is, unless it is the one that it is kept with, or all of it stands in a
    /// later one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<Kept>,
    /// Whose cache saw it, if that is not the one that saw the request that it is kept with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cache: Option<SmolStr>,
}

/// A request whose bytes are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(flatten)]
    pub(super) sent: RequestRef,
    /// The bytes of its list of turns.
    pub(super) list: (u64, u64),
    /// Whether the model thought before it answered: what it thought is seldom sent back.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(super) thought: bool,
}

/// Which request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct RequestRef {
    /// The session that it is of, if that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<SessionId>,
    pub(crate) number: u64,
}

fn is_empty<T>(list: &[T]) -> bool {
    list.is_empty()
}

pub(super) fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The requests that a cache may hold, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Stages(Vec<Stage>);

impl Stages {
    /// Those that a request finds, which comes after another.
    pub(super) fn found_by(now: &Now<'_>, before: &Before) -> Self {
        let mut stages = before.trace.stages.clone();
        let (vendor, model) = (&now.target.vendor.name, &now.target.options.model);
        let is_other = before.vendor != vendor.as_str() || before.model != model.as_str();
        if let Some(last) = stages.0.last_mut() {
            let rules = || match is_other {
                true => Rules::of_model(&before.vendor, &before.model),
                false => now.target.rules(),
            };
            let has_nothing =
                |usage: Usage| usage.prompt > 0 && usage.cache_read == 0 && usage.cache_write == 0;
            // The API itself says that it kept nothing.
            if !last.marks.is_empty()
                && before.usage.is_some_and(has_nothing)
                && rules().as_ref().is_some_and(tells_writes)
            {
                last.marks = Arc::default();
            }
            let sent = RequestRef { session: None, number: before.number };
            let list = (before.trace.list.start, before.trace.list.end);
            let thought = before.usage.is_some_and(|usage| usage.reasoning > 0);
            last.request = Some(Kept { sent, list, thought });
        }
        for kept in stages.0.iter_mut().filter_map(|stage| stage.request.as_mut()) {
            kept.sent.session = kept.sent.session.or(before.session);
        }
        if is_other {
            let its = format_smolstr!("{}\n{}", before.vendor, before.model);
            let ours = format_smolstr!("{vendor}\n{model}");
            for stage in &mut stages.0 {
                let cache = stage.cache.take().unwrap_or_else(|| its.clone());
                stage.cache = Some(cache).filter(|cache| *cache != ours);
            }
        }
        let mut apart = stages.apart();
        while stages.0.len() - apart.len() >= MOST {
            stages.remove(stages.least_needed(&apart));
            apart = stages.apart();
        }
        stages
    }

    /// Adds the request that they are kept with.
    pub(super) fn push(&mut self, after: Option<usize>, stage: Stage) {
        let n = self.0.len();
        self.0.push(stage);
        self.set_parent(n, after);
        if let Some(parent) = after.filter(|&parent| self.0[n].shared >= self.0[parent].end) {
            self.0[parent].request = None;
        }
    }

    /// Tells where the mark at the head of a request, and of those with the same head, stands in
    /// the head of the next one, which may be another.
    pub(super) fn move_head_mark(&mut self, of: usize, to: i64) {
        let with: Vec<usize> =
            self.seen().filter(|&n| n == of || self.common(n, of) >= 0).collect();
        for n in with {
            let is_moved = |mark: &&i64| **mark <= 0 && **mark != to;
            if self.0[n].marks.iter().any(|mark| is_moved(&mark)) {
                let marks = self.0[n].marks.iter();
                self.0[n].marks =
                    marks.map(|mark| if is_moved(&mark) { to } else { *mark }).collect();
            }
        }
    }

    /// Tells the places of those that the cache of this request saw as they are in it, given what
    /// moved since the newest of them.
    pub(super) fn shift(&mut self, moves: &[Move]) {
        if moves.is_empty() {
            return;
        }
        let moved = |place: i64| {
            let n = moves.partition_point(|it| it.after < place);
            place + n.checked_sub(1).map_or(0, |last| moves[last].by)
        };
        for stage in self.0.iter_mut().filter(|stage| stage.cache.is_none()) {
            (stage.shared, stage.end) = (moved(stage.shared), moved(stage.end));
            stage.marks = stage.marks.iter().map(|&mark| moved(mark)).collect();
            let counted = stage.counted.iter().map(|&(place, tokens)| (moved(place), tokens));
            stage.counted = counted.collect();
        }
    }

    pub(super) fn get(&self, index: usize) -> &Stage {
        &self.0[index]
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut Stage {
        &mut self.0[index]
    }

    /// Those that the cache of this request saw, the newest first.
    pub(super) fn seen(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).rev().filter(|&n| self.0[n].cache.is_none())
    }

    /// The index of the last one.
    pub(super) fn newest(&self) -> Option<usize> {
        self.0.len().checked_sub(1)
    }

    /// The last one.
    pub(super) fn last(&self) -> Option<&Stage> {
        self.0.last()
    }

    /// The requests whose bytes may be asked for.
    pub(super) fn requests(&self) -> impl Iterator<Item = RequestRef> {
        self.0.iter().filter_map(|stage| stage.request.as_ref()).map(|kept| kept.sent)
    }

    /// Up to where two of them are the same; where they part in the head, a negative place.
    pub(super) fn common(&self, mut a: usize, mut b: usize) -> i64 {
        let mut least = i64::MAX;
        while a != b {
            let younger = if a > b { &mut a } else { &mut b };
            least = least.min(self.0[*younger].shared);
            let Some(parent) = self.parent(*younger) else { return i64::MIN };
            *younger = parent;
        }
        least
    }

    /// Adds the places up to one before which the tokens were counted and that the last request
    /// shares, at that request's rate.
    pub(super) fn counted(&self, upto: i64, places: &mut Vec<(i64, u64)>) {
        let this = self.0.len() - 1;
        let rate = self.0[this].rate;
        for n in self.seen().filter(|&n| n != this) {
            let stage = &self.0[n];
            let upto = self.common(n, this).min(upto);
            let shared = stage.counted.iter().filter(|(place, _)| *place <= upto);
            places.extend(shared.map(|&(place, n)| (place, stage.rate.convert(n, rate))));
        }
    }

    /// The places of all marks, in tokens.
    pub(super) fn marks(&self, tokens: impl Fn(i64) -> u64) -> Vec<u64> {
        self.0.iter().flat_map(|stage| stage.marks.iter()).map(|&mark| tokens(mark)).collect()
    }

    /// Those that the cache of the last one saw, in tokens, given the places of all marks.
    pub(super) fn sent_prompts<'m>(
        &self,
        tokens: impl Fn(i64) -> u64,
        mut marks: &'m [u64],
    ) -> Vec<SentPrompt<'m>> {
        let all = marks;
        let mut sent_prompts = Vec::with_capacity(self.0.len());
        // The cache of the last one did not see this.
        const UNSEEN: usize = usize::MAX;
        let mut indices = vec![UNSEEN; self.0.len()];
        for (n, stage) in self.0.iter().enumerate() {
            let own = marks.split_off(..stage.marks.len()).unwrap_or_default();
            if stage.cache.is_some() {
                continue;
            }
            let after = self.parent(n).map(|parent| indices[parent]).filter(|&at| at != UNSEEN);
            let end = tokens(stage.end);
            let shared = tokens(stage.shared);
            // What ends right before a mark may have as many tokens, but does not reach it. Marks of
            // requests that part from it before that say nothing of the place.
            let marked = self.0.iter().enumerate();
            let mut places = marked
                .flat_map(|(m, stage)| stage.marks.iter().map(move |&place| (m, place)))
                .zip(all);
            let is_short = all.contains(&shared)
                && places.any(|((m, place), &mark)| {
                    place > stage.shared && mark == shared && self.common(m, n) >= stage.shared
                });
            indices[n] = sent_prompts.len();
            sent_prompts.push(SentPrompt {
                at: stage.at,
                after,
                // What goes on from nothing shares nothing.
                shared: after.map_or(0, |_| shared.saturating_sub(u64::from(is_short))),
                tokens: end,
                answer: match stage.answer {
                    0 => 0,
                    answer => tokens(stage.end + answer).saturating_sub(end),
                },
                marks: own,
            });
        }
        sent_prompts
    }

    fn parent(&self, n: usize) -> Option<usize> {
        self.0[n].after.or(n.checked_sub(1))
    }

    fn set_parent(&mut self, n: usize, parent: Option<usize>) {
        self.0[n].after = parent.filter(|parent| parent + 1 != n);
    }

    /// The last ones that other caches saw, the newest first.
    fn apart(&self) -> Vec<usize> {
        let mut apart: Vec<usize> = Vec::new();
        for (n, stage) in self.0.iter().enumerate().rev() {
            let is_known = || apart.iter().any(|&known| self.0[known].cache == stage.cache);
            if apart.len() < APART && stage.cache.is_some() && !is_known() {
                apart.push(n);
            }
        }
        apart
    }

    /// The one that a later request will hardly miss: all of it stands in another, or its cache
    /// saw the most others since. None of those apart is.
    fn least_needed(&self, apart: &[usize]) -> usize {
        let n_old = self.0.len().saturating_sub(NEWEST);
        let stands_in_another = |&n: &usize| self.0[n].request.is_none();
        let n_others = |&n: &usize| {
            self.0[n + 1..].iter().filter(|later| later.cache == self.0[n].cache).count()
        };
        let old = || (0..n_old).filter(|n| !apart.contains(n));
        let most = || old().rev().max_by_key(n_others);
        old().find(stands_in_another).or_else(most).unwrap_or(0)
    }

    /// Takes one out. Those that went on from it go on from each other, or from what it went on
    /// from: what any two share stays the same.
    fn remove(&mut self, gone: usize) {
        let mut parents: Vec<Option<usize>> = (0..self.0.len()).map(|n| self.parent(n)).collect();
        let mut heirs: Vec<(usize, i64)> = Vec::new();
        for n in gone + 1..parents.len() {
            if parents[n] != Some(gone) {
                continue;
            }
            let shared = self.0[n].shared;
            let upto = |(_, theirs): &(usize, i64)| shared.min(*theirs);
            let parent = heirs.iter().max_by_key(|heir| upto(heir)).copied();
            (parents[n], self.0[n].shared) = match parent {
                Some(heir) => (Some(heir.0), upto(&heir)),
                None => (parents[gone], shared.min(self.0[gone].shared)),
            };
            heirs.push((n, shared));
        }
        self.0.remove(gone);
        parents.remove(gone);
        for (n, parent) in parents.into_iter().enumerate() {
            self.set_parent(n, parent.map(|parent| parent - usize::from(parent > gone)));
        }
    }
}
