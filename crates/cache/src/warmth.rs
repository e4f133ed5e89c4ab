//! Whether it pays to keep a prefix warm.

use serde::Serialize;

use crate::{Renewal, Rules};

/// A small request is sent when this part of the lifetime is left.
const MARGIN: u64 = 10;

/// More than a quotient of two costs is wrong by.
const ROUNDING: f64 = 1e-6;

/// How warm a prefix is, and what keeping it so costs against losing it. Costs are in tokens of
/// a prompt without a cache.
///
/// ```
/// use interleaf_cache::{Rules, Warmth};
///
/// let rules = Rules::named("anthropic").unwrap();
/// let warmth = Warmth::of(&rules, 20_000, 60);
/// assert_eq!((warmth.left, warmth.warm, warmth.cold), (Some(240), 2_000.0, 25_000.0));
/// let keep = warmth.keep_alive.unwrap();
/// assert_eq!((keep.every, keep.due_in, keep.most, keep.until), (270, 210, Some(11), Some(3_240)));
/// assert!(keep.saves(1_800) > 0.0 && keep.saves(3_600) < 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Warmth {
    /// The tokens of the prefix that the cache was given.
    pub tokens: u64,
    /// How many seconds ago it was last used.
    pub idle: u64,
    /// For how many seconds it is kept after its last use, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<u64>,
    /// For how many seconds it is still kept; zero, if it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
    /// What it costs to read it.
    pub warm: f64,
    /// What it costs to compute it again, and to write it where that has a price.
    pub cold: f64,
    /// What keeping it warm takes. None, if the lifetime is not known, or not what a read does
    /// to it, or nothing is there to be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<KeepAlive>,
}

/// Small requests that read a prefix, so that its lifetime begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KeepAlive {
    /// The seconds from each to the next.
    pub every: u64,
    /// In how many seconds the next one is due.
    pub due_in: u64,
    /// What each costs: the prefix is read, and what comes after it is computed.
    pub cost: f64,
    /// What the next request saves if the prefix is still there.
    pub saving: f64,
    /// How many together cost less than a cold start. None: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
    /// Without any, the next request finds the prefix up to this many seconds after its last use.
    pub from: u64,
    /// Keeping it warm pays if the next request comes after `from` and up to this many seconds
    /// after the last use. None: however late it comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// A single one pays if the chance that it saves a cold start is higher than this.
    pub chance: f64,
}

impl Warmth {
    /// How warm a prefix of this many tokens is, which was last used this many seconds ago.
    pub fn of(rules: &Rules, tokens: u64, idle: u64) -> Self {
        Self::of_prompt(rules, (tokens, tokens), idle)
    }

    /// The same of a prompt, given the tokens of its prefix that the cache was given, and all of
    /// them. A small request has them all.
    ///
    /// ```
    /// use interleaf_cache::{Rules, Warmth};
    ///
    /// let rules = Rules::named("anthropic").unwrap();
    /// let warmth = Warmth::of_prompt(&rules, (20_000, 20_500), 60);
    /// assert_eq!((warmth.warm, warmth.keep_alive.unwrap().cost), (2_000.0, 2_500.0));
    /// ```
    pub fn of_prompt(rules: &Rules, (tokens, prompt): (u64, u64), idle: u64) -> Self {
        let step = rules.matches.step();
        let tokens = if tokens < rules.minimum { 0 } else { tokens - tokens % step };
        let (warm, cold) = (tokens as f64 * rules.prices.read, tokens as f64 * rules.prices.write);
        let cost = warm + prompt.saturating_sub(tokens) as f64;
        let is_kept = rules.lifetime.is_none_or(|lifetime| idle <= lifetime) && tokens > 0;
        let left = rules.lifetime.map(|lifetime| lifetime.saturating_sub(idle));
        let renewed = rules.lifetime.filter(|_| is_kept && rules.renewal == Renewal::OnRead);
        let saving = (cold - warm).max(0.0);
        let keep_alive = renewed.map(|lifetime| KeepAlive::of(lifetime, idle, (cost, saving)));
        Self { tokens, idle, lifetime: rules.lifetime, left, warm, cold, keep_alive }
    }
}

impl KeepAlive {
    fn of(lifetime: u64, idle: u64, (cost, saving): (f64, f64)) -> Self {
        let every = (lifetime - lifetime / MARGIN).max(1);
        // One more would cost as much as a cold start, or more. A quotient that is whole may come
        // out a little higher.
        let most =
            (cost > 0.0).then(|| ((saving / cost - ROUNDING).ceil() as u64).saturating_sub(1));
        Self {
            every,
            due_in: every.saturating_sub(idle),
            cost,
            saving,
            most,
            from: lifetime,
            until: most.map(|most| (most + 1).saturating_mul(every)),
            chance: if saving > 0.0 { (cost / saving).min(1.0) } else { 1.0 },
        }
    }

    /// How much less is paid with small requests than without, if the next request comes this
    /// many seconds after the last use; below zero, how much more.
    pub fn saves(&self, gap: u64) -> f64 {
        let n = gap.saturating_sub(1) / self.every;
        let saved = if gap > self.from { self.saving } else { 0.0 };
        saved - n as f64 * self.cost
    }
}
