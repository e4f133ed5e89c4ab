//! `interleaf sessions export`.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::Session;
use interleaf::store::{Head, ListSessions, SessionId};

use super::copy::{Reader, write_item};
use crate::failure::{Failure, Stop};
use crate::kept::Kept;
use crate::output::Output;
use crate::save::save;

/// So many sessions are asked for at once.
const PAGE: usize = 1000;

/// Write a session, or all of them, into a file
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions export $ID
  interleaf sessions export $ID --format jsonl
  interleaf sessions export --all -o /tmp/sessions.jsonl

A transcript is the conversation; `interleaf show` and the others read it. JSON lines
are all that a session keeps: every event with its time, summaries, TODO items, notes
and the requests that were sent. `interleaf sessions import` reads both.")]
pub(crate) struct ExportArguments {
    /// The session
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,

    /// All sessions
    #[arg(long)]
    all: bool,

    /// The form [default: transcript, or jsonl for all]
    #[arg(long, value_name = "FORM")]
    format: Option<Format>,

    /// Where to write it; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = FilePath)]
    output: PathBuf,
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Transcript,
    Jsonl,
}

pub(crate) fn run(
    arguments: &ExportArguments,
    kept: &Kept,
    output: &mut Output,
) -> Result<(), Stop> {
    let mut out = Out { output, file: None };
    if arguments.output.as_os_str() != "-" {
        out.file = Some(String::new());
    }
    match (&arguments.id, arguments.format) {
        (None, Some(Format::Transcript)) => {
            let rule = "a transcript holds one session; jsonl holds all of them";
            return Err(Failure::new("--format", rule).into());
        }
        (None, Some(Format::Jsonl) | None) => {
            for (head, has_parent) in in_order(heads(kept)?) {
                let reader = match has_parent {
                    true => Reader::own(kept, &head)?,
                    false => Reader::whole(kept, head.id)?,
                };
                write_lines(reader, &mut out)?;
            }
        }
        (Some(id), Some(Format::Jsonl)) => {
            write_lines(Reader::whole(kept, kept.find(id)?)?, &mut out)?;
        }
        (Some(id), Some(Format::Transcript) | None) => {
            let session = kept.wait(Session::open(kept.store.clone(), kept.find(id)?));
            let session = session.map_err(|e| Failure::session("", &e))?;
            out.text(&session.conversation().to_transcript().write())?;
        }
    }
    match out.file {
        Some(text) => Ok(save(&arguments.output, &text)?),
        None => Ok(()),
    }
}

/// Standard output, or a file that is put in its place when all of it is there.
struct Out<'a> {
    output: &'a mut Output,
    file: Option<String>,
}

impl Out<'_> {
    fn text(&mut self, text: &str) -> Result<(), Stop> {
        match &mut self.file {
            Some(file) => file.push_str(text),
            None => self.output.bytes(text.as_bytes())?,
        }
        Ok(())
    }
}

fn write_lines(mut reader: Reader<'_>, out: &mut Out<'_>) -> Result<(), Stop> {
    let head = serde_json::to_string(&reader.head);
    out.text(&head.map_err(|e| Failure::json("the session", &e))?)?;
    out.text("\n")?;
    loop {
        let page = reader.page()?;
        if page.is_empty() {
            return Ok(());
        }
        for item in page {
            out.text(&write_item(item)?)?;
            out.text("\n")?;
        }
    }
}

/// Every session of a store.
pub(super) fn heads(kept: &Kept) -> Result<Vec<Head>, Failure> {
    let mut heads: Vec<Head> = Vec::new();
    loop {
        let after = heads.last().map(|head| (head.changed, head.id));
        let page = kept.ask(kept.store.list(ListSessions { limit: PAGE, after }))?;
        let full = page.len() == PAGE;
        heads.extend(page);
        if !full {
            return Ok(heads);
        }
    }
}

/// Sessions, each behind its parent, and whether that is among them.
pub(super) fn in_order(heads: Vec<Head>) -> Vec<(Head, bool)> {
    let parent = |head: &Head| head.parent.map(|fork| fork.session);
    let parents: HashMap<SessionId, Option<SessionId>> =
        heads.iter().map(|head| (head.id, parent(head))).collect();
    let depth = |head: &Head| {
        let up = |id: &Option<SessionId>| id.and_then(|id| parents.get(&id).copied());
        std::iter::successors(Some(parent(head)), up).count()
    };
    let mut ordered: Vec<(usize, Head)> =
        heads.into_iter().map(|head| (depth(&head), head)).collect();
    ordered.sort_by_key(|(depth, head)| (*depth, head.id));
    let is_known = |head: &Head| parent(head).is_some_and(|id| parents.contains_key(&id));
    ordered
        .into_iter()
        .map(|(_, head)| (is_known(&head), head))
        .map(|(k, head)| (head, k))
        .collect()
}
