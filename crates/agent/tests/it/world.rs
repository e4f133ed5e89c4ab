//! A double with a model of one's own making, and agents that ask it.

use std::sync::Arc;
use std::time::Duration;

use interleaf::model::{Message, ToolCall};
use interleaf::wire::{Auth, Family, Vendor};
use interleaf::{Session, Target, store};
use interleaf_agent::{Agent, Event, Function, Output, Run, Scene, Tool, ToolError, tool};
use interleaf_doubles::{Answer, Asked, Double, Part, Role, Settings};
use interleaf_transport::{Retries, Transport};
use schemars::JsonSchema;
use serde::Deserialize;

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const FAMILIES: [Family; 5] = [
    Family::OpenaiChat,
    Family::OpenaiResponses,
    Family::Anthropic,
    Family::Gemini,
    Family::Bedrock,
];

pub(crate) async fn double(brain: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Double {
    Double::start(Settings::new().with_brain(brain)).await.unwrap()
}

pub(crate) fn transport() -> Transport {
    let wait = Duration::from_millis(1);
    let retries = Retries::at_most(20).waiting(wait, wait);
    Transport::builder().no_proxy().retries(retries).build().unwrap()
}

pub(crate) fn target(family: Family, double: &Double) -> Target {
    let (model, path) = match family {
        Family::OpenaiChat | Family::OpenaiResponses => ("gpt-5", "/v1"),
        Family::Anthropic => ("claude-sonnet-4-5", "/v1"),
        Family::Gemini => ("gemini-3-pro", "/v1beta"),
        Family::Bedrock => ("anthropic.claude-sonnet-4-5-20250929-v1:0", ""),
    };
    let mut vendor = Vendor::of(family).clone().base_url(format!("{}{path}", double.base_url()));
    if vendor.auth == Auth::AwsV4 {
        vendor = vendor.auth(Auth::Bearer);
    }
    Target::of(vendor, model).with_key("any")
}

/// An agent of Anthropic's.
pub(crate) fn agent(double: &Double) -> Agent {
    Agent::new("mender")
        .with_target(target(Family::Anthropic, double))
        .with_role("You mend clocks.")
        .without_instructions()
}

pub(crate) async fn session() -> Session {
    Session::create(store::open("memory:").await.unwrap(), "a title").await.unwrap()
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Named {
    pub(crate) name: String,
}

/// A tool that says the name that it is given.
pub(crate) fn echo() -> impl Tool {
    tool("echo", "Says it again.", echoed).reads()
}

async fn echoed(named: Named, _: Scene) -> Result<Output, ToolError> {
    Ok(format!("{}!", named.name).into())
}

/// Keeps a function's type in one place, for closures.
pub(crate) fn changing<F, R>(name: &str, run: F) -> Function<Named, F>
where
    F: Fn(Named, Scene) -> R + Send + Sync,
    R: Future<Output = Result<Output, ToolError>> + Send,
{
    tool(name, "Changes something.", run)
}

/// The results of a session, in the order of the calls: they are stored as they come.
pub(crate) fn by_call(session: &Session) -> Vec<Arc<Message>> {
    let visible = || session.conversation().visible();
    let answers = |said: &Message, call: &ToolCall| {
        said.as_result().is_some_and(|result| result.call == call.id)
    };
    let result = |call| visible().find(|said| answers(said, call)).cloned();
    visible().flat_map(|said| said.calls()).filter_map(result).collect()
}

/// All that happens until the run ends.
pub(crate) async fn events(run: &mut Run) -> Vec<Event> {
    let mut all = Vec::new();
    while let Some(event) = run.next().await {
        all.push(event);
    }
    all
}

/// What a model has said so far: the number of its turns.
pub(crate) fn n_said(asked: &Asked) -> usize {
    asked.turns.iter().filter(|turn| turn.role == Role::Assistant).count()
}

/// Whether any text of a prompt has these words.
pub(crate) fn says(asked: &Asked, words: &str) -> bool {
    asked.texts().any(|text| text.contains(words))
}

/// The texts of all results in a prompt.
pub(crate) fn results(asked: &Asked) -> Vec<String> {
    let pieces = asked.turns.iter().flat_map(|turn| &turn.pieces);
    let results = pieces.filter(|piece| matches!(piece.part, Part::Result { .. }));
    results.map(|piece| piece.part.texts().join(" ")).collect()
}
