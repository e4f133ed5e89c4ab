//! B3: every call has exactly one result, right after it.

use interleaf_assemble::{
    Assembly, MissingResult, OpenBlock, Outcome, PlacementRule, assemble_observed,
};
use interleaf_model::{MessageId, Status, Timestamp};

use crate::scene::{four_texts, input, lines, ready, show};

#[test]
fn a_result_without_a_call_is_dropped() {
    let input = input(
        "t c0= cut off
         u one
         t c9= nobody asked
         a ok",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a ok
    > repair dropped m0, m2: its call is not in the conversation
    ");
}

#[test]
fn the_first_of_two_results_stays() {
    let input = input(
        "u one
         a [call c1 ls]
         t c1= first
         t c1= second
         u two
         t c1! third",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c1 ls]
      t c1= first
      u two
    > repair dropped m3, m5: its call already has a result
    ");
}

#[test]
fn a_late_result_goes_to_its_call_and_what_stood_between_goes_behind_in_order() {
    let input = input(
        "u one
         a [call c1 ls] [call c2 pwd]
         u wait
         t c2= /home
         u and
         a I wait
         t c1= src
         u go on",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c1 ls] [call c2 pwd]
      t c1= src
      t c2= /home
      u wait
      u and
      a I wait
      u go on
    > repair moved m6, m3: it was not in its place after its call
    ");
}

#[test]
fn results_in_another_order_are_put_in_the_order_of_the_calls() {
    let input = input(
        "u one
         a [call c1 ls] [call c2 pwd] [call c3 id]
         t c2= 2
         t c1= 1
         t c3= 3",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c1 ls] [call c2 pwd] [call c3 id]
      t c1= 1
      t c2= 2
      t c3= 3
    > repair moved m3, m2, m4: it was not in its place after its call
    ");
}

#[test]
fn results_that_were_swapped_with_their_message_are_its_results() {
    let input = input(
        "u one
         t c2= 2
         t c1= 1
         a [call c1 ls] [call c2 pwd]
         u two",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c1 ls] [call c2 pwd]
      t c1= 1
      t c2= 2
      u two
    > repair moved m2, m1: it was not in its place after its call
    ");
}

#[test]
fn a_result_that_stands_further_before_a_call_is_not_taken_for_its_result() {
    let input = input(
        "u one
         t call_0= of a call that was cut off
         u two
         a [call call_0 ls]",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      u two
      a [call call_0 ls]
    + t call_0(ls)! \[No result was recorded for this call.\]
    > repair dropped m1: its call is not in the conversation
    > repair made m3:call_0:missing: no result was recorded for the call (call_0)
    ");
}

#[test]
fn calls_of_two_messages_whose_results_come_after_both_stay_parallel() {
    let input = input(
        "u one
         a first [call c1 ls]
         a [call c2 pwd]
         t c2= 2
         t c1= 1
         a both",
    );
    insta::assert_snapshot!(show(&input), @"
      u one
    ~ a first [call c1 ls] [call c2 pwd]
      t c1= 1
      t c2= 2
      a both
    > repair moved m2: its calls were made beside those of the message before it, and stand there
    > repair moved m4, m3: it was not in its place after its call
    ");
}

#[test]
fn results_of_one_id_answer_parallel_calls_in_their_order() {
    let input = input(
        "u one
         a [call c ls]
         a [call c pwd]
         t c= for ls
         t c= for pwd",
    );
    insta::assert_snapshot!(show(&input), @"
      u one
    ~ a [call c ls] [call c_2 pwd]
      t c= for ls
    ~ t c_2= for pwd
    > repair moved m2: its calls were made beside those of the message before it, and stand there
    > repair altered m1: its call id was used before (c became c_2)
    ");
}

#[test]
fn a_message_of_which_nothing_is_left_leaves_the_one_before_it_as_it_was() {
    let input = input(
        "u one
         a [call c1 ls]
         a [call c2 \"\"]
         t c1= 1
         t c2= 2",
    );
    let (prompt, _) = ready(&input);
    let calls = &prompt.entries()[1];
    assert!(std::sync::Arc::ptr_eq(&calls.message, &input.view.messages[1]));
    assert_eq!(calls.provenance, interleaf_model::Provenance::Original);
}

#[test]
fn a_call_that_got_no_result_is_not_joined_to_the_calls_after_it() {
    let input = input(
        "u one
         a [call c1 ls]
         a [call c2 pwd]
         t c2= /home",
    );
    insta::assert_snapshot!(show(&input), @r"
      u one
      a [call c1 ls]
    + t c1(ls)! \[No result was recorded for this call.\]
      a [call c2 pwd]
      t c2= /home
    > repair made m1:c1:missing: no result was recorded for the call (c1)
    ");
}

#[test]
fn a_made_result_takes_id_and_time_from_its_call() {
    let input = input(
        "u one
         a{id=ask at=2026-11-15T10:00:00Z} [call c1 ls] [call c2 pwd]
         t c2= /home
         u two",
    );
    let (prompt, _) = ready(&input);
    let made = &prompt.entries()[2].message;
    assert_eq!(made.id, MessageId::new("ask:c1:missing"));
    assert_eq!(made.at, Some("2026-11-15T10:00:00Z".parse::<Timestamp>().unwrap()));
    let result = made.as_result().unwrap();
    assert_eq!((result.status, result.call.as_str()), (Status::Error, "c1"));
    assert_eq!(made.text(), "[No result was recorded for this call.]");
    assert_eq!(ready(&input).0.entries()[2].message, *made, "the same every time");
}

#[test]
fn with_the_drop_option_calls_without_a_result_go() {
    let mut input = input(
        "u one
         a both [call c1 ls] [call c2 pwd]
         t c2= /home
         a [think now] [call c3 ls]
         a I look [call c4 ls]
         u two",
    );
    input.missing_result = MissingResult::DropCall;
    insta::assert_snapshot!(show(&input), @r"
      u one
    ~ a both [call c2 pwd]
      t c2= /home
    ~ a I look
      u two
    > repair altered m1: no result was recorded for the call (without the call c1)
    > repair altered m3: no result was recorded for the call (without the call c3)
    > repair dropped m3: it says nothing
    > repair altered m4: no result was recorded for the call (without the call c4)
    ");
}

#[test]
fn a_message_of_nothing_but_dropped_calls_is_named() {
    let mut input = input("u one\na [call c1 ls]");
    input.missing_result = MissingResult::DropCall;
    insta::assert_snapshot!(show(&input), @"
      u one
    > repair altered m1: no result was recorded for the call (without the call c1)
    > repair dropped m1: it says nothing
    ");
}

#[test]
fn a_waiting_caller_gets_no_request() {
    let mut input = input(
        "u one
         a [call c1 ls]
         u two
         a [call c1 ls] [call c2 pwd] [call c3 id]
         t c2= /home",
    );
    input.open_block = OpenBlock::Wait;
    let mut seen = String::new();
    let assembly =
        assemble_observed(&input.view, &input.recipe, input.requires, None, |_, entries| {
            seen = lines(entries)
        })
        .unwrap();
    let Outcome::Waiting(calls) = assembly.outcome else { panic!("nothing must be sent") };
    // By the names under which their results will come.
    assert_eq!(calls.iter().map(|open| open.call.id.as_str()).collect::<Vec<_>>(), ["c1", "c3"]);
    insta::assert_snapshot!(seen, @r"
      u one
      a [call c1 ls]
    + t c1(ls)! \[No result was recorded for this call.\]
      u two
    ~ a [call c1_2 ls] [call c2 pwd] [call c3 id]
      t c2= /home
    ");
}

#[test]
fn the_context_block_does_not_cut_a_block_that_waits() {
    let mut input = input("u one\na [call c1 ls] [call c2 pwd]\nt c1= src");
    input.open_block = OpenBlock::Wait;
    input.rule = PlacementRule::Tail;
    input.context = vec![four_texts().remove(1)];
    let mut seen = String::new();
    assemble_observed(&input.view, &input.recipe, input.requires, None, |_, entries| {
        seen = lines(entries)
    })
    .unwrap();
    insta::assert_snapshot!(seen, @r"
      u one
    * u ## Agent TODO List\n\n<agent-todo>\n1. read\n</agent-todo>
      a [call c1 ls] [call c2 pwd]
      t c1= src
    ");
}

#[test]
fn a_block_that_something_follows_is_not_waited_for() {
    for text in ["u one\na [call c1 ls]\nu two", "u one\na [call c1 ls]\nt c1= src", "u one"] {
        let mut input = input(text);
        input.open_block = OpenBlock::Wait;
        assert!(matches!(input.assemble().unwrap().outcome, Outcome::Ready(_)), "{text}");
    }
}

#[test]
fn a_call_that_names_no_tool_is_not_waited_for() {
    let mut input = input(
        "u one
         a [call c1 \"\"]",
    );
    input.open_block = OpenBlock::Wait;
    let Assembly { outcome, .. } = input.assemble().unwrap();
    assert!(matches!(outcome, Outcome::Ready(prompt) if prompt.entries().len() == 1));
}

/// It does not end in time if each result is looked for among all calls.
#[test]
fn results_without_number_are_paired_wherever_they_stand() {
    const CALLS: usize = 20_000;
    let calls: String = (0..CALLS).map(|n| format!(" [call c{n} ls]")).collect();
    let results: String = (0..CALLS).rev().map(|n| format!("t c{n}= src\n")).collect();
    for text in [format!("u go\na{calls}\n{results}"), format!("u go\n{results}a{calls}\n")] {
        let mut input = input(&text);
        input.open_block = OpenBlock::Wait;
        let Outcome::Ready(prompt) = input.assemble().unwrap().outcome else {
            panic!("it waits, though all calls have their results")
        };
        assert_eq!(prompt.entries().len(), CALLS + 2);
    }
}
