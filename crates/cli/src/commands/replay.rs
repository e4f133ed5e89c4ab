//! `interleaf replay`.

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::ValueHint::{AnyPath, DirPath};
use interleaf::replay::{
    Outcome, PlayRule, PlayVendor, Script, Ways, plan, plot, read_bodies, run as play,
};
use interleaf::{Session, copy};
use interleaf_agent::KeptPlan;

use crate::arguments::{ByteCount, parse_tokens};
use crate::failure::{Failure, Stop, Verdict};
use crate::input::Input;
use crate::open::{Missing, OpenStore};
use crate::output::{Output, bar, say};
use crate::price_list::{self, PriceList};
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
  cat fixtures/replay-session.jsonl | interleaf replay - --rules recorded,auto --out /tmp/piped

A SESSION is the id of one in the store, the file of a store or of `sessions export`, or a
file of request bodies of any API, one a line or as a JSON array, in the order in which they
were sent; `-` is an export or such bodies on standard input. A table is printed; DIR gets all
figures as replay.json and plots as SVG. Only files that an earlier replay made are overwritten.
The exit code is 1 if every request was refused.")]
pub(crate) struct ReplayArguments {
    /// Sessions, or files of them; `-` is standard input
    #[arg(value_name = "SESSION", required = true, value_hint = AnyPath)]
    sessions: Vec<String>,

    /// The store that keeps them [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Where the context goes: rules as for --place, `none` for no context, `recorded` for each
    /// request as it was sent
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "recorded,none,after_tool_result(3),tail,delta,auto"
    )]
    rules: Vec<PlayRule>,

    /// Whose cache: `anthropic`, `openai/gpt-5.6`, `llama.cpp`, … [default: whoever was asked]
    #[arg(long, value_delimiter = ',')]
    vendors: Vec<PlayVendor>,

    /// Context windows in tokens [default: as it was recorded]
    #[arg(long, value_name = "TOKENS", value_delimiter = ',', value_parser = parse_tokens)]
    windows: Vec<u64>,

    #[arg(long, value_name = price_list::VALUE, help = price_list::HELP)]
    price: Option<PriceList>,

    /// The directory for figures and plots
    #[arg(long, value_name = "DIR", value_hint = DirPath)]
    out: PathBuf,
}

pub(crate) fn run(
    arguments: &ReplayArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let ReplayArguments { rules, vendors, windows, price, out, .. } = arguments;
    let price = price.as_ref().map(|list| list.input("--price")).transpose()?;
    check_directory(out)?;
    check_own(&out.join(FIGURES))?;
    let mut scripts = Vec::new();
    let is_stored = |asked: &String| asked != "-" && !Path::new(asked).is_file();
    if arguments.store.is_some() && !arguments.sessions.iter().any(is_stored) {
        return Err(Failure::new("--store", "no session of a store is named, only files").into());
    }
    for session in &arguments.sessions {
        scripts.extend(arguments.read(session, limit)?);
    }
    let mut ways = Ways::default();
    (ways.rules, ways.vendors, ways.windows) = (rules.clone(), vendors.clone(), windows.clone());
    let plan = plan(&scripts, &ways).map_err(|e| Failure::session("", &e))?;
    let planned: Vec<String> =
        std::iter::once(FIGURES.to_owned()).chain(plot::names(&plan)).collect();
    prepare(out, &planned)?;
    let n_turns: usize = scripts.iter().map(|script| script.turns.len()).sum();
    let bar = bar((n_turns * ways.len()) as u64, "requests");
    let played = play(&scripts, &ways, &|| bar.inc(1));
    let mut outcome = played.map_err(|e| Failure::session("", &e))?;
    outcome.price = price;
    bar.finish_and_clear();
    for session in &outcome.sessions {
        output.text(&session.table(price))?;
    }
    let figures = serde_json::to_string(&outcome).map_err(|e| Failure::json(FIGURES, &e))?;
    save(&out.join(FIGURES), &(figures + "\n"))?;
    plot::all(&outcome, price)
        .iter()
        .try_for_each(|plot| save(&out.join(&plot.name), &plot.svg))?;
    output.remark(format_args!("in {}: {}", out.display(), planned.join(", ")))?;
    if outcome.n_made() > 0 {
        return Ok(Verdict::Fine);
    }
    output.flush()?;
    say("no request could be built: all were refused under every combination");
    Ok(Verdict::Findings)
}

