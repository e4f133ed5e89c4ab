//! A turn: the agent works until its last word, and hears what is typed meanwhile.

use std::collections::VecDeque;

use interleaf::Session;
use interleaf::model::Message;
use interleaf::store::SessionId;
use interleaf_agent::{End, Ended, Event, Handle, Run, Standing};

use super::commands::Next;
#[cfg(unix)]
use super::input::Typed;
use super::telling::Telling;
use super::{Chat, lost, title};
use crate::failure::{Failure, Stop};
use crate::stopped::Wish;
use crate::working::{Answer, Ask, UNCLEAR, given_up};

/// How a turn came to its end.
enum Over {
    /// With what was said to the agent and not heard.
    Ended(Box<Ended>, Vec<String>),
    /// It was dropped: the user did not wait for its end.
    Dropped,
}

impl Chat<'_> {
    /// Says something to the agent, or goes on where it was, and has it work.
    pub(super) fn turn(&mut self, text: Option<&str>) -> Result<Next, Stop> {
        let mut session = self.session.take().ok_or_else(lost)?;
        if let Some(text) = text {
            let said = self.opened.wait(async {
                if session.conversation().log_len() == 0 {
                    session.rename(&title(text)).await?;
                }
                session.append(Message::user(text)).await
            });
            match said {
                Ok(index) => self.begun.push(index),
                Err(e) => {
                    let failure = Failure::session(&session.id().to_string(), &e);
                    self.session = Some(session);
                    self.tell_failure(&failure)?;
                    return Ok(Next::Line);
                }
            }
        }
        let (store, id) = (session.store().clone(), session.id());
        let mut telling = Telling::new(self.output);
        let runtime = self.opened.clone();
        let (over, is_stopped) = runtime.wait(async {
            let run = self.agent.start(&self.transport, session);
            let run = run.map_err(|e| Failure::agent(&id.to_string(), &e))?;
            self.follow(run, &mut telling, id).await
        })?;
        self.summaries = self.summaries + telling.summaries;
        match over {
            Over::Ended(mut ended, unheard) => {
                let goes_on = Standing::of(&mut ended.session).goes_on();
                let currency = self.transport.currency();
                telling.end(&ended, goes_on, currency, self.output)?;
                let is_over = ended.end == End::Completed && !is_stopped;
                self.session = Some(ended.session);
                let unheard = unheard.join("\n");
                if !unheard.is_empty() && is_over {
                    // It came after the last word: it is the next turn.
                    return self.turn(Some(&unheard));
                }
                if !unheard.is_empty() {
                    self.note(&format!("not heard: {unheard}"))?;
                }
            }
            Over::Dropped => {
                telling.close(self.output)?;
                self.note("stopped at once")?;
                let opened = self.opened.wait(Session::open(store, id));
                self.session = Some(opened.map_err(|e| Failure::session(&id.to_string(), &e))?);
            }
        }
        Ok(if is_stopped { Next::Stop } else { Next::Line })
    }

    /// Follows a run to its end. Tells whether the program is asked to end, too.
    async fn follow(
        &mut self,
        mut run: Run,
        telling: &mut Telling,
        id: SessionId,
    ) -> Result<(Over, bool), Stop> {
        let mut typed = Listener::of(self.input.is_terminal());
        let handle = run.handle();
        let mut waiting: VecDeque<Ask> = VecDeque::new();
        let mut unheard: Vec<String> = Vec::new();
        let (mut n_interrupted, mut is_stopped) = (0, false);
        loop {
            tokio::select! {
                // A question comes after what led to it.
                biased;
                wish = self.wishes.next() => {
                    is_stopped |= wish != Wish::Interrupt;
                    if !std::mem::take(&mut waiting).is_empty() {
                        self.output.line("")?;
                    }
                    n_interrupted += 1;
                    if n_interrupted > 1 {
                        return Ok((Over::Dropped, is_stopped));
                    }
                    handle.interrupt();
                }
                // What happens meanwhile is told when the question is answered.
                event = run.next(), if waiting.is_empty() => match event {
                    Some(event) => {
                        if let Event::Heard(text) = &event
                            && let Some(n) = unheard.iter().position(|said| said == text)
                        {
                            unheard.remove(n);
                        }
                        telling.tell(&event, self.output)?;
                    }
                    None => break,
                },
                Some(ask) = self.asks.recv() => {
                    // A run that was dropped may have left one behind.
                    if !ask.is_open() {
                        continue;
                    }
                    telling.close(self.output)?;
                    if !self.input.is_terminal() {
                        self.answer_by_line(ask).await?;
                        continue;
                    }
                    waiting.push_back(ask);
                    if waiting.len() == 1 {
                        self.show(&waiting, &mut typed, (&handle, &mut unheard)).await?;
                    }
                }
                () = given_up(&mut waiting) => {
                    self.output.line("")?;
                    self.note("nobody waits for the answer any more")?;
                    waiting.retain(Ask::is_open);
                    self.show(&waiting, &mut typed, (&handle, &mut unheard)).await?;
                }
                line = typed.next() => match waiting.is_empty() {
                    true => self.hear(line, (&handle, &mut unheard))?,
                    false => match self.answer(&line)? {
                        None => waiting.front().map_or(Ok(()), |ask| self.ask_again(ask))?,
                        Some(answer) => {
                            if let Some(ask) = waiting.pop_front() {
                                ask.answer(answer);
                            }
                            self.show(&waiting, &mut typed, (&handle, &mut unheard)).await?;
                        }
                    },
                },
            }
        }
        let ended = run.finish().await;
        let ended = ended.map_err(|e| Failure::agent(&id.to_string(), &e))?;
        Ok((Over::Ended(Box::new(ended), unheard), is_stopped))
    }

    /// Takes in a line that was typed while the agent works, and that is no answer.
    fn hear(
        &mut self,
        line: String,
        (handle, unheard): (&Handle, &mut Vec<String>),
    ) -> Result<(), Stop> {
        if line.trim_start().starts_with('/') {
            self.note("the command waits until the agent has come to its end")?;
            self.output.flush()?;
            self.later.push_back(line);
        } else if !line.trim().is_empty() {
            handle.say(line.clone());
            unheard.push(line);
        }
        Ok(())
    }

    /// What a line answers to a question; nothing, if that is not clear.
    fn answer(&mut self, line: &str) -> Result<Option<Answer>, Stop> {
        if line.trim_start().starts_with('/') {
            self.note("first answer the question; the command runs when the agent has ended")?;
            self.later.push_back(line.to_owned());
            return Ok(None);
        }
        let answer = Answer::read(line);
        if answer.is_none() {
            self.note(UNCLEAR)?;
        }
        Ok(answer)
    }

    /// Shows the first call that waits for a word of the user's. What was typed before it was
    /// shown is no answer to it.
    async fn show(
        &mut self,
        waiting: &VecDeque<Ask>,
        typed: &mut Listener,
        (handle, unheard): (&Handle, &mut Vec<String>),
    ) -> Result<(), Stop> {
        let Some(ask) = waiting.front() else { return Ok(()) };
        let (lines, begun) = typed.so_far().await;
        for line in lines {
            self.hear(line, (handle, &mut *unheard))?;
        }
        if !begun.is_empty() {
            self.output.line("")?;
            self.note(&format!("a question comes first, and this is not said: {begun}"))?;
        }
        self.show_call(ask)?;
        self.ask_again(ask)
    }

    fn show_call(&mut self, ask: &Ask) -> Result<(), Stop> {
        Ok(self.output.line(ask.wanted())?)
    }

    fn ask_again(&mut self, ask: &Ask) -> Result<(), Stop> {
        let mark = self.output.palette.mark;
        self.output.text(&format!("{mark}allow it?{mark:#} {}: ", ask.choices()))?;
        Ok(self.output.flush()?)
    }

    /// Takes the next line of standard input that is one as the answer.
    async fn answer_by_line(&mut self, ask: Ask) -> Result<(), Stop> {
        self.show_call(&ask)?;
        loop {
            self.ask_again(&ask)?;
            let line = self.input.answer().await;
            let line = line.map_err(|e| Failure::io("standard input", &e))?;
            self.output.line(line.as_deref().unwrap_or("(nobody is there)"))?;
            let answer = match line {
                Some(line) => self.answer(&line)?,
                None => Some(Answer::Nobody),
            };
            if let Some(answer) = answer {
                ask.answer(answer);
                return Ok(());
            }
        }
    }
}

/// What is typed meanwhile, where somebody can.
struct Listener {
    #[cfg(unix)]
    typed: Option<Typed>,
}

impl Listener {
    #[cfg(unix)]
    fn of(is_terminal: bool) -> Self {
        Self { typed: is_terminal.then(Typed::listen) }
    }

    #[cfg(not(unix))]
    fn of(_: bool) -> Self {
        Self {}
    }

    /// All that was typed until now: whole lines, and one that was begun.
    async fn so_far(&mut self) -> (Vec<String>, String) {
        #[cfg(unix)]
        if let Some(typed) = &mut self.typed {
            return typed.so_far().await;
        }
        Default::default()
    }

    async fn next(&mut self) -> String {
        #[cfg(unix)]
        if let Some(typed) = &mut self.typed {
            return typed.next().await;
        }
        std::future::pending().await
    }
}
