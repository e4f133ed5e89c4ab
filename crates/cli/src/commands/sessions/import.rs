//! `interleaf sessions import`.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::copy::{self, Done, Head, Item, Reader, Writer};
use interleaf::model::{AgentName, plural};
use interleaf::store::NewSession;
use interleaf::{Session, retell};

use super::now;
use crate::arguments::ByteCount;
use crate::failure::{Failure, Stop};
use crate::input::{Input, say_left_out};
use crate::open::{Missing, OpenStore};
use crate::output::{Output, bar, say};

/// Import sessions from a file or another store
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf sessions import fixtures/agent-session.json --title 'the alarm'
  interleaf sessions import fixtures/chat-array.json
  interleaf sessions export --all | interleaf sessions import - --store sqlite:/tmp/copy.db
  interleaf sessions import --from sqlite:/tmp/copy.db

A transcript, an array of chat messages or a request body becomes a new session, whose
id is printed. JSON lines of `sessions export`, and sessions of another store, keep
their ids, times and forks; a session that already exists is only extended, and one
that differs is refused.")]
pub(crate) struct ImportArguments {
    /// The file; `-` is standard input
    #[arg(value_hint = FilePath, required_unless_present = "from", conflicts_with = "from")]
    file: Option<PathBuf>,

    /// Copy from the store at this URL
    #[arg(long, value_name = "URL")]
    from: Option<String>,

    /// With --from: only this session; may be repeated
    #[arg(long, value_name = "ID", requires = "from")]
    session: Vec<String>,

    /// Title of the new session [default: the name of the file]
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
    opened: impl Fn() -> Result<OpenStore, Failure>,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    if let Some(url) = &arguments.from {
        let source = OpenStore::open_as("--from", url, Missing::Refuse)?;
        return copy(arguments, &source, &opened()?, output);
    }
    let path = arguments.file.as_deref().unwrap_or(Path::new("-"));
    let input = Input::read(path, limit)?;
    let first = input.text.lines().find(|line| !line.trim().is_empty());
    match first.is_some_and(copy::is_head) {
        true => read_lines(arguments, &input, opened, output),
        false => arguments.take_in(path, input, opened, output),
    }
}

impl ImportArguments {
    /// Makes a session of a conversation.
    fn take_in(
        &self,
        path: &Path,
        input: Input,
        opened: impl Fn() -> Result<OpenStore, Failure>,
        output: &mut Output,
    ) -> Result<(), Stop> {
        let loaded = input.load()?;
        let past = retell(&loaded.conversation);
        let opened = opened()?;
        let of_file = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let title = self.title.clone().unwrap_or_else(|| match path.as_os_str() == "-" {
            true => String::new(),
            false => of_file(),
        });
        let mut new = NewSession::new(title, now()?);
        new.agent = self.agent.as_ref().map(AgentName::new);
        let fail = |e| Failure::session(&loaded.name, &e);
        let session = opened.wait(Session::create_with(opened.store.clone(), new));
        let mut session = session.map_err(fail)?;
        if let Err(e) = opened.wait(session.apply(&past.events)) {
            // The failure that counts is the first one.
            let _ = opened.wait(opened.store.remove(session.id()));
            return Err(fail(e).into());
        }
        say_left_out(&loaded.rest);
        if !past.exact {
            let lost = "its batches and token counters belong to no recorded past";
            say(format_args!("note: {lost}, and were left out"));
        }
        Ok(output.line(session.id())?)
    }
}

/// Takes in the JSON lines of an export.
fn read_lines(
    arguments: &ImportArguments,
    input: &Input,
    opened: impl Fn() -> Result<OpenStore, Failure>,
    output: &mut Output,
) -> Result<(), Stop> {
    if arguments.title.is_some() || arguments.agent.is_some() {
        let rule = "exported sessions have a title and an agent already";
        return Err(Failure::new(&input.name, rule).into());
    }
    let opened = opened()?;
    let mut tally = Tally::default();
    let mut ended = Vec::new();
    let taken = copy::take_lines(&opened.store, &input.text, |head, done| {
        ended.push((head.clone(), done));
    });
    let taken = opened.wait(taken);
    for (head, done) in ended {
        tally.end(&head, done, output)?;
    }
    taken.map_err(|e| Failure::line(&input.name, &e))?;
    Ok(output.remark(tally.text())?)
}

/// Copies sessions from one store to another.
fn copy(
    arguments: &ImportArguments,
    source: &OpenStore,
    target: &OpenStore,
    output: &mut Output,
) -> Result<(), Stop> {
    let mut sessions = source.asked(copy::all(&*source.store))?;
    if !arguments.session.is_empty() {
        let asked = arguments.session.iter().map(|id| source.find(id));
        let asked = asked.collect::<Result<Vec<_>, _>>()?;
        for id in &asked {
            source.ask(source.store.head(*id))?;
        }
        sessions.retain(|head| asked.contains(&head.id));
    }
    let mut tally = Tally::default();
    let bar = bar(sessions.iter().map(|head| head.next_seq).sum(), "events");
    for (head, has_parent) in copy::parents_first(sessions) {
        let reader = source.asked(Reader::of(source.store.clone(), &head, has_parent))?;
        bar.inc(reader.head.first.unwrap_or(0));
        let head = reader.head.clone();
        let writer = target.asked(Writer::begin(target.store.clone(), head.clone()))?;
        let progress = |item: &Item| bar.inc(u64::from(matches!(item, Item::Event(_))));
        let done = target.asked(copy::transfer(reader, writer, progress))?;
        bar.suspend(|| tally.end(&head, done, output))?;
    }
    bar.finish_and_clear();
    Ok(output.remark(tally.text())?)
}

impl Tally {
    /// The end of a session.
    fn end(&mut self, head: &Head, done: Done, output: &mut Output) -> Result<(), Stop> {
        let text = match done {
            Done::Made => {
                self.made += 1;
                format!("new, {}", plural(head.events, "event"))
            }
            Done::Extended(events) => {
                self.extended += 1;
                format!("added {}", plural(events, "event"))
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
