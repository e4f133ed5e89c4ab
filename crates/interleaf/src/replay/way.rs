//! The ways in which a session is played.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use interleaf_assemble::{Budget, PlacementRule, Recipe};
use interleaf_cache::Rules;
use interleaf_model::Requirements;
use smol_str::SmolStr;

use super::play::{Making, Resent};
use super::seen::Marking;
use super::{Script, Turn, cache_prices};
use crate::{Error, Target};

/// Every rule, in every window, for every vendor.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Ways {
    /// The rules of placement.
    pub rules: Vec<PlayRule>,
    /// The context windows, in tokens; without one, as it was recorded.
    pub windows: Vec<u64>,
    /// The vendors; without one, as it was recorded.
    pub vendors: Vec<PlayVendor>,
}

/// One way.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Way {
    /// The rule of placement.
    pub rule: PlayRule,
    /// The context window, in tokens; without one, as it was recorded.
    pub window: Option<u64>,
    /// Whose cache it is; without one, that of whoever was asked.
    pub vendor: Option<PlayVendor>,
}

/// Where the context goes when a session is played.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PlayRule {
    /// Where it went when the session was recorded.
    Recorded,
    /// Nowhere: what the session costs without any.
    NoContext,
    /// Where this rule says.
    Placed(PlacementRule),
}

impl FromStr for PlayRule {
    type Err = Error;

    /// Reads `recorded`, `none`, or a placement rule.
    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text.trim() {
            "recorded" => Self::Recorded,
            "none" => Self::NoContext,
            text => Self::Placed(text.parse().map_err(|error: interleaf_assemble::Error| {
                Error::rule(format!("{error}; a replay also takes `none` and `recorded`"))
            })?),
        })
    }
}

impl fmt::Display for PlayRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded => f.write_str("recorded"),
            Self::NoContext => f.write_str("none"),
            Self::Placed(rule) => rule.fmt(f),
        }
    }
}

/// A vendor whose cache a session is played for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PlayVendor {
    /// What it is called: `anthropic`, or with a model `anthropic/claude-opus-4-6`.
    pub name: SmolStr,
    /// The rules of its cache.
    pub rules: Rules,
    /// Whom the requests are made for; nothing, if only the cache has a name.
    target: Option<Box<Target>>,
}

impl FromStr for PlayVendor {
    type Err = Error;

    /// Reads the name of a cache or a vendor, or `vendor/model`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let name = text.trim();
        let (vendor, model) = name.split_once('/').unwrap_or((name, ""));
        let rules = match model {
            // A model is begun and not named.
            "" if name.ends_with('/') => None,
            "" => Rules::named(vendor).or_else(|| Rules::of_model(vendor, "")),
            model => Rules::of_model(vendor, model),
        };
        let Some(rules) = rules else {
            return Err(Error::rule(format!(
                "nothing is known of the prompt cache of {name:?}: {} are known, and a vendor's \
                 model as in `anthropic/claude-opus-4-6`",
                known()
            )));
        };
        // The name of a cache may be that of no vendor; the model only has a say if it is named.
        let model = if model.is_empty() { "any" } else { model };
        let target = Target::new(vendor, model).ok().map(Box::new);
        Ok(Self { name: name.into(), rules, target })
    }
}

/// The names of the caches that are known.
pub(super) fn known() -> String {
    let names: Vec<String> = Rules::all().map(|rules| rules.name.into_owned()).collect();
    names.join(", ")
}

impl Ways {
    /// How many there are. What is named twice counts once.
    pub fn len(&self) -> usize {
        self.all().count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Each way once, by vendor, window and rule.
    pub(super) fn all(&self) -> impl Iterator<Item = Way> {
        fn each_once<T: Clone, K: PartialEq>(given: &[T], key: impl Fn(&T) -> K) -> Vec<T> {
            let is_new = |(n, one): &(usize, &T)| given[..*n].iter().all(|g| key(g) != key(one));
            given.iter().enumerate().filter(is_new).map(|(_, one)| one.clone()).collect()
        }
        fn or_none<T>(given: Vec<T>) -> Vec<Option<T>> {
            match given.is_empty() {
                true => vec![None],
                false => given.into_iter().map(Some).collect(),
            }
        }
        let rules = each_once(&self.rules, PlayRule::to_string);
        let vendors = or_none(each_once(&self.vendors, |vendor| vendor.name.clone()));
        let windows = or_none(each_once(&self.windows, |window| *window));
        let pairs = vendors.into_iter().flat_map(move |vendor| {
            windows.clone().into_iter().map(move |window| (vendor.clone(), window))
        });
        pairs.flat_map(move |(vendor, window)| {
            let way = move |rule| Way { rule, window, vendor: vendor.clone() };
            rules.clone().into_iter().map(way)
        })
    }
}

impl Way {
    /// The way in which a session was recorded.
    pub fn recorded() -> Self {
        Self { rule: PlayRule::Recorded, window: None, vendor: None }
    }

