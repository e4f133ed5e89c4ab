//! `interleaf send`.

use clap::Args;
use interleaf::assemble::Outcome;
use interleaf::wire::Delta;
use interleaf::{Target, reply_form};
use interleaf_transport::{Answer, Asking, Call, Error, ErrorKind, Streaming, Transport};

use crate::arguments::ByteCount;
use crate::assembly::{AssemblyArguments, Recipe, Source};
use crate::compacting::{CompactingArguments, say_done};
use crate::destination::DestinationArguments;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Loaded;
use crate::open::{OpenSession, runtime};
use crate::output::{Output, say};
use crate::reach::{REACH, ReachArguments, other};
use crate::report_table::{say_changed, say_model, waiting_text};
use crate::stopped::stopped;

/// Send the request to a model API and print the answer
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf send fixtures/agent-session.json --vendor anthropic --model claude-sonnet-4-5 --stream
  interleaf send fixtures/chat-array.json --vendor openai --model gpt-5 --key-file ~/.openai-key
  interleaf send --session 0199 --vendor vertex --model gemini-2.5-pro --base-url URL \\
    --key-command 'gcloud auth print-access-token'
  interleaf send --session 0199 --vendor anthropic --model claude-sonnet-4-5 \\
    --fallback bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0
  interleaf send --session 0199 --vendor openai --model gpt-5 --compact-at 0.7

The flags of `build` say what the request is made of. The request of a session is recorded,
and the answer is taken in. On standard error: what was changed, what was tried, what it
cost, and what the prompt cache was expected to hold. After an interrupt (Ctrl-C) what came
is kept; the exit code is then 130. It is 8 if there is no answer, and 1 if the session waits
for results (--wait).")]
pub(crate) struct SendArguments {
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
    let mut recipe = arguments.assembly.read(limit)?;
    let destination = arguments.destination.read(&arguments.assembly, limit)?;
    if let Some(flag) = arguments.assembly.not_for_sending() {
        return Err(
            Failure::new(flag, "this is of the past, and what is sent is the present").into()
        );
    }
    let asked = recipe.request.clone();
    let Source { mut loaded, session } = arguments.assembly.load(&mut recipe, limit)?;
    if session.is_some() {
        // A session adds to each request what it keeps then: a compaction may come in between.
        recipe.request = asked;
    }
    loaded.equip(destination.tools.as_ref());
    let Some(target) = destination.of(&loaded) else {
        return Err(Failure::new("--vendor", "name who is to be asked").into());
    };
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

/// How an answer came to its end.
enum Ended {
    Answered(Box<Answer>),
    /// What had come when the user stopped it.
    Interrupted(Option<Box<Answer>>),
}

impl SendArguments {
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
            let made = recipe.make(loaded, Some(target), false)?;
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
        let mut printer = Printer { output, json: self.json, is_open: false, failed: None };
        let ended = runtime(&loaded.name)?.block_on(async {
            let begun = tokio::select! {
                begun = transport.stream_any(&calls) => begun?,
                _ = stopped() => return Ok(Ended::Interrupted(None)),
            };
            printer.follow(begun).await
        });
        self.tell(ended, printer)
    }

    fn in_session(
        &self,
        transport: Transport,
        session: OpenSession,
        recipe: &interleaf::assemble::Recipe,
        targets: &[Target],
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let OpenSession { mut session, opened } = session;
        let mut printer = Printer { output, json: self.json, is_open: false, failed: None };
        let ended = opened.wait(async {
            let ask = async {
                match self.whole {
                    true => transport.ask_in_pieces(&mut session, recipe, targets).await,
                    false => transport.ask_streaming(&mut session, recipe, targets).await,
                }
            };
            let begun = tokio::select! {
                begun = ask => begun?,
                _ = stopped() => return Ok(Ended::Interrupted(None)),
            };
            if let Some(line) = begun.changed().filter(|_| !self.quiet) {
                say_changed(line);
            }
            printer.follow_into(begun).await
        });
        self.tell(ended, printer)
    }

    /// Says how it ended.
    fn tell(&self, ended: Result<Ended, Error>, mut printer: Printer<'_>) -> Result<Verdict, Stop> {
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
            Err(error) => return self.refused(&error),
        };
        if let Some(answer) = answer.filter(|_| !self.quiet) {
            self.reach.told(&answer).into_iter().for_each(say);
            answer.compactions.iter().for_each(say_done);
            if let Some(why) = &answer.not_compacted {
                say(format_args!("note: not compacted, though it is due: {why}"));
            }
        }
        if verdict == Verdict::Interrupted && !self.quiet {
            say("interrupted: what came is kept");
        }
        Ok(verdict)
    }

    fn refused(&self, error: &Error) -> Result<Verdict, Stop> {
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
        Err(Failure::transport(error).into())
    }
}

/// Prints an answer while it comes.
struct Printer<'a> {
    output: &'a mut Output,
    json: bool,
    /// Whether a line has begun.
    is_open: bool,
    failed: Option<std::io::Error>,
}

impl Printer<'_> {
    async fn follow(&mut self, mut streaming: Streaming) -> Result<Ended, Error> {
        loop {
            let piece = tokio::select! {
                piece = streaming.next() => piece,
                _ = stopped() => {
                    streaming.cancel();
                    return Ok(Ended::Interrupted(None));
                }
            };
            match piece {
                Some(piece) => self.print(&piece?),
                None => return Ok(Ended::Answered(Box::new(streaming.finish().await?))),
            }
        }
    }

    async fn follow_into(&mut self, mut asking: Asking<'_>) -> Result<Ended, Error> {
        loop {
            let piece = tokio::select! {
                piece = asking.next() => piece,
                _ = stopped() => {
                    return Ok(Ended::Interrupted(asking.cancel().await?.map(Box::new)));
                }
            };
            match piece {
                Some(Ok(delta)) => self.print(&delta),
                // What came is taken in all the same.
                Some(Err(_)) | None => {
                    return Ok(Ended::Answered(Box::new(asking.finish().await?)));
                }
            }
        }
    }

    /// The text as it is, calls one a line. Thinking is not part of an answer.
    fn print(&mut self, delta: &Delta) {
        if self.json {
            return;
        }
        let text = match delta {
            Delta::Text { text, .. } => text.clone(),
            Delta::Call { id, name, .. } => {
                let before = if self.is_open { "\n" } else { "" };
                let blank = if id.is_empty() { "" } else { " " };
                format!("{before}[call {id}{blank}{name}] ")
            }
            Delta::Arguments { text, .. } => text.clone(),
            _ => return,
        };
        if let Some(last) = text.chars().next_back() {
            self.is_open = last != '\n';
            let printed = self.output.at_once(&text);
            self.failed = self.failed.take().or(printed.err());
        }
    }

    fn close(&mut self) -> Result<(), Stop> {
        if std::mem::take(&mut self.is_open) {
            self.output.line("")?;
            // What is said of the answer on standard error comes after it.
            self.output.flush()?;
        }
        self.failed.take().map_or(Ok(()), |failed| Err(failed.into()))
    }
}
