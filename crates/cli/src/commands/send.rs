//! `interleaf send`.

mod printer;
mod whom;

use std::sync::Arc;

use clap::Args;
use interleaf::assemble::{OpenBlock, Outcome};
use interleaf::model::{Finish, Message};
use interleaf::read::Said;
use interleaf::{OnConflict, Target, append_said, reply_form, waiting_for};
use interleaf_transport::{Call, Error, ErrorKind, Limit, Transport};

use self::printer::{Ended, Printer};
use crate::arguments::ByteCount;
use crate::assembly::{AssemblyArguments, Recipe, Source};
use crate::compacting::{CompactingArguments, say_done};
use crate::destination::DestinationArguments;
use crate::failure::{Failure, Stop, Verdict, printable};
use crate::input::{self, Loaded};
use crate::open::{OpenSession, runtime, say_left_out};
use crate::output::{Output, say};
use crate::reach::{REACH, ReachArguments, other, usage};
use crate::report_table::{say_changed, say_model, waiting_text};
use crate::stopped::Wishes;
use crate::until;

/// Send a question or a conversation to a model API and print the answer
#[derive(Debug, Args)]
#[command(override_usage = "interleaf send [OPTIONS] <--user TEXT|FILE|--session ID>")]
#[command(mut_arg("file", |file| file.required_unless_present("user")))]
// What the session's request is made of is recorded, and these would be left out.
#[command(mut_arg("session", |id| id.conflicts_with_all(["plain", "pin", "previous"])))]
#[command(after_help = "\
EXAMPLES
  interleaf send --user 'What is 2+2?' --vendor openai --model gpt-4.1
  interleaf send fixtures/agent-session.json --vendor anthropic --model claude-sonnet-4-5 --stream
  interleaf send fixtures/chat-array.json --vendor openai --model gpt-5 --key-file ~/.openai-key
  interleaf send --session 0199 --user 'And now?'
  interleaf send --session 0199 --vendor vertex --model gemini-2.5-pro --base-url URL \\
    --key-command 'gcloud auth print-access-token'
  interleaf send --session 0199 --vendor anthropic --model claude-sonnet-4-5 \\
    --fallback bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0
  interleaf send --session 0199 --vendor openai --model gpt-5 --compact-at 0.7

The flags of `build` say what the request is made of. The request of a session is recorded,
and the answer is taken in; vendor and model are those of its last request unless flags name
others. While calls wait for their results nothing is sent, and the exit code is 1: append the
results, or say with --missing what the calls get in their place. On standard error: what was
changed, what was tried, what it cost, and what the prompt cache was expected to hold. After
an interrupt (Ctrl-C) a session keeps what came; the exit code is then 130. It is 8 if there is
no answer.")]
pub(crate) struct SendArguments {
    /// Ask this; in a session it is appended first, and stays if there is no answer
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["file", "agent"])]
    user: Option<String>,

    #[command(flatten)]
    assembly: AssemblyArguments,

    #[command(flatten)]
    destination: DestinationArguments,

    #[command(flatten)]
    reach: ReachArguments,

    /// Ask for the answer in one piece; that of a session is streamed otherwise
    #[arg(long, conflicts_with = "stream", help_heading = REACH)]
    whole: bool,
    /// Who is asked if the vendor gives no answer; may be repeated
    #[arg(long, value_name = "VENDOR:MODEL", help_heading = REACH)]
    fallback: Vec<String>,

    #[command(flatten)]
    compacting: CompactingArguments,

    /// Print the answer as one JSON line, as `decode` does
    #[arg(long)]
    json: bool,

    /// Do not say on standard error what was changed, tried and paid
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(
    arguments: &SendArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    arguments.reach.begin();
    let mut recipe = arguments.assembly.read(limit)?;
    let destination = arguments.destination.read(&arguments.assembly, limit)?;
    if let Some(flag) = arguments.assembly.not_for_sending() {
        return Err(
            Failure::new(flag, "this is of the past, and what is sent is the present").into()
        );
    }
    if arguments.destination.is_neutral() {
        return Err(Failure::new("--to", "no API takes the neutral form").into());
    }
    let asked = recipe.request.clone();
    let Source { mut loaded, mut session } = arguments.load(&mut recipe, limit)?;
    loaded.equip(destination.tools.as_ref());
    if session.as_ref().is_some_and(|session| arguments.waits(session)) {
        return Ok(Verdict::Findings);
    }
    let target = arguments.target(&destination, &loaded, session.as_ref())?;
    recipe.count_for(&target.options.model, session.as_mut())?;
    if let Some(session) = &session {
        arguments.say_left_out(session, &recipe.of(&loaded, true)?)?;
        // A session adds to each request what it keeps then: a compaction may come in between.
        recipe.request = asked;
        recipe.request.open_block = arguments.assembly.open_block();
    }
    let streams = (target.options.stream || session.is_some()) && !arguments.whole;
    let mut target = arguments.reach.at_address(target);
    target.options.stream = streams;
    let fallbacks = arguments.fallback.iter().map(|named| other("--fallback", named, &target));
    let fallbacks = fallbacks.collect::<Result<Vec<_>, _>>()?;
    let targets: Vec<Target> = std::iter::once(target).chain(fallbacks).collect();
    let compacting = arguments.compacting.read(&targets[0], limit)?;
    if !arguments.quiet {
        let asked = arguments.assembly.model.as_deref();
        say_model(&targets[0], &loaded, asked, "--model names another");
    }
    let mut transport = arguments.reach.transport(&targets[0])?;
    if let Some(compacting) = compacting {
        transport = transport.compacting(compacting);
    }
    match session {
        Some(session) => {
            arguments.in_session(transport, session, &recipe.of(&loaded, true)?, &targets, output)
        }
        None => arguments.of_file(&transport, &recipe, &loaded, &targets, output),
    }
}

