//! `interleaf sessions search`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clap::Args;
use interleaf::conversation::{Event, Operation};
use interleaf::store::{Found, Page, Search, SessionId};
use serde::Serialize;

use crate::failure::{Failure, Stop, printable};
use crate::open::OpenStore;
use crate::output::Output;

/// The number of events read at once.
const PAGE: usize = 2048;

/// Search what was said in all sessions, hidden messages included
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions search 'alarm sunday'
  interleaf sessions search alarm --session $ID --json

Every word must be in the message. A line is the message's place in the log, and the
text around the first word. What forks share is found in the session where it was
said.")]
pub(crate) struct SearchArguments {
    /// The words to search for
    text: String,

    /// Only in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Print at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A message that was found.
#[derive(Serialize)]
struct Hit {
    session: SessionId,
    index: u32,
    seq: u64,
    excerpt: String,
}

pub(crate) fn run(
    arguments: &SearchArguments,
    opened: &OpenStore,
    output: &mut Output,
) -> Result<(), Stop> {
    let mut search = Search::new(&arguments.text);
    search.session = arguments.session.as_ref().map(|id| opened.find(id)).transpose()?;
    search.limit = arguments.limit;
    let found = opened.ask(opened.store.search(search))?;
    let indices = indices(opened, &found)?;
    let hit = |found: Found| {
        let Found { session, seq, excerpt } = found;
        let index = indices.get(&(session, seq)).copied().unwrap_or_default();
        Hit { session, index, seq, excerpt }
    };
    let hits: Vec<Hit> = found.into_iter().map(hit).collect();
    if arguments.json {
        return Ok(output.json_list(hits)?);
    }
    let mut last = None;
    for hit in &hits {
        if last != Some(hit.session) {
            let head = opened.ask(opened.store.head(hit.session))?;
            output.remark(format_args!("{} · {}", hit.session, printable(&head.title)))?;
            last = Some(hit.session);
        }
        let excerpt = hit.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        output.line(format_args!("{:>4} {}", hit.index, printable(&excerpt)))?;
    }
    if hits.is_empty() {
        output.remark("nothing was found")?;
    }
    Ok(())
}

/// The log index of the first message that each event brought in.
fn indices(opened: &OpenStore, found: &[Found]) -> Result<HashMap<(SessionId, u64), u32>, Failure> {
    let mut wanted: BTreeMap<SessionId, BTreeSet<u64>> = BTreeMap::new();
    for hit in found {
        wanted.entry(hit.session).or_default().insert(hit.seq);
    }
    let mut indices = HashMap::new();
    for (session, seqs) in wanted {
        let end = seqs.last().map_or(0, |last| last + 1);
        let (mut next, mut index) = (0, 0);
        while next < end {
            let events = opened.ask(opened.store.events(session, Page::from(next, PAGE)))?;
            if events.is_empty() {
                break;
            }
            for stored in &events {
                if seqs.contains(&stored.seq) {
                    indices.insert((session, stored.seq), index);
                }
                let event = stored.event().map_err(|e| Failure::store("", &e))?;
                index += messages(&event);
                next = stored.seq + 1;
            }
        }
    }
    Ok(indices)
}

/// How many messages an event adds to the log.
fn messages(event: &Event) -> u32 {
    match event {
        Event::Appended { .. } => 1,
        Event::Operated { operation, .. } => match operation {
            Operation::Insert(insert) => insert.messages.len() as u32,
            Operation::Replace(_) => 1,
            Operation::Truncate(_) | Operation::Clear(_) | Operation::Filter(_) => 0,
        },
        Event::Marked { .. }
        | Event::Unmarked { .. }
        | Event::RolledBack { .. }
        | Event::RequestBegan { .. }
        | Event::UsageNoted { .. }
        | Event::Reset {} => 0,
    }
}
