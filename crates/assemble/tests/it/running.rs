//! Requests made from the end of a conversation are those made from the whole: the
//! same messages and the same report, whatever is changed on the way.

use std::sync::Arc;

use interleaf_assemble::{
    Agent, Assembly, Budget, CachePrices, Carrier, ContextText, Error, Ledger, MissingResult,
    OpenBlock, Outcome, PlacementRule, Previous, Recipe, Running, Shares, Summary, SummaryRole,
    SystemMessages, View, assemble,
};
use interleaf_model::{
    AgentName, ContextKind, Message, MessageId, Prompt, Requirements, SystemInPlace, Tool, notation,
};
use interleaf_samples::generate::agent_session;
use interleaf_samples::shape::Shape;
use interleaf_samples::strategy::{broken_conversation, conversation};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

use crate::case::{carrier, rule, shares, system_messages, tools};
use crate::scene::{Words, named};

/// A session, and beside it what a session without memory would send.
struct Pair {
    running: Running,
    view: View,
    previous: Option<Previous>,
    n_settled: usize,
}

impl Pair {
    fn new() -> Self {
        Self { running: Running::new(), view: View::default(), previous: None, n_settled: 0 }
    }

    fn append(&mut self, message: &Arc<Message>) {
        self.running.append(message.clone());
        self.view.messages.push(message.clone());
    }

    /// Makes both requests, and holds one against the other.
    fn check(&mut self, recipe: &Recipe, requires: Requirements, is_sent: bool) {
        let continued = match is_sent {
            true => self.running.assemble(recipe, requires),
            false => self.running.preview(recipe, requires),
        };
        let scratch = assemble(&self.view, recipe, requires, self.previous.as_ref());
        if let Ok(Assembly { outcome: Outcome::Ready(prompt), report }) = &scratch
            && is_sent
        {
            self.previous = Some(Previous::made(prompt, report, self.previous.as_ref()));
        }
        let n = self.view.messages.len();
        if let Ok(Assembly { outcome: Outcome::Ready(prompt), .. }) = &continued {
            self.n_settled = prompt.settled().map_or(0, |settled| settled.len());
        }
        let (continued, scratch) = (whole(continued), whole(scratch));
        assert_eq!(printed(&continued), printed(&scratch), "after {n}");
        if let (Ok(continued), Ok(scratch)) = (&continued, &scratch) {
            let (ours, theirs) = (&continued.report, &scratch.report);
            assert_eq!(ours.tokens, theirs.tokens, "after {n}");
            assert_eq!(ours.placement, theirs.placement, "after {n}");
            assert_eq!(ours.stable_prefix, theirs.stable_prefix, "after {n}");
            for (ours, theirs) in ours.steps.iter().zip(&theirs.steps) {
                assert_eq!(ours, theirs, "after {n}");
            }
        }
        assert_eq!(continued, scratch, "after {n}");
    }
}

fn whole(assembly: Result<Assembly, Error>) -> Result<Assembly, Error> {
    let Assembly { outcome, report } = assembly?;
    let outcome = match outcome {
        Outcome::Ready(prompt) => Outcome::Ready(prompt.whole()),
        waiting @ Outcome::Waiting(_) => waiting,
    };
    Ok(Assembly { outcome, report })
}

fn printed(assembly: &Result<Assembly, Error>) -> String {
    let lines = |prompt: &Prompt| -> String {
        prompt.messages().map(|m| format!("{} {}\n", m.id, notation::print_line(m, 60))).collect()
    };
    match assembly {
        Ok(Assembly { outcome: Outcome::Ready(prompt), .. }) => lines(prompt),
        Ok(Assembly { outcome: Outcome::Waiting(calls), .. }) => format!("{calls:?}"),
        Err(error) => error.to_string(),
    }
}

/// What happens between two requests.
#[derive(Debug, Clone)]
enum Event {
    Said(usize),
    Rule(PlacementRule),
    Budget(Option<Budget>),
    Shares(Shares),
    Context(Vec<String>),
    Counter(bool),
    Agent(Agent),
    Tools(usize),
    Todo(String),
    Covers(Vec<Index>, SummaryRole),
    NoSummary,
    Pinned(Vec<Index>),
    Missing(MissingResult),
    Open(OpenBlock),
    Requires(Requirements),
    Carrier(Carrier),
    SystemMessages(SystemMessages),
    Hidden(Index),
    Preview(PlacementRule, Option<Budget>),
}

/// Lists that have most of their lines in common.
fn todo() -> impl Strategy<Value = String> {
    let lines: Vec<String> = (0..12).map(|n| format!("the item of the number {n}")).collect();
    subsequence(lines, 7..=12).prop_map(|lines| lines.join("\n"))
}

fn budget() -> impl Strategy<Value = Option<Budget>> {
    let drawn = (20_u64..900, 0_u64..40, 5_u64..120, 0_usize..4);
    proptest::option::weighted(0.8, drawn).prop_map(|drawn| {
        let (window, reserve, longest_result, newest_results) = drawn?;
        Some(Budget { window, reserve, longest_result, newest_results })
    })
}

