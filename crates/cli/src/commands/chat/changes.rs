//! Commands that change how the chat goes on: `/undo`, `/redo`, `/fork`, `/compact`, `/model`.

use interleaf::Target;
use interleaf::assemble::{Agent as Who, Recipe};
use interleaf::conversation::{Conversation, Operation, Span, Truncate};
use interleaf::model::{Role, plural};
use interleaf_agent::Ran;

use super::commands::Next;
use super::input::Line;
use super::{Chat, lost, title};
use crate::failure::{Failure, Stop};
use crate::lines::cut;
use crate::stopped::Wish;

/// How much is shown of what was taken back.
const SHOWN: usize = 40;

impl Chat<'_> {
    /// Takes the last turn back: what was said in it is no longer shown. The log keeps it.
    pub(super) fn undo(&mut self) -> Result<(), Stop> {
        let conversation = self.session()?.conversation();
        let Some(start) = self.last_turn()? else {
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

    /// The position at which the last turn begins. What was said to the agent while it worked
    /// belongs to its turn. Of turns before this chat, that is told by what came before it: the
    /// result of a call, and no last word.
    fn last_turn(&self) -> Result<Option<usize>, Failure> {
        let conversation = self.session()?.conversation();
        let all = conversation.view().zip(conversation.visible()).enumerate();
        let heard = all.filter(|(_, (_, message))| Who::Main.hears(message));
        let heard = heard.map(|(at, (index, message))| (at, index, message.role()));
        let heard: Vec<(usize, u32, Role)> = heard.collect();
        let mut upto = heard.len();
        while let Some(last) = heard[..upto].iter().rposition(|it| it.2 == Role::User) {
            let (at, index, _) = heard[last];
            let said = heard[..last].iter().rposition(|it| it.2 != Role::User);
            let is_amid = match self.begun.first() {
                Some(first) if *first <= index => !self.begun.contains(&index),
                _ => said.is_some_and(|before| heard[before].2 == Role::Tool),
            };
            if !is_amid {
                return Ok(Some(at));
            }
            upto = last;
        }
        Ok(None)
    }

    /// Takes an undo back: the last that was not taken back yet.
    pub(super) fn redo(&mut self) -> Result<(), Stop> {
        let conversation = self.session()?.conversation();
        let Some((before, view)) = undone(conversation).pop() else {
            let rule = "nothing was taken back, or something was said since: the log has it, and \
                        `sessions roll-back` shows it";
            return Err(Failure::new("/redo", rule).into());
        };
        let n = view.len().saturating_sub(conversation.view_len());
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
    pub(super) fn compact(&mut self) -> Result<Next, Stop> {
        let recipe = self.recipe()?;
        let (target, policy) = (self.target()?.clone(), self.agent.policy().clone());
        let writer = self.transport.writer().unwrap_or(&target).clone();
        let session = self.session.as_mut().ok_or_else(lost)?;
        let own = (&recipe, &target);
        let done = self.opened.wait(async {
            tokio::select! {
                done = self.transport.compact(session, &policy, own, &writer) => Ok(done),
                wish = self.wishes.next() => Err(wish),
            }
        });
        let done = match done {
            Ok(done) => done,
            Err(wish) => {
                self.note("interrupted: nothing was changed")?;
                return Ok(if wish == Wish::Interrupt { Next::Line } else { Next::Stop });
            }
        };
        let done = done.map_err(|e| Failure::transport(&e))?;
        for text in &done.texts {
            self.summaries = self.summaries + text.price.unwrap_or_default();
        }
        self.note(&format!("compacted: {done}"))?;
        Ok(Next::Line)
    }

    /// Asks another model from now on, if the user still wants to.
    pub(super) fn model(&mut self, named: &str) -> Result<Next, Stop> {
        let words: Vec<&str> = named.split_whitespace().collect();
        let to = match words.as_slice() {
            [named] => self.settings.target(named),
            [vendor, model] => self.settings.model_of(vendor, model),
            _ => Err("a model follows it: VENDOR MODEL, VENDOR/MODEL, or a name of [models] of \
                      interleaf.toml"
                .to_owned()),
        };
        let mut to = to.map_err(|rule| Failure::new("/model", rule))?;
        let Target { vendor: now, .. } = self.target()?;
        if now.name == to.vendor.name {
            // It is at the address that a flag may have named.
            to.vendor = now.clone();
        }
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
            let is_stopped = matches!(line, Line::Stopped);
            let answer = if let Line::Said(answer) = line { answer } else { String::new() };
            self.input.echo(&answer, self.output)?;
            if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
                self.note("nothing was changed")?;
                return Ok(if is_stopped { Next::Stop } else { Next::Line });
            }
        }
        self.agent = self.agent.clone().asking(to);
        let session = self.session.as_mut().ok_or_else(lost)?;
        let noted = self.opened.wait(async {
            // Whoever goes on with the session goes on with this model.
            match Ran::of(&**session.store(), session.id()).await? {
                Some(ran) => ran.asking(self.agent.targets()).note(session).await,
                None => Ok(()),
            }
        });
        noted.map_err(|e| Failure::agent("/model", &e))?;
        let mut names = self.agent.targets().iter().map(|target| {
            let Target { vendor, options, .. } = target;
            format!("{} {}", vendor.name, options.model)
        });
        let first = names.next().unwrap_or_default();
        let others = names.collect::<Vec<_>>().join(", ");
        self.note(&format!("{first} is asked from now on"))?;
        if !others.is_empty() {
            self.note(&format!("if it gives no answer: {others}"))?;
        }
        Ok(Next::Line)
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
                Err(Failure::agent(&id.to_string(), &e))
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

/// What can be brought back, the newest last: the batch before each undo, and its view. A session
/// tells it, so that a chat which goes on with one knows it too.
fn undone(conversation: &Conversation) -> Vec<(u32, Vec<u32>)> {
    let mut undone = Vec::new();
    let (mut before, mut was) = (0, Vec::new());
    for (n, batch) in (0..).zip(conversation.batches()) {
        let mut then = conversation.clone();
        // The current batch has not ended, and its view is that of now.
        let _ = then.roll_back(n);
        let view: Vec<u32> = then.view().collect();
        match batch.cause.as_str() {
            // What was said since would be hidden.
            "truncate" if view.last() > was.last() => undone.clear(),
            "truncate" => undone.push((before, was)),
            // The same view: nothing was said since either.
            "roll_back" if undone.last().is_some_and(|(_, had)| *had == view) => {
                undone.pop();
            }
            _ => undone.clear(),
        }
        (before, was) = (n, view);
    }
    undone
}
