//! Where the context block goes: the table of the issue, and every rule of C6.

use std::sync::Arc;

use interleaf_assemble::{
    ContextText, CustomRule, ErrorKind, Fallback, Placement, PlacementRule, Previous,
};
use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContextKind, Extra, Message, MessageId, Parts, Prompt,
    Provenance, Role, Status, Text, ToolCall, ToolName,
};

use crate::scene::{Scene, four_texts, named, ready, refused};

/// A conversation from letters, apart from each other: s, u, a, and t, tt, ttt for
/// the results of the assistant before.
fn conversation(letters: &str) -> Vec<Arc<Message>> {
    let words: Vec<&str> = letters.split(' ').collect();
    let mut messages = Vec::new();
    let mut n_calls = 0;
    for (i, word) in words.iter().enumerate() {
        match *word {
            "s" => messages.push(Message::system("rules")),
            "u" => messages.push(Message::user("please")),
            "a" => {
                let text = AssistantPart::Text(Text::new("yes"));
                let results = words.get(i + 1).filter(|next| next.starts_with('t'));
                let first = n_calls;
                n_calls += results.map_or(0, |results| results.len());
                let calls = (first..n_calls).map(|n| AssistantPart::Call(call(n)));
                let parts = Parts::new(std::iter::once(text).chain(calls).collect()).unwrap();
                messages.push(Body::Assistant(parts).into());
            }
            results => {
                for n in n_calls - results.len()..n_calls {
                    messages.push(Message::tool(call(n).id, Status::Ok, "done"));
                }
            }
        }
    }
    named(messages)
}

fn call(n: usize) -> ToolCall {
    ToolCall {
        id: CallId::new(format!("c{n}")).unwrap(),
        name: ToolName::new("ls"),
        arguments: Arguments::none(),
        extra: Extra::NONE,
    }
}

/// The letters of a request, the context block as one `*`.
fn letters(prompt: &Prompt) -> String {
    let mut out = String::new();
    let mut before = None;
    for entry in prompt.entries() {
        let letter = match entry.message.role() {
            _ if matches!(entry.provenance, Provenance::Context(_)) => '*',
            Role::System => 's',
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::Tool => 't',
        };
        if letter == '*' && before == Some('*') {
            continue;
        }
        if before.is_some() && !(letter == 't' && before == Some('t')) {
            out.push(' ');
        }
        out.push(letter);
        before = Some(letter);
    }
    out
}

fn input(letters: &str, rule: PlacementRule) -> Scene {
    let mut input = Scene::of(conversation(letters));
    input.rule = rule;
    input.context = vec![ContextText::new(ContextKind::Todo, "1. go on")];
    input
}

fn check(rule: PlacementRule, table: &[(&str, &str)]) {
    for (conversation, request) in table {
        let (prompt, _) = ready(&input(conversation, rule.clone()));
        assert_eq!(letters(&prompt), *request, "{conversation} under {rule}");
    }
}

fn placement(letters: &str, rule: PlacementRule) -> Placement {
    ready(&input(letters, rule)).1.placement.unwrap()
}

#[test]
fn the_default_rule_follows_the_table() {
    check(
        PlacementRule::default(),
        &[
            ("s u", "s u *"),
            ("s u a t", "s u * a t"),
            ("s u a t a t", "s u * a t a t"),
            ("s u a t a t a t", "s u a t * a t a t"),
            ("s u a t a t a t a t", "s u a t a t * a t a t"),
            ("s u a t a ttt", "s u a t * a ttt"),
            ("s u a t a tttt a t", "s u a t * a tttt a t"),
            ("s u a u a u", "s u a u a u *"),
            ("s u a t a u a u", "s u a t a u a u *"),
        ],
    );
}

#[test]
fn the_third_last_result_may_be_the_last_of_a_parallel_block() {
    check(
        PlacementRule::default(),
        &[
            ("s u a tttt a tt", "s u a tttt * a tt"),
            ("s u a tt a t a t", "s u a tt * a t a t"),
            ("s u a tt a tt", "s u a tt * a tt"),
            ("s u a ttt", "s u * a ttt"),
            ("u a ttt u a t a", "u * a ttt u a t a"),
            ("u a ttt u a t a t", "u a ttt * u a t a t"),
            ("u a ttt a u a t a t", "u a ttt * a u a t a t"),
        ],
    );
}

