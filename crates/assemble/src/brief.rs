//! What the steps of one request go by.

use std::collections::BTreeSet;
use std::sync::Arc;

use interleaf_model::{Message, MessageId, Origin, Requirements, Role};

use crate::allot::{Allotted, Called, Targets};
use crate::open::awaited;
use crate::placement::Memory;
use crate::steps::filter;
use crate::tokens::Counting;
use crate::{Agent, Error, Ledger, OpenCall, Placement, Rebase, Recipe, ShownContext, View};

/// What the steps of one request go by, beside the draft itself.
#[derive(Clone)]
pub(crate) struct Brief<'a> {
    pub(crate) recipe: &'a Recipe,
    /// What the target asks for.
    pub(crate) requires: Requirements,
    pub(crate) view: &'a [Arc<Message>],
    /// The tools that are called in it, if that is known.
    called: Option<&'a Called>,
    pub(crate) pinned: &'a BTreeSet<MessageId>,
    /// A sub-agent's task: it never moves, and never gives way (C9).
    pub(crate) task: Option<&'a Arc<Message>>,
    /// The calls at the end of the view that are left open for their results.
    pub(crate) open: Vec<OpenCall>,
    /// The context and the tools that are shown.
    pub(crate) allotted: Allotted<'a>,
    /// What a rule of placement that remembers goes by.
    pub(crate) memory: Memory<'a>,
    /// What is known of the previous request.
    before: (Option<&'a Placement>, &'a ShownContext),
    /// Why nothing of what was shown stays, if that was found out.
    rebased: Option<Rebase>,
    /// What counts tokens, at one rate for the whole request.
    pub(crate) counting: Option<Counting<'a>>,
}

impl<'a> Brief<'a> {
    /// What a request of this view goes by.
    ///
    /// # Errors
    /// If a sub-agent hears none of it.
    pub(crate) fn of(
        (view, called): (&'a View, Option<&'a Called>),
        recipe: &'a Recipe,
        requires: Requirements,
        before: (Option<&'a Placement>, &'a ShownContext),
    ) -> Result<Self, Error> {
        let messages = &view.messages;
        let counting = recipe.ledger.as_deref().map(Ledger::counting);
        let targets = Targets::default();
        let all = (messages.as_slice(), called);
        let allotted = Allotted::of(recipe, all, before.1, counting.as_ref(), targets)?;
        Ok(Self {
            recipe,
            requires,
            view: messages,
            called,
            pinned: &view.pinned,
            task: task(messages, &recipe.agent)?,
            open: awaited(messages, recipe),
            memory: Memory::of(recipe, &allotted.context, before, messages),
            allotted,
            before,
            rebased: None,
            counting,
        })
    }

    /// The same with the context and the tools down to these targets.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub(crate) fn aim(&mut self, targets: Targets) -> Result<(), Error> {
        let (recipe, before) = (self.recipe, self.before);
        let counting = self.counting.as_ref();
        let view = (self.view, self.called);
        self.allotted = Allotted::of(recipe, view, before.1, counting, targets)?;
        self.memory = Memory::of(recipe, &self.allotted.context, before, self.view);
        if let Some(why) = self.rebased {
            self.memory.rebase(why);
        }
        Ok(())
    }

    /// Shows nothing of what was shown before where it stood.
    pub(crate) fn rebase(&mut self, why: Rebase) {
        self.rebased = Some(why);
        self.memory.rebase(why);
    }

    /// Whether this is the sub-agent's task.
    pub(crate) fn is_task(&self, message: &Arc<Message>) -> bool {
        // A task with a line that is escaped is another message under the same id.
        let is_it = |task: &Arc<Message>| {
            Arc::ptr_eq(task, message) || (!task.id.is_unassigned() && task.id == message.id)
        };
        self.task.is_some_and(is_it)
    }

    /// The origin given to messages that the steps make: the agent's whose request it is.
    pub(crate) fn own_origin(&self) -> Origin {
        match &self.recipe.agent {
            Agent::Main => Origin::Main,
            Agent::Sub(name) => Origin::SubAgent(name.clone()),
        }
    }
}

/// A sub-agent's task is what it hears first, if a user says it.
fn task<'a>(view: &'a [Arc<Message>], agent: &Agent) -> Result<Option<&'a Arc<Message>>, Error> {
    let Agent::Sub(name) = agent else { return Ok(None) };
    let mut heard = view.iter().filter(|message| agent.hears(message)).peekable();
    if heard.peek().is_none() {
        return Err(Error::settings(format!(
            "the sub-agent {name} has no task: no message of the view is its own"
        )));
    }
    let mut heard = heard.filter(|message| message.role() != Role::System);
    let first = heard.find(|message| filter::unheard(agent, message).is_none());
    Ok(first.filter(|message| message.role() == Role::User))
}
