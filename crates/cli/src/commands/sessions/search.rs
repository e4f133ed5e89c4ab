//! `interleaf sessions search`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clap::Args;
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

Every word must be in the message, or in messages that were inserted together. A line
is the place in the log of the message with the first word, and the text around it.
What forks share is found in the session where it was said.")]
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
    /// None, if the session was removed meanwhile.
    index: Option<usize>,
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
    let found = opened.ask(opened.store.search(search.clone()))?;
    let indices = indices(opened, &search, &found)?;
    let hit = |found: Found| {
        let Found { session, seq, excerpt } = found;
        let index = indices.get(&(session, seq)).copied();
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
        let index = hit.index.map_or_else(|| "-".to_owned(), |index| index.to_string());
        output.line(format_args!("{index:>4} {}", printable(&hit.excerpt)))?;
    }
    if hits.is_empty() {
        output.remark("nothing was found")?;
    }
    Ok(())
}

/// The place in the log of the message that each event was found for.
fn indices(
    opened: &OpenStore,
    search: &Search,
    found: &[Found],
) -> Result<HashMap<(SessionId, u64), usize>, Failure> {
    let wanted: BTreeSet<(SessionId, u64)> = found.iter().map(|f| (f.session, f.seq)).collect();
    let last: BTreeMap<SessionId, u64> = wanted.iter().copied().collect();
    let mut indices = HashMap::new();
    for (session, last) in last {
        let (mut next, mut index) = (0, 0);
        while next <= last {
            let events = opened.ask(opened.store.events(session, Page::from(next, PAGE)))?;
            let Some(newest) = events.last() else { break };
            next = newest.seq + 1;
            for stored in &events {
                let event = stored.event().map_err(|e| Failure::store("", &e))?;
                if wanted.contains(&(session, stored.seq)) {
                    let within = search.message_of(&event).map_err(|e| Failure::store("", &e))?;
                    indices.insert((session, stored.seq), index + within);
                }
                index += event.messages().count();
            }
        }
    }
    Ok(indices)
}
