//! The order of a session's tools, which stays.
//!
//! Tools stand at the head of a request, so that a list in another order costs all of the
//! prompt cache, and says nothing new.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use interleaf_model::{Tool, ToolName};
use serde::{Deserialize, Serialize};

use crate::Recipe;

/// The names of tools, in the order in which they were first sent.
///
/// ```
/// use interleaf_assemble::ToolOrder;
/// use interleaf_model::{Json, Tool};
///
/// let schema = Json::parse(r#"{"type": "object"}"#).unwrap();
/// let tool = |name: &str| Tool::new(name, "It helps.", schema.clone());
/// let mut order = ToolOrder::default();
/// order.take(&[tool("read"), tool("write")]);
/// let arranged = order.arranged(&[tool("find"), tool("write"), tool("read")]).unwrap();
/// let names: Vec<&str> = arranged.iter().map(|tool| tool.name.as_str()).collect();
/// assert_eq!(names, ["read", "write", "find"]);
/// assert!(order.arranged(&[tool("write"), tool("find")]).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolOrder(Vec<ToolName>);

/// What is told of tools that do not stand as the recipe has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptOrder {
    /// The tools that the recipe has at another place.
    pub moved: Vec<ToolName>,
}

impl ToolOrder {
    /// These names, in this order.
    pub fn of(names: impl IntoIterator<Item = ToolName>) -> Self {
        Self(names.into_iter().collect())
    }

    /// The names.
    pub fn names(&self) -> &[ToolName] {
        &self.0
    }

    /// Takes in tools that are sent. Those that are gone keep their place: they may come back.
    pub fn take(&mut self, sent: &[Tool]) {
        if let Some(after) = self.after(sent) {
            *self = after;
        }
    }

    /// The order after these tools are sent, if it is another then.
    pub fn after(&self, sent: &[Tool]) -> Option<Self> {
        if self.is_of(sent) {
            return None;
        }
        let ranks = self.ranks();
        let new = sent.iter().map(|tool| &tool.name).filter(|name| !ranks.contains_key(name));
        let mut new = new.peekable();
        new.peek()?;
        Some(Self::of(self.0.iter().chain(new).cloned()))
    }

    /// Tools in this order, those that are new at the end; none, if they stand so.
    pub fn arranged(&self, tools: &[Tool]) -> Option<Vec<Tool>> {
        if self.is_of(tools) {
            return None;
        }
        let ranks = self.ranks();
        let rank = |tool: &Tool| ranks.get(&tool.name).copied().unwrap_or(usize::MAX);
        if tools.is_sorted_by_key(rank) {
            return None;
        }
        let mut tools = tools.to_vec();
        tools.sort_by_key(rank);
        Some(tools)
    }

    /// Whether these tools, and no others, stand in this order.
    fn is_of(&self, tools: &[Tool]) -> bool {
        self.0.iter().eq(tools.iter().map(|tool| &tool.name))
    }

    fn ranks(&self) -> HashMap<&ToolName, usize> {
        // Of two equal names the first counts.
        self.0.iter().enumerate().rev().map(|(rank, name)| (name, rank)).collect()
    }

    /// A recipe whose tools stand in this order, and what is told of that.
    pub(crate) fn suit<'r>(&self, recipe: &'r Recipe) -> (Cow<'r, Recipe>, Option<KeptOrder>) {
        let Some(tools) = self.arranged(&recipe.tools) else {
            return (Cow::Borrowed(recipe), None);
        };
        let both = recipe.tools.iter().zip(&tools);
        let moved = both.filter(|(asked, sent)| asked.name != sent.name);
        let kept = KeptOrder { moved: moved.map(|(_, sent)| sent.name.clone()).collect() };
        (Cow::Owned(recipe.clone().with_tools(tools)), Some(kept))
    }
}

impl fmt::Display for KeptOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.moved.iter().map(ToolName::as_str).collect();
        write!(f, "tools: in the order in which they were first sent; moved: {}", names.join(", "))
    }
}
