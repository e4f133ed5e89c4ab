//! `interleaf sessions export`.

use std::path::PathBuf;

use clap::ValueHint::FilePath;
use clap::{Args, ValueEnum};
use interleaf::Session;
use interleaf::copy::{self, Reader};

use crate::failure::{Failure, Stop};
use crate::open::OpenStore;
use crate::output::Output;
use crate::save::save;

/// Write a session, or all of them, into a file
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions export $ID
  interleaf sessions export $ID --format jsonl
  interleaf sessions export --all -o /tmp/sessions.jsonl

A transcript is the conversation; `interleaf show` and the others read it. JSON lines
hold all that a session keeps: every event with its time, summaries, TODO items, notes
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
    opened: &OpenStore,
    output: &mut Output,
) -> Result<(), Stop> {
    let file = (arguments.output.as_os_str() != "-").then(String::new);
    let mut out = Out { output, file };
    match (&arguments.id, arguments.format) {
        (None, Some(Format::Transcript)) => {
            let rule = "a transcript holds one session; jsonl holds all of them";
            return Err(Failure::new("--format", rule).into());
        }
        (None, Some(Format::Jsonl) | None) => {
            let heads = opened.asked(copy::all(&*opened.store))?;
            let mut left = heads.len() as u64;
            for (head, has_parent) in copy::parents_first(heads) {
                let reader = Reader::of(opened.store.clone(), &head, has_parent);
                let mut reader = opened.asked(reader)?;
                left -= 1;
                reader.head.following = Some(left);
                write_lines(opened, reader, &mut out)?;
            }
        }
        (Some(id), Some(Format::Jsonl)) => {
            let reader = opened.asked(Reader::whole(opened.store.clone(), opened.find(id)?))?;
            write_lines(opened, reader, &mut out)?;
        }
        (Some(id), Some(Format::Transcript) | None) => {
            let session = opened.asked(Session::open(opened.store.clone(), opened.find(id)?))?;
            out.text(&session.conversation().to_transcript().write())?;
        }
    }
    out.file.map_or(Ok(()), |text| Ok(save(&arguments.output, &text)?))
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

fn write_lines(opened: &OpenStore, mut reader: Reader, out: &mut Out<'_>) -> Result<(), Stop> {
    let fail = |e| Failure::session("", &e);
    let head = copy::write_head(&reader.head).map_err(fail)?;
    out.text(&format!("{head}\n"))?;
    loop {
        let page = opened.asked(reader.page())?;
        if page.is_empty() {
            return Ok(());
        }
        for item in page {
            let item = copy::write_item(item).map_err(fail)?;
            out.text(&format!("{item}\n"))?;
        }
    }
}
