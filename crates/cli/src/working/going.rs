//! A run of an agent, told to a person as it goes.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, stdin};

use interleaf::model::{Message, plural};
use interleaf_agent::{End, Ended, Event, Limit, Used};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, spawn_blocking};

use super::Working;
use super::person::{Answer, Ask, NOBODY, UNCLEAR, channel, forget_typed, given_up, read_line};
use crate::failure::{Failure, Stop, Verdict, printable};
use crate::output::{Output, say, say_speech};
use crate::reach::cut;
use crate::stopped::Wishes;

impl Working {
    /// Has the agent work until it ends, and tells how it ended: in words, or as JSON.
    pub(crate) fn go(
        self,
        task: Option<&str>,
        json: bool,
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let Self { agent, transport, mut session, opened, permissions, is_new, .. } = self;
        let (mut asks, hook) = channel(permissions);
        let agent = agent.with_hook(hook);
        let id = session.id().to_string();
        if let Some(task) = task {
            let said = opened.wait(session.append(Message::user(task)));
            said.map_err(|e| Failure::session(&id, &e))?;
        }
        if !json {
            say(format_args!("session: {id}"));
        }
        let ended = opened.wait(async {
            let mut wishes = Wishes::listen();
            let mut run = agent.start(&transport, session)?;
            let handle = run.handle();
            let mut told = Told::new(output, json);
            let mut questions = Questions::default();
            loop {
                tokio::select! {
                    // A question comes after what led to it.
                    biased;
                    _ = wishes.next() => {
                        questions.waiting.clear();
                        handle.interrupt();
                    }
                    // What happens meanwhile is told when the question is answered.
                    event = run.next(), if questions.waiting.is_empty() => match event {
                        Some(event) => told.tell(&event),
                        None => break,
                    },
                    Some(ask) = asks.recv() => {
                        told.close();
                        questions.take(ask, json);
                    }
                    line = questions.line(), if !questions.waiting.is_empty() => {
                        questions.hear(line);
                    }
                }
            }
            let ended = run.finish().await?;
            told.finish(&ended);
            Ok((ended, told.cut))
        });
        let ended: Result<_, interleaf_agent::Error> = ended;
        let (ended, cut) = ended.map_err(|e| Failure::agent(&id, &e))?;
        // Nobody was asked: what was to be done is not worth a session.
        let is_nothing = ended.used.requests == 0 && ended.session.conversation().log_len() == 1;
        let is_kept = !(is_new && is_nothing && matches!(ended.end, End::Failed(_)));
        if !is_kept {
            opened.ask(opened.store.remove(ended.session.id()))?;
        }
        let currency = transport.currency();
        tell_end(is_kept.then_some(&id), &ended, currency, json.then_some(cut), output)?;
        match ended.end {
            End::Completed => Ok(Verdict::Fine),
            End::OutOfBudget(_) => Ok(Verdict::Unfinished),
            End::Interrupted => Ok(Verdict::Interrupted),
            End::Failed(why) => Err(Failure::run(id, why, ended.store_refused).into()),
            _ => Ok(Verdict::Findings),
        }
    }
}

/// What is said of a session in which nothing was asked.
pub(crate) const NOT_KEPT: &str = "note: the session is not kept, for nobody was asked";

/// Tells how it ended: in words, or as JSON with the answers that were cut off.
fn tell_end(
    id: Option<&String>,
    ended: &Ended,
    currency: &str,
    cut: Option<Vec<Value>>,
    output: &mut Output,
) -> Result<(), Stop> {
    let Ended { end, used, .. } = ended;
    if let Some(cut) = cut {
        return Ok(output.json_line(&json!({
            "session": id,
            "end": end.as_str(),
            "end_in_words": end.to_string(),
            "text": ended.text,
            "requests": used.requests,
            "unknown_usage": used.unknown,
            "tokens": used.tokens,
            // What is not known is not nothing.
            "price": used.price().map(|price| price.to_string()),
            "cut": cut,
        }))?);
    }
    let end = match end {
        // Why stands in the error.
        End::Failed(_) => "failed".to_owned(),
        end => printable(&end.to_string()).into_owned(),
    };
    say(format_args!("{end}: {}", took_in_all(used, currency)));
    match id {
        Some(id) => say(format_args!("hint: `interleaf run --session {id} '…'` goes on")),
        None => say(NOT_KEPT),
    }
    Ok(())
}

/// What a run took and cost, in words. What is not known is not nothing.
pub(crate) fn took_in_all(used: &Used, currency: &str) -> String {
    took(used, ", ", &|at_least| format!("{at_least}{} tokens", used.tokens), currency)
}

/// The same, with the tokens as they are told here.
pub(crate) fn took(
    used: &Used,
    after_requests: &str,
    tokens: &dyn Fn(&str) -> String,
    currency: &str,
) -> String {
    let requests = plural(used.requests, "request");
    let at_least = |is_part| if is_part { "at least " } else { "" };
    match (used.requests, used.tokens) {
        (0, 0) => "no request was made".to_owned(),
        (_, 0) if used.unknown > 0 => format!("{requests}, usage unknown"),
        (_, 0) => requests,
        _ => {
            let price = used.price().map_or("unknown".to_owned(), |price| {
                format!("{}{currency}{price}", at_least(used.is_part()))
            });
            let tokens = tokens(at_least(used.unknown > 0));
            format!("{requests}{after_requests}{tokens}, price {price}")
        }
    }
}

/// What happened, in a line. A result has the name of its tool.
pub(crate) fn line_of(event: &Event) -> String {
    match event {
        Event::Result(result) => {
            let name = result.as_result().and_then(|result| result.name.as_ref());
            let name = name.map(|name| format!("{} ", printable(name.as_str())));
            format!("{}{event}", name.unwrap_or_default())
        }
        Event::Sub { agent, event } => format!("{}: {}", printable(agent), line_of(event)),
        other => other.to_string(),
    }
}