#[test]
fn with_the_third_result_the_block_may_go_up_once() {
    check(
        PlacementRule::default(),
        &[
            ("u a t a u", "u a t a u *"),
            ("u a t a u a tt", "u a t * a u a tt"),
            ("u a t a u a tt a t", "u a t a u * a tt a t"),
        ],
    );
}

#[test]
fn after_tool_result_counts_results_not_blocks() {
    check(
        PlacementRule::AfterToolResult(1),
        &[
            ("s u a t", "s u a t *"),
            ("s u a tt", "s u a tt *"),
            ("s u a t u", "s u a t * u"),
            ("s u", "s u *"),
        ],
    );
    check(
        PlacementRule::AfterToolResult(2),
        &[("s u a tt", "s u * a tt"), ("u a t a t", "u a t * a t")],
    );
}

#[test]
fn before_assistant_counts_every_assistant_message() {
    check(
        PlacementRule::BeforeAssistant(1),
        &[("s u a", "s u * a"), ("s u a tt", "s u * a tt"), ("s u a t a", "s u a t * a")],
    );
    check(
        PlacementRule::BeforeAssistant(2),
        &[("s u a t a", "s u * a t a"), ("s u a u", "s u a u *"), ("s u", "s u *")],
    );
}

#[test]
fn from_end_goes_before_a_block_that_it_would_cut() {
    check(PlacementRule::FromEnd(0), &[("s u a t", "s u a t *")]);
    check(
        PlacementRule::FromEnd(1),
        &[("s u a u", "s u a * u"), ("s u a t", "s u * a t"), ("s u a ttt", "s u * a ttt")],
    );
    check(
        PlacementRule::FromEnd(2),
        &[
            ("s u a t", "s u * a t"),
            ("s u a t u", "s u * a t u"),
            ("s u", "s u *"),
            ("u u", "* u u"),
        ],
    );
    check(PlacementRule::FromEnd(9), &[("s u a t", "s u a t *"), ("s u", "s u *")]);
}

#[test]
fn after_system_and_tail_are_the_two_ends() {
    check(PlacementRule::AfterSystem, &[("s u a t", "s * u a t"), ("u", "* u")]);
    check(PlacementRule::Tail, &[("s u a t", "s u a t *"), ("s u a tt", "s u a tt *")]);
}

#[test]
fn at_the_tail_the_question_stays_last() {
    check(
        PlacementRule::Tail,
        &[("s u", "s * u"), ("u", "* u"), ("s u a t u", "s u a t * u"), ("s u u", "s u * u")],
    );
}

#[test]
fn a_system_message_inside_the_conversation_moves_no_position() {
    check(
        PlacementRule::default(),
        &[("u s a t s a t a t", "s u a t * a t a t"), ("s u a t a t s a t", "s u a t * a t a t")],
    );
    check(PlacementRule::FromEnd(1), &[("u a s u s", "s u a * u")]);
}

#[test]
fn the_placement_says_how_it_came_about() {
    let found = placement("s u a t a t a t", PlacementRule::default());
    assert_eq!(found.anchor.unwrap().as_str(), "m3");
    assert_eq!((found.index, found.messages, found.before_block), (4, 1, false));
    assert_eq!((found.fallback, found.rule.as_str()), (None, "after_tool_result(3)"));

    let found = placement("s u a ttt", PlacementRule::default());
    assert_eq!(found.anchor.unwrap().as_str(), "m3");
    assert_eq!((found.index, found.before_block, found.fallback), (2, true, None));

    let found = placement("s u a t", PlacementRule::default());
    assert_eq!(found.anchor.unwrap().as_str(), "m1");
    assert_eq!((found.index, found.fallback), (2, Some(Fallback::AfterLastUser)));

    let found = placement("s u", PlacementRule::BeforeAssistant(1));
    assert_eq!(found.fallback, Some(Fallback::AfterLastUser));
    let found = placement("s u", PlacementRule::FromEnd(2));
    assert_eq!((found.anchor, found.fallback), (None, Some(Fallback::AtEnd)));
    let found = placement("s u", PlacementRule::Tail);
    assert_eq!(found.anchor.unwrap().as_str(), "m1");
    assert_eq!((found.index, found.fallback), (1, None));
}

