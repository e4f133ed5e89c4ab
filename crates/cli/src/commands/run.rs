//! `interleaf run`.

use std::io::{BufRead as _, IsTerminal as _, stdin};
use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::DirPath;
use interleaf::assemble::PlacementRule;
use interleaf::compaction::CompactionPolicy;
use interleaf::model::{Message, ToolCall, shown_speech};
use interleaf::wire::{CacheMarks, Vendor};
use interleaf::{Session, Target};
use interleaf_agent::{Agent, Allow, Boxed, Effect, End, Event, Hook, Limits, Scene, tools};
use interleaf_transport::{Amount, Compacting};

use crate::api::VendorParser;
use crate::failure::{Failure, Fault, Stop, Verdict, printable};
use crate::open::{Missing, OpenSession, OpenStore};
use crate::output::{Output, say};
use crate::reach::ReachArguments;
use crate::stopped::Wishes;

/// Have an agent work in a folder
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf run 'Which tests fail, and why?' --vendor anthropic --model claude-sonnet-4-5
  interleaf run --session 0199 'And now mend them.' --yes
  interleaf double -- interleaf run 'Look around.' --vendor openai --model gpt-4.1

The agent reads, lists and searches the folder, keeps a TODO list, and writes, edits and runs
commands if you allow it, call by call, or with --yes. Its session keeps all: --session goes on,
also after a kill. The answer goes to standard output, what is done to standard error. Ctrl-C
interrupts it. Exit codes: 0 it is done; 10 it came to a limit; 130 interrupted; 1 refused.")]
pub(crate) struct RunArguments {
    /// What to do; without it, a session goes on from where it is
    #[arg(required_unless_present = "session")]
    task: Option<String>,
    /// Go on with this session; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The store that keeps it [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The folder to work in [default: this one]
    #[arg(long, value_name = "PATH", value_hint = DirPath)]
    folder: Option<PathBuf>,
    /// What the agent is to be [default: a careful one that works in this folder]
    #[arg(long, value_name = "TEXT")]
    role: Option<String>,
    /// Let it write, edit and run commands without asking
    #[arg(long)]
    yes: bool,
    /// Print how it ended as JSON, and nothing else
    #[arg(long)]
    json: bool,

    /// Who serves the model [default: as in the session's last request]
    #[arg(long, value_name = "NAME", value_parser = VendorParser, requires = "model")]
    #[arg(help_heading = "API")]
    vendor: Option<&'static Vendor>,
    /// The model [default: as in the session's last request]
    #[arg(long, value_name = "NAME", requires = "vendor", help_heading = "API")]
    model: Option<String>,
    /// Where its context goes [default: after_tool_result(3)]
    #[arg(long, value_name = "RULE", help_heading = "API")]
    place: Option<PlacementRule>,

    /// The most requests
    #[arg(long, value_name = "N", default_value = "200", help_heading = "Limits")]
    rounds: u32,
    /// The most tokens, sent and made
    #[arg(long, value_name = "N", help_heading = "Limits")]
    tokens: Option<u64>,
    /// The most money, where the price is known
    #[arg(long, value_name = "AMOUNT", help_heading = "Limits")]
    money: Option<Amount>,

    #[command(flatten)]
    reach: ReachArguments,
}

const ROLE: &str = "You are a careful agent that works in one folder. Look before you change \
    anything. Keep the TODO list up to date. Say at the end what you did, and what is left.";

pub(crate) fn run(arguments: &RunArguments, output: &mut Output) -> Result<Verdict, Stop> {
    if arguments.session.is_none() && arguments.vendor.is_none() {
        let such = "such as --vendor anthropic --model claude-sonnet-4-5";
        return Err(Failure::new("--vendor", "name who is to be asked").hint(such).into());
    }
    let missing = if arguments.session.is_some() { Missing::Refuse } else { Missing::Make };
    let opened = OpenStore::open(arguments.store.as_deref(), missing)?;
    let (mut session, opened) = match &arguments.session {
        Some(asked) => {
            let OpenSession { session, opened } = opened.session(asked)?;
            (session, opened)
        }
        None => {
            let title = arguments.task.iter().flat_map(|task| task.chars()).take(60);
            let title = title.collect::<String>();
            let made = opened.wait(Session::create(opened.store.clone(), &title));
            (made.map_err(|e| Failure::session("a new session", &e))?, opened)
        }
    };
    let id = session.id().to_string();
    let target = arguments.target(&opened, &session)?;
    let transport = arguments.reach.transport(&target)?;
    let transport = transport.compacting(Compacting::new(CompactionPolicy::default()));
    let agent = arguments.agent(target);
    if let Some(task) = &arguments.task {
        let said = opened.wait(session.append(Message::user(task)));
        said.map_err(|e| Failure::session(&id, &e))?;
    }
    if !arguments.json {
        say(format_args!("session: {id}"));
    }
    let ended = opened.wait(async {
        let mut wishes = Wishes::listen();
        let mut run = agent.start(&transport, session)?;
        let handle = run.handle();
        let mut told = Told { output, json: arguments.json, is_open: false };
        loop {
            tokio::select! {
                event = run.next() => match event {
                    Some(event) => told.tell(&event),
                    None => break,
                },
                _ = wishes.next() => handle.interrupt(),
            }
        }
        told.close();
        run.finish().await
    });
    let ended = ended.map_err(|e| Failure::new(&id, e.to_string()))?;
    if arguments.json {
        output.json_line(&serde_json::json!({
            "session": id,
            "end": ended.end.to_string(),
            "text": ended.text,
            "requests": ended.rounds,
            "tokens": ended.tokens,
            "price": ended.money.to_string(),
        }))?;
    } else {
        let (rounds, tokens, money) = (ended.rounds, ended.tokens, ended.money);
        let end = match &ended.end {
            // Why stands in the error.
            End::Failed(_) => "failed".to_owned(),
            end => printable(&end.to_string()).into_owned(),
        };
        say(format_args!("{end}: {rounds} requests, {tokens} tokens, price {money}"));
        say(format_args!("hint: `interleaf run --session {id} '…'` goes on"));
    }
    match ended.end {
        End::Completed => Ok(Verdict::Fine),
        End::OutOfBudget(_) => Ok(Verdict::Unfinished),
        End::Interrupted => Ok(Verdict::Interrupted),
        End::Failed(why) => Err(Failure::new(id, why).of(Fault::Api).into()),
        _ => Ok(Verdict::Findings),
    }
}