    /// The script as it is played.
    pub(super) fn script<'s>(&self, script: &'s Script) -> Cow<'s, Script> {
        let mut script = Cow::Borrowed(script);
        if self.rule == PlayRule::NoContext {
            script.to_mut().turns.iter_mut().for_each(|turn| turn.context.clear());
        }
        script
    }

    /// The rules of the caches that see the requests of those who were asked.
    pub(super) fn caches(&self, asked: &[&Target]) -> Result<Vec<Rules>, Error> {
        if let Some(vendor) = &self.vendor {
            return Ok(vec![vendor.rules.clone()]);
        }
        let rules = |target: &&Target| {
            let unknown = || {
                let (vendor, known) = (&target.vendor.name, known());
                let rule = format!("nothing is known of the prompt cache of {vendor}");
                Error::rule(format!("{rule}; name another vendor: {known}"))
            };
            target.rules().ok_or_else(unknown)
        };
        match asked {
            [] => Err(Error::rule("no vendor was recorded; name one")),
            asked => asked.iter().map(rules).collect(),
        }
    }

    /// The body of a turn, if it is played as it was sent.
    pub(super) fn sent<'t>(&self, turn: &'t Turn, asked: &[&Target]) -> Option<Resent<'t>> {
        let sent = turn.sent.as_ref().filter(|_| self.rule == PlayRule::Recorded)?;
        let is_own = |vendor: &PlayVendor| {
            let family = vendor.target.as_ref().map(|target| target.vendor.family);
            family == turn.target.as_ref().map(|target| target.vendor.family)
        };
        // Another API's cache knows nothing of these marks.
        let marking = match self.vendor.as_ref().is_none_or(is_own) {
            true => Marking::Own,
            false => Marking::Ours,
        };
        let limit = self.window.map(|window| Budget::of_window(window).limit());
        Some(Resent { sent, cache: self.cache(turn, asked), marking, limit })
    }

    /// Which of the caches of those who were asked sees the request of a turn.
    fn cache(&self, turn: &Turn, asked: &[&Target]) -> Option<usize> {
        let own = turn.target.as_deref().filter(|_| self.vendor.is_none())?;
        asked.iter().position(|target| is_same(target, own))
    }

    /// How the request of a turn is made.
    pub(super) fn making<'a>(
        &'a self,
        turn: &'a Turn,
        asked: &[&Target],
    ) -> Result<Making<'a>, Error> {
        let mut recipe = turn.terms.as_ref().map_or_else(Recipe::new, |terms| terms.recipe());
        recipe.rule = match &self.rule {
            PlayRule::Placed(rule) => rule.clone(),
            // Without context no rule has anything to place.
            PlayRule::NoContext => PlacementRule::default(),
            PlayRule::Recorded => recorded_rule(turn)?,
        };
        if let Some(window) = self.window {
            recipe.budget = Some(Budget::of_window(window));
        }
        let own = turn.target.as_deref();
        let (target, rules) = match &self.vendor {
            None => (own, own.and_then(Target::rules)),
            Some(vendor) => (vendor.target.as_deref().or(own), Some(vendor.rules.clone())),
        };
        let mut requires = Requirements::STRICT;
        requires.no_trailing_assistant = false;
        let requires = target.map_or(requires, Target::requirements);
        if self.rule != PlayRule::Recorded || self.vendor.is_some() {
            let rules = rules.filter(|_| !target.is_some_and(Target::binds_thinking));
            recipe.cache_prices = rules.as_ref().and_then(cache_prices);
        }
        let is_as_it_was = self.rule == PlayRule::Recorded && self.vendor.is_none();
        let marking = match is_as_it_was && turn.is_unmarked {
            true => Marking::Unmarked,
            false => Marking::Ours,
        };
        Ok(Making { recipe, requires, cache: self.cache(turn, asked), marking, target })
    }
}

/// Whom the requests of a script were made for, each model once.
pub(super) fn asked(script: &Script) -> Vec<&Target> {
    let mut asked: Vec<&Target> = Vec::new();
    for target in script.turns.iter().filter_map(|turn| turn.target.as_deref()) {
        if !asked.last().is_some_and(|last| std::ptr::eq(*last, target))
            && !asked.iter().any(|known| is_same(known, target))
        {
            asked.push(target);
        }
    }
    asked
}

fn is_same(a: &Target, b: &Target) -> bool {
    a.vendor.name == b.vendor.name && a.options.model == b.options.model
}

fn recorded_rule(turn: &Turn) -> Result<PlacementRule, Error> {
    let rule = turn.terms.as_ref().map_or("", |terms| terms.rule.as_str());
    if rule.is_empty() {
        return Err(Error::rule(format!(
            "the rule by which request {} was made is not recorded",
            turn.number
        )));
    }
    rule.parse().map_err(|_| {
        let number = turn.number;
        Error::rule(format!("request {number} was made by {rule}, which only its maker can follow"))
    })
}
