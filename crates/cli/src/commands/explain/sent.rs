//! What the requests of a session cost on the prompt cache, and why.

use std::fmt::Write as _;
use std::io;

use clap::Args;
use interleaf::assemble::{Agent, Recipe};
use interleaf::model::AgentName;
use interleaf::{ExplainedRequest, Impact, Parting, Target};
use serde::Serialize;

use super::ExplainArguments;
use crate::assembly::{AssemblyArguments, Made};
use crate::failure::{Failure, Stop, Verdict, printable};
use crate::open::{OpenSession, say_left_out};
use crate::output::{Output, say};

/// What is said of a request that no model saw.
const UNSEEN: &str = "it was not sent, or was refused";

/// This many requests are listed.
const LISTED: usize = 10;

/// Which requests of a session are explained.
#[derive(Debug, Args)]
pub(super) struct SentArguments {
    /// Explain the last requests that were recorded, and what each cost on the prompt cache
    #[arg(long, requires = "session", conflicts_with = "file", help_heading = "Session")]
    sent: bool,
    /// Explain this recorded request, by its number
    #[arg(
        long,
        value_name = "N",
        requires = "session",
        conflicts_with = "file",
        help_heading = "Session"
    )]
    request: Option<u64>,
}

#[derive(Serialize)]
struct Page<'a> {
    requests: &'a [ExplainedRequest],
    #[serde(skip_serializing_if = "Option::is_none")]
    parting: Option<&'a Parting>,
}

impl SentArguments {
    /// The session, if requests that were recorded are to be explained.
    pub(super) fn session(
        &self,
        assembly: &AssemblyArguments,
    ) -> Result<Option<OpenSession>, Failure> {
        if self.sent || self.request.is_some() { assembly.session.open() } else { Ok(None) }
    }

    /// Prints the last requests, and the one that is asked for.
    pub(super) fn run(
        &self,
        session: &OpenSession,
        arguments: &ExplainArguments,
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let agent =
            arguments.assembly.agent.as_deref().map(|name| Agent::Sub(AgentName::new(name)));
        let explained = session.session.explain(agent.as_ref(), self.request, LISTED);
        let requests = session.ask(explained)?;
        let is_asked = |last: &&ExplainedRequest| self.request.is_none_or(|no| no == last.number);
        let Some(last) = requests.last().filter(is_asked) else {
            let rule = match self.request {
                Some(no) => format!("no request {no} was recorded"),
                None => "no request was recorded; `build --record` records one".to_owned(),
            };
            return Err(Failure::new(session.name(), rule).into());
        };
        let parting = session.ask(session.session.parting(last))?;
        if arguments.form.json {
            output.json_line(&Page { requests: &requests, parting: parting.as_ref() })?;
            return Ok(Verdict::Fine);
        }
        output.remark(format_args!("{} · requests: {}", session.name(), requests.len()))?;
        output.line("  no    tokens  predicted      read  cause")?;
        for request in &requests {
            output.line(row(request))?;
        }
        let asked = format!("{} {}", last.vendor, last.model);
        output.remark(format_args!("request {}, {}", last.number, printable(&asked)))?;
        output.text(&details(last, parting.as_ref()))?;
        Ok(Verdict::Fine)
    }
}

/// Holds a session's next request against the last one. Of one that was recorded it takes what was
/// noted then, and of another one it says why not.
pub(super) fn compare(
    made: &mut Made,
    session: Option<OpenSession>,
    (recipe, target): (&Recipe, Option<&Target>),
    arguments: &ExplainArguments,
) -> Result<(), Failure> {
    let (Some(OpenSession { mut session, opened }), Some(target)) = (session, target) else {
        return Ok(());
    };
    let recorded = match (arguments.assembly.session.at, &made.preview.body) {
        (Some(at), Some(body)) => opened.wait(session.recorded_at(at, &body.to_bytes())),
        _ => Ok(None),
    };
    let name = session.id().to_string();
    let recorded = recorded.map_err(|e| Failure::session(&name, &e))?;
    if let Some(ExplainedRequest { impact: Some(impact), .. }) = recorded {
        made.preview.impact = Some(impact);
        return Ok(());
    }
    let unlike = match (arguments.assembly.session.at, arguments.assembly.plain) {
        (Some(_), _) => "--at is of the past (--sent and --request explain what was recorded)",
        (None, true) => "--plain makes another",
        (None, false) => "",
    };
    if !unlike.is_empty() {
        say(format_args!(
            "note: the prompt cache is told of a session's next request, and {unlike}"
        ));
        return Ok(());
    }
    let left_out = opened.wait(session.left_out(recipe));
    left_out.map_err(|e| Failure::session(&name, &e))?.iter().for_each(say_left_out);
    let pins = arguments.assembly.pins();
    let next = opened.wait(session.preview_pinned(recipe, target, &pins));
    let request = next.map_err(|e| Failure::session(&name, &e))?.request();
    made.preview.impact = request.map(|request| request.impact);
    let warmth = async { session.warmth(recipe.agent.name(), target, interleaf::now()?).await };
    made.preview.warmth = opened.wait(warmth).map_err(|e| Failure::session(&name, &e))?;
    Ok(())
}

