//! Laws: whatever is wrong with a conversation, and under whatever settings, what
//! comes out is a valid request that lost nothing without saying so.

use std::sync::Arc;

use interleaf_assemble::{
    Agent, Assembly, Error, ErrorKind, FindingKind, LookAlikes, OpenBlock, OpenCall, Outcome,
    PlacementRule, Report, open_calls,
};
use interleaf_model::{
    Body, CallId, Entry, Law, Message, MessageId, Origin, Prompt, Provenance, Role, ToolCall,
    Transcript,
};
use interleaf_samples::strategy::conversation;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::case::{Case, case, rule, tight_case};
use crate::oracle;
use crate::scene::{Scene, four_texts, lines, named, words};

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, ..ProptestConfig::default() })]

    #[test]
    fn it_fails_only_where_nothing_can_be_said(case in case()) {
        let ledger = words();
        match case.input(&ledger).assemble() {
            Ok(_) => {}
            Err(error) => prop_assert!(is_nothing_to_say(&case, &error), "{error}"),
        }
    }

    #[test]
    fn the_request_is_valid_and_the_block_stands_as_it_should(case in case()) {
        if let Some((prompt, report)) = ready(&case.input(&words())) {
            let checked = Prompt::check(prompt.entries().to_vec(), Arc::new([]));
            prop_assert_eq!(checked.as_ref(), Ok(&prompt));
            check_context(&case, &prompt, &report);
        }
    }

    #[test]
    fn the_position_is_the_oracles(case in case(), rule in rule()) {
        let mut case = case;
        case.recipe.rule = rule;
        if let Some((prompt, _)) = ready(&case.input(&words()))
            && let Some(context) = prompt.context()
        {
            let head = prompt.messages().filter(|m| m.role() == Role::System).count();
            let letters = letters(prompt.entries());
            if let Some(position) = oracle::position(&case.recipe.rule, &letters) {
                // What a sub-agent is told first stands before the block (C9).
                let is_sub = case.recipe.agent != Agent::Main;
                let position = position.max(usize::from(is_sub && letters.starts_with('u')));
                prop_assert_eq!(context.start - head, position, "{} in {}", case.recipe.rule, letters);
            }
        }
    }

    #[test]
    fn it_is_the_same_every_time(case in tight_case()) {
        // The second time with messages at other addresses.
        let mut copy = case.clone();
        copy.view = case.view.iter().map(|message| Arc::new(Message::clone(message))).collect();
        let (first, second) = (words(), words());
        let first = case.input(&first).assemble();
        let second = copy.input(&second).assemble();
        prop_assert_eq!(&first, &second);
        if let (Ok(first), Ok(second)) = (first, second) {
            prop_assert_eq!(bytes(&first), bytes(&second));
        }
    }

    #[test]
    fn what_was_said_keeps_its_order(case in case()) {
        if let Some((prompt, _)) = ready(&case.input(&words())) {
            check_order(&case, prompt.entries());
        }
    }

    #[test]
    fn every_provenance_is_true(case in tight_case()) {
        if let Some((prompt, report)) = ready(&case.input(&words())) {
            check_provenance(&case, prompt.entries(), &report);
            check_order(&case, prompt.entries());
            check_context(&case, &prompt, &report);
        }
    }

    #[test]
    fn c9_a_sub_agents_task_is_the_first_thing_said_in_every_request(case in tight_case()) {
        let scene = case.input(&words());
        if let (Some(task), Some((prompt, _))) = (task(&case), ready(&scene)) {
            let first = prompt.messages().find(|message| message.role() != Role::System);
            prop_assert!(Arc::ptr_eq(first.unwrap(), task), "{}", lines(prompt.entries()));
        }
    }

    #[test]
    fn a_request_waits_for_the_calls_that_are_open(case in tight_case()) {
        let mut case = case;
        case.recipe.open_block = OpenBlock::Wait;
        let open = unanswered(&case);
        prop_assert_eq!(calls_of(&open_calls(case.view.iter(), &case.recipe.agent)), open.clone());
        match case.input(&words()).assemble() {
            Ok(Assembly { outcome: Outcome::Waiting(calls), .. }) => {
                prop_assert_eq!(calls_of(&calls), open);
            }
            Ok(Assembly { outcome: Outcome::Ready(_), .. }) => prop_assert_eq!(open, []),
            Err(error) => prop_assert!(
                error.figures().is_some() || is_nothing_to_say(&case, &error), "{error}"
            ),
        }
    }

    #[test]
    fn a_budget_is_kept(case in tight_case()) {
        let ledger = words();
        let limit = case.recipe.budget.unwrap().limit();
        match case.input(&ledger).assemble() {
            Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => {
                let counted: u64 = prompt.messages().map(|m| ledger.message(m)).sum();
                prop_assert_eq!(report.tokens.unwrap().total(), counted);
                prop_assert!(counted <= limit, "{} > {}", counted, limit);
            }
            Ok(_) => {}
            Err(error) => match error.figures() {
                Some((stated, tokens)) => {
                    prop_assert_eq!(stated, limit);
                    prop_assert!(tokens.total() > limit);
                }
                None => prop_assert!(is_nothing_to_say(&case, &error), "{error}"),
            },
        }
    }

    #[test]
    fn b10_what_may_not_give_way_stands_as_it_was_said(case in tight_case()) {
        let mut case = case;
        case.recipe.summary = None;
        if let Some((prompt, _)) = ready(&case.input(&words())) {
            check_untouched(&case, prompt.entries());
        }
    }

    #[test]
    fn its_own_result_is_left_as_it_is(case in tight_case(), with_budget in any::<bool>()) {
        let mut case = case;
        case.recipe.budget = case.recipe.budget.filter(|_| with_budget);
        if let Some((prompt, _)) = ready(&case.input(&words())) {
            check_idempotent(&case, &prompt);
        }
    }

    #[test]
    fn a_turn_more_leaves_what_stood_before_the_block(
        messages in conversation(2..50),
        cut in any::<Index>(),
        has_context in any::<bool>(),
    ) {
        let view = named(messages);
        // Not inside a block.
        let cuts: Vec<usize> = (1..view.len()).filter(|&at| view[at].role() != Role::Tool).collect();
        prop_assume!(!cuts.is_empty());
        let cut = cuts[cut.index(cuts.len())];
        let request = |view: &[Arc<Message>]| {
            let mut input = Scene::of(view.iter().cloned());
            input.context = if has_context { four_texts() } else { Vec::new() };
            ready(&input)
        };
        if let (Some((first, then)), Some((second, now))) = (request(&view[..cut]), request(&view)) {
            let mut stable = first.context().map_or(first.entries().len(), |block| block.start);
            // With the third result the block may leave its place after the last user
            // message for one further up; then it is what stands before that.
            if let (Some(then), Some(now)) = (then.placement, now.placement)
                && then.fallback.is_some() && now.fallback.is_none()
            {
                stable = stable.min(now.index);
            }
            prop_assert_eq!(&first.entries()[..stable], &second.entries()[..stable]);
        }
    }

    #[test]
    fn a_valid_conversation_goes_out_as_it_is(messages in conversation(2..50)) {
        let view = named(messages);
        let (prompt, report) = ready(&Scene::of(view.iter().cloned())).expect("it is valid");
        prop_assert!(prompt.messages().zip(&view).all(|(a, b)| Arc::ptr_eq(a, b)));
        prop_assert_eq!(prompt.entries().len(), view.len());
        prop_assert_eq!(report.findings().count(), 0);
    }
}

