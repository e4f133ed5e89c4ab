//! `interleaf switch`.

use std::path::PathBuf;

use clap::{Args, value_parser};
use interleaf::Target;
use interleaf::wire::Options;

use crate::api::ApiArguments;
use crate::arguments::ByteCount;
use crate::assembly::{AssemblyArguments, Source};
use crate::failure::{Failure, Stop, Verdict};
use crate::open::OpenSession;
use crate::output::Output;
use crate::price_list::{self, PriceList};

const PRICES: &str = "Prices";

/// Tell what changes if a session's next request goes to another vendor or model
#[derive(Debug, Args)]
// What is compared is a session, and no file.
#[command(mut_arg("session", |id| id.required(true)))]
#[command(mut_arg("file", |_| clap::Arg::new("file").hide(true).value_parser(value_parser!(PathBuf))))]
#[command(after_help = "\
EXAMPLES
  id=$(interleaf sessions new)
  interleaf sessions append $id fixtures/agent-session.json
  interleaf build --session $id --to openai-chat --model gpt-5 --record --quiet > /dev/null
  interleaf switch --session $id --to anthropic --model claude-sonnet-4-5 --cache
  interleaf switch --session $id --to deepseek --model deepseek-chat --price 1/2 --price-now 2/8
  interleaf switch --session $id --to openai --model gpt-5 --from google/gemini-2.5-pro --json

It tells what the new model does not take and the current one does, whether the request
fits its window, what its cold cache costs, and after how many requests the change has
paid back; without prices, how cheap the new model must be for that. The current model is
that of the session's last recorded request, and so are the system text, the tools and the
context unless flags name them; a note says so. Nothing is sent or recorded. The exit code is 1 if
something must give way for the request to fit.")]
pub(crate) struct SwitchArguments {
    #[command(flatten)]
    assembly: AssemblyArguments,

    /// Who is to be asked: a vendor, or an API for who made it
    #[arg(long, value_name = "VENDOR", help_heading = "API")]
    #[arg(conflicts_with_all = ["vendor", "at", "plain", "pin", "previous", "stream", "stored"])]
    to: String,
    /// Who is asked now [default: as in the session's last request]
    #[arg(long, value_name = "VENDOR/MODEL", help_heading = "API")]
    from: Option<String>,
    #[command(flatten)]
    api: ApiArguments,

    #[arg(long, value_name = price_list::VALUE, help = price_list::HELP, requires = "price_now")]
    #[arg(help_heading = PRICES)]
    price: Option<PriceList>,
    /// The same for the current model
    #[arg(long, value_name = price_list::VALUE, requires = "price", help_heading = PRICES)]
    price_now: Option<PriceList>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    arguments: &SwitchArguments,
    limit: ByteCount,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    let price = arguments.price.as_ref().map(|list| list.price("--price")).transpose()?;
    let price_now = arguments.price_now.as_ref().map(|list| list.price("--price-now"));
    let price_now = price_now.transpose()?;
    let mut recipe = arguments.assembly.read(limit)?;
    let model = arguments.assembly.model.as_deref();
    // An unknown vendor is told before a missing model.
    let mut to = arguments.target("--to", &arguments.to, model.unwrap_or("any"))?;
    if model.is_none() {
        return Err(Failure::new("--model", "name the model that is to be asked").into());
    }
    let from = arguments.from.as_deref().map(|from| arguments.current(from)).transpose()?;
    let tools = arguments.api.tools(limit)?;
    let Source { mut loaded, session } = arguments.assembly.load(&mut recipe, limit)?;
    let Some(open) = session else {
        let rule = "a file has no request to compare with; name a session with --session";
        return Err(Failure::new(loaded.name, rule).into());
    };
    loaded.equip(tools.as_ref());
    let mut recipe = recipe.of(&loaded, true)?;
    open.take_over(&mut recipe, &mut to)?;
    let OpenSession { mut session, opened } = open;
    let switch = opened.wait(session.switch(&recipe, &to, from.as_ref()));
    let is_known =
        from.is_some() || session.conversation().newest_request(recipe.agent.name()).is_some();
    let mut switch = switch.map_err(|e| {
        let failure = Failure::session(&loaded.name, &e);
        if is_known { failure } else { failure.hint("--from VENDOR/MODEL names it") }
    })?;
    if let (Some(now), Some(new)) = (price_now, price) {
        switch.pay_back = switch.pay_back.priced(now, new);
    }
    if arguments.json {
        output.json_line(&switch)?;
    } else {
        output.text(&switch.to_string())?;
    }
    Ok(if switch.fit.fits { Verdict::Fine } else { Verdict::Findings })
}

impl SwitchArguments {
    /// A target with the settings of the flags.
    fn target(&self, flag: &str, vendor: &str, model: &str) -> Result<Target, Failure> {
        let target = Target::new(vendor, model).map_err(|e| Failure::new(flag, e.to_string()))?;
        let options = self.api.options(&Options::default(), Some(model));
        let mut target = self.api.target(target.vendor, options);
        target.bound_thinking = self.assembly.binds_thinking();
        Ok(target)
    }

    /// The target that the user says is the current one.
    fn current(&self, from: &str) -> Result<Target, Failure> {
        let Some((vendor, model)) = from.split_once('/') else {
            let rule = "the current model is written VENDOR/MODEL, such as openai/gpt-5";
            return Err(Failure::new("--from", rule));
        };
        self.target("--from", vendor, model)
    }
}
