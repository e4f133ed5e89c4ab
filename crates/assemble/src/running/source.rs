//! The view with the summary in its place, as it grows.

use hashbrown::HashSet;
use std::sync::Arc;

use interleaf_model::{CallId, Entry, Message};

use crate::brief::Brief;
use crate::draft::{Draft, said};
use crate::finding::Findings;
use crate::steps::{compress, filter};
use crate::{Error, Summary};

/// What the steps after compress begin with.
#[derive(Default)]
pub(super) struct Source {
    pub(super) entries: Vec<Entry>,
    /// What compress found.
    pub(super) findings: Findings,
    /// How many messages of the view it has taken in.
    pub(super) n_view: usize,
    /// The calls of covered messages that no later message has made again: a result
    /// for one of them changes what the summary may swallow.
    covered_calls: HashSet<CallId>,
    /// The latest word of the user's is covered, and therefore spared.
    spares_latest: bool,
}

impl Source {
    /// Compresses a whole view.
    pub(super) fn of(brief: &Brief<'_>, view: &[Arc<Message>]) -> Result<Self, Error> {
        let mut draft = Draft::of(view, brief.recipe.look_alikes);
        let mut source = Self { n_view: view.len(), ..Self::default() };
        compress::run(brief, &mut draft, &mut source.findings)?;
        source.entries = draft.entries;
        if let Some(summary) = &brief.recipe.summary {
            view.iter().for_each(|message| source.note(brief, summary, message));
        }
        Ok(source)
    }

    /// Takes in the messages that are new in the view. Says no if one of them changes
    /// what was compressed before it.
    pub(super) fn extend(&mut self, brief: &Brief<'_>, view: &[Arc<Message>]) -> bool {
        for message in &view[self.n_view..] {
            if let Some(summary) = &brief.recipe.summary {
                if self.is_changed_by(brief, summary, message) {
                    return false;
                }
                self.note(brief, summary, message);
            }
            self.entries.push(said(message, brief.recipe.look_alikes));
            self.n_view += 1;
        }
        true
    }

    fn is_changed_by(&self, brief: &Brief<'_>, summary: &Summary, message: &Message) -> bool {
        let answers_covered =
            message.as_result().is_some_and(|result| self.covered_calls.contains(&result.call));
        summary.covers.contains(&message.id)
            || summary.start == message.id
            || answers_covered
            // A pinned result shields the whole block around it.
            || (message.as_result().is_some() && brief.pinned.contains(&message.id))
            || (self.spares_latest && filter::speaks(&brief.recipe.agent, message))
    }

    fn note(&mut self, brief: &Brief<'_>, summary: &Summary, message: &Message) {
        let is_covered = summary.covers.contains(&message.id);
        for call in message.calls() {
            if is_covered {
                self.covered_calls.insert(call.id.clone());
            } else {
                self.covered_calls.remove(&call.id);
            }
        }
        if filter::speaks(&brief.recipe.agent, message) {
            self.spares_latest = is_covered;
        }
    }
}