/// The request, if one was made.
fn ready(input: &Scene) -> Option<(Prompt, Report)> {
    match input.assemble() {
        Ok(Assembly { outcome: Outcome::Ready(prompt), report }) => Some((prompt, report)),
        _ => None,
    }
}

fn calls_of(open: &[OpenCall]) -> Vec<ToolCall> {
    open.iter().map(|open| open.call.clone()).collect()
}

/// The calls of the last message that is not a result, less one call for each result of its
/// id after it, or in the run right before it if nobody called that id earlier.
fn unanswered(case: &Case) -> Vec<ToolCall> {
    let agent = &case.recipe.agent;
    let heard = |m: &&Arc<Message>| agent.hears(m) && (m.role() == Role::Tool || !m.is_blank());
    let heard: Vec<_> = case.view.iter().filter(heard).collect();
    let Some(at) = heard.iter().rposition(|m| m.role() != Role::Tool) else { return Vec::new() };
    let run = heard[..at].iter().rposition(|m| m.role() != Role::Tool).map_or(0, |last| last + 1);
    let is_earlier = |id| heard[..run].iter().any(|m| m.calls().any(|call| call.id == id));
    let ids = |run: &[&Arc<Message>]| -> Vec<CallId> {
        run.iter().filter_map(|m| m.as_result()).map(|result| result.call.clone()).collect()
    };
    let mut answers = ids(&heard[run..at]);
    answers.retain(|id| !is_earlier(id.clone()));
    answers.extend(ids(&heard[at + 1..]));
    let mut open: Vec<ToolCall> = heard[at].calls().cloned().collect();
    open.retain(|call| match answers.iter().position(|id| *id == call.id) {
        Some(answer) => {
            answers.remove(answer);
            false
        }
        None => !call.name.as_str().trim().is_empty(),
    });
    open
}

