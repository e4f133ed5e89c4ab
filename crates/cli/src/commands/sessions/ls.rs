//! `interleaf sessions ls`.

use clap::Args;
use interleaf::model::plural;
use interleaf::store::{Head, ListSessions};

use super::seconds_text;
use crate::failure::{Stop, printable};
use crate::open::OpenStore;
use crate::output::Output;

/// What a title gets, however little the width leaves.
const NARROWEST: usize = 12;

/// List sessions, the last changed first
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions ls
  interleaf sessions ls --limit 5 --json

A session's events are its messages and every change of what is visible.")]
pub(crate) struct LsArguments {
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &LsArguments,
    opened: &OpenStore,
    output: &mut Output,
) -> Result<(), Stop> {
    let limit = arguments.limit.saturating_add(1);
    let mut heads = opened.ask(opened.store.list(ListSessions { limit, after: None }))?;
    let more = heads.len() > arguments.limit;
    heads.truncate(arguments.limit);
    if arguments.json {
        return Ok(output.json_list(&heads)?);
    }
    print(&heads, output)?;
    if more {
        let shown = plural(heads.len(), "session");
        output.remark(format_args!("{shown}, and there are more: --limit shows them"))?;
    } else if heads.is_empty() {
        output.remark("no sessions: `interleaf sessions new` makes one")?;
    }
    Ok(())
}

fn print(heads: &[Head], output: &mut Output) -> Result<(), Stop> {
    let rows: Vec<[String; 5]> = heads.iter().map(row).collect();
    let names = ["# id", "title", "agent", "events", "changed"];
    let mut widths = names.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let [id, title, agent, events, changed] = widths;
    let others = id + agent + events + changed + 2 * (names.len() - 1);
    let title = title.min(output.width(None).saturating_sub(others).max(NARROWEST));
    let line = |cells: [&str; 5]| {
        let [a, b, c, d, e] = cells;
        let b = cut(b, title);
        format!("{a:<id$}  {b:<title$}  {c:<agent$}  {d:>events$}  {e}")
    };
    if !rows.is_empty() {
        let dim = output.palette.dim;
        output.line(format_args!("{dim}{}{dim:#}", line(names)))?;
    }
    for row in &rows {
        output.line(line(row.each_ref().map(String::as_str)))?;
    }
    Ok(())
}

fn row(head: &Head) -> [String; 5] {
    let agent = head.agent.as_ref().map_or("-", |agent| agent.as_str());
    let title = if head.title.is_empty() { "-" } else { &head.title };
    [
        head.id.to_string(),
        printable(title).into_owned(),
        printable(agent).into_owned(),
        head.next_seq.to_string(),
        seconds_text(head.changed),
    ]
}

/// A text cut to this width.
fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
