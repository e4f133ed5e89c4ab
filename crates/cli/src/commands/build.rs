//! `interleaf build`.

use std::io;
use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use serde_json::value::RawValue;

use crate::arguments::ByteCount;
use crate::assembly::{AssemblyArguments, Recipe, Source};
use crate::batch::{answer_all, one_line};
use crate::destination::{Destination, DestinationArguments};
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Input;
use crate::open::OpenSession;
use crate::output::{Output, Palette, say};
use crate::report_table::{self, ReportTable, say_changed, say_model, waiting_text};
use crate::save::save;

/// Print the request to send to a model API
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf build fixtures/agent-session.json --todo '1. mend the alarm'
  interleaf build fixtures/agent-session.json --to anthropic --model claude-sonnet-4-5 --cache
  interleaf build fixtures/agent-session.json --vendor mistral --model mistral-large-latest
  interleaf build fixtures/agent-session.json --role 'You mend clocks.' --place tail
  interleaf build fixtures/agent-session.json --window 2000 --reserve 200
  interleaf build fixtures/chat-array.json --plain
  echo '{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}' |
    interleaf build - --to gemini --plain --batch

The conversation is never changed. `interleaf explain` takes the same flags and
shows what was done and why. While it waits (--wait), no request is printed; the exit
code is then 1.")]
pub(crate) struct BuildArguments {
    #[command(flatten)]
    assembly: AssemblyArguments,

    #[command(flatten)]
    destination: DestinationArguments,

    /// Read one conversation per line, print {"body": …} or {"error": "…"} for each
    #[arg(long, conflicts_with_all = ["explain", "report", "session"])]
    batch: bool,

    /// Record this request in the session, so that its exact bytes can be retrieved
    #[arg(long, requires = "session", help_heading = "Session")]
    #[arg(conflicts_with_all = ["file", "at", "plain", "pin", "previous"])]
    record: bool,

    /// Print the last recorded request, byte for byte, instead of making one
    #[arg(long, requires = "session", help_heading = "Session")]
    #[arg(conflicts_with_all = ["file", "record", "explain", "report", "plain"])]
    sent: bool,

    /// Print on standard error what was done, and why
    #[arg(long)]
    explain: bool,

    /// Write what was done, and why, here as JSON
    #[arg(long, value_name = "OUT", value_hint = FilePath)]
    report: Option<PathBuf>,

    /// Do not say on standard error what was changed
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(
    arguments: &BuildArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    report_table::check_path(arguments.report.as_deref())?;
    let mut recipe = arguments.assembly.read(limit)?;
    let destination = arguments.destination.read_any(&arguments.assembly, limit)?;
    if arguments.batch {
        let answer = |input| answer(&recipe, &destination, input);
        return answer_all(arguments.assembly.path(), limit, "body", answer, output);
    }
    let Source { mut loaded, mut session } = arguments.assembly.load(&mut recipe, limit)?;
    if let Some(session) = session.as_ref().filter(|_| arguments.sent) {
        output.bytes(&session.sent(arguments.assembly.session.at)?)?;
        output.bytes(b"\n")?;
        return Ok(Verdict::Fine);
    }
    loaded.equip(destination.tools.as_ref());
    // A recorded request is counted, so that all that is told of it later agrees.
    let counts = arguments.explain || arguments.record || arguments.report.is_some();
    let goes_to = recipe.keyed(destination.of(&loaded), session.as_mut())?;
    let made = recipe.make(&loaded, goes_to.as_ref(), counts)?;
    let mut text = made.text(&loaded.name)?;
    if let Some(path) = &arguments.report {
        save(path, &made.preview.report_json())?;
    }
    if arguments.explain {
        let palette = Palette::of(&io::stderr());
        let table = ReportTable { made: &made, palette, width: output.width(None) };
        say(table.summary().trim_end());
    }
    if !arguments.quiet && text.is_some() {
        if let Some(line) = made.preview.changes_line().filter(|_| !arguments.explain) {
            say_changed(&line);
        }
        if let Some(target) = &goes_to {
            let asked = arguments.assembly.model.as_deref();
            say_model(target, &loaded, asked, "--model names another");
        }
    }
    if let (Some(session), Some(text)) = (&mut session, &mut text) {
        if arguments.record
            && let Some(body) = session.record(&recipe.of(&loaded, counts)?, goes_to.as_ref())?
        {
            // What is printed is what was recorded.
            *text = body + "\n";
        }
        if let Some(at) = arguments.assembly.session.at {
            compare(session, at, text)?;
        }
    }
    match text {
        Some(text) => {
            output.bytes(text.as_bytes())?;
            Ok(Verdict::Fine)
        }
        None => {
            if !arguments.explain {
                say(waiting_text(&made.preview));
            }
            Ok(Verdict::Findings)
        }
    }
}

fn answer(
    recipe: &Recipe,
    destination: &Destination<'_>,
    input: Input,
) -> Result<Box<RawValue>, Failure> {
    let mut loaded = input.load()?;
    loaded.equip(destination.tools.as_ref());
    let made = recipe.make(&loaded, destination.of(&loaded).as_ref(), false)?;
    match made.text(&loaded.name)? {
        Some(text) => one_line(&loaded.name, &text),
        None => Err(Failure::new(loaded.name, waiting_text(&made.preview))),
    }
}

/// Says whether a request of the past is the one that was sent then.
fn compare(session: &OpenSession, at: u64, text: &str) -> Result<(), Failure> {
    if let Some((request, same)) = session.was_sent(at, text)? {
        let (no, hash) = (request.no, request.body.hash_text());
        say(match same {
            true => format!("the same bytes as request {no}, blake3 {hash}"),
            false => format!("not the bytes of request {no}, which --sent prints"),
        });
    }
    Ok(())
}