/// Whether an error is right: nothing that this agent hears was said by a user, and
/// no context either.
fn is_nothing_to_say(case: &Case, error: &Error) -> bool {
    let origin = match &case.recipe.agent {
        Agent::Main => Origin::Main,
        Agent::Sub(name) => Origin::SubAgent(name.clone()),
    };
    let mut heard = case.view.iter().filter(|message| message.origin == origin);
    if error.kind() == ErrorKind::Settings {
        return case.recipe.agent != Agent::Main && heard.next().is_none();
    }
    let speaks = |m: &Arc<Message>| m.role() == Role::User && !m.is_blank();
    error.kind() == ErrorKind::Invalid
        && error.violation().is_some_and(|violation| violation.law == Law::NotEmpty)
        && !heard.any(speaks)
        && case.recipe.context.iter().all(|context| context.text.trim().is_empty())
}

fn bytes(assembly: &Assembly) -> String {
    match &assembly.outcome {
        Outcome::Ready(prompt) => transcript(prompt),
        Outcome::Waiting(calls) => format!("{calls:?}"),
    }
}

fn transcript(prompt: &Prompt) -> String {
    Transcript { messages: prompt.messages().cloned().collect(), ..Transcript::default() }.write()
}

/// The roles after the system head, without the context block.
fn letters(entries: &[Entry]) -> String {
    let history = entries.iter().filter(|e| !is_context(e));
    let letter = |entry: &Entry| match entry.message.role() {
        Role::System => None,
        Role::User => Some('u'),
        Role::Assistant => Some('a'),
        Role::Tool => Some('t'),
    };
    history.filter_map(letter).collect()
}

fn is_context(entry: &Entry) -> bool {
    matches!(entry.provenance, Provenance::Context(_) | Provenance::Element(_))
}

/// The block holds each text that says something, in the fixed order, in one run.
fn check_context(case: &Case, prompt: &Prompt, report: &Report) {
    let mut expected: Vec<_> =
        case.recipe.context.iter().filter(|c| !c.text.trim().is_empty()).collect();
    expected.sort_by_key(|context| context.kind.rank());
    let start = prompt.entries().iter().position(is_context).unwrap_or(0);
    let n = prompt.entries().iter().filter(|entry| is_context(entry)).count();
    let range = start..start + n;
    let amends = matches!(case.recipe.rule, PlacementRule::Delta(_) | PlacementRule::Auto(_));
    let fresh = (!amends && n > 0).then_some(range.clone());
    assert_eq!(prompt.context(), fresh);
    let block = &prompt.entries()[range.clone()];
    assert_eq!(block.len(), expected.len());
    for (entry, context) in block.iter().zip(expected) {
        let expected = match amends {
            true => Provenance::Element(context.kind.clone()),
            false => Provenance::Context(context.kind.clone()),
        };
        assert_eq!(entry.provenance, expected);
        assert!(entry.message.text().contains(context.text.trim_matches('\n')));
    }
    let placement = report.placement.as_ref().map(|p| (p.index, p.messages));
    assert_eq!(placement, (!block.is_empty()).then_some((range.start, range.len())));
}

/// What a sub-agent hears first, if a user says it.
fn task(case: &Case) -> Option<&Arc<Message>> {
    let Agent::Sub(name) = &case.recipe.agent else { return None };
    let origin = Origin::SubAgent(name.clone());
    let speaks = |m: &&Arc<Message>| {
        m.origin == origin && m.role() != Role::System && (m.role() == Role::Tool || !m.is_blank())
    };
    case.view.iter().find(speaks).filter(|message| message.role() == Role::User)
}

/// What users and assistants said keeps its order, and what users said its words.
fn check_order(case: &Case, entries: &[Entry]) {
    let place = |id: &MessageId| entries.iter().position(|entry| entry.message.id == *id);
    let mut last = 0;
    let said = case.view.iter().filter(|m| matches!(m.role(), Role::User | Role::Assistant));
    for message in said {
        let Some(at) = place(&message.id) else { continue };
        assert!(last <= at, "{} is out of order in\n{}", message.id, lines(entries));
        last = at;
        if message.role() == Role::User {
            assert!(Arc::ptr_eq(message, &entries[at].message));
        }
    }
}

/// Whether a finding says that a message was made.
fn is_told(report: &Report, id: &MessageId) -> bool {
    let mut made = report.findings().filter(|(_, f)| f.kind == FindingKind::Made);
    made.any(|(_, finding)| finding.messages().any(|named| named == id))
}

