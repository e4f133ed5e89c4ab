//! `interleaf replay`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::{AnyPath, DirPath};
use interleaf::replay::{
    Outcome, Play, PlayRule, PlayVendor, PlayedRequest, PlayedSession, Script, Ways, plot,
    read_bodies, run as play,
};
use interleaf::{Session, copy};

use crate::arguments::{ByteCount, parse_tokens};
use crate::failure::{Failure, Stop, printable};
use crate::input::Input;
use crate::lines::plural;
use crate::open::{Missing, OpenStore};
use crate::output::{Output, bar, say};
use crate::save::save;

/// The file with all figures.
const FIGURES: &str = "replay.json";

/// Make the requests of recorded sessions again under other rules, windows and vendors
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf replay fixtures/replay-session.jsonl --out /tmp/replay
  interleaf replay fixtures/replay-session.jsonl --vendors openai,gemini --out /tmp/vendors
  interleaf replay fixtures/replay-session.jsonl --windows 3000,8000 --price 3 --out /tmp/windows

A SESSION is the id of one in the store, the file of a store or of `sessions export`, or a
file of request bodies of any API, one a line, in the order in which they were sent. A table
is printed; DIR gets all figures as replay.json and plots as SVG. Only files that an earlier
replay made are overwritten.")]
pub(crate) struct ReplayArguments {
    /// Sessions, or files of them
    #[arg(value_name = "SESSION", required = true, value_hint = AnyPath)]
    sessions: Vec<String>,

    /// The store that keeps them [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Where the context goes: rules as for --place, `none` for no context, `recorded`
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "none,after_tool_result(3),tail,delta,auto"
    )]
    rules: Vec<PlayRule>,

    /// Whose cache: `anthropic`, `openai/gpt-5.6`, `llama.cpp`, … [default: whoever was asked]
    #[arg(long, value_delimiter = ',')]
    vendors: Vec<PlayVendor>,

    /// Context windows in tokens [default: as it was recorded]
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', value_parser = parse_tokens)]
    windows: Vec<u64>,

    /// What a million tokens cost that are not cached; the cost is then in money
    #[arg(long, value_name = "AMOUNT", value_parser = parse_price)]
    price: Option<f64>,

    /// The directory for figures and plots
    #[arg(long, value_name = "DIR", value_hint = DirPath)]
    out: PathBuf,
}

pub(crate) fn run(
    arguments: &ReplayArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<(), Stop> {
    let ReplayArguments { rules, vendors, windows, price, out, .. } = arguments;
    if fs::metadata(out).is_ok_and(|found| !found.is_dir()) {
        return Err(Failure::new(out.display().to_string(), "this is not a directory").into());
    }
    check_own(&out.join(FIGURES))?;
    let mut scripts = Vec::new();
    for session in &arguments.sessions {
        scripts.extend(arguments.read(session, limit)?);
    }
    let mut ways = Ways::default();
    (ways.rules, ways.vendors, ways.windows) = (rules.clone(), vendors.clone(), windows.clone());
    let n_turns: usize = scripts.iter().map(|script| script.turns.len()).sum();
    let bar = bar((n_turns * ways.len()) as u64, "requests");
    let outcome = play(&scripts, &ways, &|| bar.inc(1)).map_err(|e| Failure::session("", &e))?;
    bar.finish_and_clear();
    for session in &outcome.sessions {
        output.text(&table(session, *price))?;
    }
    let files = files(&outcome, *price)?;
    write(out, &files)?;
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    Ok(output.remark(format_args!("in {}: {}", out.display(), names.join(", ")))?)
}

impl ReplayArguments {
    /// The sessions that an argument names.
    fn read(&self, asked: &str, limit: ByteCount) -> Result<Vec<Script>, Failure> {
        let path = Path::new(asked);
        if !path.is_file() && asked != "-" {
            let opened = OpenStore::open(self.store.as_deref(), Missing::Refuse)?;
            let id = opened.find(asked)?;
            return recorded(&opened, &[id]);
        }
        if is_store(path) {
            return all(
                &OpenStore::open_as(asked, &format!("sqlite:{asked}"), Missing::Refuse)?,
                asked,
            );
        }
        let input = Input::read(path, limit)?;
        let first = input.text.lines().find(|line| !line.trim().is_empty());
        if !first.is_some_and(copy::is_head) {
            return Ok(vec![read_bodies(&input.name, &input.text).map_err(|e| input.fault(&e))?]);
        }
        let opened = OpenStore::open_as(asked, "memory:", Missing::Make)?;
        let taken = opened.wait(copy::take_lines(&opened.store, &input.text, |_, _| {}));
        taken.map_err(|e| Failure::line(&input.name, &e))?;
        all(&opened, asked)
    }
}

/// Whether a file is that of a store.
fn is_store(path: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 16];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"SQLite format 3\0"
}

/// Every session of a store that made a request.
fn all(opened: &OpenStore, name: &str) -> Result<Vec<Script>, Failure> {
    let mut heads = opened.asked(copy::all(&*opened.store))?;
    heads.retain(|head| head.next_request > 0);
    heads.sort_by_key(|head| head.created);
    let ids: Vec<_> = heads.iter().map(|head| head.id).collect();
    match ids.as_slice() {
        [] => Err(Failure::new(name, "no session in it has recorded a request")),
        ids => recorded(opened, ids),
    }
}

