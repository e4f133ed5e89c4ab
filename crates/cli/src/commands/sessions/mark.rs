//! `interleaf sessions mark`.

use std::collections::BTreeSet;

use clap::Args;
use interleaf::Edit;

use super::{Expected, op};
use crate::arguments::Form;
use crate::commands::op::changes::parse_mark;
use crate::failure::{Stop, printable};
use crate::lines::Lines;
use crate::open::OpenSession;
use crate::output::Output;

/// Put a mark on messages of a session, or take it off
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions mark $ID 0=pinned 1=decision
  interleaf sessions mark $ID 0=pinned --remove

INDEX is a place in the log, as `sessions show` prints it. A `pinned` message
survives truncation and is never summarised or left out; clear, filter and
replace still hide it.")]
pub(crate) struct MarkArguments {
    /// The session
    pub(crate) id: String,

    /// The message and the mark; may be repeated
    #[arg(value_name = "INDEX=NAME", value_parser = parse_mark, required = true)]
    marks: Vec<(u32, String)>,

    /// Take the marks off
    #[arg(long)]
    remove: bool,

    #[command(flatten)]
    expected: Expected,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(
    arguments: &MarkArguments,
    mut session: OpenSession,
    output: &mut Output,
) -> Result<(), Stop> {
    arguments.expected.check(&session)?;
    let indices: BTreeSet<u32> = arguments.marks.iter().map(|(index, _)| *index).collect();
    let change = |(index, mark)| match arguments.remove {
        true => Edit::Unmark(index, mark),
        false => Edit::Mark(index, mark),
    };
    let changes: Vec<Edit> = arguments.marks.iter().cloned().map(change).collect();
    let names: Vec<String> = changes.iter().map(Edit::to_string).collect();
    let mut loaded = session.loaded();
    op::write(&mut session, &mut loaded, changes)?;
    let lines = Lines::new(&loaded.conversation, output.width(arguments.form.width));
    if arguments.form.json {
        return Ok(output.json_list(lines.entries(indices.into_iter()))?);
    }
    let (names, next) = (names.join(", "), session.session.seq());
    output.remark(format_args!("{} · {}, event {next} is next", loaded.name, printable(&names)))?;
    Ok(lines.print(&indices.into_iter().collect::<Vec<_>>(), output)?)
}