impl SendArguments {
    /// Reads what is to be sent.
    fn load(&self, recipe: &mut Recipe, limit: ByteCount) -> Result<Source, Failure> {
        if let (Some(text), None) = (&self.user, &self.assembly.session.session) {
            return Ok(Source { loaded: input::question(text)?, session: None });
        }
        let path = self.assembly.path();
        let is_file = self.assembly.session.session.is_some() || path.exists();
        self.assembly.load(recipe, limit).map_err(|failure| match is_file {
            true => failure,
            false => failure.hint("--user TEXT asks a plain question; FILE is a conversation"),
        })
    }

    /// Whether calls wait for their results. Says which, and how to go on.
    fn waits(&self, OpenSession { session, .. }: &OpenSession) -> bool {
        // A sub-agent has calls of its own, which its request is told of.
        let is_main = self.assembly.agent.is_none();
        let waits = is_main && self.assembly.open_block() == OpenBlock::Wait;
        let open = session.open_calls();
        let Some(first) = open.first().filter(|_| waits) else { return false };
        say(printable(&waiting_for(&open)));
        let (id, call) = (session.id(), &first.id);
        let result = format!(r#"{{"role": "tool", "tool_call_id": "{call}", "content": "…"}}"#);
        let result = printable(&result);
        say(format_args!("hint: `interleaf sessions append {id} '{result}'` gives one"));
        say("hint: --missing make, or --missing drop, goes on without them");
        true
    }

    /// Says what the last request had and this one does not.
    fn say_left_out(
        &self,
        session: &OpenSession,
        recipe: &interleaf::assemble::Recipe,
    ) -> Result<(), Failure> {
        if self.quiet {
            return Ok(());
        }
        session.ask(session.session.left_out(recipe))?.iter().for_each(say_left_out);
        Ok(())
    }

    /// Appends the user's question, and gives its id.
    fn append(&self, session: &mut OpenSession) -> Result<Option<String>, Failure> {
        let Some(text) = &self.user else { return Ok(None) };
        let said = Said::Messages(vec![Arc::new(Message::user(text))]);
        let name = session.name();
        let OpenSession { session, opened } = session;
        let written = opened.in_time(&name, append_said(session, said, OnConflict::Retry));
        written.map_err(|e| Failure::session("--user", &e))?;
        let last = session.conversation().visible().next_back();
        Ok(last.map(|message| message.id.to_string()))
    }

    fn of_file(
        &self,
        transport: &Transport,
        recipe: &Recipe,
        loaded: &Loaded,
        targets: &[Target],
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let mut calls = Vec::new();
        for target in targets {
            let made = until::work(&loaded.name, || recipe.make(loaded, Some(target), false))?;
            let Some(body) = made.preview.body.as_ref() else {
                say(waiting_text(&made.preview));
                return Ok(Verdict::Findings);
            };
            if calls.is_empty()
                && !self.quiet
                && matches!(made.preview.assembly.outcome, Outcome::Ready(_))
                && let Some(line) = made.preview.changes_line()
            {
                say_changed(&line);
            }
            let mut call = Call::encoded(body, target);
            call.decoder = made.preview.decoder.clone().unwrap_or(call.decoder);
            calls.push(call);
        }
        let mut printer = Printer::new(output, self.json);
        let ended = runtime(&loaded.name)?.block_on(async {
            let mut wishes = Wishes::listen();
            let begun = tokio::select! {
                begun = transport.stream_any(&calls) => begun?,
                _ = wishes.next() => return Ok(Ended::Interrupted(None)),
            };
            printer.follow(begun, &mut wishes).await
        });
        self.tell(transport, ended, printer)
    }

    fn in_session(
        &self,
        transport: Transport,
        mut session: OpenSession,
        recipe: &interleaf::assemble::Recipe,
        targets: &[Target],
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let appended = self.append(&mut session)?;
        let id = session.name();
        let OpenSession { mut session, opened } = session;
        let mut printer = Printer::new(output, self.json);
        let ended = opened.wait(async {
            let mut wishes = Wishes::listen();
            let ask = async {
                match self.whole {
                    true => transport.ask_in_pieces(&mut session, recipe, targets).await,
                    false => transport.ask_streaming(&mut session, recipe, targets).await,
                }
            };
            let begun = tokio::select! {
                begun = ask => begun?,
                _ = wishes.next() => return Ok(Ended::Interrupted(None)),
            };
            if let Some(line) = begun.changed().filter(|_| !self.quiet) {
                say_changed(line);
            }
            printer.follow_into(begun, &mut wishes).await
        });
        let late = ErrorKind::Timeout(Limit::Total);
        if ended.as_ref().is_err_and(|error| error.kind() == late && error.attempts().is_empty()) {
            // Whoever drops the store waits for its writer, who may wait for another program.
            std::mem::forget((session, opened));
        }
        let is_answered = matches!(ended, Ok(Ended::Answered(_) | Ended::Interrupted(Some(_))));
        let told = self.tell(&transport, ended, printer);
        if let Some(message) = appended.filter(|_| !is_answered) {
            say(format_args!(
                "kept: the question, as message {message}; `interleaf send --session {id}` sends it"
            ));
        }
        told
    }

    /// Says how it ended.
    fn tell(
        &self,
        transport: &Transport,
        ended: Result<Ended, Error>,
        mut printer: Printer<'_>,
    ) -> Result<Verdict, Stop> {
        printer.close()?;
        let reply = match &ended {
            Ok(Ended::Answered(answer) | Ended::Interrupted(Some(answer))) => Some(&answer.reply),
            Ok(Ended::Interrupted(None)) => None,
            Err(error) => error.partial(),
        };
        if let Some(reply) = reply.filter(|_| self.json) {
            printer.output.bytes(format!("{}\n", reply_form::write(reply)).as_bytes())?;
        }
        let (answer, verdict) = match ended {
            Ok(Ended::Answered(answer)) => (Some(answer), Verdict::Fine),
            Ok(Ended::Interrupted(answer)) => (answer, Verdict::Interrupted),
            Err(error) => return self.refused(transport, &error),
        };
        let is_kept = answer.as_ref().is_some_and(|answer| answer.message.is_some());
        if let Some(answer) = answer.filter(|_| !self.quiet) {
            self.reach.told(transport, &answer).into_iter().for_each(say);
            answer.compactions.iter().for_each(say_done);
            if let Some(why) = &answer.not_compacted {
                say(format_args!("note: not compacted, though it is due: {why}"));
            }
        }
        if verdict == Verdict::Interrupted && !self.quiet {
            say(if is_kept { "interrupted: what came is kept" } else { "interrupted" });
        }
        Ok(verdict)
    }

    fn refused(&self, transport: &Transport, error: &Error) -> Result<Verdict, Stop> {
        if error.kind() == ErrorKind::Waiting {
            say(error.message());
            return Ok(Verdict::Findings);
        }
        if !self.quiet && error.attempts().len() > 1 {
            error.attempts().iter().for_each(|attempt| say(format_args!("tried: {attempt}")));
        }
        if !self.quiet {
            error.compactions().iter().for_each(say_done);
        }
        if let Some(message) = error.kept().filter(|_| !self.quiet) {
            say(format_args!("kept: what came of the answer, as message {}", message.id));
        }
        let partial = error.partial().filter(|own| own.finish == Finish::Cut && !self.quiet);
        if let Some(partial) = partial {
            let price = transport.price(error.vendor(), error.model(), partial);
            usage(partial, (price, transport.currency()), None).into_iter().for_each(say);
        }
        Err(Failure::transport(error).into())
    }
}
