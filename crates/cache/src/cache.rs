//! A cache that follows rules.

mod marks;
mod prefixes;
mod slot;
mod units;

use self::marks::{Marks, Now};
use self::prefixes::Prefixes;
use self::slot::Slot;
use self::units::Units;
use crate::prompt::Link;
use crate::{Match, Prompt, Rules, Used};

/// What a vendor's cache holds of one session, as far as its rules tell.
///
/// A request costs what is new in its prompt, whatever its length.
#[derive(Debug, Clone)]
pub struct Cache {
    rules: Rules,
    held: Held,
    /// When it was last used, in seconds.
    used_at: Option<u64>,
}

#[derive(Debug, Clone)]
enum Held {
    Prefixes(Prefixes),
    Marks(Marks),
    Units(Units),
    Slot(Slot),
}

impl Cache {
    /// A cache with nothing in it.
    pub fn new(rules: Rules) -> Self {
        Self { held: Held::of(&rules), rules, used_at: None }
    }

    /// The rules that it follows.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Sends a prompt at a time, in seconds.
    pub fn request(&mut self, prompt: &Prompt, at: u64) -> Used {
        let used = self.preview(prompt, at);
        self.keep(prompt, at);
        used
    }

    /// The same, if nobody asks what it takes. After a pause that is longer than its lifetime,
    /// nothing is left of a prefix: what the session still uses is used by each of its requests,
    /// so that it all goes at once.
    pub(crate) fn keep(&mut self, prompt: &Prompt, at: u64) {
        if self.is_unused(at) {
            self.held = Held::of(&self.rules);
        }
        let links = prompt.links();
        let Rules { minimum, lifetime, .. } = self.rules;
        match &mut self.held {
            Held::Prefixes(prefixes) => prefixes.keep(links),
            Held::Marks(marks) => marks.keep(prompt, minimum, Now { at, lifetime }),
            Held::Units(units) => units.keep(links),
            Held::Slot(slot) => slot.keep(links),
        }
        self.used_at = Some(at);
    }

    /// What a prompt would take if it were sent; nothing changes.
    pub fn preview(&self, prompt: &Prompt, at: u64) -> Used {
        match self.is_unused(at) {
            true => Held::of(&self.rules).used(prompt, &self.rules, at),
            false => self.held.used(prompt, &self.rules, at),
        }
    }

    /// Notes the answer to the last prompt. `answered` is that prompt and, after it, the
    /// pieces of the answer.
    pub fn answered(&mut self, answered: &Prompt) {
        let links = answered.links();
        match &mut self.held {
            Held::Prefixes(prefixes) => prefixes.answered(links),
            Held::Units(units) => units.keep(links),
            Held::Slot(slot) => slot.answered(links),
            // Nothing is written without a mark.
            Held::Marks(_) => {}
        }
    }

    fn is_unused(&self, at: u64) -> bool {
        let pause = self.used_at.map_or(0, |used_at| at.saturating_sub(used_at));
        self.rules.lifetime.is_some_and(|lifetime| pause > lifetime)
    }
}

impl Held {
    fn of(rules: &Rules) -> Self {
        match rules.matches {
            Match::Prefix { step, answers, computes_last } => {
                Self::Prefixes(Prefixes::new(step, answers, computes_last))
            }
            Match::Marks { lookback, most, implicit } => {
                Self::Marks(Marks::new(lookback, most, implicit))
            }
            Match::Units { least } => Self::Units(Units::new(least)),
            Match::Slot { checkpoints } => Self::Slot(Slot::new(checkpoints)),
        }
    }

    /// What a prompt takes of it.
    fn used(&self, prompt: &Prompt, rules: &Rules, at: u64) -> Used {
        let (links, minimum) = (prompt.links(), rules.minimum);
        match self {
            Self::Prefixes(prefixes) => prefixes.used(links, minimum),
            Self::Marks(marks) => marks.used(prompt, minimum, Now { at, lifetime: rules.lifetime }),
            Self::Units(units) => units.used(links),
            Self::Slot(slot) => slot.used(links),
        }
    }
}

fn total(links: &[Link]) -> u64 {
    links.last().map_or(0, |last| last.tokens)
}