#[test]
fn the_position_does_not_depend_on_the_number_of_context_messages() {
    for conversation in ["s u", "s u a t", "s u a t a t a t a t", "s u a t a ttt", "u a u"] {
        for rule in [
            PlacementRule::default(),
            PlacementRule::FromEnd(2),
            PlacementRule::BeforeAssistant(1),
            PlacementRule::Tail,
        ] {
            let mut input = input(conversation, rule);
            let indices = (1..=4).map(|n| {
                input.context = four_texts().into_iter().skip(1).cycle().take(n).collect();
                let placement = ready(&input).1.placement.unwrap();
                assert_eq!(placement.messages, n);
                placement.index
            });
            let indices: Vec<usize> = indices.collect();
            assert!(indices.windows(2).all(|pair| pair[0] == pair[1]), "{indices:?}");
        }
    }
}

#[test]
fn without_context_the_request_stays_as_it_is() {
    for context in [vec![], vec![ContextText::new(ContextKind::Notes, " \n")]] {
        let mut input = input("s u a t a t a t", PlacementRule::default());
        input.context = context;
        let (prompt, report) = ready(&input);
        assert!(prompt.messages().eq(&input.view.messages));
        assert_eq!((report.placement, prompt.context()), (None, None));
    }
}

#[test]
fn whatever_a_custom_function_says_is_made_safe() {
    let custom =
        |position: usize| PlacementRule::Custom(CustomRule::new("odd", move |_, _| position));
    check(custom(0), &[("s u a tt u", "s * u a tt u")]);
    check(custom(2), &[("s u a tt u", "s u * a tt u")]);
    check(custom(3), &[("s u a tt u", "s u * a tt u")]);
    check(custom(4), &[("s u a tt u", "s u a tt * u")]);
    check(custom(usize::MAX), &[("s u a tt u", "s u a tt u *"), ("u", "u *")]);
    assert_eq!(custom(1).to_string(), "custom(odd)");
}

#[test]
fn a_custom_function_sees_the_layout_and_the_previous_placement() {
    let rule = PlacementRule::Custom(CustomRule::new("stay", |layout, previous| {
        assert_eq!(layout.roles().len(), layout.len());
        assert_eq!(layout.nth_last(Role::User, 1), Some(0));
        assert_eq!(layout.nth_last(Role::User, 2), None);
        assert_eq!(layout.nth_last(Role::User, 0), None);
        let stood_after = previous.and_then(|previous| previous.after.as_ref());
        stood_after.and_then(|id| layout.after(id)).unwrap_or(layout.len())
    }));
    let (prompt, report) = ready(&input("s u", rule.clone()));
    let first = report.placement.clone().unwrap();
    assert_eq!((first.index, first.after.as_ref().map(MessageId::as_str)), (2, Some("m1")));
    let mut second = input("s u a t a", rule);
    second.previous = Some(Previous::made(&prompt, &report, None));
    assert_eq!(ready(&second).1.placement.unwrap().index, 2);
}

/// A session whose requests are made one after the other, each with this TODO.
fn requests(rule: &PlacementRule, session: &[(&str, &str)]) -> Vec<String> {
    let mut previous = None;
    let one = |(conversation, todo): &(&str, &str)| {
        let mut input = input(conversation, rule.clone());
        input.context = vec![ContextText::new(ContextKind::Todo, *todo)];
        input.previous = previous.take();
        let (prompt, report) = ready(&input);
        previous = Some(Previous::made(&prompt, &report, None));
        letters(&prompt)
    };
    session.iter().map(one).collect()
}