impl ReplayArguments {
    /// The sessions that an argument names.
    fn read(&self, asked: &str, limit: ByteCount) -> Result<Vec<Script>, Failure> {
        let path = Path::new(asked);
        let is_input = asked == "-";
        if !is_input && !path.is_file() {
            if !is_start_of_id(asked) {
                return Err(no_file(path));
            }
            let opened = OpenStore::open(self.store.as_deref(), Missing::Refuse)?;
            let id = opened.find(asked)?;
            return recorded(&opened, &[id]);
        }
        if !is_input && is_store(path) {
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

/// Whether a text can name a session.
fn is_start_of_id(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

/// Why a name is that of no file that can be played. What may never end is not read.
fn no_file(path: &Path) -> Failure {
    let name = path.display().to_string();
    match fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let rule = "there is no such file, and no session has an id that begins like this";
            Failure::new(name, rule)
        }
        Err(e) => Failure::io(name, &e),
        Ok(found) if found.is_dir() => Failure::io(name, &ErrorKind::IsADirectory.into()),
        Ok(_) => Failure::new(name, "this is not a regular file").hint("`-` is standard input"),
    }
}

/// Whether a file is that of a store.
fn is_store(path: &Path) -> bool {
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

/// Why the requests of plans are not played, and what tells of them.
const STEPS: &str = "the requests of a plan's steps cannot be made anew";
const TOLD: &str = "`interleaf explain --session ID --sent` tells what they cost, and why";

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
        let mut read = read.map_err(|e| Failure::session(&id.to_string(), &e))?;
        if read.is_empty() {
            let rule = "no request was recorded; `build --record` records one";
            return Err(Failure::new(id.to_string(), rule));
        }
        let n = read.len();
        let kept = opened.wait(KeptPlan::of(&session)).ok().flatten();
        read.retain(|script| !kept.iter().any(|kept| kept.asks_as(script.agent.name())));
        if read.len() < n && (!read.is_empty() || ids.len() > 1) {
            say(format_args!("note: {id}: {STEPS}"));
        }
        scripts.extend(read);
    }
    match (scripts.is_empty(), ids) {
        (true, [id]) => Err(Failure::new(id.to_string(), STEPS).hint(TOLD)),
        (true, _) => Err(Failure::new("", STEPS).hint(TOLD)),
        (false, _) => Ok(scripts),
    }
}

/// Refuses a place where no directory is and none can be made.
fn check_directory(out: &Path) -> Result<(), Failure> {
    let there = out.ancestors().find_map(|path| Some((path, fs::metadata(path).ok()?)));
    match there {
        Some((path, found)) if !found.is_dir() => {
            Err(Failure::new(path.display().to_string(), "this is not a directory"))
        }
        _ => Ok(()),
    }
}

/// Makes the directory, and sees that every file of these can be written there.
fn prepare(out: &Path, names: &[String]) -> Result<(), Failure> {
    let fail =
        |e: std::io::Error| Failure::io(out.display().to_string(), &e).at("cannot be written");
    names.iter().try_for_each(|name| check_own(&out.join(name)))?;
    fs::create_dir_all(out).map_err(fail)?;
    // Nothing else tells whether files may be made here, and how long their names may be.
    let longest = names.iter().max_by_key(|name| name.len()).map_or("", String::as_str);
    let probe = out.join(format!(".{longest}.{}.probe", std::process::id()));
    fs::File::create_new(&probe).and_then(|_| fs::remove_file(&probe)).map_err(fail)?;
    let is_other = |name: &str| !names.iter().any(|own| own == name);
    let others = fs::read_dir(out).map_err(fail)?.flatten();
    match others.filter(|file| file.file_name().to_str().is_none_or(is_other)).count() {
        0 => {}
        1 => say(format_args!("note: 1 other file in {} stays as it is", out.display())),
        n => say(format_args!("note: {n} other files in {} stay as they are", out.display())),
    }
    Ok(())
}

/// Refuses a file that no replay made.
fn check_own(path: &Path) -> Result<(), Failure> {
    let name = || path.display().to_string();
    let rule = match fs::metadata(path) {
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            "this is a link to nothing, and is not overwritten"
        }
        Err(_) => return Ok(()),
        Ok(found) if !found.is_file() => "this is not a regular file, and is not overwritten",
        Ok(_) => {
            let mut begins = Vec::new();
            let file = fs::File::open(path).map_err(|e| Failure::io(name(), &e))?;
            let longest = Outcome::BEGINS.len().max(plot::MADE_BY.len()) as u64;
            file.take(longest).read_to_end(&mut begins).map_err(|e| Failure::io(name(), &e))?;
            if [Outcome::BEGINS, plot::MADE_BY].iter().any(|own| begins.starts_with(own.as_bytes()))
            {
                return Ok(());
            }
            "this file was not made by `replay`, and is not overwritten"
        }
    };
    Err(Failure::new(name(), rule).hint("--out names another directory"))
}
