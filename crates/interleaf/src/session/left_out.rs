//! What an agent's last request had at its head, and a recipe has not: whoever gives it with
//! each request may forget it once.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use interleaf_assemble::{ContextText, PlacementRule, Recipe};
use interleaf_model::{ContextKind, Tool};
use interleaf_store::LastBody;
use interleaf_wire::CacheMarks;

use super::Session;
use super::script::Systems;
use super::told::Told;
use crate::hearing::heard;
use crate::replay::Decoded;
use crate::{Error, Target, read};

/// What an agent's last request had, and a recipe has not.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LeftOut {
    /// The number of that request.
    pub request: u64,
    /// Its system text, if the recipe has none.
    pub system: Vec<Arc<str>>,
    /// Its tools, if the recipe has none.
    pub tools: Arc<[Tool]>,
    /// What the context sources said that it had and the recipe has not.
    pub context: Vec<ContextText>,
    /// The rule that placed its context, if the recipe has the usual one and that was another.
    pub rule: Option<PlacementRule>,
    /// Whether it had marks for the cache, and the target asks for none.
    pub marks: bool,
}

impl Session {
    /// What the last request of the recipe's agent was made from, beside the conversation and
    /// what the session keeps, and this recipe has nothing of. None, if that is nothing, or no
    /// request was recorded whose body can be read.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn left_out(&self, recipe: &Recipe) -> Result<Option<LeftOut>, Error> {
        self.left_out_of(recipe, None).await
    }

    /// Adds to a recipe what the last request had and it has not, and to a target the marks for
    /// the cache, and gives what that was: it tells what the next request is like, and is not to
    /// be sent again.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn take_over(
        &self,
        recipe: &mut Recipe,
        target: &mut Target,
    ) -> Result<Option<LeftOut>, Error> {
        let left_out = self.left_out_of(recipe, Some(target)).await?;
        if let Some(left_out) = &left_out {
            left_out.add_to(recipe);
            if left_out.marks {
                target.options.cache = CacheMarks::On;
            }
        }
        Ok(left_out)
    }

    async fn left_out_of(
        &self,
        recipe: &Recipe,
        target: Option<&Target>,
    ) -> Result<Option<LeftOut>, Error> {
        let agent = recipe.agent.name();
        let Some(event) = self.conversation.newest_request(agent) else { return Ok(None) };
        let Some(request) = self.request_begun(event, None).await? else { return Ok(None) };
        let session = self.head_of(event).await?.id;
        let body = LastBody::read(&*self.store, session, request.no).await.map_err(Error::store)?;
        let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        let family = read::request_family(&body);
        let Some(decoded) = family.and_then(|family| Decoded::of(family, &body).ok()) else {
            return Ok(None);
        };
        let Told { names, terms, trace, .. } = Told::by(&request);
        let is_unmarked = target.is_some_and(|target| target.options.cache == CacheMarks::Off);
        let marks = is_unmarked && trace.is_some_and(|trace| trace.is_marked());
        let usual = PlacementRule::default().to_string();
        let had_tools = terms.as_ref().is_none_or(|terms| !terms.no_tools);
        let rule = terms.map(|terms| terms.rule).filter(|rule| *rule != usual);
        let rule = rule.filter(|_| recipe.rule.to_string() == usual);
        let rule = rule.and_then(|rule| rule.parse().ok());
        let mut tools = Vec::new();
        if recipe.tools.is_empty() && had_tools {
            tools.clone_from(&decoded.tools);
            tools.iter_mut().for_each(|tool| tool.name = names.original(tool.name.as_str()));
        }
        let mut system = Vec::new();
        if recipe.system.is_empty() {
            // What the conversation says itself is in the next request too.
            let mut systems = Systems::default();
            systems.hear(&heard(&self.at(event).await?, &recipe.agent).0, &recipe.agent);
            system = systems.leave(&decoded.system);
        }
        let full = self.recipe_at(recipe, u64::MAX).await?;
        let known: BTreeSet<&ContextKind> = full.context.iter().map(|text| &text.kind).collect();
        let mut context = decoded.texts();
        context.retain(|text| !known.contains(&text.kind));
        let (request, tools) = (request.no, tools.into());
        let left_out = LeftOut { request, system, tools, context, rule, marks };
        Ok((!left_out.is_empty()).then_some(left_out))
    }
}

impl LeftOut {
    fn is_empty(&self) -> bool {
        let has_context = !self.context.is_empty() || self.rule.is_some() || self.marks;
        self.system.is_empty() && self.tools.is_empty() && !has_context
    }

    /// Adds to a recipe what it has not. That is as it was in the last request: it tells how long
    /// the next one is, and is not to be sent again.
    pub fn add_to(&self, recipe: &mut Recipe) {
        if let Some(rule) = &self.rule {
            recipe.rule = rule.clone();
        }
        recipe.system.extend(self.system.iter().cloned());
        if recipe.tools.is_empty() {
            recipe.tools = self.tools.clone();
        }
        recipe.context.extend(self.context.iter().cloned());
    }
}

/// `request 3 had a system text, 2 tools and context (role)`.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {} had ", self.request)?;
        let mut named = Vec::new();
        if !self.system.is_empty() {
            named.push("a system text".to_owned());
        }
        match self.tools.len() {
            0 => {}
            1 => named.push("1 tool".to_owned()),
            n => named.push(format!("{n} tools")),
        }
        if !self.context.is_empty() {
            let mut names: Vec<&str> = self.context.iter().map(|text| text.kind.as_str()).collect();
            names.dedup();
            named.push(format!("context ({})", names.join(", ")));
        }
        if let Some(rule) = &self.rule {
            named.push(format!("the rule {rule}"));
        }
        if self.marks {
            named.push("cache marks".to_owned());
        }
        match named.split_last() {
            Some((last, [])) => f.write_str(last),
            Some((last, rest)) => write!(f, "{} and {last}", rest.join(", ")),
            None => Ok(()),
        }
    }
}
