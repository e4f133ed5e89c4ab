//! A session's requests are those made from scratch, in bytes and in report, on every
//! API and whatever changes on the way.

use std::collections::HashMap;
use std::sync::Arc;

use interleaf::assemble::{
    Agent, Assembly, Budget, CachePrices, Carrier, CustomRule, Estimate, Ledger, MissingResult,
    OpenBlock, Outcome, Part, PlacementRule, Previous, Recipe, Summary, SummaryRole,
    SystemMessages, View, assemble,
};
use interleaf::conversation::{Conversation, Operation, PINNED, Truncate};
use interleaf::model::{ContextKind, Finish, Message, Origin, Reply, Role, Timestamp, Tool, Usage};
use interleaf::store::NewSession;
use interleaf::wire::{CacheMarks, Family, Vendor, encode};
use interleaf::{Next, Request, Session, Single, Target};
use interleaf_samples::generate::agent_session;
use interleaf_samples::strategy::{broken_conversation, conversation};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::{block_on, memory, pinned, target_of};

/// What a request is made with.
#[derive(Debug, Clone)]
struct Settings {
    agent: Agent,
    rule: PlacementRule,
    window: Option<u64>,
    /// How the parts share it.
    shares: &'static [(Part, &'static str)],
    n_tools: usize,
    missing_result: MissingResult,
    /// A summary over the first messages, this many of a hundred.
    covers: Option<usize>,
    summary_role: SummaryRole,
    carrier: Carrier,
    system_messages: SystemMessages,
}

fn settings() -> impl Strategy<Value = Settings> {
    let rule = select(vec![
        PlacementRule::AfterToolResult(3),
        PlacementRule::AfterToolResult(1),
        PlacementRule::BeforeAssistant(2),
        PlacementRule::FromEnd(4),
        PlacementRule::AfterSystem,
        PlacementRule::Tail,
        PlacementRule::Sticky(8),
        PlacementRule::Delta(3),
        PlacementRule::Auto(6),
    ]);
    let window = proptest::option::weighted(0.4, select(vec![900_u64, 4_000, 1_000_000]));
    let shares: Vec<&'static [(Part, &'static str)]> = vec![
        &[],
        &[(Part::Context, "20..60"), (Part::Tools, "..30")],
        &[(Part::Context, "0.."), (Part::History, "40%..80%")],
        &[(Part::History, "..200")],
    ];
    let window = (window, select(shares));
    let missing = select(vec![MissingResult::Make, MissingResult::Make, MissingResult::DropCall]);
    let covers = proptest::option::weighted(0.4, 0..90_usize);
    let role = select(vec![SummaryRole::System, SummaryRole::User]);
    let agent = select(vec![Agent::Main, Agent::Main, Agent::Main, Agent::Sub("scout".into())]);
    let carrier = select(vec![Carrier::Message, Carrier::Attached, Carrier::System]);
    let system = select(vec![SystemMessages::Head, SystemMessages::InPlace]);
    (agent, rule, window, 0..3_usize, missing, covers, role, (carrier, system)).prop_map(
        |(
            agent,
            rule,
            (window, shares),
            n_tools,
            missing_result,
            covers,
            summary_role,
            carried,
        )| Settings {
            agent,
            rule,
            window,
            shares,
            n_tools,
            missing_result,
            covers,
            summary_role,
            carrier: carried.0,
            system_messages: carried.1,
        },
    )
}

/// A list of which one item is another every time.
fn todo(n: usize) -> String {
    let seen = |item: usize| if item == n % 8 { n } else { 0 };
    (0..8).map(|item| format!("- [ ] {item} was seen {} times\n", seen(item))).collect()
}

fn recipe(settings: &Settings, n: usize, view: &[Arc<Message>], ledger: &Arc<Ledger>) -> Recipe {
    let tool = |i: usize| Tool::new(&*format!("tool.{i}"), "It helps.", json!({"type": "object"}));
    let mut recipe = Recipe::new()
        .with_system("You are a careful agent.")
        .with_agent(settings.agent.clone())
        .with_context(ContextKind::Todo, todo(n))
        .with_tools((0..settings.n_tools).map(tool).collect::<Vec<_>>())
        .with_rule(settings.rule.clone());
    if settings.agent != Agent::Main {
        recipe = recipe.with_context(ContextKind::Role, "You look for causes.");
    }
    recipe.cache_prices =
        Some(CachePrices { read: 0.2, write: 1.0, reach: usize::MAX, lags: false });
    recipe.missing_result = settings.missing_result;
    recipe.open_block = OpenBlock::Mend;
    recipe.summary_role = settings.summary_role;
    recipe.carrier = settings.carrier;
    recipe.system_messages = settings.system_messages;
    if let Some(window) = settings.window {
        recipe = recipe.with_budget(Budget::of_window(window)).with_ledger(ledger.clone());
        for (part, share) in settings.shares {
            recipe.shares = recipe.shares.with(*part, share.parse().unwrap());
        }
    }
    let covered = settings.covers.map_or(&[][..], |part| &view[..view.len() * part / 100]);
    if let [first, ..] = covered {
        let covers = covered.iter().map(|message| message.id.clone()).collect();
        let start = first.id.clone();
        recipe = recipe.with_summary(Summary { text: "All went well.".into(), start, covers });
    }
    recipe
}

