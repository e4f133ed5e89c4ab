//! Inputs drawn at random: a broken conversation under any settings.

use std::sync::Arc;

use interleaf_assemble::{
    Agent, Budget, Context, CustomRule, Input, Ledger, MissingResult, OpenBlock, Rule, Settings,
    Summary, SummaryRole,
};
use interleaf_model::{AgentName, ContextKind, Message, MessageId};
use interleaf_samples::strategy::{broken_conversation, text};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

use crate::scene::named;

/// All that a request may be made of.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) view: Vec<Arc<Message>>,
    pub(crate) pinned: Vec<MessageId>,
    pub(crate) summary: Option<Summary>,
    pub(crate) system: Vec<String>,
    pub(crate) context: Vec<Context>,
    pub(crate) settings: Settings,
}

impl Case {
    /// The input, with a ledger if there is a budget.
    pub(crate) fn input<'a>(&self, ledger: &'a Ledger) -> Input<'a> {
        let mut input = Input::of(self.view.iter().cloned());
        input.pinned.extend(self.pinned.iter().cloned());
        input.summary.clone_from(&self.summary);
        input.system = self.system.iter().map(|text| text.as_str().into()).collect();
        input.context.clone_from(&self.context);
        input.settings = self.settings.clone();
        input.ledger = self.settings.budget.map(|_| ledger);
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
        Case { view, pinned, summary, system, context, settings }
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
        case.settings.budget = Some(budget);
        case
    })
}

/// Every rule, custom ones with absurd answers among them.
pub(crate) fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        2 => Just(Rule::default()),
        2 => (1_usize..6).prop_map(Rule::AfterToolResult),
        2 => (1_usize..6).prop_map(Rule::BeforeAssistant),
        2 => (0_usize..12).prop_map(Rule::FromEnd),
        1 => Just(Rule::AfterSystem),
        1 => Just(Rule::Tail),
        1 => prop_oneof![0_usize..20, Just(usize::MAX)].prop_map(|position| {
            Rule::Custom(CustomRule::new("fixed", move |_, _| position))
        }),
    ]
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

fn context() -> impl Strategy<Value = Vec<Context>> {
    let kinds = subsequence(vec![0, 1, 2, 3, 4, 5, 6], 0..6).prop_shuffle();
    (kinds, vec(text(), 7)).prop_map(|(kinds, texts)| {
        let kind = |n: usize| match n {
            0 => ContextKind::Role,
            1 => ContextKind::Todo,
            2 => ContextKind::Info,
            3 => ContextKind::Notes,
            n => ContextKind::Other(format!("source{n}").into()),
        };
        let one = |n: usize| Context::new(kind(n), texts[n].as_str());
        kinds.into_iter().map(one).collect()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let scout = Agent::Sub(AgentName::new("scout"));
    (
        select(vec![Agent::Main, Agent::Main, scout]),
        rule(),
        select(&[MissingResult::Make, MissingResult::DropCall][..]),
        select(&[OpenBlock::Mend, OpenBlock::Mend, OpenBlock::Wait][..]),
        select(&[SummaryRole::System, SummaryRole::User][..]),
    )
        .prop_map(|(agent, rule, missing_result, open_block, summary_role)| Settings {
            agent,
            rule,
            missing_result,
            open_block,
            summary_role,
            budget: None,
        })
}
