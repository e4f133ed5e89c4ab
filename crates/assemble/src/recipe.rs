//! What a request is made from, as data.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{
    AgentName, ContextKind, Message, MessageId, Origin, Timestamp, Tool, ToolName,
};
use serde::{Deserialize, Serialize};

use crate::{Carrier, ContextText, Error, Ledger, PlacementRule, Shares, SystemMessages};

/// What a request is made from, beside the conversation: the same recipe serves one
/// request after the other.
///
/// ```
/// use interleaf_assemble::{PlacementRule, Recipe};
/// use interleaf_model::ContextKind;
///
/// let recipe = Recipe::new()
///     .with_system("You are a careful agent.")
///     .with_context(ContextKind::Todo, "1. list the files")
///     .with_rule(PlacementRule::Tail);
/// assert_eq!(recipe.context.len(), 1);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Recipe {
    /// For whom.
    pub agent: Agent,
    /// The system prompts, in order.
    pub system: Vec<Arc<str>>,
    /// The context texts, in the order in which their sources were registered.
    pub context: Vec<ContextText>,
    /// The tools that the model may call.
    pub tools: Arc<[Tool]>,
    /// Where the context block goes.
    pub rule: PlacementRule,
    /// In what the texts of the context are sent.
    pub carrier: Carrier,
    /// What becomes of system messages that the conversation has after its beginning.
    pub system_messages: SystemMessages,
    /// What the target's prompt cache charges, for the rule `auto`. Without it what was
    /// shown is taken to cost nothing.
    pub cache_prices: Option<CachePrices>,
    /// The active summary.
    pub summary: Option<Arc<Summary>>,
    /// In which role a summary is sent.
    pub summary_role: SummaryRole,
    /// What a call without a result gets.
    pub missing_result: MissingResult,
    /// What becomes of a line that looks like the engine's own.
    pub look_alikes: LookAlikes,
    /// What becomes of calls at the end that may still be answered.
    pub open_block: OpenBlock,
    /// What the request must fit into.
    pub budget: Option<Budget>,
    /// How its parts share that.
    pub shares: Shares,
    /// Tools that are never left out, such as one that the model must call.
    pub kept_tools: BTreeSet<ToolName>,
    /// When the request is made: context that holds until then is not shown any more. A
    /// session puts the time here. Without it nothing expires.
    pub at: Option<Timestamp>,
    /// What counts tokens. Without it none are counted, and a budget is refused; a session
    /// has ledgers of its own and puts one here.
    pub ledger: Option<Arc<Ledger>>,
}

/// What a prompt cache charges, in the price of a token that is not cached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct CachePrices {
    /// A token that is read from it.
    pub read: f64,
    /// A token that is computed and written to it.
    pub write: f64,
    /// How many messages before its end a prompt can be changed, and what stands before is
    /// still found.
    pub reach: usize,
    /// Whether what two prompts have in common is found by the third at the earliest, if neither
    /// is the beginning of the other.
    #[serde(default)]
    pub lags: bool,
}

interleaf_model::only_objects!(CachePrices);

/// A summary that stands for messages of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What it says.
    pub text: Arc<str>,
    /// The first message that it covers; if that message is gone, the summary no longer applies.
    pub start: MessageId,
    /// Every message that it covers.
    pub covers: BTreeSet<MessageId>,
}

/// For whom a request is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Agent {
    /// The main agent: messages internal to sub-agents are left out.
    #[default]
    Main,
    /// A sub-agent: only its own messages are sent. They begin with its task.
    Sub(AgentName),
}

impl Agent {
    /// The name of a sub-agent.
    pub fn name(&self) -> Option<&AgentName> {
        match self {
            Self::Main => None,
            Self::Sub(name) => Some(name),
        }
    }

    /// Whether a message is part of this agent's conversation.
    pub fn hears(&self, message: &Message) -> bool {
        match (self, &message.origin) {
            (Self::Main, Origin::Main) => true,
            (Self::Sub(own), Origin::SubAgent(name)) => own == name,
            (Self::Main | Self::Sub(_), Origin::Main | Origin::SubAgent(_) | Origin::Internal) => {
                false
            }
        }
    }
}

/// What a call without a result gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingResult {
    /// A result that says that none was recorded, marked as an error.
    #[default]
    Make,
    /// It is removed, and its message if nothing is left.
    DropCall,
}