fn shown(body: &[u8]) -> &str {
    std::str::from_utf8(body).unwrap()
}

/// What an agent's requests are made of.
fn heard(conversation: &Conversation, agent: &Agent) -> Vec<Arc<Message>> {
    let is_heard = |message: &&Arc<Message>| match (agent, &message.origin) {
        (Agent::Main, _) => true,
        (Agent::Sub(agent), Origin::SubAgent(name)) => agent == name,
        (Agent::Sub(_), Origin::Main | Origin::Internal) => false,
    };
    conversation.visible().filter(is_heard).cloned().collect()
}

/// Compares what a session makes with what is made of its view from scratch.
async fn compare(
    session: &mut Session,
    recipe: &Recipe,
    target: &Target,
    previous: &mut Option<Previous>,
) {
    let conversation = session.conversation();
    let mut view = View::of(heard(conversation, &recipe.agent));
    view.pinned = pinned(conversation);
    let requires = target.requirements();
    let scratch = assemble(&view, recipe, requires, previous.as_ref());
    let mut single = Single::of(conversation, recipe);
    single.previous = previous.as_ref();
    let preview = single.preview(Some(target));
    let made = session.request(recipe, target).await;
    let Ok(Assembly { outcome: Outcome::Ready(prompt), report }) = scratch else {
        assert!(made.is_err(), "from scratch there is no request: {scratch:?}");
        return;
    };
    let Ok(body) = encode(&prompt, &target.vendor, &target.options) else {
        assert!(made.is_err() && preview.is_err());
        return;
    };
    let preview = preview.unwrap();
    assert_eq!(preview.assembly.report, report);
    assert_eq!(shown(&preview.body.unwrap().to_bytes()), shown(&body.to_bytes()));
    let Next::Send(request) = made.unwrap() else { panic!("it waits") };
    assert_eq!(shown(&request.body.to_bytes()), shown(&body.to_bytes()));
    assert_eq!(request.report, report);
    assert!(request.adjustments().eq(body.all_adjustments()), "{:?}", body.adjustments);
    assert_eq!(request.body.names, body.names);
    let noted = session.rebuild(request.number.unwrap()).await.unwrap();
    assert_eq!(shown(&noted), shown(&body.to_bytes()));
    *previous = Some(Previous::made(&prompt, &report, previous.as_ref()));
}

fn check(messages: Vec<Message>, family: Family, cache: CacheMarks, plan: &[Settings]) {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        // Of each family one that takes the most, of Anthropic's one that takes little, and of
        // OpenAI's one that takes marks.
        let model = match family {
            Family::OpenaiChat | Family::OpenaiResponses if !messages.len().is_multiple_of(3) => {
                "gpt-5.6"
            }
            Family::Anthropic if !messages.len().is_multiple_of(4) => "claude-opus-5",
            _ => "gemini-3-pro",
        };
        let mut target = target_of(Vendor::of(family), model);
        target.options.cache = cache;
        let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
        let mut previous: HashMap<Option<String>, Option<Previous>> = HashMap::new();
        let every = messages.len() / plan.len() + 1;
        let has_scout = plan.iter().any(|settings| settings.agent != Agent::Main);
        for (n, mut message) in messages.into_iter().enumerate() {
            if n % 7 == 5 && message.role() != Role::Tool {
                let said = format!("Mind the number {n}.");
                session.append(Message::system(&said)).await.unwrap();
            }
            if has_scout && n % 40 >= 25 {
                message.origin = Origin::SubAgent("scout".into());
            }
            if session.append(message).await.is_err() {
                continue;
            }
            if n % 17 == 16 {
                session.mark(n as u32 / 2, PINNED).await.ok();
            }
            if n % 41 == 40 {
                let cut = Truncate { keep_last: Some(30), ..Truncate::default() };
                session.operate(Operation::Truncate(cut)).await.unwrap();
            }
            if n % 3 == 0 {
                let now = &plan[n / every];
                let view = heard(session.conversation(), &now.agent);
                // What is only looked at leaves no trace.
                let other = recipe(&plan[n % plan.len()], n + 1, &view, &ledger);
                let _ = session.preview(&other, &target).await;
                let recipe = recipe(now, n, &view, &ledger);
                let agent = match &now.agent {
                    Agent::Main => None,
                    Agent::Sub(name) => Some(name.to_string()),
                };
                let previous = previous.entry(agent).or_default();
                compare(&mut session, &recipe, &target, previous).await;
            }
        }
    });
}

