//! Whom a request is made for.

use std::borrow::Cow;

use interleaf_assemble::{Budget, PlacementRule, Recipe};
use interleaf_cache::Rules;
use interleaf_model::{Requirements, Secret, ToolName};
use interleaf_wire::{Family, Options, ToolChoice, VENDORS, Vendor, detect};

use crate::replay::cache_prices;
use crate::{Error, StoredAnswers};

/// Whom a request is made for: who serves the model, what is asked of it, and the key.
///
/// ```
/// use interleaf::Target;
///
/// let mut target = Target::new("anthropic", "claude-sonnet-4-5")?.with_key("sk-123");
/// target.options.max_tokens = Some(4096);
/// assert!(!format!("{target:?}").contains("sk-"));
/// assert!(Target::new("antropic", "claude-sonnet-4-5").is_err());
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Target {
    /// Who serves the model.
    pub vendor: Vendor,
    /// Which model, and what is asked of it beside the messages.
    pub options: Options,
    /// The API key.
    pub key: Option<Secret>,
    /// Whether thinking goes back only after exactly what it was made after (C15); `None`:
    /// the model's name decides. A request then tells which thinking was left out. A context block
    /// that moves costs the thinking after its old place.
    pub bound_thinking: Option<bool>,
    /// The rules of the vendor's prompt cache; `None`: the names of vendor and model decide.
    pub cache_rules: Option<Rules>,
    /// Whether a session's requests carry a cache key of its own
    /// ([`Session::cache_key`](crate::Session::cache_key)), where [`Options::cache_key`] names
    /// none and the vendor takes one. It is on unless it is switched off here.
    pub session_cache_key: bool,
    /// Whether tools, calls and results are written as text, and calls are read out of what
    /// the model says: for a model that calls no functions. `None`: the vendor's row and the
    /// model's name decide.
    pub text_tools: Option<bool>,
    /// Whether the vendor keeps answers for a session's requests to go on from, so that only
    /// what is new is sent. Off, unless it is asked for here; a vendor that keeps none gets
    /// whole requests.
    pub stored: StoredAnswers,
}

impl Target {
    /// A model of a vendor that is known by name. The name of an API stands for who made it.
    ///
    /// # Errors
    /// If no vendor has this name, or the model has none.
    pub fn new(vendor: &str, model: &str) -> Result<Self, Error> {
        let maker = || vendor.parse().ok().map(Vendor::of);
        let Some(known) = Vendor::named(vendor).or_else(maker) else {
            let names: Vec<&str> = VENDORS.iter().map(|vendor| vendor.name.as_str()).collect();
            let names = names.join(", ");
            return Err(Error::rule(format!("there is no vendor {vendor:?}, only {names}")));
        };
        if model.trim().is_empty() {
            return Err(Error::rule("a model must be named"));
        }
        Ok(Self::of(known.clone(), model))
    }

    /// A model of any vendor.
    pub fn of(vendor: Vendor, model: &str) -> Self {
        Self::with_options(vendor, Options::model(model))
    }

    /// A model of any vendor, and what is asked of it.
    pub fn with_options(vendor: Vendor, options: Options) -> Self {
        let (key, bound_thinking, cache_rules) = (None, None, None);
        let (session_cache_key, text_tools, stored) = (true, None, StoredAnswers::Off);
        Self {
            vendor,
            options,
            key,
            bound_thinking,
            cache_rules,
            session_cache_key,
            text_tools,
            stored,
        }
    }

    /// Who gets a body of this family: the vendor that is asked for, or who made the API.
    ///
    /// # Errors
    /// If the vendor that is asked for speaks another API.
    pub fn vendor_of(family: Family, asked: Option<&Vendor>) -> Result<&Vendor, Error> {
        match asked {
            None => Ok(Vendor::of(family)),
            Some(vendor) if vendor.family == family => Ok(vendor),
            Some(Vendor { name, family: own, .. }) => {
                Err(Error::rule(format!("{name} speaks {own}, not {family}")))
            }
        }
    }

    /// What the API and the model demand of a prompt.
    pub fn requirements(&self) -> Requirements {
        let mut demanded = self.vendor.requirements(&self.options.model);
        // The writer of the body puts a user turn after a last word of the assistant's.
        demanded.no_trailing_assistant = false;
        demanded
    }

