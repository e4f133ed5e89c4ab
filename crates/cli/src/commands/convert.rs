//! `interleaf convert`.

use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::wire::Family;

use crate::api::{ApiArguments, ApiParser, family_of};
use crate::arguments::ByteCount;
use crate::batch::answer_all;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Input;
use crate::output::Output;
use crate::plain::{Body, Plain};
use crate::report_table;
use crate::save::save;

/// Turn the request body of one API into that of another
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf convert fixtures/orphan-result.json --to openai-chat
  interleaf convert fixtures/orphan-result.json --to gemini --max-tokens 900 --stream
  interleaf build fixtures/chat-array.json --to anthropic --model claude-sonnet-4-5 |
    interleaf convert --from anthropic --to bedrock

What had to change is reported on standard error. A history that no API
would accept is mended on the way.")]
pub(crate) struct ConvertArguments {
    /// The body; `-` is standard input
    #[arg(default_value = "-", value_hint = FilePath)]
    file: PathBuf,

    /// The API that the body was made for [default: detected from the content]
    #[arg(long, value_name = "API", value_parser = ApiParser)]
    from: Option<Family>,

    /// The API to write the body for
    #[arg(long, alias = "api", value_name = "API", value_parser = ApiParser)]
    to: Family,

    /// The model to ask [default: the body's]
    #[arg(long, value_name = "NAME", help_heading = "API")]
    model: Option<String>,

    #[command(flatten)]
    api: ApiArguments,

    /// Read one body per line, print {"body": …, "report": …} or {"error": "…"} for each
    #[arg(long, conflicts_with = "report")]
    batch: bool,

    /// Write what was changed, and why, here as JSON
    #[arg(long, value_name = "OUT", value_hint = FilePath)]
    report: Option<PathBuf>,

    /// Do not say on standard error what was changed
    #[arg(long)]
    quiet: bool,
}

pub(crate) fn run(
    arguments: &ConvertArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    report_table::check_path(arguments.report.as_deref())?;
    arguments.api.of_no_session()?;
    let plain = Plain {
        vendor: arguments.api.vendor_of(arguments.to)?,
        tools: arguments.api.tools(limit)?,
    };
    let convert = |input: Input| -> Result<Body, Failure> {
        let family = family_of(&input, "--from", arguments.from)?;
        plain.body(input, family, |own| arguments.api.options(own, arguments.model.as_deref()))
    };
    if arguments.batch {
        let answer = |input| convert(input)?.line();
        return answer_all(&arguments.file, limit, "", answer, output);
    }
    let body = convert(Input::read(&arguments.file, limit)?)?;
    if let Some(path) = &arguments.report {
        save(path, &body.made.preview.report_json())?;
    }
    if !arguments.quiet {
        body.say_changes(arguments.model.as_deref(), "--model names another");
    }
    output.bytes(body.text.as_bytes())?;
    Ok(Verdict::Fine)
}
