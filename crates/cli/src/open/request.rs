//! The requests that were sent from a session.

use std::sync::Arc;

use interleaf::Target;
use interleaf::assemble::{Ledger, Recipe};
use interleaf::conversation::Conversation;
use interleaf::model::AgentName;
use interleaf::store::SentRequest;

use super::{GIVE, OpenSession};
use crate::destination::body_text;
use crate::failure::{Failure, printable};
use crate::output::say;

impl OpenSession {
    /// Adds to the next request what the agent's last one had and no flag gives, and says so.
    pub(crate) fn take_over(&self, recipe: &mut Recipe, to: &mut Target) -> Result<(), Failure> {
        if let Some(had) = self.ask(self.session.take_over(recipe, to))? {
            let had = had.to_string();
            let had = printable(&had);
            say(format_args!("note: {had}, which no flag gives; it is used ({GIVE})"));
        }
        Ok(())
    }

    /// Makes the session's next request, noted as sent, and gives its body; none, if it waits.
    pub(crate) fn record(
        &mut self,
        recipe: &Recipe,
        target: Option<&Target>,
    ) -> Result<Option<String>, Failure> {
        let Some(target) = target else {
            let rule = "a request in neutral form is not sent; name an API with --to";
            return Err(Failure::new("--record", rule));
        };
        let name = self.name();
        let Self { session, opened } = self;
        let next = opened.wait(session.record(recipe, target));
        let request = next.map_err(|e| Failure::session(&name, &e))?.request();
        request.map(|request| body_text(&name, &request.body)).transpose()
    }

    /// What counts the tokens of the session's requests.
    pub(crate) fn ledger(&mut self, model: &str) -> Result<Arc<Ledger>, Failure> {
        let name = self.name();
        let ledger = self.opened.wait(self.session.ledger(model));
        ledger.map_err(|e| Failure::session(&name, &e))
    }

    /// A target with the session's own name for the vendor's cache.
    pub(crate) fn keyed(
        &mut self,
        target: &Target,
        agent: Option<&AgentName>,
    ) -> Result<Target, Failure> {
        let name = self.name();
        let keyed = self.opened.wait(self.session.keyed(target, agent));
        Ok(keyed.map_err(|e| Failure::session(&name, &e))?.into_owned())
    }

    /// What is known of an agent's last request in a conversation of this session.
    pub(crate) fn previous(
        &self,
        conversation: &Conversation,
        agent: Option<&AgentName>,
    ) -> Result<interleaf::read::Before, Failure> {
        let body = self.ask(self.session.previous_body(conversation, agent))?;
        Ok((self.ask(self.session.previous(conversation, agent))?, body))
    }

    /// The body of the last request that was noted up to then, byte for byte.
    pub(crate) fn sent(&self, at: Option<u64>) -> Result<Vec<u8>, Failure> {
        match self.ask(self.session.request_at(at.unwrap_or(u64::MAX)))? {
            Some(request) => self.ask(self.session.rebuild(request.no)),
            None => {
                let rule = "no request was recorded by then; `build --record` records one";
                Err(Failure::new(self.name(), rule))
            }
        }
    }

    /// Whether the request that was noted at just this point is this one, if there is one.
    pub(crate) fn was_sent(
        &self,
        at: u64,
        text: &str,
    ) -> Result<Option<(SentRequest, bool)>, Failure> {
        let request = self.ask(self.session.request_at(at))?;
        let request = request.filter(|request| request.seq == at);
        Ok(request.map(|request| {
            let same = request.body.is(text.trim_end_matches('\n').as_bytes());
            (request, same)
        }))
    }
}