fn event() -> impl Strategy<Value = Event> {
    let scout = Agent::Sub(AgentName::new("scout"));
    let role = select(vec![SummaryRole::System, SummaryRole::User]);
    prop_oneof![
        20 => (1_usize..8).prop_map(Event::Said),
        2 => rule().prop_map(Event::Rule),
        2 => budget().prop_map(Event::Budget),
        2 => shares().prop_map(Event::Shares),
        1 => vec("([a-z]{1,5}[ \n]){0,80}", 0..4).prop_map(Event::Context),
        1 => any::<bool>().prop_map(Event::Counter),
        1 => select(vec![Agent::Main, Agent::Main, scout]).prop_map(Event::Agent),
        1 => (0_usize..6).prop_map(Event::Tools),
        1 => "[a-z ]{0,40}".prop_map(Event::Todo),
        6 => todo().prop_map(Event::Todo),
        2 => (vec(any::<Index>(), 1..30), role).prop_map(|(covers, role)| Event::Covers(covers, role)),
        1 => Just(Event::NoSummary),
        1 => vec(any::<Index>(), 0..4).prop_map(Event::Pinned),
        1 => select(vec![MissingResult::Make, MissingResult::DropCall]).prop_map(Event::Missing),
        1 => select(vec![OpenBlock::Mend, OpenBlock::Wait]).prop_map(Event::Open),
        2 => requires().prop_map(Event::Requires),
        2 => carrier().prop_map(Event::Carrier),
        2 => system_messages().prop_map(Event::SystemMessages),
        1 => any::<Index>().prop_map(Event::Hidden),
        2 => (rule(), budget()).prop_map(|(rule, budget)| Event::Preview(rule, budget)),
    ]
}

fn requires() -> impl Strategy<Value = Requirements> {
    let after_user = {
        let mut requires = Requirements::STRICT;
        requires.system_in_place = SystemInPlace::AfterUser;
        requires
    };
    select(vec![Requirements::STRICT, Requirements::NONE, after_user])
}

/// Tools of which every other one may be called by a conversation.
fn callable(n: usize) -> Arc<[Tool]> {
    const CALLED: [&str; 5] = ["bash", "list", "read_file", "search", "write_file"];
    let mut tools = tools(n).to_vec();
    for (tool, name) in tools.iter_mut().skip(1).step_by(2).zip(CALLED) {
        tool.name = name.into();
    }
    tools.into()
}

/// Plays the events; messages that are left over are appended by threes.
fn play(messages: &[Arc<Message>], events: Vec<Event>, recipe: &mut Recipe) -> usize {
    let mut pair = Pair::new();
    let mut rest = messages.iter();
    let mut requires = Requirements::STRICT;
    for event in events.into_iter().chain(std::iter::repeat_with(|| Event::Said(3))) {
        let ids = |indices: &[Index]| -> Vec<MessageId> {
            let places = indices.iter().filter(|_| !messages.is_empty());
            places.map(|index| messages[index.index(messages.len())].id.clone()).collect()
        };
        match event {
            Event::Said(n) => {
                if rest.len() == 0 {
                    break;
                }
                rest.by_ref().take(n).for_each(|message| pair.append(message));
            }
            Event::Rule(rule) => recipe.rule = rule,
            Event::Budget(budget) => recipe.budget = budget,
            Event::Shares(shares) => recipe.shares = shares,
            Event::Context(texts) => {
                let kinds = [ContextKind::Info, ContextKind::Notes, ContextKind::Role];
                recipe.context.retain(|text| text.kind == ContextKind::Todo);
                let texts = kinds.into_iter().zip(texts);
                recipe.context.extend(texts.map(|(kind, text)| ContextText::new(kind, text)));
            }
            Event::Counter(true) => recipe.ledger = Some(ledger()),
            Event::Counter(false) => {
                (recipe.ledger, recipe.budget) = (None, None);
            }
            Event::Agent(agent) => recipe.agent = agent,
            Event::Tools(n) => recipe.tools = callable(n),
            Event::Todo(text) => {
                recipe.context.retain(|text| text.kind != ContextKind::Todo);
                recipe.context.push(ContextText::new(ContextKind::Todo, text));
            }
            Event::Covers(covers, role) => {
                recipe.summary = summary(&pair.view, &ids(&covers));
                recipe.summary_role = role;
            }
            Event::NoSummary => recipe.summary = None,
            Event::Pinned(pinned) => {
                pair.view.pinned = ids(&pinned).into_iter().collect();
                pair.running.set_pinned(pair.view.pinned.clone());
            }
            Event::Missing(missing) => recipe.missing_result = missing,
            Event::Open(open) => recipe.open_block = open,
            Event::Requires(asked) => requires = asked,
            Event::Carrier(carrier) => recipe.carrier = carrier,
            Event::SystemMessages(system) => recipe.system_messages = system,
            Event::Hidden(index) => {
                let view = &mut pair.view;
                if !view.messages.is_empty() {
                    view.messages.remove(index.index(view.messages.len()));
                    pair.running.replace_view(view.clone());
                }
            }
            Event::Preview(rule, budget) => {
                let mut other = recipe.clone();
                (other.rule, other.budget) = (rule, budget);
                pair.check(&other, requires, false);
            }
        }
        pair.check(recipe, requires, true);
    }
    pair.n_settled
}

