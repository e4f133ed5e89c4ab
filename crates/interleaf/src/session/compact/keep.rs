//! What the summary of a compaction must keep, and who would write it.

use std::borrow::Cow;
use std::sync::Arc;

use interleaf_assemble::Recipe;
use interleaf_model::Message;

use super::super::Session;
use super::heard;
use crate::compaction::{Asks, Compaction, CompactionPolicy, Facts, Outlook, find, unsaid};
use crate::{Error, ErrorKind, Target};

impl Session {
    /// What the summary of a compaction must repeat word for word, and what the limits of the
    /// rules leave out. What a message that stays says is not among it.
    ///
    /// # Errors
    /// If what gives way has changed since it was planned, or a pattern is none.
    pub fn facts_to_keep(
        &self,
        compaction: &Compaction,
        policy: &CompactionPolicy,
    ) -> Result<Facts, Error> {
        let stays = self.stays(compaction, "")?;
        let Facts { kept, left_out } = self.facts(compaction, policy)?.into_owned();
        Ok(Facts { kept: unsaid(kept, &stays.messages), left_out })
    }

    /// What a compaction would do, what its summary must keep, and whom it would ask: `recipe`
    /// and `target` are those of the session's requests, and without a writer no model is asked.
    /// Nothing is sent.
    ///
    /// # Errors
    /// As [`summary_request`](Self::summary_request).
    pub async fn compaction_outlook(
        &mut self,
        plan: Compaction,
        policy: &CompactionPolicy,
        own: (&Recipe, &Target),
        writer: Option<&Target>,
    ) -> Result<Outlook, Error> {
        let facts = self.facts_to_keep(&plan, policy)?;
        let Some(writer) = writer else {
            let because = "a digest takes the place of what goes".to_owned();
            return Ok(Outlook { plan, facts, asks: Asks::Nobody { because } });
        };
        let asks = match self.summary_request(&plan, policy, own, writer).await {
            Ok(ask) => Asks::Model {
                vendor: writer.vendor.name.as_str().into(),
                model: writer.options.model.as_str().into(),
                tokens: ask.request.impact.tokens,
                form: ask.form,
                because: ask.because,
            },
            Err(e) if e.kind() == ErrorKind::TooLarge => Asks::Nobody { because: e.to_string() },
            Err(e) => return Err(e),
        };
        Ok(Outlook { plan, facts, asks })
    }

    /// The facts in all that the summary is to cover, looked for once. Those of what the summary
    /// before covers are looked for where they were said: it may say them in other words.
    pub(super) fn facts<'a>(
        &self,
        compaction: &'a Compaction,
        policy: &CompactionPolicy,
    ) -> Result<Cow<'a, Facts>, Error> {
        if let Some((rules, facts)) = compaction.found.get()
            && *rules == policy.facts
        {
            return Ok(Cow::Borrowed(facts));
        }
        let heard = heard(&self.conversation).into_iter();
        let covered: Vec<&Arc<Message>> =
            heard.filter(|message| compaction.covers.contains(&message.id)).collect();
        let earlier = compaction.earlier.as_ref().map(|summary| &*summary.text);
        let facts = find(&policy.facts, covered.iter().copied(), earlier)?;
        _ = compaction.found.set((policy.facts.clone(), facts.clone()));
        Ok(Cow::Owned(facts))
    }
}