    /// What should be known of the model that is asked: that none is named, where the body
    /// must name one, that it still has the name that it had in a body of another API, or
    /// that whoever made the API does not serve it.
    ///
    /// ```
    /// use interleaf::Target;
    /// use interleaf::wire::Family;
    ///
    /// let target = Target::new("anthropic", "gpt-4.1")?;
    /// let remark = target.model_remark(Some(Family::OpenaiChat)).unwrap();
    /// assert_eq!(remark, "the model is still \"gpt-4.1\", its name in the openai-chat body");
    /// assert_eq!(target.model_remark(None), None);
    /// # Ok::<(), interleaf::Error>(())
    /// ```
    pub fn model_remark(&self, read_from: Option<Family>) -> Option<String> {
        let (model, family) = (&self.options.model, self.vendor.family);
        match read_from.filter(|from| *from != family) {
            _ if model.is_empty() => {
                let asks = self.vendor.asks_for_model();
                asks.then(|| format!("the body names no model, and {family} asks for one"))
            }
            Some(from) => Some(format!(
                "the model is still {:?}, its name in the {from} body",
                model.as_str()
            )),
            None => {
                let asked = read_from.and_then(|_| detect::model(model));
                let maker = asked.map(Vendor::of).filter(|_| self.is_maker())?;
                // One maker may have two APIs.
                (maker.base_url != self.vendor.base_url).then(|| {
                    let (model, name) = (model.as_str(), &maker.name);
                    format!("this is taken for {family}, but the model {model:?} is that of {name}")
                })
            }
        }
    }

    /// Whether the vendor made its API.
    fn is_maker(&self) -> bool {
        Vendor::of(self.vendor.family).name == self.vendor.name
    }

    /// Whether a session is to name itself to the vendor's cache.
    pub(crate) fn wants_cache_key(&self) -> bool {
        let is_unnamed = self.options.cache_key.is_none();
        self.session_cache_key && is_unnamed && self.vendor.takes_cache_key()
    }

    /// Whether tools, calls and results are written as text.
    ///
    /// ```
    /// use interleaf::Target;
    ///
    /// let mut target = Target::new("llama-cpp", "an-old-model")?;
    /// assert!(!target.has_text_tools());
    /// target.text_tools = Some(true);
    /// assert!(target.has_text_tools());
    /// # Ok::<(), interleaf::Error>(())
    /// ```
    pub fn has_text_tools(&self) -> bool {
        let by_row = || self.vendor.has_text_tools(&self.options.model);
        self.text_tools.unwrap_or_else(by_row)
    }

    /// The most tools that a recipe for it may have, if it is known to take no more: hosted tools
    /// count, and tools that are written as text do not.
    ///
    /// ```
    /// use interleaf::Target;
    ///
    /// assert_eq!(Target::new("openai", "gpt-5")?.most_tools(), Some(128));
    /// # Ok::<(), interleaf::Error>(())
    /// ```
    pub fn most_tools(&self) -> Option<usize> {
        let most = self.vendor.most_tools().filter(|_| !self.has_text_tools());
        most.map(|most| most.saturating_sub(self.options.hosted_tools.len()))
    }

    pub(crate) fn binds_thinking(&self) -> bool {
        let by_model = || self.vendor.binds_thinking(&self.options.model);
        self.bound_thinking.unwrap_or_else(by_model)
    }

    /// The usual budget of the vendor's models.
    ///
    /// ```
    /// use interleaf::{Target, assemble::Recipe};
    ///
    /// let target = Target::new("anthropic", "claude-sonnet-4-5")?;
    /// let recipe = Recipe::new().with_budget(target.budget());
    /// # Ok::<(), interleaf::Error>(())
    /// ```
    pub fn budget(&self) -> Budget {
        Budget::of_window(self.vendor.window)
    }

    /// Tells a recipe what this target asks of it.
    pub(crate) fn suit(&self, recipe: &mut Cow<'_, Recipe>) {
        self.keep_room(recipe);
        if let Some(ToolChoice::Tool(name)) = &self.options.tool_choice
            && !recipe.shares.is_unset()
        {
            recipe.to_mut().kept_tools.insert(ToolName::new(name));
        }
        if matches!(recipe.rule, PlacementRule::Auto(_)) {
            self.price(recipe);
        }
    }

    /// Keeps as much of a recipe's window free as the answer may take. An API refuses a
    /// request that leaves less.
    fn keep_room(&self, recipe: &mut Cow<'_, Recipe>) {
        let (Some(budget), Some(most)) = (recipe.budget, self.options.max_tokens) else { return };
        if budget.reserve < most {
            recipe.to_mut().budget = Some(Budget { reserve: most, ..budget });
        }
    }

    /// The model's name.
    pub(crate) fn model(&self) -> &str {
        self.options.model.as_str()
    }

    /// The rules of the prompt cache, if they are known.
    pub fn rules(&self) -> Option<Rules> {
        let known = || Rules::of_model(&self.vendor.name, &self.options.model);
        self.cache_rules.clone().or_else(known)
    }

    /// Tells a recipe what the cache charges, unless it knows. For a model that binds its
    /// thinking nothing is said: whatever is not where it was would cost the thinking after it.
    fn price(&self, recipe: &mut Cow<'_, Recipe>) {
        let rules = self.rules().filter(|_| !self.binds_thinking());
        if recipe.cache_prices.is_none()
            && let Some(prices) = rules.as_ref().and_then(cache_prices)
        {
            recipe.to_mut().cache_prices = Some(prices);
        }
    }

    /// The same target, with a key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<Secret>) -> Self {
        self.key = Some(key.into());
        self
    }
}
