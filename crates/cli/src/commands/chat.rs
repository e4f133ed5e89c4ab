//! `interleaf chat`.
//!
//! ```text
//!   input ──line──▶ a command, or a turn of the agent ──events──▶ telling
//!     │                                  ▲
//!     └─ what is typed meanwhile: steering, or the answer to a question
//! ```

mod changes;
mod commands;
mod input;
mod looks;
mod telling;
mod turn;

use std::collections::VecDeque;

use clap::Args;
use interleaf::model::{Message, Role, plural, shown};
use interleaf::store::{RecordFilter, RecordKind, SessionId};
use interleaf::{Session, Target};
use interleaf_agent::settings::Settings;
use interleaf_agent::{Agent, Standing};
use interleaf_transport::{Amount, Transport};

use self::commands::Next;
use self::input::{Input, Line};
use crate::failure::{Failure, Stop, Verdict};
use crate::ink::Ink;
use crate::open::OpenStore;
use crate::output::Output;
use crate::stopped::Wishes;
use crate::working::{Asks, Which, WorkArguments, Working, channel};

/// Talk with an agent that works in a folder
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf chat --vendor anthropic --model claude-sonnet-4-5
  interleaf chat --session 0199
  interleaf double -- interleaf chat --vendor openai --model gpt-4.1

The agent has the tools of `interleaf run`, and asks before it changes something: y, n and why, or
a to allow this tool from now on. What you type while it works is said to it before its next request.
Ctrl-C interrupts it, and what came is kept; at the prompt, Ctrl-D leaves, and so does Ctrl-C
twice. A line that ends with a backslash goes on; a text that is pasted may have many lines.
/help lists the commands. Limits are for each turn. Without a terminal, each line of standard input
is a turn, a command or the answer to a question.")]
pub(crate) struct ChatArguments {
    /// Go on with this session; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    work: WorkArguments,
}

/// The most characters of an earlier answer that are shown again.
const LAST_WORDS: usize = 2_000;

/// How long a title is that is made from the first words.
const TITLE: usize = 60;

/// A chat.
struct Chat<'a> {
    agent: Agent,
    settings: Settings,
    transport: Transport,
    opened: OpenStore,
    /// Away only while the agent works.
    session: Option<Session>,
    /// The session that this chat made.
    made: Option<SessionId>,
    /// The log indices at which turns of this chat began.
    begun: Vec<u32>,
    input: Input,
    asks: Asks,
    wishes: Wishes,
    output: &'a mut Output,
    /// What summaries cost, which no request of the session tells.
    summaries: Amount,
    /// Commands that were typed while the agent worked.
    later: VecDeque<String>,
}

pub(crate) fn run(arguments: &ChatArguments, output: &mut Output) -> Result<Verdict, Stop> {
    let which = arguments.session.as_deref().map_or(Which::New(""), Which::Old);
    let Working { agent, settings, transport, session, opened, permissions, is_new } =
        arguments.work.open(which)?;
    let made = is_new.then_some(session.id());
    let (asks, hook) = channel(permissions);
    let wishes = opened.wait(async { Wishes::listen() });
    let mut chat = Chat {
        agent: agent.with_hook(hook),
        settings,
        transport,
        opened,
        session: Some(session),
        made,
        begun: Vec::new(),
        input: Input::open(),
        asks,
        wishes,
        output,
        summaries: Amount::default(),
        later: VecDeque::new(),
    };
    chat.greet()?;
    let verdict = chat.go_on();
    chat.leave()?;
    verdict
}

