//! A single request, made to be looked at.

mod repeated;
mod told;

use std::borrow::Cow;
use std::collections::BTreeSet;

use interleaf_assemble::{Assembly, Ledger, Outcome, Previous, Recipe, View, assemble_or_draft};
use interleaf_conversation::{Conversation, PINNED};
use interleaf_model::{Entry, MessageId, Requirements};
use interleaf_wire::{Decoder, Encoded, Vendor, encode};

use crate::hearing::heard;
use crate::text_form::TextForm;
use crate::{Error, Impact, SessionWarmth, Target, bound};
pub use interleaf_wire::{Change, Rewritten};

/// What a single request is made from: any conversation, be it read from a file or a
/// session's past.
///
/// ```
/// use interleaf::assemble::Recipe;
/// use interleaf::{Single, Target, read};
///
/// let reading = read::conversation(r#"[{"role": "user", "content": "hello"}]"#)?;
/// let target = Target::new("anthropic", "claude-sonnet-4-5")?;
/// let preview = Single::of(&reading.conversation, &Recipe::new()).preview(Some(&target))?;
/// assert!(preview.body.is_some());
/// assert_eq!(preview.entries().len(), 1);
/// # Ok::<(), interleaf::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Single<'a> {
    /// What was said.
    pub conversation: &'a Conversation,
    /// What else the request is made from.
    pub recipe: &'a Recipe,
    /// Messages to treat as pinned beside those that are marked so.
    pub pins: &'a [MessageId],
    /// The request before this one.
    pub previous: Option<&'a Previous>,
    /// The body of the request before this one, in the form of any API: what it begins with
    /// is measured by it, where the messages of the previous request are not known.
    pub sent: Option<&'a str>,
    /// Drop thinking that stands after something else than what it was made after (C15): by
    /// the hash that a session keeps with an answer, else by the previous request. A target
    /// whose model binds its thinking asks for it by itself.
    pub bound_thinking: bool,
    /// Take thinking of which no hash was kept at its word, as a session's requests do, whatever
    /// the previous request says.
    pub trusts_thinking: bool,
}

/// A request that was made to be looked at, or one that waits.
#[derive(Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The prompt, or the calls that it waits for, and the report.
    pub assembly: Assembly,
    /// The body, if there is a prompt and a target.
    pub body: Option<Encoded>,
    /// The pinned messages.
    pub pinned: BTreeSet<MessageId>,
    /// Where the body is another than the one that it was read from; see
    /// [`compare`](Self::compare).
    pub rewritten: Vec<Rewritten>,
    /// What it has in common with the last request of a session, if it was held against one.
    pub impact: Option<Impact>,
    /// What reads the answer, if there is a body.
    pub decoder: Option<Decoder>,
    /// How warm the vendor's cache is for that session, if it was asked.
    pub warmth: Option<SessionWarmth>,
    /// The messages so far, if the request waits.
    draft: Vec<Entry>,
}

impl<'a> Single<'a> {
    /// A request from this conversation.
    pub fn of(conversation: &'a Conversation, recipe: &'a Recipe) -> Self {
        let (pins, previous, sent): (&[MessageId], _, _) = (&[], None, None);
        let (bound_thinking, trusts_thinking) = (false, false);
        Self { conversation, recipe, pins, previous, sent, bound_thinking, trusts_thinking }
    }

    /// Makes the request, for a target or for nobody in particular. A budget without a
    /// ledger is counted by the target's model.
    ///
    /// # Errors
    /// If there is nothing to say, a pinned message is not there, the request does not fit
    /// or the API cannot say it.
    pub fn preview(&self, target: Option<&Target>) -> Result<Preview, Error> {
        let preview = self.preview_after(self.previous, target)?;
        let is_known = self.previous.is_some_and(Previous::knows_messages);
        let (Some(sent), false, Outcome::Ready(prompt)) =
            (self.sent, is_known, &preview.assembly.outcome)
        else {
            return Ok(preview);
        };
        let mut previous = self.previous.cloned().unwrap_or_default();
        previous.messages = repeated::before(sent, prompt, (target, preview.body.as_ref()))?;
        self.preview_after(Some(&previous), target)
    }

