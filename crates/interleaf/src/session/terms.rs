//! How a recipe had a request made, kept with the request so that it can be played again.

use interleaf_assemble::{
    Budget, CachePrices, Carrier, LookAlikes, MissingResult, Recipe, Shares, SummaryRole,
    SystemMessages,
};
use serde::{Deserialize, Serialize};

/// What of a recipe neither the conversation nor the body tells. What is as usual is left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Terms {
    /// The rule of placement.
    pub(crate) rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    #[serde(skip_serializing_if = "is_usual")]
    shares: Shares,
    #[serde(skip_serializing_if = "is_usual")]
    carrier: Carrier,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    keeps_system_in_place: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prices: Option<CachePrices>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    summary_as_user: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    drops_calls: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    keeps_look_alikes: bool,
    /// Whether it had no tools: some APIs want those declared that the history has called.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_tools: bool,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What it had to fit into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    tokens: u64,
    reserve: u64,
    longest_result: u64,
    newest_results: usize,
}

impl Terms {
    pub(crate) fn of(recipe: &Recipe) -> Self {
        let window = recipe.budget.map(|budget| Window {
            tokens: budget.window,
            reserve: budget.reserve,
            longest_result: budget.longest_result,
            newest_results: budget.newest_results,
        });
        Self {
            rule: recipe.rule.to_string(),
            window,
            shares: recipe.shares.clone(),
            carrier: recipe.carrier,
            keeps_system_in_place: recipe.system_messages == SystemMessages::InPlace,
            prices: recipe.cache_prices,
            summary_as_user: recipe.summary_role == SummaryRole::User,
            drops_calls: recipe.missing_result == MissingResult::DropCall,
            keeps_look_alikes: recipe.look_alikes == LookAlikes::Keep,
            no_tools: recipe.tools.is_empty(),
        }
    }

    /// Those of a finished request that was made elsewhere: its texts are what they are.
    pub(crate) fn finished() -> Self {
        Self { keeps_look_alikes: true, ..Self::default() }
    }

    /// Those of a request of which only the rule is known.
    pub(crate) fn by(rule: String) -> Self {
        Self { rule, ..Self::default() }
    }

    /// A recipe on these terms; its rule is still the usual one.
    pub(crate) fn recipe(&self) -> Recipe {
        let mut recipe = Recipe::new();
        recipe.budget = self.window.map(|window| Budget {
            reserve: window.reserve,
            longest_result: window.longest_result,
            newest_results: window.newest_results,
            ..Budget::of_window(window.tokens)
        });
        recipe.cache_prices = self.prices;
        recipe.shares.clone_from(&self.shares);
        recipe.carrier = self.carrier;
        if self.keeps_system_in_place {
            recipe.system_messages = SystemMessages::InPlace;
        }
        if self.summary_as_user {
            recipe.summary_role = SummaryRole::User;
        }
        if self.drops_calls {
            recipe.missing_result = MissingResult::DropCall;
        }
        if self.keeps_look_alikes {
            recipe.look_alikes = LookAlikes::Keep;
        }
        recipe
    }
}