/// What becomes of a line in a system message or in a user's or a tool's text that looks
/// like the first line of an engine text, such as a heading of the context block. The
/// recipe's own system prompts are never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LookAlikes {
    /// A backslash goes before it, so that nothing passes for the engine's own.
    #[default]
    Escape,
    /// It stays: what comes in is a finished request, not what people and tools said.
    Keep,
}

/// What becomes of calls at the very end that have no result yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenBlock {
    /// Not said: a session waits for the results, and assembly by itself mends.
    #[default]
    Unsaid,
    /// They are treated like any other call without a result.
    Mend,
    /// The caller waits for their results: they are left open, and no request is
    /// made.
    Wait,
}

/// In which role a summary is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryRole {
    /// As a system message, right after the system prompt.
    #[default]
    System,
    /// As a user message, where the first message that it covers stood.
    User,
}

/// What a request must fit into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The model's context window, in tokens.
    pub window: u64,
    /// What is kept free for the answer.
    pub reserve: u64,
    /// When a request does not fit, tool results longer than this are shown head and tail
    /// before anything else gives way.
    pub longest_result: u64,
    /// This many of the newest tool results are not cleared, while they and their calls take
    /// no more than half of the request.
    pub newest_results: usize,
}

impl Budget {
    /// The usual budget of a window: an eighth of it for the answer; a result is long from a
    /// quarter of it on; the newest three results stay.
    pub fn of_window(window: u64) -> Self {
        Self { window, reserve: window / 8, longest_result: window / 4, newest_results: 3 }
    }

    /// What the request itself may take.
    pub fn limit(&self) -> u64 {
        self.window.saturating_sub(self.reserve)
    }
}

impl Recipe {
    /// Nothing but the conversation, repaired.
    pub fn new() -> Self {
        Self::default()
    }

    /// The recipe for this agent.
    #[must_use]
    pub fn with_agent(mut self, agent: Agent) -> Self {
        self.agent = agent;
        self
    }

    /// The recipe with a further system prompt.
    #[must_use]
    pub fn with_system(mut self, prompt: impl Into<Arc<str>>) -> Self {
        self.system.push(prompt.into());
        self
    }

    /// The recipe with a further context text.
    #[must_use]
    pub fn with_context(mut self, kind: ContextKind, text: impl Into<Arc<str>>) -> Self {
        self.context.push(ContextText::new(kind, text));
        self
    }

    /// The recipe with these tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<[Tool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// The recipe for texts in which lines that look like the engine's own do this.
    #[must_use]
    pub fn with_look_alikes(mut self, look_alikes: LookAlikes) -> Self {
        self.look_alikes = look_alikes;
        self
    }

    /// The recipe with this rule of placement.
    #[must_use]
    pub fn with_rule(mut self, rule: PlacementRule) -> Self {
        self.rule = rule;
        self
    }

    /// The recipe with the context in this carrier.
    #[must_use]
    pub fn with_carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// The recipe in which later system messages go there.
    #[must_use]
    pub fn with_system_messages(mut self, system_messages: SystemMessages) -> Self {
        self.system_messages = system_messages;
        self
    }

    /// The recipe with this summary.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<Arc<Summary>>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// The recipe with a budget.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The recipe whose parts share the budget like this.
    #[must_use]
    pub fn with_shares(mut self, shares: Shares) -> Self {
        self.shares = shares;
        self
    }

    /// The recipe for a request that is made at this time.
    #[must_use]
    pub fn with_time(mut self, at: Timestamp) -> Self {
        self.at = Some(at);
        self
    }

    /// The recipe with a ledger that counts tokens.
    #[must_use]
    pub fn with_ledger(mut self, ledger: impl Into<Arc<Ledger>>) -> Self {
        self.ledger = Some(ledger.into());
        self
    }

    /// Checks what must be so before an agent runs (C9).
    ///
    /// # Errors
    /// If a sub-agent has no role definition; the error names it.
    pub fn check_agent(&self) -> Result<(), Error> {
        match &self.agent {
            Agent::Sub(name) if self.role_text().is_none() => Err(Error::settings(format!(
                "the sub-agent {name} has no role definition, and cannot run without one"
            ))),
            Agent::Main | Agent::Sub(_) => Ok(()),
        }
    }

    /// The role definition, if there is one.
    pub(crate) fn role_text(&self) -> Option<&Arc<str>> {
        let roles = self.context.iter().filter(|context| context.kind == ContextKind::Role);
        roles.map(|context| &context.text).find(|text| !text.trim().is_empty())
    }
}
