//! A turn: the agent works until its last word, and hears what is typed meanwhile.

use std::collections::VecDeque;

use interleaf::Session;
use interleaf::model::{Message, shown_speech};
use interleaf_agent::{End, Ended, Event, Run};

use super::asking::{Answer, Ask};
use super::commands::Next;
#[cfg(unix)]
use super::input::Typed;
use super::telling::Telling;
use super::{Chat, is_open, lost, title};
use crate::failure::{Failure, Stop};
use crate::stopped::Wish;

/// The most characters of a call's arguments that are shown before it is allowed.
const LONGEST_CALL: usize = 4_000;

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
            let run = run.map_err(|e| Failure::new("", e.to_string()))?;
            self.follow(run, &mut telling).await
        })?;
        self.summaries = self.summaries + telling.summaries;
        match over {
            Over::Ended(mut ended, unheard) => {
                let goes_on = is_open(&mut ended.session);
                telling.end(&ended, goes_on, self.output)?;
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
                self.session = Some(opened.map_err(|e| Failure::session("", &e))?);
            }
        }
        Ok(if is_stopped { Next::Stop } else { Next::Line })
    }

    /// Follows a run to its end. Tells whether the program is asked to end, too.
    async fn follow(&mut self, mut run: Run, telling: &mut Telling) -> Result<(Over, bool), Stop> {
        let mut typed = Listener::of(self.input.is_terminal());
        let handle = run.handle();
        let mut waiting: VecDeque<Ask> = VecDeque::new();
        let mut unheard: Vec<String> = Vec::new();
        let (mut n_interrupted, mut is_stopped) = (0, false);
        loop {
            tokio::select! {
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
                    if waiting.is_empty() {
                        self.show(&ask)?;
                    }
                    if self.input.is_terminal() {
                        waiting.push_back(ask);
                    } else {
                        self.answer_by_line(ask).await?;
                    }
                }
                line = typed.next() => match waiting.pop_front() {
                    Some(ask) => {
                        ask.answer(Answer::read(&line));
                        if let Some(next) = waiting.front() {
                            self.show(next)?;
                        }
                    }
                    None if line.trim().is_empty() => {}
                    None if line.trim_start().starts_with('/') => {
                        self.note("the command waits until the agent has come to its end")?;
                        self.output.flush()?;
                        self.later.push_back(line);
                    }
                    None => {
                        handle.say(line.clone());
                        unheard.push(line);
                    }
                },
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
            }
        }
        let ended = run.finish().await.map_err(|e| Failure::new("", e.to_string()))?;
        Ok((Over::Ended(Box::new(ended), unheard), is_stopped))
    }

    /// Shows a call that waits for a word of the user's.
    fn show(&mut self, ask: &Ask) -> Result<(), Stop> {
        let arguments = ask.call.arguments.as_str();
        let arguments = match arguments.char_indices().nth(LONGEST_CALL) {
            Some((end, _)) => format!("{}…", &arguments[..end]),
            None => arguments.to_owned(),
        };
        let (agent, name, mark) = (&ask.agent, &ask.call.name, self.output.palette.mark);
        self.output.line(format_args!(
            "{mark}{agent} wants{mark:#} {name}({})",
            shown_speech(&arguments)
        ))?;
        self.output.text(&format!("{mark}allow it?{mark:#} y, a (always), or n and why: "))?;
        Ok(self.output.flush()?)
    }

    /// Takes the next line of standard input as the answer.
    async fn answer_by_line(&mut self, ask: Ask) -> Result<(), Stop> {
        let line = self.input.answer().await;
        let line = line.map_err(|e| Failure::io("standard input", &e))?;
        let answer = match &line {
            Some(line) => Answer::read(line),
            None => Answer::No("nobody is there to allow it".to_owned()),
        };
        self.output.line(line.as_deref().unwrap_or("(nobody is there)"))?;
        ask.answer(answer);
        Ok(())
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

    async fn next(&mut self) -> String {
        #[cfg(unix)]
        if let Some(typed) = &mut self.typed {
            return typed.next().await;
        }
        std::future::pending().await
    }
}
