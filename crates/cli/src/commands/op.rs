//! `interleaf op`.

pub(crate) mod changes;

use std::collections::HashSet;
use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::conversation::{Conversation, Reason};
use interleaf::model::plural;
use interleaf::{Edit, Edited};
use serde::Serialize;

use self::changes::Changes;
use crate::arguments::{ByteCount, Form};
use crate::failure::{Failure, Stop, printable};
use crate::input::{Loaded, load};
use crate::lines::{Lines, counts_text, indices_text};
use crate::output::{Output, say};
use crate::save::save;

/// Change what is visible in a conversation, and see the effect
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf op fixtures/agent-session.json --keep-last 10
  interleaf op fixtures/agent-session.json --role user --keep-last 2 --others keep
  interleaf op fixtures/agent-session.json '{\"truncate\":{\"keep_last\":5}}' --json
  interleaf op fixtures/agent-session.json --filter-role user --contains Mira
  interleaf op fixtures/agent-session.json --mark 12=pinned --keep-last 5 --write - |
    interleaf show - --all

Messages are only hidden, never lost, and a tool call stays together with its
results. Nothing is written unless --write says where. N, A..B and POS count in
the view; INDEX is a place in the log.")]
pub(crate) struct OpArguments {
    /// The conversation; `-` is standard input
    #[arg(value_hint = FilePath)]
    file: PathBuf,

    #[command(flatten)]
    changes: Changes,

    /// Write the changed conversation here as a transcript; `-` is standard output
    #[arg(long, value_name = "OUT", value_hint = FilePath)]
    write: Option<PathBuf>,

    #[command(flatten)]
    form: Form,
}

/// What a list of changes did.
pub(crate) struct Outcome {
    /// What the changes are called.
    names: String,
    pub(crate) edited: Edited,
}

#[derive(Serialize)]
struct NoteEntry<'a> {
    indices: &'a [u32],
    kind: &'static str,
    reason: String,
}

pub(crate) fn run(
    arguments: OpArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let to_stdout = arguments.write.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if to_stdout && arguments.form.json {
        let rule = "standard output is in use: --json prints there too";
        return Err(Failure::new("--write -", rule).into());
    }
    let changes = arguments.changes.read(limit)?;
    let mut loaded = load(&arguments.file, limit)?;
    let outcome = apply(&mut loaded, changes)?;
    if let Some(path) = &arguments.write {
        let text = loaded.conversation.to_transcript().write();
        if to_stdout {
            output.bytes(text.as_bytes())?;
        } else {
            save(path, &text)?;
        }
        note_rest(&loaded);
    }
    if to_stdout {
        return Ok(());
    }
    print(&loaded, &outcome, &arguments.form, None, output)?;
    if arguments.form.json {
        return Ok(());
    }
    let batch = loaded.conversation.batches().count() - 1;
    match &arguments.write {
        Some(path) => {
            let path = path.display().to_string();
            output.remark(format_args!("batch {batch}, written to {}", printable(&path)))?;
        }
        None => output.remark(format_args!("batch {batch}, not written: --write OUT keeps it"))?,
    }
    Ok(())
}

/// Shows a changed conversation, and what the changes did. A session also says how
/// many events it has now.
pub(crate) fn print(
    loaded: &Loaded,
    outcome: &Outcome,
    form: &Form,
    next_seq: Option<u64>,
    output: &mut Output,
) -> Result<(), Stop> {
    let lines = Lines::new(&loaded.conversation, output.width(form.width));
    let lines = lines.with_fresh(&outcome.edited.added);
    if form.json {
        return print_json(&loaded.conversation, &outcome.edited, &lines, next_seq, output);
    }
    let names = printable(&outcome.names);
    output.remark(format_args!("{} · {names}", printable(&loaded.name)))?;
    output.remark(counts_text(&loaded.conversation))?;
    lines.print(&loaded.conversation.view().collect::<Vec<_>>(), output)?;
    print_reasons(&outcome.edited, &lines, output)
}

/// Applies the changes in order.
pub(crate) fn apply(loaded: &mut Loaded, changes: Vec<Edit>) -> Result<Outcome, Failure> {
    let names = changes.iter().map(Edit::to_string).collect::<Vec<_>>().join(", ");
    let edited = interleaf::edit(&mut loaded.conversation, changes);
    let edited = edited.map_err(|e| Failure::conversation(&loaded.name, &e))?;
    Ok(Outcome { names, edited })
}

/// Says what was hidden, and where the outcome differs from the letter, and why.
fn print_reasons(outcome: &Edited, lines: &Lines<'_>, output: &mut Output) -> Result<(), Stop> {
    if outcome.is_nothing() {
        return Ok(output.remark("the view stays as it was")?);
    }
    let noted = |reason: &Reason| matches!(reason, Reason::BlockHidden);
    let by_block = outcome.notes.iter().filter(|note| noted(&note.reason));
    let by_block: HashSet<u32> = by_block.flat_map(|note| note.indices.iter().copied()).collect();
    let (by_block, as_asked): (Vec<u32>, Vec<u32>) =
        outcome.hidden.iter().partition(|index| by_block.contains(index));
    if !outcome.added.is_empty() {
        output.remark(format_args!("came in: {}", indices_text(&outcome.added)))?;
    }
    if !as_asked.is_empty() {
        output.remark(format_args!("hidden as asked: {}", plural(as_asked.len(), "message")))?;
        lines.print_more(&as_asked, output)?;
    }
    if !by_block.is_empty() {
        output.remark(Reason::BlockHidden)?;
        lines.print_more(&by_block, output)?;
    }
    for (reason, indices) in outcome.reasons() {
        if !noted(&reason) {
            output.remark(format_args!("{reason} ({})", indices_text(&indices)))?;
        }
    }
    Ok(())
}

fn print_json(
    conversation: &Conversation,
    outcome: &Edited,
    lines: &Lines<'_>,
    next_seq: Option<u64>,
    output: &mut Output,
) -> Result<(), Stop> {
    let notes = outcome.notes.iter().map(|note| NoteEntry {
        indices: &note.indices,
        kind: note.reason.as_str(),
        reason: note.reason.to_string(),
    });
    let mut object = output.json_object();
    object.field("hidden", &outcome.hidden)?;
    object.field("added", &outcome.added)?;
    object.list("notes", notes)?;
    object.list("view", lines.entries(conversation.view()))?;
    object.field("batch", conversation.batches().count() - 1)?;
    if let Some(next_seq) = next_seq {
        object.field("next_seq", next_seq)?;
    }
    Ok(object.end()?)
}

/// A request body has fields that a transcript has no place for.
fn note_rest(loaded: &Loaded) {
    if !loaded.rest.is_empty() {
        let fields = loaded.rest.join(", ");
        let lost = "a transcript has no place for these fields of the request body, so they were";
        say(format_args!("note: {lost} left out: {}", printable(&fields)));
    }
}
