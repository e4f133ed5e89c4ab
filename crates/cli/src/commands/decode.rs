//! `interleaf decode`.

use std::path::PathBuf;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::model::Tool;
use interleaf::read::Answer;
use interleaf::reply_form;
use interleaf::wire::Family;

use crate::api::{ApiParser, read_tools};
use crate::arguments::ByteCount;
use crate::batch::{answer_all, one_line};
use crate::failure::{Failure, Stop, Verdict, printable};
use crate::input::{Input, read_bytes};
use crate::output::{Output, say};

/// Read an API's answer, whole or as a recorded stream
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf decode fixtures/answer-stream.json --api anthropic
  interleaf decode fixtures/answer-stream.json | grep -o '\"finish\":\"[a-z_]*\"'

The input is the answer itself (JSON, server-sent events, Bedrock's binary stream)
or a recording, {\"stream\": …, \"response\": the answer as JSON or text}. The message
of an answer is printed as in a transcript, its parts in order, together with what else
the API reported: `interleaf sessions append` takes all of that. The message of a
recording is printed OpenAI-style, with `thinking_blocks` beside the text. Of a stream that
is cut off the part that came is printed, with the finish `cut`; the exit code is 2.")]
pub(crate) struct DecodeArguments {
    /// The answer; `-` is standard input
    #[arg(default_value = "-", value_hint = FilePath)]
    file: PathBuf,

    /// The API that gave it [default: detected from the content]
    #[arg(long, alias = "to", value_name = "API", value_parser = ApiParser)]
    api: Option<Family>,

    /// The tools of the request, which the answer may call by other names
    #[arg(long, value_name = "PATH", value_hint = FilePath)]
    tools: Option<PathBuf>,

    /// The model makes its calls in words: read them out of its text
    #[arg(long, requires = "tools")]
    text_tools: bool,

    /// The form of the message [default: chat for a recording, transcript for an answer]
    #[arg(long, value_name = "FORM")]
    form: Option<MessageForm>,

    /// Read one answer per line, print {"message": …, "finish": …} or {"error": "…"} for each
    #[arg(long)]
    batch: bool,
}

/// The form in which a message is printed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum MessageForm {
    Transcript,
    Chat,
}

pub(crate) fn run(
    arguments: &DecodeArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let tools = arguments.tools.as_ref().map(|path| read_tools(path, limit)).transpose()?;
    let tools = tools.map(|tools| tools.tools).unwrap_or_default();
    if arguments.batch {
        let answer = |input: Input| {
            let (decoded, cut) = decode(arguments, &tools, &input.name, input.text.into_bytes())?;
            cut.map_or_else(|| one_line(&input.name, &decoded), Err)
        };
        return answer_all(&arguments.file, limit, "", answer, output);
    }
    let (name, bytes) = read_bytes(&arguments.file, limit)?;
    let (decoded, cut) = decode(arguments, &tools, &name, bytes)?;
    output.bytes(format!("{decoded}\n").as_bytes())?;
    cut.map_or(Ok(Verdict::Fine), |cut| Err(cut.into()))
}

/// The answer; of one that cannot be read to its end what has come, and what is wrong.
fn decode(
    arguments: &DecodeArguments,
    tools: &[Tool],
    name: &str,
    bytes: Vec<u8>,
) -> Result<(String, Option<Failure>), Failure> {
    let fault = |e: interleaf::Error| Failure::session(name, &e);
    let mut answer = Answer::of(bytes).map_err(fault)?;
    answer.text_tools = arguments.text_tools;
    let family = match arguments.api {
        Some(family) => family,
        None => answer.family().ok_or_else(|| {
            let rule = "nothing in this answer shows which API gave it";
            Failure::new(name, rule).hint("name the API with --api")
        })?,
    };
    let (reply, cut) = answer.decode_part(family, tools).map_err(fault)?;
    let usual = if answer.is_recording() { MessageForm::Chat } else { MessageForm::Transcript };
    let decoded = match arguments.form.unwrap_or(usual) {
        MessageForm::Transcript => reply_form::write(&reply),
        MessageForm::Chat => reply_form::write_chat(&reply),
    };
    // Of many answers, a note says which one it is about.
    let place = if arguments.batch { format!("{name}: ") } else { String::new() };
    for remark in reply.remarks() {
        say(format_args!("note: {place}{}", printable(&remark)));
    }
    Ok((decoded, cut.map(fault)))
}
