//! `interleaf decode`.

use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::model::{Finish, Usage};
use interleaf::wire::Family;
use serde::Serialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::api::family_parser;
use crate::arguments::ByteCount;
use crate::batch::{answer_all, one_line};
use crate::chat_form;
use crate::failure::{Failure, Stop, Verdict};
use crate::input::{Input, read_bytes};
use crate::output::Output;

/// Read an answer of an API, whole or as a recorded stream
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf decode fixtures/answer-stream.json --api anthropic
  interleaf decode fixtures/answer-stream.json | grep -o '\"finish\":\"[a-z_]*\"'

The input is the answer itself (JSON, server-sent events, Bedrock's binary stream)
or {\"stream\": …, \"response\": the answer as JSON or text}. The message is printed
as an OpenAI-style chat message, with `thinking_blocks` beside the text.")]
pub(crate) struct DecodeArguments {
    /// The answer; `-` is standard input
    #[arg(default_value = "-", value_hint = FilePath)]
    file: PathBuf,

    /// The API that gave it [default: seen from the content]
    #[arg(long, value_name = "API", value_parser = family_parser())]
    api: Option<Family>,

    /// Read one answer a line, print {"message": …, "finish": …} or {"error": "…"} for each
    #[arg(long)]
    batch: bool,
}

#[derive(Serialize)]
struct Decoded {
    message: Value,
    finish: Finish,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

pub(crate) fn run(
    arguments: &DecodeArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    if arguments.batch {
        let answer = |input: Input| {
            let decoded = decode(arguments, &input.name, input.text.into_bytes())?;
            let json = serde_json::to_string(&decoded);
            one_line(&input.name, &json.map_err(|e| Failure::json(&input.name, &e))?)
        };
        return answer_all(&arguments.file, limit, "", answer, output);
    }
    let (name, bytes) = read_bytes(&arguments.file, limit)?;
    output.json_line(&decode(arguments, &name, bytes)?)?;
    Ok(Verdict::Fine)
}

fn decode(arguments: &DecodeArguments, name: &str, bytes: Vec<u8>) -> Result<Decoded, Failure> {
    let answer = Answer::of(name, bytes)?;
    let family = match arguments.api {
        Some(family) => family,
        None => answer.family().ok_or_else(|| {
            let rule = "it cannot be seen which API gave this answer";
            Failure::new(name, rule).hint("--api names it")
        })?,
    };
    let reply = answer.decode(family).map_err(|e| Failure::wire(name, &e))?;
    Ok(Decoded {
        message: chat_form::of_reply(&reply.message),
        finish: reply.finish,
        usage: reply.usage,
        model: reply.model.map(|model| model.to_string()),
        id: reply.id.map(|id| id.to_string()),
    })
}