/// A summary of these messages, the first of which in the view is its start.
fn summary(view: &View, covers: &[MessageId]) -> Option<Arc<Summary>> {
    let covers = covers.iter().cloned().collect::<std::collections::BTreeSet<_>>();
    let start = view.messages.iter().map(|message| &message.id).find(|id| covers.contains(*id))?;
    Some(Arc::new(Summary { text: "They talked.".into(), start: start.clone(), covers }))
}

fn ledger() -> Arc<Ledger> {
    Arc::new(Ledger::new(Arc::new(Words)))
}

fn recipe(todo: &str) -> Recipe {
    let mut recipe = Recipe::new().with_context(ContextKind::Todo, todo);
    recipe.cache_prices =
        Some(CachePrices { read: 0.3, write: 1.0, reach: usize::MAX, lags: false });
    recipe.ledger = Some(ledger());
    recipe
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_running_session_gives_the_requests_and_reports_of_the_whole(
        messages in conversation(0..140), rule in rule(), todo in "[a-z]{0,3}",
    ) {
        play(&named(messages), vec![Event::Rule(rule)], &mut recipe(&todo));
    }

    #[test]
    fn so_it_does_when_settings_change_in_mid_session(
        messages in conversation(20..160), events in vec(event(), 0..60), todo in "[a-z]{0,3}",
    ) {
        play(&named(messages), events, &mut recipe(&todo));
    }

    #[test]
    fn so_it_does_with_a_broken_history(
        messages in broken_conversation(0..120), events in vec(event(), 0..50), todo in "[a-z]{0,3}",
    ) {
        play(&named(messages), events, &mut recipe(&todo));
    }

    #[test]
    fn h10_so_it_does_when_the_parts_share_a_window(
        messages in conversation(20..140), rule in rule(), shares in shares(),
        window in 150_u64..1_200, events in vec(event(), 0..30), n_tools in 0_usize..6,
    ) {
        let mut recipe = recipe(&"one thing of many\n".repeat(12));
        recipe.rule = rule;
        recipe.shares = shares;
        recipe.tools = callable(n_tools);
        recipe.budget = Some(Budget { reserve: 0, ..Budget::of_window(window) });
        play(&named(messages), events, &mut recipe);
    }

    #[test]
    fn so_it_does_when_the_window_is_always_too_small(
        messages in conversation(40..160), window in 150_u64..900, newest_results in 0_usize..4,
        todo in "[a-z]{0,3}", pinned in vec(any::<Index>(), 0..3),
    ) {
        let mut recipe = recipe(&todo);
        recipe.budget = Some(Budget { window, reserve: 0, longest_result: 60, newest_results });
        play(&named(messages), vec![Event::Pinned(pinned)], &mut recipe);
    }
}

proptest! {
    // What it draws differs in more ways.
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn c16_so_it_does_whatever_carries_the_context(
        messages in conversation(20..140), rule in rule(), carrier in carrier(),
        requires in requires(), systems in vec((any::<Index>(), "[a-z]{1,5}"), 0..6),
        system in system_messages(), todos in vec(todo(), 1..30), budget in budget(),
    ) {
        let mut messages = messages;
        for (at, text) in systems {
            messages.insert(at.index(messages.len() + 1), Message::system(&text));
        }
        let settings = [
            Event::Rule(rule), Event::Carrier(carrier), Event::Requires(requires),
            Event::SystemMessages(system), Event::Budget(budget),
        ];
        let turns = todos.into_iter().flat_map(|todo| [Event::Said(3), Event::Todo(todo)]);
        let events = settings.into_iter().chain(turns).collect();
        play(&named(messages), events, &mut recipe("go"));
    }
}

#[test]
fn a_running_session_of_every_shape_gives_the_requests_of_the_whole_in_a_small_window() {
    for shape in Shape::ALL {
        for (window, pinned) in [(3_000, vec![]), (9_000, vec!["m1", "m30"])] {
            let mut recipe = recipe("one thing");
            recipe.budget = Some(Budget::of_window(window));
            let mut pair = Pair::new();
            pair.view.pinned = pinned.iter().map(|id| MessageId::new(*id)).collect();
            pair.running.set_pinned(pair.view.pinned.clone());
            for round in shape.rounds(45) {
                round.into_iter().for_each(|message| pair.append(&Arc::new(message)));
                pair.check(&recipe, Requirements::STRICT, true);
            }
        }
    }
}

#[test]
fn all_but_the_end_of_a_long_session_is_settled() {
    let messages = named(agent_session(400));
    for todo in ["one thing", ""] {
        let settled = play(&messages, Vec::new(), &mut recipe(todo));
        assert!(settled > 300, "{settled} of 400 with {todo:?}");
    }
}