impl RunArguments {
    fn target(&self, opened: &OpenStore, session: &Session) -> Result<Target, Failure> {
        let target = match (self.vendor, &self.model) {
            (Some(vendor), Some(model)) => Target::of(vendor.clone(), model),
            _ => opened.wait(session.last_target()).map_err(|e| {
                Failure::session("--session", &e).hint("--vendor and --model name it")
            })?,
        };
        let mut target = self.reach.at_address(target);
        target.options.cache = CacheMarks::On;
        Ok(target)
    }

    fn agent(&self, target: Target) -> Agent {
        let mut limits = Limits::default();
        limits.rounds = Some(self.rounds);
        (limits.tokens, limits.money) = (self.tokens, self.money);
        let scout = Agent::new("scout")
            .described("Sends a helper to find something out in the folder. It changes nothing.")
            .with_role("You find things out in a folder, and report exactly what you found.");
        let scout = tools::reading().into_iter().fold(scout, Agent::with_shared_tool);
        let agent = Agent::new("agent")
            .with_target(target)
            .with_role(self.role.as_deref().unwrap_or(ROLE))
            .with_rule(self.place.clone().unwrap_or_default())
            .with_limits(limits)
            .with_hook(Person { allows_all: self.yes })
            .with_sub_agent(scout);
        let agent = match &self.folder {
            Some(folder) => agent.in_folder(folder),
            None => agent,
        };
        let tools = [tools::reading(), tools::writing(), tools::keeping(), tools::remembering()];
        tools.concat().into_iter().fold(agent, Agent::with_shared_tool)
    }
}

/// Asks whoever sits at the terminal.
struct Person {
    allows_all: bool,
}

impl Hook for Person {
    fn before_call<'a>(&'a self, call: &'a ToolCall, _: Effect, _: &'a Scene) -> Boxed<'a, Allow> {
        Box::pin(async move {
            let asks = ["write", "edit", "run"].contains(&call.name.as_str());
            if self.allows_all || !asks {
                return Allow::Run;
            }
            allowed_by_person(call).await
        })
    }
}

/// Asks whoever sits at the terminal whether a call may run.
pub(crate) async fn allowed_by_person(call: &ToolCall) -> Allow {
    if !stdin().is_terminal() {
        let why = "nobody is there to allow it (the person may start it with --yes)";
        return Allow::Refuse(why.to_owned());
    }
    let arguments = shown_speech(call.arguments.as_str()).into_owned();
    say(format_args!("{}({arguments})", call.name));
    say("allow it? y, or n and why:");
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        stdin().lock().read_line(&mut line).map(|_| line)
    });
    match answer.await {
        Ok(Ok(line)) if ["y", "yes"].contains(&line.trim()) => Allow::Run,
        Ok(Ok(line)) => {
            let why = line.trim().trim_start_matches(['n', 'N']).trim();
            let why = if why.is_empty() { "the person said no" } else { why };
            Allow::Refuse(why.to_owned())
        }
        _ => Allow::Refuse("the person cannot be asked".to_owned()),
    }
}

/// Tells a person what happens: answers on standard output, all else beside it.
struct Told<'a> {
    output: &'a mut Output,
    json: bool,
    is_open: bool,
}

impl Told<'_> {
    fn tell(&mut self, event: &Event) {
        match event {
            _ if self.json => {}
            Event::Text(text) => {
                self.is_open = !text.ends_with('\n');
                // A pipe that was closed does not end the agent.
                let _ = self.output.at_once(text);
            }
            Event::Answered(answer) => {
                self.close();
                if let (Some(read), Some(spent)) = (answer.expected_read(), &answer.spent) {
                    say(format_args!("  {spent}; {read} expected to be read"));
                }
            }
            Event::Sub { event, .. } if matches!(**event, Event::Text(_)) => {}
            Event::Ended(_) => {}
            other => {
                self.close();
                say(format_args!("  {other}"));
            }
        }
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            let _ = self.output.line("");
            let _ = self.output.flush();
        }
    }
}
