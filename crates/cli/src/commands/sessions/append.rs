//! `interleaf sessions append`.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use interleaf::conversation::Conversation;
use interleaf::model::{Json, Message, MessageId};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Expected;
use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop};
use crate::input::Input;
use crate::kept::KeptSession;
use crate::lines::{indices_text, plural};
use crate::output::Output;

/// So often is it tried anew when others write at the same time.
const TRIES: usize = 64;

/// Say messages in a session
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions append $ID --user 'Which files are here?'
  interleaf sessions append $ID '{\"role\": \"assistant\", \"content\": \"Two of them.\"}'
  interleaf sessions append $ID fixtures/chat-array.json
  interleaf decode fixtures/answer-stream.json | interleaf sessions append $ID -

All messages are written together, or none. If another program writes at the same
time, these come behind its messages, unless --expect forbids it. A message whose
id the session has already gets another.")]
pub(crate) struct AppendArguments {
    /// The session
    id: String,

    /// What is said: a message as JSON, or a file with one, a transcript or an array of chat
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

/// The fields that tell a message, or an answer that holds one, from a conversation.
#[derive(Deserialize)]
struct Fields {
    role: Option<IgnoredAny>,
    parts: Option<IgnoredAny>,
    message: Option<Json>,
}

pub(crate) fn run(
    arguments: &AppendArguments,
    session: impl Fn(&str) -> Result<KeptSession, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let messages = arguments.messages(limit)?;
    if messages.is_empty() {
        return Err(Failure::new("append", "there is no message in it").into());
    }
    let mut session = session(&arguments.id)?;
    arguments.expected.check(&session)?;
    let first = write(&mut session, &messages, arguments.expected.expect.is_none())?;
    let indices: Vec<u32> = (first..).take(messages.len()).collect();
    let next_seq = session.session.seq();
    if arguments.json {
        let mut object = output.json_object();
        object.field("session", session.session.id())?;
        object.field("indices", &indices)?;
        object.field("next_seq", next_seq)?;
        return Ok(object.end()?);
    }
    let (name, count) = (session.name(), plural(messages.len(), "message"));
    let at = indices_text(&indices);
    Ok(output.remark(format_args!("{name} · {count} at {at}, event {next_seq} is next"))?)
}

/// Writes messages behind all that is there, and gives the log index of the first.
fn write(
    session: &mut KeptSession,
    messages: &[Arc<Message>],
    may_try_again: bool,
) -> Result<u32, Failure> {
    let name = session.name();
    let KeptSession { session, kept } = session;
    let fail = |e| Failure::session(&name, &e);
    let mut tries = 0;
    loop {
        let fitting = fitting(messages, session.conversation());
        match kept.wait(session.append_all(fitting)) {
            Err(e) if e.kind() == interleaf::ErrorKind::Conflict && may_try_again => {
                tries += 1;
                if tries == TRIES {
                    return Err(fail(e));
                }
                kept.wait(session.refresh()).map_err(fail)?;
            }
            written => return written.map_err(fail),
        }
    }
}

/// The messages, those without an id that is theirs alone to be named by their place.
fn fitting(messages: &[Arc<Message>], conversation: &Conversation) -> Vec<Arc<Message>> {
    let taken = conversation.log().map(|message| message.id.clone());
    let mut taken: HashSet<MessageId> = taken.collect();
    let mut fitting = messages.to_vec();
    for (i, message) in fitting.iter_mut().enumerate() {
        // A reader names messages by their place in the file, which is not this one.
        if message.id == MessageId::of_index(i) || taken.contains(&message.id) {
            Arc::make_mut(message).id = MessageId::default();
        }
        let id = match message.id.is_unassigned() {
            true => MessageId::of_index(conversation.log_len() + i),
            false => message.id.clone(),
        };
        taken.insert(id);
    }
    fitting
}

impl AppendArguments {
    fn messages(&self, limit: ByteCount) -> Result<Vec<Arc<Message>>, Failure> {
        let texts = [
            self.user.as_deref().map(Message::user),
            self.assistant.as_deref().map(Message::assistant),
            self.system.as_deref().map(Message::system),
        ];
        if let Some(message) = texts.into_iter().flatten().next() {
            return Ok(vec![Arc::new(message)]);
        }
        let said = self.said.as_deref().unwrap_or("-");
        let input = match said.trim_start().starts_with(['{', '[']) {
            true => Input { name: "JSON".to_owned(), text: said.to_owned() },
            false => Input::read(Path::new(said), limit)?,
        };
        read(input)
    }
}

fn read(mut input: Input) -> Result<Vec<Arc<Message>>, Failure> {
    let fail = |name: &str, e: &serde_json::Error| Failure::json(name, e);
    if let Ok(fields) = serde_json::from_str::<Fields>(&input.text) {
        if fields.role.is_some() && fields.parts.is_some() {
            let message = serde_json::from_str::<Message>(&input.text);
            return Ok(vec![Arc::new(message.map_err(|e| fail(&input.name, &e))?)]);
        }
        // What `decode` prints has the message inside.
        if let (None, Some(message)) = (&fields.role, &fields.message) {
            input.text = message.as_str().to_owned();
            return read(input);
        }
        if fields.role.is_some() {
            input.text = format!("[{}]", input.text);
        }
    }
    let loaded = input.load()?;
    let hidden = loaded.conversation.log_len() - loaded.conversation.view_len();
    if hidden > 0 {
        let rule = format!("{} of it are hidden, and would be lost", plural(hidden, "message"));
        return Err(Failure::new(loaded.name, rule)
            .hint("`interleaf sessions import` keeps them, in a session of their own"));
    }
    Ok(loaded.conversation.visible().cloned().collect())
}