fn family() -> impl Strategy<Value = Family> {
    select(Family::ALL.as_slice())
}

fn cache() -> impl Strategy<Value = CacheMarks> {
    select(vec![CacheMarks::Off, CacheMarks::On])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_session_makes_the_requests_of_scratch_while_its_settings_change(
        messages in conversation(0..100),
        family in family(),
        cache in cache(),
        plan in vec(settings(), 1..5),
    ) {
        check(messages, family, cache, &plan);
    }

    #[test]
    fn so_does_a_session_with_a_broken_history(
        messages in broken_conversation(0..80),
        family in family(),
        cache in cache(),
        plan in vec(settings(), 1..4),
    ) {
        check(messages, family, cache, &plan);
    }
}

#[test]
fn a_long_session_makes_the_requests_of_scratch() {
    let settings = Settings {
        agent: Agent::Main,
        rule: PlacementRule::default(),
        window: None,
        shares: &[],
        n_tools: 1,
        missing_result: MissingResult::Make,
        covers: None,
        summary_role: SummaryRole::System,
        carrier: Carrier::Message,
        system_messages: SystemMessages::Head,
    };
    for family in Family::ALL {
        check(agent_session(200), family, CacheMarks::On, std::slice::from_ref(&settings));
    }
}

/// Long enough that what is settled is joined to pieces, and pieces to larger ones; and under
/// a window that gives way again and again, so that pieces are cut and used again.
#[test]
fn a_session_of_thousands_of_messages_makes_the_requests_of_scratch() {
    for (family, window) in [(Family::Anthropic, None), (Family::OpenaiChat, Some(150_000))] {
        block_on(async {
            let mut session = Session::create(memory().await, "").await.unwrap();
            let target = target_of(Vendor::of(family), "a-model");
            let ledger = Arc::new(Ledger::new(Arc::new(Estimate::default())));
            let mut recipe = Recipe::new()
                .with_system("You are a careful agent.")
                .with_ledger(ledger)
                .with_context(ContextKind::Role, "You mend programs.");
            recipe.open_block = OpenBlock::Mend;
            recipe.budget = window.map(Budget::of_window);
            let messages: Vec<Arc<Message>> =
                agent_session(4_200).into_iter().map(Arc::new).collect();
            let (mut previous, mut n_left_out) = (None, Vec::new());
            for part in messages.chunks(70) {
                session.append_all(part.iter().cloned()).await.unwrap();
                compare(&mut session, &recipe, &target, &mut previous).await;
                let made = session.preview(&recipe, &target).await.unwrap().request().unwrap();
                let steps = made.report.steps.iter();
                n_left_out.push(steps.map(|step| step.before - step.after.min(step.before)).sum());
            }
            n_left_out.dedup();
            let give_ways: Vec<usize> = n_left_out;
            assert_eq!(window.is_some(), give_ways.len() > 3, "{give_ways:?}");
        });
    }
}