fn check_provenance(case: &Case, entries: &[Entry], report: &Report) {
    let mut at_most_once = Vec::new();
    for entry in entries {
        let message = &entry.message;
        let original = case.view.iter().find(|old| old.id == message.id);
        let is_found = is_told(report, &message.id);
        match &entry.provenance {
            Provenance::Original => {
                assert!(original.is_some_and(|old| Arc::ptr_eq(old, message)));
            }
            Provenance::Altered => {
                let old = original.unwrap();
                assert!(old.body != message.body && old.role() == message.role());
                assert_eq!((&old.at, &old.origin), (&message.at, &message.origin));
            }
            Provenance::Made => {
                assert!(original.is_none() && is_found, "{}", message.id);
                let is_result = matches!(message.body, Body::Tool(_));
                let suffix = if is_result { ":missing" } else { ":opening" };
                assert!(message.id.as_str().ends_with(suffix));
            }
            Provenance::Notice => {
                assert!(original.is_none() && is_found, "{}", message.id);
                at_most_once.push("notice");
            }
            Provenance::System => {
                assert!(Arc::ptr_eq(message, &entries[0].message));
                at_most_once.push("system");
            }
            Provenance::Summary => {
                let summary = case.recipe.summary.as_ref().unwrap();
                assert!(message.text().contains(&*summary.text));
                at_most_once.push("summary");
            }
            Provenance::Context(_) | Provenance::Element(_) => assert!(original.is_none()),
            Provenance::Carrying(_) => panic!("no carrier was asked for"),
        }
    }
    at_most_once.sort_unstable();
    assert!(at_most_once.windows(2).all(|pair| pair[0] != pair[1]), "{at_most_once:?}");
}

/// Pinned messages, the user's latest words, and results after the last answer are shown,
/// the last at least in part.
fn check_untouched(case: &Case, entries: &[Entry]) {
    // What other steps drop, this one is not given.
    let mut free = case.clone();
    free.recipe.budget = None;
    let Some((whole, _)) = ready(&free.input(&words())) else { return };
    let is_history = |entry: &&Entry| {
        let provenance = &entry.provenance;
        matches!(provenance, Provenance::Original | Provenance::Altered | Provenance::Made)
    };
    let history: Vec<&Entry> = whole.entries().iter().filter(is_history).collect();
    let find = |id: &MessageId| entries.iter().find(|entry| entry.message.id == *id);
    let latest = history.iter().rev().find(|entry| entry.message.role() == Role::User);
    for entry in history.iter().filter(|e| case.pinned.contains(&e.message.id)).chain(latest) {
        let shown = find(&entry.message.id);
        let is_same = shown.is_some_and(|shown| shown.message == entry.message);
        assert!(is_same, "{} in\n{}", entry.message.id, lines(entries));
    }
    let unseen = history.iter().rev().take_while(|e| e.message.role() != Role::Assistant);
    for entry in unseen.filter(|e| e.message.role() == Role::Tool) {
        let shown = find(&entry.message.id).map(|shown| shown.message.text());
        let is_shown = shown.is_some_and(|text| !text.contains("was cleared"));
        assert!(is_shown, "{} in\n{}", entry.message.id, lines(entries));
    }
}

/// A finished request, taken for a conversation, gives the same request again: with
/// the same context and rule, and with nothing but itself.
fn check_idempotent(case: &Case, prompt: &Prompt) {
    let is_system_summary = |entry: &Entry| {
        entry.provenance == Provenance::Summary && entry.message.role() == Role::System
    };
    let messages = |entries: Vec<&Entry>| -> Vec<Arc<Message>> {
        entries.into_iter().map(|entry| entry.message.clone()).collect()
    };
    let without_summary: Vec<&Entry> =
        prompt.entries().iter().filter(|entry| !is_system_summary(entry)).collect();
    let said: Vec<&Entry> =
        without_summary.iter().copied().filter(|entry| !is_context(entry)).collect();
    if said.iter().all(|entry| entry.message.role() == Role::System) {
        return;
    }
    let mut again = case.clone();
    again.view = messages(said);
    (again.recipe.summary, again.recipe.system) = (None, Vec::new());
    again.recipe.open_block = OpenBlock::Mend;
    again.recipe.look_alikes = LookAlikes::Keep;
    let (same, report) = ready(&again.input(&words())).unwrap();
    assert!(same.messages().eq(&messages(without_summary)));
    assert_eq!(report.findings().count(), 0);

    again.recipe.context = Vec::new();
    again.recipe.rule = PlacementRule::default();
    let (same, report) = ready(&again.input(&words())).unwrap();
    assert!(same.messages().eq(&again.view));
    assert_eq!(report.findings().count(), 0);
}
