//! `interleaf sessions show`.

use clap::Args;
use interleaf::model::{Json, Timestamp, Usage};
use interleaf::store::{Page, SentRequest};
use serde::Serialize;

use super::seconds_text;
use crate::commands::show::{Shown, print};
use crate::failure::{Stop, printable};
use crate::open::OpenSession;
use crate::output::Output;

/// Show a session, one line per message
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions show $ID
  interleaf sessions show $ID --all --json
  interleaf sessions show $ID --requests

The lines are those of `interleaf show`.")]
pub(crate) struct ShowArguments {
    /// The session
    pub(crate) id: String,

    /// Show the requests that `build --record` recorded instead
    #[arg(long)]
    requests: bool,

    #[command(flatten)]
    shown: Shown,
}

/// A request in JSON.
#[derive(Serialize)]
struct RequestEntry {
    no: u64,
    seq: u64,
    at: Timestamp,
    model: String,
    vendor: String,
    bytes: u64,
    blake3: String,
    usage: Option<Usage>,
    report: Json,
}

pub(crate) fn run(
    arguments: &ShowArguments,
    session: &OpenSession,
    output: &mut Output,
) -> Result<(), Stop> {
    if arguments.requests {
        return print_requests(arguments.shown.form.json, session, output);
    }
    print(&session.loaded(), &arguments.shown, output)
}

fn print_requests(json: bool, session: &OpenSession, output: &mut Output) -> Result<(), Stop> {
    let requests = session.ask(session.session.requests(Page::from(0, usize::MAX)))?;
    if json {
        return Ok(output.json_list(requests.into_iter().map(entry))?);
    }
    output.remark(format_args!("{} · requests: {}", session.name(), requests.len()))?;
    for request in requests {
        let SentRequest { no, seq, at, body, .. } = &request;
        let (model, vendor) = (printable(&request.model), printable(&request.vendor));
        let (at, len, hash) = (seconds_text(*at), body.len, body.hash_text());
        output.line(format_args!(
            "{no} --at {seq}  {at}  {vendor} {model}  {len} bytes  blake3 {}",
            &hash[..16]
        ))?;
    }
    Ok(())
}

fn entry(request: SentRequest) -> RequestEntry {
    let SentRequest { no, seq, at, model, vendor, body, report, usage } = request;
    let (bytes, blake3) = (body.len, body.hash_text());
    RequestEntry { no, seq, at, model, vendor, bytes, blake3, usage, report }
}
