//! What the requests of a session cost on the prompt cache, and why.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use clap::Args;
use interleaf::assemble::{Agent, Recipe};
use interleaf::model::{AgentName, plural};
use interleaf::{ExplainedRequest, Parting, Target};
use serde::Serialize;

use super::ExplainArguments;
use crate::assembly::{AssemblyArguments, Made};
use crate::failure::{Failure, Stop, Verdict, printable};
use crate::open::OpenSession;
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
            let all = session.ask(session.session.explain(None, None, usize::MAX))?;
            let agents = all.iter().filter_map(|request| Some(request.agent.as_ref()?.as_str()));
            let agents: Vec<&str> = agents.collect::<BTreeSet<_>>().into_iter().collect();
            let rule = match self.request {
                Some(no) => format!("no request {no} was recorded"),
                None if all.is_empty() => {
                    "no request was recorded; `build --record` records one".to_owned()
                }
                None => "this agent made no request".to_owned(),
            };
            let failure = Failure::new(session.name(), rule);
            return Err(match agents.is_empty() {
                true => failure.into(),
                false => failure.hint(format!("these did: {}", agents.join(", "))).into(),
            });
        };
        let parting = session.ask(session.session.parting(last))?;
        if arguments.form.json {
            output.json_line(&Page { requests: &requests, parting: parting.as_ref() })?;
            return Ok(Verdict::Fine);
        }
        let (n, all) = (requests.len(), session.session.head().next_request);
        let which = match (self.request, &arguments.assembly.agent) {
            (Some(no), _) => format!("requests up to {no}"),
            (None, Some(name)) => format!("the last {} of {name}", plural(n, "request")),
            (None, None) if all > n as u64 => format!("the last {n} of {all} requests"),
            (None, None) => plural(n, "request"),
        };
        output.remark(format_args!("{} · {}", session.name(), printable(&which)))?;
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
    output.text(&impact.to_string())?;
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
    let Some(impact) = request.impact.clone() else { return String::new() };
    // One count for all figures.
    let impact = match request.usage {
        Some(usage) if usage.prompt > 0 => impact.by(usage),
        _ => impact,
    };
    let mut out = impact.to_string();
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

/// A stretch of a body on one line.
fn escaped(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\"", "\"").replace("\\\\", "\\")
}
