//! `interleaf sessions append`.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use interleaf::model::{Message, plural};
use interleaf::read::{self, Said};
use interleaf::{OnConflict, append_said};

use super::Expected;
use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop};
use crate::input::{Input, say_left_out, say_renamed};
use crate::lines::indices_text;
use crate::open::OpenSession;
use crate::output::Output;

/// Append messages to a session
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions append $ID --user 'Which files are here?'
  interleaf sessions append $ID '{\"role\": \"assistant\", \"content\": \"Two of them.\"}'
  interleaf sessions append $ID '{\"role\": \"tool\", \"tool_call_id\": \"c1\", \"content\": \"src\"}'
  interleaf sessions append $ID fixtures/chat-array.json
  interleaf decode fixtures/answer-stream.json --form transcript | interleaf sessions append $ID -

An answer from `decode` answers the last recorded request. Its calls get the tools' own
names again, where the API had taken others.
All messages are written together, or none. If another program writes at the same
time, these come after its messages, unless --expect forbids it. Of several messages,
one whose id is already in the session gets a new id, and a note says so.")]
pub(crate) struct AppendArguments {
    /// The session
    id: String,

    /// What to append: a message as JSON, or a file with one, a transcript or an array of chat
    /// messages; `-` is standard input
    #[arg(value_name = "JSON|FILE", required_unless_present_any = ["user", "assistant", "system"])]
    said: Option<String>,

    /// The user says this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, group = "text")]
    #[arg(conflicts_with = "said")]
    user: Option<String>,
    /// The assistant says this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, group = "text")]
    #[arg(conflicts_with = "said")]
    assistant: Option<String>,
    /// The system prompt says this
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, group = "text")]
    #[arg(conflicts_with = "said")]
    system: Option<String>,

    #[command(flatten)]
    expected: Expected,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &AppendArguments,
    session: impl Fn(&str) -> Result<OpenSession, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let said = arguments.said(limit)?;
    if said == Said::Messages(vec![]) {
        return Err(Failure::new("append", "there is no message in it").into());
    }
    let mut session = session(&arguments.id)?;
    arguments.expected.check(&session)?;
    let on_conflict = match arguments.expected.expect {
        Some(_) => OnConflict::Refuse,
        None => OnConflict::Retry,
    };
    let name = session.name();
    let written = {
        let OpenSession { session, opened } = &mut session;
        opened.wait(append_said(session, said, on_conflict))
    };
    let written = written.map_err(|e| Failure::session(&name, &e))?;
    let indices: Vec<u32> = written.indices.collect();
    say_renamed(&written.renamed);
    let next_seq = session.session.seq();
    if arguments.json {
        let mut object = output.json_object();
        object.field("session", session.session.id())?;
        object.field("indices", &indices)?;
        object.field("next_seq", next_seq)?;
        return Ok(object.end()?);
    }
    let count = plural(indices.len(), "message");
    let at = indices_text(&indices);
    Ok(output.remark(format_args!("{name} · {count} at {at}, event {next_seq} is next"))?)
}

impl AppendArguments {
    fn said(&self, limit: ByteCount) -> Result<Said, Failure> {
        let texts = [
            self.user.as_deref().map(Message::user),
            self.assistant.as_deref().map(Message::assistant),
            self.system.as_deref().map(Message::system),
        ];
        if let Some(message) = texts.into_iter().flatten().next() {
            return Ok(Said::Messages(vec![Arc::new(message)]));
        }
        let said = self.said.as_deref().unwrap_or("-");
        let input = match said.trim_start().starts_with(['{', '[']) {
            true => Input { name: "JSON".to_owned(), text: said.to_owned() },
            false => Input::read(Path::new(said), limit)?,
        };
        let said = read::said(&input.text).map_err(|e| input.fault(&e))?;
        say_left_out(&read::left_out(&input.text));
        Ok(said)
    }
}
