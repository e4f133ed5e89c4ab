//! `interleaf query`.

use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::conversation::{Pick, Query, Scope};
use interleaf::model::{Role, Timestamp, ToolName, plural};

use crate::arguments::{ByteCount, Form, Positions, role_parser};
use crate::failure::{Failure, Stop, printable};
use crate::input::{Loaded, load};
use crate::lines::Lines;
use crate::output::Output;

/// Find messages by role, number, turn, tool, text, time and mark
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf query fixtures/agent-session.json --role user --last 3
  interleaf query fixtures/agent-session.json --role assistant --range 2..6
  interleaf query fixtures/agent-session.json --role user --role assistant --last 3
  interleaf query fixtures/agent-session.json --turn 2 --tool search
  interleaf query fixtures/agent-session.json --mark pinned --json
  interleaf query fixtures/agent-session.json --since 2026-03-30T07:20:00Z

All criteria must hold; --first, --last or --range then takes
some of what matches.")]
pub(crate) struct QueryArguments {
    /// The conversation; `-` is standard input
    #[arg(value_hint = FilePath)]
    file: PathBuf,

    #[command(flatten)]
    criteria: Criteria,
}

/// Which messages are looked for.
#[derive(Debug, Args)]
pub(crate) struct Criteria {
    /// Only messages of this role; may be repeated for more roles
    #[arg(long, value_parser = role_parser())]
    role: Vec<Role>,

    /// The first N of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with_all = ["last", "range"])]
    first: Option<usize>,

    /// The last N of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "range")]
    last: Option<usize>,

    /// Those from A up to, but not including, B, counted from 0
    #[arg(long, value_name = "A..B")]
    range: Option<Positions>,

    /// Said at this time or later, such as 2026-03-30T07:20:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,

    /// Said before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,

    /// Messages that call this tool, and the results of those calls; may be repeated for more tools
    #[arg(long, value_name = "NAME")]
    tool: Vec<String>,

    /// Messages whose text contains this; may be repeated; one must match
    #[arg(long, value_name = "TEXT")]
    contains: Vec<String>,

    /// Messages of this turn, counted from 0: a user message and everything up to the next
    #[arg(long, value_name = "N")]
    turn: Option<usize>,

    /// Messages with this mark; may be repeated; all must match
    #[arg(long)]
    mark: Vec<String>,

    /// Search the whole log, hidden messages included
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    form: Form,
}

pub(crate) fn run(
    arguments: QueryArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    print(&load(&arguments.file, limit)?, arguments.criteria, output)
}

/// Prints the messages of a conversation that are looked for.
pub(crate) fn print(loaded: &Loaded, criteria: Criteria, output: &mut Output) -> Result<(), Stop> {
    let pick = match (criteria.first, criteria.last, criteria.range) {
        (Some(n), ..) => Pick::First(n),
        (_, Some(n), _) => Pick::Last(n),
        (.., Some(range)) => Pick::Range(range.start, range.end.unwrap_or(usize::MAX)),
        (None, None, None) => Pick::All,
    };
    let query = Query {
        scope: if criteria.all { Scope::Log } else { Scope::View },
        roles: criteria.role,
        since: criteria.since,
        until: criteria.until,
        marks: criteria.mark,
        tools: criteria.tool.into_iter().map(ToolName::new).collect(),
        contains: criteria.contains,
        turns: criteria.turn.map_or(Pick::All, |n| Pick::Range(n, n.saturating_add(1))),
        pick,
    };
    let hits = loaded.conversation.query(&query);
    let hits = hits.map_err(|e| Failure::conversation(&loaded.name, &e))?;
    let indices: Vec<u32> = hits.into_iter().map(|hit| hit.index).collect();
    let lines = Lines::new(&loaded.conversation, output.width(criteria.form.width));
    if criteria.form.json {
        return Ok(output.json_list(lines.entries(indices.into_iter()))?);
    }
    let (asked, kind) = match query.scope {
        Scope::Log => (loaded.conversation.log_len(), "message"),
        Scope::View => (loaded.conversation.view_len(), "visible message"),
    };
    let (name, asked) = (printable(&loaded.name), plural(asked, kind));
    output.remark(format_args!("{name} · {} of {asked}", indices.len()))?;
    Ok(lines.print(&indices, output)?)
}
