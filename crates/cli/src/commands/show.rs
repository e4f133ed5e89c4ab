//! `interleaf show`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::conversation::Conversation;
use serde::Serialize;
use serde_json::Map;

use crate::arguments::{ByteCount, Form};
use crate::failure::{Stop, printable};
use crate::input::{Loaded, load};
use crate::lines::{Lines, batches_text, counts_text, role_counts};
use crate::output::Output;

/// Show a conversation, one line per message
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf show fixtures/agent-session.json
  interleaf show fixtures/chat-array.json --json
  cat fixtures/agent-session.json | interleaf show - --width 160

A line is the message's place in the log, `*` if it is pinned, and the message in
notation: s system, u user, a assistant, t tool result (`=` fine, `!` failed);
other marks stand at its end. Where messages are hidden or out of order, their
position in the view stands in front.")]
pub(crate) struct ShowArguments {
    /// The conversation; `-` is standard input
    #[arg(value_hint = FilePath)]
    file: PathBuf,

    #[command(flatten)]
    shown: Shown,
}

/// What is shown of a conversation, and how.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// Show hidden messages too, dimmed, in log order
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    pub(crate) form: Form,
}

#[derive(Serialize)]
struct BatchEntry<'a> {
    batch: usize,
    cause: &'a str,
    boundary: Option<u32>,
}

pub(crate) fn run(
    arguments: &ShowArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    print(&load(&arguments.file, limit)?, &arguments.shown, output)
}

/// Shows a conversation.
pub(crate) fn print(loaded: &Loaded, shown: &Shown, output: &mut Output) -> Result<(), Stop> {
    let conversation = &loaded.conversation;
    let lines = Lines::new(conversation, output.width(shown.form.width));
    let indices: Vec<u32> = match shown.all {
        true => (0..conversation.log_len() as u32).collect(),
        false => conversation.view().collect(),
    };
    if shown.form.json {
        return print_json(conversation, &lines, indices, output);
    }
    output.remark(format_args!("{} · {}", printable(&loaded.name), counts_text(conversation)))?;
    lines.print(&indices, output)?;
    if conversation.batches().count() > 1 {
        output.remark(format_args!("batches: {}", batches_text(conversation)))?;
    }
    Ok(())
}

fn print_json(
    conversation: &Conversation,
    lines: &Lines<'_>,
    indices: Vec<u32>,
    output: &mut Output,
) -> Result<(), Stop> {
    let (visible, all) = (conversation.view_len(), conversation.log_len());
    let roles = role_counts(conversation).map(|(role, count)| (role.to_string(), count.into()));
    let marks = conversation.marks().map(|(mark, indices)| (mark, indices.collect::<Vec<_>>()));
    let batches = conversation.batches().enumerate().map(|(batch, found)| BatchEntry {
        batch,
        cause: &found.cause,
        boundary: found.boundary,
    });
    let mut object = output.json_object();
    object.field("log", all)?;
    object.field("visible", visible)?;
    object.field("hidden", all - visible)?;
    object.field("roles", Map::from_iter(roles))?;
    object.field("marks", marks.collect::<BTreeMap<_, _>>())?;
    object.list("batches", batches)?;
    object.list("messages", lines.entries(indices.into_iter()))?;
    Ok(object.end()?)
}