#[test]
fn a_sticky_block_stays_while_it_says_the_same_and_not_too_much_follows() {
    let session = [
        ("s u a t a t a t", "one"),
        ("s u a t a t a t a t", "one"),
        ("s u a t a t a t a t a t", "one"),
        // Nine messages would follow it.
        ("s u a t a t a t a t a t u a t", "one"),
        ("s u a t a t a t a t a t u a t a t", "one"),
        // It says something else.
        ("s u a t a t a t a t a t u a t a t", "two"),
    ];
    assert_eq!(
        requests(&PlacementRule::Sticky(8), &session),
        [
            "s u a t a t * a t",
            "s u a t a t * a t a t",
            "s u a t a t * a t a t a t",
            "s u a t a t a t a t a t * u a t",
            "s u a t a t a t a t a t * u a t a t",
            "s u a t a t a t a t a t u a t * a t",
        ]
    );
}

#[test]
fn a_sticky_block_is_placed_anew_if_what_it_stood_after_is_gone() {
    let rule = PlacementRule::Sticky(usize::MAX);
    let (prompt, report) = ready(&input("s u a t a t a t", rule.clone()));
    let mut shorter = input("s u a t a t a t a t", rule);
    shorter.view.messages.retain(|message| message.id.as_str() != "m3");
    shorter.previous = Some(Previous::made(&prompt, &report, None));
    let placed = ready(&shorter).1.placement.unwrap();
    assert_eq!(placed.after.unwrap().as_str(), "m5");
}

#[test]
fn a_sticky_block_stays_right_after_the_system_head_too() {
    let session = [("s a ttt", "one"), ("s a ttt a t a t a t", "one"), ("s a ttt a t a t", "two")];
    let made = requests(&PlacementRule::Sticky(50), &session);
    assert!(made[0].starts_with("s *") || made[0].starts_with("s u *"), "{made:?}");
    assert_eq!(made[1].find('*'), made[0].find('*'), "{made:?}");
    assert_ne!(made[2].find('*'), made[0].find('*'), "{made:?}");
}

#[test]
fn a_sticky_block_is_never_inside_a_tool_block() {
    let session = [("s u", "one"), ("s u a", "one"), ("s u a tt", "one"), ("s u a tt a t", "one")];
    let made = requests(&PlacementRule::Sticky(usize::MAX), &session);
    assert_eq!(made, ["s u *", "s u * a", "s u * a tt", "s u * a tt a t"]);
}

#[test]
fn rules_are_read_and_printed() {
    let rules = [
        "after_tool_result(3)",
        "before_assistant(2)",
        "from_end(0)",
        "after_system",
        "tail",
        "sticky(9)",
    ];
    assert_eq!("sticky".parse::<PlacementRule>().unwrap(), PlacementRule::Sticky(14));
    for text in rules {
        assert_eq!(text.parse::<PlacementRule>().unwrap().to_string(), text);
    }
    assert_eq!("after_tool_result".parse::<PlacementRule>().unwrap(), PlacementRule::default());
    assert_eq!(" from_end : 5 ".parse::<PlacementRule>().unwrap(), PlacementRule::FromEnd(5));
    assert_eq!("from_end( 5 ) ".parse::<PlacementRule>().unwrap(), PlacementRule::FromEnd(5));
    let wrong =
        ["", "end", "from_end", "from_end()", "from_end(-1)", "from_end(3", "tail(1)", "tail:"];
    for text in wrong {
        let error = text.parse::<PlacementRule>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Settings);
        assert!(error.to_string().starts_with(&format!("{text:?} is not a placement rule")));
    }
}

#[test]
fn zero_is_no_number_to_count_results_or_assistants_from() {
    for (text, rule) in [
        ("after_tool_result(0)", PlacementRule::AfterToolResult(0)),
        ("before_assistant(0)", PlacementRule::BeforeAssistant(0)),
    ] {
        let message = format!("the rule {text} counts from 1: its n must be at least 1");
        assert_eq!(text.parse::<PlacementRule>().unwrap_err().to_string(), message);
        let error = refused(&input("u", rule));
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Settings, message));
    }
}
