//! Commands that change how the chat goes on: `/undo`, `/redo`, `/fork`, `/compact`, `/model`.

use interleaf::assemble::{Agent as Who, Recipe};
use interleaf::compaction::CompactionPolicy;
use interleaf::conversation::{Operation, Span, Truncate};
use interleaf::model::{Message, Role, plural};

use super::input::Line;
use super::{Chat, lost, title};
use crate::failure::{Failure, Stop};
use crate::lines::cut;
use crate::reach::other;

/// How much is shown of what was taken back.
const SHOWN: usize = 40;

impl Chat<'_> {
    /// Takes the last turn back: what was said in it is no longer shown. The log keeps it.
    pub(super) fn undo(&mut self) -> Result<(), Stop> {
        let conversation = self.session()?.conversation();
        let asked = |message: &Message| message.role() == Role::User && Who::Main.hears(message);
        let start = conversation.visible().collect::<Vec<_>>().iter().rposition(|it| asked(it));
        let Some(start) = start else {
            return Err(Failure::new("/undo", "nothing was said yet").into());
        };
        let said = conversation.visible().nth(start).map(|it| it.text().into_owned());
        let n = conversation.view_len() - start;
        let cut_off = Truncate {
            range: Some(Span { start: 0, end: start }),
            keep_system: Some(false),
            ..Truncate::default()
        };
        self.changed(async |session| session.operate(Operation::Truncate(cut_off.clone())).await)?;
        let said = cut(&title(&said.unwrap_or_default()), SHOWN);
        let gone = plural(n, "message");
        self.note(&format!("taken back: {gone}, from “{said}” on; /redo brings it back"))
    }

    /// Takes an undo back.
    pub(super) fn redo(&mut self) -> Result<(), Stop> {
        let conversation = self.session()?.conversation();
        let batches: Vec<_> = conversation.batches().collect();
        let is_undone = batches.last().is_some_and(|batch| batch.cause == "truncate");
        let before = batches.len().checked_sub(2).and_then(|n| u32::try_from(n).ok());
        let (true, Some(before)) = (is_undone, before) else {
            return Err(Failure::new("/redo", "nothing was taken back").into());
        };
        let hidden = batches[before as usize].view_len_at_end().unwrap_or_default();
        let n = hidden.saturating_sub(conversation.view_len());
        if n == 0 {
            let rule =
                "something was said since: the log has it, and `sessions roll-back` shows it";
            return Err(Failure::new("/redo", rule).into());
        }
        self.changed(async |session| session.roll_back(before).await)?;
        self.note(&format!("brought back: {}", plural(n, "message")))
    }

    /// Goes on in a fork of the session, with its prefix and its cache.
    pub(super) fn fork(&mut self) -> Result<(), Stop> {
        let session = self.session()?;
        let (from, title) = (session.id(), session.head().title.clone());
        let fork = self.opened.asked(session.fork(&title))?;
        let id = fork.id();
        self.session = Some(fork);
        self.note(&format!("this is session {id} now; {from} stays as it is"))
    }

    /// Has a summary take the place of what is old.
    pub(super) fn compact(&mut self) -> Result<(), Stop> {
        let recipe = self.recipe()?;
        let (target, policy) = (self.target()?.clone(), CompactionPolicy::default());
        let session = self.session.as_mut().ok_or_else(lost)?;
        let own = (&recipe, &target);
        let done = self.opened.wait(async {
            tokio::select! {
                done = self.transport.compact(session, &policy, own, &target) => Some(done),
                _ = self.wishes.next() => None,
            }
        });
        let Some(done) = done else { return self.note("interrupted: nothing was changed") };
        let done = done.map_err(|e| Failure::transport(&e))?;
        for text in &done.texts {
            self.summaries = self.summaries + text.price.unwrap_or_default();
        }
        self.note(&format!("compacted: {done}"))
    }

    /// Asks another model from now on, if the user still wants to.
    pub(super) fn model(&mut self, named: &str) -> Result<(), Stop> {
        let words: Vec<&str> = named.split_whitespace().collect();
        let [vendor, model] = words.as_slice() else {
            let rule = "a vendor and a model follow it, such as /model openai gpt-5";
            return Err(Failure::new("/model", rule).into());
        };
        let to = other("/model", &format!("{vendor}:{model}"), self.target()?)?;
        let mut recipe = self.recipe()?;
        recipe.budget = Some(to.budget());
        let session = self.session.as_mut().ok_or_else(lost)?;
        if session.conversation().newest_request(None).is_some() {
            let switch = self.opened.wait(session.switch(&recipe, &to, None));
            let switch = switch.map_err(|e| Failure::session("/model", &e))?;
            self.output.text(&switch.to_string())?;
            self.output.line("change to it? y or n")?;
            self.output.flush()?;
            let line = self.line()?;
            let Line::Said(answer) = line else {
                return self.note("nothing was changed");
            };
            self.input.echo(&answer, self.output)?;
            if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
                return self.note("nothing was changed");
            }
        }
        self.agent = self.agent.clone().asking(to);
        self.note(&format!("{vendor} {model} is asked from now on"))
    }

    /// What the agent's next request is made from.
    fn recipe(&mut self) -> Result<Recipe, Failure> {
        let session = self.session.take().ok_or_else(lost)?;
        let (store, id) = (session.store().clone(), session.id());
        match self.opened.wait(self.agent.recipe(&self.transport, session)) {
            Ok((recipe, session)) => {
                self.session = Some(session);
                Ok(recipe)
            }
            Err(e) => {
                let again = self.opened.asked(interleaf::Session::open(store, id))?;
                self.session = Some(again);
                Err(Failure::new("", e.to_string()))
            }
        }
    }

    /// Changes the session, after what others wrote meanwhile.
    fn changed<T>(
        &mut self,
        change: impl AsyncFnMut(&mut interleaf::Session) -> Result<T, interleaf::Error>,
    ) -> Result<T, Failure> {
        const TRIES: usize = 15;
        let session = self.session.as_mut().ok_or_else(lost)?;
        self.opened.asked(session.retrying(TRIES, change))
    }
}