impl Chat<'_> {
    /// Reads lines and does what they say, until the user leaves.
    fn go_on(&mut self) -> Result<Verdict, Stop> {
        let mut was_interrupted = false;
        loop {
            self.output.flush()?;
            let waited = self.later.pop_front();
            if let Some(command) = &waited {
                self.note(&format!("> {command}"))?;
            }
            let line = waited.map_or_else(|| self.line(), |command| Ok(Line::Said(command)))?;
            let interrupted_twice = std::mem::replace(&mut was_interrupted, false);
            let text = match line {
                Line::Said(text) => text,
                Line::Interrupted if interrupted_twice => return Ok(Verdict::Fine),
                Line::Interrupted => {
                    was_interrupted = true;
                    self.note("Ctrl-C again leaves, and so does Ctrl-D")?;
                    continue;
                }
                Line::Ended => return Ok(Verdict::Fine),
                Line::Stopped => return Ok(Verdict::Interrupted),
            };
            self.input.echo(&text, self.output)?;
            if text.trim().is_empty() {
                continue;
            }
            let next = match text.trim_start().strip_prefix('/') {
                Some(command) => self.command(command)?,
                None => self.turn(Some(&text))?,
            };
            match next {
                Next::Line => {}
                Next::Leave => return Ok(Verdict::Fine),
                Next::Stop => return Ok(Verdict::Interrupted),
            }
        }
    }

    /// Waits for the next line.
    fn line(&mut self) -> Result<Line, Failure> {
        self.opened
            .wait(self.input.line(&mut self.wishes))
            .map_err(|e| Failure::io("standard input", &e))
    }

    fn greet(&mut self) -> Result<(), Stop> {
        let session = self.session()?;
        let (id, n) = (session.id(), session.conversation().view_len());
        let Target { vendor, options, .. } = self.target()?;
        let (vendor, model) = (vendor.name.to_string(), shown(&options.model).into_owned());
        self.output.remark(format_args!("{vendor} {model} · session {id}"))?;
        self.note("/help lists the commands; Ctrl-C interrupts, Ctrl-D leaves")?;
        if n > 0 {
            self.last_words()?;
        }
        Ok(())
    }

    /// Shows how a session ended that is gone on with.
    fn last_words(&mut self) -> Result<(), Stop> {
        let conversation = self.session()?.conversation();
        let own: Vec<&Message> = conversation
            .visible()
            .filter(|message| interleaf::assemble::Agent::Main.hears(message))
            .map(|message| &**message)
            .collect();
        let asked = own.iter().rposition(|message| message.role() == Role::User);
        let since = asked.map_or(&own[..], |at| &own[at + 1..]);
        let said = since.iter().rev().find(|message| message.role() == Role::Assistant);
        let said = said.map(|message| shortened(&message.text())).unwrap_or_default();
        let asked = asked.map(|at| shortened(&own[at].text())).unwrap_or_default();
        let heading = format!("it has {} so far", plural(own.len(), "message"));
        let is_open = Standing::of(self.session_mut()?).goes_on();
        self.note(&heading)?;
        let user = self.output.palette.role(Role::User);
        self.output.line(format_args!("{user}>{user:#} {asked}"))?;
        if !said.trim().is_empty() {
            self.output.speech(Ink::default(), &format!("{said}\n"))?;
        }
        if is_open {
            self.note("its last turn has not come to its end: /go goes on with it")?;
        }
        Ok(())
    }

    /// A session that this chat made and that keeps nothing leaves nothing behind.
    fn leave(&mut self) -> Result<(), Stop> {
        self.input.save();
        let Some(session) = &mut self.session else { return Ok(()) };
        let id = session.id();
        if self.made == Some(id) && keeps_nothing(&self.opened, session)? {
            self.opened.ask(self.opened.store.remove(id))?;
        } else {
            self.note(&format!("`interleaf chat --session {id}` goes on"))?;
        }
        Ok(self.output.flush()?)
    }

    /// A remark of ours.
    fn note(&mut self, text: &str) -> Result<(), Stop> {
        let dim = self.output.palette.dim;
        Ok(self.output.line(format_args!("{dim}{}{dim:#}", shown(text)))?)
    }

    /// Something that could not be done. The chat goes on.
    fn tell_failure(&mut self, failure: &Failure) -> Result<(), Stop> {
        self.output.flush()?;
        let fault = self.output.palette.fault;
        Ok(self.output.line(format_args!("{fault}error:{fault:#} {}", failure.text()))?)
    }

    fn session(&self) -> Result<&Session, Failure> {
        self.session.as_ref().ok_or_else(lost)
    }

    fn session_mut(&mut self) -> Result<&mut Session, Failure> {
        self.session.as_mut().ok_or_else(lost)
    }

    fn target(&self) -> Result<&Target, Failure> {
        self.agent.targets().first().ok_or_else(|| Failure::new("--vendor", "nobody is asked"))
    }
}

/// Whether nothing was said in a session, nor noted but that an agent ran. Others may have written.
fn keeps_nothing(opened: &OpenStore, session: &mut Session) -> Result<bool, Failure> {
    opened.asked(session.refresh())?;
    let records = opened.asked(session.records(RecordFilter::default()))?;
    let is_run = |kind: RecordKind| kind == RecordKind::Run;
    Ok(session.conversation().log_len() == 0 && records.iter().all(|it| is_run(it.kind)))
}

fn lost() -> Failure {
    Failure::new("the session", "it could not be read again")
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LAST_WORDS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A title from the first words of a session.
fn title(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(TITLE).collect()
}