/// Questions for whoever sits at the terminal. The first is the one that is shown.
#[derive(Default)]
struct Questions {
    waiting: VecDeque<Ask>,
    /// A line that is being read. It outlives a question that was given up: nobody can take a
    /// read back.
    reading: Option<JoinHandle<io::Result<Option<String>>>>,
}

impl Questions {
    fn take(&mut self, ask: Ask, json: bool) {
        if !stdin().is_terminal() {
            if !json {
                say(format_args!("  {}", ask.wanted()));
            }
            return ask.answer(Answer::Nobody);
        }
        self.waiting.push_back(ask);
        if self.waiting.len() == 1 {
            self.show();
        }
    }

    /// Shows the first question, if there is one. What was typed before is no answer to it.
    fn show(&self) {
        if let Some(ask) = self.waiting.front() {
            say(ask.wanted());
            forget_typed();
            say(format_args!("allow it? {}:", ask.choices()));
        }
    }

    /// Waits for a line; nothing, if nobody waits for the answer any more.
    async fn line(&mut self) -> Option<Answered> {
        let reading = self.reading.get_or_insert_with(|| spawn_blocking(read_line));
        tokio::select! {
            () = given_up(&mut self.waiting) => None,
            read = reading => {
                self.reading = None;
                Some(match read {
                    Ok(Ok(Some(line))) => Answer::read(&line),
                    _ => {
                        say(NOBODY);
                        Some(Answer::Nobody)
                    }
                })
            }
        }
    }

    fn hear(&mut self, line: Option<Answered>) {
        match line {
            Some(None) => {
                let choices = self.waiting.front().map(Ask::choices).unwrap_or_default();
                say(UNCLEAR);
                return say(format_args!("allow it? {choices}:"));
            }
            Some(Some(answer)) => {
                if let Some(ask) = self.waiting.pop_front() {
                    ask.answer(answer);
                }
            }
            None => {
                say("nobody waits for the answer any more");
                self.waiting.pop_front();
            }
        }
        self.waiting.retain(Ask::is_open);
        self.show();
    }
}

/// What a line says; nothing, if that is not clear.
type Answered = Option<Answer>;

/// Tells a person what happens: the last word on standard output, all else beside it. On a terminal
/// both are one, and every word is shown as it comes.
struct Told<'a> {
    output: &'a mut Output,
    json: bool,
    streams: bool,
    /// What was said since the last call, where it may be the last word.
    said: String,
    is_open: bool,
    /// The answers that were cut off.
    cut: Vec<Value>,
}

/// The agent below the one that runs, and the answer, if the event is one.
fn answer_of(event: &Event) -> Option<(Option<&str>, &interleaf_transport::Answer)> {
    match event {
        Event::Answered(answer) => Some((None, answer)),
        Event::Sub { agent, event } => {
            let (below, answer) = answer_of(event)?;
            Some((below.or(Some(agent)), answer))
        }
        _ => None,
    }
}

impl<'a> Told<'a> {
    fn new(output: &'a mut Output, json: bool) -> Self {
        let (streams, said, cut) = (output.is_terminal, String::new(), Vec::new());
        Self { output, json, streams, said, is_open: false, cut }
    }

    /// Tells of an answer that was cut off.
    fn tell_cut(&mut self, event: &Event) {
        let Some((agent, answer)) = answer_of(event) else { return };
        let Some(line) = cut(&answer.reply) else { return };
        let calls = answer.reply.cut_call().into_iter();
        let calls: Vec<Value> =
            calls.map(|call| json!({"id": call.id.as_str(), "name": call.name.as_str()})).collect();
        let finish = answer.reply.finish.as_str();
        self.cut.push(json!({"agent": agent, "finish": finish, "calls_not_run": calls}));
        if !self.json {
            self.close();
            let agent = agent.map(|agent| format!("{}: ", printable(agent)));
            say(format_args!("  {}{line}", agent.unwrap_or_default()));
        }
    }

    fn tell(&mut self, event: &Event) {
        self.tell_cut(event);
        match event {
            _ if self.json => {}
            Event::Text(text) if !self.streams => self.said.push_str(text),
            Event::Text(text) => {
                self.is_open = !text.ends_with('\n');
                // A pipe that was closed does not end the agent.
                let _ = self.output.answer(text);
            }
            Event::Answered(answer) => {
                self.close();
                if answer.reply.message.has_calls() {
                    self.remark();
                }
                if let (Some(read), Some(spent)) = (answer.expected_read(), &answer.spent) {
                    say(format_args!("  {spent}; {read} expected to be read"));
                }
            }
            Event::Sub { event, .. } if matches!(**event, Event::Text(_)) => {}
            Event::Ended(_) => {}
            other => {
                self.close();
                self.remark();
                say(format_args!("  {}", line_of(other)));
            }
        }
    }

    /// What was said so far is not the last word.
    fn remark(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !said.trim().is_empty() {
            say_speech(said.trim_end());
        }
    }

    /// Hands out the last word, if there is one.
    fn finish(&mut self, ended: &Ended) {
        self.close();
        let is_last =
            matches!(ended.end, End::Completed | End::Refused | End::OutOfBudget(Limit::Length));
        if !is_last {
            self.remark();
        } else if !self.json && !self.streams && !ended.text.is_empty() {
            self.is_open = !ended.text.ends_with('\n');
            let _ = self.output.answer(&ended.text);
            self.close();
        }
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = self.output.line("");
            let _ = self.output.flush();
        }
    }
}
