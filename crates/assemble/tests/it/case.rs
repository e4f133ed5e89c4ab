//! Inputs drawn at random: a broken conversation under any settings.

use std::sync::Arc;

use interleaf_assemble::{
    Agent, Amount, Budget, Carrier, ContextText, CustomRule, Ledger, MissingResult, OpenBlock,
    Part, PlacementRule, Recipe, Share, Shares, Summary, SummaryRole, SystemMessages,
};
use interleaf_model::{AgentName, ContextKind, Message, MessageId, Tool};
use interleaf_samples::strategy::{broken_conversation, text};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

use crate::scene::{Scene, named};

/// All that a request may be made of.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) view: Vec<Arc<Message>>,
    pub(crate) pinned: Vec<MessageId>,
    pub(crate) recipe: Recipe,
}

impl Case {
    /// The input, with a ledger if there is a budget.
    pub(crate) fn input(&self, ledger: &Arc<Ledger>) -> Scene {
        let mut input = Scene::of(self.view.iter().cloned());
        input.view.pinned.extend(self.pinned.iter().cloned());
        input.recipe = self.recipe.clone();
        input.ledger = self.recipe.budget.map(|_| ledger.clone());
        input
    }
}

/// Anything, without a budget.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let parts = (option::of(indices()), indices(), vec(text(), 0..3), context(), settings());
    let view = broken_conversation(1..36).prop_map(named);
    (view, parts).prop_map(|(view, (covers, pinned, system, context, settings))| {
        let ids = |indices: Vec<Index>| -> Vec<MessageId> {
            let places = indices.iter().filter(|_| !view.is_empty());
            places.map(|index| view[index.index(view.len())].id.clone()).collect()
        };
        let pinned = ids(pinned);
        let summary = covers.map(ids).and_then(|covers| summary(&view, covers));
        let mut recipe = settings;
        recipe.summary = summary.map(Arc::new);
        recipe.system = system.iter().map(|text| text.as_str().into()).collect();
        recipe.context = context;
        Case { view, pinned, recipe }
    })
}

/// Anything, with a budget in words that is often too small.
pub(crate) fn tight_case() -> impl Strategy<Value = Case> {
    let budget = (20_u64..600, 0_u64..40, 5_u64..120, 0_usize..4).prop_map(
        |(window, reserve, longest_result, newest_results)| Budget {
            window,
            reserve,
            longest_result,
            newest_results,
        },
    );
    (case(), budget).prop_map(|(mut case, budget)| {
        case.recipe.budget = Some(budget);
        case
    })
}

/// Shares that often leave some part too little.
pub(crate) fn shares() -> impl Strategy<Value = Shares> {
    let amount = || {
        prop_oneof![
            2 => (0_u64..200).prop_map(Amount::Tokens),
            1 => (0_u8..=100).prop_map(Amount::Percent),
        ]
    };
    let share = (option::weighted(0.4, amount()), option::weighted(0.4, amount()));
    let order = subsequence(vec![Part::History, Part::Context, Part::Tools], 0..=3).prop_shuffle();
    let sources = vec![ContextKind::Role, ContextKind::Todo, ContextKind::Info];
    let sources = subsequence(sources, 0..=3).prop_shuffle();
    (vec(share, 4), order, sources).prop_map(|(drawn, order, sources)| {
        let mut shares = Shares::new().with_order(order).with_sources(sources);
        for (part, (min, max)) in Part::ALL.into_iter().zip(drawn) {
            // The system message has no minimum, and is seldom to be refused.
            let is_system = part == Part::System;
            let min = min.filter(|_| !is_system);
            let max = max.filter(|_| !is_system || max == Some(Amount::Tokens(199)));
            shares = shares.with(part, Share::new(min, max));
        }
        shares
    })
}

/// Tools with descriptions that can be abridged.
pub(crate) fn tools(n: usize) -> Arc<[Tool]> {
    let tool = |n: usize| {
        let text = "It does this and that, and a little more. ".repeat(1 + n % 3 * 4);
        let path = serde_json::json!({"type": "string", "description": text});
        let schema = serde_json::json!({"type": "object", "properties": {"path": path}});
        Tool::new(&*format!("tool{n}"), text, schema)
    };
    (0..n).map(tool).collect()
}

/// Every rule, custom ones with absurd answers among them.
pub(crate) fn rule() -> impl Strategy<Value = PlacementRule> {
    prop_oneof![
        2 => Just(PlacementRule::default()),
        2 => (1_usize..6).prop_map(PlacementRule::AfterToolResult),
        2 => (1_usize..6).prop_map(PlacementRule::BeforeAssistant),
        2 => (0_usize..12).prop_map(PlacementRule::FromEnd),
        1 => Just(PlacementRule::AfterSystem),
        1 => Just(PlacementRule::Tail),
        2 => prop_oneof![0_usize..40, Just(usize::MAX)].prop_map(PlacementRule::Sticky),
        4 => (1_usize..5).prop_map(PlacementRule::Delta),
        2 => (0_usize..12).prop_map(PlacementRule::Auto),
        1 => prop_oneof![0_usize..20, Just(usize::MAX)].prop_map(|position| {
            PlacementRule::Custom(CustomRule::new("fixed", move |_, _| position))
        }),
    ]
}

/// Every carrier.
pub(crate) fn carrier() -> impl Strategy<Value = Carrier> {
    select(&[Carrier::Message, Carrier::Attached, Carrier::System][..])
}

/// Both ways with system messages.
pub(crate) fn system_messages() -> impl Strategy<Value = SystemMessages> {
    select(&[SystemMessages::Head, SystemMessages::InPlace][..])
}

fn summary(view: &[Arc<Message>], covers: Vec<MessageId>) -> Option<Summary> {
    // Sometimes the start is the first of them, sometimes it is gone.
    let start = match covers.len() % 4 {
        0 => MessageId::new("gone"),
        _ => view.iter().map(|message| &message.id).find(|id| covers.contains(id))?.clone(),
    };
    let text = "What was said before.".into();
    Some(Summary { text, start, covers: covers.into_iter().collect() })
}

fn indices() -> impl Strategy<Value = Vec<Index>> {
    prop_oneof![1 => Just(Vec::new()), 2 => vec(any::<Index>(), 0..20)]
}

fn context() -> impl Strategy<Value = Vec<ContextText>> {
    let kinds = subsequence(vec![0, 1, 2, 3, 4, 5, 6], 0..6).prop_shuffle();
    (kinds, vec(text(), 7)).prop_map(|(kinds, texts)| {
        let kind = |n: usize| match n {
            0 => ContextKind::Role,
            1 => ContextKind::Todo,
            2 => ContextKind::Info,
            3 => ContextKind::Notes,
            n => ContextKind::Other(format!("source{n}").into()),
        };
        let one = |n: usize| ContextText::new(kind(n), texts[n].as_str());
        kinds.into_iter().map(one).collect()
    })
}

fn settings() -> impl Strategy<Value = Recipe> {
    let scout = Agent::Sub(AgentName::new("scout"));
    (
        select(vec![Agent::Main, Agent::Main, scout]),
        rule(),
        select(&[MissingResult::Make, MissingResult::DropCall][..]),
        select(&[OpenBlock::Mend, OpenBlock::Mend, OpenBlock::Wait][..]),
        select(&[SummaryRole::System, SummaryRole::User][..]),
    )
        .prop_map(|(agent, rule, missing_result, open_block, summary_role)| {
            let mut recipe = Recipe::new().with_agent(agent).with_rule(rule);
            recipe.missing_result = missing_result;
            recipe.open_block = open_block;
            recipe.summary_role = summary_role;
            recipe
        })
}
