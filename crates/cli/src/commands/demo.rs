//! `interleaf demo`.

mod costs;
mod picture;
mod story;
mod telling;

use clap::Args;
use interleaf::assemble::PlacementRule;
use interleaf::compaction::{CompactionPolicy, Trigger};
use interleaf::model::Message;
use interleaf::replay::Script;
use interleaf::wire::{Auth, CacheMarks, Family, Vendor};
use interleaf::{Session, Target, store};
use interleaf_agent::{Agent, End, tools};
use interleaf_doubles::{Double, Settings};
use interleaf_transport::{Compacting, Transport};

use self::costs::Spending;
use self::story::{Folder, Model, Story};
use self::telling::Telling;
use crate::api::ApiParser;
use crate::arguments::parse_width;
use crate::failure::{Failure, Stop, Verdict};
use crate::open::runtime;
use crate::output::Output;
use crate::stopped::stopped;

/// Watch an agent at work, without a key
#[derive(Debug, Args)]
#[command(after_help = "\
EXAMPLES
  interleaf demo --width 80
  interleaf demo --api anthropic --place auto

No key is needed, and nothing is paid: the agent, its requests, the tools and the files are real,
but the answers are written beforehand, and a double of the vendor's API on this machine gives
them. It counts tokens and keeps a prompt cache as the vendor does. The agent works in a
temporary folder, which is removed at the end.")]
pub(crate) struct DemoArguments {
    /// The API
    #[arg(long, value_name = "API", value_parser = ApiParser, default_value = "openai-chat")]
    api: Family,
    /// Where the context goes
    #[arg(long, value_name = "RULE", default_value_t)]
    place: PlacementRule,
    /// Cut lines to this many characters [default: the terminal's width, or 100]
    #[arg(long, value_name = "N", value_parser = parse_width)]
    width: Option<usize>,
}

pub(crate) fn run(arguments: &DemoArguments, output: &mut Output) -> Result<Verdict, Stop> {
    let story = Story::read()?;
    let folder = Folder::make().map_err(|e| Failure::io("the temporary folder", &e))?;
    // The folder goes also if the user does not wait for the end.
    let played = runtime("")?.block_on(async {
        tokio::select! {
            played = play(arguments, &story, &folder, output) => Some(played),
            () = stopped() => None,
        }
    });
    let Some(played) = played else { return Ok(Verdict::Interrupted) };
    let Played { spending, scripts, transport } = played?;
    spending.print(&transport, output)?;
    costs::print_others(&scripts, &arguments.place, output)?;
    Ok(Verdict::Fine)
}

/// A session that was played to its end.
struct Played {
    spending: Spending,
    scripts: Vec<Script>,
    transport: Transport,
}

/// Has the agent work, and tells each request.
async fn play(
    arguments: &DemoArguments,
    story: &Story,
    folder: &Folder,
    output: &mut Output,
) -> Result<Played, Stop> {
    let failed = |e: &dyn std::fmt::Display| Failure::new("", e.to_string());
    let in_session = |e: interleaf::Error| Failure::session("", &e);
    let settings = Settings::new().with_brain(Model::of(story)?);
    let double = Double::start(settings).await.map_err(|e| failed(&e))?;
    let target = story.target(arguments.api, &double.base_url())?;
    let transport = Transport::builder().no_proxy().build();
    let transport = transport.map_err(|e| Failure::transport(&e))?;
    let transport = transport.compacting(Compacting::new(story.policy()));
    let width = output.width(arguments.width);
    let mut telling = Telling::new(&double, story, output, width);
    telling.begin(arguments.api, &target, &arguments.place)?;
    let agent = story.agent(target, arguments.place.clone(), folder);
    let kept = store::open("memory:").await.map_err(|e| failed(&e))?;
    let mut session = Session::create(kept, &story.title).await.map_err(in_session)?;
    for said in &story.said {
        telling.said(said)?;
        session.append(Message::user(said)).await.map_err(in_session)?;
        let mut run = agent.start(&transport, session).map_err(|e| failed(&e))?;
        while let Some(event) = run.next().await {
            telling.tell(&event)?;
        }
        let ended = run.finish().await.map_err(|e| failed(&e))?;
        if ended.end != End::Completed {
            return Err(failed(&ended.end).into());
        }
        session = ended.session;
    }
    let spending = telling.end()?;
    double.stop().await;
    let scripts = session.scripts(|| {}).await.map_err(in_session)?;
    Ok(Played { spending, scripts, transport })
}

impl Story {
    fn target(&self, api: Family, base_url: &str) -> Result<Target, Failure> {
        let api = self.api(api)?;
        let mut vendor = Vendor::of(api.family).clone();
        vendor = vendor.base_url(format!("{base_url}{}", api.path));
        if vendor.auth == Auth::AwsV4 {
            // A double has no secrets to sign with.
            vendor = vendor.auth(Auth::Bearer);
        }
        let mut target = Target::of(vendor, api.model).with_key("double");
        target.options.cache = CacheMarks::On;
        Ok(target)
    }

    fn agent(&self, target: Target, rule: PlacementRule, folder: &Folder) -> Agent {
        let scout = Agent::new("scout")
            .described("Sends a scout to find something out. It changes nothing.")
            .with_role(&*self.scout_role)
            .without_instructions()
            .without_environment();
        let scout = tools::reading().into_iter().fold(scout, Agent::with_shared_tool);
        let agent = Agent::new("agent")
            .with_target(target)
            .with_role(&*self.role)
            .with_rule(rule)
            .in_folder(folder.path())
            .without_instructions()
            .without_environment()
            .with_sub_agent(scout);
        let tools = [tools::reading(), tools::writing(), tools::keeping(), tools::remembering()];
        // A command could go anywhere.
        let tools = tools.concat().into_iter().filter(|tool| tool.spec().name.as_str() != "run");
        tools.fold(agent, Agent::with_shared_tool)
    }

    fn policy(&self) -> CompactionPolicy {
        let mut policy = CompactionPolicy::default();
        policy.when = Some(Trigger::Messages(self.compact_at_messages));
        policy.summary_tokens = self.summary_tokens;
        policy.instructions = Some((*self.summary_wanted).into());
        policy
    }
}
