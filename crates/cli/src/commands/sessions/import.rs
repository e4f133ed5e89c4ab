//! `interleaf sessions import`.

mod replay;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::FilePath;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use interleaf::Session;
use interleaf::model::AgentName;
use interleaf::store::NewSession;

use super::copy::{Done, Head, Reader, Writer, is_head, read_head, read_item};
use super::export::{heads, in_order};
use super::now;
use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop};
use crate::input::Input;
use crate::kept::{Kept, Missing};
use crate::lines::plural;
use crate::output::Output;

/// Take sessions in from a file or another store
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions import fixtures/agent-session.json --title 'the alarm'
  interleaf sessions import fixtures/chat-array.json
  interleaf sessions export --all | interleaf sessions import - --store sqlite:/tmp/copy.db
  interleaf sessions import --from sqlite:/tmp/copy.db

A transcript, an array of chat messages or a request body becomes a new session, whose
id is printed. JSON lines of `sessions export`, and sessions of another store, keep
their ids, times and forks; what is there already is only added to, and a session that
differs is refused.")]
pub(crate) struct ImportArguments {
    /// The file; `-` is standard input
    #[arg(value_hint = FilePath, required_unless_present = "from", conflicts_with = "from")]
    file: Option<PathBuf>,

    /// Copy from the store at this URL
    #[arg(long, value_name = "URL")]
    from: Option<String>,

    /// With --from: only this session; may be given again
    #[arg(long, value_name = "ID", requires = "from")]
    session: Vec<String>,

    /// What people call the new session [default: the name of the file]
    #[arg(long, conflicts_with = "from")]
    title: Option<String>,

    /// The agent whose session it is
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    agent: Option<String>,
}

/// How many sessions came, and how.
#[derive(Default)]
struct Tally {
    made: usize,
    extended: usize,
    known: usize,
}

pub(crate) fn run(
    arguments: &ImportArguments,
    kept: impl Fn() -> Result<Kept, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    if let Some(url) = &arguments.from {
        let source = Kept::open_as("--from", url, Missing::Refuse)?;
        return copy(arguments, &source, &kept()?, output);
    }
    let path = arguments.file.as_deref().unwrap_or(Path::new("-"));
    let input = Input::read(path, limit)?;
    let first = input.text.lines().find(|line| !line.trim().is_empty());
    match first.is_some_and(is_head) {
        true => read_lines(arguments, &input, kept, output),
        false => arguments.take_in(path, input, kept, output),
    }
}

impl ImportArguments {
    /// Makes a session of a conversation.
    fn take_in(
        &self,
        path: &Path,
        input: Input,
        kept: impl Fn() -> Result<Kept, Failure>,
        output: &mut Output,
    ) -> Result<(), Stop> {
        let loaded = input.load()?;
        let (events, exact) = replay::events_of(&loaded.conversation);
        let kept = kept()?;
        let of_file = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let title = self.title.clone().unwrap_or_else(|| match path.as_os_str() == "-" {
            true => String::new(),
            false => of_file(),
        });
        let mut new = NewSession::new(title, now()?);
        new.agent = self.agent.as_ref().map(AgentName::new);
        let fail = |e| Failure::session(&loaded.name, &e);
        let session = kept.wait(Session::create_with(kept.store.clone(), new));
        let mut session = session.map_err(fail)?;
        if let Err(e) = kept.wait(session.apply(&events)) {
            // The failure that counts is the first one.
            let _ = kept.wait(kept.store.remove(session.id()));
            return Err(fail(e).into());
        }
        if !exact {
            note("its batches and token counters are not those of any past, and were left out");
        }
        Ok(output.line(session.id())?)
    }
}

/// Takes in the JSON lines of an export.
fn read_lines(
    arguments: &ImportArguments,
    input: &Input,
    kept: impl Fn() -> Result<Kept, Failure>,
    output: &mut Output,
) -> Result<(), Stop> {
    if arguments.title.is_some() || arguments.agent.is_some() {
        let rule = "sessions of an export have their own title and agent";
        return Err(Failure::new(&input.name, rule).into());
    }
    let kept = kept()?;
    let mut tally = Tally::default();
    let mut open: Option<(Head, Writer<'_>)> = None;
    for (i, text) in input.text.lines().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let line = Input { name: format!("{}: line {}", input.name, i + 1), text: text.to_owned() };
        if is_head(text) {
            tally.end(open.take(), output)?;
            let head = read_head(&line)?;
            open = Some((head.clone(), Writer::begin(&kept, head)?));
        } else if let Some((head, writer)) = open.take() {
            let item = read_item(&line).map_err(|failure| writer.undo(failure))?;
            open = Some((head, writer.item(item)?));
        }
    }
    tally.end(open, output)?;
    Ok(output.remark(tally.text())?)
}

/// Copies sessions from one store to another.
fn copy(
    arguments: &ImportArguments,
    source: &Kept,
    target: &Kept,
    output: &mut Output,
) -> Result<(), Stop> {
    let mut sessions = heads(source)?;
    if !arguments.session.is_empty() {
        let asked = arguments.session.iter().map(|id| source.find(id));
        let asked = asked.collect::<Result<Vec<_>, _>>()?;
        for id in &asked {
            source.ask(source.store.head(*id))?;
        }
        sessions.retain(|head| asked.contains(&head.id));
    }
    let mut tally = Tally::default();
    let bar = bar(sessions.iter().map(|head| head.next_seq).sum());
    for (head, has_parent) in in_order(sessions) {
        let mut reader = match has_parent {
            true => Reader::own(source, &head)?,
            false => Reader::whole(source, head.id)?,
        };
        bar.inc(reader.head.first.unwrap_or(0));
        let mut writer = Writer::begin(target, reader.head.clone())?;
        loop {
            let page = reader.page().map_err(|failure| writer.undo(failure))?;
            if page.is_empty() {
                break;
            }
            for item in page {
                let counts = u64::from(item.is_event());
                writer = writer.item(item)?;
                bar.inc(counts);
            }
        }
        let told = bar.suspend(|| tally.end(Some((reader.head, writer)), output));
        told?;
    }
    bar.finish_and_clear();
    Ok(output.remark(tally.text())?)
}

impl Tally {
    /// The end of a session.
    fn end(
        &mut self,
        session: Option<(Head, Writer<'_>)>,
        output: &mut Output,
    ) -> Result<(), Stop> {
        let Some((head, writer)) = session else { return Ok(()) };
        let text = match writer.end()? {
            Done::Made => {
                self.made += 1;
                format!("new, {} events", head.events)
            }
            Done::Extended(events) => {
                self.extended += 1;
                format!("added {events} events")
            }
            Done::Known => {
                self.known += 1;
                "known".to_owned()
            }
        };
        Ok(output.line(format_args!("{}  {text}", head.id))?)
    }

    fn text(&self) -> String {
        let Self { made, extended, known } = self;
        let all = plural(made + extended + known, "session");
        format!("{all}: {made} new, {extended} added to, {known} known")
    }
}

/// Shows how far a copy is, where a person looks on.
fn bar(events: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(events), ProgressDrawTarget::stderr());
    let style = "{bar:40} {human_pos} of {human_len} events, {per_sec}, {eta} left";
    match ProgressStyle::with_template(style) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Tells the user something beside the id.
fn note(text: &str) {
    use std::io::Write as _;
    // A closed standard error is no reason to stop.
    let _ = writeln!(std::io::stderr(), "note: {text}");
}
