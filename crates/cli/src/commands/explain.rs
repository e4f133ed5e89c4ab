//! `interleaf explain`.

mod sent;

use clap::Args;
use interleaf::assemble::Outcome;

use crate::arguments::{ByteCount, Form};
use crate::assembly::{AssemblyArguments, Source};
use crate::destination::DestinationArguments;
use crate::failure::{Stop, Verdict, printable};
use crate::lines::counts_text;
use crate::output::{Output, say};
use crate::report_table::ReportTable;

/// Show the request that `build` would print, and what was done to make it
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf explain fixtures/agent-session.json --todo '1. mend the alarm'
  interleaf explain fixtures/agent-session.json --todo '1. mend' --place 'from_end(5)'
  interleaf explain fixtures/agent-session.json --todo '1. mend' --carrier attached
  interleaf explain fixtures/agent-session.json --window 2000 --json
  interleaf explain fixtures/agent-session.json --window 8000 --part context=..10%
  interleaf explain fixtures/chat-array.json --missing drop
  interleaf explain fixtures/agent-session.json --to gemini

Each step says how many messages it was given and handed on, then what it changed
and why. Each line of the request is a message in notation: `▌` is the context
block, `*` is pinned, and `#…` says where a message comes from, unless it is as it
was said. With a session and an API it also says what the prompt cache makes of it.")]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    assembly: AssemblyArguments,

    #[command(flatten)]
    destination: DestinationArguments,

    #[command(flatten)]
    sent: sent::SentArguments,
    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(
    arguments: &ExplainArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    if let Some(session) = arguments.sent.session(&arguments.assembly)? {
        return arguments.sent.run(&session, arguments, output);
    }
    let mut recipe = arguments.assembly.read(limit)?;
    let destination = arguments.destination.read_any(&arguments.assembly, limit)?;
    let Source { mut loaded, mut session } = arguments.assembly.load(&mut recipe, limit)?;
    loaded.equip(destination.tools.as_ref());
    let mut target = destination.of(&loaded);
    let is_next = arguments.assembly.is_next();
    if let Some(open) = &session {
        if target.is_none() && is_next && !arguments.destination.is_neutral() {
            // Whoever was asked last is likely to be asked again.
            let last = open.ask(open.session.last_target_of(recipe.agent())).ok();
            target = last.map(|last| destination.at(last.vendor, &loaded));
        }
        if let Some(target) = &mut target {
            let named = open.session.name_model(recipe.agent(), target);
            open.ask(named)?.iter().for_each(|note| say(format_args!("note: {}", printable(note))));
            if is_next {
                let mut whole = recipe.of(&loaded, true)?;
                open.take_over(&mut whole, target)?;
                loaded.tools = whole.tools.clone();
                recipe.request = whole;
            }
        }
    }
    let target = recipe.keyed(target, session.as_mut())?;
    let mut made = recipe.make(&loaded, target.as_ref(), true)?;
    sent::compare(&mut made, session, (&recipe.of(&loaded, true)?, target.as_ref()), arguments)?;
    if arguments.form.json {
        output.bytes(made.preview.report_json().as_bytes())?;
    } else {
        let (name, counts) = (printable(&loaded.name), counts_text(&loaded.conversation));
        output.remark(format_args!("{name} · {counts}"))?;
        let width = output.width(arguments.form.width);
        let table = ReportTable { made: &made, palette: output.palette, width };
        output.text(&table.summary())?;
        sent::print(&made, output)?;
        output.text(&table.messages())?;
    }
    Ok(match made.preview.assembly.outcome {
        Outcome::Ready(_) => Verdict::Fine,
        Outcome::Waiting(_) => Verdict::Findings,
    })
}