    fn preview_after(
        &self,
        previous: Option<&Previous>,
        target: Option<&Target>,
    ) -> Result<Preview, Error> {
        self.recipe.check_agent().map_err(Error::assemble)?;
        let view = self.view()?;
        let mut recipe = Cow::Borrowed(self.recipe);
        if let (Some(_), None, Some(target)) = (recipe.budget, &recipe.ledger, target) {
            let ledger = Ledger::for_model(&target.options.model);
            recipe.to_mut().ledger = Some(ledger.into());
        }
        if let Some(target) = target {
            target.suit(&mut recipe);
        }
        let is_text = target.is_some_and(Target::has_text_tools);
        let mut text = is_text.then(|| TextForm::new(recipe.tools.clone()));
        if let (Some(text), Some(ledger)) = (&mut text, recipe.ledger.clone()) {
            recipe.to_mut().ledger = Some(text.ledger(&ledger));
        }
        let requires = target.map_or_else(of_nobody, Target::requirements);
        let made = assemble_or_draft(&view, &recipe, requires, previous);
        let (mut assembly, draft) = made.map_err(Error::assemble)?;
        let mut unbound = BTreeSet::new();
        let binds = self.bound_thinking || target.is_some_and(Target::binds_thinking);
        if let (true, Outcome::Ready(prompt)) = (binds, &mut assembly.outcome) {
            let previous = previous.filter(|it| it.knows_messages() && !self.trusts_thinking);
            let previous = previous.map(|previous| previous.messages.as_slice());
            unbound = bound::unbound(prompt, previous);
            if target.is_none() {
                // The next request is held against this one: what is dropped stays dropped.
                *prompt = bound::without_thinking(prompt, &unbound);
            }
        }
        let body = match (&assembly.outcome, target) {
            (Outcome::Ready(prompt), Some(Target { vendor, options, .. })) => {
                let mut options = options.clone();
                options.unbound_thinking.extend(unbound);
                Some(match &mut text {
                    None => encode(prompt, vendor, &options).map_err(Error::wire)?,
                    Some(text) => {
                        let (said, options) = text.prompt(prompt, &options)?;
                        let mut body = encode(&said, vendor, &options).map_err(Error::wire)?;
                        text.report(prompt, &mut body);
                        body
                    }
                })
            }
            (Outcome::Ready(_) | Outcome::Waiting(_), _) => None,
        };
        let decoder = body.as_ref().zip(target).map(|(body, target)| {
            let decoder = Decoder::new(target.vendor.family, body.names.clone());
            match &text {
                Some(text) => decoder.reading(text.reader()),
                None => decoder,
            }
        });
        let (rewritten, impact, warmth) = (Vec::new(), None, None);
        let pinned = view.pinned;
        Ok(Preview { assembly, body, pinned, rewritten, impact, decoder, warmth, draft })
    }

    fn view(&self) -> Result<View, Error> {
        let mut pinned = pinned(self.conversation);
        for pin in self.pins {
            if self.conversation.find(pin).is_none() {
                return Err(Error::rule(format!("there is no message {:?} to pin", pin.as_str())));
            }
            pinned.insert(pin.clone());
        }
        let (messages, _) = heard(self.conversation, &self.recipe.agent);
        Ok(View { messages, pinned })
    }
}

impl Preview {
    /// Finds where the body is another than the one that it was read from, of the same API:
    /// readers mend what is plain, and this tells what they did. The vendor is the one that it
    /// was made for: each place has the rules that were broken there.
    pub fn compare(&mut self, read_from: &str, vendor: &Vendor) {
        let body = self.body.as_ref().map(Encoded::to_bytes).unwrap_or_default();
        if let Ok(body) = std::str::from_utf8(&body) {
            self.rewritten = interleaf_wire::rewritten(read_from, body, vendor);
        }
    }

    /// The messages of the request, or those that it would have so far.
    pub fn entries(&self) -> &[Entry] {
        match &self.assembly.outcome {
            Outcome::Ready(prompt) => prompt.entries(),
            Outcome::Waiting(_) => &self.draft,
        }
    }
}

/// What a request that is for nobody in particular keeps to: no turn is made up for it.
fn of_nobody() -> Requirements {
    let mut requires = Requirements::STRICT;
    requires.user_first = false;
    requires
}

/// The messages that are marked as pinned.
pub(crate) fn pinned(conversation: &Conversation) -> BTreeSet<MessageId> {
    let marked = conversation.marks().find(|(mark, _)| *mark == PINNED);
    let indices = marked.into_iter().flat_map(|(_, indices)| indices);
    let messages = indices.filter_map(|index| conversation.message(index));
    messages.map(|message| message.id.clone()).collect()
}