/// The requests of sessions.
fn recorded(
    opened: &OpenStore,
    ids: &[interleaf::store::SessionId],
) -> Result<Vec<Script>, Failure> {
    let mut scripts = Vec::new();
    for id in ids {
        let session = opened.asked(Session::open(opened.store.clone(), *id))?;
        let bar = bar(session.head().next_request, "requests read");
        let read = opened.wait(session.scripts(|| bar.inc(1)));
        bar.finish_and_clear();
        let read = read.map_err(|e| Failure::session(&id.to_string(), &e))?;
        if read.is_empty() {
            let rule = "no request was recorded; `build --record` records one";
            return Err(Failure::new(id.to_string(), rule));
        }
        scripts.extend(read);
    }
    Ok(scripts)
}

/// The figures and the plots, each with the name of its file.
fn files(outcome: &Outcome, price: Option<f64>) -> Result<Vec<(String, String)>, Failure> {
    let figures = serde_json::to_string(outcome).map_err(|e| Failure::json(FIGURES, &e))?;
    let plots = plot::all(outcome, price).into_iter().map(|plot| (plot.name, plot.svg));
    Ok(std::iter::once((FIGURES.to_owned(), figures + "\n")).chain(plots).collect())
}

/// Writes all files, or none if one of them is somebody else's.
fn write(out: &Path, files: &[(String, String)]) -> Result<(), Failure> {
    fs::create_dir_all(out).map_err(|e| Failure::io(out.display().to_string(), &e))?;
    for (name, _) in files {
        check_own(&out.join(name))?;
    }
    let is_new = |name: &str| !files.iter().any(|(own, _)| own == name);
    let others = fs::read_dir(out).map_err(|e| Failure::io(out.display().to_string(), &e))?;
    let others = others.flatten().filter(|file| file.file_name().to_str().is_none_or(is_new));
    match others.count() {
        0 => {}
        n => say(format_args!(
            "note: {} in {} stay as they are",
            plural(n, "other file"),
            out.display()
        )),
    }
    files.iter().try_for_each(|(name, text)| save(&out.join(name), text))
}

/// Refuses a file that no replay made.
fn check_own(path: &Path) -> Result<(), Failure> {
    let Ok(text) = fs::read(path) else { return Ok(()) };
    if text.starts_with(Outcome::BEGINS.as_bytes()) || text.starts_with(plot::MADE_BY.as_bytes()) {
        return Ok(());
    }
    let rule = "this file was not made by `replay`, and is not overwritten";
    Err(Failure::new(path.display().to_string(), rule).hint("--out names another directory"))
}

/// A session in each way, a line for each.
fn table(session: &PlayedSession, price: Option<f64>) -> String {
    let mut out = String::new();
    let requests = plural(session.recorded.len(), "request");
    // Writing into a String cannot fail.
    let _ = writeln!(out, "# {} · {requests}", printable(&session.name));
    for note in &session.notes {
        let _ = writeln!(out, "  {note}");
    }
    if let Some(told) = session.reported() {
        let part = 100.0 * told.cache_read as f64 / told.prompt.max(1) as f64;
        let prompt = plot::tokens(told.prompt as f64);
        let _ = writeln!(out, "  as the API reported: {prompt} tokens, {part:.1} % read");
    }
    let longest = |text: &dyn Fn(&Play) -> usize| session.plays.iter().map(text).max().unwrap_or(0);
    let vendor = longest(&|play| play.vendor.len()).max(5);
    let rule = longest(&|play| play.rule.len()).max(4);
    let money = if price.is_some() { "money" } else { "cost" };
    let _ = writeln!(
        out,
        "  {:vendor$}  {:>8}  {:rule$}  {:>9}  {:>7}  {:>9}  {:>9}  refused",
        "cache", "window", "rule", "prompt", "read", "computed", money
    );
    for play in &session.plays {
        let totals = &play.totals;
        let window = play.window.map_or_else(|| "–".to_owned(), |window| window.to_string());
        let tokens = |n: u64| plot::tokens(n as f64);
        let cost = match price {
            Some(price) => format!("{:.4}", totals.cost * price / 1e6),
            None => plot::tokens(totals.cost),
        };
        let _ = writeln!(
            out,
            "  {:vendor$}  {window:>8}  {:rule$}  {:>9}  {:>5.1} %  {:>9}  {cost:>9}  {}",
            play.vendor,
            play.rule,
            tokens(totals.tokens),
            100.0 * totals.reuse(),
            tokens(totals.computed),
            totals.refused,
        );
    }
    for play in &session.plays {
        let refused = play.requests.iter().find_map(|request| match request {
            PlayedRequest::Refused { request, refused } => Some((request, refused)),
            _ => None,
        });
        if let Some((number, why)) = refused {
            let _ = writeln!(out, "  {}: request {number} was refused: {why}", play.rule);
        }
    }
    out
}

fn parse_price(text: &str) -> Result<f64, String> {
    let price = text.parse::<f64>().ok().filter(|price| *price > 0.0 && *price <= 1e9);
    price.ok_or_else(|| "an amount above zero is expected, and at most a thousand million".into())
}