/// Prints what a request has in common with the last one.
pub(super) fn print(made: &Made, output: &mut Output) -> io::Result<()> {
    let Some(impact) = &made.preview.impact else { return Ok(()) };
    output.remark("prompt cache")?;
    output.text(&impact_text(impact))?;
    let warmth = made
        .preview
        .warmth
        .iter()
        .map(|warmth| warmth.to_string().replace('\n', "\n             "));
    warmth
        .into_iter()
        .try_for_each(|text| output.line(format_args!("  warmth     {}", text.trim_end())))
}

fn row(request: &ExplainedRequest) -> String {
    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    let impact = request.impact.as_ref();
    let (usage, no) = (request.usage, request.number);
    let tokens = usage.map(|usage| usage.prompt).or_else(|| impact.map(|impact| impact.tokens));
    let predicted = impact.filter(|_| !request.unseen).and_then(|impact| match usage {
        Some(usage) => impact.predicted(usage),
        None => impact.cost.as_ref().map(|cost| cost.read),
    });
    let read = usage.map(|usage| usage.cache_read);
    let cause = impact.map_or_else(|| "not noted".to_owned(), |impact| impact.cause.to_string());
    let cause = if request.unseen { UNSEEN.to_owned() } else { cause };
    let agent = request.agent.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    let [tokens, predicted, read] = [tokens, predicted, read].map(number);
    format!("{no:>4}  {tokens:>8}  {predicted:>9}  {read:>8}  {agent}{cause}")
}

fn details(request: &ExplainedRequest, parting: Option<&Parting>) -> String {
    let Some(impact) = &request.impact else { return String::new() };
    let mut out = impact_text(impact);
    if request.unseen {
        let _ = writeln!(out, "  answer     none: {UNSEEN}");
    }
    if let Some(Parting { shared, before, now, .. }) = parting {
        let _ = writeln!(out, "  after      …{}", escaped(shared));
        let _ = writeln!(out, "  before     {}…", escaped(before));
        let _ = writeln!(out, "  now        {}…", escaped(now));
    }
    if let (Some(usage), Some(verdict)) = (request.usage, request.verdict) {
        let (prompt, read) = (usage.prompt, usage.cache_read);
        let _ = writeln!(out, "  reported   {read} of {prompt} tokens read: {verdict}");
    }
    out
}

/// Why a request is not the beginning of the next, and what that costs.
fn impact_text(impact: &Impact) -> String {
    let mut out = String::new();
    let of = impact.of_session.map_or_else(String::new, |id| format!(" of {id}"));
    let against =
        impact.against.map_or_else(String::new, |no| format!(" (against request {no}{of})"));
    let _ = writeln!(out, "  cause      {}{against}", impact.cause);
    if let Some(place) = &impact.place {
        let id = place.id.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
        // A setting stands beside what the model sees, all of which it changes.
        let byte = impact.byte.filter(|_| place.byte == 0).unwrap_or(place.byte);
        let verb = if impact.cause.breaks() { "differs" } else { "goes on" };
        let token = place.token;
        let at = match place.is_head() {
            true => "before the messages".to_owned(),
            false => format!("at message {}{id}", place.message),
        };
        let _ = writeln!(out, "  {verb:<9}  {at}, byte {byte}, token {token}");
    }
    if let Some(goes_on) = &impact.goes_on {
        let _ = writeln!(out, "  stored     {goes_on}");
    }
    if let Some(cost) = &impact.cost {
        let (read, written, computed) = (cost.read, cost.written, cost.computed);
        let (tokens, rules) = (impact.tokens, &cost.rules);
        let about = if impact.by_bytes { "about " } else { "" };
        if cost.unmarked {
            out.push_str(
                "  marks      none, and nothing is kept without them: --cache sets them\n",
            );
        }
        if cost.too_short {
            out.push_str("  length     shorter than the least that this cache keeps\n");
        }
        let _ = writeln!(
            out,
            "  cost       {read} read, {written} written, {computed} computed of {about}{tokens} tokens, by {rules}'s rules"
        );
        let (price, unbroken) = (cost.price, cost.unbroken);
        let _ = writeln!(
            out,
            "  price      {price:.0}, unbroken {unbroken:.0} (in tokens that are not cached)"
        );
    } else {
        out.push_str("  cost       not known: nothing is known of this vendor's cache\n");
    }
    out
}

/// A stretch of a body on one line.
fn escaped(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"").replace("\\\\", "\\")
}