/// One session through one node, and the same through several that take turns, by
/// refreshing, opening anew and forking.
#[test]
fn nodes_that_take_turns_on_one_store_make_the_bytes_of_one() {
    for family in Family::ALL {
        block_on(async {
            let store = memory().await;
            let target = target_of(Vendor::of(family), "a-model");
            let mut recipe = Recipe::new()
                .with_system("You are a careful agent.")
                .with_context(ContextKind::Role, "You mend programs.");
            recipe.open_block = OpenBlock::Mend;
            let mut alone = Session::create(store.clone(), "").await.unwrap();
            let mut one = Session::create(store.clone(), "").await.unwrap();
            let mut two = Session::open(store.clone(), one.id()).await.unwrap();
            for (n, message) in agent_session(90).into_iter().enumerate() {
                alone.append(message.clone()).await.unwrap();
                one.refresh().await.unwrap();
                one.append(message).await.unwrap();
                match n {
                    20 => {
                        for session in [&mut alone, &mut one] {
                            session.todo().add("mend the horn").await.unwrap();
                        }
                    }
                    40 => {
                        let cut = Truncate { keep_last: Some(25), ..Truncate::default() };
                        for session in [&mut alone, &mut one] {
                            session.operate(Operation::Truncate(cut.clone())).await.unwrap();
                        }
                    }
                    60 => {
                        for session in [&mut alone, &mut one] {
                            session.roll_back(0).await.unwrap();
                        }
                    }
                    70 => one = one.fork("another").await.unwrap(),
                    71 => two = Session::open(store.clone(), one.id()).await.unwrap(),
                    _ => {}
                }
                std::mem::swap(&mut one, &mut two);
                if n != 70 {
                    one.refresh().await.unwrap();
                    let [a, b] = [&mut alone, &mut one].map(|session| session);
                    let a = a.request(&recipe, &target).await.unwrap().request().unwrap();
                    let b = b.request(&recipe, &target).await.unwrap().request().unwrap();
                    assert_eq!(shown(&a.body.to_bytes()), shown(&b.body.to_bytes()), "after {n}");
                }
            }
        });
    }
}

/// A block that stays where it was, until more than six messages follow it.
fn stay() -> PlacementRule {
    PlacementRule::Custom(CustomRule::new("stay", |layout, previous| {
        let after = previous.and_then(|previous| layout.after(previous.after.as_ref()?));
        after.filter(|after| layout.len() - after <= 6).unwrap_or(layout.len())
    }))
}

#[test]
fn c6_a_rule_that_remembers_is_told_the_placement_that_another_node_chose() {
    block_on(async {
        let store = memory().await;
        let target = target_of(Vendor::of(Family::OpenaiChat), "a-model");
        let mut recipe =
            Recipe::new().with_rule(stay()).with_context(ContextKind::Role, "You mend programs.");
        recipe.open_block = OpenBlock::Mend;
        let scout = recipe.clone().with_agent(Agent::Sub("scout".into()));
        let mut alone = Session::create(store.clone(), "").await.unwrap();
        let mut one = Session::create(store.clone(), "").await.unwrap();
        let mut two = Session::open(store.clone(), one.id()).await.unwrap();
        for session in [&mut alone, &mut one] {
            session.sub_agent("scout").begin("look").await.unwrap();
        }
        for (n, message) in agent_session(60).into_iter().enumerate() {
            alone.append(message.clone()).await.unwrap();
            one.refresh().await.unwrap();
            one.append(message).await.unwrap();
            let recipe = if n % 7 == 6 { &scout } else { &recipe };
            let a = alone.request(recipe, &target).await.unwrap().request().unwrap();
            let b = one.request(recipe, &target).await.unwrap().request().unwrap();
            assert_eq!(shown(&a.body.to_bytes()), shown(&b.body.to_bytes()), "after {n}");
            assert_eq!(a.report.placement, b.report.placement, "after {n}");
            match n % 3 {
                0 => std::mem::swap(&mut one, &mut two),
                1 => one = Session::open(store.clone(), one.id()).await.unwrap(),
                _ => {}
            }
        }
    });
}

#[test]
fn a_request_for_a_sub_agent_that_the_recipe_names_is_the_sub_agents_own() {
    block_on(async {
        let mut session = Session::create(memory().await, "").await.unwrap();
        session.append(Message::user("for the main agent")).await.unwrap();
        session.sub_agent("scout").append(Message::user("for the scout")).await.unwrap();
        let target = Target::new("openai", "gpt-5").unwrap().with_key("k");
        let recipe = Recipe::new()
            .with_agent(Agent::Sub("scout".into()))
            .with_context(ContextKind::Role, "You look for causes.");
        let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
        let body = String::from_utf8(request.body.to_bytes()).unwrap();
        assert!(body.contains("for the scout") && !body.contains("for the main agent"), "{body}");
        assert!(session.conversation().usage_of(&"scout".into()).is_some());
    });
}

