//! A recorded session is played again as it was, and in other ways.

use std::sync::Arc;

use interleaf::assemble::{Budget, ContextText, Outcome, PlacementRule, Recipe};
use interleaf::conversation::{Operation, Truncate};
use interleaf::model::{AgentName, ContextKind, Json, Message, Tool, Usage};
use interleaf::replay::{PlayRule, PlayedRequest, Way, Ways, read_bodies, run};
use interleaf::store::Store;
use interleaf::wire::{Vendor, encode};
use interleaf::{Next, Session, Target};
use interleaf_samples::working_session::{Course, Step, working_session};

use crate::{block_on, memory, target_of};

const RULES: [&str; 8] = [
    "after_tool_result(3)",
    "before_assistant(2)",
    "from_end(5)",
    "after_system",
    "tail",
    "sticky(6)",
    "delta(3)",
    "auto(4)",
];

fn steps(n_requests: usize) -> Vec<Step> {
    working_session(Course { n_requests, change_every: 2, results: (100, 900) })
}

fn tools() -> Arc<[Tool]> {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    let tool = Tool::new("read_file", "Reads a file.", Json::parse(schema).unwrap());
    [tool].into()
}

/// The recipe of a request: four sources, one of which says nothing at first, and one whose
/// every line is another each time.
fn recipe(rule: &str, step: &Step, number: usize) -> Recipe {
    let kinds = [ContextKind::Role, ContextKind::Todo, ContextKind::Info, ContextKind::Notes];
    let mut recipe = Recipe::new().with_rule(rule.parse().unwrap()).with_tools(tools());
    recipe = recipe.with_system("You mend programs.");
    for (kind, text) in kinds.iter().zip(&step.context) {
        recipe.context.push(ContextText::new(kind.clone(), text.as_str()));
    }
    let passage = format!("passage {number} of the manual\n").repeat(6);
    recipe.context.push(ContextText::new(ContextKind::Other("passages".into()), passage));
    recipe
}

/// Records a session: an operation, a summary and a rollback come on the way.
async fn record(
    store: &Arc<dyn Store>,
    recipes: impl Fn(&Step, usize) -> Recipe,
    to: &Target,
) -> Session {
    let mut session = Session::create(store.clone(), "a title").await.unwrap();
    for (number, step) in steps(24).iter().enumerate() {
        for message in &step.said {
            session.append(message.clone()).await.unwrap();
        }
        if number == 9 {
            let keep = Operation::Truncate(Truncate { keep_last: Some(9), ..Truncate::default() });
            session.operate(keep).await.unwrap();
        }
        if number == 14 {
            session.roll_back(0).await.unwrap();
            session.append(Message::user("And now?").with_id("now".into())).await.unwrap();
        }
        let recipe = recipes(step, number);
        let Next::Send(request) = session.request(&recipe, to).await.unwrap() else { panic!() };
        if number % 5 == 0 {
            let usage = Usage { prompt: 3_000 + 7 * number as u64, ..Usage::default() };
            session.note_usage(request.number.unwrap(), usage).await.unwrap();
        }
    }
    session
}

/// Plays a session as it was recorded, and holds each request against the recorded body.
async fn plays_the_same(session: &Session, to: &Target) {
    let scripts = session.scripts(|| {}).await.unwrap();
    let [script] = scripts.as_slice() else { panic!("{}", scripts.len()) };
    let requests = script.requests(&Way::recorded()).unwrap();
    assert_eq!(requests.len(), 24);
    for (number, request) in requests.into_iter().enumerate() {
        let Outcome::Ready(prompt) = request.unwrap().outcome else { panic!() };
        let body = encode(&prompt, &to.vendor, &to.options).unwrap().to_bytes();
        let recorded = session.rebuild(number as u64).await.unwrap();
        let (body, recorded) = (String::from_utf8(body), String::from_utf8(recorded));
        assert_eq!(body, recorded, "request {number}");
    }
}

#[test]
fn h3_played_as_it_was_recorded_a_session_makes_the_same_bytes_on_every_api_by_every_rule() {
    block_on(async {
        for vendor in
            ["openai", "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"]
        {
            let vendor =
                Vendor::named(vendor).unwrap_or_else(|| Vendor::of(vendor.parse().unwrap()));
            let to = target_of(vendor, "a-model");
            for rule in RULES {
                let store = memory().await;
                let session = record(&store, |step, n| recipe(rule, step, n), &to).await;
                let again = Session::open(store, session.id()).await.unwrap();
                plays_the_same(&again, &to).await;
            }
        }
    });
}
