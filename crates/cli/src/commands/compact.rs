//! `interleaf compact`.

use std::path::PathBuf;

use clap::Args;
use clap::ValueHint::FilePath;
use interleaf::Target;
use interleaf::assemble::{Budget, Recipe};
use interleaf::compaction::CompactedReport;
use interleaf::wire::Vendor;
use interleaf_transport::CompactedBecause;
use serde::Serialize;
use serde_json::json;

use crate::api::VendorParser;
use crate::arguments::{ByteCount, parse_tokens};
use crate::compacting::{policy, say_done};
use crate::failure::{Failure, Stop, Verdict};
use crate::open::{Missing, OpenSession, OpenStore};
use crate::output::{Output, say};
use crate::reach::{ReachArguments, other};
use crate::stopped::stopped;

/// Let a summary take the place of a session's oldest messages
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  id=$(interleaf sessions new)
  interleaf sessions append $id fixtures/agent-session.json
  interleaf compact $id --vendor anthropic --model claude-sonnet-4-5 --window 4000 --dry-run
  interleaf compact $id --vendor anthropic --model claude-sonnet-4-5 --window 4000 --without-model

The model writes the summary, and it is taken in only if it keeps what the policy says: by
default every path that was said, every file that a call wrote, and every line that begins with
`Decision:`. If it leaves something out it is asked once more, with the list; if that text does
too, or there is no answer, a digest that no model writes takes its place: the exit code is then 1
(0 with --if-due). The log keeps all, and `sessions summary` puts another in its place.
--vendor and --model are those of the session's requests; without them they are those of the
last one that was recorded. Its system text and its tools are counted.")]
pub(crate) struct CompactArguments {
    /// The session; the start of its id is enough
    id: String,
    /// The store that keeps it [default: $INTERLEAF_STORE, or a file in your data folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Show what would go and stay, what must be kept and who would be asked; change nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask no model: a digest takes the place of what goes
    #[arg(long, conflicts_with = "writer")]
    without_model: bool,
    /// When, and what must stay: a JSON file, as docs/compaction.md says
    #[arg(long, value_name = "PATH", value_hint = FilePath)]
    policy: Option<PathBuf>,
    /// Compact only if the policy says that it is due
    #[arg(long)]
    if_due: bool,
    /// Print one JSON object: what --dry-run shows, in `outcome` what became of it (planned,
    /// compacted or not_due), and in `done` what was done
    #[arg(long)]
    json: bool,

    /// Who serves the model of the session's requests [default: as in the last one]
    #[arg(long, value_name = "NAME", value_parser = VendorParser, requires = "model")]
    #[arg(help_heading = "API")]
    vendor: Option<&'static Vendor>,
    /// The model of the session's requests [default: as in the last one]
    #[arg(long, value_name = "NAME", requires = "vendor", help_heading = "API")]
    model: Option<String>,
    /// The model that writes the summary, and gets the key and the address that are given
    /// [default: the same]
    #[arg(long, value_name = "VENDOR:MODEL", help_heading = "API")]
    writer: Option<String>,
    /// The model's context window, in tokens [default: the vendor's usual one]
    #[arg(long, value_name = "N", value_parser = parse_tokens, help_heading = "API")]
    window: Option<u64>,
    /// Count tools, calls and results as text [default: as the model's row says]
    #[arg(long, help_heading = "API")]
    text_tools: bool,

    #[command(flatten)]
    reach: ReachArguments,
}