/// An estimate learns from usage. What it has learned is found again, so that a session
/// opened anew, or another node, shows and leaves out the same.
#[test]
fn nodes_count_tokens_alike_however_much_one_has_learned() {
    for (model, tokens_per_byte) in [("claude-sonnet-4-5", 0.5), ("gemini-3-pro", 0.15)] {
        block_on(async {
            let store = memory().await;
            let target = Target::new("anthropic", model).unwrap().with_key("k");
            let mut recipe = Recipe::new()
                .with_budget(Budget::of_window(30_000))
                .with_context(ContextKind::Role, "You mend programs.");
            recipe.open_block = OpenBlock::Mend;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            let mut other = Session::open(store.clone(), session.id()).await.unwrap();
            let mut rates = Vec::new();
            for (n, message) in agent_session(120).into_iter().enumerate() {
                session.append(message).await.unwrap();
                other.refresh().await.unwrap();
                let mut fresh = Session::open(store.clone(), session.id()).await.unwrap();
                let known = session.preview(&recipe, &target).await.unwrap().request().unwrap();
                for node in [&mut fresh, &mut other] {
                    let made = node.preview(&recipe, &target).await.unwrap().request().unwrap();
                    let (made, known) = (made.body.to_bytes(), known.body.to_bytes());
                    assert_eq!(shown(&made), shown(&known), "after {n}");
                }
                let request = session.request(&recipe, &target).await.unwrap().request().unwrap();
                rates.push(request.report.tokens.as_ref().unwrap().rate);
                let mut reply = Reply::new(Message::assistant("I see."), Finish::Stop);
                reply.request = request.number;
                let prompt = (request.body.to_bytes().len() as f64 * tokens_per_byte) as u64;
                reply.usage = Some(Usage { prompt, ..Usage::default() });
                session.take(reply).await.unwrap();
                if n % 5 == 0 {
                    other.refresh().await.unwrap();
                    std::mem::swap(&mut session, &mut other);
                }
            }
            rates.dedup();
            assert!(rates.len() > 3, "nothing was learned: {rates:?}");
        });
    }
}

#[test]
fn a_session_that_was_made_again_under_its_name_is_another_one() {
    block_on(async {
        let store = memory().await;
        let mut session = Session::create(store.clone(), "").await.unwrap();
        let say = |word: &'static str, n: usize| (0..n).map(move |i| format!("{word} {i}"));
        for text in say("old", 3) {
            session.append(Message::user(&text)).await.unwrap();
        }
        for n in [2, 3, 5] {
            store.remove(session.id()).await.unwrap();
            let mut new = NewSession::new("", Timestamp::from_microseconds(n as i64).unwrap());
            new.id = session.id();
            let mut again = Session::create_with(store.clone(), new).await.unwrap();
            for text in say("new", n) {
                again.append(Message::user(&text)).await.unwrap();
            }
            assert_eq!(session.refresh().await.unwrap(), n as u64);
            assert_eq!(session.conversation(), again.conversation());
        }
    });
}

#[test]
fn an_answer_goes_to_the_agent_that_asked() {
    let recipe = Recipe::new().with_context(ContextKind::Role, "You look for causes.");
    let scout = recipe.clone().with_agent(Agent::Sub("scout".into()));
    let target = Target::new("openai", "gpt-5").unwrap().with_key("k");
    let reply = |text: &str, request| {
        let mut reply = Reply::new(Message::assistant(text), Finish::Stop);
        reply.request = request;
        reply
    };
    // Taken where it was asked, or where the session was opened anew; with the number of
    // the request, or without.
    for (anew, numbered) in [(false, true), (false, false), (true, true), (true, false)] {
        block_on(async {
            let store = memory().await;
            let mut session = Session::create(store.clone(), "").await.unwrap();
            session.append(Message::user("for the main agent")).await.unwrap();
            session.sub_agent("scout").append(Message::user("for the scout")).await.unwrap();
            let main = session.request(&recipe, &target).await.unwrap().request().unwrap();
            let sub = session.request(&scout, &target).await.unwrap().request().unwrap();
            if anew {
                session = Session::open(store, session.id()).await.unwrap();
            }
            let number = |request: &Request| request.number.filter(|_| numbered);
            let said = session.take(reply("the scout's", number(&sub))).await.unwrap();
            assert_eq!(said.origin, Origin::SubAgent("scout".into()), "{anew} {numbered}");
            let said = session.take(reply("the main agent's", number(&main))).await.unwrap();
            assert_eq!(said.origin, Origin::Main, "{anew} {numbered}");
            assert_eq!(said.answered().unwrap().request, main.number);
            let mut scout = session.sub_agent("scout");
            let error = scout.take(reply("a mistake", main.number)).await.unwrap_err();
            let rule = "the main agent made request 0, not the sub-agent scout";
            assert!(error.to_string().contains(rule), "{error}");
        });
    }
}