pub(crate) fn run(
    arguments: &CompactArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    arguments.reach.begin();
    if let (true, Some(flag)) = (arguments.without_model, arguments.reach.given()) {
        return Err(Failure::new(flag, "with --without-model nobody is asked").into());
    }
    let policy = policy("--policy", arguments.policy.as_deref(), limit)?;
    let opened = OpenStore::open(arguments.store.as_deref(), Missing::Refuse)?;
    let opened = opened.session(&arguments.id)?;
    let target = arguments.target(&opened)?;
    let writer = match &arguments.writer {
        Some(named) => other("--writer", named, &target)?,
        None => target.clone(),
    };
    let writer = arguments.reach.at_address(writer);
    let mut recipe = Recipe::new();
    recipe.budget = arguments.window.map(Budget::of_window);
    if let Some(left_out) = opened.ask(opened.session.left_out(&recipe))? {
        left_out.add_to(&mut recipe);
    }
    let name = opened.name();
    let OpenSession { mut session, opened } = opened;
    let refused = |e| Failure::session(&name, &e);
    let plan = match arguments.if_due {
        false => Some(opened.in_time(&name, session.compaction_now(&policy, &recipe, &target))),
        true => opened.in_time(&name, session.compaction(&policy, &recipe, &target)).transpose(),
    };
    let Some(plan) = plan else {
        let figures = opened.in_time(&name, session.figures(&recipe, &target)).map_err(refused)?;
        let none = opened.in_time(&name, session.no_compaction(&policy, &recipe, &target));
        let none = none.map_err(refused)?;
        let (due, why) = none.map_or_else(Default::default, |none| (none.due, none.why));
        if arguments.json {
            let outcome = if due.is_some() { "no_gain" } else { "not_due" };
            let plan = json!({"due": due, "figures": figures, "why": why});
            output.json_line(&Told { outcome, plan, done: None::<()> })?;
        }
        say(format_args!("note: {why}"));
        return Ok(Verdict::Fine);
    };
    let plan = plan.map_err(refused)?;
    let (own, asked) = ((&recipe, &target), (!arguments.without_model).then_some(&writer));
    let outlook = session.compaction_outlook(plan, &policy, own, asked);
    let outlook = opened.in_time(&name, outlook);
    let outlook = outlook.map_err(refused)?;
    match (arguments.json, arguments.dry_run) {
        (false, _) => output.text(&outlook.to_string())?,
        (true, true) => {
            let done = None::<()>;
            output.json_line(&Told { outcome: "planned", plan: &outlook, done })?;
        }
        // One object, with what came of it.
        (true, false) => {}
    }
    output.flush()?;
    if arguments.dry_run {
        return Ok(Verdict::Fine);
    }
    if arguments.without_model {
        let done = session.compact_without_model(&outlook.plan, &policy);
        let done = opened.in_time(&name, done);
        let done = done.map_err(refused)?;
        say(format_args!("note: compacted without a model: {done}"));
        if arguments.json {
            let done = Some(Digest { report: done, without_model: "asked" });
            output.json_line(&Told { outcome: COMPACTED, plan: outlook, done })?;
        }
        return Ok(Verdict::Fine);
    }
    let transport = arguments.reach.transport(&writer)?;
    let how = (&policy, CompactedBecause::Asked);
    let done = opened.wait(async {
        tokio::select! {
            done = transport.carry_out(&mut session, outlook.plan.clone(), how, own, &writer) => {
                Some(done)
            }
            _ = stopped() => None,
        }
    });
    let Some(done) = done else {
        say("interrupted: the session is as it was");
        return Ok(Verdict::Interrupted);
    };
    let done = done.map_err(|e| Failure::transport(&e))?;
    say_done(&done);
    let is_digest = done.without_model.is_some();
    if is_digest {
        say("hint: the log keeps all; `interleaf sessions summary` puts another in its place");
    }
    if arguments.json {
        output.json_line(&Told { outcome: COMPACTED, plan: outlook, done: Some(done) })?;
    }
    // Who asks for it by hand asks for a summary that a model writes.
    Ok(if is_digest && !arguments.if_due { Verdict::Findings } else { Verdict::Fine })
}

/// What became of it, if a summary or a digest was taken in.
const COMPACTED: &str = "compacted";

/// What was planned, and what came of it.
#[derive(Serialize)]
struct Told<P, D> {
    outcome: &'static str,
    #[serde(flatten)]
    plan: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<D>,
}

/// What came of it where no model was to be asked.
#[derive(Serialize)]
struct Digest {
    #[serde(flatten)]
    report: CompactedReport,
    without_model: &'static str,
}

impl CompactArguments {
    /// The target of the session's requests.
    fn target(&self, session: &OpenSession) -> Result<Target, Failure> {
        let last = session.ask(session.session.last_target());
        let mut target = match (self.vendor, &self.model) {
            (Some(vendor), Some(model)) => {
                let named = Target::of(vendor.clone(), model);
                let is_named = |last: &Target| {
                    last.vendor.name == named.vendor.name
                        && last.options.model == named.options.model
                };
                // The last request tells whether the cache has marks to go on from.
                last.ok().filter(is_named).unwrap_or(named)
            }
            _ => last.map_err(|failure| failure.hint("--vendor and --model name it"))?,
        };
        target.text_tools = self.text_tools.then_some(true);
        Ok(target)
    }
}
